-- A conversation is a tree: a run follows another one, and the session shows the branch that ends at its head.
ALTER TABLE runs ADD COLUMN after_id TEXT NOT NULL DEFAULT '';   -- the run that it follows; '' for a first one
ALTER TABLE runs ADD COLUMN copy_of TEXT NOT NULL DEFAULT '';    -- the run of another conversation that it shows again; it never ran itself
ALTER TABLE sessions ADD COLUMN head_id TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN origin_id TEXT NOT NULL DEFAULT ''; -- the conversation that it was branched from
UPDATE runs SET after_id = coalesce((SELECT b.id FROM runs b WHERE b.session_id = runs.session_id AND b.parent_id IS NULL AND b.pid < runs.pid
  ORDER BY b.pid DESC LIMIT 1), '') WHERE parent_id IS NULL AND session_id IS NOT NULL;
UPDATE sessions SET head_id = coalesce((SELECT r.id FROM runs r WHERE r.session_id = sessions.id AND r.parent_id IS NULL ORDER BY r.pid DESC LIMIT 1), '');

-- What people attach. Rows of messages, runs and the queue repeat it; the content lies beside the database, under its hash.
CREATE TABLE attachments (
  id         TEXT NOT NULL PRIMARY KEY,
  created_at INTEGER NOT NULL,
  hash       TEXT NOT NULL DEFAULT '', -- blake3 of the content, hex; '' for a reference
  info_json  TEXT NOT NULL
) STRICT;
-- Which conversations have it: it goes with the last of them.
CREATE TABLE attached (
  session_id    TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  attachment_id TEXT NOT NULL REFERENCES attachments (id),
  PRIMARY KEY (session_id, attachment_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX attached_attachment ON attached (attachment_id);
ALTER TABLE messages ADD COLUMN attachments_json TEXT;
ALTER TABLE runs ADD COLUMN attachments_json TEXT;
ALTER TABLE queued ADD COLUMN attachments_json TEXT;
CREATE TRIGGER messages_attached AFTER INSERT ON messages WHEN new.attachments_json IS NOT NULL
BEGIN
  INSERT OR IGNORE INTO attached (session_id, attachment_id) SELECT new.session_id, value ->> '$.id' FROM json_each(new.attachments_json);
END;
CREATE TRIGGER queued_attached AFTER INSERT ON queued WHEN new.attachments_json IS NOT NULL
BEGIN
  INSERT OR IGNORE INTO attached (session_id, attachment_id) SELECT new.session_id, value ->> '$.id' FROM json_each(new.attachments_json);
END;
CREATE TRIGGER attached_delete AFTER DELETE ON attached WHEN NOT EXISTS (SELECT 1 FROM attached WHERE attachment_id = old.attachment_id)
BEGIN
  DELETE FROM attachments WHERE id = old.attachment_id;
END;
