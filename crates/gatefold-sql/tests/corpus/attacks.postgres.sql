-- insert
INSERT INTO orders (id) VALUES (99)
INSERT INTO orders SELECT * FROM orders WHERE false
-- update
UPDATE employees SET name = 'x'
UPDATE employees SET salary = 0 WHERE id = 1 RETURNING *
-- delete
DELETE FROM orders
DELETE FROM ONLY orders WHERE id = 1
-- merge
MERGE INTO orders USING (SELECT 1 AS id) s ON orders.id = s.id WHEN MATCHED THEN DELETE
-- a CTE that writes
WITH x AS (DELETE FROM orders RETURNING *) SELECT * FROM x
WITH x AS (UPDATE employees SET salary = 0 RETURNING id) SELECT count(*) FROM x
WITH x AS (INSERT INTO orders (id) VALUES (98) RETURNING id) SELECT id FROM x
WITH a AS (SELECT 1), b AS (DELETE FROM orders) SELECT 1
SELECT * FROM (WITH x AS (DELETE FROM orders RETURNING id) SELECT id FROM x) q
-- a CTE before a write
WITH x AS (SELECT 1) DELETE FROM orders
WITH x AS (SELECT 97 AS id) INSERT INTO orders (id) SELECT id FROM x
-- explain that runs
EXPLAIN ANALYZE DELETE FROM orders
EXPLAIN (ANALYZE, FORMAT JSON) UPDATE employees SET salary = 0
EXPLAIN ANALYZE SELECT pg_sleep(30)
-- select into
SELECT * INTO stolen FROM employees
SELECT 1 AS a INTO TEMP t1
SELECT id INTO UNLOGGED t2 FROM employees UNION SELECT 1
-- create table as
CREATE TABLE t3 AS SELECT * FROM employees
CREATE TEMP TABLE t4 AS TABLE employees
-- creating
CREATE VIEW v AS SELECT 1
CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'
CREATE EXTENSION dblink
CREATE ROLE evil SUPERUSER
CREATE TRIGGER t AFTER INSERT ON orders EXECUTE FUNCTION f()
-- dropping
DROP TABLE orders
DROP SCHEMA public CASCADE
DROP DATABASE hr
-- altering
ALTER TABLE orders ADD COLUMN x int
ALTER ROLE postgres PASSWORD 'x'
ALTER SYSTEM SET work_mem = '1GB'
-- truncating
TRUNCATE orders
-- granting
GRANT ALL ON orders TO PUBLIC
REVOKE ALL ON orders FROM PUBLIC
-- copying to and from programs and files
COPY employees TO '/tmp/out'
COPY orders FROM PROGRAM 'id'
COPY (SELECT 1) TO STDOUT
COPY (DELETE FROM orders RETURNING *) TO STDOUT
-- anonymous blocks
DO $$ BEGIN DELETE FROM orders; END $$
DO LANGUAGE plpgsql 'BEGIN PERFORM pg_sleep(100); END'
-- calling procedures
CALL p()
-- several statements
SELECT 1; DELETE FROM orders
SELECT 1;; SELECT 2
--;
SELECT 1
;
COMMIT
--;
-- transactions
BEGIN
COMMIT
ROLLBACK
SAVEPOINT a
SET TRANSACTION READ WRITE
-- leaving the read-only transaction
COMMIT; BEGIN READ WRITE; DELETE FROM orders
-- settings
SET statement_timeout = 0
SET SESSION AUTHORIZATION postgres
SET ROLE postgres
RESET ALL
SHOW ALL
SELECT set_config('statement_timeout', '0', false)
SELECT current_setting('data_directory')
SELECT pg_catalog.set_config('transaction_read_only', 'off', false)
-- prepared statements
PREPARE p AS DELETE FROM orders
EXECUTE p
DEALLOCATE ALL
-- cursors
DECLARE c CURSOR FOR SELECT * FROM employees
FETCH ALL FROM c
-- listen and notify
LISTEN x
NOTIFY x, 'y'
SELECT pg_notify('x', 'y')
-- locks on rows
SELECT id FROM orders FOR UPDATE
SELECT id FROM orders FOR SHARE NOWAIT
SELECT id FROM orders FOR NO KEY UPDATE
SELECT * FROM (SELECT id FROM orders FOR UPDATE) q
-- locks on tables
LOCK TABLE orders IN ACCESS EXCLUSIVE MODE
-- advisory locks
SELECT pg_advisory_lock(1)
SELECT pg_try_advisory_lock(1)
SELECT pg_advisory_xact_lock(id) FROM orders
-- sleeping
SELECT pg_sleep(100)
SELECT pg_sleep_for('5 minutes')
SELECT id FROM orders WHERE pg_sleep(id) IS NULL
SELECT pg_catalog."pg_sleep"(100)
SELECT 1 ORDER BY pg_sleep(100)
SELECT CASE WHEN true THEN pg_sleep(10) END
-- reading files
SELECT pg_read_file('/etc/passwd')
SELECT pg_read_binary_file('/etc/passwd')
SELECT * FROM pg_ls_dir('/')
SELECT pg_stat_file('/etc/passwd')
SELECT * FROM pg_ls_logdir()
-- functional notation
SELECT ('/etc/passwd'::text).pg_read_file
SELECT (SELECT 1::text).pg_sleep
SELECT (e).email FROM employees e
SELECT (email).upper FROM employees, (SELECT 1 AS upper) AS email
SELECT (x).pg_read_file FROM (SELECT '/etc/passwd' AS x) AS t, (SELECT 1 AS pg_read_file) AS x
SELECT (a.b).pg_sleep FROM (SELECT 1 AS b) AS a, (SELECT 1 AS pg_sleep) AS b
SELECT (jsonb_array_elements('[1]')).value
SELECT (e).salary FROM employees e
SELECT (e.*).salary FROM employees e
SELECT ('x').*
-- large objects
SELECT lo_import('/etc/passwd')
SELECT lo_export(1, '/tmp/x')
SELECT lo_create(0)
SELECT lo_unlink(1)
SELECT lo_from_bytea(0, 'x')
-- sequences
SELECT nextval('s')
SELECT setval('s', 1)
SELECT lastval()
-- ending other sessions
SELECT pg_terminate_backend(1)
SELECT pg_cancel_backend(pg_backend_pid())
-- managing the server
SELECT pg_reload_conf()
SELECT pg_rotate_logfile()
SELECT pg_switch_wal()
SELECT pg_create_restore_point('x')
SELECT pg_promote()
CHECKPOINT
-- replication slots
SELECT pg_create_physical_replication_slot('s')
SELECT pg_drop_replication_slot('s')
SELECT pg_logical_emit_message(false, 'a', 'b')
-- connecting elsewhere
SELECT * FROM dblink('host=127.0.0.1', 'DELETE FROM orders') AS t (a int)
SELECT dblink_exec('host=127.0.0.1', 'DROP TABLE orders')
-- running a text as a query
SELECT query_to_xml('DELETE FROM orders', true, true, '')
SELECT * FROM ts_stat('SELECT to_tsvector(token) FROM secrets')
SELECT ts_rewrite('a'::tsquery, 'SELECT 1, 2')
SELECT * FROM crosstab('SELECT token, 1, 2 FROM secrets') AS c (a text, b int)
SELECT cursor_to_xml('c', 1, true, true, '')
SELECT schema_to_xml('public', true, true, '')
SELECT table_to_xml('secrets', true, true, '')
SELECT database_to_xml(true, true, '')
SELECT xpath_table('id', 'token', 'secrets', '/', 'true')
-- system catalogues
SELECT * FROM pg_catalog.pg_class
SELECT * FROM pg_authid
SELECT usename, passwd FROM pg_shadow
SELECT * FROM pg_stat_activity
SELECT query FROM pg_stat_statements
SELECT most_common_vals FROM pg_stats WHERE tablename = 'secrets'
SELECT * FROM pg_settings
TABLE pg_user
-- information schema
SELECT * FROM information_schema.tables
SELECT column_name FROM information_schema.columns WHERE table_name = 'employees'
-- denied tables
SELECT * FROM secrets
SELECT token FROM public.secrets
TABLE secrets
SELECT * FROM employees e, secrets s
SELECT id FROM orders WHERE note IN (SELECT token FROM secrets)
SELECT (SELECT max(token) FROM secrets)
SELECT * FROM "secrets"
SELECT * FROM ONLY secrets
SELECT id FROM orders UNION SELECT id FROM secrets
WITH x AS (SELECT * FROM secrets) SELECT * FROM x
WITH secrets AS (SELECT * FROM secrets) SELECT * FROM secrets
SELECT 1 FROM orders LEFT JOIN secrets USING (id)
SELECT e.id FROM employees e, LATERAL (SELECT token FROM secrets s WHERE s.id = e.id) x
SELECT count(*) FROM hr.public.secrets
-- names that a scope does not hold
SELECT secrets.token FROM orders
SELECT * FROM (WITH q AS (SELECT 1) SELECT * FROM q) x, q
WITH "SECRETS" AS (SELECT 1 AS token) SELECT token FROM secrets
-- telling whether a table exists
SELECT 'secrets'::regclass
SELECT CAST('secrets' AS regclass)
SELECT regclass 'secrets'
SELECT to_regclass('secrets')
SELECT has_table_privilege('secrets', 'SELECT')
SELECT pg_relation_size('secrets')
SELECT 'pg_sleep'::regproc
SELECT '{secrets}'::regclass[]
SELECT pg_get_viewdef('v')
SELECT col_description(1, 1)
SELECT row_security_active('secrets')
SELECT NULL::secrets
SELECT jsonb_populate_record(NULL::employees, '{}')
-- hidden columns
SELECT salary FROM employees
SELECT e.salary FROM employees e
SELECT "salary" FROM employees
SELECT id FROM employees WHERE salary > 5000
SELECT id FROM employees ORDER BY salary
SELECT max(salary) FROM employees
SELECT public.employees.salary FROM employees
SELECT * FROM employees JOIN (SELECT 9000.00 AS salary) s USING (salary)
SELECT id FROM employees WHERE (SELECT salary > 1)
SELECT s FROM employees AS t (a, b, c, d, e, f, g, s)
SELECT row_number() OVER (PARTITION BY salary) FROM employees
SELECT (SELECT salary FROM orders LIMIT 1) FROM employees
-- masked columns
SELECT lower(email) FROM employees
SELECT email::bytea FROM employees
SELECT id FROM employees WHERE email = 'ada@corp.example'
SELECT id FROM employees ORDER BY email
SELECT email, id FROM employees ORDER BY 1
SELECT email FROM employees GROUP BY email
SELECT DISTINCT email FROM employees
SELECT email FROM employees EXCEPT SELECT 'a'
SELECT substr(x, 1, 1) FROM (SELECT email AS x FROM employees) q
SELECT id FROM employees WHERE EXISTS (SELECT 1 FROM (VALUES ('ada@corp.example')) v (x) WHERE x = email)
SELECT max(e.email) FROM employees e
SELECT json_agg(email) FROM employees
WITH RECURSIVE a AS (SELECT upper(x) AS y FROM c), c AS (SELECT email AS x FROM employees) SELECT y FROM a
-- whole rows
SELECT e FROM employees e
SELECT row_to_json(e) FROM employees e
SELECT e::text FROM employees e
SELECT count(DISTINCT e) FROM employees e
SELECT e.*::text FROM employees e
SELECT to_jsonb(e.*) FROM employees e
SELECT id FROM employees e WHERE e IS NOT NULL
SELECT array_agg(employees) FROM employees
SELECT id FROM employees e ORDER BY e
SELECT hstore(e) FROM employees e
-- natural joins
SELECT a.id FROM employees a NATURAL JOIN employees b
SELECT a.id FROM employees a JOIN (SELECT 'ada@corp.example'::text AS email) b USING (email)
-- system columns
SELECT ctid, xmin FROM orders
SELECT tableoid::regclass FROM orders
-- operators by schema
SELECT 1 OPERATOR(pg_catalog.+) 1
SELECT 1 OPERATOR(evil.+) 1
-- functions by schema
SELECT public.f()
SELECT evil.upper('x')
-- functions that are not built in
SELECT f(1)
SELECT * FROM f(1)
SELECT my_delete_all()
-- endless recursion through functions
SELECT pg_stat_reset()
SELECT txid_current()
SELECT pg_export_snapshot()
SELECT setseed(0.5)
-- series to the sky
SELECT count(*) FROM generate_series(1, 10000000000)
SELECT generate_series(1, 1000000 * 1000000)
SELECT * FROM generate_series(1, 9e15::bigint, 1)
-- texts of any size
SELECT repeat('x', 1000000000)
SELECT length(repeat('x', 1000 * 1000 * 1000))
SELECT lpad('x', 1000000000)
SELECT rpad('x', '1000000000'::int, 'y')
SELECT format('%1000000000s', 'x')
SELECT repeat('x', (SELECT 1000000000))
SELECT repeat('x', power(10, 9)::int)
SELECT array_fill(0, ARRAY[100000000])
-- factorials
SELECT 100000 !
SELECT factorial(100000)
-- parameters
SELECT $1
SELECT * FROM orders WHERE id = $1
-- comments that split tokens
DEL/**/ETE FROM orders
SELECT pg_/**/sleep(1)
SELECT pg_sleep/* */(1)
/* SELECT 1 */ DELETE FROM orders
/* /* */ DELETE FROM orders; */ DELETE FROM orders
--;
-- SELECT 1
DELETE FROM orders
--;
-- names with escapes
SELECT * FROM U&"s\0065crets"
SELECT U&"s\0061lary" FROM employees
SELECT U&"pg\005fsleep"(1)
-- strings that end early
SELECT 'a\'; DELETE FROM orders; --'
SELECT E'a\'; DELETE FROM orders; --
SELECT $$a$$; DELETE FROM orders
SELECT $a$ $b$ $a$; DELETE FROM orders; SELECT $b$ $b$
-- maintenance
VACUUM FULL
ANALYZE
REINDEX TABLE orders
CLUSTER orders
REFRESH MATERIALIZED VIEW m
-- loading code
LOAD 'evil.so'
-- importing schemas
IMPORT FOREIGN SCHEMA public FROM SERVER s INTO public
-- security labels and comments
COMMENT ON TABLE orders IS 'x'
SECURITY LABEL ON TABLE orders IS 'x'
-- sessions and roles
SELECT session_user
SELECT pg_backend_pid()
SELECT inet_server_addr()
-- discarding
DISCARD ALL
-- nothing at all
;
--;

--;
-- words that the database does not know
HANDLER orders OPEN
PRAGMA writable_schema = 1
-- deep nesting
--;
SELECT ((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((1))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))
--;
-- chains of operators
SELECT - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - 1
SELECT 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1
