-- What a run was told by the instructions of its folder: where they are, how long, and the hash of what was loaded.
ALTER TABLE runs ADD COLUMN instructions_json TEXT;
