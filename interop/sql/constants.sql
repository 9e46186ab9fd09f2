-- A constant has the form of the column that it stands beside, or is an error, by an index and without one.
CREATE TABLE ti (c TIME NOT NULL PRIMARY KEY, d TIME)
INSERT INTO ti VALUES ('09:09:33', '09:09:33'), ('10:10:34', '10:10:34'), ('12:10:34', '12:10:34')
SET TIMESTAMP = 1171346973
SELECT c FROM ti WHERE c = TIMESTAMP('2007-02-15 10:10:34')
SELECT c FROM ti WHERE c < TIMESTAMP('2007-02-15 11:00:00')
SELECT c FROM ti WHERE d < TIMESTAMP('2007-02-15 11:00:00')
SELECT c FROM ti WHERE c < CAST('2007-02-15' AS DATE)
SELECT c FROM ti WHERE c <= ADDTIME(NOW(), '2 02:01:01')
SELECT c FROM ti WHERE d <= ADDTIME(NOW(), '2 02:01:01')
SELECT c FROM ti WHERE c IN (TIMESTAMP('2007-02-15 10:10:34'))
SELECT c, c < TIMESTAMP('2007-02-15 10:00:00'), c < CAST('2007-02-15' AS DATE), c = TIMESTAMP('2007-02-15 10:10:34'), c <= NOW() FROM ti ORDER BY c
SET TIMESTAMP = DEFAULT
-- Zeros in dates, by sql_mode.
CREATE TABLE dz (a DATE, b DATETIME, c TIMESTAMP NULL, n INT)
SET sql_mode = ''
INSERT INTO dz VALUES ('0000-00-00', '0000-00-00', NULL, 1), ('2001-01-17', '2001-01-17', '2001-01-17', 2)
SET sql_mode = DEFAULT
SELECT n FROM dz WHERE a = '0000-00-00'
SELECT n FROM dz WHERE a > '0000-00-00'
SELECT n FROM dz WHERE b <> '0000-00-00 00:00:00'
SELECT n FROM dz WHERE c = '0000-00-00'
SELECT n FROM dz WHERE a = '2001-00-01'
SELECT n, a = '0000-00-00' FROM dz
SELECT n FROM dz WHERE a = CONCAT('0000', '-00-00')
SELECT n FROM dz WHERE a = 0
SELECT n FROM dz WHERE a BETWEEN '0000-00-00' AND '2000-01-01'
UPDATE dz SET n = 3 WHERE a = '0000-00-00'
UPDATE dz SET n = 3 WHERE b IN ('0000-00-00')
DELETE FROM dz WHERE b = '2001-00-01'
SET sql_mode = 'STRICT_TRANS_TABLES'
SELECT n FROM dz WHERE a = '0000-00-00'
UPDATE dz SET n = 3 WHERE a = '0000-00-00'
SET sql_mode = 'NO_ZERO_DATE'
SELECT n FROM dz WHERE a = '0000-00-00'
SELECT n FROM dz WHERE a = '2001-00-01'
UPDATE dz SET n = 3 WHERE a = '0000-00-00'
SET sql_mode = 'NO_ZERO_IN_DATE,STRICT_ALL_TABLES'
SELECT n FROM dz WHERE a = '2001-00-01'
SELECT n FROM dz WHERE a = '0000-00-00'
SET sql_mode = DEFAULT
-- Numbers with a point that has its place are what they are shown as.
CREATE TABLE fl (a FLOAT(8,2), b DOUBLE(10,3), c FLOAT, KEY (a))
INSERT INTO fl VALUES (9.99, 1.001, 9.99), (1.1, 2.5, 1.1), (NULL, NULL, NULL)
SELECT a = 9.99, b = 1.001, c = 9.99, a = 1.1, a > 1.1, a < 9.99, a IN (9.99), a BETWEEN 1.1 AND 9.99, a = 9.991, a = b, a = c, a <=> NULL FROM fl
SELECT a FROM fl WHERE a = 9.99
SELECT a FROM fl WHERE a > 1.1
SELECT a FROM fl WHERE a >= 1 AND a <= 2
SELECT b FROM fl WHERE b = '1.001'
UPDATE fl SET b = 7 WHERE a = 9.99
SELECT * FROM fl ORDER BY a
SET @a = 1.1
CREATE TABLE fm (a FLOAT(7,4), b DOUBLE(5,0))
INSERT INTO fm VALUES (999.99999, 99999), (1, 1)
INSERT IGNORE INTO fm VALUES (5000, 500000)
SELECT a, b FROM fm WHERE a > 100 AND b > 100 ORDER BY a, b
DELETE FROM fm WHERE a > 100 AND b > 100
SELECT COUNT(*) FROM fm
PREPARE s FROM 'SELECT a FROM fl WHERE a = ?'
EXECUTE s USING @a
-- Text that is given for a parameter is bytes beside bytes.
CREATE TABLE vb (a VARBINARY(10), b BINARY(4))
INSERT INTO vb VALUES ('a', 'a'), ('a\0', 'b')
SET @a = 'a', @e = '', @z = 'a\0\0\0'
PREPARE s FROM 'SELECT HEX(a) FROM vb WHERE a = ?'
EXECUTE s USING @a
EXECUTE s USING @e
PREPARE s FROM 'SELECT HEX(b) FROM vb WHERE b = ?'
EXECUTE s USING @a
EXECUTE s USING @z
PREPARE s FROM 'SELECT HEX(a) FROM vb WHERE a IN (?, ?)'
EXECUTE s USING @a, @e
PREPARE s FROM 'SELECT HEX(a) FROM vb WHERE a BETWEEN ? AND ?'
EXECUTE s USING @a, @a
DEALLOCATE PREPARE s
-- Beside a TIME column text, numbers and moments have its digits; beside a DATETIME only numbers have.
CREATE TABLE ft (id INT PRIMARY KEY, a TIME, a2 TIME(2), d DATETIME, d2 DATETIME(2), s TIMESTAMP NULL)
INSERT INTO ft VALUES (1, '12:34:57', '12:34:56.79', '2020-01-01 10:00:01', '2020-01-01 10:00:00.61', '2020-01-01 10:00:01')
SELECT a = '12:34:56.78', a < '12:34:56.78', a > '12:34:56.4', a <=> '12:34:57.4', '12:34:56.78' = a, a <> '12:34:57.4' FROM ft
SELECT a = TIME'12:34:56.78', a = 123456.78, a = TIMESTAMP'2020-01-01 12:34:56.78', a = CONCAT('12:34', ':56.78') FROM ft
SELECT a IN ('12:34:56.78'), a IN ('12:34:56.78', '12:34:57.4'), a BETWEEN '12:34:56.78' AND 123456.9, (a, 1) = ('12:34:56.78', 1) FROM ft
SELECT NULLIF(a, '12:34:56.78'), CASE a WHEN '12:34:56.78' THEN 1 ELSE 0 END, IF(a = '12:34:56.78', 1, 0) FROM ft
SELECT a2 = '12:34:56.786', a2 = '12:34:56.795', a2 = 123456.786, a2 = TIME'12:34:56.786' FROM ft
SELECT d = '2020-01-01 10:00:00.6', d = 20200101100000.6, d > 20200101100000.4, d2 = '2020-01-01 10:00:00.606', d2 = 20200101100000.606 FROM ft
SELECT s = '2020-01-01 10:00:00.6', s = 20200101100000.6, s = TIMESTAMP'2020-01-01 10:00:00.6' FROM ft
SET @t = '12:34:56.78'
PREPARE s FROM 'SELECT COUNT(*) FROM ft WHERE a = ?'
EXECUTE s USING @t
PREPARE s FROM 'SELECT COUNT(*) FROM ft WHERE a >= ? AND a <= ?'
EXECUTE s USING @t, @t
DEALLOCATE PREPARE s
ALTER TABLE ft ADD KEY (a)
SELECT COUNT(*) FROM ft WHERE a = '12:34:56.78'
SELECT COUNT(*) FROM ft WHERE a > '12:34:56.78'
SELECT COUNT(*) FROM ft WHERE a >= 123456.78
DELETE FROM ft WHERE a = '12:34:56.78'
SELECT COUNT(*) FROM ft
-- Bytes that are shorter or longer than a BINARY, by its index and without.
CREATE TABLE bk (id INT PRIMARY KEY, c BINARY(4) NOT NULL, d BINARY(4), KEY (c), KEY (d DESC))
INSERT INTO bk VALUES (1, x'00ff', x'00ff'), (2, '', ''), (3, 'abcd', 'abcd'), (4, 'ab', 'ab'), (5, 'zz', NULL)
SELECT id FROM bk WHERE c > x'00ff' ORDER BY id
SELECT id FROM bk WHERE c >= x'00ff' ORDER BY id
SELECT id FROM bk WHERE c < x'00ff' ORDER BY id
SELECT id FROM bk WHERE c <= x'00ff' ORDER BY id
SELECT id FROM bk WHERE c = x'00ff' ORDER BY id
SELECT id FROM bk WHERE c > 'abcde' ORDER BY id
SELECT id FROM bk WHERE c <= 'abcde' ORDER BY id
SELECT id FROM bk WHERE c BETWEEN 'ab' AND 'abcde' ORDER BY id
SELECT id FROM bk WHERE d > 'ab' ORDER BY id
SELECT id FROM bk WHERE d <= 'ab' ORDER BY id
SELECT id FROM bk WHERE d < 'abcde' AND d > '' ORDER BY id
SELECT id FROM bk WHERE c IN ('ab', 'abcde', 'abcd', x'00ff0000') ORDER BY id
DELETE FROM bk WHERE c > 'ab'
SELECT id FROM bk ORDER BY id
-- Texts of a list that are no dates: nothing for a DATE, zeros for the others; an error where rows are changed.
SET sql_mode = ''
CREATE TABLE listed (id INT PRIMARY KEY, d DATE, dt DATETIME, ts TIMESTAMP NULL)
INSERT INTO listed VALUES (1, 0, 0, 0), (2, '2024-01-01', '2024-01-01', '2024-01-01'), (3, '2024-02-00', '2024-02-00', NULL)
SET sql_mode = DEFAULT
SELECT id FROM listed WHERE d IN ('abc', '2024-01-01')
SELECT id FROM listed WHERE d IN ('abc', 'def')
SELECT id FROM listed WHERE d NOT IN ('abc', 'def')
SELECT id FROM listed WHERE d NOT IN ('abc', '2024-01-01')
SELECT id FROM listed WHERE d IN ('0000-00-00', '2024-01-01')
SELECT id FROM listed WHERE d NOT IN ('0000-00-00', '2024-01-01')
SELECT id FROM listed WHERE d IN ('2024-02-00', '2024-01-01')
SELECT id FROM listed WHERE d IN (NULL, '0000-00-00')
SELECT id FROM listed WHERE d IN (DATE'2024-01-01', '0000-00-00')
SELECT id FROM listed WHERE dt IN ('abc', '2024-01-01')
SELECT id FROM listed WHERE dt NOT IN ('abc', '2024-01-01')
SELECT id FROM listed WHERE dt IN ('0000-00-00', '2024-01-01')
SELECT id FROM listed WHERE dt IN ('2024-02-00', '2024-01-01')
SELECT id FROM listed WHERE dt NOT IN ('2024-02-00', '2024-01-01')
SELECT id FROM listed WHERE ts IN ('abc', '2024-01-01')
SELECT id FROM listed WHERE ts IN ('2024-02-00', '2024-01-01')
SET sql_mode = ''
CREATE TABLE listed_too (id INT PRIMARY KEY, d DATE, KEY (d))
INSERT INTO listed_too SELECT id, d FROM listed
SET sql_mode = DEFAULT
SELECT id FROM listed_too FORCE INDEX (d) WHERE d IN ('2024-02-00', '2024-01-01')
DROP TABLE listed_too
DELETE FROM listed WHERE d IN ('abc', '2024-01-01')
DELETE FROM listed WHERE d IN ('0000-00-00', '2024-01-01')
UPDATE listed SET id = id + 10 WHERE dt IN ('0000-00-00', '2024-01-01')
UPDATE listed SET id = id + 10 WHERE dt IN ('2024-02-00', '2024-01-01')
UPDATE listed SET id = id + 10 WHERE ts IN ('abc', '2024-01-01')
SELECT id FROM listed
SET sql_mode = ''
SELECT id FROM listed WHERE d IN ('0000-00-00', '2024-01-01')
DELETE FROM listed WHERE dt IN ('abc', '2024-01-01')
SELECT id FROM listed
SET sql_mode = DEFAULT
DROP TABLE listed
-- A fraction behind a number that is a date alone is no time; beside a column such a number is no value of it.
CREATE TABLE fractions (id INT PRIMARY KEY, d DATE, dt DATETIME(3))
INSERT INTO fractions VALUES (2, 20110102.5, 0)
INSERT INTO fractions VALUES (2, 0, 101231.7e0)
SET sql_mode = ''
INSERT INTO fractions VALUES (1, '2011-01-01', '2011-01-01'), (2, 20110102.5, 20110102.5), (3, 101231.7e0, 101231.7e0), (4, 20110103, 20110103101112.7)
SELECT * FROM fractions ORDER BY id
SELECT CAST(20240229.5 AS DATETIME(3)), CAST(101112.7e0 AS DATETIME(3)), DATE_FORMAT(20240229.7, '%T.%f')
SET sql_mode = DEFAULT
SELECT id FROM fractions WHERE d < 20110102.5 ORDER BY id
SELECT id FROM fractions WHERE dt < 20110102.5 ORDER BY id
DELETE FROM fractions WHERE d < 20110101.5
DELETE FROM fractions WHERE dt < 20110101.5
UPDATE fractions SET id = 9 WHERE d = 20110101.5
SELECT * FROM fractions ORDER BY id
DROP TABLE fractions
CREATE TABLE members (c2 INT, c3 ENUM('a','é','Straße','z') CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, s SET('y','x','B') CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, KEY k7 (c3), KEY ks (s))
INSERT INTO members VALUES (0, 'Straße', 'B'), (1, 'z', 'y,x'), (2, 'é', 'x'), (3, 'a', 'x,B'), (4, NULL, NULL), (5, 'a', 'y')
SELECT c2 FROM members WHERE c3 <= 'a' ORDER BY c2
SELECT c2 FROM members WHERE c3 < 'é' ORDER BY c2
SELECT c2 FROM members WHERE c3 >= 'é' ORDER BY c2
SELECT c2 FROM members WHERE c3 > 'b' ORDER BY c2
SELECT c2 FROM members WHERE c3 BETWEEN 'S' AND 'a' ORDER BY c2
SELECT c2 FROM members WHERE c3 BETWEEN 'a' AND 'z' ORDER BY c2
SELECT c2 FROM members WHERE c3 <> 'a' ORDER BY c2
SELECT c2 FROM members WHERE c3 LIKE 'S%' ORDER BY c2
SELECT c2 FROM members WHERE c3 >= 3 ORDER BY c2
SELECT c2 FROM members WHERE c3 IN ('a', 'z') ORDER BY c2
SELECT c2 FROM members WHERE s <= 'x' ORDER BY c2
SELECT c2 FROM members WHERE s > 'x' ORDER BY c2
SELECT c2 FROM members WHERE s BETWEEN 'B' AND 'x,B' ORDER BY c2
SELECT c2 FROM members WHERE s LIKE 'y%' ORDER BY c2
SELECT c2 FROM members WHERE s = 'x' OR s > 'y' ORDER BY c2
SELECT m.c2, n.c2 FROM members m STRAIGHT_JOIN members n FORCE INDEX (k7) ON n.c3 < m.c3 ORDER BY 1, 2
UPDATE members SET c2 = c2 + 10 WHERE c3 <= 'a'
DELETE FROM members WHERE s > 'x'
SELECT * FROM members ORDER BY c2
DROP TABLE members
CREATE TABLE years (y YEAR, KEY (y))
INSERT INTO years VALUES (2001), (2002), (0), (1901), (1999), (2000), (2155)
SELECT y, y = 2001.9e0, y = 2002.5e0, y = 2000.5, y = 0.6e0, y = 1.9e0, y = '2001.6', y = '2001.5', y = ' 2001', y = '2001x', y = '1.6', y = '0.4', y = 2155.4, y = 2155.6, y = 1900.6, y = 1900.4, y < 2155.6, y < 2155.4, y = 99.6, y = 99.6e0, y = -0.4, y = '-0.4', y = '2.001e3' FROM years
SELECT y FROM years WHERE y IN (2001.1, 2002.6)
SELECT y FROM years WHERE y IN (2001.1)
SELECT y FROM years WHERE y BETWEEN 2000.6 AND 2001.6
SELECT y, y BETWEEN '2000.6' AND '2001.6', y IN ('2001.1', '2002.6'), y IN ('2001.1'), NULLIF(y, 2001.1), y = ROUND(2001.12, 1), y + 0 = 2001.1 FROM years
DELETE FROM years WHERE y < 2001.4 AND y > 1950.6
UPDATE years SET y = 2003 WHERE y = 2001.1
SELECT * FROM years
INSERT INTO years VALUES (2001.9e0), (2001.9), ('2001.9'), (0.6e0), (1.9e0)
INSERT INTO years VALUES (-0.4)
INSERT INTO years VALUES (-0.4e0)
INSERT INTO years VALUES ('-0.4')
INSERT INTO years VALUES (2155.4e0)
SELECT * FROM years
CREATE TABLE numbers (d DOUBLE, f FLOAT, e DECIMAL(10,2), s VARCHAR(10))
INSERT INTO numbers VALUES (2001.9, 2001.9, 2001.9, '2001.9')
INSERT INTO years SELECT d FROM numbers
INSERT INTO years SELECT e FROM numbers
ALTER TABLE numbers MODIFY d YEAR, MODIFY f YEAR, MODIFY e YEAR, MODIFY s YEAR
SELECT * FROM numbers
SELECT * FROM years
DROP TABLE years, numbers
