#!/usr/bin/env bash
# A child row without a parent, where the index that serves the foreign key has a second column, which is NULL in the row.
# Guess: error 1452; only a NULL in a column of the foreign key itself excuses a row.
# Seen with MySQL 9.7.4: the row is stored. With a value in the second column it is refused.
. "$(dirname "$0")/server.sh"
mysql97
sql 'CREATE DATABASE d; CREATE TABLE d.p (id INT PRIMARY KEY)
    ; CREATE TABLE d.c (id INT PRIMARY KEY, p INT, note INT, KEY (p, note), FOREIGN KEY (p) REFERENCES d.p (id))'
seen 'with a value' 'ERROR 1452 (23000)' "$(sql 'INSERT INTO d.c VALUES (1, 66, 5)' 2>&1 | cut -c1-18)"
seen 'with NULL' '' "$(sql 'INSERT INTO d.c VALUES (2, 66, NULL)' 2>&1)"
seen 'the child' $'2\t66\tNULL' "$(sql 'SELECT * FROM d.c')"
seen 'parents' '0' "$(sql 'SELECT COUNT(*) FROM d.p')"
