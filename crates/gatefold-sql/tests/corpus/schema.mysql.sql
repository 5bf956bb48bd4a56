CREATE TABLE departments (
  id int PRIMARY KEY,
  name varchar(200) NOT NULL,
  city varchar(200),
  budget numeric(12, 2)
);
CREATE TABLE employees (
  id int PRIMARY KEY,
  name varchar(200) NOT NULL,
  email varchar(200),
  salary numeric(10, 2),
  manager_id int,
  department_id int,
  hired_at date,
  data json
);
CREATE TABLE orders (
  id int PRIMARY KEY,
  employee_id int,
  amount numeric(10, 2),
  placed_at datetime,
  note varchar(200),
  tags varchar(200)
);
CREATE TABLE secrets (id int PRIMARY KEY, token varchar(200) NOT NULL);
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
