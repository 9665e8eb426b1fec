-- Kinds of steps that a person allows beforehand. They hold on this machine alone: no backup brings one in.
CREATE TABLE grants (
  id           TEXT PRIMARY KEY,
  approval_id  TEXT NOT NULL, -- the request that it was made from
  scope        TEXT NOT NULL CHECK (scope IN ('run', 'folder')),
  run_id       TEXT NOT NULL, -- of scope run: the run that it ends with; else ''
  folder       TEXT NOT NULL, -- of the runs that it holds for, links followed
  kind_json    TEXT NOT NULL,
  created_by   TEXT NOT NULL,
  created_at   INTEGER NOT NULL,
  expires_at   INTEGER NOT NULL,
  uses         INTEGER NOT NULL,
  last_used_at INTEGER,
  ended_at     INTEGER,
  ended_by     TEXT NOT NULL -- who took it back, or 'run' with its run
) STRICT;
CREATE INDEX grants_folder ON grants (folder) WHERE ended_at IS NULL;
-- The grant under which a step ran without asking.
ALTER TABLE steps ADD COLUMN grant_id TEXT NOT NULL DEFAULT '';
