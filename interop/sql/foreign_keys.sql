-- Definitions.
CREATE TABLE p (id INT PRIMARY KEY, k VARCHAR(10) UNIQUE, n INT, KEY (n));
CREATE TABLE c (id INT PRIMARY KEY, pid INT, FOREIGN KEY (pid) REFERENCES p (id));
SHOW CREATE TABLE c;
CREATE TABLE c2 (id INT PRIMARY KEY, pid INT, k VARCHAR(20), CONSTRAINT named FOREIGN KEY (pid) REFERENCES p (id) ON DELETE CASCADE ON UPDATE SET NULL, FOREIGN KEY idx (k) REFERENCES p (k) ON DELETE SET NULL ON UPDATE CASCADE);
SHOW CREATE TABLE c2;
CREATE TABLE c3 (id INT PRIMARY KEY REFERENCES p (id) ON DELETE RESTRICT ON UPDATE NO ACTION, x INT REFERENCES p);
SHOW CREATE TABLE c3;
SELECT constraint_name, table_name, unique_constraint_name, match_option, update_rule, delete_rule, referenced_table_name FROM information_schema.referential_constraints WHERE constraint_schema = 'd' ORDER BY 1;
SELECT constraint_name, table_name, column_name, ordinal_position, position_in_unique_constraint, referenced_table_schema, referenced_table_name, referenced_column_name FROM information_schema.key_column_usage WHERE table_schema = 'd' ORDER BY 1, 2, 3;
SELECT constraint_name, table_name, constraint_type, enforced FROM information_schema.table_constraints WHERE table_schema = 'd' ORDER BY 1, 2;
SHOW INDEX FROM c2;
SHOW COLUMNS FROM c2;
CREATE TABLE e1 (id INT PRIMARY KEY, pid INT, CONSTRAINT named FOREIGN KEY (pid) REFERENCES p (id));
CREATE TABLE e1 (id INT PRIMARY KEY, pid BIGINT, FOREIGN KEY (pid) REFERENCES p (id));
CREATE TABLE e1 (id INT PRIMARY KEY, pid INT UNSIGNED, FOREIGN KEY (pid) REFERENCES p (id));
CREATE TABLE e1 (id INT PRIMARY KEY, pid INT, FOREIGN KEY (pid) REFERENCES nothere (id));
CREATE TABLE e1 (id INT PRIMARY KEY, pid INT, FOREIGN KEY (pid) REFERENCES p (nothere));
CREATE TABLE e1 (id INT PRIMARY KEY, pid INT, FOREIGN KEY (nothere) REFERENCES p (id));
CREATE TABLE e1 (id INT PRIMARY KEY, pid INT, FOREIGN KEY (pid, id) REFERENCES p (id));
CREATE TABLE e1 (id INT PRIMARY KEY, pid INT, FOREIGN KEY (pid) REFERENCES p (n));
CREATE TABLE e1 (id INT PRIMARY KEY, pid INT NOT NULL, FOREIGN KEY (pid) REFERENCES p (id) ON DELETE SET NULL);
CREATE TABLE l LIKE c2;
SHOW CREATE TABLE l;
DROP TABLE l;
-- Rows.
INSERT INTO p VALUES (1, 'a', 1), (2, 'b', 2), (3, 'c', 3);
INSERT INTO c VALUES (1, 1), (2, NULL), (3, 2);
INSERT INTO c VALUES (4, 9);
INSERT INTO c VALUES (5, 3), (6, 9);
INSERT IGNORE INTO c VALUES (5, 3), (6, 9), (7, 1);
SHOW WARNINGS;
UPDATE c SET pid = 9 WHERE id = 1;
UPDATE IGNORE c SET pid = 9 WHERE id = 1;
SHOW WARNINGS;
UPDATE c SET pid = 2 WHERE id = 1;
REPLACE INTO c VALUES (1, 9);
REPLACE INTO c VALUES (1, 3);
INSERT INTO c VALUES (1, 1) ON DUPLICATE KEY UPDATE pid = 9;
INSERT INTO c VALUES (1, 1) ON DUPLICATE KEY UPDATE pid = VALUES(pid);
SELECT * FROM c ORDER BY id;
DELETE FROM p WHERE id = 1;
UPDATE p SET id = 10 WHERE id = 1;
UPDATE p SET n = 100 WHERE id = 1;
DELETE IGNORE FROM p WHERE id = 1;
SHOW WARNINGS;
REPLACE INTO p VALUES (1, 'z', 5);
DELETE FROM c;
-- Cascades.
INSERT INTO c2 VALUES (1, 1, 'a'), (2, 1, 'b'), (3, 2, 'b'), (4, 3, NULL);
UPDATE p SET k = 'B2' WHERE id = 2;
SELECT * FROM c2 ORDER BY id;
UPDATE p SET id = 20 WHERE id = 2;
SELECT * FROM c2 ORDER BY id;
DELETE FROM p WHERE id = 1;
SELECT * FROM c2 ORDER BY id;
DELETE FROM p WHERE id = 20;
SELECT * FROM c2 ORDER BY id;
UPDATE p SET k = 'a key that is longer' WHERE id = 3;
SELECT * FROM p ORDER BY id;
-- A tree in itself.
CREATE TABLE t (id INT PRIMARY KEY, up INT, FOREIGN KEY (up) REFERENCES t (id) ON DELETE CASCADE);
INSERT INTO t VALUES (1, 1), (2, 1), (3, 2), (4, 3), (5, NULL), (6, 5);
INSERT INTO t VALUES (7, 8), (8, 7);
DELETE FROM t WHERE id = 2;
SELECT * FROM t ORDER BY id;
DELETE FROM t;
SELECT COUNT(*) FROM t;
CREATE TABLE r (id INT PRIMARY KEY, up INT, FOREIGN KEY (up) REFERENCES r (id));
INSERT INTO r VALUES (1, NULL), (2, 1), (3, 3);
DELETE FROM r WHERE id = 3;
DELETE FROM r WHERE id = 1;
DELETE FROM r ORDER BY id DESC;
SELECT COUNT(*) FROM r;
CREATE TABLE u (id INT PRIMARY KEY, up INT, FOREIGN KEY (up) REFERENCES u (id) ON UPDATE CASCADE);
INSERT INTO u VALUES (1, NULL), (2, 1);
UPDATE u SET id = 10 WHERE id = 1;
SELECT * FROM u ORDER BY id;
-- Deeper than InnoDB goes.
CREATE TABLE deep (id INT PRIMARY KEY, up INT, FOREIGN KEY (up) REFERENCES deep (id) ON DELETE CASCADE);
INSERT INTO deep VALUES (1, NULL), (2, 1), (3, 2), (4, 3), (5, 4), (6, 5), (7, 6), (8, 7), (9, 8), (10, 9), (11, 10), (12, 11), (13, 12), (14, 13), (15, 14);
DELETE FROM deep WHERE id = 1;
SELECT COUNT(*) FROM deep;
INSERT INTO deep VALUES (1, NULL), (2, 1), (3, 2), (4, 3), (5, 4), (6, 5), (7, 6), (8, 7), (9, 8), (10, 9), (11, 10), (12, 11), (13, 12), (14, 13), (15, 14), (16, 15), (17, 16), (18, 17);
DELETE FROM deep WHERE id = 1;
SELECT COUNT(*) FROM deep;
-- Keys of several columns, cascades into a primary key.
CREATE TABLE p2 (a INT, b VARCHAR(5), PRIMARY KEY (a, b));
CREATE TABLE k2 (a INT, b VARCHAR(5), x INT, PRIMARY KEY (a, b, x), FOREIGN KEY (a, b) REFERENCES p2 (a, b) ON UPDATE CASCADE ON DELETE CASCADE);
SHOW CREATE TABLE k2;
INSERT INTO p2 VALUES (1, 'x'), (1, 'y'), (2, 'x');
INSERT INTO k2 VALUES (1, 'x', 1), (1, 'x', 2), (2, 'x', 1);
INSERT INTO k2 VALUES (2, 'y', 1);
UPDATE p2 SET b = 'X' WHERE a = 1 AND b = 'x';
SELECT * FROM k2 ORDER BY a, b, x;
UPDATE p2 SET a = 3 WHERE b = 'x' ORDER BY a;
SELECT * FROM k2 ORDER BY a, b, x;
DELETE FROM p2 WHERE a = 3;
SELECT * FROM k2 ORDER BY a, b, x;
-- Several tables at once.
CREATE TABLE m1 (id INT PRIMARY KEY);
CREATE TABLE m2 (id INT PRIMARY KEY, m INT, FOREIGN KEY (m) REFERENCES m1 (id) ON DELETE CASCADE);
INSERT INTO m1 VALUES (1), (2);
INSERT INTO m2 VALUES (1, 1), (2, 1), (3, 2);
DELETE m1, m2 FROM m1 JOIN m2 ON m2.m = m1.id WHERE m1.id = 1;
SELECT * FROM m2;
-- Definitions that keys forbid.
DROP TABLE m1;
TRUNCATE TABLE m1;
TRUNCATE TABLE m2;
DROP TABLE m1, m2;
ALTER TABLE p DROP PRIMARY KEY;
ALTER TABLE p DROP COLUMN id;
ALTER TABLE p MODIFY id BIGINT;
ALTER TABLE c DROP COLUMN pid;
ALTER TABLE c DROP INDEX pid;
ALTER TABLE c MODIFY pid BIGINT;
ALTER TABLE c2 MODIFY pid INT NOT NULL;
ALTER TABLE c DROP FOREIGN KEY nothere;
ALTER TABLE c DROP FOREIGN KEY c_ibfk_1;
SHOW CREATE TABLE c;
ALTER TABLE c ADD CONSTRAINT back FOREIGN KEY (pid) REFERENCES p (id);
ALTER TABLE c DROP CONSTRAINT back;
INSERT INTO c VALUES (50, 999);
ALTER TABLE c ADD FOREIGN KEY (id) REFERENCES p (id), DROP COLUMN pid;
DELETE FROM c;
ALTER TABLE c ADD FOREIGN KEY (pid) REFERENCES p (id), ADD FOREIGN KEY (id) REFERENCES p (id);
SHOW CREATE TABLE c;
ALTER TABLE p RENAME COLUMN id TO pk;
SHOW CREATE TABLE c;
RENAME TABLE p TO pp;
SHOW CREATE TABLE c;
INSERT INTO c VALUES (1, 1);
RENAME TABLE c TO cc;
SHOW CREATE TABLE cc;
-- Without checks.
BEGIN;
INSERT INTO cc VALUES (777, 777);
SET foreign_key_checks = 0;
INSERT INTO cc VALUES (777, 777);
SET foreign_key_checks = 1;
INSERT INTO cc VALUES (778, 778);
ROLLBACK;
SET foreign_key_checks = 0;
CREATE TABLE early (id INT PRIMARY KEY, x INT, FOREIGN KEY (x) REFERENCES late (id) ON DELETE CASCADE);
INSERT INTO early VALUES (1, 1), (2, 2);
SET foreign_key_checks = 1;
INSERT INTO early VALUES (3, 3);
SHOW CREATE TABLE early;
CREATE TABLE late (id INT PRIMARY KEY);
INSERT INTO late VALUES (1);
DELETE FROM late;
SELECT * FROM early ORDER BY id;
SET foreign_key_checks = 0;
DROP TABLE late;
SET foreign_key_checks = 1;
DROP DATABASE d;
-- A row without its parent: in MySQL since 9.6 that is found before the row has a number, and before another row with its key is.
CREATE TABLE first_parent (id INT PRIMARY KEY, a INT)
INSERT INTO first_parent VALUES (1, 1), (2, 2)
CREATE TABLE first_child (id INT PRIMARY KEY AUTO_INCREMENT, p INT, a INT, UNIQUE (a), FOREIGN KEY (p) REFERENCES first_parent (id))
INSERT INTO first_child VALUES (21, 5, 1)
INSERT INTO first_child (p) VALUES (1)
INSERT IGNORE INTO first_child VALUES (31, 5, 1)
INSERT INTO first_child (p) VALUES (1)
INSERT INTO first_child VALUES (41, 1, 1), (0, 7, 2)
INSERT INTO first_child (p) VALUES (1)
INSERT INTO first_child VALUES (NULL, 7, 6)
INSERT INTO first_child VALUES (NULL, 7, 6), (NULL, 7, 6)
INSERT IGNORE INTO first_child VALUES (NULL, 7, 6), (NULL, 1, 60)
INSERT INTO first_child (p) VALUES (1)
SELECT * FROM first_child
UPDATE first_child SET id = 61, p = 8 WHERE id = 2
INSERT INTO first_child (p) VALUES (1)
REPLACE INTO first_child VALUES (91, 9, 1)
INSERT INTO first_child (p) VALUES (1)
INSERT INTO first_child VALUES (101, 1, 1), (102, 1, 2)
INSERT INTO first_child VALUES (101, 7, 3)
INSERT INTO first_child VALUES (103, 7, 1)
INSERT IGNORE INTO first_child VALUES (101, 7, 3)
SHOW WARNINGS
INSERT IGNORE INTO first_child VALUES (103, 7, 1), (104, 1, 1)
SHOW WARNINGS
REPLACE INTO first_child VALUES (101, 7, 3)
INSERT INTO first_child VALUES (101, 7, 3) ON DUPLICATE KEY UPDATE a = 9
INSERT INTO first_child VALUES (101, 1, 3) ON DUPLICATE KEY UPDATE p = 7, a = 2
UPDATE first_child SET p = 7, a = 2 WHERE id = 101
UPDATE first_child SET p = 7, id = 102 WHERE id = 101
UPDATE IGNORE first_child SET p = 7, a = 2 WHERE id = 101
SHOW WARNINGS
CREATE TABLE first_grandchild (id INT PRIMARY KEY, c INT, FOREIGN KEY (c) REFERENCES first_child (id))
INSERT INTO first_grandchild VALUES (1, 101)
UPDATE first_child SET p = 7, id = 303 WHERE id = 101
UPDATE first_child SET a = 2, id = 303 WHERE id = 101
UPDATE first_child SET p = 7, a = 2, id = 303 WHERE id = 101
INSERT INTO first_child (p) VALUES (1)
SELECT * FROM first_child
CREATE TABLE own_parent (id INT PRIMARY KEY AUTO_INCREMENT, p INT, FOREIGN KEY (p) REFERENCES own_parent (id))
INSERT INTO own_parent VALUES (1, 1), (2, 1), (3, 4), (4, 4)
INSERT INTO own_parent VALUES (1, 1), (2, 1)
SELECT * FROM own_parent
DROP TABLE first_grandchild, first_child, first_parent, own_parent
