-- The step of a try's command, which what it did belongs to. A command that works on a copy without having been asked about has a row with an id of its own while that is brought into the folder.
ALTER TABLE tries ADD COLUMN step_id TEXT NOT NULL DEFAULT '';
UPDATE tries SET step_id = coalesce((SELECT step_id FROM approvals WHERE id = approval_id), '');
