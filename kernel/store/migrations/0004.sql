-- When a person saw how a run ended; until then it stands in their inbox. What ended before there was one is seen.
ALTER TABLE runs ADD COLUMN seen_at INTEGER;
UPDATE runs SET seen_at = coalesce(ended_at, created_at) WHERE state IN ('done', 'failed', 'stopped', 'interrupted');
CREATE INDEX runs_unseen ON runs (ended_at) WHERE seen_at IS NULL AND state IN ('done', 'failed', 'interrupted') AND parent_id IS NULL AND copy_of = '';
