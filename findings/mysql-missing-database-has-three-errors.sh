#!/usr/bin/env bash
# ALTER, DROP and USE of a database that is not there.
# Guess: ALTER DATABASE is 1049, as USE is.
# Seen with MySQL 9.7.4: it is 3503 with an SQLSTATE of its own, 42Y07; DROP is 1008, USE is 1049.
. "$(dirname "$0")/server.sh"
mysql97
error() { sql "$1" 2>&1 | grep -o 'ERROR [0-9]* ([0-9A-Z]*)'; }
seen 'ALTER' 'ERROR 3503 (42Y07)' "$(error 'ALTER DATABASE nosuch CHARACTER SET utf8mb4')"
seen 'DROP' 'ERROR 1008 (HY000)' "$(error 'DROP DATABASE nosuch')"
seen 'USE' 'ERROR 1049 (42000)' "$(error 'USE nosuch')"
