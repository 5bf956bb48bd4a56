CREATE TABLE issues (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    title TEXT NOT NULL,
    body TEXT NOT NULL DEFAULT '',
    state TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'closed')),
    reason TEXT CHECK (reason IN ('completed', 'not_planned', 'duplicate')),
    priority TEXT NOT NULL CHECK (priority IN ('low', 'medium', 'high', 'urgent')),
    assignee TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
);

CREATE TABLE labels (
    issue_id INTEGER NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
    label TEXT NOT NULL,
    PRIMARY KEY (issue_id, label)
) WITHOUT ROWID;

CREATE TABLE comments (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    issue_id INTEGER NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
    author TEXT NOT NULL,
    body TEXT NOT NULL,
    created_at TEXT NOT NULL
);

CREATE INDEX comments_of_issue ON comments (issue_id);

CREATE VIEW issue_details AS
SELECT
    issues.*,
    (SELECT json_group_array(label) FROM (SELECT label FROM labels WHERE issue_id = issues.id ORDER BY label)) AS labels,
    (SELECT count(*) FROM comments WHERE issue_id = issues.id) AS comment_count
FROM issues;

INSERT INTO issues (id, title, body, state, reason, priority, assignee, created_at, updated_at) VALUES
    (1, 'Greenhouse roof leaks above bed 4', 'Water drips onto the seedlings whenever it rains for more than an hour.', 'open', NULL, 'urgent', 'tomasz', '2026-09-28T08:15:00Z', '2026-10-12T17:40:00Z'),
    (2, 'Label printer smears the ink', 'The last two rolls were fine; the new ones smear.', 'open', NULL, 'medium', 'amara', '2026-10-01T10:05:00Z', '2026-10-01T10:05:00Z'),
    (3, 'Write a watering rota for August', 'Too many people were away in August. We need a rota before the next one.', 'closed', 'completed', 'low', 'luis', '2026-08-03T07:30:00Z', '2026-08-09T19:00:00Z'),
    (4, 'Rain gauge reports negative values', 'On 3 October the log shows -4 mm. The counter probably wrapped.', 'open', NULL, 'high', NULL, '2026-10-03T21:12:00Z', '2026-10-04T06:50:00Z'),
    (5, 'Shed door does not lock', '', 'open', NULL, 'medium', NULL, '2026-10-06T16:20:00Z', '2026-10-06T16:20:00Z');

INSERT INTO labels (issue_id, label) VALUES
    (1, 'greenhouse'), (1, 'repair'), (2, 'office'), (3, 'planning'), (4, 'bug'), (4, 'sensors'), (5, 'repair');

INSERT INTO comments (issue_id, author, body, created_at) VALUES
    (1, 'ingrid', 'I put a bucket there, but it fills in a day.', '2026-09-29T06:45:00Z'),
    (1, 'tomasz', 'First quote: 540. The second comes on Friday.', '2026-10-12T17:40:00Z'),
    (4, 'luis', 'The sensor counts in unsigned bytes; the script reads them as signed.', '2026-10-04T06:50:00Z');
