#!/usr/bin/env bash
# A DATETIME in a list with a date whose day is zero, which sql_mode does not take: with and without an index.
# Guess: the same rows; none for the date that is none.
# Seen with MySQL 9.7.4: without the index the date counts as '0000-00-00' and finds the row that has it, with the index it finds nothing. Of the
# row that has just this date neither knows.
. "$(dirname "$0")/server.sh"
mysql97
sql "CREATE DATABASE d; USE d; SET sql_mode = ''; CREATE TABLE t (id INT PRIMARY KEY, at DATETIME, KEY (at));
INSERT INTO t VALUES (1, 0), (2, '2024-01-01'), (3, '2024-02-00')"
found() { sql "SELECT GROUP_CONCAT(id ORDER BY id) FROM t $1 INDEX (at) WHERE at IN ('2024-02-00', '2024-01-01')" d; }
seen 'without the index' '1,2' "$(found IGNORE)"
seen 'with it' '2' "$(found FORCE)"
