CREATE VIEW peek AS SELECT id, token FROM secrets;
CREATE VIEW paid AS SELECT id, name, salary FROM employees;
CREATE TABLE big AS WITH RECURSIVE g (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM g LIMIT 2000)
  SELECT id, hex(id * 7919) AS text FROM g;
CREATE TABLE counted (id integer PRIMARY KEY AUTOINCREMENT, name text);
INSERT INTO counted (name) VALUES ('one');
CREATE VIRTUAL TABLE words USING fts5(text);
INSERT INTO words VALUES ('one two'), ('three four');
CREATE VIRTUAL TABLE old_words USING fts4(text);
INSERT INTO old_words VALUES ('one two');
CREATE TRIGGER watched INSTEAD OF INSERT ON peek BEGIN DELETE FROM orders; END;
