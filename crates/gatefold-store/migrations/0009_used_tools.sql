-- The tools that each principal used most in the days before a day, counted once.
CREATE TABLE used_tools (
    -- Days since 1970-01-01.
    day INTEGER NOT NULL,
    user TEXT NOT NULL,
    -- As in its calls, and empty where they have null.
    organisations TEXT NOT NULL,
    agent TEXT NOT NULL,
    -- From 1, the most used first.
    place INTEGER NOT NULL,
    tool TEXT NOT NULL,
    PRIMARY KEY (day, user, organisations, agent, place)
) STRICT, WITHOUT ROWID;

-- The days for which that was done.
CREATE TABLE used_days (
    day INTEGER PRIMARY KEY
) STRICT;
