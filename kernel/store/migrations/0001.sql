-- Times are unix milliseconds in UTC unless a column says otherwise; ids are UUIDv7 as text.
-- Tables that the full-text index points at have an explicit integer key: VACUUM may renumber a rowid without one.

CREATE TABLE sessions (
  n          INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  title      TEXT NOT NULL DEFAULT '',
  summary    TEXT NOT NULL DEFAULT '',
  folder     TEXT NOT NULL DEFAULT '',
  provider   TEXT NOT NULL DEFAULT '',
  model      TEXT NOT NULL DEFAULT '',
  mode       TEXT NOT NULL DEFAULT '',
  archived   INTEGER NOT NULL DEFAULT 0,
  pinned     INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX sessions_order ON sessions (archived, pinned, updated_at, id);

CREATE TABLE messages (
  n               INTEGER PRIMARY KEY,
  id              TEXT NOT NULL UNIQUE,
  session_id      TEXT NOT NULL REFERENCES sessions (id),
  run_id          TEXT NOT NULL DEFAULT '',
  role            TEXT NOT NULL,
  content         TEXT NOT NULL DEFAULT '',
  reasoning       TEXT NOT NULL DEFAULT '',
  timestamp       INTEGER NOT NULL,
  cost_json       TEXT,
  tool_calls_json TEXT,
  provider        TEXT NOT NULL DEFAULT '',
  model           TEXT NOT NULL DEFAULT '',
  status          TEXT NOT NULL DEFAULT '',
  demo            INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX messages_session ON messages (session_id, n);

CREATE TABLE runs (
  id          TEXT NOT NULL PRIMARY KEY,
  pid         INTEGER NOT NULL UNIQUE,
  session_id  TEXT REFERENCES sessions (id),
  parent_id   TEXT,
  name        TEXT NOT NULL DEFAULT '',
  state       TEXT NOT NULL,
  profile     TEXT NOT NULL DEFAULT '',
  folder      TEXT NOT NULL DEFAULT '',
  provider    TEXT NOT NULL DEFAULT '',
  model       TEXT NOT NULL DEFAULT '',
  mode        TEXT NOT NULL DEFAULT '',
  via         TEXT NOT NULL DEFAULT '',
  text        TEXT NOT NULL DEFAULT '',
  created_at  INTEGER NOT NULL,
  started_at  INTEGER,
  ended_at    INTEGER,
  turns       INTEGER NOT NULL DEFAULT 0,
  cost_json   TEXT,
  end_reason  TEXT NOT NULL DEFAULT '',
  error_json  TEXT,
  owner       TEXT NOT NULL DEFAULT '',
  lease_until INTEGER,
  token       INTEGER NOT NULL DEFAULT 1,
  seq         INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX runs_session ON runs (session_id, pid);
CREATE INDEX runs_parent ON runs (parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX runs_open ON runs (pid) WHERE state IN ('queued', 'running', 'waiting', 'paused');

CREATE TABLE steps (
  id          TEXT NOT NULL,
  run_id      TEXT NOT NULL REFERENCES runs (id),
  seq         INTEGER NOT NULL,
  kind        TEXT NOT NULL,
  name        TEXT NOT NULL DEFAULT '',
  call_id     TEXT NOT NULL DEFAULT '',
  args_json   TEXT,
  state       TEXT NOT NULL CHECK (state IN ('proposed', 'waiting', 'started', 'closed')),
  approval_id TEXT NOT NULL DEFAULT '',
  result_json TEXT,
  outcome     TEXT NOT NULL DEFAULT '',
  proposed_at INTEGER NOT NULL,
  started_at  INTEGER,
  closed_at   INTEGER,
  audit_seq   INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (run_id, seq) -- no second index: this is the table that is written most
) STRICT;

CREATE TABLE queued (
  id           TEXT NOT NULL PRIMARY KEY,
  session_id   TEXT NOT NULL REFERENCES sessions (id),
  text         TEXT NOT NULL,
  created_at   INTEGER NOT NULL,
  request_json TEXT
) STRICT;
CREATE INDEX queued_session ON queued (session_id);

CREATE TABLE changes (
  id          TEXT NOT NULL PRIMARY KEY,
  run_id      TEXT NOT NULL REFERENCES runs (id),
  step_id     TEXT NOT NULL DEFAULT '',
  path        TEXT NOT NULL,
  kind        TEXT NOT NULL CHECK (kind IN ('created', 'modified', 'deleted')),
  before      BLOB,
  after       BLOB,
  after_hash  TEXT NOT NULL DEFAULT '',
  before_size INTEGER NOT NULL DEFAULT 0,
  after_size  INTEGER NOT NULL DEFAULT 0,
  binary      INTEGER NOT NULL DEFAULT 0,
  at          INTEGER NOT NULL
) STRICT;
CREATE INDEX changes_run ON changes (run_id);

-- The rows of approvals and audit belong to the security package.
CREATE TABLE approvals (
  id           TEXT NOT NULL PRIMARY KEY,
  run_id       TEXT NOT NULL DEFAULT '',
  step_id      TEXT NOT NULL DEFAULT '',
  session_id   TEXT NOT NULL DEFAULT '',
  call         TEXT NOT NULL,
  hash         TEXT NOT NULL,
  request_json TEXT NOT NULL,
  state        TEXT NOT NULL DEFAULT 'pending',
  scope        TEXT NOT NULL DEFAULT '',
  decided_by   TEXT NOT NULL DEFAULT '',
  comment      TEXT NOT NULL DEFAULT '',
  created_at   INTEGER NOT NULL,
  expires_at   INTEGER,
  decided_at   INTEGER,
  used_at      INTEGER
) STRICT;
CREATE INDEX approvals_session ON approvals (session_id, state);
CREATE INDEX approvals_run ON approvals (run_id);
CREATE INDEX approvals_pending ON approvals (created_at) WHERE state = 'pending';

CREATE TABLE audit (
  seq       INTEGER PRIMARY KEY,
  timestamp INTEGER NOT NULL, -- unix nanoseconds
  actor     TEXT NOT NULL,
  action    TEXT NOT NULL,
  resource  TEXT NOT NULL,
  prev_hash ANY NOT NULL,
  hash      ANY NOT NULL,
  metadata  TEXT NOT NULL DEFAULT ''
) STRICT;

CREATE TABLE kv (
  key   TEXT NOT NULL PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- What models cost, per quarter of an hour: every time zone's midnight falls on one. It outlives the sessions
-- that spent it, so that deleting a conversation does not give its budget back.
CREATE TABLE spend (
  slot      INTEGER PRIMARY KEY, -- unix milliseconds, a multiple of 900000
  calls     INTEGER NOT NULL,
  input     INTEGER NOT NULL,
  output    INTEGER NOT NULL,
  cached    INTEGER NOT NULL,
  reasoning INTEGER NOT NULL,
  usd       REAL NOT NULL,
  unknown   INTEGER NOT NULL,
  free      INTEGER NOT NULL
) STRICT;

CREATE TABLE counters (
  name  TEXT NOT NULL PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Full text. Tool output is left out: it is the bulk of a conversation, and nobody looks for a session by it.
CREATE VIEW messages_text AS SELECT n, content FROM messages WHERE role IN ('user', 'assistant') AND content <> '';

CREATE VIRTUAL TABLE messages_fts USING fts5 (content, content='messages_text', content_rowid='n', tokenize='trigram');
CREATE VIRTUAL TABLE sessions_fts USING fts5 (title, content='sessions', content_rowid='n', tokenize='trigram');
-- What a person deletes leaves no text behind in the index.
INSERT INTO messages_fts (messages_fts, rank) VALUES ('secure-delete', 1);
INSERT INTO sessions_fts (sessions_fts, rank) VALUES ('secure-delete', 1);

CREATE TRIGGER messages_fts_insert AFTER INSERT ON messages WHEN new.role IN ('user', 'assistant') AND new.content <> ''
BEGIN
  INSERT INTO messages_fts (rowid, content) VALUES (new.n, new.content);
END;
CREATE TRIGGER messages_fts_delete AFTER DELETE ON messages WHEN old.role IN ('user', 'assistant') AND old.content <> ''
BEGIN
  INSERT INTO messages_fts (messages_fts, rowid, content) VALUES ('delete', old.n, old.content);
END;
CREATE TRIGGER messages_fts_update_old AFTER UPDATE OF role, content ON messages WHEN old.role IN ('user', 'assistant') AND old.content <> ''
BEGIN
  INSERT INTO messages_fts (messages_fts, rowid, content) VALUES ('delete', old.n, old.content);
END;
CREATE TRIGGER messages_fts_update_new AFTER UPDATE OF role, content ON messages WHEN new.role IN ('user', 'assistant') AND new.content <> ''
BEGIN
  INSERT INTO messages_fts (rowid, content) VALUES (new.n, new.content);
END;
CREATE TRIGGER sessions_fts_insert AFTER INSERT ON sessions
BEGIN
  INSERT INTO sessions_fts (rowid, title) VALUES (new.n, new.title);
END;
CREATE TRIGGER sessions_fts_delete AFTER DELETE ON sessions
BEGIN
  INSERT INTO sessions_fts (sessions_fts, rowid, title) VALUES ('delete', old.n, old.title);
END;
CREATE TRIGGER sessions_fts_update AFTER UPDATE OF title ON sessions
BEGIN
  INSERT INTO sessions_fts (sessions_fts, rowid, title) VALUES ('delete', old.n, old.title);
  INSERT INTO sessions_fts (rowid, title) VALUES (new.n, new.title);
END;
