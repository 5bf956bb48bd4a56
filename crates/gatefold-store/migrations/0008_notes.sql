-- Notes that principals keep, until they delete them.
CREATE TABLE notes (
    -- A digest of the principal.
    owner BLOB NOT NULL,
    id INTEGER NOT NULL,
    title TEXT NOT NULL,
    text TEXT NOT NULL,
    -- Milliseconds since 1970.
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (owner, id)
) STRICT, WITHOUT ROWID;
