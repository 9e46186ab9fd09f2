#!/usr/bin/env bash
# UPDATE t SET n = n of a row in which n is NULL, and the column has a default.
# Guess: no row is changed, as for any other value.
# Seen with MySQL 9.7.4: the row counts as changed, and a column with ON UPDATE CURRENT_TIMESTAMP gets the time; where the column has no default,
# or a value, it does not.
. "$(dirname "$0")/server.sh"
mysql97
sql "CREATE DATABASE d; USE d; CREATE TABLE t (id INT PRIMARY KEY, n INT DEFAULT 5, s VARCHAR(9) DEFAULT 'x', plain INT,
at DATETIME DEFAULT '2000-01-01' ON UPDATE CURRENT_TIMESTAMP); INSERT INTO t (id, n, s) VALUES (1, NULL, NULL), (2, 7, 'y'), (3, NULL, NULL)"
changed() { sql "UPDATE t SET $1 = $1 WHERE id = $2; SELECT ROW_COUNT(), YEAR(at) > 2000 FROM t WHERE id = $2" d; }
seen 'a NULL in a column without a default' $'0\t0' "$(changed plain 1)"
seen 'a value' $'0\t0' "$(changed n 2)"
seen 'a NULL in a column with one' $'1\t1' "$(changed n 1)"
seen 'a NULL in a text with one' $'1\t1' "$(changed s 3)"
