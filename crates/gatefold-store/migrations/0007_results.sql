-- Results that were too large to show. Their texts lie encrypted in files beside the database, named
-- by id.
CREATE TABLE results (
    -- The SHA-256 of the handle. The handle itself is kept nowhere.
    id BLOB PRIMARY KEY,
    -- A digest of the principal that may read it.
    owner BLOB NOT NULL,
    tool TEXT NOT NULL,
    -- The length of the text.
    bytes INTEGER NOT NULL,
    -- Milliseconds since 1970.
    stored_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX results_by_owner ON results (owner, stored_at);

CREATE INDEX results_by_expiry ON results (expires_at);
