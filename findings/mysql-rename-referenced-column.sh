#!/usr/bin/env bash
# One ALTER TABLE that renames a column to which a foreign key refers and adds another; the table has a row.
# Guess: it is done, and the foreign key has the new name.
# Seen with MySQL 9.7.4: both are so, but the answer is error 1146 that the table does not exist.
. "$(dirname "$0")/server.sh"
mysql97
sql 'CREATE DATABASE d; CREATE TABLE d.p (id INT PRIMARY KEY, a INT); INSERT INTO d.p VALUES (1, 1)
    ; CREATE TABLE d.c (p INT, FOREIGN KEY (p) REFERENCES d.p (id))'
seen 'the statement' "ERROR 1146 (42S02) at line 1: Table 'd.p' doesn't exist" "$(sql 'ALTER TABLE d.p RENAME COLUMN id TO b, ADD COLUMN z INT FIRST')"
seen 'the columns' 'z,b,a' "$(sql "SELECT GROUP_CONCAT(column_name ORDER BY ordinal_position) FROM information_schema.columns WHERE table_schema = 'd' AND table_name = 'p'")"
seen 'the foreign key' 'b' "$(sql "SELECT referenced_column_name FROM information_schema.key_column_usage WHERE table_schema = 'd' AND table_name = 'c' AND referenced_column_name IS NOT NULL")"
