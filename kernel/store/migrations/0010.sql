-- What agents say to each other. A message waits for its receiver until that run reads it as a step of its own.
CREATE TABLE mail (
  n            INTEGER PRIMARY KEY, -- a short number, for models and people
  id           TEXT NOT NULL UNIQUE,
  session_id   TEXT NOT NULL,
  from_run     TEXT NOT NULL, -- '': the person
  to_run       TEXT NOT NULL, -- '': the person
  from_name    TEXT NOT NULL,
  to_name      TEXT NOT NULL,
  kind         TEXT NOT NULL CHECK (kind IN ('task_delegation', 'status_update', 'result_sharing', 'capability_query', 'handshake')),
  payload_json TEXT NOT NULL,
  made         TEXT NOT NULL CHECK (made IN ('', 'end', 'failed', 'returned')), -- by the kernel, from how the sender ended; '': by the sender itself
  answers      TEXT NOT NULL, -- the message that it answers
  asks         INTEGER NOT NULL, -- an answer is expected
  made_by      TEXT NOT NULL, -- the step that sent it
  step_id      TEXT NOT NULL, -- the step of the receiver that it became
  state        TEXT NOT NULL CHECK (state IN ('waiting', 'delivered', 'answered', 'returned')),
  problem_json TEXT, -- why it was returned
  created_at   INTEGER NOT NULL,
  delivered_at INTEGER
) STRICT;
CREATE INDEX mail_to ON mail (to_run, state);
CREATE INDEX mail_from ON mail (from_run);
CREATE INDEX mail_session ON mail (session_id);
CREATE INDEX mail_answers ON mail (answers);
CREATE INDEX mail_made_by ON mail (made_by);
