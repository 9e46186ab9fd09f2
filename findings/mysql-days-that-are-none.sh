#!/usr/bin/env bash
# DELETE … WHERE d < NUMBER of a DATE column in strict mode, where the number is a date that no calendar has.
# Guess: error 1292 for 30 February as for day 0 of January.
# Seen with MySQL 9.7.4: 20110230 and 20110431 are compared, and rows go; 20110100 is error 1292.
. "$(dirname "$0")/server.sh"
mysql97
sql "CREATE DATABASE d; CREATE TABLE d.t (d DATE); INSERT INTO d.t VALUES ('2011-02-28'), ('2011-04-30'), ('2012-01-01')"
seen 'day 0' '1292' "$(sql 'DELETE FROM d.t WHERE d < 20110100' | grep -o 1292)"
seen '30 February' '1' "$(sql 'DELETE FROM d.t WHERE d < 20110230; SELECT ROW_COUNT()')"
seen '31 April' '1' "$(sql 'DELETE FROM d.t WHERE d < 20110431; SELECT ROW_COUNT()')"
