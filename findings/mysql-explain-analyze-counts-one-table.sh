#!/usr/bin/env bash
# EXPLAIN ANALYZE of COUNT(*) over two tables that no condition joins.
# Guess: a join below an aggregate, as for any other select list.
# Seen with MySQL 9.7.4: a single line that says that the rows of one of the tables are counted; the answer is the product of both.
. "$(dirname "$0")/server.sh"
mysql97
sql "CREATE DATABASE d; USE d; CREATE TABLE a (id INT PRIMARY KEY); CREATE TABLE b (id INT PRIMARY KEY);
INSERT INTO a VALUES (1), (2), (3); INSERT INTO b VALUES (1), (2)"
seen 'the answer' '6' "$(sql "SELECT COUNT(*) FROM a, b" d)"
seen 'the plan' '-> Count rows in b' "$(sql "EXPLAIN ANALYZE SELECT COUNT(*) FROM a, b" d | sed 's/  (actual.*//')"
seen 'with another select list' '2' "$(sql "EXPLAIN ANALYZE SELECT SUM(a.id) FROM a, b" d | grep -o 'scan on [ab]' | wc -l)"
