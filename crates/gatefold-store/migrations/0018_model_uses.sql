-- What models were asked: a row for each answer.
CREATE TABLE model_uses (
    seq INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    user TEXT NOT NULL,
    organisation TEXT,
    agent TEXT,
    -- The run or the call in which it was asked.
    run TEXT,
    call TEXT,
    model TEXT NOT NULL,
    input INTEGER NOT NULL,
    cached INTEGER NOT NULL,
    output INTEGER NOT NULL,
    -- 1 if any of these is a guess.
    is_estimated INTEGER NOT NULL,
    -- Millionths of a unit. Null for a model without a price.
    cost INTEGER,
    -- Null until it has answered.
    took_ms INTEGER
) STRICT;

-- The sums of each day. They do not depend on which rows are still there.
CREATE TABLE model_days (
    -- Days since 1970-01-01.
    day INTEGER NOT NULL,
    user TEXT NOT NULL,
    model TEXT NOT NULL,
    answers INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    estimated INTEGER NOT NULL,
    cost INTEGER NOT NULL,
    PRIMARY KEY (day, user, model)
) STRICT, WITHOUT ROWID;
