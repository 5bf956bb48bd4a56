-- What sign-ins at sources brought. Everything secret is sealed.
CREATE TABLE grants (
    -- The domain of the source.
    source TEXT NOT NULL,
    -- The user, as `user:NAME`, or empty where everybody shares the sign-in.
    identity TEXT NOT NULL,
    -- Grows with every change, also over a deletion.
    generation INTEGER NOT NULL,
    -- The data key.
    key INTEGER NOT NULL,
    nonce BLOB NOT NULL,
    sealed BLOB NOT NULL,
    -- Who is refreshing it, and until when nobody else may. Milliseconds since 1970.
    holder TEXT,
    leased_until INTEGER,
    PRIMARY KEY (source, identity)
) STRICT, WITHOUT ROWID;

-- The keys that seal them, each wrapped by a root key that lies elsewhere.
CREATE TABLE data_keys (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    -- The first bytes of a digest of the root key.
    root BLOB NOT NULL,
    nonce BLOB NOT NULL,
    wrapped BLOB NOT NULL,
    -- Milliseconds since 1970.
    created_at INTEGER NOT NULL
) STRICT;
