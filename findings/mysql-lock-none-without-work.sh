#!/usr/bin/env bash
# ALTER TABLE with LOCK=NONE or ALGORITHM=INPLACE and nothing to be done.
# Guess: nothing is done, so any lock and any algorithm will do.
# Seen with MySQL 9.7.4: LOCK=NONE is refused (1845), although LOCK=NONE beside ADD INDEX is not; ALGORITHM=INPLACE is accepted.
. "$(dirname "$0")/server.sh"
mysql97
sql 'CREATE DATABASE d; CREATE TABLE d.t (a INT PRIMARY KEY, b INT)'
code() { sql "$1" 2>&1 | grep -o 'ERROR [0-9]*' || echo done; }
seen 'LOCK=NONE alone' 'ERROR 1845' "$(code 'ALTER TABLE d.t LOCK=NONE')"
seen 'ALGORITHM alone' 'done' "$(code 'ALTER TABLE d.t ALGORITHM=INPLACE')"
seen 'LOCK=NONE and an index' 'done' "$(code 'ALTER TABLE d.t ADD INDEX (b), LOCK=NONE')"
