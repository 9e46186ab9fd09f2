#!/usr/bin/env bash
# connection_memory_limit = 3 MB, and an account without CONNECTION_ADMIN that makes a text of 20 MB, or groups many short ones.
# Guess: what a statement holds counts, so REPEAT of 20 MB ends with error 4082.
# Seen with MySQL 9.7.4: 20 MB of a string function pass, since they are not allocated where the limit counts. A GROUP BY of 300
# texts of 100 kB, which keeps them in a temporary table, ends the connection.
. "$(dirname "$0")/server.sh"
mysql97
sql 'CREATE USER u; SET GLOBAL connection_memory_limit = 3145728; SET GLOBAL global_connection_memory_tracking = ON'
seen 'REPEAT' '20000000' "$(sql "SELECT LENGTH(REPEAT('x', 20000000))" -uu)"
groups='SELECT COUNT(*) FROM (SELECT REPEAT(UUID(), 3000) AS g FROM information_schema.COLLATIONS GROUP BY g) AS d'
seen 'GROUP BY' 'Connection memory limit 3145728 bytes exceeded' "$(sql "$groups" -uu | grep -o 'Connection memory limit 3145728 bytes exceeded')"
