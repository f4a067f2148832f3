"""Which columns of the memory tables are read and written, and in which order."""

TAGS = """
  (SELECT json_group_array(name) FROM (
     SELECT t.name FROM memory_entry_tags AS u CROSS JOIN memory_tags AS t
     WHERE u.project = e.project AND u.entry_row = e.row_id
       AND t.project = e.project AND t.id = u.tag_id ORDER BY t.name))
"""
ENTRY_COLUMNS = f"""
  e.row_id, e.id, e.scope, e.topic, e.source_type, e.status, e.confidence, e.importance,
  e.created_at, e.updated_at, e.created_by, e.revision, e.since_seq, e.invalidated_at,
  e.invalidation_reason, e.content_sha256, e.source_ref, e.source_path, e.source_uri,
  e.source_sha256, e.source_bytes, e.source_blob, e.title, e.summary, e.metadata_json, e.content,
  {TAGS}
"""
"""What `entry_of_row` reads, of `memory_entries AS e`."""

INSERT_ENTRY = """
  INSERT INTO memory_entries (
    project, row_id, id, scope, topic, source_type, status, confidence, importance, created_at,
    updated_at, created_by, revision, invalidated_at, invalidation_reason, content_sha256,
    source_ref, source_path, source_uri, source_sha256, source_bytes, source_blob, title, summary,
    metadata_json, content, scope_key, topic_key, since_seq)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
UPDATE_ENTRY = """
  UPDATE memory_entries SET
    id = ?3, scope = ?4, topic = ?5, source_type = ?6, status = ?7, confidence = ?8,
    importance = ?9, created_at = ?10, updated_at = ?11, created_by = ?12, revision = ?13,
    invalidated_at = ?14, invalidation_reason = ?15, content_sha256 = ?16, source_ref = ?17,
    source_path = ?18, source_uri = ?19, source_sha256 = ?20, source_bytes = ?21,
    source_blob = ?22, title = ?23, summary = ?24, metadata_json = ?25, content = ?26,
    scope_key = ?27, topic_key = ?28, since_seq = ?29
  WHERE row_id = ?2 AND project = ?1
"""
LINK_COLUMNS = """
  l.number, l.id, l.source_entry_id, l.target_entry_id, l.relation, l.label, l.created_at,
  l.metadata_json, l.since_seq
"""
