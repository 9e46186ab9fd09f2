#!/usr/bin/env bash
# A JSON column and a number swap their names in one ALTER TABLE; the number has a foreign key that sets NULL.
# Guess: as without the foreign key, where both have their new names.
# Seen with MariaDB 11.8: error 1901; the check that a JSON column has is thought to use the column of the foreign key, by its old name.
# MySQL 9.7 does it.
. "$(dirname "$0")/server.sh"
maria118
sql 'CREATE DATABASE d; CREATE TABLE d.p (id INT PRIMARY KEY); CREATE TABLE d.t (j JSON, n INT)
    ; CREATE TABLE d.c (j JSON, n INT, FOREIGN KEY (n) REFERENCES d.p (id) ON DELETE SET NULL)'
seen 'without a foreign key' '' "$(sql 'ALTER TABLE d.t CHANGE j n JSON, CHANGE n j INT')"
seen 'with one' "ERROR 1901 (HY000) at line 1: Function or expression 'n' cannot be used in the CHECK clause of \`n\`" \
    "$(sql 'ALTER TABLE d.c CHANGE j n JSON, CHANGE n j INT' | grep ERROR)"
