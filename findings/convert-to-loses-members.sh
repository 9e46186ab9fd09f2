#!/usr/bin/env bash
# CONVERT TO CHARACTER SET utf8mb4 of a table whose ENUM, of latin1, has members with letters beyond ASCII.
# Guess: members are converted as a VARCHAR's values are.
# Seen with MySQL 9.7.4: the column is utf8mb4, and the member has the bytes that it had in latin1, which are no UTF-8; no error, no warning.
. "$(dirname "$0")/server.sh"
mysql97
value() { sql "SELECT e + 0, HEX(e) FROM d.t WHERE id = 2"; }
sql "SET NAMES utf8mb4; CREATE DATABASE d; CREATE TABLE d.t (id INT PRIMARY KEY, e ENUM('a','Straße') CHARACTER SET latin1); INSERT INTO d.t VALUES (1, 1), (2, 2)"
seen 'before' $'2\t53747261DF65' "$(value)"
seen 'the statement' '' "$(sql 'ALTER TABLE d.t CONVERT TO CHARACTER SET utf8mb4; SHOW WARNINGS')"
seen 'after' $'2\t53747261DF65' "$(value)"
seen 'the character set' 'utf8mb4' "$(sql "SELECT character_set_name FROM information_schema.columns WHERE table_schema = 'd' AND column_name = 'e'")"
