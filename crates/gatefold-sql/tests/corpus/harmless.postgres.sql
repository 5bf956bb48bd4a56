-- words in strings
SELECT 'DROP TABLE employees; DELETE FROM orders' AS text
SELECT 'INSERT', 'UPDATE', 'pg_sleep(10)', 'it''s'
SELECT note FROM orders WHERE note LIKE '%DROP TABLE%' ORDER BY id
SELECT E'line\nbreak \'quoted\'' AS escaped
SELECT $$it's a "dollar" string; DELETE$$ AS dollar
SELECT $tag$with $$ inside$tag$ AS tagged
SELECT U&'d\0061t\+000061' AS unicode
-- words in comments
SELECT 1 /* DELETE FROM employees; */ AS one
--;
SELECT 2 -- DROP TABLE orders
  AS two
--;
SELECT /* nested /* comment */ still */ 3 AS three
-- words in names
SELECT 1 AS "delete", 2 AS "drop table", 3 AS "select"
SELECT id AS update_id, name AS "insert" FROM departments ORDER BY id
SELECT "d"."name" FROM departments AS "d" ORDER BY "d"."name" DESC
-- values and tables
VALUES (1, 'a'), (2, 'b')
TABLE departments
SELECT * FROM (VALUES (1, 'x'), (2, 'y')) AS v (n, s) ORDER BY n
(SELECT 1) UNION ALL (SELECT 2) ORDER BY 1
((SELECT name FROM departments ORDER BY id LIMIT 1))
-- set operations
SELECT id FROM employees UNION SELECT id FROM orders ORDER BY id
SELECT id FROM employees INTERSECT SELECT employee_id FROM orders ORDER BY 1
SELECT id FROM employees EXCEPT ALL SELECT employee_id FROM orders ORDER BY 1
-- joins
SELECT e.name, d.name FROM employees e JOIN departments d ON d.id = e.department_id ORDER BY e.id
SELECT e.name, m.name AS manager FROM employees e LEFT JOIN employees m ON e.manager_id = m.id ORDER BY e.id
SELECT * FROM departments FULL JOIN (SELECT 9 AS id) x USING (id) ORDER BY id
SELECT d.name, o.id FROM departments d CROSS JOIN orders o ORDER BY 1, 2 LIMIT 5
SELECT * FROM (SELECT 1 AS a) x NATURAL JOIN (SELECT 1 AS a, 2 AS b) y
SELECT e.name FROM (employees e JOIN departments d ON d.id = e.department_id) WHERE d.city = 'Bern' ORDER BY 1
-- windows
SELECT id, row_number() OVER (PARTITION BY employee_id ORDER BY amount DESC) FROM orders ORDER BY id
SELECT id, sum(amount) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM orders ORDER BY id
SELECT id, lag(amount, 1, 0) OVER w, lead(amount) OVER w FROM orders WINDOW w AS (ORDER BY id) ORDER BY id
SELECT name, rank() OVER (ORDER BY salary DESC NULLS LAST), ntile(2) OVER (ORDER BY id) FROM employees ORDER BY id
SELECT id, first_value(id) OVER (ORDER BY id RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM orders ORDER BY id
-- lateral and functions in FROM
SELECT d.name, t.amount FROM departments d LEFT JOIN LATERAL (SELECT o.amount FROM orders o JOIN employees e ON e.id = o.employee_id WHERE e.department_id = d.id ORDER BY o.amount DESC LIMIT 1) t ON true ORDER BY d.id
SELECT g FROM generate_series(1, 5) AS g
SELECT g.n FROM generate_series(1, 10, 3) AS g (n)
SELECT d::date FROM generate_series('2024-01-01'::date, '2024-01-04'::date, '1 day'::interval) AS d
SELECT u.x, u.n FROM unnest(ARRAY['a', 'b']) WITH ORDINALITY AS u (x, n)
SELECT e.id, s.value FROM employees e, jsonb_array_elements_text(e.data->'skills') AS s ORDER BY 1, 2
SELECT key, value FROM jsonb_each_text('{"a": 1, "b": 2}') ORDER BY key
SELECT * FROM json_to_recordset('[{"a":1,"b":"x"},{"a":2,"b":"y"}]') AS r (a int, b text)
SELECT elem->>'k' FROM jsonb_array_elements('[{"k": 1}, {"k": 2}]') AS elem
SELECT m[1] FROM regexp_matches('a1b2', '([a-z])[0-9]', 'g') AS m
SELECT n FROM string_to_table('x,y,z', ',') AS n
-- json operators
SELECT data->>'level' FROM employees WHERE data ? 'skills' ORDER BY id
SELECT id FROM employees WHERE data @> '{"level": 3}'
SELECT data #>> '{skills,0}' FROM employees ORDER BY id
SELECT jsonb_build_object('id', id, 'name', name) FROM departments ORDER BY id
SELECT jsonb_path_query_array(data, '$.skills[*]') FROM employees WHERE data IS NOT NULL ORDER BY id
SELECT '{"a": {"b": 1}}'::jsonb - 'a', '[1,2]'::jsonb || '3'::jsonb
SELECT row_to_json(d) FROM departments d ORDER BY d.id
SELECT to_jsonb(d) - 'budget' FROM departments d ORDER BY d.id
SELECT count(d.*) FROM departments d
-- case, casts and conditions
SELECT CASE WHEN salary > 6000 THEN 'high' WHEN salary IS NULL THEN 'none' ELSE 'low' END FROM employees ORDER BY id
SELECT '42'::int + CAST('1.5' AS numeric), '2024-02-29'::date, 1::text, '{1,2}'::int[]
SELECT DATE '2024-01-31' + INTERVAL '1 month', TIMESTAMP '2024-01-01 00:00:00' AT TIME ZONE 'UTC'
SELECT name FROM employees WHERE hired_at BETWEEN DATE '2020-01-01' AND DATE '2021-12-31' ORDER BY id
SELECT name FROM employees WHERE (department_id, manager_id) IN ((1, 1), (2, 1)) ORDER BY id
SELECT name FROM employees WHERE name ILIKE 'a%' OR name ~* '^b' OR name SIMILAR TO 'C_ %' ORDER BY id
SELECT name FROM employees WHERE name LIKE '%\_%' ESCAPE '\' OR id = 1
SELECT name FROM employees WHERE email IS DISTINCT FROM NULL ORDER BY id
SELECT coalesce(email, 'none'), nullif(id, 3), greatest(1, id), least(2, id) FROM employees ORDER BY id
SELECT name FROM employees WHERE id = ANY (ARRAY[1, 3]) AND NOT id = ALL ('{1,2}'::int[]) ORDER BY id
SELECT (ARRAY[10, 20, 30])[2], (ARRAY[1, 2, 3])[1:2], ARRAY[1, 2] && ARRAY[2, 3]
-- subqueries
SELECT name FROM employees e WHERE EXISTS (SELECT 1 FROM orders o WHERE o.employee_id = e.id) ORDER BY id
SELECT name, (SELECT count(*) FROM orders o WHERE o.employee_id = employees.id) AS n FROM employees ORDER BY id
SELECT name FROM departments WHERE id NOT IN (SELECT department_id FROM employees WHERE department_id IS NOT NULL)
SELECT ARRAY(SELECT id FROM departments ORDER BY id)
-- grouping
SELECT department_id, count(*), avg(salary) FROM employees GROUP BY department_id HAVING count(*) > 1 ORDER BY 1
SELECT department_id, manager_id, count(*) FROM employees GROUP BY GROUPING SETS ((department_id), (manager_id), ()) ORDER BY 1, 2, 3
SELECT department_id, count(*), grouping(department_id) FROM employees GROUP BY ROLLUP (department_id) ORDER BY 1
SELECT string_agg(name, ', ' ORDER BY name DESC), array_agg(id ORDER BY id) FROM employees
SELECT count(*) FILTER (WHERE amount > 50), percentile_cont(0.5) WITHIN GROUP (ORDER BY amount) FROM orders
SELECT DISTINCT ON (employee_id) employee_id, amount FROM orders ORDER BY employee_id, amount DESC
SELECT extract(year FROM placed_at) AS y, count(DISTINCT employee_id) FROM orders GROUP BY y ORDER BY y
SELECT d.id, d.name, count(e.id) FROM departments d LEFT JOIN employees e ON e.department_id = d.id GROUP BY d.id ORDER BY d.id
-- with
WITH top AS MATERIALIZED (SELECT * FROM orders WHERE amount > 50) SELECT id FROM top ORDER BY id
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT i FROM n ORDER BY i
WITH RECURSIVE chain AS (SELECT id, name, 0 AS depth FROM employees WHERE manager_id IS NULL UNION ALL SELECT e.id, e.name, c.depth + 1 FROM employees e JOIN chain c ON e.manager_id = c.id) SELECT * FROM chain ORDER BY depth, id
WITH employees AS (SELECT id, name FROM employees WHERE id < 3) SELECT * FROM employees ORDER BY id
WITH a AS (SELECT 1 AS x), b AS (SELECT x + 1 AS y FROM a) SELECT a.x, b.y FROM a, b
-- order, limit and fetch
SELECT id FROM orders ORDER BY amount DESC NULLS FIRST OFFSET 1 ROWS FETCH NEXT 2 ROWS ONLY
SELECT id AS n FROM orders ORDER BY n LIMIT 2 OFFSET 1
SELECT id FROM orders ORDER BY id LIMIT ALL
-- functions of the dialect
SELECT date_trunc('month', placed_at), to_char(placed_at, 'YYYY-MM-DD HH24:MI') FROM orders ORDER BY id
SELECT split_part('a-b-c', '-', 2), initcap('hello world'), translate('abc', 'ab', 'xy'), reverse('abc')
SELECT substring('hello' FROM 2 FOR 3), position('l' IN 'hello'), overlay('abcdef' PLACING 'x' FROM 2 FOR 2), trim(BOTH 'x' FROM 'xax')
SELECT regexp_replace('a1b22', '\d+', '#', 'g'), lpad('7', 3, '0'), repeat('ab', 3), md5('a')
SELECT round(2.5), ceil(1.2), floor(1.8), 7 % 3, 2 ^ 3, |/ 16, @ -5, 5 & 3, 5 # 3, ~1, 1 << 3
SELECT to_tsvector('english', 'the quick foxes') @@ to_tsquery('english', 'fox')
SELECT pg_typeof(1), num_nulls(1, NULL), format('%s-%I', 'a', 'b c'), quote_literal('x')
SELECT int4range(1, 5) @> 3, lower(numrange(1.5, 2.5)), daterange('2024-01-01', '2024-02-01') * daterange('2024-01-15', '2024-03-01')
SELECT make_interval(days => 3), age(TIMESTAMP '2024-03-01', TIMESTAMP '2024-01-01'), isfinite('infinity'::timestamp)
SELECT '192.168.1.5'::inet << '192.168.1.0/24'::inet, point(1, 2) <-> point(4, 6), x'1F'::int, B'101'
SELECT pg_catalog.upper('a'), "upper"('b'), encode('abc'::bytea, 'hex'), gcd(12, 18)
SELECT public.departments.name FROM public.departments ORDER BY public.departments.id
SELECT name COLLATE "C" FROM employees ORDER BY name COLLATE "C"
SELECT NULL IS UNKNOWN, true AND NOT false, 1 <> 2, 1 != 2, 'a' < 'b' COLLATE "C"
-- more of what people ask
SELECT date(placed_at), date_part('year', placed_at) FROM orders ORDER BY id
SELECT * FROM employees WHERE name = ANY(string_to_array('Ada Byron,Bo Chen', ',')) ORDER BY id
SELECT e.* FROM employees e WHERE e.salary > (SELECT avg(salary) FROM employees) ORDER BY e.id
SELECT department_id, name, salary FROM (SELECT *, rank() OVER (PARTITION BY department_id ORDER BY salary DESC) AS r FROM employees) t WHERE r = 1 ORDER BY 1, 2
SELECT current_date - hired_at > 0 FROM employees ORDER BY id
SELECT now() - interval '7 days' < now()
SELECT to_char(1234.5, 'FM9,999.00'), to_date('2024-01-05', 'YYYY-MM-DD')
SELECT EXTRACT(EPOCH FROM placed_at)::bigint FROM orders ORDER BY id
SELECT name FROM employees ORDER BY salary DESC NULLS LAST LIMIT 3
SELECT count(*) AS total, sum(CASE WHEN amount > 50 THEN 1 ELSE 0 END) AS big FROM orders
SELECT COALESCE(d.name, 'none') AS dept, COUNT(*)::int FROM employees e LEFT JOIN departments d ON e.department_id = d.id GROUP BY COALESCE(d.name, 'none') ORDER BY 2 DESC, 1
SELECT data -> 'skills' -> 0, data #> '{skills}' FROM employees ORDER BY id
SELECT data['level'] FROM employees ORDER BY id
SELECT (data->>'level')::int AS lvl FROM employees WHERE (data->>'level') IS NOT NULL ORDER BY lvl
SELECT id FROM employees WHERE data->'skills' ?| array['sql','go'] ORDER BY id
SELECT id FROM employees WHERE data ?& '{skills,level}' ORDER BY id
SELECT id FROM employees WHERE data @? '$.skills[*] ? (@ == "sql")'
SELECT id FROM employees WHERE NOT (name LIKE 'A%') AND manager_id IS NOT NULL ORDER BY id
SELECT id, amount, amount / NULLIF(sum(amount) OVER (), 0) AS share FROM orders ORDER BY id
SELECT generate_series(1, 3) AS n
SELECT unnest(ARRAY[1,2,3]) AS n
SELECT regexp_split_to_table('a b c', E'\\s+') AS w
SELECT jsonb_array_elements(data->'skills') FROM employees WHERE data IS NOT NULL ORDER BY id
SELECT s.day::date, count(o.id) FROM generate_series(DATE '2024-01-01', DATE '2024-01-07', INTERVAL '1 day') AS s(day) LEFT JOIN orders o ON o.placed_at::date = s.day::date GROUP BY s.day ORDER BY s.day
SELECT o.id FROM orders o WHERE o.placed_at >= '2024-01-01'::timestamp AND o.placed_at < '2024-02-01' ORDER BY o.id
SELECT mode() WITHIN GROUP (ORDER BY employee_id) FROM orders
SELECT string_agg(DISTINCT city, ',') FROM departments
SELECT id FROM orders WHERE (amount, id) > (50, 1) ORDER BY id
SELECT ROW(1, 'a'), (1, 2) = (1, 2)
SELECT id FROM orders WHERE amount IS NOT DISTINCT FROM 80.00
SELECT 'abc' ~ '^a.*c$', 'abc' !~* 'X', 'a' || 1 || NULL IS NULL
SELECT CAST(amount AS double precision), amount::float8, amount::real::text FROM orders ORDER BY id
SELECT CAST('{"a":1}' AS json) ->> 'a', '1 day 2 hours'::interval, 't'::boolean, '\xdeadbeef'::bytea
SELECT array_to_string(ARRAY(SELECT name FROM departments ORDER BY id), ', ')
SELECT ARRAY[[1,2],[3,4]], ARRAY[1,2] || 3, array_length(ARRAY[1,2,3], 1), 2 = ANY(ARRAY[1,2])
SELECT * FROM (SELECT 1 AS a UNION ALL SELECT 2) t(b) WHERE b > 1
SELECT DISTINCT e.department_id FROM employees AS e INNER JOIN orders AS o ON (o.employee_id = e.id) ORDER BY 1
SELECT e.name FROM employees e, departments d WHERE e.department_id = d.id AND d.name IN ('Research', 'Sales') ORDER BY e.name
WITH m AS NOT MATERIALIZED (SELECT date_trunc('month', placed_at) AS month, sum(amount) AS total FROM orders GROUP BY 1) SELECT month, total, sum(total) OVER (ORDER BY month) FROM m ORDER BY month
SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY salary), stddev(salary), variance(salary), corr(id, salary) FROM employees
SELECT count(*) FILTER (WHERE department_id = 1) AS one, array_agg(name ORDER BY id) FILTER (WHERE id > 2) FROM employees
SELECT lag(name) OVER (PARTITION BY department_id ORDER BY id), last_value(id) OVER (PARTITION BY department_id ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM employees ORDER BY id
SELECT sum(amount) OVER (ORDER BY placed_at RANGE BETWEEN INTERVAL '30 days' PRECEDING AND CURRENT ROW) FROM orders ORDER BY id
SELECT sum(amount) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE CURRENT ROW) FROM orders ORDER BY id
SELECT GREATEST(1, 2, NULL), LEAST('a', 'b'), SIGN(-1), MOD(7, 3), POWER(2, 8), TRUNC(1.99, 1), RANDOM() < 2
SELECT LEFT('abc', 2), RIGHT('abc', 2), CONCAT('a', NULL, 'b'), CONCAT_WS('-', 'a', 'b'), LENGTH('abc'), CHR(65), ASCII('A'), STRPOS('abc', 'c')
SELECT trim('  a '), ltrim('xxa', 'x'), trim(trailing 'x' from 'axx'), substring('abcdef', 2, 3), substring('abc123' from '[0-9]+'), btrim('xax', 'x')
SELECT 5 BETWEEN SYMMETRIC 9 AND 1
SELECT id FROM orders FETCH FIRST ROW ONLY
SELECT id FROM orders ORDER BY amount FETCH FIRST 1 ROWS WITH TIES
SELECT id FROM orders ORDER BY id USING >
SELECT * FROM orders TABLESAMPLE BERNOULLI (100) REPEATABLE (1) ORDER BY id
SELECT a.id, b.id FROM orders a JOIN orders b ON a.id < b.id AND a.employee_id = b.employee_id ORDER BY 1, 2
SELECT x.id FROM (orders JOIN employees USING (id)) AS x ORDER BY 1
SELECT j.* FROM (employees e JOIN departments d ON e.department_id = d.id) AS j (a, b, c, d, e, f, g, h, i, k) ORDER BY 1
SELECT ALL id FROM orders ORDER BY id
SELECT id AS "ID", name "Full Name" FROM departments ORDER BY "ID"
SELECT count(*) AS count, max(id) max FROM orders
SELECT year, value FROM (SELECT 1 AS year, 2 AS value) t
SELECT name, position, type, user_id FROM (SELECT 'a' AS name, 1 AS position, 2 AS type, 3 AS user_id) t
SELECT EXISTS (SELECT 1 FROM orders WHERE amount > 1000), NOT EXISTS (SELECT 1 FROM orders)
SELECT CASE WHEN EXISTS (SELECT 1 FROM orders) THEN 'yes' END
SELECT id FROM employees WHERE department_id = (SELECT id FROM departments WHERE name = 'Sales') ORDER BY id
SELECT id FROM employees e WHERE salary = (SELECT max(salary) FROM employees WHERE department_id = e.department_id) ORDER BY id
SELECT json_build_object('a', json_agg(json_build_object('id', id, 'n', name) ORDER BY id)) FROM departments
SELECT jsonb_set('{"a":1}'::jsonb, '{b}', '2'), jsonb_pretty('{"a":1}'), jsonb_typeof('1'), jsonb_strip_nulls('{"a":null}')
SELECT d.name, jsonb_agg(e.name ORDER BY e.id) FROM departments d JOIN employees e ON e.department_id = d.id GROUP BY d.name ORDER BY 1
SELECT x, y FROM json_to_record('{"x":1,"y":"a"}') AS t(x int, y text)
SELECT * FROM jsonb_each('{"a":1}') AS e(k, v)
SELECT k, v FROM employees, LATERAL jsonb_each(data) AS j(k, v) WHERE id = 1 ORDER BY k
SELECT e.id, s FROM employees e CROSS JOIN LATERAL jsonb_array_elements_text(e.data -> 'skills') s ORDER BY 1, 2
SELECT * FROM unnest(ARRAY[1,2], ARRAY['a','b']) AS t(n, s)
SELECT t.i, t.elem FROM unnest(ARRAY['x','y']) WITH ORDINALITY t(elem, i)
SELECT timestamp '2024-01-01' + interval '1 hour' * 3
SELECT overlay('Txxxxas' placing 'hom' from 2 for 4), 1 + 1 AS "1 + 1"
SELECT (date '2024-01-01', date '2024-01-31') OVERLAPS (date '2024-01-15', date '2024-02-15')
SELECT xmin FROM (SELECT 1 AS xmin) t
SELECT 1 AS one WHERE 1 = 1 GROUP BY () HAVING true
SELECT id % 2 AS parity, count(*) FROM orders GROUP BY id % 2 ORDER BY parity
SELECT department_id, count(*) FROM employees GROUP BY CUBE (department_id, manager_id) ORDER BY 1, 2
SELECT e1.name AS a, e2.name AS b FROM employees e1 JOIN employees e2 ON e1.manager_id = e2.manager_id AND e1.id < e2.id ORDER BY 1, 2
SELECT 1::int2, 2::int8, 3::numeric(5,2), 'a'::varchar(3), 'b'::char(2), 'c'::bpchar, '1.2.3.4'::cidr, 'a1b2c3d4-e5f6-7890-abcd-ef1234567890'::uuid
SELECT '(1,2)'::point, box '((0,0),(1,1))', circle '<(0,0),1>' @> point '(0,0)'
SELECT 'a'::"char", '08:00:2b:01:02:03'::macaddr, '$1.50'::money, 'x'::name
SELECT ts_rank(to_tsvector('a b'), plainto_tsquery('a')), ts_headline('a b', to_tsquery('a'))
SELECT nullif('', '') IS NULL AS empty, coalesce(NULL, 'x')
SELECT format('Hello %s, %2$s', 'a', 'b')
SELECT 10 / 3, 10 / 3.0, 10 % 3, -7 / 2, 2 ^ 10, 5!= 4, 1e10, 1.5e-3, .5
SELECT not true, true is not false, null is null, 1 in (1,2), 1 not in (3)
SELECT id FROM orders o WHERE o.note IS NULL OR o.note = '' ORDER BY o.id
SELECT lower(name) AS l FROM departments GROUP BY l ORDER BY l
SELECT count(DISTINCT (employee_id, amount)) FROM orders
SELECT pg_catalog.date_part('year', DATE '2024-01-01')
SELECT "public"."orders"."id" FROM "public"."orders" ORDER BY 1
SELECT max(o.placed_at)::date - min(o.placed_at)::date AS days FROM orders o
SELECT id FROM orders WHERE id IN (VALUES (1), (2)) ORDER BY id
SELECT a FROM (TABLE departments) AS t(a) ORDER BY a
WITH t AS (VALUES (1), (2)) SELECT * FROM t
WITH t(a) AS (TABLE departments) SELECT a FROM t ORDER BY 1
SELECT 'é' AS "ü", 'naïve — “quotes”'
SELECT 1 -- trailing comment
SELECT any_value FROM (SELECT 1 AS any_value) q
SELECT date FROM (SELECT DATE '2024-01-01' AS date) q
SELECT (VALUES (2))
SELECT name FROM employees WHERE id = (VALUES (2))
SELECT CASE WHEN 1 = 1 THEN (VALUES ('x')) END
SELECT count(*) FROM current_date
SELECT d - d AS none FROM current_date AS d
SELECT current_user, user
SELECT id FROM orders o WHERE o.* IS NOT NULL ORDER BY id
SELECT (jsonb_each(data)).key FROM employees ORDER BY 1
SELECT id FROM orders WHERE note LIKE ANY (ARRAY['first%', 'select%']) ORDER BY id
SELECT id FROM ONLY orders ORDER BY id
SELECT normalize('é', NFC), 1::oid, pg_size_pretty(12345678::bigint), inet '10.0.0.1'
SELECT format('%s', 1234567), format('%10s of 1234567', 'x')
