-- words in strings
SELECT 'DROP TABLE employees; DELETE FROM orders' AS text
SELECT "double 'quoted' SLEEP(10)" AS text
SELECT 'it\'s', 'it''s', "a \"b\"", 'back\\slash', 'tab\tend'
SELECT note FROM orders WHERE note LIKE '%DROP TABLE%' ORDER BY id
SELECT '/*! not run */' AS comment_in_text, '@@version' AS variable_in_text
SELECT 'INTO OUTFILE', 'LOAD_FILE(1)', 'what?'
-- words in comments
SELECT 1 /* DELETE FROM employees; */ AS one
SELECT 2 AS two -- DROP TABLE orders
SELECT 3 AS three # DROP TABLE orders
--;
SELECT id -- the key
FROM departments /* all of
them */ ORDER BY id
--;
-- words in names
SELECT 1 AS `delete`, 2 AS `drop table`, 3 AS 'select'
SELECT `d`.`name` AS `update` FROM `departments` AS `d` ORDER BY `d`.`name` DESC
SELECT id AS insert_id FROM departments ORDER BY insert_id
-- values and parentheses
VALUES (1, 'a'), (2, 'b')
(SELECT 1) UNION ALL (SELECT 2) ORDER BY 1
(SELECT name FROM departments ORDER BY id LIMIT 1)
SELECT 1 FROM DUAL WHERE 1 <=> 1
-- set operations
SELECT id FROM employees UNION SELECT id FROM orders ORDER BY id
SELECT id FROM employees INTERSECT SELECT employee_id FROM orders ORDER BY 1
SELECT id FROM employees EXCEPT SELECT employee_id FROM orders ORDER BY 1
-- joins
SELECT e.name, d.name FROM employees e JOIN departments d ON d.id = e.department_id ORDER BY e.id
SELECT e.name, m.name AS manager FROM employees e LEFT OUTER JOIN employees m ON e.manager_id = m.id ORDER BY e.id
SELECT * FROM departments INNER JOIN (SELECT 2 AS id) x USING (id)
SELECT STRAIGHT_JOIN e.id FROM departments d STRAIGHT_JOIN employees e ON e.department_id = d.id ORDER BY e.id
SELECT d.name, o.id FROM departments d, orders o ORDER BY 1, 2 LIMIT 5
SELECT * FROM (SELECT 1 AS a) x NATURAL JOIN (SELECT 1 AS a, 2 AS b) y
SELECT d.name, e.id FROM employees e RIGHT JOIN departments d ON d.id = e.department_id ORDER BY d.id, e.id
-- windows
SELECT id, ROW_NUMBER() OVER (PARTITION BY employee_id ORDER BY amount DESC) FROM orders ORDER BY id
SELECT id, SUM(amount) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM orders ORDER BY id
SELECT id, LAG(amount, 1) OVER w, LEAD(amount) OVER w FROM orders WINDOW w AS (ORDER BY id) ORDER BY id
SELECT name, RANK() OVER (ORDER BY salary DESC), NTILE(2) OVER (ORDER BY id) FROM employees ORDER BY id
-- json
SELECT JSON_EXTRACT(data, '$.level') FROM employees ORDER BY id
SELECT JSON_UNQUOTE(JSON_EXTRACT(data, '$.skills[0]')) FROM employees ORDER BY id
SELECT JSON_OBJECT('id', id, 'name', name) FROM departments ORDER BY id
SELECT JSON_ARRAYAGG(id) FROM departments
SELECT id FROM employees WHERE JSON_CONTAINS(data, '"sql"', '$.skills')
SELECT j.n, j.s FROM JSON_TABLE('[{"n":1,"s":"a"},{"n":2,"s":"b"}]', '$[*]' COLUMNS (n INT PATH '$.n', s VARCHAR(10) PATH '$.s')) AS j ORDER BY j.n
SELECT JSON_LENGTH(data), JSON_KEYS(data), JSON_VALID('x') FROM employees ORDER BY id
-- case, casts and conditions
SELECT CASE WHEN salary > 6000 THEN 'high' WHEN salary IS NULL THEN 'none' ELSE 'low' END FROM employees ORDER BY id
SELECT CASE department_id WHEN 1 THEN 'a' ELSE 'b' END FROM employees ORDER BY id
SELECT CAST('42' AS SIGNED) + 1, CAST('1.50' AS DECIMAL(5,2)), CONVERT('a' USING utf8mb4), CAST(5 AS CHAR)
SELECT BINARY 'a' = 'A', _utf8mb4'x', X'4142', 0x4142, b'101' + 0
SELECT name FROM employees WHERE hired_at BETWEEN '2020-01-01' AND '2021-12-31' ORDER BY id
SELECT name FROM employees WHERE (department_id, manager_id) IN ((1, 1), (2, 1)) ORDER BY id
SELECT name FROM employees WHERE name LIKE 'a%' OR name REGEXP '^b' OR name RLIKE 'z$' ORDER BY id
SELECT name FROM employees WHERE name LIKE '%|_%' ESCAPE '|' OR id = 1
SELECT COALESCE(email, 'none'), NULLIF(id, 3), GREATEST(1, id), IFNULL(email, '-'), IF(id > 2, 'y', 'n') FROM employees ORDER BY id
SELECT 7 DIV 2, 7 MOD 3, 7 % 3, 1 XOR 0, NOT 0, !0, 5 & 3, 5 | 3, 5 ^ 3, ~0 & 7, 1 << 3, 1 && 1
SELECT 1 - -1, 3--1, 'a' 'b'
SELECT name COLLATE utf8mb4_bin FROM employees ORDER BY name COLLATE utf8mb4_bin
SELECT DATE '2024-01-31' + INTERVAL 1 MONTH, TIMESTAMP '2024-01-01 00:00:00', NOW() IS NOT NULL
-- subqueries
SELECT name FROM employees e WHERE EXISTS (SELECT 1 FROM orders o WHERE o.employee_id = e.id) ORDER BY id
SELECT name, (SELECT COUNT(*) FROM orders o WHERE o.employee_id = employees.id) AS n FROM employees ORDER BY id
SELECT name FROM departments WHERE id NOT IN (SELECT department_id FROM employees WHERE department_id IS NOT NULL)
SELECT id FROM orders WHERE amount > ALL (SELECT amount FROM orders WHERE amount < 100) ORDER BY id
-- grouping
SELECT department_id, COUNT(*), AVG(salary) FROM employees GROUP BY department_id HAVING COUNT(*) > 1 ORDER BY 1
SELECT department_id, COUNT(*) AS n FROM employees GROUP BY department_id HAVING n > 1 ORDER BY n, department_id
SELECT department_id, COUNT(*) FROM employees GROUP BY department_id WITH ROLLUP
SELECT GROUP_CONCAT(DISTINCT name ORDER BY name DESC SEPARATOR '; ') FROM employees
SELECT COUNT(DISTINCT employee_id), STDDEV_POP(amount), BIT_OR(id) FROM orders
-- with
WITH top AS (SELECT * FROM orders WHERE amount > 50) SELECT id FROM top ORDER BY id
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT i FROM n ORDER BY i
WITH RECURSIVE chain AS (SELECT id, name, 0 AS depth FROM employees WHERE manager_id IS NULL UNION ALL SELECT e.id, e.name, c.depth + 1 FROM employees e JOIN chain c ON e.manager_id = c.id) SELECT * FROM chain ORDER BY depth, id
WITH employees AS (SELECT id, name FROM employees WHERE id < 3) SELECT * FROM employees ORDER BY id
-- order and limit
SELECT id FROM orders ORDER BY amount DESC LIMIT 2 OFFSET 1
SELECT id FROM orders ORDER BY amount DESC LIMIT 1, 2
SELECT SQL_NO_CACHE id FROM orders ORDER BY id
-- functions of the dialect
SELECT DATE_FORMAT(placed_at, '%Y-%m-%d'), YEAR(placed_at), DAYNAME(placed_at) FROM orders ORDER BY id
SELECT DATE_ADD('2024-01-31', INTERVAL 1 DAY), DATEDIFF('2024-03-01', '2024-02-01'), LAST_DAY('2024-02-01'), EXTRACT(YEAR FROM '2024-02-01')
SELECT CONCAT_WS('-', 'a', NULL, 'b'), SUBSTRING_INDEX('a.b.c', '.', 2), LPAD('7', 3, '0'), REPEAT('ab', 3), FIND_IN_SET('b', 'a,b')
SELECT SUBSTRING('hello', 2, 3), SUBSTRING('hello' FROM 2 FOR 3), POSITION('l' IN 'hello'), TRIM(LEADING 'x' FROM 'xax'), LOCATE('l', 'hello')
SELECT ROUND(2.5), CEIL(1.2), TRUNCATE(1.789, 2), POW(2, 3), CONV('ff', 16, 10), HEX('a'), CRC32('a')
SELECT REGEXP_REPLACE('a1b22', '[0-9]+', '#'), ELT(2, 'a', 'b'), FIELD('b', 'a', 'b'), FORMAT(1234.5, 2)
SELECT TIMESTAMPDIFF(DAY, '2024-01-01', '2024-02-01'), STR_TO_DATE('01,5,2013', '%d,%m,%Y'), UNIX_TIMESTAMP('2024-01-01') > 0
SELECT ST_AsText(ST_GeomFromText('POINT(1 2)')), INET_ATON('10.0.0.1'), MD5('a'), SHA2('a', 256)
-- more of what people ask
SELECT DATE(placed_at), YEAR(placed_at), MONTH(placed_at), HOUR(placed_at) FROM orders ORDER BY id
SELECT * FROM orders WHERE placed_at BETWEEN '2024-01-01' AND '2024-01-31 23:59:59' ORDER BY id
SELECT DATE_SUB(CURDATE(), INTERVAL 7 DAY) < NOW(), CURRENT_DATE, CURRENT_TIMESTAMP() IS NOT NULL
SELECT e.* FROM employees e WHERE e.salary > (SELECT AVG(salary) FROM employees) ORDER BY e.id
SELECT department_id, name FROM (SELECT *, RANK() OVER (PARTITION BY department_id ORDER BY salary DESC) AS r FROM employees) t WHERE r = 1 ORDER BY 1, 2
SELECT COUNT(*) AS total, SUM(amount > 50) AS big, SUM(IF(amount > 50, 1, 0)) FROM orders
SELECT d.name, COUNT(e.id) AS n FROM departments d LEFT JOIN employees e ON e.department_id = d.id GROUP BY d.id ORDER BY n DESC, d.name
SELECT name, salary FROM employees ORDER BY salary DESC, name ASC LIMIT 3
SELECT TIMESTAMPDIFF(YEAR, hired_at, '2024-01-01') AS years FROM employees ORDER BY id
SELECT name FROM employees WHERE name NOT LIKE '%z%' AND manager_id IS NOT NULL ORDER BY id
SELECT MAX(placed_at), MIN(placed_at), DATEDIFF(MAX(placed_at), MIN(placed_at)) FROM orders
SELECT CONCAT(name, ' <', IFNULL(email, ''), '>') FROM employees ORDER BY id
SELECT id, amount, ROUND(amount / SUM(amount) OVER () * 100, 2) AS pct FROM orders ORDER BY id
SELECT JSON_VALUE(data, '$.level') AS level FROM employees ORDER BY id
SELECT CAST(amount AS UNSIGNED), CAST(amount AS DOUBLE), CAST(placed_at AS DATE), CAST('a' AS BINARY), CAST('2024-01-01' AS DATETIME) FROM orders ORDER BY id
SELECT CONVERT('12', SIGNED), CONVERT('a', CHAR(3))
SELECT DISTINCT department_id FROM employees ORDER BY department_id
SELECT employee_id, GROUP_CONCAT(note SEPARATOR '|') FROM orders GROUP BY employee_id ORDER BY 1
SELECT x.a FROM (SELECT 1 AS a UNION ALL SELECT 2) x WHERE x.a > 1
SELECT hr.orders.id FROM hr.orders ORDER BY hr.orders.id
SELECT o.id FROM orders AS o USE INDEX (PRIMARY) ORDER BY o.id
SELECT o.id FROM orders AS o FORCE INDEX (PRIMARY) WHERE o.id > 1 ORDER BY o.id
SELECT 'a' LIKE 'A', 'a' LIKE BINARY 'A', 'abc' REGEXP '^a', 'abc' NOT REGEXP 'x'
SELECT 1 = TRUE, TRUE IS TRUE, NULL IS NOT UNKNOWN, NOT 1, 1 AND 0, 1 OR 0, 1 XOR 1, 1 || 0
SELECT CASE WHEN EXISTS (SELECT 1 FROM orders) THEN 'yes' ELSE 'no' END
SELECT id FROM employees e WHERE salary = (SELECT MAX(salary) FROM employees WHERE department_id = e.department_id) ORDER BY id
SELECT id FROM orders WHERE (employee_id, amount) IN (SELECT employee_id, MAX(amount) FROM orders GROUP BY employee_id) ORDER BY id
SELECT SUBSTR('abc', 2), MID('abc', 2, 1), LEFT('abc', 2), RIGHT('abc', 1), UPPER('a'), LCASE('A'), CHAR_LENGTH('abc'), LENGTH('é'), REVERSE('abc'), INSTR('abc', 'c')
SELECT ABS(-1), SIGN(-2), MOD(7, 3), POWER(2, 3), SQRT(16), EXP(0), LN(1), LOG(10, 100), LOG2(8), PI(), RADIANS(180), FLOOR(1.5), CEILING(1.2), RAND(1) < 1
SELECT DATE_FORMAT('2024-01-05', '%W %M %e %Y'), STR_TO_DATE('2024-01-05', '%Y-%m-%d'), DAYOFWEEK('2024-01-05'), WEEK('2024-01-05'), QUARTER('2024-05-01'), FROM_UNIXTIME(0) IS NOT NULL, SEC_TO_TIME(3600), TIME_TO_SEC('01:00:00'), MAKEDATE(2024, 32)
SELECT ADDDATE('2024-01-01', 5), ADDDATE('2024-01-01', INTERVAL 1 MONTH), SUBDATE('2024-01-10', INTERVAL 1 WEEK), DATE_ADD('2024-01-01', INTERVAL '1:30' MINUTE_SECOND), '2024-01-01' + INTERVAL 1 DAY
SELECT EXTRACT(YEAR_MONTH FROM '2024-01-05'), EXTRACT(DAY FROM placed_at) FROM orders ORDER BY id
SELECT TRIM('  a '), TRIM(BOTH 'x' FROM 'xax'), LTRIM(' a'), RTRIM('a '), RPAD('a', 3, 'b'), SPACE(3), REPLACE('abc', 'b', 'x'), STRCMP('a', 'b'), ASCII('a'), ORD('a'), CHAR(65), BIN(5), OCT(8), UNHEX('41')
SELECT name FROM employees WHERE name REGEXP '^(A|B)' ORDER BY 1
SELECT LAST_DAY('2024-02-01'), MONTHNAME('2024-02-01'), YEARWEEK('2024-02-01'), TO_DAYS('2024-01-01'), PERIOD_ADD(202401, 2), UTC_DATE() IS NOT NULL, UTC_TIMESTAMP IS NOT NULL, CURTIME() IS NOT NULL, LOCALTIME IS NOT NULL
SELECT JSON_EXTRACT('{"a":[1,2]}', '$.a[1]'), JSON_SET('{"a":1}', '$.b', 2), JSON_TYPE('1'), JSON_SEARCH('["a"]', 'one', 'a'), JSON_QUOTE('a'), JSON_MERGE_PATCH('{"a":1}', '{"b":2}')
SELECT a.id, b.id FROM orders a INNER JOIN orders b ON a.id < b.id AND a.employee_id = b.employee_id ORDER BY 1, 2
SELECT e.name, m.name FROM employees AS e LEFT JOIN employees AS m ON m.id = e.manager_id WHERE m.id IS NULL OR m.id <> 3 ORDER BY e.id
SELECT * FROM orders o CROSS JOIN departments d ORDER BY o.id, d.id LIMIT 3
SELECT * FROM (orders o JOIN employees e ON e.id = o.employee_id) ORDER BY o.id
SELECT * FROM employees JOIN orders USING (id) ORDER BY id
SELECT SUM(amount) OVER w AS s, AVG(amount) OVER w FROM orders WINDOW w AS (PARTITION BY employee_id ORDER BY id) ORDER BY id
SELECT DENSE_RANK() OVER (ORDER BY amount), PERCENT_RANK() OVER (ORDER BY amount), CUME_DIST() OVER (ORDER BY amount), FIRST_VALUE(id) OVER (ORDER BY id) FROM orders ORDER BY id
WITH RECURSIVE days AS (SELECT CAST('2024-01-01' AS DATE) AS d UNION ALL SELECT d + INTERVAL 1 DAY FROM days WHERE d < '2024-01-05') SELECT d FROM days ORDER BY d
WITH a AS (SELECT 1 AS x), b AS (SELECT x + 1 AS y FROM a) SELECT a.x, b.y FROM a JOIN b ON b.y > a.x
SELECT year, `rank`, type FROM (SELECT 1 AS year, 2 AS `rank`, 3 AS type) t
SELECT id AS "ID", name 'Full Name' FROM departments ORDER BY id
SELECT COUNT(*) cnt FROM orders HAVING cnt > 1
SELECT employee_id, COUNT(*) AS cnt FROM orders GROUP BY employee_id ORDER BY COUNT(*) DESC, 1
SELECT YEAR(placed_at) AS y, MONTH(placed_at) AS m, SUM(amount) FROM orders GROUP BY y, m ORDER BY y, m
SELECT VERSION() IS NOT NULL, DATABASE()
SELECT -1, +1, - 1, 1 - 1, 10 / 3, 10 DIV 3, -7 % 3, 1.5e3, .5, 0x1F + 0, 1 != 2, 1 <> 2, NOT (1 = 2)
SELECT 'a' 'b' 'c', N'x', _latin1'y', 'é'
SELECT BIT_COUNT(5), BIT_AND(id), BIT_XOR(id) FROM orders
SELECT MD5('a'), SHA1('a'), SHA2('a', 256), CRC32('a'), TO_BASE64('a'), FROM_BASE64('YQ=='), UUID() IS NOT NULL
SELECT VAR_POP(amount), VARIANCE(amount), STD(amount), STDDEV_SAMP(amount) FROM orders
SELECT id FROM orders WHERE note <=> NULL ORDER BY id
SELECT id FROM orders WHERE id NOT IN (1, 2) AND NOT id = 3 ORDER BY id
SELECT DISTINCTROW employee_id FROM orders ORDER BY 1
SELECT SQL_SMALL_RESULT COUNT(*) FROM orders
SELECT 1 AS `a``b`
(SELECT id FROM orders ORDER BY amount DESC LIMIT 1) UNION (SELECT id FROM orders ORDER BY amount LIMIT 1) ORDER BY id
SELECT id FROM orders UNION ALL SELECT id FROM employees ORDER BY 1 LIMIT 4
SELECT DISTINCT YEAR(hired_at) FROM employees WHERE MONTH(hired_at) IN (1, 3, 7) ORDER BY 1
SELECT NVL(NULL, 1), NVL2(1, 'a', 'b'), CHR(65)
SELECT AVG(DISTINCT amount), COUNT(DISTINCT employee_id, amount) FROM orders
SELECT JSON_OBJECTAGG(id, name) FROM departments
SELECT name, CHAR_LENGTH(name) len FROM departments HAVING len > 5 ORDER BY len, name
SELECT FIND_IN_SET('a', tags) > 0 FROM orders ORDER BY id
SELECT WEEKDAY(placed_at) FROM orders ORDER BY id
SELECT (VALUES (2))
SELECT name FROM employees WHERE name SOUNDS LIKE 'Ada Biron'
SELECT 'a' SOUNDS LIKE 'b', CAST('a' AS CHAR CHARACTER SET utf8mb4), CAST('abcd' AS CHAR(3) CHARACTER SET latin1)
SELECT CONVERT('a', CHAR(1) CHARACTER SET utf8mb4)
SELECT USER() IS NOT NULL, CURRENT_USER() IS NOT NULL, CURRENT_USER IS NOT NULL
SELECT d.id, e.id FROM departments d LEFT JOIN (employees e, orders o) ON e.department_id = d.id AND o.employee_id = e.id ORDER BY 1, 2, o.id
SELECT d.id, o.id FROM (departments d, orders o) ORDER BY 1, 2
SELECT INTERVAL(23, 1, 15, 17, 30), '2024-01-01' + INTERVAL (1 + 1) DAY
SELECT CHAR(77, 121 USING utf8mb4), CHARSET('a'), FORMAT(1234567.891, 2)
SELECT TIMESTAMPDIFF(SQL_TSI_DAY, '2024-01-01', '2024-01-03')
SELECT ST_AsText(ST_Envelope(ST_GeomFromText('LINESTRING(0 0, 2 3)')))
