-- A memory of more than 1,000 characters has a vector for each of its passages, one behind the other, in place of one for its beginning.
DELETE FROM memory_vectors WHERE memory_id IN (SELECT id FROM memories WHERE length(text) > 1000);
