-- What runs did to files, written down before it is done, so that it can be undone. A state is text, as "file 644 ID 12";
-- the content with this id lies in undo/ of the home.
CREATE TABLE file_marks (
  n       INTEGER PRIMARY KEY,
  run_id  TEXT NOT NULL,
  step_id TEXT NOT NULL,
  path    TEXT NOT NULL, -- absolute
  before  TEXT NOT NULL,
  after   TEXT NOT NULL,
  unsure  INTEGER NOT NULL, -- somebody else may have done it: it was found after a command in the background, or after a crash
  at      INTEGER NOT NULL
) STRICT;
CREATE INDEX file_marks_run ON file_marks (run_id);
CREATE INDEX file_marks_path ON file_marks (path);

-- One undo or redo. Its moves are written down before the first of them is made.
CREATE TABLE undo_moves (
  op_id   TEXT NOT NULL,
  n       INTEGER NOT NULL, -- in the order in which they are made
  run_id  TEXT NOT NULL,
  redo    INTEGER NOT NULL,
  path    TEXT NOT NULL,
  was     TEXT NOT NULL,
  becomes TEXT NOT NULL,
  temp    TEXT NOT NULL, -- the name beside it that is used meanwhile
  state   TEXT NOT NULL CHECK (state IN ('open', 'done', 'left')),
  at      INTEGER NOT NULL,
  PRIMARY KEY (op_id, n)
) STRICT, WITHOUT ROWID;
CREATE INDEX undo_moves_run ON undo_moves (run_id);
CREATE INDEX undo_moves_open ON undo_moves (op_id) WHERE state = 'open';

-- Commands that are at work: what they change is found when they end, or at the next start.
CREATE TABLE undo_commands (
  id         TEXT NOT NULL PRIMARY KEY,
  run_id     TEXT NOT NULL,
  step_id    TEXT NOT NULL,
  folder     TEXT NOT NULL,
  started_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
