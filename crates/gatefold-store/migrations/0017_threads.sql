-- Conversations with agents. Each is a row of runs.
CREATE TABLE threads (
    -- Begins with its time.
    id TEXT PRIMARY KEY,
    -- A digest of the person.
    owner BLOB NOT NULL,
    title TEXT NOT NULL,
    -- The agent's name. Empty if none was chosen.
    agent TEXT NOT NULL,
    began_at INTEGER NOT NULL,
    -- When a run of it last began. The newest come first by it.
    used_at INTEGER NOT NULL
) STRICT;

CREATE INDEX threads_by_owner ON threads (owner, used_at);

ALTER TABLE runs ADD COLUMN thread TEXT;

CREATE INDEX runs_by_thread ON runs (thread, id) WHERE thread IS NOT NULL;
