-- insert: writes
INSERT INTO orders (id) VALUES (99)
INSERT INTO orders SET id = 98
INSERT IGNORE INTO orders (id) SELECT 97
INSERT INTO orders (id) VALUES (1) ON DUPLICATE KEY UPDATE note = 'y'
INSERT INTO orders (id) VALUES (96) RETURNING id
-- replace: writes
REPLACE INTO orders (id) VALUES (1)
-- update: writes
UPDATE employees SET name = 'x'
UPDATE LOW_PRIORITY employees, orders SET employees.name = 'x'
UPDATE employees SET salary = 0 ORDER BY id LIMIT 1
-- delete: writes
DELETE FROM orders
DELETE o FROM orders o JOIN employees e ON e.id = o.employee_id
DELETE FROM orders ORDER BY id LIMIT 1
DELETE FROM orders RETURNING id
-- tables without transactions: writes
INSERT INTO plain VALUES (2)
DELETE FROM plain
UPDATE plain SET a = 2
-- a write that tells its plan: writes
ANALYZE FORMAT=JSON DELETE FROM orders
ANALYZE UPDATE orders SET note = 'x'
ANALYZE SELECT harm()
-- creating tables and views: writes
CREATE TABLE t AS SELECT * FROM employees
CREATE TABLE t (a int)
CREATE TABLE t LIKE orders
CREATE OR REPLACE VIEW paid AS SELECT 1 AS id
CREATE INDEX i ON orders (note)
CREATE SEQUENCE s2
-- creating code: writes
CREATE FUNCTION f() RETURNS int RETURN 1
CREATE PROCEDURE p() SELECT 1
CREATE TRIGGER g AFTER INSERT ON orders FOR EACH ROW SET @x = 1
CREATE EVENT {name}.e ON SCHEDULE EVERY 1 DAY DO DELETE FROM orders
-- creating users: writes
CREATE USER {base}_evil
-- dropping: writes
DROP TABLE orders
DROP VIEW peek
DROP FUNCTION harm
DROP DATABASE {name}
-- altering: writes
ALTER TABLE orders ADD x int
ALTER TABLE orders RENAME TO o2
RENAME TABLE orders TO o2
ALTER TABLE orders DROP COLUMN note
-- truncating: writes
TRUNCATE TABLE orders
-- granting: writes
GRANT DELETE ON {name}.orders TO '{base}_r'@'%'
-- calling procedures: writes
CALL harm_all()
CALL {name}.harm_all
-- functions that write: writes
SELECT harm()
SELECT {name}.harm()
SELECT id FROM departments WHERE harm() = 1
SELECT id FROM departments ORDER BY harm()
SELECT IF(1 = 1, harm(), 0)
SELECT (SELECT harm())
SELECT `harm` ()
VALUES (harm())
SELECT harm_plain()
SELECT harm_as_caller()
-- doing without an answer: writes
DO harm()
SET @x = harm()
-- sequences: writes
SELECT NEXTVAL(s)
SELECT SETVAL(s, 40)
SELECT NEXT VALUE FOR s
-- loading data: writes
LOAD DATA INFILE '{planted}' INTO TABLE words FIELDS TERMINATED BY '|' (text) SET id = 7
-- several statements: writes
SELECT 1; DELETE FROM orders
-- blocks: writes
BEGIN NOT ATOMIC DELETE FROM orders; END
IF 1 THEN DELETE FROM orders; END IF
-- leaving the transaction: writes
COMMIT; DELETE FROM orders
SET SESSION TRANSACTION READ WRITE; COMMIT; DELETE FROM orders
START TRANSACTION READ WRITE; DELETE FROM orders; COMMIT
ROLLBACK; SET TRANSACTION READ WRITE; START TRANSACTION; DELETE FROM orders; COMMIT
SET SESSION tx_read_only = 0; START TRANSACTION READ WRITE; DELETE FROM orders; COMMIT
-- prepared statements: writes
PREPARE st FROM 'DELETE FROM orders'; EXECUTE st
EXECUTE IMMEDIATE 'DELETE FROM orders'
EXECUTE IMMEDIATE CONCAT('DEL', 'ETE FROM orders')
-- executable comments: writes
/*! DELETE FROM orders */
/*!50000 DELETE FROM orders */
/*M! DELETE FROM orders */
/*M!100100 DELETE FROM orders */
SELECT 1 /*!, harm() */
-- comments that split tokens: writes
DELETE/**/FROM/**/orders
/* SELECT 1 */ DELETE FROM orders
--;
# SELECT 1
DELETE FROM orders
--;
--;
-- SELECT 1
DELETE FROM orders
--;
SELECT harm/**/()
-- strings that end early: writes
SELECT 'a\\'; DELETE FROM orders; -- '
SELECT "a"; DELETE FROM orders; -- "
SELECT 'a' /* ' */; DELETE FROM orders
SELECT 'a'''; DELETE FROM orders; -- '
-- settings of one statement: writes
SET STATEMENT max_statement_time = 0 FOR DELETE FROM orders
-- two-phase commit and savepoints: writes
XA START 'x'; DELETE FROM orders; XA END 'x'; XA PREPARE 'x'; XA COMMIT 'x'
SAVEPOINT a; DELETE FROM orders
-- handlers and locks before a write: writes
LOCK TABLES orders WRITE; DELETE FROM orders; UNLOCK TABLES
-- into a file: writes_file
SELECT * FROM employees INTO OUTFILE '{file}'
SELECT 'x' INTO DUMPFILE '{file}'
SELECT 1 INTO OUTFILE '{file}' FIELDS TERMINATED BY ','
(SELECT 1) UNION (SELECT 2) INTO OUTFILE '{file}'
SELECT id INTO OUTFILE '{file}' FROM orders
WITH x AS (SELECT 1) SELECT * FROM x INTO OUTFILE '{file}'
-- into a file by an executable comment: writes_file
SELECT 1 /*!50000 INTO OUTFILE '{file}' */
SELECT 1 /*M! INTO OUTFILE '{file}' */
-- into a file behind another statement: writes_file
SELECT 1; SELECT 2 INTO OUTFILE '{file}'
EXECUTE IMMEDIATE 'SELECT 1 INTO OUTFILE ''{file}'''
-- the binary log: changes_session
SET SESSION sql_log_bin = 0
-- reading files: reads_file
SELECT LOAD_FILE('{planted}')
SELECT load_file (0x{planted_hex})
SELECT CONCAT('x', LOAD_FILE(CONCAT('{planted}', '')))
SELECT id, LOAD_FILE('{planted}') FROM orders
SELECT `load_file`('{planted}')
SELECT 1 /*!, LOAD_FILE('{planted}') */
-- errors that tell a file: reads_file
SELECT EXTRACTVALUE(1, CONCAT(0x7e, LOAD_FILE('{planted}')))
SELECT UPDATEXML(1, CONCAT(0x7e, LOAD_FILE('{planted}')), 1)
-- denied tables: reveals
SELECT * FROM secrets
SELECT token FROM {name}.secrets
SELECT * FROM employees e, secrets s
SELECT id FROM orders WHERE EXISTS (SELECT token FROM secrets)
SELECT (SELECT MAX(token) FROM secrets)
SELECT * FROM `secrets`
SELECT id FROM orders UNION SELECT token FROM secrets
WITH x AS (SELECT * FROM secrets) SELECT * FROM x
SELECT * FROM orders STRAIGHT_JOIN secrets
SELECT * FROM orders NATURAL JOIN secrets
SELECT * FROM {oj orders LEFT OUTER JOIN secrets ON 1}
SELECT * FROM (secrets)
-- denied tables by an executable comment: reveals
SELECT 1 /*M!100100 , token FROM secrets */
SELECT '/*!' /*! , token FROM secrets */
--;
SELECT 1 /*!50000UNION*/ /*!50000SELECT*/ token FROM secrets
--;
-- views over denied tables: reveals
SELECT * FROM peek
-- views over hidden columns: reveals
SELECT salary FROM paid
-- functions and procedures of an owner that reveal: reveals
SELECT secret_as_owner(1)
CALL secrets_as_owner()
-- errors that tell a value: reveals
SELECT EXTRACTVALUE(1, CONCAT(0x7e, (SELECT MAX(token) FROM secrets)))
SELECT UPDATEXML(1, CONCAT(0x7e, (SELECT MAX(token) FROM secrets)), 1)
-- handlers: reveals
HANDLER secrets OPEN; HANDLER secrets READ FIRST
-- explaining: reveals
DESCRIBE secrets
EXPLAIN SELECT * FROM secrets
SHOW COLUMNS FROM secrets
-- showing: reveals
SHOW TABLES
SHOW CREATE TABLE secrets
SHOW CREATE VIEW peek
SHOW TABLE STATUS
SHOW INDEX FROM secrets
-- information schema: reveals
SELECT table_name FROM information_schema.tables WHERE table_schema = '{name}'
SELECT column_name FROM INFORMATION_SCHEMA.COLUMNS WHERE table_name = 'secrets' AND table_schema = '{name}'
SELECT view_definition FROM information_schema.views WHERE table_schema = '{name}'
SELECT * FROM `information_schema` . `key_column_usage` WHERE table_schema = '{name}'
-- tables of the server: reveals
SELECT user, authentication_string FROM mysql.user WHERE user = '{base}_r'
SELECT table_name FROM mysql.innodb_table_stats WHERE database_name = '{name}'
-- grants: reveals
SHOW GRANTS FOR '{base}_r'@'%'
-- procedures that analyse: reveals
SELECT * FROM secrets PROCEDURE ANALYSE()
-- hidden columns: reveals
SELECT salary FROM employees
SELECT e.salary FROM employees e
SELECT `salary` FROM {name}.employees
SELECT {name}.employees.salary FROM employees
SELECT AVG(salary) FROM employees
-- hidden columns in conditions: reveals
SELECT id FROM employees WHERE salary > 5000
SELECT id FROM employees ORDER BY salary
SELECT id FROM employees HAVING MAX(salary) > 8999 AND MAX(salary) < 9001
SELECT id FROM employees JOIN (SELECT 9000 AS salary) s USING (salary)
-- hidden columns in groups and windows: reveals
SELECT COUNT(*) FROM employees GROUP BY salary
SELECT id, ROW_NUMBER() OVER (ORDER BY salary) FROM employees
-- hidden columns from outside: reveals
SELECT (SELECT salary FROM orders LIMIT 1) FROM employees
-- masked columns: reveals
SELECT LOWER(email) FROM employees
SELECT email LIKE 'ada%' FROM employees
SELECT GROUP_CONCAT(email) FROM employees
SELECT BINARY email FROM employees
SELECT email COLLATE utf8mb4_bin FROM employees
SELECT CONVERT(email USING latin1) FROM employees
SELECT SUBSTR(x, 1, 1) FROM (SELECT email AS x FROM employees) q
-- masked columns in conditions: reveals
SELECT id FROM employees WHERE email = 'ada@corp.example'
SELECT id FROM employees ORDER BY email
SELECT id FROM employees WHERE ('ada@corp.example', 1) IN (SELECT email, id FROM employees)
-- masked columns in sets and groups: reveals
SELECT COUNT(*) FROM employees GROUP BY email
SELECT COUNT(*) FROM (SELECT DISTINCT email FROM employees) q
SELECT email FROM employees UNION SELECT 'a'
SELECT email AS x FROM employees HAVING x > 'b'
-- natural joins: reveals
SELECT a.id FROM employees a NATURAL JOIN (SELECT 9000 AS salary) b
SELECT a.id FROM employees a JOIN (SELECT 'ada@corp.example' AS email) b USING (email)
-- settings: changes_session
SET SESSION sql_mode = 'ANSI_QUOTES'
SET max_statement_time = 77
SET autocommit = 0
SET NAMES latin1
USE mysql
-- user variables: changes_session
SET @x = 1
SELECT @x := 1
SELECT 1 INTO @x
SELECT id INTO @x FROM orders LIMIT 1
SELECT id FROM orders WHERE (@x := 2) > 0
-- statements that stay: changes_session
PREPARE st FROM 'SELECT 1'
-- temporary tables that stay: changes_session
CREATE TEMPORARY TABLE temporary_one (a int)
CREATE TEMPORARY TABLE temporary_one AS SELECT 1 AS a
-- the last number: changes_session
SELECT LAST_INSERT_ID(5)
-- acting as a role: changes_session
SET ROLE NONE; SET @x = 3
-- locks by name: locks
SELECT GET_LOCK('{name}', 0)
SELECT id FROM departments WHERE GET_LOCK('{name}', 0)
DO GET_LOCK('{name}', 0)
SELECT `get_lock`('{name}', 0)
-- locks on rows: locks
SELECT id FROM orders FOR UPDATE
SELECT id FROM orders LOCK IN SHARE MODE
SELECT * FROM (SELECT id FROM orders FOR UPDATE) q
SELECT id FROM orders FOR UPDATE NOWAIT
-- locks on tables: locks
LOCK TABLES orders WRITE
LOCK TABLES orders READ
FLUSH TABLES orders WITH READ LOCK
-- locks of an open handler: locks
BEGIN; UPDATE orders SET note = note WHERE id = 1
-- ending other sessions: ends_others
KILL {victim}
KILL HARD CONNECTION {victim}
SELECT 1; KILL {victim}
-- sleeping: hangs
SELECT SLEEP(100)
SELECT id FROM orders WHERE SLEEP(9)
SELECT `sleep`(10)
SELECT sleep /* */ (10)
SELECT id FROM orders ORDER BY SLEEP(5)
SELECT IF(1=1, SLEEP(5), 0)
DO SLEEP(10)
ANALYZE SELECT SLEEP(30)
SELECT 1 /*!, SLEEP(10) */
SELECT 1 /*M! , SLEEP(10) */
SET STATEMENT max_statement_time = 0 FOR SELECT SLEEP(10)
-- burning time: hangs
SELECT BENCHMARK(1000000000, SHA1('x'))
SELECT benchmark(1e12, 1)
-- series to the sky: hangs
SELECT COUNT(*) FROM seq_1_to_1000000000 WHERE seq % 7 = 3
SELECT COUNT(*) FROM seq_1_to_99999999 a, seq_1_to_99999999 b
-- products of tables: hangs
SELECT COUNT(*) FROM big a, big b, big c
SELECT MAX(a.id * b.id) FROM big a CROSS JOIN big b CROSS JOIN big c WHERE CONCAT(a.text, b.text) LIKE CONCAT('%', c.text)
SELECT COUNT(DISTINCT a.text, b.text, c.text) FROM big a, big b, big c
-- deep recursion: hangs
WITH RECURSIVE x AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM x) SELECT COUNT(*) FROM x a, x b, x c
-- regular expressions: hangs
SELECT COUNT(*) FROM big a, big b WHERE CONCAT(a.text, b.text) REGEXP CONCAT('(a|b|ab)*(c|d|cd)*', b.text)
-- waiting for replication: hangs
SELECT MASTER_GTID_WAIT('0-1-999999999', 30)
-- functions without end: hangs
SELECT harm_endless()
-- blocks without end: hangs
BEGIN NOT ATOMIC WHILE 1 DO DO 1; END WHILE; END
-- texts of any size: hangs
SELECT COUNT(*) FROM big a, big b WHERE LENGTH(REPEAT(a.text, 300000)) < LENGTH(b.text)
SELECT COUNT(*) FROM big a, big b WHERE LENGTH(LPAD(a.text, 15000000, 'y')) < LENGTH(b.text)
SELECT COUNT(*) FROM big a, big b WHERE LENGTH(CONCAT(SPACE(15000000), a.text)) < LENGTH(b.text)
SELECT COUNT(*) FROM big a, big b WHERE LENGTH(HEX(REPEAT(a.text, 100000))) < LENGTH(b.text)
SELECT COUNT(*) FROM big a, big b WHERE LENGTH(TO_BASE64(REPEAT(a.text, 100000))) < LENGTH(b.text)
