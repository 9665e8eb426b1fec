-- Which criteria of a seed an agent works on that was forked for a part of it, and by which step a seed was begun.
ALTER TABLE runs ADD COLUMN share_json TEXT;
ALTER TABLE seeds ADD COLUMN made_by TEXT NOT NULL DEFAULT '';

-- How many agents may work on a task at once, the one that a person started included; 0 is no limit of its own.
-- Forks have that of their parent.
ALTER TABLE runs ADD COLUMN agents INTEGER NOT NULL DEFAULT 0;
