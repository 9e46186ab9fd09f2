-- Compressed transactions.
SET SESSION timestamp = 1700000000;
CREATE DATABASE d;
USE d;
CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(2000));
SET SESSION binlog_transaction_compression = ON;
INSERT INTO t VALUES (1, REPEAT('compressible ', 100));
BEGIN;
INSERT INTO t VALUES (2, REPEAT('again ', 300));
UPDATE t SET s = CONCAT(s, '!') WHERE id = 1;
DELETE FROM t WHERE id = 2;
COMMIT;
SET SESSION binlog_transaction_compression_level_zstd = 22;
INSERT INTO t SELECT seq + 10, REPEAT(seq, 500) FROM (WITH RECURSIVE r AS (SELECT 1 AS seq UNION ALL SELECT seq + 1 FROM r WHERE seq < 100) SELECT seq FROM r) AS s;
SET SESSION binlog_transaction_compression = OFF;
INSERT INTO t VALUES (3, 'plain');
FLUSH BINARY LOGS;
