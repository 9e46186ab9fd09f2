-- INSERT, REPLACE, UPDATE, DELETE in their forms; affected rows show through ROW_COUNT().
CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, k INT UNIQUE, v VARCHAR(20) DEFAULT 'none', n INT NOT NULL DEFAULT 0);
INSERT INTO t (k, v) VALUES (1, 'one'), (2, 'two'), (3, 'three');
SELECT ROW_COUNT(), LAST_INSERT_ID();
INSERT INTO t SET k = 4, v = 'four';
SELECT LAST_INSERT_ID();
INSERT INTO t (k) VALUES (1);
INSERT IGNORE INTO t (k, v) VALUES (1, 'dup'), (5, 'five');
SELECT ROW_COUNT();
SELECT * FROM t ORDER BY id;
INSERT INTO t (k, v) VALUES (1, 'again') ON DUPLICATE KEY UPDATE v = VALUES(v), n = n + 1;
SELECT ROW_COUNT();
INSERT INTO t (k, v) VALUES (2, 'new') AS fresh ON DUPLICATE KEY UPDATE v = CONCAT(t.v, '+', fresh.v);
SELECT * FROM t ORDER BY id;
REPLACE INTO t (id, k, v) VALUES (1, 1, 'replaced');
SELECT ROW_COUNT();
REPLACE INTO t (k, v) VALUES (3, 'moved');
SELECT ROW_COUNT();
SELECT * FROM t ORDER BY k;
UPDATE t SET v = 'x' WHERE k = 2;
SELECT ROW_COUNT();
UPDATE t SET v = 'x' WHERE k = 2;
SELECT ROW_COUNT();
UPDATE t SET n = n + 10, v = CONCAT('n', n) WHERE k >= 4;
SELECT * FROM t ORDER BY k;
UPDATE t SET n = id ORDER BY k DESC LIMIT 2;
SELECT * FROM t ORDER BY k;
UPDATE t SET k = k + 100;
SELECT k FROM t ORDER BY k;
UPDATE t SET k = 101 WHERE k = 102;
UPDATE t SET id = 50 WHERE k = 101;
SELECT id FROM t ORDER BY id;
DELETE FROM t WHERE k = 105;
SELECT ROW_COUNT();
DELETE FROM t ORDER BY k DESC LIMIT 1;
SELECT k FROM t ORDER BY k;
CREATE TABLE u (id INT PRIMARY KEY, v VARCHAR(20));
INSERT INTO u SELECT id, v FROM t;
SELECT ROW_COUNT();
SELECT COUNT(*) FROM u;
INSERT INTO u SELECT id + 1000, v FROM u;
SELECT COUNT(*) FROM u;
UPDATE t JOIN u ON u.id = t.id SET t.v = CONCAT(u.v, '!');
SELECT v FROM t ORDER BY id;
DELETE t FROM t JOIN u ON u.id = t.id WHERE t.k = 101;
SELECT COUNT(*) FROM t;
DELETE FROM u;
SELECT ROW_COUNT();
TRUNCATE TABLE t;
INSERT INTO t (k) VALUES (7);
SELECT id FROM t;
INSERT INTO t (id, k) VALUES (100, 8);
INSERT INTO t (k) VALUES (9);
SELECT id, k FROM t ORDER BY id;
INSERT INTO t (id, k) VALUES (0, 10), (NULL, 11);
SELECT id, k FROM t ORDER BY id;
INSERT INTO t VALUES (DEFAULT, 12, DEFAULT, DEFAULT);
SELECT * FROM t WHERE k = 12;
INSERT INTO t (k, n) VALUES (13, NULL);
INSERT INTO t (k, nosuch) VALUES (13, 1);
INSERT INTO t (k, v) VALUES (13);
INSERT INTO t (k, v) VALUES (13, 'a string that is longer than twenty');
INSERT INTO nosuch VALUES (1);
UPDATE t SET nosuch = 1;
DELETE FROM t WHERE nosuch = 1;
SELECT COUNT(*) FROM t;
DROP TABLE t, u;
CREATE TABLE num (id INT PRIMARY KEY AUTO_INCREMENT, v INT);
INSERT INTO num VALUES (NULL, 0), (2, 0), (NULL, 0);
INSERT INTO num VALUES (20, 0), (NULL, 1), (NULL, 2), (26, 3), (NULL, 4);
INSERT INTO num VALUES (NULL, 5), (-3, 6), (NULL, 7);
INSERT INTO num SELECT NULL, 8 UNION ALL SELECT 70, 9 UNION ALL SELECT NULL, 10;
SELECT * FROM num ORDER BY id;
CREATE TABLE tiny (id TINYINT PRIMARY KEY AUTO_INCREMENT, v INT);
INSERT INTO tiny VALUES (126, 1);
INSERT INTO tiny VALUES (NULL, 2), (NULL, 3);
INSERT INTO tiny VALUES (NULL, 2);
INSERT INTO tiny VALUES (NULL, 3);
INSERT IGNORE INTO tiny VALUES (NULL, 4), (5, 5);
INSERT INTO tiny VALUES (NULL, 6) ON DUPLICATE KEY UPDATE v = v + 10;
SELECT * FROM tiny ORDER BY id;
UPDATE tiny SET id = DEFAULT WHERE id = 5;
SELECT * FROM tiny ORDER BY id;
CREATE TABLE unset (a INT NOT NULL, b INT DEFAULT 3, c INT);
INSERT INTO unset (c, a) VALUES (a + 2, 5), (a + 3, 6);
INSERT INTO unset SET a = b, b = a + 1, c = b;
INSERT INTO unset SELECT 1, 2, 3 ON DUPLICATE KEY UPDATE a = DEFAULT;
SELECT * FROM unset ORDER BY a;
CREATE TABLE twice (pk INT PRIMARY KEY, a INT, b INT);
INSERT INTO twice VALUES (1, 2, 2), (3, 4, 4);
UPDATE twice AS x, twice AS y SET x.pk = 10, y.a = 20 WHERE x.pk = 1 AND y.pk = 1;
UPDATE twice AS x, twice AS y SET x.b = 10, y.a = 20 WHERE x.pk = 1 AND y.pk = 1;
SELECT * FROM twice ORDER BY pk;
CREATE TABLE member (id INT PRIMARY KEY, e ENUM('a', 'b'));
CREATE TABLE other_member (id INT PRIMARY KEY, e ENUM('c', 'a'));
INSERT IGNORE INTO member VALUES (1, 'q'), (2, 'a');
INSERT INTO other_member SELECT * FROM member;
SELECT id, e, e + 0 FROM other_member ORDER BY id;
DROP TABLE num, tiny, unset, twice, member, other_member;
CREATE TABLE waits (a INT, b INT, c INT);
INSERT INTO waits VALUES (SLEEP(0.01), GET_LOCK('waits', 0), RELEASE_LOCK('waits')), (2, IS_FREE_LOCK('waits'), 0), (SLEEP(0), (SELECT 5), SLEEP(0.01) + 7);
INSERT INTO waits (a, b) VALUES (5, a + 1), (6, a + 1);
INSERT INTO waits SET a = 8, b = SLEEP(0), c = a + b;
REPLACE INTO waits (a, b) VALUES (IF(0, SLEEP(3), 1), (SELECT COUNT(*) FROM (SELECT 1) one));
SELECT * FROM waits ORDER BY a, b;
DROP TABLE waits;
CREATE TABLE counted (id INT PRIMARY KEY AUTO_INCREMENT, u INT UNIQUE, v INT);
INSERT INTO counted VALUES (1, 1, 1), (2, 2, 2), (25, 25, 25);
INSERT INTO counted (id, u, v) VALUES (NULL, 1, 80), (40, 2, 80), (NULL, 41, 1) ON DUPLICATE KEY UPDATE v = 80;
SELECT LAST_INSERT_ID();
INSERT INTO counted (id, u, v) VALUES (NULL, 42, 80), (60, 2, 80), (NULL, 43, 1) ON DUPLICATE KEY UPDATE v = 80;
SELECT LAST_INSERT_ID();
INSERT IGNORE INTO counted (id, u, v) VALUES (NULL, 44, 80), (80, 2, 80), (NULL, 45, 1);
SELECT LAST_INSERT_ID();
INSERT INTO counted (id, u, v) VALUES (NULL, 46, 80), (90, 90, 80), (NULL, 47, 1) ON DUPLICATE KEY UPDATE v = 80;
SELECT * FROM counted ORDER BY id;
DROP TABLE counted;
CREATE TABLE clocks (id INT PRIMARY KEY, t TIME, d DATE);
INSERT INTO clocks VALUES (1, '00:00:00', '2020-01-01'), (2, '10:00:00', '2020-01-02');
SELECT id FROM clocks WHERE t IN ('', '10:00:00') ORDER BY id;
SELECT id FROM clocks WHERE t IN ('x', '10:00:00x') ORDER BY id;
SELECT id, t IN ('x', NULL), t IN ('10:00:00x'), t IN (''), t NOT IN ('', 'x') FROM clocks ORDER BY id;
SELECT id FROM clocks WHERE d IN ('');
SELECT TIME'00:00:00' IN ('', '10:00:00'), TIME'10:00:00' IN ('10:00:00', 'x'), TIME'00:00:10' IN ('10', 'x'), TIME'00:00:00' IN (NULL, 'x');
DELETE FROM clocks WHERE t IN ('', 'x');
UPDATE clocks SET id = 3 WHERE t IN ('10:00:00', 'x');
SET sql_mode = '';
DELETE FROM clocks WHERE t IN ('', 'x');
SELECT * FROM clocks;
SET sql_mode = DEFAULT;
DROP TABLE clocks;
CREATE TABLE empties (id INT PRIMARY KEY AUTO_INCREMENT, e ENUM('a', '', 'b'), KEY (e));
SET sql_mode = '';
INSERT INTO empties (e) VALUES ('a'), (''), ('b'), ('q'), (0), (2), (NULL);
SELECT id, e, e + 0, IF(e, 1, 0), CASE e WHEN '' THEN 1 ELSE 0 END, NULLIF(e, '') FROM empties ORDER BY id;
SELECT id FROM empties WHERE e = 0 ORDER BY id;
SELECT id FROM empties WHERE e = 2 ORDER BY id;
SELECT id FROM empties WHERE e IN (0, 2) ORDER BY id;
SELECT id FROM empties IGNORE INDEX (e) WHERE e = '' ORDER BY id;
SELECT e, COUNT(*) FROM empties GROUP BY e ORDER BY e;
SELECT id, e FROM empties ORDER BY e, id;
SELECT x.id, y.id FROM empties x IGNORE INDEX (e) JOIN empties y IGNORE INDEX (e) ON x.e = y.e AND x.id < y.id AND x.id < 4 AND y.id > 4 ORDER BY 1, 2;
SELECT COUNT(DISTINCT e), CONCAT(MIN(e)), CONCAT(MAX(e)) FROM empties;
CREATE TABLE copied SELECT id, e FROM empties;
INSERT INTO copied SELECT id + 10, e FROM empties;
SELECT id, e + 0 FROM copied ORDER BY id;
CREATE TABLE plain (id INT PRIMARY KEY, e ENUM('a', 'b'));
INSERT INTO plain SELECT id, e FROM empties;
INSERT INTO plain VALUES (20, 'q');
INSERT INTO copied SELECT id + 20, e FROM plain;
SELECT id, e + 0 FROM plain ORDER BY id;
SELECT id, e + 0 FROM copied WHERE id > 20 ORDER BY id;
SET sql_mode = DEFAULT;
ALTER TABLE empties MODIFY e ENUM('', 'a', 'b', 'c');
SELECT id, e + 0 FROM empties ORDER BY id;
ALTER TABLE plain MODIFY e ENUM('x', '', 'b', 'a');
SELECT id, e + 0 FROM plain ORDER BY id;
INSERT INTO plain VALUES (30, '');
UPDATE empties SET e = '' WHERE id = 4;
SELECT id, e + 0 FROM plain WHERE id = 30;
SELECT e + 0 FROM empties WHERE id = 4;
DROP TABLE empties, copied, plain;
SET sql_mode = '';
CREATE TABLE warned (a INT NOT NULL, v VARCHAR(2), e ENUM('a'), s SET('a'));
INSERT INTO warned VALUES (NULL, 'abc', 'q', 'q'), (NULL, 'abc', 'q', 'q');
SHOW WARNINGS;
INSERT INTO warned SELECT NULL, 'abc', 'q', 'q' UNION ALL SELECT NULL, 'abd', 'x', 'x';
SHOW WARNINGS;
REPLACE INTO warned VALUES (NULL, 'abc', 'q', 'q'), (NULL, 'abc', 'q', 'q');
SHOW WARNINGS;
SET sql_mode = DEFAULT;
DROP TABLE warned;
-- The new row's alias knows the columns that the statement names.
CREATE TABLE named (id INT PRIMARY KEY AUTO_INCREMENT, a INT DEFAULT 7, b INT DEFAULT 8, c INT)
INSERT INTO named (b, c) VALUES (1, 2) AS n ON DUPLICATE KEY UPDATE a = n.a
INSERT INTO named (b, c) VALUES (1, 2) AS n ON DUPLICATE KEY UPDATE a = n.b
INSERT INTO named (id, c, b) VALUES (1, 20, 30) AS n(x, y, z) ON DUPLICATE KEY UPDATE b = n.y, c = n.z
SELECT * FROM named
INSERT INTO named (id, c, b) VALUES (1, 20, 30) AS n(x, y) ON DUPLICATE KEY UPDATE b = n.y
INSERT INTO named (id, c, b) VALUES (100, 20, 30) AS n(a, b)
INSERT INTO named VALUES (1, 20, 30, 40) AS n(x, y, z, v) ON DUPLICATE KEY UPDATE a = y + z + v
INSERT INTO named VALUES (1, 20, 30, 40) AS n(x, y, z) ON DUPLICATE KEY UPDATE a = y + z
INSERT INTO named (id, c, b) VALUES (1, 20, 30) AS n(x, y, y) ON DUPLICATE KEY UPDATE b = n.y
INSERT INTO named (id, c, b) VALUES (1, 20, 30) AS n(A, a, y) ON DUPLICATE KEY UPDATE b = 1
INSERT INTO named (id, c, b) VALUES (1, 20, 30) AS n(c, b, id) ON DUPLICATE KEY UPDATE a = n.c
INSERT INTO named (id, c, b) VALUES (1, 20, 30) AS n(p, q, r) ON DUPLICATE KEY UPDATE a = c
INSERT INTO named (id, c, b) VALUES (1, 20, 30) AS n(p, q, r) ON DUPLICATE KEY UPDATE a = q.c
INSERT INTO named (id, c, b) VALUES (1, 20, 30) AS n ON DUPLICATE KEY UPDATE a = c
INSERT INTO named (id, c, b) VALUES (1, 20, 30) AS n ON DUPLICATE KEY UPDATE b = 1
INSERT INTO named (id, c, b) VALUES (1, 20, 30) AS n ON DUPLICATE KEY UPDATE b = named.b + n.b
INSERT INTO named (id, c, b) VALUES (1, 20, 30) AS n ON DUPLICATE KEY UPDATE n.b = 5
INSERT INTO named (id, c, b) VALUES (1, 20, 30) AS n(a, x, y) ON DUPLICATE KEY UPDATE b = a + 1
INSERT INTO named (id, c, b) VALUES (1, 20, 30) AS n(a, x, y) ON DUPLICATE KEY UPDATE x = 1
INSERT INTO named (id, c, b) VALUES (1, 20, 30) AS n(p, q, r) ON DUPLICATE KEY UPDATE a = a + 1, b = p
INSERT INTO named (id, c, b) VALUES (1, 20, 30) AS named ON DUPLICATE KEY UPDATE a = 1
INSERT INTO named (id, c, b) VALUES (1, 20, 30) AS n
INSERT INTO named (id, c, b) VALUES (1, 20, 30) AS n ON DUPLICATE KEY UPDATE a = VALUES(c)
INSERT INTO named SET id = 1, c = 5 AS n ON DUPLICATE KEY UPDATE a = n.c
INSERT INTO named SET id = 1, c = 5 AS n ON DUPLICATE KEY UPDATE a = n.a
INSERT INTO named SET id = 1, c = 5 AS n(k, l) ON DUPLICATE KEY UPDATE a = l
INSERT INTO named () VALUES () AS n ON DUPLICATE KEY UPDATE a = n.a
SELECT * FROM named
DROP TABLE named
-- Numbers of a column that is no primary key.
CREATE TABLE counting (id INT NOT NULL AUTO_INCREMENT, a INT, KEY (id))
INSERT INTO counting VALUES (74, 1), (NULL, 2), (NULL, 3)
INSERT INTO counting (a) VALUES (4)
INSERT INTO counting VALUES (5, 5), (6, 6), (7, 7)
INSERT INTO counting (a) VALUES (8)
INSERT INTO counting VALUES (90, 9), (DEFAULT, 10), (0, 11), (3, 12) ON DUPLICATE KEY UPDATE a = a + 2
INSERT INTO counting (a) SELECT a FROM counting WHERE a < 4
INSERT INTO counting (a) VALUES (13)
SELECT * FROM counting ORDER BY a, id
ALTER TABLE counting AUTO_INCREMENT = 500
INSERT INTO counting (a) VALUES (14)
SELECT MAX(id) FROM counting
TRUNCATE TABLE counting
INSERT INTO counting (a) VALUES (15), (16)
SELECT * FROM counting
DROP TABLE counting
CREATE TABLE counting (id INT NOT NULL AUTO_INCREMENT, v INT, KEY (id))
INSERT INTO counting VALUES (3, 0), (NULL, 1)
SET insert_id = 3
INSERT INTO counting (v) VALUES (2), (3)
SET insert_id = 20
INSERT INTO counting VALUES (1, 4), (NULL, 5), (2, 6), (NULL, 7)
INSERT INTO counting (v) VALUES (8)
SELECT * FROM counting ORDER BY v
DROP TABLE counting
CREATE TABLE used_number (id INT PRIMARY KEY AUTO_INCREMENT, u INT UNIQUE, v INT)
INSERT INTO used_number (u) VALUES (1), (2), (3)
INSERT INTO used_number (id, u, v) VALUES (0, 9, 1), (0, 9, 2), (0, 8, 3), (0, 7, 4) ON DUPLICATE KEY UPDATE id = VALUES(id)
SELECT LAST_INSERT_ID()
INSERT INTO used_number (u, v) VALUES (1, 1), (20, 2), (2, 3), (21, 4) ON DUPLICATE KEY UPDATE id = id + 100
INSERT INTO used_number (u, v) VALUES (3, 1), (30, 2), (31, 3), (32, 4) ON DUPLICATE KEY UPDATE id = id + 200
INSERT INTO used_number (u, v) SELECT u, 50 FROM used_number WHERE u IN (7, 8, 9) ORDER BY id ON DUPLICATE KEY UPDATE id = VALUES(id) + VALUES(v)
INSERT INTO used_number (u, v) SELECT 7, 1 UNION ALL SELECT 60, 1 UNION ALL SELECT 61, 2 ON DUPLICATE KEY UPDATE id = VALUES(id)
INSERT IGNORE INTO used_number (u, v) VALUES (60, 1), (70, 2), (61, 3), (71, 4) ON DUPLICATE KEY UPDATE id = 1
INSERT INTO used_number (u, v) VALUES (100, 1), (100, 2) ON DUPLICATE KEY UPDATE id = id
INSERT INTO used_number (u, v) VALUES (100, 1), (100, 2) ON DUPLICATE KEY UPDATE v = VALUES(v)
SELECT * FROM used_number ORDER BY id
SET auto_increment_increment = 10, auto_increment_offset = 3
INSERT INTO used_number (u, v) VALUES (60, 1), (200, 2), (61, 3), (201, 4) ON DUPLICATE KEY UPDATE id = VALUES(id)
INSERT INTO used_number (u, v) VALUES (60, 1), (300, 2), (61, 3), (301, 4) ON DUPLICATE KEY UPDATE id = VALUES(id) + 15
SHOW CREATE TABLE used_number
SET auto_increment_increment = 1, auto_increment_offset = 1
INSERT INTO used_number (u, v) VALUES (400, 1)
SELECT * FROM used_number ORDER BY id
DROP TABLE used_number
CREATE TABLE base_of (a INT, c VARCHAR(5))
INSERT INTO base_of VALUES (1, 'c'), (2, 'd')
CREATE TABLE in_order (b INT, a INT, d INT DEFAULT 5, PRIMARY KEY (b)) SELECT c AS x, a AS b FROM base_of
SELECT * FROM in_order
SHOW COLUMNS FROM in_order
DROP TABLE in_order
PREPARE making FROM 'CREATE TABLE made (PRIMARY KEY (k)) AS SELECT a AS k, c, ? AS x, ? AS y FROM base_of WHERE a > ? LIMIT ?'
SET @made_a = 7, @made_b = 'text', @made_c = 0, @made_d = 1
EXECUTE making USING @made_a, @made_b, @made_c, @made_d
SELECT * FROM made
SHOW COLUMNS FROM made
EXECUTE making USING @made_a, @made_b, @made_c, @made_d
DROP TABLE made
SET @made_a = 1.5, @made_b = NULL, @made_d = 9
EXECUTE making USING @made_a, @made_b, @made_c, @made_d
SELECT * FROM made
SHOW COLUMNS FROM made
DROP TABLE made
PREPARE making FROM 'CREATE TABLE made (PRIMARY KEY (c)) REPLACE SELECT c, ? AS w FROM base_of UNION ALL SELECT c, a FROM base_of'
EXECUTE making USING @made_d
SELECT c, w + 0 FROM made
DROP TABLE made, base_of
DEALLOCATE PREPARE making
-- WITH before what changes rows.
CREATE TABLE w1 (id INT PRIMARY KEY, v INT);
CREATE TABLE w2 (id INT PRIMARY KEY, v INT);
INSERT INTO w1 VALUES (1, 10), (2, 20), (3, 30), (4, 40);
INSERT INTO w2 VALUES (2, 200), (3, 300);
WITH c AS (SELECT id, v FROM w2 WHERE id > 1) UPDATE w1, c SET w1.v = c.v + 1 WHERE w1.id = c.id;
WITH c AS (SELECT 1 AS id), d AS (SELECT id + 3 AS id FROM c) UPDATE w1 SET v = (SELECT id FROM c) WHERE id IN (SELECT id FROM d);
SELECT * FROM w1 ORDER BY id;
WITH c (x) AS (SELECT 2) DELETE w1 FROM w1 JOIN c ON w1.id = c.x;
WITH c (x) AS (SELECT MAX(id) FROM w2) DELETE FROM w1 WHERE id IN (SELECT x FROM c);
WITH w1 AS (SELECT 1 AS id) UPDATE w1 SET id = 2;
WITH c AS (SELECT 1 AS id) UPDATE c SET id = 2;
WITH c AS (SELECT 1 AS id) DELETE FROM c;
INSERT INTO w1 WITH c AS (SELECT 9 AS id) SELECT id, id FROM c;
SELECT * FROM w1 ORDER BY id;
SELECT id FROM w1 WHERE id = 1 UNION SELECT 1 INTO @w;
SELECT @w;
SELECT 1 INTO @w UNION SELECT 2;
SELECT (SELECT 1 INTO @w);
SELECT 1 INTO w;
INSERT INTO w1 (id) SET id = 5;
REPLACE INTO w1 () SET id = 5;
SELECT VALUES(nosuch) FROM w1;
SELECT VALUES(v) FROM w1 LIMIT 1;
DELETE FROM w1;
INSERT INTO w1 TABLE w2;
SELECT * FROM w1 ORDER BY id;
REPLACE INTO w1 TABLE w2 ORDER BY id LIMIT 1;
SELECT ROW_COUNT();
DROP TABLE w1, w2;
-- Duplicates of REPLACE are the rows that went: an equal row under the only key stays.
CREATE TABLE w1 (id INT PRIMARY KEY, v INT);
CREATE TABLE w2 (id INT PRIMARY KEY, v INT, UNIQUE (v));
INSERT INTO w1 VALUES (1, 1), (2, 2), (3, 3);
INSERT INTO w2 VALUES (1, 1), (2, 2), (3, 3);
REPLACE INTO w1 SELECT id, IF(id = 1, v, 9) FROM w2;
REPLACE INTO w1 VALUES (1, 1), (2, 9), (3, 8);
REPLACE INTO w1 VALUES (1, 1);
REPLACE INTO w2 TABLE w1 ORDER BY id LIMIT 1;
REPLACE INTO w2 VALUES (1, 1), (2, 3);
DROP TABLE w1, w2;
