CREATE TABLE events (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    title TEXT NOT NULL,
    -- Moments in UTC, such as 2026-10-12T16:00; the end is not part of the event.
    start TEXT NOT NULL
        CONSTRAINT "`start` must be a time in UTC such as `2026-10-05T09:00`" CHECK (start IS strftime('%FT%R', start)),
    end TEXT NOT NULL
        CONSTRAINT "`end` must be a time in UTC such as `2026-10-05T10:00`" CHECK (end IS strftime('%FT%R', end))
        CONSTRAINT "an event must end after its start" CHECK (end > start),
    location TEXT NOT NULL DEFAULT '',
    notes TEXT NOT NULL DEFAULT ''
);

CREATE INDEX events_by_start ON events (start);

INSERT INTO events (title, start, end, location, notes) VALUES
    ('Garden committee', '2026-10-12T16:00', '2026-10-12T17:30', 'Greenhouse', 'Minutes: Luis.'),
    ('Roofer visits', '2026-10-14T07:00', '2026-10-14T08:00', 'Greenhouse', 'Ask about the gutter too.'),
    ('Call with the seed bank', '2026-10-14T07:30', '2026-10-14T08:15', '', 'Mei Tanaka.'),
    ('Autumn market', '2026-10-24T06:00', '2026-10-24T14:00', 'Town square', 'Stall 17.'),
    ('Winter planning', '2026-11-09T17:00', '2026-11-09T18:00', 'Library', '');
