#!/usr/bin/env bash
# A condition on the key of a subquery's groups that tells apart what the groups take for equal: HEX(b) = '78' beside GROUP BY b, where b has 'x' and 'X'.
# Guess: the subquery counts both in one group, and the condition is asked of the group's key, as without an optimizer.
# Seen with MySQL 9.7.4: the condition is asked of each row before the groups are made, so that the group counts 1; with derived_condition_pushdown=off, or with a LIMIT in the subquery
# that cuts nothing, it counts 2. (MariaDB 11.8.9 counts 1, too.)
. "$(dirname "$0")/server.sh"
mysql97
sql "CREATE DATABASE d; CREATE TABLE d.t (id INT PRIMARY KEY, b VARCHAR(9)); INSERT INTO d.t VALUES (1, 'x'), (2, 'X'), (3, 'y')"
groups='SELECT b, COUNT(*) AS n FROM d.t GROUP BY b'
seen 'all groups' 'x 2
y 1' "$(sql "SELECT CONCAT_WS(' ', b, n) FROM ($groups) g ORDER BY b")"
seen 'the one with that key' '1' "$(sql "SELECT n FROM ($groups) g WHERE HEX(b) = '78'")"
seen 'where conditions stay outside' '2' "$(sql "SET optimizer_switch = 'derived_condition_pushdown=off'; SELECT n FROM ($groups) g WHERE HEX(b) = '78'")"
seen 'with a limit' '2' "$(sql "SELECT n FROM ($groups LIMIT 100) g WHERE HEX(b) = '78'")"
