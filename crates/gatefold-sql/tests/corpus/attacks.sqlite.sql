-- insert
INSERT INTO orders (id) VALUES (99)
INSERT OR REPLACE INTO orders (id) VALUES (1)
INSERT INTO orders DEFAULT VALUES
-- replace
REPLACE INTO orders (id) VALUES (1)
-- update
UPDATE employees SET name = 'x'
UPDATE OR IGNORE employees SET salary = 0
UPDATE employees SET name = o.note FROM orders o
-- delete
DELETE FROM orders
DELETE FROM main.orders WHERE id = 1 RETURNING *
-- a CTE before a write
WITH x AS (SELECT 1) DELETE FROM orders
WITH x AS (SELECT 98 AS id) INSERT INTO orders (id) SELECT id FROM x
WITH x AS (SELECT 1) UPDATE orders SET note = 'x'
-- a write within a query
WITH x AS (DELETE FROM orders RETURNING id) SELECT id FROM x
SELECT * FROM (DELETE FROM orders RETURNING id)
-- explain
EXPLAIN DELETE FROM orders
EXPLAIN QUERY PLAN SELECT * FROM secrets
EXPLAIN SELECT 1
-- attaching
ATTACH DATABASE '/tmp/evil.db' AS evil
ATTACH '/etc/passwd' AS p
DETACH DATABASE main
-- pragmas
PRAGMA writable_schema = 1
PRAGMA query_only = OFF
PRAGMA main.journal_mode = DELETE
PRAGMA table_info(secrets)
PRAGMA temp_store_directory = '/tmp'
-- pragmas as tables
SELECT * FROM pragma_table_info('secrets')
SELECT name FROM pragma_table_list
SELECT * FROM pragma_database_list()
SELECT * FROM pragma_function_list
SELECT * FROM main.pragma_table_info('employees')
-- vacuum
VACUUM
VACUUM INTO '/tmp/copy.db'
-- creating
CREATE TABLE t (a)
CREATE TABLE t AS SELECT * FROM employees
CREATE TEMP VIEW v AS SELECT 1
CREATE TRIGGER t AFTER INSERT ON orders BEGIN DELETE FROM orders; END
CREATE VIRTUAL TABLE t USING fts5(a)
CREATE INDEX i ON orders (id)
-- dropping
DROP TABLE orders
DROP TABLE IF EXISTS main.orders
DROP VIEW v
-- altering
ALTER TABLE orders RENAME TO o2
ALTER TABLE orders ADD COLUMN x
ALTER TABLE orders DROP COLUMN note
-- maintenance
ANALYZE
REINDEX
REINDEX orders
-- transactions
BEGIN IMMEDIATE
BEGIN EXCLUSIVE TRANSACTION
COMMIT
END TRANSACTION
ROLLBACK
SAVEPOINT a
RELEASE a
-- leaving the read-only transaction
COMMIT; DELETE FROM orders
-- several statements
SELECT 1; DELETE FROM orders
SELECT 1;SELECT 2
--;
SELECT 1
;
DELETE FROM orders
--;
-- loading code
SELECT load_extension('/tmp/evil.so')
SELECT "load_extension"('/tmp/evil')
SELECT load_extension ( 'x' , 'y' )
SELECT [load_extension]('x')
-- writing files
SELECT writefile('/tmp/x', 'y')
SELECT writefile('/tmp/x', data) FROM employees
-- reading files
SELECT readfile('/etc/passwd')
SELECT * FROM fsdir('/')
SELECT lsdir('/')
-- starting an editor
SELECT edit('x', 'sh')
-- tokenizers by pointer
SELECT fts3_tokenizer('simple', x'4141414141414141')
SELECT fts3_tokenizer('simple')
-- optimising full text
SELECT fts5(x'00')
SELECT optimize('t')
-- the catalogue
SELECT * FROM sqlite_master
SELECT sql FROM sqlite_schema
SELECT * FROM main.sqlite_master
SELECT * FROM sqlite_temp_master
SELECT * FROM "sqlite_master"
SELECT * FROM [sqlite_schema]
SELECT * FROM 'sqlite_master'
SELECT * FROM temp.sqlite_schema
-- statistics and sequences
SELECT * FROM sqlite_stat1
SELECT * FROM sqlite_sequence
-- tables of the engine
SELECT * FROM dbstat
SELECT * FROM sqlite_dbpage
SELECT * FROM bytecode('SELECT 1')
SELECT * FROM tables_used('SELECT * FROM secrets')
SELECT * FROM stmt
SELECT * FROM sqlite_dbdata
-- functions that are tables
SELECT * FROM json_each
SELECT * FROM generate_series
-- denied tables
SELECT * FROM secrets
SELECT token FROM main.secrets
SELECT * FROM employees e, secrets s
SELECT id FROM orders WHERE note IN (SELECT token FROM secrets)
SELECT (SELECT max(token) FROM secrets)
SELECT * FROM [secrets]
SELECT * FROM `SECRETS`
SELECT * FROM 'secrets'
SELECT id FROM orders UNION SELECT id FROM secrets
WITH x AS (SELECT * FROM secrets) SELECT * FROM x
SELECT * FROM orders NATURAL JOIN secrets
SELECT * FROM orders LEFT JOIN secrets USING (id)
SELECT * FROM (secrets)
SELECT 1 WHERE 'x' IN secrets
SELECT id FROM orders WHERE note IN main.secrets
SELECT * FROM secrets('x')
TABLE secrets
WITH RECURSIVE x AS (SELECT 1 AS i UNION ALL SELECT s.id FROM x, secrets s LIMIT 5) SELECT * FROM x
-- names that a scope does not hold
SELECT secrets.token FROM orders
SELECT * FROM (WITH q AS (SELECT 1) SELECT * FROM q) x, q
-- hidden columns
SELECT salary FROM employees
SELECT e.salary FROM employees e
SELECT "salary" FROM employees
SELECT [Salary] FROM main.employees
SELECT main.employees.salary FROM employees
SELECT 'x' || `SALARY` FROM employees
SELECT id FROM employees WHERE salary > 5000
SELECT id FROM employees ORDER BY salary
SELECT id FROM employees GROUP BY salary
SELECT max(salary) FROM employees
SELECT (SELECT salary FROM orders LIMIT 1) FROM employees
SELECT id FROM employees JOIN (SELECT 9000 AS salary) s USING (salary)
SELECT sum(salary) OVER () FROM employees
-- masked columns
SELECT lower(email) FROM employees
SELECT email GLOB 'a*' FROM employees
SELECT id FROM employees WHERE email = 'ada@corp.example'
SELECT id FROM employees ORDER BY email
SELECT email AS x FROM employees WHERE x > 'b'
SELECT email, id FROM employees ORDER BY 1
SELECT email FROM employees GROUP BY 1
SELECT DISTINCT email FROM employees
SELECT email FROM employees UNION SELECT 'a'
SELECT substr(x, 1, 1) FROM (SELECT email AS x FROM employees) q
SELECT group_concat(email) FROM employees
SELECT CAST(email AS BLOB) FROM employees
SELECT email COLLATE NOCASE FROM employees
SELECT quote(email), hex(email), typeof(email) FROM employees
SELECT id FROM employees WHERE email IS NULL
SELECT email MATCH 'ada' FROM employees
SELECT id FROM employees WHERE (email, id) IN (VALUES ('ada@corp.example', 1))
WITH a AS (SELECT upper(x) AS y FROM c), c AS (SELECT email AS x FROM employees) SELECT y FROM a
-- natural joins
SELECT a.id FROM employees a NATURAL JOIN employees b
SELECT a.id FROM employees a JOIN (SELECT 'ada@corp.example' AS email) b USING (email)
-- row ids of tables with rules
SELECT rowid FROM employees
SELECT e.oid FROM employees e
SELECT _rowid_ FROM secrets
-- names that fall back to texts
SELECT "nothing" FROM orders
SELECT "load_extension"
-- commands of the shell
.shell id
.read /etc/passwd
.open /tmp/evil.db
-- whole rows
SELECT employees FROM employees
SELECT (e) FROM employees e
SELECT count(e.*) FROM employees e
-- columns renamed by place
SELECT upper(c) FROM (SELECT * FROM employees) AS q
WITH q (a, b, c) AS (SELECT * FROM employees) SELECT upper(c) FROM q
WITH q (a, b) AS (SELECT id, email FROM employees) SELECT a FROM q WHERE b > 'b'
-- raising errors
SELECT raise(ABORT, 'x')
-- state of the connection
SELECT last_insert_rowid()
SELECT changes(), total_changes()
SELECT sqlite_compileoption_get(1)
SELECT sqlite_log(1, 'x')
SELECT sqlite_source_id()
-- functions that are not built in
SELECT f(1)
SELECT sha3('x')
SELECT eval('DELETE FROM orders')
SELECT main.upper('x')
-- regular expressions that an extension adds
SELECT regexp('a', 'b')
-- pages and shells
SELECT shell('id')
SELECT system('id')
-- blobs of any size
SELECT zeroblob(1000000000)
SELECT length(randomblob(1000000000))
SELECT hex(zeroblob(1000 * 1000 * 1000))
SELECT zeroblob((SELECT 1000000000))
-- texts of any size
SELECT printf('%1000000000d', 1)
SELECT printf('%.1000000000c', 'x')
SELECT format('%01000000000d', 1)
SELECT repeat('x', 1000000000)
SELECT replace(hex(zeroblob(100000000)), '00', 'x')
-- series to the sky
SELECT count(*) FROM generate_series(1, 10000000000)
SELECT value FROM generate_series(1)
SELECT value FROM generate_series(1, 9223372036854775807, 1)
-- parameters
SELECT ?
SELECT ?1
SELECT :name
SELECT @name
SELECT $name
SELECT $name::x
-- comments that split tokens
DEL/**/ETE FROM orders
SELECT load_/**/extension('x')
SELECT load_extension/* */('x')
/* SELECT 1 */ DELETE FROM orders
/* never ends
--;
-- SELECT 1
DELETE FROM orders
--;
-- strings that end early
SELECT 'a\'; DELETE FROM orders; --'
SELECT 'a'';' ; DELETE FROM orders
SELECT "a" ; DELETE FROM orders; --"
SELECT [a]]; DELETE FROM orders; --]
-- a comment that nests nowhere
/* /* */ DELETE FROM orders; /* */ */
-- select into
SELECT 1 INTO t
-- locks on rows
SELECT id FROM orders FOR UPDATE
-- words that the database does not know
COPY orders TO STDOUT
HANDLER orders OPEN
SET x = 1
CALL p()
GRANT ALL ON orders TO x
-- sleeping
SELECT sleep(10)
SELECT pg_sleep(10)
-- casts to unknown types
SELECT CAST('secrets' AS regclass)
-- table functions by schema
SELECT * FROM main.json_each('[1]')
-- operators that are none
SELECT 1 := 2
SELECT 1 OPERATOR(x.+) 1
-- nothing at all
;
-- deep nesting
SELECT ((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((1))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))
-- chains of operators
SELECT - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - 1
SELECT 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1
