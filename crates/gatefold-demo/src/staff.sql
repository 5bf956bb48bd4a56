CREATE TABLE departments (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    cost_centre TEXT NOT NULL
);

CREATE TABLE employees (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    email TEXT NOT NULL UNIQUE,
    job TEXT NOT NULL,
    department_id INTEGER NOT NULL REFERENCES departments(id),
    reports_to INTEGER REFERENCES employees(id),
    hired_on TEXT NOT NULL,
    salary INTEGER NOT NULL
);
CREATE INDEX employees_by_department ON employees(department_id);

CREATE TABLE leave_requests (
    id INTEGER PRIMARY KEY,
    employee_id INTEGER NOT NULL REFERENCES employees(id),
    first_day TEXT NOT NULL,
    last_day TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('holiday', 'sick', 'parental')),
    approved INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE bank_accounts (
    employee_id INTEGER PRIMARY KEY REFERENCES employees(id),
    iban TEXT NOT NULL
);

INSERT INTO departments VALUES
    (1, 'Garden', 'G-100'),
    (2, 'Kitchen', 'K-200'),
    (3, 'Market', 'M-300');

INSERT INTO employees VALUES
    (1, 'Ingrid Solberg', 'ingrid@fjordgarden.example', 'Director', 1, NULL, '2015-03-01', 61000),
    (2, 'Tomasz Wilk', 'tomasz@fjordgarden.example', 'Head gardener', 1, 1, '2016-09-12', 48000),
    (3, 'Amara Okafor', 'amara@fjordgarden.example', 'Head of the market', 3, 1, '2017-04-03', 47500),
    (4, 'Luis Ferreira', 'luis@fjordgarden.example', 'Chef', 2, 1, '2019-01-15', 46000),
    (5, 'Mei Tanaka', 'mei@fjordgarden.example', 'Gardener', 1, 2, '2020-02-17', 39000),
    (6, 'Jonas Berg', 'jonas@fjordgarden.example', 'Gardener', 1, 2, '2021-05-31', 38500),
    (7, 'Aisha Rahman', 'aisha@fjordgarden.example', 'Seller', 3, 3, '2021-08-02', 36000),
    (8, 'Piotr Nowak', 'piotr@fjordgarden.example', 'Cook', 2, 4, '2022-11-07', 37000);

INSERT INTO leave_requests VALUES
    (1, 5, '2026-07-06', '2026-07-17', 'holiday', 1),
    (2, 6, '2026-08-03', '2026-08-14', 'holiday', 0),
    (3, 8, '2026-03-02', '2026-03-04', 'sick', 1),
    (4, 3, '2026-12-21', '2026-12-31', 'holiday', 0);

INSERT INTO bank_accounts VALUES
    (1, 'NO93 8601 1117 947'),
    (2, 'PL61 1090 1014 0000 0712 1981 2874');
