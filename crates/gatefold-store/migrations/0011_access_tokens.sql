-- Access tokens to the gateway. The tokens themselves are kept nowhere.
CREATE TABLE access_tokens (
    id TEXT PRIMARY KEY,
    -- What people call it.
    name TEXT NOT NULL UNIQUE,
    -- The SHA-256 of the whole token.
    hash BLOB NOT NULL,
    user TEXT NOT NULL,
    agent TEXT,
    -- A JSON array of patterns, of which an entry has to match one. Null where all may be seen.
    tools TEXT,
    read_only INTEGER NOT NULL,
    -- Milliseconds since 1970, as every moment here.
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    -- The hour in which it was last used.
    last_used INTEGER
) STRICT, WITHOUT ROWID;

-- One row with a number that every change of the tokens raises, so that a gateway that runs has only
-- this to look at.
CREATE TABLE access_token_changes (
    changes INTEGER NOT NULL
) STRICT;

INSERT INTO access_token_changes VALUES (0);

-- The name of the token with which a call came.
ALTER TABLE calls ADD COLUMN token TEXT;
