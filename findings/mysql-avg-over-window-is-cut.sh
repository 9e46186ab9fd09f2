#!/usr/bin/env bash
# AVG() OVER () of what is chosen from a YEAR and a TINYINT.
# Guess: the same value as of AVG() without OVER.
# Seen with MySQL 9.7.4: 999.9999, without an error or a warning: the DECIMAL that keeps it has three digits before its point.
. "$(dirname "$0")/server.sh"
mysql97
sql "CREATE DATABASE d; CREATE TABLE d.t (id INT PRIMARY KEY, y YEAR, n TINYINT); INSERT INTO d.t VALUES (1, 2001, 3), (2, 2024, -100)"
seen 'AVG' '2012.5000' "$(sql "SELECT AVG(IFNULL(y, n)) FROM d.t")"
seen 'AVG OVER' '999.9999' "$(sql "SELECT AVG(IFNULL(y, n)) OVER () FROM d.t LIMIT 1; SHOW WARNINGS")"
