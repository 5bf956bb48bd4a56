CREATE VIEW peek AS SELECT id, token FROM secrets;
CREATE VIEW paid AS SELECT id, name, salary FROM employees;
CREATE TABLE plain (a int) ENGINE=MyISAM;
INSERT INTO plain VALUES (1);
CREATE TABLE big (id int PRIMARY KEY, text varchar(40));
INSERT INTO big SELECT seq, MD5(seq) FROM seq_1_to_1000;
CREATE TABLE words (id int PRIMARY KEY, text varchar(200), FULLTEXT KEY (text)) ENGINE=MyISAM;
INSERT INTO words VALUES (1, 'one two'), (2, 'three four');
CREATE SEQUENCE s;
CREATE PROCEDURE harm_all() DELETE FROM orders;
CREATE FUNCTION harm() RETURNS int BEGIN DELETE FROM orders; RETURN 1; END;
CREATE FUNCTION harm_plain() RETURNS int BEGIN DELETE FROM plain; RETURN 1; END;
CREATE FUNCTION harm_as_caller() RETURNS int SQL SECURITY INVOKER BEGIN DELETE FROM orders; RETURN 1; END;
CREATE FUNCTION secret_as_owner(n int) RETURNS text RETURN (SELECT token FROM peek WHERE id = n);
CREATE FUNCTION harm_endless() RETURNS int BEGIN DECLARE n int DEFAULT 0; WHILE 1 DO SET n = 1 - n; END WHILE; RETURN n; END;
CREATE PROCEDURE secrets_as_owner() SELECT token FROM peek
