-- People who sign in at the gateway itself. The passwords are kept nowhere; moments are milliseconds
-- since 1970.
CREATE TABLE passwords (
    user TEXT PRIMARY KEY,
    -- argon2id, as text of the form of PHC.
    hash TEXT NOT NULL,
    changed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Links that set a password, once. A user has one at most.
CREATE TABLE password_links (
    user TEXT PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    -- The SHA-256 of the whole link's token, as of every token here.
    hash BLOB NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Browsers in which somebody has signed in.
CREATE TABLE browser_sessions (
    id TEXT PRIMARY KEY,
    hash BLOB NOT NULL,
    user TEXT NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX browser_sessions_of_user ON browser_sessions (user, expires_at);

-- Codes that clients exchange for tokens. Used ones stay for a while, to be recognised.
CREATE TABLE issued_codes (
    id TEXT PRIMARY KEY,
    hash BLOB NOT NULL,
    user TEXT NOT NULL,
    client TEXT NOT NULL,
    client_name TEXT NOT NULL,
    redirect TEXT NOT NULL,
    challenge TEXT NOT NULL,
    resource TEXT NOT NULL,
    scopes TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    is_used INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE INDEX issued_codes_by_age ON issued_codes (expires_at);

-- What clients have that people let in: a refresh token and an access token each.
CREATE TABLE token_families (
    -- Of the code, too.
    id TEXT PRIMARY KEY,
    user TEXT NOT NULL,
    client TEXT NOT NULL,
    client_name TEXT NOT NULL,
    resource TEXT NOT NULL,
    scopes TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    refresh_hash BLOB NOT NULL,
    refreshes INTEGER NOT NULL,
    refreshed_at INTEGER NOT NULL,
    access_hash BLOB NOT NULL,
    access_resource TEXT NOT NULL,
    access_scopes TEXT NOT NULL,
    access_expires_at INTEGER NOT NULL,
    -- The hour in which it was last used.
    last_used INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX token_families_of_user ON token_families (user, refreshed_at);

-- Clients that registered themselves.
CREATE TABLE registered_clients (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    -- A JSON array of addresses.
    redirects TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    -- When somebody let it in last.
    used_at INTEGER
) STRICT, WITHOUT ROWID;
