-- What is remembered already is found by how it begins.
CREATE INDEX memories_text ON memories (space, substr(text, 1, 64)) WHERE replaced_by = '';
