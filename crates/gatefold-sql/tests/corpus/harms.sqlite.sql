-- insert: writes
INSERT INTO orders (id) VALUES (99)
INSERT OR REPLACE INTO orders (id) VALUES (1)
INSERT INTO orders DEFAULT VALUES
INSERT OR IGNORE INTO orders (id) SELECT 97
INSERT INTO orders (id) VALUES (96) RETURNING id
-- upsert: writes
INSERT INTO orders (id) VALUES (1) ON CONFLICT (id) DO UPDATE SET note = 'x'
-- replace: writes
REPLACE INTO orders (id) VALUES (1)
-- update: writes
UPDATE employees SET name = 'x'
UPDATE OR IGNORE employees SET salary = 0
UPDATE employees SET name = o.note FROM orders o
UPDATE employees SET salary = 0 WHERE id = 1 RETURNING *
-- delete: writes
DELETE FROM orders
DELETE FROM main.orders WHERE id = 1 RETURNING *
-- a CTE before a write: writes
WITH x AS (SELECT 1) DELETE FROM orders
WITH x AS (SELECT 98 AS id) INSERT INTO orders (id) SELECT id FROM x
WITH x AS (SELECT 1) UPDATE orders SET note = 'x'
-- triggers: writes
INSERT INTO peek VALUES (1, 'x')
-- full-text indexes: writes
INSERT INTO words VALUES ('five')
DELETE FROM words_data
-- creating tables and views: writes
CREATE TABLE t (a)
CREATE TABLE t AS SELECT * FROM employees
CREATE VIEW v AS SELECT 1
CREATE INDEX i ON orders (id)
-- creating triggers: writes
CREATE TRIGGER t AFTER INSERT ON orders BEGIN DELETE FROM orders; END
-- virtual tables: writes
CREATE VIRTUAL TABLE t USING fts5(a)
CREATE VIRTUAL TABLE t USING rtree(id, x0, x1)
-- dropping: writes
DROP TABLE orders
DROP TABLE IF EXISTS main.orders
DROP VIEW peek
DROP TRIGGER watched
-- altering: writes
ALTER TABLE orders RENAME TO o2
ALTER TABLE orders ADD COLUMN x
ALTER TABLE orders DROP COLUMN note
ALTER TABLE orders RENAME COLUMN note TO remark
-- statistics: writes
ANALYZE
ANALYZE orders
-- sequences: writes
UPDATE sqlite_sequence SET seq = 40
DELETE FROM sqlite_sequence
-- the catalogue: writes
PRAGMA writable_schema = 1; DELETE FROM sqlite_master WHERE name = 'orders'
PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'note', 'mote') WHERE name = 'orders'
-- numbers of the file: writes
PRAGMA user_version = 7
PRAGMA application_id = 7
PRAGMA main.user_version(8)
PRAGMA schema_version = 77
-- pragmas that rewrite the file: writes
PRAGMA auto_vacuum = FULL; VACUUM
PRAGMA page_size = 8192; VACUUM
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
BEGIN; DELETE FROM orders; COMMIT
END; BEGIN IMMEDIATE; DELETE FROM orders; END
ROLLBACK; DELETE FROM orders
-- savepoints: writes
SAVEPOINT a; DELETE FROM orders; RELEASE a
-- lifting the setting: writes
PRAGMA query_only = OFF; DELETE FROM orders
PRAGMA query_only(0); UPDATE orders SET note = 'x'
-- comments that split tokens: writes
DELETE/**/FROM/**/orders
/* SELECT 1 */ DELETE FROM orders
/* /* */ DELETE FROM orders; /* */
--;
-- SELECT 1
DELETE FROM orders
--;
-- strings that end early: writes
SELECT 'a\'; DELETE FROM orders; --'
SELECT 'a'';' ; DELETE FROM orders
SELECT "a" ; DELETE FROM orders; --"
-- attaching: writes_file
ATTACH DATABASE '{file}' AS evil; CREATE TABLE evil.t (a)
ATTACH 'file:{file}?mode=rwc' AS evil; CREATE TABLE evil.t AS SELECT * FROM secrets
-- vacuum into a file: writes_file
VACUUM INTO '{file}'
VACUUM main INTO '{file}'
SELECT 1; VACUUM INTO '{file}'
-- journals: writes_file
PRAGMA journal_mode = WAL; BEGIN; INSERT INTO orders (id) VALUES (70)
PRAGMA journal_mode = PERSIST; INSERT INTO orders (id) VALUES (71)
-- reading other databases: reads_file
ATTACH '{planted}' AS p; SELECT * FROM p.t
ATTACH DATABASE 'file:{planted}?mode=ro' AS p; SELECT text FROM p.t
-- denied tables: reveals
SELECT * FROM secrets
SELECT token FROM main.secrets
SELECT * FROM employees e, secrets s
SELECT id FROM orders WHERE EXISTS (SELECT token FROM secrets)
SELECT (SELECT max(token) FROM secrets)
SELECT * FROM [secrets]
SELECT * FROM `SECRETS`
SELECT * FROM 'secrets'
SELECT id FROM orders UNION SELECT token FROM secrets
WITH x AS (SELECT * FROM secrets) SELECT * FROM x
SELECT * FROM orders NATURAL JOIN secrets
SELECT token FROM orders LEFT JOIN secrets USING (id)
SELECT * FROM (secrets)
-- denied tables as lists: reveals
SELECT 1 WHERE (1, 'tok-7f3' || 'a') IN secrets
SELECT id FROM orders WHERE (id, 'tok-7f3' || 'a') IN main.secrets
-- denied tables in recursion: reveals
WITH RECURSIVE x AS (SELECT 1 AS i UNION ALL SELECT s.token FROM x, secrets s LIMIT 5) SELECT * FROM x
-- views over denied tables: reveals
SELECT * FROM peek
-- views over hidden columns: reveals
SELECT salary FROM paid
-- row ids: reveals
SELECT _rowid_ FROM secrets
SELECT max(rowid) FROM secrets
-- the catalogue as a table: reveals
SELECT name, sql FROM sqlite_master
SELECT sql FROM sqlite_schema
SELECT * FROM main.sqlite_master
SELECT name FROM "sqlite_master"
SELECT * FROM [sqlite_schema]
SELECT * FROM 'sqlite_master'
SELECT count(*) FROM sqlite_master WHERE name = 'secrets'
-- statistics and sequences as tables: reveals
SELECT * FROM sqlite_sequence
-- pragmas: reveals
PRAGMA table_info(secrets)
PRAGMA table_list
PRAGMA table_xinfo('secrets')
-- pragmas as tables: reveals
SELECT * FROM pragma_table_info('secrets')
SELECT name FROM pragma_table_list
SELECT * FROM main.pragma_table_info('secrets')
SELECT m.name, p.name FROM pragma_table_list m, pragma_table_info(m.name) p
-- explaining: reveals
EXPLAIN QUERY PLAN SELECT * FROM secrets
EXPLAIN SELECT * FROM secrets
-- shadow tables: reveals
SELECT hex(block) FROM words_data WHERE id = 10
-- hidden columns: reveals
SELECT salary FROM employees
SELECT e.salary FROM employees e
SELECT "salary" FROM employees
SELECT [Salary] FROM main.employees
SELECT main.employees.salary FROM employees
SELECT 'x' || `SALARY` FROM employees
SELECT max(salary) FROM employees
-- hidden columns in conditions: reveals
SELECT id FROM employees WHERE salary > 5000
SELECT id FROM employees ORDER BY salary
SELECT id FROM employees JOIN (SELECT 9000 AS salary) s USING (salary)
SELECT id FROM employees LIMIT (SELECT max(salary) FROM employees) / 3000
-- hidden columns in groups and windows: reveals
SELECT count(*) FROM employees GROUP BY salary
SELECT id, sum(salary) OVER (ORDER BY id) FROM employees
-- hidden columns from outside: reveals
SELECT (SELECT salary FROM orders LIMIT 1) FROM employees
-- masked columns: reveals
SELECT lower(email) FROM employees
SELECT email GLOB 'ada*' FROM employees
SELECT group_concat(email) FROM employees
SELECT CAST(email AS BLOB) FROM employees
SELECT quote(email), hex(email) FROM employees
SELECT email COLLATE NOCASE FROM employees
SELECT substr(x, 1, 1) FROM (SELECT email AS x FROM employees) q
-- masked columns in conditions: reveals
SELECT id FROM employees WHERE email = 'ada@corp.example'
SELECT id FROM employees ORDER BY email
SELECT email, id FROM employees ORDER BY 1
SELECT id FROM employees WHERE email IS NULL
SELECT id FROM employees WHERE (email, id) IN (VALUES ('ada@corp.example', 1))
-- masked columns in sets and groups: reveals
SELECT count(*) FROM employees GROUP BY email
SELECT count(*) FROM (SELECT DISTINCT email FROM employees) q
SELECT email FROM employees UNION SELECT 'a'
-- natural joins: reveals
SELECT a.id FROM employees a NATURAL JOIN (SELECT 9000 AS salary) b
SELECT a.id FROM employees a JOIN (SELECT 'ada@corp.example' AS email) b USING (email)
-- columns renamed by place: reveals
SELECT upper(c) FROM (SELECT id AS a, name AS b, email AS c FROM employees) AS q
WITH q (a, b) AS (SELECT id, email FROM employees) SELECT a FROM q WHERE b > 'b'
-- settings: changes_session
PRAGMA case_sensitive_like = ON
PRAGMA foreign_keys = OFF
PRAGMA cache_size = -1000000
PRAGMA recursive_triggers = ON
-- temporary tables and views: changes_session
CREATE TEMP TABLE employees AS SELECT 1 AS id
CREATE TEMP VIEW orders AS SELECT 1
CREATE TEMP TRIGGER g AFTER INSERT ON orders BEGIN SELECT 1; END
-- attaching memory: changes_session
ATTACH ':memory:' AS other
-- locks: locks
BEGIN IMMEDIATE
BEGIN EXCLUSIVE TRANSACTION
PRAGMA locking_mode = EXCLUSIVE; UPDATE orders SET note = note
BEGIN; UPDATE orders SET note = note
-- locks that keep writers from ending: locks
SAVEPOINT a; UPDATE orders SET note = note
-- endless recursion: hangs
WITH RECURSIVE x (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM x) SELECT count(*) FROM x
WITH RECURSIVE x (i) AS (VALUES (1) UNION ALL SELECT i % 7 FROM x) SELECT max(i) FROM x
WITH RECURSIVE x (i) AS (SELECT 1 UNION SELECT i + 1 FROM x) SELECT i FROM x WHERE i < 0
-- products of tables: hangs
SELECT count(*) FROM big a, big b, big c
SELECT max(a.id * b.id) FROM big a CROSS JOIN big b CROSS JOIN big c WHERE a.text || b.text LIKE '%' || c.text
SELECT count(DISTINCT a.text || b.text || c.text) FROM big a, big b, big c
-- sorting and windows: hangs
SELECT a.id, row_number() OVER (ORDER BY random()) FROM big a, big b, big c LIMIT 1
SELECT a.id FROM big a, big b, big c ORDER BY random() LIMIT 1
-- matching patterns: hangs
SELECT count(*) FROM big a, big b, big c WHERE a.text || b.text GLOB '*' || c.text || '*?*?*[0-9]*'
-- counting characters: hangs
SELECT sum(length(replace(hex(zeroblob(500000)), '00', a.text))) FROM big a
-- JSON: hangs
SELECT count(*) FROM big a, big b, json_each('[1,2,3,4,5,6,7,8,9]') c, big d
-- full text: hangs
SELECT count(*) FROM words a, words b, big c, big d, big e WHERE a.text MATCH 'one OR two'
-- blobs of any size: eats_memory
SELECT length(zeroblob(100000000) || 'x')
SELECT length(randomblob(100000000))
SELECT length(hex(zeroblob(50000000)))
SELECT length(CAST(zeroblob(100000000) AS TEXT) || 'x')
-- texts of any size: eats_memory
SELECT length(printf('%100000000d', 1))
SELECT length(printf('%.100000000c', 'x'))
SELECT length(format('%0100000000d', 1))
SELECT length(replace(hex(zeroblob(1000000)), '00', hex(zeroblob(50))))
-- aggregates of any size: eats_memory
SELECT length(group_concat(hex(zeroblob(50)))) FROM big a, big b LIMIT 1
