#!/usr/bin/env bash
# MODIFY of a VARCHAR(20) to MEDIUMTEXT, alone and with CONVERT TO CHARACTER SET in the same ALTER TABLE.
# Guess: the column is a MEDIUMTEXT in either case.
# Seen with MySQL 9.7.4: with CONVERT TO it is a TINYTEXT, by the length that the VARCHAR had; an INT becomes one too. MariaDB keeps MEDIUMTEXT.
. "$(dirname "$0")/server.sh"
mysql97
type() { sql "SELECT column_type FROM information_schema.columns WHERE table_schema = 'd' AND column_name = 'v'"; }
sql 'CREATE DATABASE d; CREATE TABLE d.t (id INT PRIMARY KEY, v VARCHAR(20)); ALTER TABLE d.t MODIFY v MEDIUMTEXT'
seen 'alone' 'mediumtext' "$(type)"
sql 'DROP TABLE d.t; CREATE TABLE d.t (id INT PRIMARY KEY, v VARCHAR(20)); ALTER TABLE d.t MODIFY v MEDIUMTEXT, CONVERT TO CHARACTER SET latin1'
seen 'with CONVERT TO' 'tinytext' "$(type)"
seen 'a text of 300' 'ERROR 1406 (22001)' "$(sql "INSERT INTO d.t VALUES (1, REPEAT('x', 300))" 2>&1 | cut -c1-18)"
sql 'DROP TABLE d.t; CREATE TABLE d.t (id INT PRIMARY KEY, v INT); ALTER TABLE d.t MODIFY v MEDIUMTEXT, CONVERT TO CHARACTER SET latin1'
seen 'from INT' 'tinytext' "$(type)"
