-- Agents are processes: how a run is scheduled, and where it stands among the others.
ALTER TABLE runs ADD COLUMN priority INTEGER NOT NULL DEFAULT 1; -- 0 low, 1 normal, 2 high, 3 critical
ALTER TABLE runs ADD COLUMN depth INTEGER NOT NULL DEFAULT 0;    -- forks above it
ALTER TABLE runs ADD COLUMN made_by TEXT NOT NULL DEFAULT '';    -- the step of its parent that forked it
ALTER TABLE runs ADD COLUMN paused INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN orphan INTEGER NOT NULL DEFAULT 0;   -- its parent ended before it did
ALTER TABLE runs ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0; -- how often it was taken up after a crash, since it last got on
ALTER TABLE runs ADD COLUMN taken_at INTEGER;
CREATE INDEX runs_made ON runs (made_by) WHERE made_by <> '';
-- What an orphan did stands in nobody's answer, so the inbox shows it.
DROP INDEX runs_unseen;
CREATE INDEX runs_unseen ON runs (ended_at) WHERE seen_at IS NULL AND state IN ('done', 'failed', 'interrupted') AND (parent_id IS NULL OR orphan) AND copy_of = '';
-- A message for one agent; '' for the conversation's.
ALTER TABLE queued ADD COLUMN run_id TEXT NOT NULL DEFAULT '';
