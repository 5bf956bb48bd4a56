CREATE TABLE contacts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    email TEXT NOT NULL DEFAULT '',
    phone TEXT NOT NULL DEFAULT '',
    organisation TEXT NOT NULL DEFAULT '',
    notes TEXT NOT NULL DEFAULT '',
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
);

CREATE TABLE members (
    group_name TEXT NOT NULL,
    contact_id INTEGER NOT NULL REFERENCES contacts (id) ON DELETE CASCADE,
    PRIMARY KEY (group_name, contact_id)
) WITHOUT ROWID;

CREATE VIEW contact_details AS
SELECT
    contacts.*,
    (SELECT json_group_array(group_name) FROM (SELECT group_name FROM members WHERE contact_id = contacts.id ORDER BY group_name)) AS groups
FROM contacts;

INSERT INTO contacts (id, name, email, phone, organisation, notes, created_at, updated_at) VALUES
    (1, 'Ingrid Solberg', 'ingrid@fjordgarden.example', '+47 555 0142', 'Fjord Garden Society', 'Has the key to the greenhouse.', '2026-03-02T09:00:00Z', '2026-03-02T09:00:00Z'),
    (2, 'Tomasz Wilk', 'tomasz@fjordgarden.example', '+48 555 0177', 'Fjord Garden Society', 'Knows roofers.', '2026-03-02T09:05:00Z', '2026-03-02T09:05:00Z'),
    (3, 'Amara Okafor', 'amara@marketday.example', '+44 555 0113', 'Market Day', 'Runs the autumn stall.', '2026-04-18T14:30:00Z', '2026-04-18T14:30:00Z'),
    (4, 'Luis Ferreira', 'luis@raingauge.example', '+351 555 0198', 'Raingauge Labs', 'Built the rain sensor.', '2026-05-21T11:10:00Z', '2026-05-21T11:10:00Z'),
    (5, 'L. Ferreira', 'luis@raingauge.example', '', '', 'From the sign-up sheet.', '2026-06-07T08:00:00Z', '2026-06-07T08:00:00Z'),
    (6, 'Mei Tanaka', 'mei@seedbank.example', '+81 555 0121', 'Seed Bank', 'Orders close on the first of the month.', '2026-07-12T02:00:00Z', '2026-07-12T02:00:00Z');

INSERT INTO members (group_name, contact_id) VALUES
    ('committee', 1), ('committee', 2), ('committee', 3), ('committee', 4), ('suppliers', 4), ('suppliers', 6);
