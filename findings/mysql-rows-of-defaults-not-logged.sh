#!/usr/bin/env bash
# binlog_row_image = MINIMAL, a table without a primary key, and INSERT of two rows of which all columns have their defaults.
# Guess: both are inserted and logged, as one such row is.
# Seen with MySQL 9.7.4: error 1534, and nothing is inserted; one such row, or two with the image NOBLOB, are taken.
. "$(dirname "$0")/server.sh"
mysql97
sql 'CREATE DATABASE d; CREATE TABLE d.t (a INT DEFAULT 5)'
seen 'one row' '' "$(sql "SET binlog_row_image = 'MINIMAL'; INSERT INTO d.t () VALUES ()" 2>&1)"
seen 'two rows' 'ERROR 1534 (HY000) at line 1: Writing one row to the row-based binary log failed' "$(sql "SET binlog_row_image = 'MINIMAL'; INSERT INTO d.t () VALUES (), ()" 2>&1)"
seen 'two rows, NOBLOB' '' "$(sql "SET binlog_row_image = 'NOBLOB'; INSERT INTO d.t () VALUES (), ()" 2>&1)"
seen 'rows that are there' '3' "$(sql 'SELECT COUNT(*) FROM d.t')"
