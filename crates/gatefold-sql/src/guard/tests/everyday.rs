//! What people and models send every day, a statement a line. None of it does harm.

use super::*;

const POSTGRES: &str = r#"
SELECT date_trunc('month', placed_at) AS m, count(*) FILTER (WHERE amount > 10) FROM orders GROUP BY 1
SELECT DISTINCT ON (employee_id) * FROM orders ORDER BY employee_id, placed_at DESC
SELECT * FROM orders WHERE placed_at >= now() - interval '7 days'
SELECT * FROM orders TABLESAMPLE BERNOULLI (10)
SELECT * FROM orders TABLESAMPLE SYSTEM (1) REPEATABLE (42)
SELECT (ARRAY[1,2,3])[1]
SELECT tags[1:2], tags[1] FROM orders
SELECT string_agg(DISTINCT name, ', ' ORDER BY name) FROM departments
SELECT EXTRACT(EPOCH FROM now()), EXTRACT(DOW FROM now()), EXTRACT(ISODOW FROM now()), EXTRACT(QUARTER FROM now())
SELECT * FROM generate_series('2024-01-01'::date, '2024-12-31', '1 month') AS g(m)
SELECT o.id, x.name FROM orders o CROSS JOIN LATERAL (SELECT name FROM employees e WHERE e.id = o.employee_id LIMIT 1) x
SELECT * FROM (VALUES (1,'a'),(2,'b')) AS t(id, name)
SELECT ROW(1,2) = ROW(1,2), (1,2) IN ((1,2),(3,4))
SELECT count(*), avg(amount)::numeric(10,2) FROM orders
SELECT amount::money, amount::numeric::money FROM orders
SELECT data->'a'->>'b', data #>> '{a,b}', data @> '{"a":1}', data ? 'a', data ?| array['a'], data ?& array['a'] FROM employees
SELECT data - 'a', data #- '{a}', data || '{}' FROM employees
SELECT note ~* 'abc', note !~ 'x', note SIMILAR TO '(a|b)%' FROM orders
SELECT CURRENT_DATE - 7, CURRENT_TIMESTAMP AT TIME ZONE 'UTC', now()::date
SELECT * FROM orders ORDER BY amount FETCH FIRST 5 ROWS WITH TIES
SELECT * FROM orders LIMIT ALL
WITH t AS MATERIALIZED (SELECT * FROM orders) SELECT * FROM t
SELECT sum(amount) OVER (PARTITION BY employee_id ORDER BY placed_at ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) FROM orders
SELECT sum(amount) OVER (ORDER BY placed_at RANGE BETWEEN '7 days' PRECEDING AND CURRENT ROW EXCLUDE CURRENT ROW) FROM orders
SELECT sum(amount) OVER (ORDER BY placed_at GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING) FROM orders
SELECT * FROM orders o WHERE NOT EXISTS (SELECT FROM employees e WHERE e.id=o.employee_id)
SELECT 1 FROM orders WHERE (employee_id, amount) > (1, 2)
SELECT id FROM orders WHERE amount BETWEEN SYMMETRIC 5 AND 1
SELECT U&'\0041', E'\n', $$x$$, $tag$x$tag$
SELECT '1 day'::interval * 3, make_interval(days => 3)
SELECT * FROM orders NATURAL JOIN departments
SELECT * FROM orders JOIN employees USING (id)
SELECT data::jsonb @? '$.a', data::jsonb @@ '$.a == 1' FROM employees
SELECT to_tsvector('english', note) @@ plainto_tsquery('x') FROM orders
SELECT * FROM unnest(ARRAY['a','b']) WITH ORDINALITY AS t(v, n)
SELECT * FROM unnest(ARRAY[1,2], ARRAY['a','b']) AS t(a, b)
SELECT * FROM json_to_recordset('[{"a":1}]') AS x(a int)
SELECT * FROM jsonb_to_record('{"a":1}') AS x(a int, b text)
SELECT GROUPING(name), count(*) FROM departments GROUP BY CUBE(name, city)
SELECT name, count(*) FROM departments GROUP BY GROUPING SETS ((name), ())
SELECT name, city, count(*) FROM departments GROUP BY ROLLUP(name, city)
SELECT note COLLATE "C" FROM orders ORDER BY note COLLATE "de-x-icu"
SELECT date '2024-01-01' + 3, timestamp '2024-01-01 00:00', time '10:00', INTERVAL '1' DAY, INTERVAL '1-2' YEAR TO MONTH
SELECT timestamptz '2024-01-01', timestamp with time zone '2024-01-01'
SELECT amount IS NOT DISTINCT FROM 3 FROM orders
SELECT id AS "Order ID", amount total FROM orders
SELECT a, b FROM orders AS o (a, b)
SELECT EXISTS (SELECT 1 FROM orders)
SELECT ARRAY(SELECT id FROM orders), ARRAY[[1,2],[3,4]], 1 = ANY('{1,2}'::int[]), 1 = ANY (SELECT id FROM orders)
SELECT substring(note from '^a'), substring(note from 2 for 3), trim(both 'x' from note), trim(note, 'x') FROM orders
SELECT to_char(placed_at::timestamp, 'YYYY-MM'), date_part('year', placed_at::date), age(now(), placed_at::timestamp) FROM orders
SELECT now() AT TIME ZONE INTERVAL '1 hour'
SELECT (regexp_match(note, 'a'))[1], (string_to_array(note, ','))[1] FROM orders
SELECT 5 / 2.0, 5 % 2, 2 ^ 3, |/ 4, ||/ 8, @ -5, 1 << 2, ~1, 5 # 3
SELECT 1_000_000, 0x1F, 0b11, 1e5
SELECT * FROM orders ORDER BY amount DESC NULLS LAST
SELECT * FROM orders ORDER BY amount USING <
SELECT 'abc' LIKE 'a!%' ESCAPE '!', 'a' ~~ 'b', 'a' ~~* 'b', 'a' !~~ 'b'
SELECT * FROM orders OFFSET 5 ROWS FETCH NEXT 5 ROWS ONLY
SELECT (date '2024-01-01', date '2024-02-01') OVERLAPS (date '2024-01-15', date '2024-03-01')
SELECT CAST(amount AS double precision), amount::char(3), placed_at::timestamptz(0), id::int4, id::bool, data::jsonb, note::uuid, note::name, note::varchar, tags::text[], tags::int[] FROM orders, employees
SELECT id::bigint, id::int2, id::real, id::float8, note::bytea, note::inet, note::cidr, note::macaddr, note::bit(3), note::varbit FROM orders
SELECT note::int4range, note::daterange, note::tsvector, note::tsquery, note::point, note::box FROM orders
SELECT count(DISTINCT (id, amount)), count(ALL id) FROM orders
SELECT (array_agg(id ORDER BY amount))[1:3], mode() WITHIN GROUP (ORDER BY amount) FROM orders
TABLE orders
VALUES (1),(2)
SELECT ALL id FROM orders
(SELECT 1) UNION (SELECT 2) ORDER BY 1
SELECT t.tag FROM orders o JOIN LATERAL unnest(string_to_array(o.tags, ',')) AS t(tag) ON true
SELECT t.tag FROM orders o, unnest(string_to_array(o.tags, ',')) AS t(tag)
SELECT json_build_object('a', 1), '{"a":1}' IS JSON
SELECT (o.*)::text, row_to_json(o), to_jsonb(o) FROM orders o
SELECT o FROM orders o
SELECT note ISNULL, note NOTNULL FROM orders
SELECT note IS NULL AS empty, (amount > 3) IS TRUE, (amount > 3) IS UNKNOWN FROM orders
SELECT first_value(id) OVER w FROM orders WINDOW w AS (PARTITION BY employee_id ORDER BY id)
SELECT nth_value(id, 2) OVER (ORDER BY id), lag(id, 1, 0) OVER (ORDER BY id), ntile(4) OVER (ORDER BY id) FROM orders
SELECT count(*) FROM orders HAVING count(*) > 1
SELECT o.id FROM orders o LEFT OUTER JOIN employees e ON (o.employee_id = e.id) FULL JOIN departments d ON d.id = e.department_id
SELECT * FROM orders, LATERAL (SELECT 1) x
SELECT * FROM (orders o JOIN employees e ON o.employee_id = e.id) JOIN departments d ON d.id = e.department_id
SELECT array_to_string(array_agg(DISTINCT name), ',') FROM departments
SELECT array_length(ARRAY[1,2], 1), ARRAY[1,2] || 3, ARRAY[1,2] && ARRAY[2], ARRAY[1] <@ ARRAY[1,2]
SELECT now() - placed_at::timestamp > interval '1 day' FROM orders
SELECT EXTRACT(year FROM age(placed_at::date))::int FROM orders
SELECT coalesce(sum(amount), 0)::float / nullif(count(*), 0) FROM orders
SELECT round(avg(amount)::numeric, 2) FROM orders
SELECT to_timestamp(1700000000), to_date('2024', 'YYYY')
SELECT jsonb_agg(jsonb_build_object('id', id) ORDER BY id) FROM orders
SELECT jsonb_agg(o) FROM orders o
SELECT json_agg(x) FROM (SELECT id FROM orders LIMIT 3) x
SELECT key, value FROM jsonb_each_text('{"a":1}')
SELECT e.value->>'x' FROM employees, jsonb_array_elements(data::jsonb) AS e
SELECT e->>'x' FROM employees, jsonb_array_elements(data::jsonb) AS e
SELECT elem FROM employees CROSS JOIN jsonb_array_elements_text(data::jsonb -> 'tags') AS elem
SELECT current_timestamp(0), localtimestamp, localtime
SELECT width_bucket(amount::numeric, 0, 100, 10), count(*) FROM orders GROUP BY 1
SELECT concat_ws(' ', name, city), left(name, 2), initcap(name) FROM departments
SELECT id FROM orders WHERE note = ANY (ARRAY['a','b']) AND id <> ALL ('{1,2}')
SELECT id FROM orders WHERE id IN (VALUES (1), (2))
SELECT COUNT(*) FROM "orders" WHERE "note" ILIKE '%x%'
SELECT CURRENT_USER, CURRENT_ROLE, current_schema()
SELECT bit_length('a'), octet_length('a'), char_length('a')
SELECT lower(tstzrange(now(), now())), isempty(int4range(1,1))
SELECT 'a' || NULL, NOT true, true AND false, 1 <> 2, 1 != 2
SELECT count(*) AS count, max(placed_at) AS max FROM orders
SELECT "o"."id" FROM "public"."orders" AS "o"
SELECT id FROM orders WHERE placed_at::date = 'today'::date
SELECT sum(CASE WHEN amount > 1 THEN 1 ELSE 0 END) FROM orders
SELECT id, row_number() OVER () FROM orders
SELECT JSON_OBJECT('a' VALUE 1)
SELECT JSON_ARRAY(1, 2)
SELECT json_value('{"a":1}', '$.a')
SELECT * FROM JSON_TABLE('[1]', '$[*]' COLUMNS (a int PATH '$')) AS t
"#;

