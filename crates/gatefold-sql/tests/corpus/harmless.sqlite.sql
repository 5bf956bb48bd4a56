-- words in strings
SELECT 'DROP TABLE employees; DELETE FROM orders' AS text
SELECT 'PRAGMA x', 'ATTACH', 'load_extension(1)', 'it''s', 'what?', ':name'
SELECT note FROM orders WHERE note LIKE '%DROP TABLE%' ORDER BY id
SELECT 'back\slash', 'a' || 'b'
-- words in comments
SELECT 1 /* DELETE FROM employees; */ AS one
SELECT 2 AS two -- DROP TABLE orders
--;
SELECT id -- the key
FROM departments /* all of
them */ ORDER BY id
--;
-- words in names
SELECT 1 AS "delete", 2 AS `drop table`, 3 AS [select], 4 AS 'update'
SELECT "d"."name" FROM [departments] AS "d" ORDER BY `d`.`name` DESC
SELECT id AS insert_id FROM main.departments ORDER BY insert_id
SELECT main.departments.id FROM main.departments ORDER BY 1
-- values
VALUES (1, 'a'), (2, 'b')
SELECT * FROM (VALUES (1, 'x'), (2, 'y')) ORDER BY column1
SELECT column1 + 1 FROM (VALUES (1), (2)) AS v ORDER BY 1
SELECT x'1F', 0x1F, 1e3, .5, 1.5e-2
-- set operations
SELECT id FROM employees UNION SELECT id FROM orders ORDER BY id
SELECT id FROM employees INTERSECT SELECT employee_id FROM orders ORDER BY 1
SELECT id FROM employees EXCEPT SELECT employee_id FROM orders ORDER BY 1
SELECT 1 UNION ALL SELECT 2 ORDER BY 1 LIMIT 1
-- joins
SELECT e.name, d.name FROM employees e JOIN departments d ON d.id = e.department_id ORDER BY e.id
SELECT e.name, m.name AS manager FROM employees e LEFT JOIN employees m ON e.manager_id = m.id ORDER BY e.id
SELECT * FROM departments INNER JOIN (SELECT 2 AS id) x USING (id)
SELECT d.name, o.id FROM departments d CROSS JOIN orders o ORDER BY 1, 2 LIMIT 5
SELECT * FROM (SELECT 1 AS a) x NATURAL JOIN (SELECT 1 AS a, 2 AS b) y
SELECT d.name, e.id FROM departments d LEFT OUTER JOIN employees e ON d.id = e.department_id ORDER BY d.id, e.id
-- windows
SELECT id, row_number() OVER (PARTITION BY employee_id ORDER BY amount DESC) FROM orders ORDER BY id
SELECT id, sum(amount) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM orders ORDER BY id
SELECT id, lag(amount, 1, 0) OVER w, lead(amount) OVER w FROM orders WINDOW w AS (ORDER BY id) ORDER BY id
SELECT name, rank() OVER (ORDER BY salary DESC NULLS LAST), ntile(2) OVER (ORDER BY id) FROM employees ORDER BY id
SELECT id, sum(amount) FILTER (WHERE amount > 50) OVER (ORDER BY id GROUPS 1 PRECEDING) FROM orders ORDER BY id
-- json
SELECT data->>'level', data->'skills' FROM employees ORDER BY id
SELECT json_extract(data, '$.skills[0]') FROM employees ORDER BY id
SELECT json_object('id', id, 'name', name) FROM departments ORDER BY id
SELECT json_group_array(id) FROM departments
SELECT e.id, s.value FROM employees e, json_each(e.data, '$.skills') AS s ORDER BY 1, 2
SELECT key, value FROM json_each('{"a":1,"b":2}') ORDER BY key
SELECT fullkey, atom FROM json_tree('{"a":[1,2]}') WHERE type = 'integer' ORDER BY fullkey
-- case, casts and conditions
SELECT CASE WHEN salary > 6000 THEN 'high' WHEN salary IS NULL THEN 'none' ELSE 'low' END FROM employees ORDER BY id
SELECT CAST('42' AS INTEGER) + 1, CAST(1.5 AS TEXT), CAST(x'41' AS TEXT), CAST('1.5' AS REAL), CAST('a' AS BLOB)
SELECT name FROM employees WHERE hired_at BETWEEN '2020-01-01' AND '2021-12-31' ORDER BY id
SELECT name FROM employees WHERE (department_id, manager_id) IN (VALUES (1, 1), (2, 1)) ORDER BY id
SELECT name FROM employees WHERE name LIKE 'a%' OR name GLOB 'B*' ORDER BY id
SELECT name FROM employees WHERE name LIKE '%\_%' ESCAPE '\' OR id = 1
SELECT name FROM employees WHERE email IS NOT NULL AND manager_id IS NULL AND email NOTNULL ORDER BY id
SELECT coalesce(email, 'none'), nullif(id, 3), max(1, id), ifnull(email, '-'), iif(id > 2, 'y', 'n') FROM employees ORDER BY id
SELECT 7 / 2, 7 % 3, 5 & 3, 5 | 3, ~0, 1 << 3, 1 == 1, 1 <> 2, NOT 0, 1 IS 1, 1 IS NOT 2
SELECT name COLLATE NOCASE FROM employees ORDER BY name COLLATE NOCASE DESC
SELECT id * 2 AS double_id FROM employees WHERE double_id > 4 ORDER BY double_id
-- subqueries
SELECT name FROM employees e WHERE EXISTS (SELECT 1 FROM orders o WHERE o.employee_id = e.id) ORDER BY id
SELECT name, (SELECT count(*) FROM orders o WHERE o.employee_id = employees.id) AS n FROM employees ORDER BY id
SELECT name FROM departments WHERE id NOT IN (SELECT department_id FROM employees WHERE department_id IS NOT NULL)
SELECT * FROM (SELECT id, name FROM employees ORDER BY id DESC LIMIT 2) ORDER BY id
-- grouping
SELECT department_id, count(*), avg(salary) FROM employees GROUP BY department_id HAVING count(*) > 1 ORDER BY 1
SELECT department_id, count(*) AS n FROM employees GROUP BY 1 HAVING n > 1 ORDER BY n, department_id
SELECT group_concat(name, '; '), total(salary), count(DISTINCT department_id) FROM employees
SELECT count(*) FILTER (WHERE amount > 50) FROM orders
SELECT DISTINCT employee_id FROM orders ORDER BY employee_id
-- with
WITH top AS MATERIALIZED (SELECT * FROM orders WHERE amount > 50) SELECT id FROM top ORDER BY id
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT i FROM n ORDER BY i
WITH RECURSIVE chain AS (SELECT id, name, 0 AS depth FROM employees WHERE manager_id IS NULL UNION ALL SELECT e.id, e.name, c.depth + 1 FROM employees e JOIN chain c ON e.manager_id = c.id) SELECT * FROM chain ORDER BY depth, id
WITH n (i) AS (SELECT 1 UNION SELECT i + 1 FROM n WHERE i < 5) SELECT sum(i) FROM n
WITH a AS (SELECT 1 AS x), b AS (SELECT x + 1 AS y FROM a) SELECT a.x, b.y FROM a, b
-- order and limit
SELECT id FROM orders ORDER BY amount DESC NULLS FIRST LIMIT 2 OFFSET 1
SELECT id FROM orders ORDER BY amount DESC LIMIT 1, 2
SELECT rowid, id FROM orders ORDER BY rowid
-- functions of the dialect
SELECT date('2024-01-31', '+1 month'), strftime('%Y-%m', placed_at), julianday('2024-01-02') - julianday('2024-01-01') FROM orders ORDER BY id
SELECT substr('hello', 2, 3), instr('hello', 'l'), replace('abc', 'b', 'x'), trim('  a '), trim('xax', 'x'), upper('a'), length('abc')
SELECT round(2.567, 2), abs(-3), min(3, 1, 2), typeof(1.5), hex('a'), quote('it''s'), unicode('a'), char(65, 66), printf('%05d', 42)
SELECT substring('hello', 2), likely(1), sign(-5), zeroblob(4)
SELECT name, length(name) AS len FROM employees WHERE len > 7 ORDER BY len, name
-- more of what people ask
SELECT T1.name, count(*) FROM employees AS T1 JOIN orders AS T2 ON T1.id = T2.employee_id GROUP BY T1.id ORDER BY count(*) DESC LIMIT 1
SELECT name FROM employees WHERE id NOT IN (SELECT employee_id FROM orders) ORDER BY 1
SELECT DISTINCT T1.name FROM departments AS T1 JOIN employees AS T2 ON T1.id = T2.department_id WHERE T2.salary > 5000
SELECT name FROM employees WHERE salary = (SELECT max(salary) FROM employees)
SELECT count(DISTINCT department_id) FROM employees WHERE hired_at LIKE '202%'
SELECT name, salary FROM employees WHERE department_id = 1 INTERSECT SELECT name, salary FROM employees WHERE manager_id = 1
SELECT avg(amount), max(amount), min(amount) FROM orders WHERE placed_at > '2024-01-10'
SELECT CAST(SUM(CASE WHEN amount > 50 THEN 1 ELSE 0 END) AS REAL) * 100 / COUNT(id) FROM orders
SELECT STRFTIME('%Y', placed_at) AS y, SUM(amount) FROM orders GROUP BY STRFTIME('%Y', placed_at) HAVING SUM(amount) > 10
SELECT SUBSTR(name, 1, INSTR(name, ' ') - 1) FROM employees ORDER BY id
SELECT IIF(salary > 5000, 'high', 'low') FROM employees ORDER BY id
SELECT name FROM (SELECT name, RANK() OVER (ORDER BY salary DESC) AS r FROM employees) WHERE r <= 2 ORDER BY r
SELECT "name" FROM "employees" WHERE "id" = 1
SELECT `name` FROM `employees` WHERE `id` = '1'
SELECT name FROM employees WHERE name = 'Ada Byron' COLLATE NOCASE
SELECT e.name FROM employees e WHERE EXISTS (SELECT * FROM orders o WHERE o.employee_id = e.id AND o.amount > 100) ORDER BY 1
SELECT COUNT(*) FROM (SELECT DISTINCT employee_id, amount FROM orders)
SELECT JULIANDAY('now') > 0, DATE('now') IS NOT NULL, TIME('12:00'), DATETIME('2024-01-01', '+1 day', 'start of month')
SELECT CURRENT_TIMESTAMP IS NOT NULL, CURRENT_DATE IS NOT NULL, CURRENT_TIME IS NOT NULL
SELECT total(amount), sum(amount), group_concat(DISTINCT employee_id) FROM orders
SELECT id, note ISNULL, note IS NULL, note NOT NULL FROM orders ORDER BY id
SELECT id FROM orders WHERE note IS NOT 'x' ORDER BY id
SELECT id FROM orders WHERE id BETWEEN 2 AND 3 OR NOT id > 1 ORDER BY id
SELECT 1 FROM employees WHERE 1 = 0 UNION ALL SELECT 2
SELECT CASE department_id WHEN 1 THEN 'one' WHEN 2 THEN 'two' END AS d FROM employees ORDER BY id
SELECT printf('%.2f', 3.14159), format('%s-%d', 'a', 1), hex('abc'), quote(NULL), typeof(NULL), unicode('a'), char(97), zeroblob(2)
SELECT json('{"a":1}'), json_array(1, 2), json_array_length('[1,2]'), json_type('1'), json_valid('x'), json_patch('{"a":1}', '{"b":2}'), json_set('{}', '$.a', 1), json_remove('{"a":1}', '$.a')
SELECT json_group_object(id, name) FROM departments
SELECT value FROM json_each('[1,2,3]') WHERE value > 1
SELECT j.key, j.value FROM employees, json_each(data) AS j WHERE employees.id = 1 ORDER BY 1
SELECT e.id FROM employees e LEFT JOIN json_each(e.data, '$.skills') s WHERE s.value = 'sql'
SELECT 1 || 2, 'a' || 'b', 7 / 2.0, 7 % 4, -5, +5, ~1, 1 << 2, 8 >> 1, 5 & 4, 5 | 2, 1 <> 2, 1 != 2, 1 == 1, 1 < 2
SELECT x'0A', X'ff', 1e5, 0x10, .5, 5., 1.0e-3
SELECT name FROM departments ORDER BY budget DESC NULLS LAST
SELECT name FROM departments ORDER BY city IS NULL, city
SELECT d.*, e.name FROM departments d LEFT JOIN employees e ON e.department_id = d.id AND e.id > 1 ORDER BY d.id, e.id
SELECT a.*, b.id AS other FROM orders a, orders b WHERE a.id = b.id ORDER BY a.id
SELECT * FROM orders NATURAL JOIN (SELECT 1 AS id)
SELECT * FROM (orders JOIN employees USING (id)) ORDER BY id
SELECT lag(amount) OVER (ORDER BY id), sum(amount) OVER (PARTITION BY employee_id ORDER BY id ROWS UNBOUNDED PRECEDING), nth_value(id, 2) OVER (ORDER BY id) FROM orders ORDER BY id
SELECT row_number() OVER (ORDER BY amount) - 1 AS i, cume_dist() OVER (ORDER BY id), percent_rank() OVER (ORDER BY id) FROM orders ORDER BY id
SELECT sum(amount) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE CURRENT ROW) FROM orders ORDER BY id
WITH RECURSIVE cnt(x) AS (VALUES(1) UNION ALL SELECT x + 1 FROM cnt WHERE x < 4) SELECT x FROM cnt
WITH RECURSIVE t(id, path) AS (SELECT id, name FROM employees WHERE manager_id IS NULL UNION ALL SELECT e.id, t.path || '/' || e.name FROM employees e, t WHERE e.manager_id = t.id ORDER BY 1) SELECT * FROM t ORDER BY id
WITH a AS (SELECT * FROM employees), b AS (SELECT * FROM a WHERE id > 2) SELECT count(*) FROM b
SELECT (SELECT name FROM departments WHERE id = e.department_id) AS dept FROM employees e ORDER BY e.id
SELECT id IN (1, 2), id NOT IN (SELECT id FROM employees), (1, 2) = (1, 2) FROM orders ORDER BY id
SELECT id FROM orders WHERE id IN () OR id = 1
SELECT count(*) AS "count(*)" FROM orders
SELECT "count(*)" FROM (SELECT count(*) FROM orders)
SELECT name AS 'Employee Name', salary [pay] FROM employees ORDER BY 1
SELECT rowid, * FROM orders ORDER BY rowid LIMIT 2
SELECT o.rowid FROM orders o ORDER BY o._rowid_ LIMIT 1
SELECT CAST('12abc' AS INTEGER), CAST(3.7 AS INT), CAST(5 AS VARCHAR(10)), CAST('1' AS NUMERIC), CAST('2' AS DOUBLE), CAST(1 AS DECIMAL(10,2)), CAST('x' AS NVARCHAR(5)), CAST(1 AS BIGINT), CAST('a' AS CHAR), CAST('2024-01-01' AS DATE), CAST(1 AS BOOLEAN), CAST('1' AS FLOAT)
SELECT upper(substr(name, 1, 1)) || lower(substr(name, 2)) FROM departments ORDER BY id
SELECT likelihood(1, 0.5), likely(1), unlikely(0)
SELECT NULL, TRUE, FALSE, TRUE IS NOT FALSE, NOT NULL
SELECT department_id, avg(salary) FROM employees WHERE department_id IS NOT NULL GROUP BY department_id ORDER BY avg(salary) DESC
SELECT name FROM employees WHERE name LIKE '%o%' AND (department_id = 1 OR department_id = 2) ORDER BY name ASC
SELECT COUNT(CASE WHEN city IS NULL THEN 1 END) FROM departments
SELECT T1.id FROM orders AS T1 INNER JOIN (SELECT employee_id AS eid, max(amount) AS m FROM orders GROUP BY employee_id) AS T2 ON T1.employee_id = T2.eid AND T1.amount = T2.m ORDER BY 1
SELECT year, rank, type, key, value FROM (SELECT 1 AS year, 2 AS rank, 3 AS type, 4 AS key, 5 AS value)
SELECT id FROM orders LIMIT 2 OFFSET 1
SELECT id FROM orders LIMIT -1
SELECT REPLACE(name, ' ', '_') AS n FROM employees ORDER BY n
SELECT * FROM orders AS o WHERE o.tags GLOB '*a*' ORDER BY id
SELECT id -> 'x', id ->> '$.y' FROM orders ORDER BY id
SELECT iif(1, 2, 3), CASE WHEN 1 THEN 2 END
SELECT e.name name, e.id AS id FROM employees e ORDER BY name, id
SELECT min(id) FROM orders GROUP BY employee_id HAVING count(*) >= 2 ORDER BY 1
VALUES (1), (2) UNION ALL SELECT 3
SELECT EXISTS(SELECT 1 FROM orders)
SELECT instr(name, ' ') > 0 AND length(name) > 3 FROM employees ORDER BY id
SELECT group_concat(name, ', ') FROM (SELECT name FROM departments ORDER BY name)
SELECT abs(julianday('2024-01-02') - julianday('2024-01-01')) AS d
SELECT salary * 12 AS yearly FROM employees ORDER BY yearly DESC
SELECT name FROM employees WHERE name = "Ada Byron" ORDER BY id
SELECT name FROM departments WHERE city IN ("Bern", 'Graz') ORDER BY id
SELECT name FROM employees WHERE name LIKE "%e%" OR name GLOB "Bo*" ORDER BY id
SELECT CASE WHEN city = "Bern" THEN "here" ELSE "it's there" END FROM departments ORDER BY id
SELECT count(*) FROM orders WHERE strftime("%Y", placed_at) = "2024" AND note <> "say ""no"""
SELECT "Total", count(*) FROM orders
SELECT "n/a" AS none, "yes" AS answer FROM departments
SELECT printf('%d', 1234567), format('%s: 1234567', 'a'), printf('%,d', 1234567)
SELECT d.id, e.id FROM departments d LEFT JOIN (employees e, orders o) ON e.department_id = d.id AND o.employee_id = e.id ORDER BY 1, 2, o.id
SELECT CAST(id AS STRING), CAST(id AS LONG) FROM orders ORDER BY id
SELECT sqrt(2), power(2, 10), ln(10), ceil(1.2), mod(7, 3), pi(), log2(8), degrees(pi()), atan2(1, 2)
SELECT percentile(amount, 50), median(amount), percentile_cont(amount, 0.25), percentile_disc(amount, 0.75) FROM orders
