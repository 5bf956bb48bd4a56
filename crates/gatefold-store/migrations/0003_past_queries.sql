-- What somebody searched for when a tool then served them.
CREATE TABLE past_queries (
    tenant TEXT NOT NULL,
    tool TEXT NOT NULL,
    query TEXT NOT NULL,
    -- The binary logarithm of its weight, plus the half-lives from 1970 to its last use. So it orders by
    -- weight at any time without being written as time goes by.
    strength REAL NOT NULL,
    -- Milliseconds since 1970.
    last_used INTEGER NOT NULL,
    PRIMARY KEY (tenant, tool, query)
) STRICT, WITHOUT ROWID;

CREATE INDEX past_queries_by_strength ON past_queries (strength);

-- One row: how often the table above has changed, for processes that hold what they read of it.
CREATE TABLE past_changes (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    changes INTEGER NOT NULL
) STRICT;
INSERT INTO past_changes (one, changes) VALUES (1, 0);
