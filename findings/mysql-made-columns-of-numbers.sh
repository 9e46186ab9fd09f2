#!/usr/bin/env bash
# Columns that CREATE TABLE … SELECT makes of whole numbers.
# Guess: one type for one kind of number, whatever function it came through: COALESCE and IFNULL give the same.
# Seen with MySQL 9.7.4: an int where at most 11 characters are expected, but a bigint in IFNULL, MAX, UNION and of a constant of nine
# digits; the same constant with a minus makes an int.
. "$(dirname "$0")/server.sh"
mysql97
sql "CREATE DATABASE d; CREATE TABLE d.t (i TINYINT); INSERT INTO d.t VALUES (1)"
made() {
    sql "DROP TABLE IF EXISTS d.m; CREATE TABLE d.m AS $1;
        SELECT column_type FROM information_schema.columns WHERE table_schema = 'd' AND table_name = 'm'"
}
seen 'COALESCE(i, 1)' int "$(made 'SELECT COALESCE(i, 1) AS c FROM d.t')"
seen 'IFNULL(i, 1)' bigint "$(made 'SELECT IFNULL(i, 1) AS c FROM d.t')"
seen 'i + 1' int "$(made 'SELECT i + 1 AS c FROM d.t')"
seen 'MAX(i + 1)' bigint "$(made 'SELECT MAX(i + 1) AS c FROM d.t')"
seen '1' int "$(made 'SELECT 1 AS c')"
seen '1 UNION 2' bigint "$(made 'SELECT 1 AS c UNION SELECT 2')"
seen '123456789' bigint "$(made 'SELECT 123456789 AS c')"
seen '-123456789' int "$(made 'SELECT -123456789 AS c')"
