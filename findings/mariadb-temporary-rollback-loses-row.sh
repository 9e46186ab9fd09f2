#!/usr/bin/env bash
# A transaction gives a row another primary key and inserts a row with the old one, then ROLLBACK: in a temporary table, and in one that is not.
# Guess: both have the row as it was.
# Seen with MariaDB 11.8: the temporary table has lost it; UPDATE alone, taken back, loses nothing.
. "$(dirname "$0")/server.sh"
maria118
run() {
    sql "CREATE DATABASE d; USE d; CREATE $1 TABLE t (id INT PRIMARY KEY, a INT, KEY (a)) ENGINE=InnoDB; INSERT INTO t VALUES (1, 10), (2, 20)
        ; START TRANSACTION; UPDATE t SET id = 9 WHERE id = 1; $2; ROLLBACK; SELECT * FROM t ORDER BY id; DROP DATABASE d"
}
seen 'a table' $'1\t10\n2\t20' "$(run '' 'INSERT INTO t VALUES (1, 30)')"
seen 'a temporary table, UPDATE alone' $'1\t10\n2\t20' "$(run TEMPORARY 'DO 1')"
seen 'a temporary table' $'2\t20' "$(run TEMPORARY 'INSERT INTO t VALUES (1, 30)')"
