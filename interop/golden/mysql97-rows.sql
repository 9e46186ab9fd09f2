-- Rows with all metadata, of all types, in all images.
SET GLOBAL binlog_row_metadata = FULL;
SET SESSION binlog_rows_query_log_events = ON, timestamp = 1700000000.5, time_zone = '+00:00';
CREATE DATABASE d;
USE d;
CREATE TABLE numbers (
  id BIGINT UNSIGNED AUTO_INCREMENT, a TINYINT, b SMALLINT UNSIGNED, c MEDIUMINT, e INT UNSIGNED, f BIGINT, g DECIMAL(20,5),
  h DECIMAL(10,0) UNSIGNED, i FLOAT, j DOUBLE, k BIT(1), l BIT(13), m YEAR, PRIMARY KEY (id));
CREATE TABLE texts (
  a CHAR(10) CHARACTER SET latin1, b VARCHAR(300), c BINARY(5), e VARBINARY(20), f TINYTEXT, g TEXT CHARACTER SET utf8mb3, h MEDIUMBLOB,
  i LONGTEXT, j ENUM('x','y','grün') CHARACTER SET utf8mb4, k SET('p','q','r') CHARACTER SET latin1, l CHAR(100) CHARACTER SET utf8mb4, PRIMARY KEY (b(20), a));
CREATE TABLE times (
  id INT PRIMARY KEY, a DATE, b TIME, c TIME(3), e DATETIME, f DATETIME(6), g TIMESTAMP NULL, h TIMESTAMP(4) NULL, hidden INT DEFAULT 3 INVISIBLE);
CREATE TABLE others (
  id INT PRIMARY KEY, doc JSON, second JSON, p POINT SRID 4326, g GEOMETRY, l LINESTRING, mp MULTIPOLYGON, gc GEOMETRYCOLLECTION, v VECTOR(3), w VECTOR);
CREATE TABLE parted (id INT PRIMARY KEY, n INT) PARTITION BY RANGE (id) (PARTITION p0 VALUES LESS THAN (10), PARTITION p1 VALUES LESS THAN MAXVALUE);
SET SESSION sql_generate_invisible_primary_key = ON;
CREATE TABLE keyless (n INT);
INSERT INTO numbers VALUES (1, -1, 65535, -8388608, 4294967295, -9223372036854775808, -123456789012345.12345, 9999999999, 1.5, -2.25, b'1', b'1000000000001', 2024),
  (18446744073709551614, 127, 0, 8388607, 0, 9223372036854775807, 0.00001, 0, -1e30, 1e300, b'0', b'0', 0), (5, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO texts VALUES ('Müller', 'Grüße', x'0001020304', x'ff', 'tiny', 'text', x'00ff', REPEAT('long', 100), 'grün', 'p,r', 'wide'), ('', '', '', '', '', '', '', '', 'x', '', '');
INSERT INTO times (id, a, b, c, e, f, g, h) VALUES (1, '2024-02-29', '-838:59:59', '12:34:56.789', '9999-12-31 23:59:59', '1000-01-01 00:00:00.000001', '2023-11-14 22:13:20', '2023-11-14 22:13:20.1234'), (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO others VALUES (1, '{"a": [1, 2, {"b": null}], "c": "text", "d": 1.5, "e": true, "f": -70000, "g": 5000000000}', '[1]', ST_GeomFromText('POINT(1 2)', 4326),
  ST_GeomFromText('POINT(3 4)'), ST_GeomFromText('LINESTRING(0 0,1 1)'), NULL, NULL, STRING_TO_VECTOR('[1,2,3]'), STRING_TO_VECTOR('[0.5]'));
INSERT INTO keyless VALUES (1), (2);
INSERT INTO parted VALUES (1, 1), (20, 2);
UPDATE parted SET id = 30 WHERE id = 1;
DELETE FROM parted WHERE id = 20;
UPDATE numbers SET a = a + 1 WHERE id = 1;
SET SESSION binlog_row_image = MINIMAL;
UPDATE times SET a = '2024-03-01', hidden = 4 WHERE id = 1;
UPDATE texts SET i = 'short' WHERE b = 'Grüße';
DELETE FROM times WHERE id = 2;
INSERT INTO times (id) VALUES (3);
SET SESSION binlog_row_image = NOBLOB;
UPDATE texts SET a = 'Meier' WHERE b = 'Grüße';
SET SESSION foreign_key_checks = 0, unique_checks = 0;
DELETE FROM texts WHERE b = '';
SET SESSION foreign_key_checks = 1, unique_checks = 1;
-- Parts of documents.
SET SESSION binlog_row_value_options = PARTIAL_JSON;
UPDATE others SET doc = JSON_SET(doc, '$.c', 'other', '$.a[1]', 5) WHERE id = 1;
UPDATE others SET doc = JSON_REMOVE(doc, '$.a[2]'), second = JSON_SET(second, '$[1]', JSON_OBJECT('x', 1)) WHERE id = 1;
UPDATE others SET second = JSON_REPLACE(second, '$[0]', CAST('2024-01-01' AS DATE)) WHERE id = 1;
SET SESSION binlog_row_image = FULL;
UPDATE others SET doc = JSON_SET(doc, '$.new', 'n', '$.d', 2.5), second = '{}' WHERE id = 1;
SET SESSION binlog_row_value_options = '';
-- Which columns count among those that have a character set.
CREATE TABLE mixed (id INT PRIMARY KEY, a VARCHAR(9) CHARACTER SET latin1, g GEOMETRY, b VARCHAR(9) COLLATE utf8mb4_bin, v VECTOR(2),
  c VARCHAR(9) COLLATE latin1_german2_ci, j JSON, d VARCHAR(9) CHARACTER SET ascii, k VARBINARY(9), t TEXT COLLATE utf8mb4_bin);
INSERT INTO mixed (id) VALUES (1);
-- Little metadata.
SET GLOBAL binlog_row_metadata = MINIMAL;
INSERT INTO mixed (id) VALUES (2);
INSERT INTO numbers (id) VALUES (77);
INSERT INTO texts (a, b, j) VALUES ('minimal', 'metadata', 'y');
INSERT INTO others (id, v) VALUES (2, NULL);
CREATE TABLE made_from AS SELECT id, a FROM numbers WHERE id < 10;
SET SESSION binlog_rows_query_log_events = OFF;
XA START 'rows';
DELETE FROM numbers WHERE id = 77;
XA END 'rows';
XA PREPARE 'rows';
XA ROLLBACK 'rows';
FLUSH BINARY LOGS;
