-- People who sign in here by way of an OpenID provider. What they begin names the provider and what it
-- calls them; where both are NULL, a password was right.
CREATE TABLE provided_people (
    issuer TEXT NOT NULL,
    subject TEXT NOT NULL,
    -- Who that is here.
    user TEXT NOT NULL,
    -- A JSON array of the groups that the provider named the last time.
    groups TEXT NOT NULL,
    signed_in_at INTEGER NOT NULL,
    PRIMARY KEY (issuer, subject)
) STRICT, WITHOUT ROWID;

CREATE INDEX provided_people_by_user ON provided_people (user);

-- Browsers that were sent to a provider and are not back yet.
CREATE TABLE provider_visits (
    id TEXT PRIMARY KEY,
    -- Of what comes back, and of the cookie that has to come with it.
    hash BLOB NOT NULL,
    browser BLOB NOT NULL,
    -- What the person was asked before, which goes on afterwards.
    request TEXT NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX provider_visits_by_age ON provider_visits (expires_at);

ALTER TABLE browser_sessions ADD COLUMN issuer TEXT;
ALTER TABLE browser_sessions ADD COLUMN subject TEXT;
ALTER TABLE issued_codes ADD COLUMN issuer TEXT;
ALTER TABLE issued_codes ADD COLUMN subject TEXT;
ALTER TABLE token_families ADD COLUMN issuer TEXT;
ALTER TABLE token_families ADD COLUMN subject TEXT;
