#!/usr/bin/env bash
# COUNT(*) OVER (ORDER BY e) over groups of an ENUM WITH ROLLUP.
# Guess: each member's row counts itself and those before it, as without ROLLUP; RANK() over the same window tells them apart.
# Seen with MySQL 9.7.4: all members are peers, with warnings 1292: their texts are compared as integers.
. "$(dirname "$0")/server.sh"
mysql97
sql "CREATE DATABASE d; CREATE TABLE d.t (id INT PRIMARY KEY, e ENUM('x','y')); INSERT INTO d.t VALUES (1, 'x'), (2, 'y'), (3, 'y')"
seen 'without totals' $'x\t1\t1\ny\t2\t2' "$(sql "SELECT e, COUNT(*) OVER (ORDER BY e), RANK() OVER (ORDER BY e) FROM d.t GROUP BY e")"
seen 'with totals' $'NULL\t1\t1\nx\t3\t2\ny\t3\t3' "$(sql "SELECT e, COUNT(*) OVER (ORDER BY e), RANK() OVER (ORDER BY e) FROM d.t GROUP BY e WITH ROLLUP")"
seen 'a warning' '1292' "$(sql "SELECT e, COUNT(*) OVER (ORDER BY e) FROM d.t GROUP BY e WITH ROLLUP; SHOW WARNINGS" | grep -o '1292' | head -n 1)"
