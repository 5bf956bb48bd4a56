CREATE TABLE departments (
  id integer PRIMARY KEY,
  name text NOT NULL,
  city text,
  budget numeric(12, 2)
);
CREATE TABLE employees (
  id integer PRIMARY KEY,
  name text NOT NULL,
  email text,
  salary numeric(10, 2),
  manager_id integer REFERENCES employees (id),
  department_id integer REFERENCES departments (id),
  hired_at date,
  data jsonb
);
CREATE TABLE orders (
  id integer PRIMARY KEY,
  employee_id integer REFERENCES employees (id),
  amount numeric(10, 2),
  placed_at timestamp,
  note text,
  tags text
);
CREATE TABLE secrets (id integer PRIMARY KEY, token text NOT NULL);
INSERT INTO departments VALUES
  (1, 'Research', 'Bern', 120000.00), (2, 'Sales', 'Graz', 80000.50), (3, 'Support', NULL, NULL);
INSERT INTO employees VALUES
  (1, 'Ada Byron', 'ada@corp.example', 9000.00, NULL, 1, '2019-03-01', '{"skills": ["sql", "rust"], "level": 5}'),
  (2, 'Bo Chen', 'bo@corp.example', 6200.50, 1, 1, '2020-07-15', '{"skills": ["go"], "level": 3}'),
  (3, 'Cy Diaz', NULL, 5100.00, 1, 2, '2021-01-31', NULL),
  (4, 'Di O''Neil', 'di@corp.example', 4800.25, 3, 2, '2022-11-05', '{"skills": [], "level": 1}'),
  (5, 'Eve Faro', 'eve@corp.example', 4100.00, 3, NULL, NULL, '{"level": null}');
INSERT INTO orders VALUES
  (1, 3, 120.50, '2024-01-05 10:00:00', 'first; DROP TABLE x', 'a,b'),
  (2, 3, 80.00, '2024-01-20 12:30:00', 'select * from it', 'b'),
  (3, 4, 42.42, '2024-02-11 09:15:00', NULL, NULL),
  (4, 4, 300.00, '2024-03-01 18:45:00', 'it''s -- not a comment', 'c,a'),
  (5, 2, 15.75, '2024-03-02 08:00:00', '', 'a');
INSERT INTO secrets VALUES (1, 'tok-7f3a'), (2, 'tok-99b2');
