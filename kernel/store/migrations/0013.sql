-- Where what a run has read came from: what it began with, and at each step what the step brought.
ALTER TABLE runs ADD COLUMN labels_json TEXT;
ALTER TABLE steps ADD COLUMN labels_json TEXT;

-- Files that runs with labels wrote: whoever reads one gets its labels. They hold on this machine, as the files do.
CREATE TABLE file_labels (
  path        TEXT PRIMARY KEY, -- absolute, links followed
  content     TEXT NOT NULL,    -- hash of what was written, so that a copy is known too; '' when it is not known
  run_id      TEXT NOT NULL,
  labels_json TEXT NOT NULL,
  at          INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX file_labels_content ON file_labels (content) WHERE content <> '';

-- Labels that the person has ended.
CREATE TABLE ended_labels (
  id         TEXT PRIMARY KEY,
  label_json TEXT NOT NULL,
  at         INTEGER NOT NULL,
  by         TEXT NOT NULL
) STRICT, WITHOUT ROWID;
