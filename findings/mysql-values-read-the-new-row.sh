#!/usr/bin/env bash
# INSERT … VALUES with a subquery that names a column of the table: INSERT INTO t (a, b) VALUES (5, (SELECT a + 1)).
# Guess: error 1054, there is no row yet.
# Seen with MySQL 9.7.4: it is the value that the row was given, also inside of a derived query's aggregate.
. "$(dirname "$0")/server.sh"
mysql97
sql 'CREATE DATABASE d; CREATE TABLE d.t (a INT, b INT)'
seen 'the statement' '' "$(sql 'USE d; INSERT INTO t (a, b) VALUES (5, (SELECT t.a + 1)), (6, (SELECT MAX(x + a) FROM (SELECT 1 x) one))')"
seen 'rows' $'5\t6\n6\t7' "$(sql 'SELECT * FROM d.t ORDER BY a')"
