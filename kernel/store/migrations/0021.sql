-- The vectors of memories by the embedder that is configured. Those of the built-in one are computed instead.
CREATE TABLE memory_vectors (
  memory_id TEXT NOT NULL,
  embedder TEXT NOT NULL, -- provider/model
  dim INTEGER NOT NULL,
  vector BLOB NOT NULL, -- dim numbers of 32 bit, little endian, of length 1
  sum INTEGER NOT NULL, -- CRC-32 (Castagnoli) of vector
  cut INTEGER NOT NULL DEFAULT 0, -- the text was too long for the embedder: this is its beginning
  made_at INTEGER NOT NULL,
  UNIQUE (embedder, memory_id)
);
CREATE INDEX memory_vectors_memory ON memory_vectors (memory_id);

-- A vector tells of its text: it goes with it, whoever deletes, replaces or changes the memory.
CREATE TRIGGER memory_vectors_delete AFTER DELETE ON memories BEGIN
  DELETE FROM memory_vectors WHERE memory_id = old.id;
END;
CREATE TRIGGER memory_vectors_update AFTER UPDATE OF text, replaced_by ON memories WHEN old.text <> new.text OR new.replaced_by <> '' BEGIN
  DELETE FROM memory_vectors WHERE memory_id = old.id;
END;

-- What is known of embedders that gave vectors.
CREATE TABLE embedders (
  id TEXT PRIMARY KEY, -- provider/model
  dim INTEGER NOT NULL,
  chance REAL NOT NULL, -- the cosine that unrelated texts have
  made_at INTEGER NOT NULL
) WITHOUT ROWID;

-- What was spent beside runs, which the account of the day holds too.
CREATE TABLE spend_purposes (
  slot INTEGER NOT NULL, -- start of the quarter hour
  purpose TEXT NOT NULL, -- embedding or memory
  calls INTEGER NOT NULL,
  input INTEGER NOT NULL,
  output INTEGER NOT NULL,
  usd REAL NOT NULL,
  unknown INTEGER NOT NULL,
  free INTEGER NOT NULL,
  PRIMARY KEY (slot, purpose)
) WITHOUT ROWID;
