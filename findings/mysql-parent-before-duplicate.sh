#!/usr/bin/env bash
# INSERT … ON DUPLICATE KEY UPDATE: a row has the new one's key, and the new one's foreign key has no parent.
# Guess: the row that is there is updated, since the new one is never written.
# Seen with MySQL 9.7.4: error 1452, and a refused row leaves the AUTO_INCREMENT counter where it was.
. "$(dirname "$0")/server.sh"
mysql97
sql 'CREATE DATABASE d; CREATE TABLE d.p (id INT PRIMARY KEY); CREATE TABLE d.c (id INT AUTO_INCREMENT PRIMARY KEY, p INT, a INT, FOREIGN KEY (p) REFERENCES d.p (id))
    ; INSERT INTO d.c VALUES (1, NULL, 1)'
seen 'the statement' 'ERROR 1452 (23000)' "$(sql 'INSERT INTO d.c VALUES (1, 7, 2) ON DUPLICATE KEY UPDATE a = 9' 2>&1 | grep -o 'ERROR 1452 (23000)')"
seen 'a number refused' 'ERROR 1452 (23000)' "$(sql 'INSERT INTO d.c VALUES (NULL, 7, 2)' 2>&1 | grep -o 'ERROR 1452 (23000)')"
sql 'INSERT INTO d.c (a) VALUES (3)'
seen 'rows' '1:1,2:3' "$(sql "SELECT GROUP_CONCAT(id, ':', a ORDER BY id) FROM d.c")"
