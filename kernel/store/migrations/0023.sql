-- The person's own words that a memory was taken from. They go with it, with its text, and with their conversation.
CREATE TABLE memory_quotes (
  memory_id TEXT NOT NULL PRIMARY KEY,
  text TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TRIGGER memory_quotes_forgotten AFTER DELETE ON memories BEGIN
  DELETE FROM memory_quotes WHERE memory_id = OLD.id;
END;
CREATE TRIGGER memory_quotes_changed AFTER UPDATE OF text ON memories WHEN NEW.text <> OLD.text BEGIN
  DELETE FROM memory_quotes WHERE memory_id = OLD.id;
END;
CREATE TRIGGER memory_quotes_unsaid AFTER DELETE ON sessions BEGIN
  DELETE FROM memory_quotes WHERE memory_id IN (SELECT id FROM memories WHERE thread = OLD.id AND thread <> '');
END;