const MYSQL: &str = r#"
SELECT DATE_FORMAT(placed_at,'%Y-%m') m, COUNT(*) FROM orders GROUP BY m WITH ROLLUP
SELECT GROUP_CONCAT(DISTINCT name ORDER BY name SEPARATOR ', ') FROM departments
SELECT IF(amount>1,'a','b'), IFNULL(note,'') FROM `orders`
SELECT * FROM orders LIMIT 5, 10
SELECT CURDATE() - INTERVAL 1 MONTH, DATE_ADD(NOW(), INTERVAL 1 DAY), DATE_SUB(NOW(), INTERVAL '1:30' MINUTE_SECOND)
SELECT EXTRACT(YEAR_MONTH FROM placed_at), EXTRACT(DAY_HOUR FROM placed_at) FROM orders
SELECT VERSION(), DATABASE(), SCHEMA()
SELECT note REGEXP 'a', note NOT REGEXP 'b', note RLIKE 'c' FROM orders
SELECT note SOUNDS LIKE 'a' FROM orders
SELECT 5 DIV 2, 5 MOD 2, 1 XOR 0, 1 && 1, 1 || 0, !1, 1 <=> NULL
SELECT 5 & 3, 5 | 3, 5 ^ 3, 1 << 2, ~1
SELECT BINARY note, BINARY 'a' = 'A' FROM orders
SELECT CAST(id AS UNSIGNED), CAST(id AS SIGNED), CAST(id AS DECIMAL(10,2)), CAST(id AS CHAR), CAST(id AS CHAR CHARACTER SET utf8mb4) FROM orders
SELECT CAST(id AS UNSIGNED INTEGER), CAST(id AS DOUBLE), CAST(id AS FLOAT), CAST(placed_at AS DATE), CAST(placed_at AS DATETIME(3)), CAST(id AS BINARY) FROM orders
SELECT CAST(note AS JSON) FROM orders
SELECT CONVERT(id, CHAR), CONVERT(id, UNSIGNED), CONVERT(note USING utf8mb4) FROM orders
SELECT data->'$.a', data->>'$.a', JSON_EXTRACT(data, '$.a') FROM employees
SELECT t.a FROM employees, JSON_TABLE(data, '$[*]' COLUMNS (a INT PATH '$.a')) AS t
SELECT id FROM orders FORCE INDEX (PRIMARY) WHERE id = 1
SELECT id FROM orders USE INDEX (a, b) IGNORE INDEX FOR ORDER BY (c)
SELECT STRAIGHT_JOIN o.id FROM orders o JOIN employees e ON e.id = o.employee_id
SELECT o.id FROM orders o STRAIGHT_JOIN employees e ON e.id = o.employee_id
SELECT DISTINCTROW name FROM departments
SELECT 'a' 'b'
SELECT "double quoted text", "it's", 'it''s', 'it\'s'
SELECT x'41', 0x41, b'01', N'x', _utf8mb4'x' COLLATE utf8mb4_bin
SELECT TRUE, NULL
SELECT name FROM departments ORDER BY FIELD(name,'a','b'), RAND()
SELECT ROW_NUMBER() OVER w FROM orders WINDOW w AS (ORDER BY id)
SELECT COUNT(DISTINCT id, amount) FROM orders
VALUES ROW(1,2), ROW(3,4)
TABLE orders
TABLE orders ORDER BY id LIMIT 5
SELECT * FROM (SELECT 1 AS a) t JOIN (SELECT 2 AS b) u
SELECT * FROM orders o, LATERAL (SELECT o.id + 1 AS n) x
SELECT amount AS a FROM orders HAVING a > 1
SELECT 1 FROM DUAL
SELECT 1 FROM dual WHERE 1 = 1
SELECT TIMESTAMP('2024-01-01'), DATE '2024-01-01', TIME '10:00:00', TIMESTAMP '2024-01-01 00:00:00'
SELECT /*+ MAX_EXECUTION_TIME(1000) */ id FROM orders
SELECT SQL_NO_CACHE id FROM orders
SELECT id FROM orders LIMIT 10 OFFSET 5
SELECT JSON_ARRAYAGG(name), JSON_OBJECTAGG(id, name), ANY_VALUE(name), STD(id), BIT_OR(id) FROM departments
SELECT SUBSTRING_INDEX(note, ',', 1), TRIM(LEADING '0' FROM note), POSITION('a' IN note), INSERT(note, 1, 2, 'x'), LEFT(note, 3), MID(note, 1, 2) FROM orders
SELECT SUBSTRING(note FROM 2 FOR 3), SUBSTR(note, 2) FROM orders
SELECT id FROM orders WHERE (employee_id, amount) IN ((1, 2), (3, 4))
SELECT id FROM orders WHERE ROW(employee_id, amount) = ROW(1, 2)
SELECT name, SUM(budget) OVER (PARTITION BY city ORDER BY id ROWS UNBOUNDED PRECEDING) FROM departments
SELECT SUM(amount) OVER (ORDER BY placed_at RANGE BETWEEN INTERVAL 7 DAY PRECEDING AND CURRENT ROW) FROM orders
SELECT id FROM orders WHERE placed_at > '2024-01-01' - INTERVAL 1 DAY AND placed_at < DATE(NOW())
SELECT id FROM orders WHERE NOT note LIKE 'a%' ESCAPE '|'
SELECT MATCH (note) AGAINST ('a' IN BOOLEAN MODE) FROM orders
SELECT id FROM orders WHERE MATCH (note) AGAINST ('a')
SELECT id FROM orders UNION ALL SELECT id FROM departments ORDER BY id LIMIT 3
SELECT id FROM orders EXCEPT SELECT id FROM departments
SELECT id FROM orders INTERSECT SELECT id FROM departments
WITH RECURSIVE n AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM n WHERE x < 5) SELECT * FROM n
SELECT CASE WHEN amount > 1 THEN 'a' END AS kind, COUNT(*) FROM orders GROUP BY kind
SELECT YEAR(placed_at), MONTHNAME(placed_at), WEEK(placed_at, 1), QUARTER(placed_at), LAST_DAY(placed_at) FROM orders
SELECT UNIX_TIMESTAMP(), FROM_UNIXTIME(0), UTC_TIMESTAMP(), UTC_TIMESTAMP, SYSDATE(), NOW(3)
SELECT HEX('a'), MD5('a'), SHA2('a', 256), UUID(), INET_ATON('1.2.3.4')
SELECT GREATEST(1,2), LEAST(1,2), COALESCE(NULL,1), NULLIF(1,1), ISNULL(NULL)
SELECT id FROM hr.orders
SELECT hr.orders.id FROM hr.orders
SELECT o.* , e.name FROM orders AS o INNER JOIN employees AS e USING (id)
SELECT o.id FROM orders o NATURAL LEFT JOIN departments d
SELECT o.id FROM orders o CROSS JOIN departments d ON d.id = o.id
SELECT COUNT(*) c FROM orders GROUP BY YEAR(placed_at) ORDER BY NULL
SELECT id FROM orders ORDER BY amount IS NULL, amount DESC
SELECT id FROM orders WHERE note <> '' AND NOT (amount <=> NULL)
SELECT amount / 0, amount % 3, -amount, +amount FROM orders
SELECT id FROM orders WHERE amount IS NOT TRUE
SELECT COUNT(IF(amount > 1, 1, NULL)), SUM(amount > 1) FROM orders
SELECT 1e3, .5, 5., -1
SELECT CONCAT(name, ' ', city) AS `full name` FROM departments
SELECT name AS 'full name' FROM departments
SELECT name 'full name' FROM departments
SELECT name "full name" FROM departments
SELECT JSON_CONTAINS(data, '1', '$.a'), JSON_UNQUOTE(JSON_EXTRACT(data, '$.a')), 'a' MEMBER OF (data) FROM employees
SELECT CURRENT_TIMESTAMP, CURRENT_TIMESTAMP(), CURRENT_DATE, CURRENT_DATE(), CURRENT_TIME(), LOCALTIME, LOCALTIMESTAMP()
SELECT id FROM orders WHERE id BETWEEN 1 AND 3 OR id IN (SELECT id FROM departments)
SELECT id FROM orders WHERE amount > ALL (SELECT budget FROM departments)
SELECT id FROM orders WHERE amount = SOME (SELECT budget FROM departments)
SELECT * FROM orders WHERE EXISTS (SELECT * FROM departments)
SELECT CHAR(65), ASCII('a'), ORD('a'), BIN(5), OCT(8), CONV(10, 10, 2)
SELECT TRUNCATE(1.234, 2), ROUND(1.5), FLOOR(1.5), CEIL(1.5), MOD(5, 2), POW(2, 3)
SELECT FORMAT(1234.5, 2, 'de_DE')
SELECT LEAD(id) OVER (ORDER BY id), FIRST_VALUE(id) OVER (ORDER BY id) FROM orders
SELECT STR_TO_DATE('1,2,2024', '%d,%m,%Y'), TIMESTAMPDIFF(MONTH, placed_at, NOW()), DATEDIFF(NOW(), placed_at) FROM orders
SELECT GROUPING(name), name FROM departments GROUP BY name WITH ROLLUP
SELECT id AS total FROM orders ORDER BY total + 1
"#;

