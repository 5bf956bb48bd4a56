-- insert
INSERT INTO orders (id) VALUES (99)
INSERT INTO orders SET id = 98
INSERT IGNORE INTO orders (id) SELECT 97
-- replace
REPLACE INTO orders (id) VALUES (1)
-- update
UPDATE employees SET name = 'x'
UPDATE LOW_PRIORITY employees, orders SET name = 'x'
-- delete
DELETE FROM orders
DELETE o FROM orders o JOIN employees e ON e.id = o.employee_id
-- a CTE before a write
WITH x AS (SELECT 1) DELETE FROM orders
WITH x AS (SELECT 1 AS id) UPDATE orders SET note = 'x'
-- explain and analyze that run
EXPLAIN ANALYZE SELECT SLEEP(30)
ANALYZE SELECT SLEEP(30)
ANALYZE FORMAT=JSON DELETE FROM orders
DESCRIBE employees
-- into a file
SELECT * FROM employees INTO OUTFILE '/tmp/out'
SELECT 'x' INTO DUMPFILE '/tmp/out'
SELECT 1 INTO OUTFILE '/tmp/o' FIELDS TERMINATED BY ','
(SELECT 1) UNION (SELECT 2) INTO OUTFILE '/tmp/o2'
-- into variables
SELECT 1 INTO @x
SELECT id INTO @a FROM orders LIMIT 1
SELECT 1 INTO local_variable
-- reading files
SELECT LOAD_FILE('/etc/passwd')
SELECT load_file (0x2f6574632f706173737764)
SELECT LENGTH(LOAD_FILE(CONCAT('/etc', '/passwd')))
-- loading data
LOAD DATA INFILE '/etc/passwd' INTO TABLE orders
LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE orders
LOAD XML INFILE '/tmp/x' INTO TABLE orders
-- user variables
SELECT @x := 1
SELECT @x
SELECT @`x`
SELECT @'x', @"y"
SET @x = 1
SELECT id FROM orders WHERE (@n := @n + 1) > 0
-- system variables
SELECT @@version
SELECT @@global.secure_file_priv
SELECT @@datadir, @@session.sql_mode
SET GLOBAL general_log = 1
SET SESSION TRANSACTION READ WRITE
SET STATEMENT max_statement_time = 0 FOR SELECT SLEEP(10)
SET PASSWORD = PASSWORD('x')
-- executable comments
SELECT 1 /*!, SLEEP(10) */
SELECT 1 /*!50000 INTO OUTFILE '/tmp/x' */
SELECT 1 /*M! , SLEEP(10) */
SELECT 1 /*M!100100 FROM secrets */
/*! DELETE FROM orders */
SELECT id FROM orders /*!99999 x */
SELECT '/*!' /*! , token FROM secrets */
SELECT 1 -- /*!
--;
SELECT 1 /*!50000UNION*/ /*!50000SELECT*/ token FROM secrets
--;
-- optimizer hints with a setting
SELECT /*+ SET_VAR(max_execution_time=0) */ SLEEP(10)
-- sleeping
SELECT SLEEP(100)
SELECT id FROM orders WHERE SLEEP(id)
SELECT `sleep`(10)
SELECT sleep /* */ (10)
SELECT 1 ORDER BY SLEEP(5)
SELECT IF(1=1, SLEEP(5), 0)
-- burning time
SELECT BENCHMARK(1000000000, SHA1('x'))
SELECT benchmark(1e12, 1)
-- locks by name
SELECT GET_LOCK('x', 100)
SELECT RELEASE_LOCK('x'), RELEASE_ALL_LOCKS()
SELECT IS_USED_LOCK('x')
-- waiting for replication
SELECT MASTER_POS_WAIT('a', 1)
SELECT MASTER_GTID_WAIT('0-1-1')
-- locks on rows
SELECT id FROM orders FOR UPDATE
SELECT id FROM orders LOCK IN SHARE MODE
SELECT * FROM (SELECT id FROM orders FOR UPDATE) q
-- locks on tables
LOCK TABLES orders WRITE
UNLOCK TABLES
FLUSH TABLES WITH READ LOCK
-- handlers
HANDLER orders OPEN
HANDLER orders READ FIRST
-- doing without an answer
DO SLEEP(10)
DO RELEASE_LOCK('x')
-- prepared statements
PREPARE s FROM 'DELETE FROM orders'
EXECUTE s
EXECUTE IMMEDIATE 'DELETE FROM orders'
-- calling procedures
CALL p()
CALL sys.table_exists('hr', 'secrets', @x)
-- blocks
BEGIN NOT ATOMIC DELETE FROM orders; END
-- several statements
SELECT 1; DELETE FROM orders
SELECT 1;SELECT 2
-- a delimiter
--;
DELIMITER //
DELETE FROM orders //
--;
-- creating
CREATE TABLE t AS SELECT * FROM employees
CREATE TABLE t SELECT 1
CREATE TEMPORARY TABLE t (a int)
CREATE FUNCTION f RETURNS STRING SONAME 'evil.so'
CREATE USER evil
CREATE EVENT e ON SCHEDULE EVERY 1 SECOND DO DELETE FROM orders
CREATE OR REPLACE VIEW v AS SELECT 1
-- dropping
DROP TABLE orders
DROP DATABASE hr
-- altering
ALTER TABLE orders ADD x int
ALTER USER root IDENTIFIED BY 'x'
RENAME TABLE orders TO o2
-- truncating
TRUNCATE TABLE orders
-- granting
GRANT ALL ON *.* TO 'x'@'%'
REVOKE ALL ON *.* FROM 'x'@'%'
-- plugins
INSTALL PLUGIN x SONAME 'evil.so'
INSTALL SONAME 'evil'
UNINSTALL PLUGIN x
-- transactions
START TRANSACTION READ WRITE
COMMIT
ROLLBACK AND CHAIN
XA START 'x'
-- ending other sessions
KILL 1
KILL QUERY 1
SHUTDOWN
-- flushing and resetting
FLUSH PRIVILEGES
RESET QUERY CACHE
PURGE BINARY LOGS BEFORE NOW()
-- replication
CHANGE MASTER TO MASTER_HOST = 'x'
STOP SLAVE
-- showing
SHOW TABLES
SHOW GRANTS
SHOW PROCESSLIST
SHOW VARIABLES LIKE '%dir'
-- another database
USE mysql
SELECT * FROM mysql.user
SELECT * FROM test.t
-- system catalogues
SELECT * FROM information_schema.tables
SELECT * FROM INFORMATION_SCHEMA.COLUMNS
SELECT * FROM performance_schema.threads
SELECT * FROM sys.session
SELECT * FROM `information_schema` . `tables`
-- denied tables
SELECT * FROM secrets
SELECT token FROM hr.secrets
TABLE secrets
SELECT * FROM employees e, secrets s
SELECT id FROM orders WHERE note IN (SELECT token FROM secrets)
SELECT (SELECT MAX(token) FROM secrets)
SELECT * FROM `secrets`
SELECT id FROM orders UNION SELECT id FROM secrets
SELECT id FROM orders UNION TABLE secrets
WITH x AS (SELECT * FROM secrets) SELECT * FROM x
WITH SECRETS AS (SELECT 1 AS token) SELECT token FROM secrets
SELECT * FROM orders STRAIGHT_JOIN secrets
SELECT * FROM orders NATURAL JOIN secrets
SELECT * FROM {oj orders LEFT OUTER JOIN secrets ON 1}
SELECT * FROM (secrets)
-- names that a scope does not hold
SELECT secrets.token FROM orders
SELECT * FROM (WITH q AS (SELECT 1) SELECT * FROM q) x, q
-- hidden columns
SELECT salary FROM employees
SELECT e.salary FROM employees e
SELECT `salary` FROM hr.employees
SELECT hr.employees.salary FROM employees
SELECT id FROM employees WHERE salary > 5000
SELECT id FROM employees ORDER BY salary
SELECT id FROM employees GROUP BY salary
SELECT id FROM employees HAVING salary > 1
SELECT AVG(salary) FROM employees
SELECT DEFAULT(salary) FROM employees
SELECT (SELECT salary FROM orders LIMIT 1) FROM employees
SELECT id FROM employees JOIN (SELECT 9000 AS salary) s USING (salary)
SELECT VALUES(salary) FROM employees
-- masked columns
SELECT LOWER(email) FROM employees
SELECT email LIKE 'a%' FROM employees
SELECT id FROM employees WHERE email = 'ada@corp.example'
SELECT id FROM employees ORDER BY email
SELECT email AS x FROM employees ORDER BY x
SELECT email FROM employees GROUP BY email
SELECT email AS x FROM employees HAVING x > 'b'
SELECT DISTINCT email FROM employees
SELECT email FROM employees UNION SELECT 'a'
SELECT SUBSTR(x, 1, 1) FROM (SELECT email AS x FROM employees) q
SELECT GROUP_CONCAT(email) FROM employees
SELECT MATCH (email) AGAINST ('ada') FROM employees
SELECT BINARY email FROM employees
SELECT email COLLATE utf8mb4_bin FROM employees
SELECT CONVERT(email USING latin1) FROM employees
SELECT ANY_VALUE(email) FROM employees
SELECT 1 FROM employees e WHERE ('ada@corp.example', 1) IN (SELECT email, id FROM employees)
-- natural joins
SELECT a.id FROM employees a NATURAL JOIN employees b
SELECT a.id FROM employees a JOIN (SELECT 'ada@corp.example' AS email) b USING (email)
-- XML and its errors
SELECT EXTRACTVALUE(1, CONCAT(0x7e, (SELECT 1)))
SELECT UPDATEXML(1, CONCAT(0x7e, USER()), 1)
-- procedures that analyse
SELECT * FROM orders PROCEDURE ANALYSE()
-- who is connected
SELECT SESSION_USER(), CONNECTION_ID()
-- state of the session
SELECT LAST_INSERT_ID(5)
SELECT FOUND_ROWS(), ROW_COUNT()
SELECT SQL_CALC_FOUND_ROWS id FROM orders
-- sequences
SELECT NEXTVAL(s)
SELECT SETVAL(s, 1)
SELECT NEXT VALUE FOR s
-- series to the sky
SELECT * FROM seq_1_to_1000000000
SELECT COUNT(*) FROM seq_1_to_99999999 a, seq_1_to_99999999 b
-- texts of any size
SELECT REPEAT('x', 1000000000)
SELECT REPEAT('x', 1000 * 1000 * 1000)
SELECT LPAD('x', 1000000000, 'y')
SELECT SPACE(1000000000)
SELECT RPAD('x', 2000000000, 'y')
SELECT REPEAT('x', (SELECT 1000000000))
SELECT REPEAT('x', POW(10, 9))
-- stored functions
SELECT hr.f(1)
SELECT f(1)
SELECT sys.version_major()
-- functions of plugins
SELECT sys_exec('id')
SELECT sys_eval('id')
-- encryption keys and passwords
SELECT PASSWORD('x')
SELECT ENCRYPT('x')
-- parameters
SELECT ?
SELECT id FROM orders WHERE id = ?
SELECT :x
-- comments that split tokens
DEL/**/ETE FROM orders
SELECT SLE/**/EP(1)
/* SELECT 1 */ DELETE FROM orders
--;
# SELECT 1
DELETE FROM orders
--;
--;
-- SELECT 1
DELETE FROM orders
--;
-- strings that end early
SELECT 'a\'; DELETE FROM orders; -- '; DELETE FROM orders
SELECT "a"; DELETE FROM orders; -- "
SELECT 'a\\'; DELETE FROM orders; -- '
SELECT 'a' /* ' */; DELETE FROM orders
-- character sets that swallow a quote
SELECT _gbk 0xbf27, _gbk'a'
SELECT _sjis'x'
-- partitions and versions
SELECT * FROM orders PARTITION (p0)
SELECT * FROM orders FOR SYSTEM_TIME ALL
-- maintenance
ANALYZE TABLE orders
OPTIMIZE TABLE orders
REPAIR TABLE orders
CHECK TABLE orders
CACHE INDEX orders IN x
-- binary logs
BINLOG 'x'
SHOW BINLOG EVENTS
-- help and signals
HELP 'select'
SIGNAL SQLSTATE '45000'
GET DIAGNOSTICS @p = NUMBER
-- words that the database does not know
PRAGMA x
COPY orders TO STDOUT
-- nothing at all
;
-- deep nesting
SELECT ((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((1))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))
-- chains of operators
SELECT - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - 1
SELECT 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1
