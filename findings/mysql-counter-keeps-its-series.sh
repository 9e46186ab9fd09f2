#!/usr/bin/env bash
# Rows numbered with auto_increment_increment = 10, then one with 1.
# Guess: the number behind the largest there is.
# Seen with MySQL 9.7: the number that would have been next in steps of 10; SHOW CREATE TABLE says it, too. A number that a row brought along is followed by the next.
. "$(dirname "$0")/server.sh"
mysql97
run() { sql "USE d; SET auto_increment_increment = $1, auto_increment_offset = $2; INSERT INTO t VALUES ($3); SELECT MAX(id) FROM t"; }
counter() { sql 'SHOW CREATE TABLE d.t' | grep -o 'AUTO_INCREMENT=[0-9]*'; }
sql 'CREATE DATABASE d; CREATE TABLE d.t (id INT PRIMARY KEY AUTO_INCREMENT)'
seen 'by tens' 3 "$(run 10 3 NULL)"
seen 'the counter' 'AUTO_INCREMENT=13' "$(counter)"
seen 'by ones' 13 "$(run 1 1 NULL)"
seen 'a number that is given, by tens' 50 "$(run 10 3 50)"
seen 'the counter' 'AUTO_INCREMENT=51' "$(counter)"
