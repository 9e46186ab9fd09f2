#!/usr/bin/env bash
# One ALTER TABLE that changes a column's type, which copies the table, and renames it: of a child, and of a parent.
# Guess: foreign keys stay as with either alone: the child's is its own, and that of others has the parent's new name.
# Seen with MariaDB 11.8: the child has no foreign key any more, and takes rows without parents; a child of the parent still names
# the old table, and takes no row at all.
. "$(dirname "$0")/server.sh"
maria118
keys() { sql "SELECT table_name, referenced_table_name FROM information_schema.referential_constraints WHERE constraint_schema = 'd' ORDER BY 1"; }
sql 'CREATE DATABASE d; CREATE TABLE d.p (id INT PRIMARY KEY, a INT); INSERT INTO d.p VALUES (1, 1)
    ; CREATE TABLE d.c (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES d.p (id))
    ; CREATE TABLE d.e (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES d.p (id))'
sql 'ALTER TABLE d.c MODIFY id BIGINT, RENAME TO d.f'
seen 'keys after the child' $'e\tp' "$(keys)"
seen 'a row without its parent' '' "$(sql 'INSERT INTO d.f VALUES (1, 77)' 2>&1)"
sql 'ALTER TABLE d.p MODIFY a BIGINT, RENAME TO d.q'
seen 'keys after the parent' $'e\tp' "$(keys)"
seen 'a row with its parent' 'ERROR 1452 (23000)' "$(sql 'INSERT INTO d.e VALUES (1, 1)' | grep -o 'ERROR 1452 (23000)')"
