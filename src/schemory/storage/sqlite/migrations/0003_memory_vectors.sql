-- Vectors of entries, by which they are found by meaning (seed 003 §15.3). Derived: made again from
-- the entries at any time, so neither ledger nor history knows of them. A vector goes in the
-- transaction that changes its entry's text; no vector means that one is still to be made.

ALTER TABLE projects ADD COLUMN vector_version INTEGER NOT NULL DEFAULT 0;  -- grows as they come

CREATE TABLE memory_vectors (
  project INTEGER NOT NULL,
  entry_row INTEGER NOT NULL,                   -- memory_entries.row_id
  entry_id TEXT NOT NULL,
  backend TEXT NOT NULL,
  model TEXT NOT NULL,                          -- vectors of one model only are compared
  dimensions INTEGER NOT NULL,
  vector_blob BLOB NOT NULL,                    -- float16, little endian, unit length
  version INTEGER NOT NULL,                     -- of projects.vector_version, when it came
  updated_at TEXT NOT NULL,
  PRIMARY KEY (project, entry_row, model),
  FOREIGN KEY (project, entry_row) REFERENCES memory_entries (project, row_id)
);
CREATE INDEX memory_vectors_by_version ON memory_vectors (project, model, version);
