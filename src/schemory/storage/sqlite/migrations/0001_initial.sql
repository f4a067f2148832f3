-- The store's first schema: projects (seed 003 §8.2), graph spaces and the ledger.
--
-- `project` is everywhere the integer `projects.number`: it stands in every unique key and every
-- reference between tables, so that the same schema can be sharded by project. Where SQLite
-- insists on a bare integer key (AUTOINCREMENT: ids are never used twice), a unique index over
-- (project, id) stands beside it.

CREATE TABLE schema_migrations (
  version INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  applied_at TEXT NOT NULL
);

CREATE TABLE store_facts (
  name TEXT PRIMARY KEY,
  value NOT NULL
) WITHOUT ROWID;

CREATE TABLE projects (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  canonical_path TEXT,
  display_name TEXT,
  git_remote TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  metadata_json TEXT,
  last_seq INTEGER NOT NULL DEFAULT 0,          -- newest ledger number; the row is the lock
  last_recorded_at TEXT NOT NULL DEFAULT '',
  history_from INTEGER NOT NULL DEFAULT 1       -- the ledger is complete from this number on
);

-- Graph ---------------------------------------------------------------------------------------

CREATE TABLE node_type (
  project INTEGER NOT NULL REFERENCES projects (number),
  id INTEGER NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY (project, id),
  UNIQUE (project, name)
) WITHOUT ROWID;

CREATE TABLE edge_type (
  project INTEGER NOT NULL REFERENCES projects (number),
  id INTEGER NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY (project, id),
  UNIQUE (project, name)
) WITHOUT ROWID;

CREATE TABLE node (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project INTEGER NOT NULL,
  name TEXT NOT NULL,
  type INTEGER NOT NULL,
  metadata TEXT NOT NULL,                       -- JSON array of lines, in order
  typed TEXT,                                   -- JSON array of {property, line, value, since}
  extra TEXT,                                   -- JSON object: foreign fields kept as they came
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  author TEXT NOT NULL,
  revision INTEGER NOT NULL,
  since_seq INTEGER NOT NULL,                   -- the transaction that made this state
  twin INTEGER NOT NULL,                        -- hash of the twin key: finds look-alike names
  valid_from TEXT,
  valid_to TEXT,
  FOREIGN KEY (project, type) REFERENCES node_type (project, id)
);
CREATE UNIQUE INDEX node_by_name ON node (project, name);
CREATE UNIQUE INDEX node_by_project ON node (project, id);
CREATE INDEX node_by_type ON node (project, type);
CREATE INDEX node_by_twin ON node (project, twin);

CREATE TABLE edge (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project INTEGER NOT NULL,
  from_id INTEGER NOT NULL,
  to_id INTEGER NOT NULL,
  type INTEGER NOT NULL,
  weight REAL NOT NULL,
  property TEXT,                                -- the schema property that made it
  extra TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  author TEXT NOT NULL,
  revision INTEGER NOT NULL,
  since_seq INTEGER NOT NULL,
  valid_from TEXT,
  valid_to TEXT,
  FOREIGN KEY (project, from_id) REFERENCES node (project, id),
  FOREIGN KEY (project, to_id) REFERENCES node (project, id),
  FOREIGN KEY (project, type) REFERENCES edge_type (project, id)
);
CREATE UNIQUE INDEX edge_by_triple ON edge (project, from_id, to_id, type);
CREATE UNIQUE INDEX edge_by_project ON edge (project, id);
CREATE INDEX edge_by_to ON edge (project, to_id, from_id);
CREATE INDEX edge_by_type ON edge (project, type);

CREATE TABLE kept (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project INTEGER NOT NULL REFERENCES projects (number),
  text TEXT NOT NULL,
  digest BLOB NOT NULL,                         -- SHA-256 of the text
  since_seq INTEGER NOT NULL
);
CREATE UNIQUE INDEX kept_by_digest ON kept (project, digest);
CREATE UNIQUE INDEX kept_by_project ON kept (project, id);

-- Readable forms: what a person at the sqlite3 shell wants to see, and what the reader selects.
-- CROSS JOIN fixes the order, so that no statistics can make a types table the outer loop.

CREATE VIEW graph_nodes AS
SELECT n.id, n.name, t.name AS type, n.metadata, n.typed, n.extra,
       n.created_at, n.updated_at, n.revision, n.author, n.since_seq, n.project
FROM node AS n CROSS JOIN node_type AS t
WHERE t.project = n.project AND t.id = n.type;

CREATE VIEW graph_edges AS
SELECT e.id, e.from_id, e.to_id, f.name AS from_name, g.name AS to_name, t.name AS type,
       e.weight, e.property, e.extra, e.created_at, e.updated_at, e.revision, e.author, e.since_seq,
       e.project
FROM edge AS e CROSS JOIN node AS f CROSS JOIN node AS g CROSS JOIN edge_type AS t
WHERE f.id = e.from_id AND g.id = e.to_id AND t.project = e.project AND t.id = e.type;

-- Ledger: every committed transaction, and what it replaced -------------------------------------

CREATE TABLE ledger (
  project INTEGER NOT NULL REFERENCES projects (number),
  seq INTEGER NOT NULL,                         -- from 1, without gaps
  recorded_at TEXT NOT NULL,                    -- our clock, never earlier than the one before
  operation TEXT NOT NULL,
  author TEXT NOT NULL,
  client TEXT NOT NULL,
  items TEXT NOT NULL,                          -- JSON object of counts
  purged INTEGER NOT NULL DEFAULT 0,            -- 1: something it wrote was purged, no undo
  PRIMARY KEY (project, seq)
) WITHOUT ROWID;

-- One state before per item and transaction; NULL = the item was not there. Ids that were new in
-- a transaction are ranges in `insert_run` instead.
CREATE TABLE change (
  project INTEGER NOT NULL REFERENCES projects (number),
  kind TEXT NOT NULL,                           -- node, edge, kept; later entry, tag, link
  item_id INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  image TEXT,
  PRIMARY KEY (project, kind, item_id, seq)
);
CREATE INDEX change_by_seq ON change (project, seq, kind);

CREATE TABLE insert_run (
  project INTEGER NOT NULL REFERENCES projects (number),
  kind TEXT NOT NULL,
  first_id INTEGER NOT NULL,
  last_id INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  PRIMARY KEY (project, kind, first_id)
) WITHOUT ROWID;
CREATE INDEX insert_run_by_seq ON insert_run (project, seq);

-- Which changed edges touched a node, then or since.
CREATE TABLE change_touch (
  project INTEGER NOT NULL REFERENCES projects (number),
  node INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  edge INTEGER NOT NULL,
  PRIMARY KEY (project, node, seq, edge)
) WITHOUT ROWID;

-- Names that a node had before a rename or its deletion.
CREATE TABLE name_past (
  project INTEGER NOT NULL REFERENCES projects (number),
  name TEXT NOT NULL,
  node INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  PRIMARY KEY (project, name, node, seq)
) WITHOUT ROWID;
