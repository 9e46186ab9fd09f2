#!/usr/bin/env bash
# A DECIMAL(12,3) beside an INT that it cannot hold: t.d = u.n, as a condition on one row of each, and as the key of a hash join.
# Guess: both say the same; no number of nine digits before the point is equal to 2147483647.
# Seen with MySQL 9.7.4: the hash join takes the greatest DECIMAL(12,3), 999999999.999, for equal to it, and to every other INT beyond its digits. The
# same query with a condition in place of the key (d - n = 0) gives no such row, and neither does the join where an index is looked up.
. "$(dirname "$0")/server.sh"
mysql97
sql "CREATE DATABASE d; USE d; CREATE TABLE t (d DECIMAL(12,3)); CREATE TABLE u (n INT); CREATE TABLE k (n INT, KEY (n));
INSERT INTO t VALUES (999999999.999), (7); INSERT INTO u VALUES (2147483647), (1000000000), (7); INSERT INTO k SELECT * FROM u"
rows() { sql "SELECT d, n FROM t STRAIGHT_JOIN $1 ON $2 ORDER BY d, n" d; }
seen 'each by itself' '0' "$(sql 'SELECT COUNT(*) FROM u WHERE n = (SELECT MAX(d) FROM t)' d)"
seen 'a hash join' $'7.000\t7\n999999999.999\t1000000000\n999999999.999\t2147483647' "$(rows u 'd = n')"
seen 'pairs' $'7.000\t7' "$(rows u 'd - n = 0')"
seen 'look-ups' $'7.000\t7' "$(rows 'k FORCE INDEX (n)' 'd = n')"
