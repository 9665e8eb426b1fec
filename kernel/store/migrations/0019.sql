-- What corrections taught: the words of conversations that the person moved into a space.
CREATE TABLE space_words (
  space TEXT NOT NULL, -- '' is the default one
  word TEXT NOT NULL,
  weight REAL NOT NULL,
  PRIMARY KEY (space, word)
) WITHOUT ROWID;

-- The proposals that the person declined: they are not made again.
CREATE TABLE space_declined (
  id TEXT PRIMARY KEY, -- of the proposal
  at INTEGER NOT NULL
) WITHOUT ROWID;

-- What a merge of two spaces moved, so that it can be undone.
CREATE TABLE space_merges (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  source TEXT NOT NULL,
  target TEXT NOT NULL,
  at INTEGER NOT NULL,
  moved_json TEXT NOT NULL,
  undone_at INTEGER
);
ALTER TABLE spaces ADD COLUMN role TEXT NOT NULL DEFAULT '';
