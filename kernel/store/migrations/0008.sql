-- What a person answered to the questions of a request.
ALTER TABLE approvals ADD COLUMN answers_json TEXT;

-- Which seeds the runs of conversations worked on, and what came of them. Their content lies in workspace/seeds and
-- workspace/evals, which are the truth.
CREATE TABLE seeds (
  id         TEXT NOT NULL,
  version    INTEGER NOT NULL,
  run_id     TEXT NOT NULL,
  session_id TEXT NOT NULL,
  goal       TEXT NOT NULL,
  ambiguity  REAL NOT NULL,
  state      TEXT NOT NULL CHECK (state IN ('active', 'passed', 'failed', 'ended')),
  score      REAL, -- NULL until it is evaluated
  created_at INTEGER NOT NULL,
  PRIMARY KEY (id, version)
) STRICT;
CREATE INDEX seeds_run ON seeds (run_id);
CREATE INDEX seeds_session ON seeds (session_id);
