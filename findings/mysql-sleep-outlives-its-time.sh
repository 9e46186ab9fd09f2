#!/usr/bin/env bash
# SLEEP in a SELECT that takes longer than MAX_EXECUTION_TIME allows.
# Guess: error 3024 in each case.
# Seen with MySQL 9.7.4: SLEEP ends with 1 and its row is the result; error 3024 comes only if another row is to be read after it.
# (MariaDB's max_statement_time is an error in each.)
. "$(dirname "$0")/server.sh"
mysql97
sql 'CREATE DATABASE d; CREATE TABLE d.t (a INT PRIMARY KEY); INSERT INTO d.t VALUES (1), (2)'
limited='SELECT /*+ MAX_EXECUTION_TIME(50) */'
seen 'without a table' '1' "$(sql "$limited SLEEP(0.5)")"
seen 'one row' $'1\t1' "$(sql "$limited a, SLEEP(0.5) FROM d.t WHERE a = 1")"
seen 'two rows' 3024 "$(sql "$limited a, SLEEP(0.5) FROM d.t" 2>&1 | grep -o '3024')"
