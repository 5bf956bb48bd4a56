CREATE TABLE issues (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    title TEXT NOT NULL,
    body TEXT NOT NULL DEFAULT '',
    state TEXT NOT NULL DEFAULT 'open',
    reason TEXT,
    priority TEXT NOT NULL,
    assignee TEXT,
    -- A JSON array in alphabetical order.
    labels TEXT NOT NULL DEFAULT '[]'
        CONSTRAINT "an issue can have at most 20 labels" CHECK (json_array_length(labels) <= 20),
    comment_count INTEGER NOT NULL DEFAULT 0,
    created_at TEXT NOT NULL DEFAULT (strftime('%FT%TZ', 'now')),
    updated_at TEXT NOT NULL DEFAULT (strftime('%FT%TZ', 'now'))
);

CREATE TABLE comments (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    issue_id INTEGER NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
    author TEXT NOT NULL,
    body TEXT NOT NULL,
    created_at TEXT NOT NULL DEFAULT (strftime('%FT%TZ', 'now'))
);

CREATE INDEX comments_of_issue ON comments (issue_id);

INSERT INTO issues (title, body, state, reason, priority, assignee, labels, created_at, updated_at) VALUES
    ('Greenhouse roof leaks above bed 4', 'Water drips onto the seedlings whenever it rains for more than an hour.', 'open', NULL, 'urgent', 'tomasz', '["greenhouse","repair"]', '2026-09-28T08:15:00Z', '2026-10-12T17:40:00Z'),
    ('Label printer smears the ink', 'The last two rolls were fine; the new ones smear.', 'open', NULL, 'medium', 'amara', '["office"]', '2026-10-01T10:05:00Z', '2026-10-01T10:05:00Z'),
    ('Write a watering rota for August', 'Too many people were away in August. We need a rota before the next one.', 'closed', 'completed', 'low', 'luis', '["planning"]', '2026-08-03T07:30:00Z', '2026-08-09T19:00:00Z'),
    ('Rain gauge reports negative values', 'On 3 October the log shows -4 mm. The counter probably wrapped.', 'open', NULL, 'high', NULL, '["bug","sensors"]', '2026-10-03T21:12:00Z', '2026-10-04T06:50:00Z'),
    ('Shed door does not lock', '', 'open', NULL, 'medium', NULL, '["repair"]', '2026-10-06T16:20:00Z', '2026-10-06T16:20:00Z');

INSERT INTO comments (issue_id, author, body, created_at) VALUES
    (1, 'ingrid', 'I put a bucket there, but it fills in a day.', '2026-09-29T06:45:00Z'),
    (1, 'tomasz', 'First quote: 540. The second comes on Friday.', '2026-10-12T17:40:00Z'),
    (4, 'luis', 'The sensor counts in unsigned bytes; the script reads them as signed.', '2026-10-04T06:50:00Z');

UPDATE issues SET comment_count = (SELECT count(*) FROM comments WHERE issue_id = issues.id);

CREATE TRIGGER a_comment_is_counted AFTER INSERT ON comments BEGIN
    UPDATE issues SET comment_count = comment_count + 1, updated_at = new.created_at WHERE id = new.issue_id;
END;
