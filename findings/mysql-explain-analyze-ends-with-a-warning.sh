#!/usr/bin/env bash
# EXPLAIN ANALYZE of a query that takes longer than max_execution_time.
# Guess: error 3024, as the query itself.
# Seen with MySQL 9.7.4: the plan with what it has done so far, and warning 1317, which is not even the error's number.
. "$(dirname "$0")/server.sh"
mysql97
sql "CREATE DATABASE d; USE d; CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t VALUES (1), (2), (3)"
slow='SELECT SUM(SLEEP(0.2) + id) FROM t'
seen 'the query' '3024' "$(sql "SET max_execution_time = 50; $slow" d | grep -o '3024')"
seen 'measured' '1' "$(sql "SET max_execution_time = 50; EXPLAIN ANALYZE $slow" d | grep -c 'actual time')"
seen 'warnings' $'Warning\t1317\tQuery execution was interrupted' \
    "$(sql "SET max_execution_time = 50; EXPLAIN ANALYZE $slow; SHOW WARNINGS" d | grep Warning)"
