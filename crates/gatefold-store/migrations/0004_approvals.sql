-- Requests for a person's yes to one call, until some time after they are used or have expired.
CREATE TABLE approvals (
    id TEXT PRIMARY KEY,
    -- What a yes is bound to.
    principal BLOB NOT NULL,
    tool TEXT NOT NULL,
    definition BLOB NOT NULL,
    arguments_digest BLOB NOT NULL,
    -- What the person who decides is shown.
    user TEXT NOT NULL,
    organisation TEXT,
    agent TEXT,
    client TEXT,
    domain TEXT NOT NULL,
    rule TEXT NOT NULL,
    -- JSON. Null once the request is used or has expired: nobody decides about it any more.
    arguments TEXT,
    arguments_bytes INTEGER NOT NULL,
    -- Milliseconds since 1970, as every moment here.
    requested_at INTEGER NOT NULL,
    -- Until when a pending request may be decided, and a decision holds.
    expires_at INTEGER NOT NULL,
    -- `pending`, `approved`, `denied` or `used`.
    state TEXT NOT NULL,
    decided_by TEXT,
    decided_at INTEGER,
    reason TEXT,
    used_at INTEGER
) STRICT, WITHOUT ROWID;

-- What every call that needs a yes looks up.
CREATE INDEX approvals_by_key ON approvals (principal, tool, definition, arguments_digest);

CREATE INDEX approvals_by_expiry ON approvals (expires_at);

-- Who said yes or no to a call that a rule wanted somebody's yes for: `client`, or a person's name.
ALTER TABLE calls ADD COLUMN decided_by TEXT;
