-- Runs of agents and workflows.
CREATE TABLE runs (
    -- Begins with its time, so ids are in the order of their runs.
    id TEXT PRIMARY KEY,
    -- A digest of the person.
    owner BLOB NOT NULL,
    -- `agent` or `workflow`.
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    parent TEXT,
    -- Milliseconds since 1970, as every moment here.
    began_at INTEGER NOT NULL,
    ended_at INTEGER,
    -- `done`, `failed` or `cancelled`, once it has ended.
    outcome TEXT,
    -- The number of its last event.
    last INTEGER NOT NULL
) STRICT;

CREATE INDEX runs_by_owner ON runs (owner, id);

CREATE INDEX runs_by_end ON runs (ended_at);

-- What happened in a run. Rows are added, and deleted with their run, never changed.
CREATE TABLE run_events (
    run TEXT NOT NULL,
    number INTEGER NOT NULL,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    json TEXT NOT NULL,
    PRIMARY KEY (run, number)
) STRICT;
