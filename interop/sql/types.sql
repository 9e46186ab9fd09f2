-- Every type: limits, defaults, conversions, strictness.
CREATE TABLE ints (a TINYINT, b TINYINT UNSIGNED, c SMALLINT, d MEDIUMINT, e INT, f BIGINT, g BIGINT UNSIGNED);
INSERT INTO ints VALUES (-128, 0, -32768, -8388608, -2147483648, -9223372036854775808, 0), (127, 255, 32767, 8388607, 2147483647, 9223372036854775807, 18446744073709551615);
SELECT * FROM ints ORDER BY a;
INSERT INTO ints (a) VALUES (128);
INSERT INTO ints (b) VALUES (-1);
INSERT INTO ints (g) VALUES (18446744073709551616);
INSERT INTO ints (e) VALUES ('12'), ('12abc');
INSERT INTO ints (e) VALUES (1.5), (2.4), ('3.6');
SELECT e FROM ints WHERE e BETWEEN 0 AND 100 ORDER BY e;
SELECT SUM(f), SUM(g), MAX(g) FROM ints;
CREATE TABLE decs (a DECIMAL(5,2), b DECIMAL(65,30), c DECIMAL(10), d NUMERIC(4,4));
INSERT INTO decs VALUES (123.45, 12345678901234567890.123456789012345678901234567890, 42, 0.1234), (-999.99, -1, -5, -0.9999);
INSERT INTO decs (a) VALUES (1.005), (1.004), (-1.005);
INSERT INTO decs (a) VALUES (1000);
SELECT * FROM decs ORDER BY a;
SELECT SUM(a), AVG(a), a * 2, a / 3 FROM decs WHERE c = 42 GROUP BY a;
CREATE TABLE floats (a FLOAT, b DOUBLE);
INSERT INTO floats VALUES (1.5, 1.5), (0.1, 0.1), (1e10, 1e100), (-3.25e-5, 3.141592653589793);
SELECT * FROM floats ORDER BY b;
CREATE TABLE strs (a CHAR(5), b VARCHAR(5), c TEXT, d BINARY(4), e VARBINARY(4), f BLOB, g VARCHAR(10) COLLATE utf8mb4_bin, h VARCHAR(10) CHARACTER SET latin1);
INSERT INTO strs VALUES ('ab  ', 'ab  ', 'text', 'xy', 'xy', 'blob', 'Case', 'caf\u00e9'), ('', '', '', '', '', '', '', '');
INSERT INTO strs (b) VALUES ('123456');
INSERT INTO strs (a, b, g) VALUES ('é', 'ünï', 'ÄÖ');
SELECT a, CONCAT('[', a, ']'), CONCAT('[', b, ']'), c, HEX(d), HEX(e), f, g FROM strs ORDER BY a, b;
SELECT COUNT(*) FROM strs WHERE g = 'case';
SELECT COUNT(*) FROM strs WHERE a = 'AB';
SELECT CHAR_LENGTH(b), LENGTH(b) FROM strs WHERE b = 'UNI';
CREATE TABLE times (a DATE, b TIME, c DATETIME, d TIMESTAMP NULL, e DATETIME(3), f TIME(6), g YEAR);
INSERT INTO times VALUES ('2024-02-29', '12:34:56', '2024-02-29 12:34:56', '2024-02-29 12:34:56', '2024-02-29 12:34:56.789', '-838:59:59.000000', 2024);
INSERT INTO times (a) VALUES ('2023-02-29');
INSERT INTO times (a) VALUES ('0000-00-00');
INSERT INTO times (c) VALUES ('2024-01-01T10:20:30'), ('20240102'), (20240103040506), ('2024-01-04 1:2:3');
INSERT INTO times (b) VALUES ('1:2'), ('99:00:00'), (12345), ('10:11:12.9');
INSERT INTO times (c) VALUES ('garbage');
SELECT a, b, c, d, e, f, g FROM times ORDER BY c, b;
SELECT a + INTERVAL 1 DAY, a - INTERVAL 1 MONTH, c + INTERVAL 90 MINUTE, DATEDIFF(c, '2024-01-01') FROM times WHERE g = 2024;
CREATE TABLE misc (a ENUM('red', 'green', 'blue'), b SET('x', 'y', 'z'), c BIT(8), d BOOLEAN);
INSERT INTO misc VALUES ('green', 'z,x', b'1010', TRUE), (1, 7, 255, FALSE), (NULL, '', 0, NULL);
INSERT INTO misc (a) VALUES ('purple');
SELECT a, a + 0, b, b + 0, c + 0, HEX(c), d FROM misc ORDER BY a;
CREATE TABLE nn (a INT NOT NULL, b VARCHAR(5) NOT NULL DEFAULT 'dflt', c TIMESTAMP DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP);
INSERT INTO nn (b) VALUES ('x');
INSERT INTO nn (a) VALUES (NULL);
INSERT INTO nn (a) VALUES (1);
SELECT a, b, c IS NOT NULL FROM nn;
SET sql_mode = '';
INSERT INTO ints (a) VALUES (1000);
SHOW WARNINGS;
INSERT INTO strs (b) VALUES ('1234567');
INSERT INTO nn (b) VALUES ('y');
SELECT MAX(a) FROM ints;
SELECT a, b FROM nn ORDER BY b;
SET sql_mode = DEFAULT;
SELECT 'abc' = 'ABC', 'abc' = 'abc ', BINARY 'a' = 'A', 'é' = 'e', 'ß' = 'ss', 'a' < 'B';
SELECT 1 = '1', 1 = '1abc', '10' > '9', 10 > '9', NULL = NULL, NULL IS NULL, 0 = 'abc';
SELECT CAST('12.7' AS SIGNED), CAST(-1 AS UNSIGNED), CAST(12.75 AS DECIMAL(5,1)), CAST(123 AS CHAR), CAST('2024-01-02' AS DATE), CAST('2024-01-02 03:04:05.6' AS DATETIME), CAST('1.5e2' AS DOUBLE), CONVERT('77', UNSIGNED), CAST('x' AS BINARY(3));
DROP TABLE ints, decs, floats, strs, times, misc, nn;
-- What CREATE TABLE … SELECT makes of computed numbers: an INT of those that have few digits.
CREATE TABLE n (id INT PRIMARY KEY, i INT, ti TINYINT, mi MEDIUMINT, s VARCHAR(20), d DATE, t TIME, dt DATETIME)
INSERT INTO n VALUES (1, 7, 7, 7, 'abc', '2020-02-03', '01:02:03', '2020-02-03 04:05:06')
CREATE TABLE m (PRIMARY KEY (id)) AS SELECT id, 1 + 1 AS a, i + 1 AS b, ti + 1 AS c, ti * 2 AS e, mi * 10 AS f, mi * 100 AS g, i DIV 2 AS h, i DIV 0.001 AS ha, mi DIV 1.5 AS hb, 2.5 DIV 0.5 AS hc, -i AS j, ABS(i) AS k, LENGTH(s) AS l, CHAR_LENGTH(s) AS o, LOCATE('a', s) AS p, FIELD(s, 'a') AS q, FIND_IN_SET('a', s) AS r, ASCII(s) AS u, STRCMP(s, 'a') AS v, CRC32(s) AS w, CRC32(s) + 0 AS x, i = 1 AS y, i IS NULL AS z, SIGN(i) AS aa, FLOOR(i) AS ab, ROUND(i) AS ac, ROUND(i, -1) AS ad, TRUNCATE(i, 0) AS ae, ORD(s) AS af, BIT_COUNT(i) AS ag, 2147483648 AS ah, 12345678 AS ai, COALESCE(i, 1) AS aj, IF(id, ti, 1) AS ak, CASE WHEN id THEN 1 END AS al, GREATEST(ti, 1) AS am, NULLIF(1, 2) AS an, (SELECT 1) AS ao, EXISTS (SELECT 1) AS ap, INTERVAL(1, 2) AS aq FROM n
SELECT column_name, column_type FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'm' ORDER BY ordinal_position
DROP TABLE m
CREATE TABLE m (PRIMARY KEY (id)) AS SELECT id, QUARTER(d) AS a, MONTH(d) AS b, DAY(d) AS c, HOUR(t) AS e, MINUTE(t) AS f, SECOND(t) AS g, MICROSECOND(t) AS h, WEEK(d) AS j, WEEKDAY(d) AS k, DAYOFYEAR(d) AS l, YEARWEEK(d) AS o, TO_DAYS(d) AS p, TO_SECONDS(d) AS q, DATEDIFF(d, d) AS r, TIME_TO_SEC(t) AS u, TIMESTAMPDIFF(DAY, d, d) AS v, UNIX_TIMESTAMP(d) AS w, PERIOD_ADD(202001, 1) AS x, d + 0 AS y, dt + 0 AS z, EXTRACT(DAY_MINUTE FROM dt) AS aa, EXTRACT(DAY_SECOND FROM dt) AS ab, EXTRACT(YEAR FROM dt) AS ac, EXTRACT(HOUR_MICROSECOND FROM dt) AS ad, COUNT(*) AS ae, COUNT(s) AS af, BIT_OR(i) AS ag, MAX(ti) AS ah FROM n GROUP BY id
SELECT column_name, column_type FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'm' ORDER BY ordinal_position
SELECT * FROM m
DROP TABLE m
-- Joined text that is longer than a quarter of group_concat_max_len.
CREATE TABLE m (id INT PRIMARY KEY, s VARCHAR(300))
INSERT INTO m VALUES (1, REPEAT('a', 300)), (2, REPEAT('b', 300)), (3, REPEAT('ä', 100))
CREATE TABLE joined (PRIMARY KEY (id)) AS SELECT 1 AS id, GROUP_CONCAT(s) AS s FROM m
SELECT CHAR_LENGTH(s), SHA2(s, 256) FROM joined
DROP TABLE joined, m, n
CREATE TABLE members (e ENUM('z', 'a'), st SET('z', 'a'), c CHAR(5), b BINARY(3), n INT(5) UNSIGNED ZEROFILL, d DECIMAL(5, 2) ZEROFILL, tt TINYTEXT);
INSERT INTO members VALUES ('z', 'z', 'x', 'x', 5, 1.5, 'x'), ('a', 'a,z', 'y', 'y', 6, 2.5, 'y');
SELECT e FROM members ORDER BY IFNULL(e, e);
SELECT e FROM members ORDER BY IF(1, e, e);
SELECT e FROM members ORDER BY CASE WHEN 1 THEN e END;
SELECT e FROM members ORDER BY COALESCE(e), NULLIF(e, 'b'), LEAST(e, e), ANY_VALUE(e);
SELECT e FROM members ORDER BY (SELECT i.e FROM members i WHERE i.c = members.c);
SELECT e FROM (SELECT IFNULL(e, e) AS e FROM members) d ORDER BY e;
SELECT MAX(e) FROM members GROUP BY c ORDER BY MAX(e);
SELECT MAX(e), MIN(e), MAX(st), MAX(c), MAX(tt) FROM members;
SELECT e FROM members UNION SELECT NULL ORDER BY e;
SELECT e FROM members UNION SELECT e FROM members ORDER BY e;
SELECT IF(1, e, e) + 0, CASE WHEN 1 THEN e END + 0, NULLIF(e, 'b') + 0, IF(1, e, e) = 1, IF(1, e, e) > 'b' FROM members ORDER BY c;
SELECT MAX(e) + 0, MAX(e) > 'b' FROM members GROUP BY c ORDER BY c;
SELECT IFNULL(n, n), IF(1, n, n), COALESCE(d), NULLIF(n, 1), (SELECT i.n FROM members i WHERE i.c = members.c), CASE WHEN 1 THEN n END, LEAST(n, n), IF(1, n, 'a'), CONCAT(IFNULL(n, n)), n FROM members ORDER BY c;
SELECT MAX(n), MIN(d) FROM members GROUP BY c ORDER BY c;
SELECT 10 + IF(1, 0x31, 0x30), 10 + CASE WHEN 1 THEN 0x31 END, 10 + NULLIF(0x31, 0x30), 10 + IFNULL(NULL, 0x31), IF(1, 0x31, 2) + 1, IF(0, 0x31, 2) + 1, IF(1, IF(1, b'110001', 0), 0) + 0, -IF(1, 0x31, 0x32), IF(1, 0x31, 0x32) > 48, IF(1, 0x31, 0x32) = '1', IF(1, 0x31, 0x32) | 0, ABS(CASE 1 WHEN 1 THEN 0x31 ELSE 0x32 END), ROUND(IF(1, b'101010', 0));
CREATE TABLE passed_on AS SELECT IFNULL(e, e) a, IF(1, e, e) b, NULLIF(e, 'b') f, LEAST(e, e) g, IFNULL(st, st) h, COALESCE(c) i, NULLIF(c, 'b') j, IF(1, b, b) k, (SELECT e FROM members LIMIT 1) l, (SELECT c FROM members LIMIT 1) m, c COLLATE utf8mb4_bin o, IFNULL(n, n) p, e q, c r FROM members;
SELECT COLUMN_NAME, COLUMN_TYPE, COLLATION_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'passed_on' AND COLUMN_NAME <> 'my_row_id' ORDER BY COLUMN_NAME;
DROP TABLE passed_on;
CREATE TABLE passed_on AS SELECT MAX(e) a, MAX(st) b, MAX(c) d, MIN(b) f, MAX(tt) i FROM members;
SELECT COLUMN_NAME, COLUMN_TYPE FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'passed_on' AND COLUMN_NAME <> 'my_row_id' ORDER BY COLUMN_NAME;
DROP TABLE passed_on;
CREATE TABLE passed_on AS SELECT e FROM members UNION SELECT NULL;
SELECT COLUMN_NAME, COLUMN_TYPE FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'passed_on' AND COLUMN_NAME <> 'my_row_id' ORDER BY COLUMN_NAME;
DROP TABLE passed_on, members;
