-- A command that was tried on a copy of its folder, for a request that waits: what it did there, and what came of that.
CREATE TABLE tries (
  approval_id TEXT PRIMARY KEY,
  run_id      TEXT NOT NULL,
  hash        TEXT NOT NULL, -- of exactly what was shown
  result_json TEXT NOT NULL, -- how the command ended
  files_json  TEXT NOT NULL, -- [{path, was, becomes, late}]; a state is text, as in file_marks
  state       TEXT NOT NULL CHECK (state IN ('shown', 'applying', 'applied', 'left')),
  at          INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The request whose try a move applies; '' for an undo or a redo.
ALTER TABLE undo_moves ADD COLUMN try_id TEXT NOT NULL DEFAULT '';
