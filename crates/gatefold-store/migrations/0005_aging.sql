-- One row: the date by which records grow old, which follows a step of the system's clock only bit by
-- bit, and the system's date when that was noted. Milliseconds since 1970.
CREATE TABLE aging (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    believed INTEGER NOT NULL,
    system INTEGER NOT NULL
) STRICT;