const MARIADB: &str = "
SELECT id FROM orders OFFSET 5 ROWS FETCH FIRST 5 ROWS ONLY
SELECT id FROM orders ORDER BY id FETCH FIRST 5 ROWS ONLY
SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY amount) OVER (PARTITION BY employee_id) FROM orders
SELECT MEDIAN(amount) OVER (PARTITION BY employee_id) FROM orders
SELECT NVL(note, 'x'), NVL2(note, 'a', 'b'), CHR(65) FROM orders
SELECT JSON_VALUE(data, '$.a'), JSON_QUERY(data, '$.a'), JSON_EXISTS(data, '$.a') FROM employees
";

const SQLITE: &str = r#"
SELECT rowid, * FROM orders
SELECT _rowid_, oid FROM orders
SELECT strftime('%Y-%m', placed_at), date('now','-7 days'), julianday('now') FROM orders
SELECT * FROM orders LIMIT 5 OFFSET 2
SELECT * FROM orders LIMIT 2, 5
SELECT note GLOB 'a*' FROM orders
SELECT note REGEXP 'a' FROM orders
SELECT iif(1,2,3), ifnull(note,''), typeof(note), total(amount), group_concat(note, ',') FROM orders
SELECT data ->> '$.a', data -> 'a', json_extract(data, '$.a') FROM employees
SELECT * FROM json_each('[1,2]')
SELECT j.value FROM orders, json_each(orders.tags) AS j
SELECT value FROM orders, json_each(orders.tags)
SELECT key, value FROM employees JOIN json_tree(employees.data) WHERE key = 'a'
SELECT value FROM generate_series(1, 5)
SELECT * FROM orders INDEXED BY idx WHERE id = 1
SELECT * FROM orders NOT INDEXED WHERE id = 1
SELECT amount IS 5, amount IS NOT 5, note ISNULL, note NOTNULL, note NOT NULL FROM orders
SELECT amount IS NOT DISTINCT FROM 5 FROM orders
SELECT 1 == 1, 1 <> 2, 1 != 2
SELECT [id], `id`, "id" FROM [orders]
SELECT CAST(amount AS INTEGER), CAST(amount AS REAL), CAST(amount AS NUMERIC), CAST(amount AS TEXT), CAST(amount AS BLOB), CAST(amount AS INT), CAST(amount AS FLOAT) FROM orders
SELECT x'41', 0x1F, 1e3, .5
SELECT (id, amount) = (1, 2), (id, amount) IN (SELECT id, budget FROM departments) FROM orders
SELECT id FROM orders WHERE (id, amount) IN (VALUES (1, 2), (3, 4))
VALUES (1,2),(3,4)
WITH RECURSIVE cnt(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM cnt WHERE x<10) SELECT x FROM cnt
WITH RECURSIVE d(day) AS (VALUES('2024-01-01') UNION ALL SELECT date(day, '+1 day') FROM d WHERE day < '2024-01-31') SELECT day FROM d
SELECT name FROM departments ORDER BY name COLLATE NOCASE DESC NULLS LAST
SELECT count(*) FILTER (WHERE amount > 1) FROM orders
SELECT sum(amount) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE TIES) FROM orders
SELECT sum(amount) FILTER (WHERE id > 1) OVER (ORDER BY id RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) FROM orders
SELECT 'a' LIKE 'b' ESCAPE 'x', 1 NOT BETWEEN 2 AND 3
SELECT current_date, CURRENT_TIMESTAMP, datetime('now','localtime'), unixepoch(), unixepoch('now', 'subsec')
SELECT abs(random()) % 10 FROM orders ORDER BY random() LIMIT 3
SELECT o.id FROM orders o FULL OUTER JOIN employees e ON o.employee_id = e.id
SELECT o.id FROM orders o RIGHT JOIN employees e ON o.employee_id = e.id
SELECT o.id FROM orders o CROSS JOIN employees e
SELECT id FROM orders NATURAL LEFT JOIN departments
SELECT id FROM orders JOIN departments USING (id)
SELECT max(id, 3), min(id, 3) FROM orders
SELECT count(*) FROM orders HAVING count(*) > 1
SELECT * FROM orders LIMIT -1
WITH t AS NOT MATERIALIZED (SELECT 1 AS a) SELECT a FROM t
SELECT id AS 'Order ID', name "Name" FROM departments
SELECT 'a' || 'b', 5 / 2, 5 % 2, 5 & 3, 5 | 3, 1 << 2, ~5, -id, +id FROM orders
SELECT lag(amount, 1, 0) OVER (PARTITION BY employee_id ORDER BY id) FROM orders
SELECT ROW_NUMBER() OVER (ORDER BY id) AS n FROM orders
SELECT substr(note, 1, 3), substring(note, 1, 3), instr(note, 'a'), trim(note, 'x'), replace(note, 'a', 'b'), upper(note) FROM orders
SELECT EXISTS(SELECT 1 FROM orders), NOT EXISTS(SELECT 1 FROM orders)
SELECT o.*, e.name FROM orders AS o, employees AS e WHERE o.employee_id = e.id
SELECT json_group_array(name), json_group_object(id, name), json_object('a', 1) FROM departments
SELECT main.orders.id FROM main.orders
SELECT CASE amount WHEN 1 THEN 'a' ELSE 'b' END FROM orders
SELECT coalesce(NULL, 1), nullif(1, 1), round(1.5, 1), char(65), hex('a'), quote('a'), unicode('a')
SELECT string_agg(name, ', ' ORDER BY name), group_concat(DISTINCT name) FROM departments
SELECT group_concat(name, ', ' ORDER BY id) FROM departments
SELECT sqlite_version()
SELECT name FROM departments UNION SELECT name FROM employees EXCEPT SELECT 'a' INTERSECT SELECT 'b'
SELECT id FROM orders WHERE note MATCH 'x'
SELECT TRUE, FALSE, NULL, id IS TRUE, id IS NOT FALSE FROM orders
SELECT CAST(strftime('%Y', placed_at) AS INTEGER) AS y, COUNT(*) FROM orders GROUP BY y HAVING y > 2000 ORDER BY y
SELECT percent_rank() OVER (ORDER BY id), ntile(4) OVER w, first_value(id) OVER w FROM orders WINDOW w AS (ORDER BY id)
SELECT id, amount FROM orders ORDER BY 2 DESC, 1
SELECT id FROM orders WHERE id = 1 OR id = 2 AND NOT id = 3
SELECT 'it''s', "it's"
SELECT date(placed_at, 'start of month', '+1 month', '-1 day'), time('now'), timediff('now', placed_at) FROM orders
SELECT EXTRACT(YEAR FROM placed_at) FROM orders
SELECT name ILIKE 'a%' FROM departments
SELECT amount::int FROM orders
SELECT CONCAT(name, ' ', city), CONCAT_WS(',', name, city) FROM departments
SELECT LEFT(name, 2), LENGTH(name), LTRIM(name), POSITION('a' IN name) FROM departments
SELECT IF(amount > 1, 'a', 'b') FROM orders
SELECT SUM(amount > 1), AVG(amount) FROM orders
"#;

#[test]
fn everyday_statements_pass() {
    for (dialects, list) in [
        (&[Dialect::Postgres][..], POSTGRES),
        (&[Dialect::MySql, Dialect::MariaDb], MYSQL),
        (&[Dialect::MariaDb], MARIADB),
        (&[Dialect::Sqlite], SQLITE),
    ] {
        for dialect in dialects {
            let visible = visible(*dialect, Rules::Open);
            let refused = list.lines().filter(|line| !line.is_empty()).filter_map(|sql| {
                let error = Guard::new(&visible).check(sql).err()?;
                Some(format!("{dialect} {sql}: {error}"))
            });
            assert_eq!(refused.collect::<Vec<_>>(), [""; 0]);
        }
    }
}
