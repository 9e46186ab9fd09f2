-- Statements as text, with everything that can stand in front of them or beside them.
SET SESSION binlog_format = STATEMENT;
CREATE DATABASE d;
CREATE DATABASE e;
USE d;
SET timestamp = 1700000000.25;
CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, s VARCHAR(100), n DOUBLE, m DECIMAL(65,30), u BIGINT UNSIGNED) ENGINE=InnoDB;
CREATE TABLE plain (id INT PRIMARY KEY, s VARCHAR(100)) ENGINE=MyISAM;
CREATE TABLE e.t LIKE t;
-- Session state that goes along.
SET time_zone = '+02:00', lc_time_names = 'de_DE', auto_increment_increment = 5, auto_increment_offset = 2;
SET sql_mode = 'ANSI,TRADITIONAL', foreign_key_checks = 0, unique_checks = 0, sql_auto_is_null = 1;
INSERT INTO t (s) VALUES (DATE_FORMAT(NOW(), '%W %M'));
INSERT INTO t (s) VALUES ('a'), ('b');
INSERT INTO plain SELECT id, s FROM t;
SET time_zone = DEFAULT, lc_time_names = DEFAULT, auto_increment_increment = DEFAULT, auto_increment_offset = DEFAULT;
SET sql_mode = DEFAULT, foreign_key_checks = 1, unique_checks = 1, sql_auto_is_null = 0;
SET NAMES latin1;
INSERT INTO t (s) VALUES (CONCAT('latin', LAST_INSERT_ID()));
SET NAMES utf8mb4;
SET collation_database = latin1_swedish_ci;
SET default_collation_for_utf8mb4 = utf8mb4_general_ci;
CREATE TABLE other_default (s TEXT CHARACTER SET utf8mb4);
SET default_collation_for_utf8mb4 = DEFAULT;
INSERT INTO t (n) VALUES (RAND());
-- User variables of all types.
SET @null = NULL, @text = 'Grüße', @binary = x'00ff10', @int = -5, @big = 18446744073709551615, @real = 1.5e10, @dec = -12345678901234567890.0123456789;
INSERT INTO t (s, n) VALUES (@text, @int), (@text, @real), (@null, NULL);
INSERT INTO t (s) VALUES (HEX(@binary));
INSERT INTO t (m, u) VALUES (@dec, @big);
-- Temporary tables, kills, several databases, rolled back and not.
CREATE TEMPORARY TABLE temporary_one (id INT);
INSERT INTO temporary_one VALUES (1), (2);
INSERT INTO t (s) SELECT id FROM temporary_one;
DROP TEMPORARY TABLE temporary_one;
UPDATE t, e.t AS et SET t.s = 'both', et.s = 'both';
BEGIN;
INSERT INTO t (s) VALUES ('kept');
SAVEPOINT one;
INSERT INTO t (s) VALUES ('not kept');
ROLLBACK TO one;
UPDATE t SET n = 7 WHERE s = 'kept';
COMMIT;
-- Routines and their definers.
CREATE DEFINER = 'some'@'where' PROCEDURE p() INSERT INTO t (s) VALUES ('from a procedure');
CREATE TRIGGER before_insert BEFORE INSERT ON plain FOR EACH ROW SET NEW.s = UPPER(NEW.s);
CREATE USER u IDENTIFIED WITH caching_sha2_password AS '$A$005$THISISACOMBINATIONOFINVALIDSALTANDPASSWORDTHATMUSTNEVERBRBEUSED';
GRANT SELECT ON d.* TO u;
DROP USER u;
ALTER TABLE e.t RENAME TO d.moved;
DROP TABLE d.moved, d.other_default;
-- LOAD DATA in blocks, one that fails included.
SELECT REPEAT('x', 60), seq FROM (WITH RECURSIVE r AS (SELECT 1 AS seq UNION ALL SELECT seq + 1 FROM r WHERE seq < 100) SELECT seq FROM r) AS s INTO OUTFILE 'golden.txt' FIELDS TERMINATED BY ',';
LOAD DATA INFILE 'golden.txt' REPLACE INTO TABLE t CHARACTER SET utf8mb4 FIELDS TERMINATED BY ',' (s, @number) SET n = @number + 1;
SELECT 1, 'first' UNION ALL SELECT 900, 'second' UNION ALL SELECT 900, 'third' INTO OUTFILE 'golden2.txt' FIELDS TERMINATED BY ',';
-- Fails: a duplicate key.
LOAD DATA INFILE 'golden2.txt' INTO TABLE plain FIELDS TERMINATED BY ',';
-- Fails: a duplicate key.
LOAD DATA INFILE 'golden2.txt' INTO TABLE plain FIELDS TERMINATED BY ',';
-- Two phases.
XA START 'gtrid', 'bqual', 7;
INSERT INTO t (s) VALUES ('xa');
XA END 'gtrid', 'bqual', 7;
XA PREPARE 'gtrid', 'bqual', 7;
XA COMMIT 'gtrid', 'bqual', 7;
XA START 'one';
INSERT INTO t (s) VALUES ('xa one phase');
XA END 'one';
XA COMMIT 'one' ONE PHASE;
SET SESSION binlog_format = MIXED;
INSERT INTO t (s) VALUES (UUID());
DROP DATABASE e;
FLUSH BINARY LOGS;
