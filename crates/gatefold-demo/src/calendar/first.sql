CREATE TABLE events (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    title TEXT NOT NULL,
    -- Seconds since 1970-01-01T00:00:00Z; the end is not part of the event.
    start_s INTEGER NOT NULL,
    end_s INTEGER NOT NULL CHECK (end_s > start_s),
    zone TEXT NOT NULL,
    location TEXT NOT NULL DEFAULT '',
    notes TEXT NOT NULL DEFAULT ''
);

CREATE INDEX events_by_start ON events (start_s);

INSERT INTO events (id, title, start_s, end_s, zone, location, notes) VALUES
    (1, 'Garden committee', unixepoch('2026-10-12T16:00:00Z'), unixepoch('2026-10-12T17:30:00Z'), 'Europe/Oslo', 'Greenhouse', 'Minutes: Luis.'),
    (2, 'Roofer visits', unixepoch('2026-10-14T07:00:00Z'), unixepoch('2026-10-14T08:00:00Z'), 'Europe/Oslo', 'Greenhouse', 'Ask about the gutter too.'),
    (3, 'Call with the seed bank', unixepoch('2026-10-14T07:30:00Z'), unixepoch('2026-10-14T08:15:00Z'), 'Asia/Tokyo', '', 'Mei Tanaka.'),
    (4, 'Autumn market', unixepoch('2026-10-24T06:00:00Z'), unixepoch('2026-10-24T14:00:00Z'), 'Europe/Oslo', 'Town square', 'Stall 17.'),
    (5, 'Winter planning', unixepoch('2026-11-09T17:00:00Z'), unixepoch('2026-11-09T18:00:00Z'), 'Europe/Oslo', 'Library', '');
