-- Errors: code, SQLSTATE and text.
SELEC 1;
SELECT FROM;
SELECT * FROM nosuch;
SELECT nosuch;
SELECT nosuch();
SELECT * FROM nodb.t;
USE nodb;
CREATE TABLE e (a INT PRIMARY KEY, b INT, c VARCHAR(5));
INSERT INTO e VALUES (1, 1, 'x');
INSERT INTO e VALUES (1, 2, 'y');
SELECT a FROM e JOIN e f ON e.a = f.a;
SELECT e.nosuch FROM e;
SELECT x.a FROM e;
SELECT a, COUNT(*) FROM e;
SELECT b FROM e GROUP BY c;
SELECT * FROM e WHERE COUNT(*) > 1;
SELECT a FROM e HAVING nosuch = 1;
SELECT a FROM e ORDER BY nosuch;
SELECT a FROM e ORDER BY 5;
SELECT (SELECT a, b FROM e);
SELECT 1 UNION SELECT 1, 2;
INSERT INTO e VALUES (2, 2);
INSERT INTO e (a, a) VALUES (1, 2);
INSERT INTO e VALUES (3, 3, 'too long for it');
INSERT INTO e VALUES ('abc', 3, 'x');
INSERT INTO e VALUES (99999999999, 3, 'x');
UPDATE e SET b = 'abc';
SELECT 1 FROM e LIMIT -1;
SELECT SUBSTRING();
SELECT ABS(1, 2);
SET nosuch = 1;
SET GLOBAL nosuch = 1;
SET SESSION autocommit = 'maybe';
SELECT @@nosuch;
SHOW COLUMNS FROM nosuch;
SHOW CREATE TABLE nosuch;
DESCRIBE nosuch;
SAVEPOINT s;
ROLLBACK TO SAVEPOINT nosuch;
INSERT INTO e SELECT 1, 1, 'x';
INSERT INTO e (a) SELECT a + 1 FROM e;
SELECT * FROM e ORDER BY a;
KILL 99999999;
PREPARE p FROM 'SELECT ? + 1';
SET @v = 41;
EXECUTE p USING @v;
EXECUTE p;
EXECUTE nosuch;
DEALLOCATE PREPARE p;
DEALLOCATE PREPARE p;
SELECT 18446744073709551615 + 1;
SELECT 9223372036854775807 + 1;
SELECT 1 - CAST(2 AS UNSIGNED);
SELECT -(-9223372036854775808);
SELECT CAST('abc' AS SIGNED);
SHOW WARNINGS;
SELECT 1 / 0;
SHOW WARNINGS;
DROP TABLE e;
CREATE TABLE two_sets (x VARCHAR(10) CHARACTER SET latin1 CHARACTER SET utf8mb4);
CREATE TABLE digits_of_now (id INT PRIMARY KEY, ts TIMESTAMP(4) NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP);
CREATE TABLE digits_of_now (id INT PRIMARY KEY, ts TIMESTAMP(4) NOT NULL ON UPDATE CURRENT_TIMESTAMP);
-- Character sets that contradict each other, and renamed columns of foreign keys in a copy.
CREATE TABLE two_sets (a INT PRIMARY KEY) CHARACTER SET latin1 CHARACTER SET utf8mb4
CREATE TABLE two_sets (a INT PRIMARY KEY) COLLATE latin1_bin CHARACTER SET utf8mb4
CREATE TABLE two_sets (a INT PRIMARY KEY) COLLATE latin1_bin COLLATE utf8mb4_bin
CREATE TABLE two_sets (a INT PRIMARY KEY) COLLATE latin1_bin COLLATE latin1_swedish_ci
ALTER TABLE two_sets CONVERT TO CHARACTER SET utf8mb4, DEFAULT CHARACTER SET latin1
ALTER TABLE two_sets DEFAULT CHARACTER SET latin1, CONVERT TO CHARACTER SET utf8mb4
CREATE DATABASE two_sets CHARACTER SET latin1 CHARACTER SET utf8mb4
CREATE TABLE fk_parent (id INT PRIMARY KEY, q INT)
CREATE TABLE fk_child (id INT PRIMARY KEY, p INT, r INT, FOREIGN KEY (p) REFERENCES fk_parent (id))
ALTER TABLE fk_child RENAME COLUMN p TO pp, ALGORITHM=COPY
ALTER TABLE fk_parent RENAME COLUMN id TO idd, ALGORITHM=COPY
ALTER TABLE fk_child RENAME COLUMN p TO pp, MODIFY r SMALLINT
ALTER TABLE fk_child RENAME COLUMN r TO rr
DROP TABLE fk_child, fk_parent
-- Names that no table or database can have.
USE aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
CREATE TABLE aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.t (a INT PRIMARY KEY)
DROP TABLE aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.t
DROP DATABASE aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
DROP DATABASE IF EXISTS aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
SHOW TABLES FROM aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
CREATE TABLE known_name (a INT PRIMARY KEY)
RENAME TABLE known_name TO aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.t
ALTER TABLE known_name RENAME TO aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.t
GRANT SELECT ON d.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa TO root@localhost
GRANT SELECT ON aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.* TO root@localhost
DESCRIBE aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.t
ALTER DATABASE aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa CHARACTER SET latin1
SHOW CREATE TABLE aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.t
TRUNCATE TABLE aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.t
SELECT 1 FROM known_name aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
DROP TABLE known_name
CREATE TABLE read_only (id INT PRIMARY KEY)
INSERT INTO read_only VALUES (1)
START TRANSACTION READ ONLY
SELECT * FROM read_only FOR UPDATE
SELECT * FROM read_only FOR SHARE
SELECT (SELECT MAX(id) FROM read_only FOR UPDATE)
SELECT * FROM (SELECT * FROM read_only FOR UPDATE) x
SELECT 1 FOR UPDATE
ROLLBACK
SET transaction_read_only = ON
SELECT * FROM read_only FOR UPDATE
SELECT * FROM read_only LOCK IN SHARE MODE
SET transaction_read_only = OFF
DROP TABLE read_only
DROP TABLE ``
DROP TABLE IF EXISTS ``.x
DROP DATABASE ``
TRUNCATE `a `
RENAME TABLE `` TO x
SELECT * FROM ``
SELECT * FROM ``.``
SELECT (SELECT 1 FROM ``)
INSERT INTO ``.x VALUES (1)
UPDATE `` SET a = 1
DELETE FROM ``
SHOW CREATE TABLE ``
SHOW TABLES FROM ``
SHOW CREATE DATABASE `a `
USE ``
CREATE TABLE x LIKE ``
CREATE TABLE y (a INT, FOREIGN KEY (a) REFERENCES `` (b))
SELECT COUNT() FROM e
SELECT COUNT(*, 1) FROM e
SELECT COUNT(DISTINCT *) FROM e
SELECT SUM(*) FROM e
SET max_error_count = 2
SELECT CAST('a' AS SIGNED), CAST('b' AS SIGNED), CAST('c' AS SIGNED)
SHOW WARNINGS
SHOW COUNT(*) WARNINGS
SET max_error_count = 0
SELECT CAST('a' AS SIGNED)
SHOW COUNT(*) WARNINGS
SELECT nope
SHOW ERRORS
SET max_error_count = DEFAULT
SET sql_notes = 0
CREATE TABLE IF NOT EXISTS e (a INT)
SHOW WARNINGS
SHOW COUNT(*) WARNINGS
SET sql_notes = DEFAULT
CREATE TABLE IF NOT EXISTS e (a INT)
SHOW WARNINGS
