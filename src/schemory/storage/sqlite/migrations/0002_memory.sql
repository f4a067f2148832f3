-- The second half: project memory (seed 003 §8.3 to §8.7) beside the graph, in the same projects
-- and the same ledger. Names and columns are the seed's; integer keys stand beside its text ids,
-- and `project` is `projects.number`, as in the first schema.

ALTER TABLE projects ADD COLUMN has_graph INTEGER NOT NULL DEFAULT 1;  -- 0: no graph index yet
ALTER TABLE projects ADD COLUMN index_rules TEXT;   -- what made the memory index; NULL: none yet

CREATE TABLE memory_entries (
  row_id INTEGER PRIMARY KEY AUTOINCREMENT,
  project INTEGER NOT NULL REFERENCES projects (number),
  id TEXT NOT NULL,
  scope TEXT NOT NULL,
  topic TEXT NOT NULL,
  scope_key TEXT NOT NULL,                      -- folded: what scopes are compared by
  topic_key TEXT NOT NULL,
  source_type TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'active',
  confidence REAL,
  importance INTEGER NOT NULL DEFAULT 3,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  created_by TEXT,
  revision INTEGER NOT NULL,
  since_seq INTEGER NOT NULL,                   -- the transaction that made this state
  invalidated_at TEXT,
  invalidation_reason TEXT,
  content_sha256 TEXT NOT NULL,
  source_ref TEXT,
  source_path TEXT,
  source_uri TEXT,
  source_sha256 TEXT,                           -- of the source file when the entry was written
  source_bytes INTEGER,
  source_blob TEXT,
  valid_from TEXT,
  valid_to TEXT,
  title TEXT,
  summary TEXT,
  metadata_json TEXT,
  content TEXT NOT NULL                         -- last: what is read by searches lies before it
);
CREATE UNIQUE INDEX memory_entries_by_project ON memory_entries (project, row_id);
CREATE UNIQUE INDEX memory_entries_by_id ON memory_entries (project, id);
CREATE INDEX memory_entries_anywhere ON memory_entries (id, project);
CREATE INDEX memory_entries_by_sha ON memory_entries (project, content_sha256);
CREATE INDEX memory_entries_by_place
  ON memory_entries (project, scope_key, topic_key, created_at, id, status);
CREATE INDEX memory_entries_by_update
  ON memory_entries (project, updated_at, id, status, source_type);
CREATE INDEX memory_entries_by_creation
  ON memory_entries (project, created_at, id, status, source_type);

CREATE TABLE memory_tags (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project INTEGER NOT NULL REFERENCES projects (number),
  name TEXT NOT NULL,
  description TEXT,                             -- set only by an import
  created_at TEXT NOT NULL,
  since_seq INTEGER NOT NULL
);
CREATE UNIQUE INDEX memory_tags_by_name ON memory_tags (project, name);
CREATE UNIQUE INDEX memory_tags_by_project ON memory_tags (project, id);

CREATE TABLE memory_entry_tags (
  project INTEGER NOT NULL,
  entry_row INTEGER NOT NULL,                   -- memory_entries.row_id
  tag_id INTEGER NOT NULL,
  PRIMARY KEY (project, entry_row, tag_id),
  FOREIGN KEY (project, entry_row) REFERENCES memory_entries (project, row_id),
  FOREIGN KEY (project, tag_id) REFERENCES memory_tags (project, id)
) WITHOUT ROWID;
CREATE INDEX memory_entry_tags_by_tag ON memory_entry_tags (project, tag_id, entry_row);

CREATE TABLE memory_links (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  project INTEGER NOT NULL REFERENCES projects (number),
  id TEXT NOT NULL,
  source_entry_id TEXT NOT NULL,
  target_entry_id TEXT NOT NULL,
  relation TEXT NOT NULL,
  label TEXT,
  created_at TEXT NOT NULL,
  metadata_json TEXT,
  since_seq INTEGER NOT NULL,
  FOREIGN KEY (project, source_entry_id) REFERENCES memory_entries (project, id),
  FOREIGN KEY (project, target_entry_id) REFERENCES memory_entries (project, id)
);
CREATE UNIQUE INDEX memory_links_by_id ON memory_links (project, id);
CREATE UNIQUE INDEX memory_links_by_project ON memory_links (project, number);
CREATE UNIQUE INDEX memory_links_by_ends
  ON memory_links (project, source_entry_id, target_entry_id, relation);
CREATE INDEX memory_links_by_target ON memory_links (project, target_entry_id);

-- Writes and refusals, also where no project was found ('') or made, hence by the project's text.
CREATE TABLE audit_log (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id TEXT NOT NULL,
  id TEXT NOT NULL,
  timestamp TEXT NOT NULL,
  operation TEXT NOT NULL,
  entry_id TEXT,
  actor TEXT NOT NULL,
  params_redacted_json TEXT NOT NULL,
  result_json TEXT NOT NULL
);
CREATE UNIQUE INDEX audit_log_by_project ON audit_log (project_id, number);

-- Ledger: which past links touched an entry, and ids of entries that an undo took back, so that
-- deleting an entry leaves no trace of it.

CREATE TABLE memory_link_touch (
  project INTEGER NOT NULL REFERENCES projects (number),
  entry_id TEXT NOT NULL,
  link INTEGER NOT NULL,                        -- memory_links.number, now or once
  PRIMARY KEY (project, entry_id, link)
) WITHOUT ROWID;
CREATE INDEX memory_link_touch_by_link ON memory_link_touch (project, link);

CREATE TABLE memory_entry_past (
  project INTEGER NOT NULL REFERENCES projects (number),
  id TEXT NOT NULL,
  row_id INTEGER NOT NULL,                      -- memory_entries.row_id, once
  PRIMARY KEY (project, id, row_id)
) WITHOUT ROWID;

-- Readable: what a person at the sqlite3 shell wants to see.

CREATE VIEW memory_notes AS
SELECT e.id, p.id AS project_id, e.scope, e.topic, e.title, e.content, e.summary, e.source_type,
       e.source_ref, e.source_path, e.source_uri, e.content_sha256, e.status, e.confidence,
       e.importance, e.created_by, e.created_at, e.updated_at, e.invalidated_at,
       e.invalidation_reason, e.metadata_json, e.revision,
       (SELECT group_concat(name, ', ') FROM (
          SELECT t.name FROM memory_entry_tags AS u CROSS JOIN memory_tags AS t
          WHERE u.project = e.project AND u.entry_row = e.row_id
            AND t.project = e.project AND t.id = u.tag_id ORDER BY t.name)) AS tags
FROM memory_entries AS e CROSS JOIN projects AS p
WHERE p.number = e.project;
