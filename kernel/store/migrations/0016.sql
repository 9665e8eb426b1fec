-- An undo takes along what the forks of its run did, unless a person wants that run alone.
ALTER TABLE undo_moves ADD COLUMN tree INTEGER NOT NULL DEFAULT 0;

-- The last mark that was there before: a fork is undone while the run that began it goes on writing.
ALTER TABLE undo_moves ADD COLUMN after_mark INTEGER NOT NULL DEFAULT 0;
UPDATE undo_moves SET after_mark = coalesce((SELECT max(n) FROM file_marks WHERE file_marks.at <= undo_moves.at), 0);
CREATE INDEX undo_moves_after ON undo_moves (after_mark);

-- When the journal of a run was freed: what its steps were told and gave is gone, that they were there is not.
ALTER TABLE runs ADD COLUMN freed_at INTEGER;
