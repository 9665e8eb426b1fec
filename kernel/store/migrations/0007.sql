-- What a person lets one run spend, with the runs that it starts; NULL is no limit. A run without a row has the
-- limits of config.toml, and so has the day.
CREATE TABLE limits (
  scope  TEXT NOT NULL, -- run
  id     TEXT NOT NULL,
  tokens INTEGER,
  calls  INTEGER,
  usd    REAL,
  set_at INTEGER NOT NULL,
  PRIMARY KEY (scope, id)
) STRICT, WITHOUT ROWID;
