-- Set while the deletion of a session can still be undone, and 0 once it has begun. Nothing shows such a session, and
-- the next start deletes it.
ALTER TABLE sessions ADD COLUMN discarded_at INTEGER;
CREATE INDEX sessions_discarded ON sessions (id) WHERE discarded_at IS NOT NULL;
