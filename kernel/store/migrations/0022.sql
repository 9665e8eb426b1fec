-- How far each conversation was looked through for what to remember.
CREATE TABLE memory_extractions (
  session_id TEXT NOT NULL PRIMARY KEY,
  through TEXT NOT NULL DEFAULT '', -- the newest message that was looked at
  tried TEXT NOT NULL DEFAULT '', -- the newest message of the last attempt
  attempts INTEGER NOT NULL DEFAULT 0, -- that came to no use, at tried
  at INTEGER NOT NULL,
  outcome TEXT NOT NULL -- before, begun, ok, nothing, bad or failed
) STRICT, WITHOUT ROWID;

-- What was said before there was this is not read again: nobody was asked.
INSERT INTO memory_extractions (session_id, through, at, outcome)
  SELECT s.id, coalesce((SELECT m.id FROM messages m WHERE m.session_id = s.id ORDER BY m.n DESC LIMIT 1), ''), s.updated_at, 'before' FROM sessions s;

-- The model calls of that. They outlive their conversations, as what they cost does.
CREATE TABLE memory_calls (
  n INTEGER PRIMARY KEY,
  session_id TEXT NOT NULL,
  provider TEXT NOT NULL,
  model TEXT NOT NULL,
  at INTEGER NOT NULL,
  outcome TEXT NOT NULL, -- ok, nothing or bad
  facts INTEGER NOT NULL,
  cost_json TEXT NOT NULL
) STRICT;
CREATE INDEX memory_calls_at ON memory_calls (at);

-- What keeping the memories in order did. It names memories and holds no text of them: what is forgotten is gone here too.
CREATE TABLE memory_curations (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  at INTEGER NOT NULL,
  night TEXT NOT NULL DEFAULT '', -- whose it is, as 2026-01-31; '' when the person began it
  changes_json TEXT NOT NULL
) STRICT;
CREATE INDEX memories_thread ON memories (thread) WHERE thread <> '';
