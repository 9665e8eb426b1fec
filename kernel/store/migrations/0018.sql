-- What agents remember. A memory that a newer one replaced stays as its history.
CREATE TABLE memories (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  space TEXT NOT NULL DEFAULT '', -- the space that it belongs to; '' is the default one
  kind TEXT NOT NULL CHECK (kind IN ('fact', 'episode', 'session', 'conversation')),
  text TEXT NOT NULL,
  key TEXT NOT NULL DEFAULT '', -- what a fact is about: of a key and space there is one that holds
  source TEXT NOT NULL, -- person, agent, conversation or import
  thread TEXT NOT NULL DEFAULT '', -- the conversation that it stands in
  run_id TEXT NOT NULL DEFAULT '',
  labels_json TEXT,
  importance REAL NOT NULL DEFAULT 1,
  pinned INTEGER NOT NULL DEFAULT 0,
  said_at INTEGER NOT NULL, -- when what it tells was said
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  replaced_by TEXT NOT NULL DEFAULT '',
  replaced_at INTEGER
);
CREATE INDEX memories_space ON memories (space, replaced_by, said_at);
CREATE INDEX memories_key ON memories (key, space) WHERE key <> '' AND replaced_by = '';
CREATE INDEX memories_replaced ON memories (replaced_by) WHERE replaced_by <> '';

-- Which memories a run was given, or looked up.
CREATE TABLE memory_uses (
  memory_id TEXT NOT NULL,
  run_id TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (memory_id, run_id)
) WITHOUT ROWID;
CREATE INDEX memory_uses_run ON memory_uses (run_id);

-- The contexts of work.
CREATE TABLE spaces (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  emoji TEXT NOT NULL DEFAULT '',
  folder TEXT NOT NULL DEFAULT '', -- that its conversations work in; '' for its own in the home
  words TEXT NOT NULL DEFAULT '', -- its tags and key words, one a line
  paths TEXT NOT NULL DEFAULT '', -- folders that belong to it, one a line
  instructions TEXT NOT NULL DEFAULT '',
  provider TEXT NOT NULL DEFAULT '',
  model TEXT NOT NULL DEFAULT '',
  mode TEXT NOT NULL DEFAULT '',
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  used_at INTEGER NOT NULL, -- of its newest message
  archived_at INTEGER
);
CREATE UNIQUE INDEX spaces_name ON spaces (name COLLATE NOCASE);
ALTER TABLE sessions ADD COLUMN space TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN space_why TEXT NOT NULL DEFAULT ''; -- person, path, word, topic; '' when nobody chose
CREATE INDEX sessions_space ON sessions (space);
