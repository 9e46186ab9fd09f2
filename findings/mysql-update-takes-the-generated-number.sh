#!/usr/bin/env bash
# INSERT … ON DUPLICATE KEY UPDATE of several rows that assigns to the AUTO_INCREMENT column itself.
# Guess: a number that was made for a row which was not inserted is given to the next one, whatever was assigned; a collision is error 1062.
# Seen with MySQL 9.7: it counts as used if the update assigns exactly that number, and assigning one that is reserved for another row of the
# statement, even one that is never needed, is error 1869. A larger one, beyond what is reserved, does not move the numbers of later rows.
. "$(dirname "$0")/server.sh"
mysql97
try() {
    sql "CREATE DATABASE d; USE d; CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, u INT UNIQUE); INSERT INTO t (u) VALUES (1)
        ; INSERT INTO t (u) VALUES (1), (2), (3) ON DUPLICATE KEY UPDATE id = $1" | sed 's/ at line.*//'
    sql "SELECT GROUP_CONCAT(id, ':', u ORDER BY id) FROM d.t; DROP DATABASE d"
}
seen 'the number made for it' '2:1,3:2,4:3' "$(try 'VALUES(id)')"
seen 'the next one' $'ERROR 1869 (HY000)\n1:1' "$(try 'VALUES(id) + 1')"
seen 'one far away' '2:2,3:3,101:1' "$(try 'id + 100')"
