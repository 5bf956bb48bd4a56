-- One row for each call. The id is 128 bits that begin with the moment the call was first made.
CREATE TABLE calls (
    seq INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE,
    parent BLOB,
    -- Who may close the record: a running process, and its count of records opened.
    owner INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    -- Milliseconds since 1970. A call that resumes opens anew; its id keeps the first moment.
    opened_at INTEGER NOT NULL,
    user TEXT NOT NULL,
    -- A JSON array, or null when there are none.
    organisations TEXT,
    agent TEXT,
    client TEXT,
    subject TEXT NOT NULL,
    domain TEXT,
    tool TEXT,
    tool_digest BLOB,
    rule TEXT,
    arguments_digest BLOB NOT NULL,
    arguments_bytes INTEGER NOT NULL,
    -- `open`, `suspended`, or how it ended.
    outcome TEXT NOT NULL,
    error_kind TEXT,
    -- Until when a suspended record may be resumed.
    expires_at INTEGER,
    -- Null until the record has ended.
    closed_at INTEGER,
    took_ms INTEGER,
    result_bytes INTEGER
) STRICT;

-- What recovery looks through: few rows, however long the history.
CREATE INDEX calls_unended ON calls (owner) WHERE closed_at IS NULL;

-- One row for each meta-call that only discovered.
CREATE TABLE discoveries (
    seq INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    user TEXT NOT NULL,
    organisations TEXT,
    agent TEXT,
    client TEXT,
    meta_tool TEXT NOT NULL,
    arguments_digest BLOB NOT NULL,
    result_bytes INTEGER NOT NULL,
    is_error INTEGER NOT NULL
) STRICT;

-- What is known of each source as it was configured. Its manifest lies in a file of that digest.
CREATE TABLE sources (
    domain TEXT NOT NULL,
    config_digest BLOB NOT NULL,
    manifest_digest BLOB NOT NULL,
    seen_at INTEGER NOT NULL,
    PRIMARY KEY (domain, config_digest)
) STRICT, WITHOUT ROWID;
