-- Which parts of a message were pasted: they name no machine.
ALTER TABLE messages ADD COLUMN pasted_json TEXT;
ALTER TABLE queued ADD COLUMN pasted_json TEXT;

-- The pieces of pages and search results, one a line, in which addresses stand that the agents of a conversation have
-- read; place is the conversation, or a run that has none.
CREATE TABLE web_read (
  n INTEGER PRIMARY KEY,
  place TEXT NOT NULL,
  addresses TEXT NOT NULL
) STRICT;
CREATE INDEX web_read_place ON web_read (place);

-- How many such addresses of a machine were asked for after something private was read, and the last one of them.
CREATE TABLE web_asked (
  place TEXT NOT NULL,
  host TEXT NOT NULL,
  times INTEGER NOT NULL,
  last TEXT NOT NULL,
  PRIMARY KEY (place, host)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER web_forgotten AFTER DELETE ON sessions BEGIN
  DELETE FROM web_read WHERE place = OLD.id;
  DELETE FROM web_asked WHERE place = OLD.id;
END;
