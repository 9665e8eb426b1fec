-- Whether what is remembered in a space may be given to the agents of other spaces. Without it they are told its name alone.
ALTER TABLE spaces ADD COLUMN shared INTEGER NOT NULL DEFAULT 0;
