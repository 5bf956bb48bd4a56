-- insert: writes
INSERT INTO orders (id) VALUES (99)
INSERT INTO orders SELECT id + 100 FROM orders
INSERT INTO orders (id) VALUES (1) ON CONFLICT (id) DO UPDATE SET note = 'x'
-- update: writes
UPDATE employees SET name = 'x'
UPDATE employees SET salary = 0 WHERE id = 1 RETURNING *
UPDATE orders SET note = e.name FROM employees e WHERE e.id = orders.employee_id
-- delete: writes
DELETE FROM orders
DELETE FROM ONLY orders WHERE id = 1
DELETE FROM orders USING employees WHERE employees.id = orders.employee_id
-- merge: writes
MERGE INTO orders USING (SELECT 1 AS id) s ON orders.id = s.id WHEN MATCHED THEN DELETE
-- a CTE that writes: writes
WITH x AS (DELETE FROM orders RETURNING *) SELECT * FROM x
WITH x AS (UPDATE employees SET salary = 0 RETURNING id) SELECT count(*) FROM x
WITH x AS (INSERT INTO orders (id) VALUES (98) RETURNING id) SELECT id FROM x
WITH a AS (SELECT 1), b AS (DELETE FROM orders) SELECT 1
WITH RECURSIVE a AS (SELECT 1), b AS (UPDATE orders SET note = 'x' RETURNING 1) SELECT * FROM a, b
-- a CTE before a write: writes
WITH x AS (SELECT 1) DELETE FROM orders
WITH x AS (SELECT 97 AS id) INSERT INTO orders (id) SELECT id FROM x
WITH x AS (SELECT 1 AS id) UPDATE orders SET note = 'x' FROM x WHERE x.id = orders.id
-- explain that runs: writes
EXPLAIN ANALYZE DELETE FROM orders
EXPLAIN (ANALYZE, FORMAT JSON) UPDATE employees SET salary = 0
EXPLAIN (ANALYZE) SELECT harm()
EXPLAIN ANALYZE CREATE TABLE t9 AS SELECT 1
-- select into: writes
SELECT * INTO stolen FROM employees
SELECT id INTO UNLOGGED t2 FROM employees UNION SELECT 1
-- create table as: writes
CREATE TABLE t3 AS SELECT * FROM employees
CREATE MATERIALIZED VIEW m2 AS SELECT * FROM employees
-- creating tables and views: writes
CREATE TABLE t4 (a integer)
CREATE VIEW v AS SELECT 1
CREATE INDEX i ON orders (note)
-- creating code: writes
CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'
CREATE TRIGGER t AFTER INSERT ON orders EXECUTE FUNCTION noted()
CREATE RULE r AS ON INSERT TO orders DO ALSO DELETE FROM departments
CREATE EXTENSION hstore
-- creating schemas, types and roles: writes
CREATE SCHEMA evil
CREATE TYPE mood AS ENUM ('bad')
CREATE ROLE {name}_evil SUPERUSER
-- dropping: writes
DROP TABLE keyed
DROP TABLE orders CASCADE
DROP VIEW peek
DROP SCHEMA public CASCADE
DROP FUNCTION harm_freed()
-- altering: writes
ALTER TABLE orders ADD COLUMN x int
ALTER TABLE orders RENAME TO o2
ALTER ROLE {reader} CREATEDB
ALTER DATABASE {name} SET work_mem = '1GB'
ALTER SEQUENCE s RESTART WITH 40
-- truncating: writes
TRUNCATE orders
TRUNCATE TABLE ONLY orders RESTART IDENTITY
-- granting: writes
GRANT ALL ON secrets TO PUBLIC
GRANT pg_read_server_files TO {reader}
ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO PUBLIC
-- comments on objects: writes
COMMENT ON TABLE orders IS 'x'
-- anonymous blocks: writes
DO $$ BEGIN DELETE FROM orders; END $$
DO LANGUAGE plpgsql 'BEGIN EXECUTE ''DROP TABLE keyed''; END'
-- calling procedures: writes
CALL harm_and_commit()
-- functions that write: writes
SELECT harm()
SELECT * FROM harm()
SELECT id FROM departments WHERE harm() = 1
SELECT 1 ORDER BY harm()
SELECT CASE WHEN true THEN harm() END
SELECT (SELECT harm())
SELECT count(*) FILTER (WHERE harm() = 1) FROM departments
SELECT 1 LIMIT harm()
VALUES (harm())
-- functions of an owner that write: writes
SELECT harm_as_owner()
SELECT public."harm_as_owner"()
SELECT * FROM departments d, LATERAL harm_as_owner() h
-- functions that run a text: writes
SELECT harm_in_text('DELETE FROM orders')
SELECT query_to_xml('SELECT harm()', true, true, '')
SELECT * FROM crosstab('SELECT harm(), 1, 2') AS c (a integer, b integer)
SELECT * FROM ts_stat('SELECT to_tsvector(harm()::text)')
-- functions that lift the transaction: writes
SELECT harm_freed()
-- aggregates that write: writes
SELECT harm_all(id) FROM departments
SELECT harm_all(id) OVER () FROM departments
-- operators that write: writes
SELECT !!! 1
SELECT OPERATOR(public.!!!) 1
-- casts that write: writes
SELECT ROW(1)::boxed::integer
SELECT CAST(ROW(1)::boxed AS integer)
-- functional notation: writes
SELECT (d.id).harm_of FROM departments d
SELECT (1).harm_of
-- sequences: writes
SELECT nextval('s')
SELECT setval('s', 40)
SELECT id, nextval('public.s'::regclass) FROM departments
-- large objects: writes
SELECT lo_create(0)
SELECT lo_unlink(4711)
SELECT lo_from_bytea(0, 'x')
SELECT lo_put(4711, 0, 'changed')
SELECT lo_truncate(lo_open(4711, 131072), 1)
-- files into large objects: writes
SELECT lo_import('{planted}')
-- copying into tables: writes
COPY departments (name, id) FROM PROGRAM 'printf "x\t77\n"'
COPY departments (name, id) FROM PROGRAM 'printf "x,78\n"' WITH (FORMAT csv)
-- refreshing: writes
DELETE FROM orders; REFRESH MATERIALIZED VIEW m
-- several statements: writes
SELECT 1; DELETE FROM orders
SELECT 1;;; DELETE FROM orders
--;
SELECT 1
;
DELETE FROM orders
--;
-- leaving the transaction: writes
COMMIT; DELETE FROM orders
ROLLBACK; BEGIN READ WRITE; DELETE FROM orders; COMMIT
END; SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE; DELETE FROM orders
ABORT; DELETE FROM orders
SET TRANSACTION READ WRITE; DELETE FROM orders; COMMIT
-- leaving the transaction behind a query: writes
SELECT 1; COMMIT; DELETE FROM orders; --
-- prepared statements: writes
PREPARE p AS DELETE FROM orders; EXECUTE p
-- comments that split tokens: writes
/* SELECT 1 */ DELETE FROM orders
/* /* */ SELECT 1; */ DELETE FROM orders
WITH/**/x/**/AS/**/(DELETE/**/FROM/**/orders/**/RETURNING/**/1)/**/SELECT/**/1
--;
-- SELECT 1
DELETE FROM orders
--;
-- strings that end early: writes
SELECT 'a\'; DELETE FROM orders; --'
SELECT E'a\'' ; DELETE FROM orders; --'
SELECT $$a$$; DELETE FROM orders
SELECT $a$ $b$ $a$; DELETE FROM orders; SELECT $b$ $b$
SELECT U&'a\0027'; DELETE FROM orders
-- names with escapes: writes
SELECT U&"h\0061rm"()
SELECT "harm"()
-- connecting elsewhere: writes
SELECT dblink_exec('{dblink}', 'DELETE FROM orders')
SELECT * FROM dblink('{dblink}', 'DELETE FROM orders RETURNING id') AS t (a int)
SELECT dblink_connect('c', '{dblink}'), dblink_exec('c', 'DELETE FROM orders')
SELECT dblink_send_query('d', 'DELETE FROM orders'), dblink_get_result('d') FROM dblink_connect('d', '{dblink}')
-- two-phase commit and savepoints: writes
SAVEPOINT a; DELETE FROM orders; RELEASE a
BEGIN; DELETE FROM orders; COMMIT
-- replication slots: writes
SELECT pg_create_physical_replication_slot('{name}_slot')
-- copying to files: writes_file
COPY employees TO '{file}'
COPY (SELECT * FROM secrets) TO '{file}'
COPY (SELECT 1) TO PROGRAM 'cat > {file}'
COPY departments FROM PROGRAM 'touch {file}'
-- exporting large objects: writes_file
SELECT lo_export(4711, '{file}')
SELECT lo_export(loid, '{file}') FROM (SELECT 4711::oid AS loid) AS l
-- several statements, one to a file: writes_file
SELECT 1; COPY (SELECT 1) TO '{file}'
-- functions that copy to files: writes_file
SELECT harm_in_text('COPY employees TO ''{file}''')
SELECT query_to_xml('SELECT lo_export(4711, ''{file}'')', true, true, '')
-- reading files: reads_file
SELECT pg_read_file('{planted}')
SELECT pg_read_file('{planted}', 0, 100)
SELECT convert_from(pg_read_binary_file('{planted}'), 'UTF8')
SELECT pg_catalog."pg_read_file"('{planted}')
SELECT id FROM orders WHERE id = 1 OR pg_read_file('{planted}')::integer = 1
-- reading files through functional notation: reads_file
SELECT ('{planted}'::text).pg_read_file
SELECT (x.path).pg_read_file FROM (SELECT '{planted}'::text AS path) AS x
-- listing folders: reads_file
SELECT * FROM pg_ls_dir('.') AS f WHERE f LIKE '%planted%'
-- running a text that reads a file: reads_file
SELECT query_to_xml('SELECT pg_read_file(''{planted}'')', true, true, '')
-- denied tables: reveals
SELECT * FROM secrets
SELECT token FROM public.secrets
TABLE secrets
SELECT * FROM employees e, secrets s
SELECT id FROM orders WHERE note IN (SELECT token FROM secrets) OR EXISTS (SELECT 1 FROM secrets)
SELECT (SELECT max(token) FROM secrets)
SELECT * FROM "secrets"
SELECT * FROM ONLY secrets
SELECT id::text FROM orders UNION SELECT token FROM secrets
WITH x AS (SELECT * FROM secrets) SELECT * FROM x
WITH secrets AS (SELECT * FROM secrets) SELECT * FROM secrets
SELECT token FROM orders LEFT JOIN secrets USING (id)
SELECT e.id, x.token FROM employees e, LATERAL (SELECT token FROM secrets s WHERE s.id = e.id) x
-- denied tables by their whole name: reveals
SELECT count(*) FROM {name}.public.secrets
SELECT * FROM U&"s\0065crets"
-- views over denied tables: reveals
SELECT * FROM peek
SELECT token FROM public.peek
-- views over hidden columns: reveals
SELECT salary FROM paid
-- functions of an owner that reveal: reveals
SELECT secret_as_owner(1)
-- tables as texts of functions: reveals
SELECT table_to_xml('secrets', true, true, '')
SELECT query_to_xml('SELECT * FROM secrets', true, true, '')
SELECT schema_to_xml('public', true, true, '')
SELECT * FROM ts_stat('SELECT to_tsvector(token) FROM secrets')
SELECT * FROM crosstab('SELECT token, 1, 2 FROM secrets') AS c (a text, b int)
SELECT ts_rewrite('a'::tsquery, 'SELECT ''a''::tsquery, plainto_tsquery(token) FROM secrets')
-- denied tables elsewhere: reveals
SELECT * FROM dblink('{dblink}', 'SELECT token FROM secrets') AS t (a text)
-- pages of a table: reveals
SELECT encode(get_raw_page('secrets', 0), 'escape')
-- cursors: reveals
DECLARE c CURSOR WITH HOLD FOR SELECT * FROM secrets; FETCH ALL FROM c
-- telling whether a table exists: reveals
SELECT 'secrets'::regclass
SELECT CAST('secrets' AS regclass)
SELECT regclass 'secrets'
SELECT to_regclass('secrets')
SELECT '{secrets}'::regclass[]
SELECT NULL::secrets
SELECT pg_relation_size('secrets')
SELECT has_table_privilege('secrets', 'SELECT')
SELECT row_security_active('secrets')
SELECT jsonb_populate_record(NULL::secrets, '{}')
-- system catalogues: reveals
SELECT relname FROM pg_catalog.pg_class WHERE relkind = 'r' AND relname !~ '^(pg|sql)_'
SELECT attname FROM pg_attribute WHERE attrelid::regclass::text = 'secrets'
SELECT tablename FROM pg_tables WHERE schemaname = 'public'
SELECT schemaname, relname FROM pg_stat_user_tables
-- definitions: reveals
SELECT pg_get_viewdef('peek')
SELECT definition FROM pg_views WHERE viewname = 'peek'
-- statistics of values: reveals
SELECT most_common_vals, histogram_bounds FROM pg_stats WHERE tablename IN ('secrets', 'vault')
-- information schema: reveals
SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'
SELECT column_name FROM information_schema.columns WHERE table_name = 'secrets'
-- hidden columns: reveals
SELECT salary FROM employees
SELECT e.salary FROM employees e
SELECT "salary" FROM employees
SELECT max(salary) FROM employees
SELECT public.employees.salary FROM employees
SELECT s FROM employees AS t (a, b, c, s)
SELECT U&"s\0061lary" FROM employees
-- hidden columns in conditions: reveals
SELECT id FROM employees WHERE salary > 5000
SELECT id FROM employees ORDER BY salary
SELECT * FROM departments WHERE (SELECT bool_or(salary > 11000) FROM employees)
SELECT id FROM employees JOIN (SELECT 9000.00 AS salary) s USING (salary)
-- hidden columns in groups and windows: reveals
SELECT count(*) FROM employees GROUP BY salary
SELECT id, row_number() OVER (ORDER BY salary) FROM employees
-- hidden columns from outside: reveals
SELECT (SELECT salary FROM orders LIMIT 1) FROM employees
-- masked columns: reveals
SELECT lower(email) FROM employees
SELECT email::bytea FROM employees
SELECT max(e.email) FROM employees e
SELECT json_agg(email) FROM employees
SELECT substr(x, 1, 1) FROM (SELECT email AS x FROM employees) q
-- masked columns in conditions: reveals
SELECT id FROM employees WHERE email = 'ada@corp.example'
SELECT id FROM employees ORDER BY email
SELECT email, id FROM employees ORDER BY 1
SELECT id FROM employees WHERE EXISTS (SELECT 1 FROM (VALUES ('ada@corp.example')) v (x) WHERE x = email)
-- masked columns in sets and groups: reveals
SELECT count(*) FROM employees GROUP BY email
SELECT count(*) FROM (SELECT DISTINCT email FROM employees) q
SELECT email FROM employees EXCEPT SELECT 'a'
-- whole rows: reveals
SELECT e FROM employees e
SELECT row_to_json(e) FROM employees e
SELECT e::text FROM employees e
SELECT to_jsonb(e.*) FROM employees e
SELECT array_agg(employees) FROM employees
SELECT id FROM employees e ORDER BY (e.salary, e.id)
-- fields of a row: reveals
SELECT (e).salary FROM employees e
SELECT (e.*).salary FROM employees e
SELECT (e).email FROM employees e
-- natural joins: reveals
SELECT a.id FROM employees a NATURAL JOIN (SELECT 9000.00::numeric(10, 2) AS salary) b
SELECT a.id FROM employees a JOIN (SELECT 'ada@corp.example'::text AS email) b USING (email)
-- passwords: reveals
SELECT passwd FROM pg_shadow
SELECT rolpassword FROM pg_authid
-- what others run: reveals
SELECT query FROM pg_stat_activity WHERE query LIKE '%tok-7f3a%'
-- settings: changes_session
SET statement_timeout = 7
SET SESSION work_mem = '1GB'
SELECT set_config('statement_timeout', '7s', false)
SELECT pg_catalog.set_config('search_path', 'evil', false)
SELECT id FROM orders WHERE set_config('work_mem', '1GB', false) = 'x'
UPDATE pg_settings SET setting = '1GB' WHERE name = 'work_mem'
-- acting as another role: changes_session
SET SESSION AUTHORIZATION {reader}
SET ROLE {reader}
-- listening: changes_session
LISTEN x
-- statements and cursors that stay: changes_session
PREPARE p AS DELETE FROM orders
DECLARE c CURSOR WITH HOLD FOR SELECT * FROM employees
-- temporary tables that stay: changes_session
CREATE TEMP TABLE employees AS SELECT 1 AS id
SELECT 1 AS a INTO TEMP t1
-- locks on rows: locks
SELECT id FROM orders FOR UPDATE
SELECT id FROM orders FOR SHARE NOWAIT
SELECT id FROM orders FOR NO KEY UPDATE
SELECT * FROM (SELECT id FROM orders FOR UPDATE) q
WITH q AS (SELECT id FROM orders FOR KEY SHARE) SELECT * FROM q
-- locks on tables: locks
LOCK TABLE orders IN ACCESS EXCLUSIVE MODE
LOCK orders
-- advisory locks: locks
SELECT pg_advisory_lock(1)
SELECT pg_try_advisory_lock(1)
SELECT pg_advisory_xact_lock(id) FROM orders
SELECT pg_advisory_lock_shared(7, 7)
-- ending other sessions: ends_others
SELECT pg_terminate_backend({victim})
SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = {victim}
SELECT ({victim}).pg_terminate_backend
-- sleeping: hangs
SELECT pg_sleep(100)
SELECT pg_sleep_for('5 minutes')
SELECT pg_sleep_until('infinity')
SELECT id FROM orders WHERE pg_sleep(9) IS NULL
SELECT pg_catalog."pg_sleep"(100)
SELECT id FROM orders ORDER BY pg_sleep(9)::text
SELECT CASE WHEN true THEN pg_sleep(10) END
SELECT (20).pg_sleep
DO LANGUAGE plpgsql 'BEGIN PERFORM pg_sleep(100); END'
EXPLAIN ANALYZE SELECT pg_sleep(30)
-- series to the sky: hangs
SELECT count(*) FROM generate_series(1, 10000000000)
SELECT sum(n) FROM (SELECT generate_series(1, 1000000 * 10000::bigint) AS n) AS q
SELECT count(*) FROM generate_series('0001-01-01'::timestamp, '9999-01-01', '1 second')
-- endless recursion: hangs
WITH RECURSIVE x (i) AS (SELECT 1::bigint UNION ALL SELECT i + 1 FROM x) SELECT count(*) FROM x
WITH RECURSIVE x (i) AS (SELECT 1 UNION ALL SELECT i % 7 FROM x) SELECT max(i) FROM x
-- products of tables: hangs
SELECT count(*) FROM big a, big b, big c
SELECT count(*) FROM big a CROSS JOIN big b CROSS JOIN big c WHERE a.text || b.text LIKE '%' || c.text
SELECT max(a.id * b.id) FROM big a, big b, big c, big d
-- functions without end: hangs
SELECT harm_endless()
-- regular expressions: hangs
SELECT count(*) FROM big a, big b, big c WHERE a.text ~ (b.text || '(a|b|ab)*' || c.text)
-- waiting for another: hangs
SELECT dblink_exec('{dblink}', 'DO ''BEGIN PERFORM pg_sleep(20); END''')
-- large numbers: hangs
SELECT count(*) FROM big a, big b WHERE factorial(a.id + 20000) > b.id
-- texts of any size: eats_memory
SELECT length(repeat('x', 100000000))
SELECT length(lpad('x', 100000000))
SELECT length(rpad('x', '100000000'::int, 'y'))
SELECT length(format('%100000000s', 'x'))
SELECT length(repeat('x', (SELECT 100000000)))
SELECT length(repeat('x', power(10, 8)::int))
SELECT length(replace(repeat('x', 4000000), 'x', repeat('y', 100)))
-- arrays of any size: eats_memory
SELECT cardinality(array_fill(0, ARRAY[100000000]))
SELECT cardinality(array_agg(g)) FROM generate_series(1, 10000000) AS g
-- aggregates of any size: eats_memory
SELECT length(string_agg(repeat('x', 1000000), '')) FROM generate_series(1, 120)
