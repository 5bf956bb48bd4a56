CREATE TABLE contacts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    email TEXT NOT NULL DEFAULT ''
        CONSTRAINT "`email` must be an address such as `mei@seedbank.example`" CHECK (email = '' OR email GLOB '?*@?*.?*'),
    phone TEXT NOT NULL DEFAULT ''
        CONSTRAINT "`phone` must be a number such as `+47 555 0142`" CHECK (phone NOT GLOB '*[^0-9 +()-]*'),
    organisation TEXT NOT NULL DEFAULT '',
    notes TEXT NOT NULL DEFAULT '',
    -- A JSON array in alphabetical order.
    groups TEXT NOT NULL DEFAULT '[]'
        CONSTRAINT "a contact can be in at most 20 groups" CHECK (json_array_length(groups) <= 20)
);

INSERT INTO contacts (name, email, phone, organisation, notes, groups) VALUES
    ('Ingrid Solberg', 'ingrid@fjordgarden.example', '+47 555 0142', 'Fjord Garden Society', 'Has the key to the greenhouse.', '["committee"]'),
    ('Tomasz Wilk', 'tomasz@fjordgarden.example', '+48 555 0177', 'Fjord Garden Society', 'Knows roofers.', '["committee"]'),
    ('Amara Okafor', 'amara@marketday.example', '+44 555 0113', 'Market Day', 'Runs the autumn stall.', '["committee"]'),
    ('Luis Ferreira', 'luis@raingauge.example', '+351 555 0198', 'Raingauge Labs', 'Built the rain sensor.', '["committee","suppliers"]'),
    ('L. Ferreira', 'luis@raingauge.example', '', '', 'From the sign-up sheet.', '[]'),
    ('Mei Tanaka', 'mei@seedbank.example', '+81 555 0121', 'Seed Bank', 'Orders close on the first of the month.', '["suppliers"]');
