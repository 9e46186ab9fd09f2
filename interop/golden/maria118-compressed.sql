-- Events that are compressed one by one.
SET GLOBAL log_bin_compress = ON, log_bin_compress_min_len = 10;
SET SESSION timestamp = 1700000000, binlog_format = ROW;
CREATE DATABASE d;
USE d;
CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(2000), some_column_with_a_long_name INT, some_other_column_with_a_long_name INT) ENGINE=InnoDB;
INSERT INTO t (id, s) VALUES (1, REPEAT('compressible ', 100));
UPDATE t SET s = CONCAT(s, '!') WHERE id = 1;
INSERT INTO t (id) VALUES (2);
SET SESSION binlog_row_image = MINIMAL;
UPDATE t SET s = CONCAT(s, '!') WHERE id = 1;
SET SESSION binlog_row_image = FULL;
DELETE FROM t WHERE id = 1;
INSERT INTO t (id, s) SELECT seq + 10, REPEAT(seq, 500) FROM seq_1_to_200;
SET SESSION binlog_format = STATEMENT;
INSERT INTO t (id, s) VALUES (5, 'a statement that says the same again and again, the same again and again, the same again and again');
FLUSH BINARY LOGS;
