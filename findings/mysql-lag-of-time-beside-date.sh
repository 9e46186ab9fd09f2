#!/usr/bin/env bash
# LAG() and LEAD() of a TIME whose default is a DATETIME: their values are of one type.
# Guess: a TIME becomes that time of the current day, as in COALESCE() and CASE, which take the same type for the two.
# Seen with MySQL 9.7.4: it becomes 0000-00-00 00:00:00, with warning 1292.
. "$(dirname "$0")/server.sh"
mysql97
sql "CREATE DATABASE d; CREATE TABLE d.t (id INT PRIMARY KEY, t TIME, g DATETIME); INSERT INTO d.t VALUES (1, '10:00:00', '2024-01-01'), (2, '11:00:00', '2024-01-02')"
seen 'COALESCE' '10:00:00' "$(sql "SELECT TIME(COALESCE(t, g)) FROM d.t WHERE id = 1")"
seen 'LAG' $'2024-01-01 00:00:00\n0000-00-00 00:00:00' "$(sql "SELECT LAG(t, 1, g) OVER (ORDER BY id) FROM d.t ORDER BY id")"
seen 'its warning' '1292' "$(sql "DO 0; SELECT LAG(t, 1, g) OVER (ORDER BY id) FROM d.t ORDER BY id; SHOW WARNINGS" | grep -o '1292' | head -n 1)"
