-- What the agents of a conversation may do at most: the name of a role, '' for the configured one.
ALTER TABLE sessions ADD COLUMN role TEXT NOT NULL DEFAULT '';

-- The role that a run began with, as it stood then and narrowed by those above it; '' for a run from before there were roles.
ALTER TABLE runs ADD COLUMN role TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN role_json TEXT NOT NULL DEFAULT '';

-- A kind of step may be allowed for one conversation too.
CREATE TABLE grants_with_sessions (
  id           TEXT PRIMARY KEY,
  approval_id  TEXT NOT NULL, -- the request that it was made from
  scope        TEXT NOT NULL CHECK (scope IN ('run', 'session', 'folder')),
  run_id       TEXT NOT NULL, -- of scope run: the run that it ends with; else ''
  session_id   TEXT NOT NULL, -- of scope session: the conversation that it ends with; else ''
  folder       TEXT NOT NULL, -- of the runs that it holds for, links followed
  kind_json    TEXT NOT NULL,
  created_by   TEXT NOT NULL,
  created_at   INTEGER NOT NULL,
  expires_at   INTEGER NOT NULL,
  uses         INTEGER NOT NULL,
  last_used_at INTEGER,
  ended_at     INTEGER,
  ended_by     TEXT NOT NULL -- who took it back, 'run' with its run, or 'session' with its conversation
) STRICT;
INSERT INTO grants_with_sessions (id, approval_id, scope, run_id, session_id, folder, kind_json, created_by, created_at, expires_at, uses, last_used_at, ended_at, ended_by)
  SELECT id, approval_id, scope, run_id, '', folder, kind_json, created_by, created_at, expires_at, uses, last_used_at, ended_at, ended_by FROM grants;
DROP TABLE grants;
ALTER TABLE grants_with_sessions RENAME TO grants;
CREATE INDEX grants_folder ON grants (folder) WHERE ended_at IS NULL;
