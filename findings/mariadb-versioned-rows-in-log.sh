#!/usr/bin/env bash
# Rows events of a system-versioned table: one UPDATE and one DELETE of a row.
# Guess: the log has the statement's own kind, one UPDATE event and one DELETE event; a replica keeps the history by itself.
# Seen with MariaDB 11.8: the UPDATE is an UPDATE event and a WRITE event of the old version, and the DELETE is an UPDATE event that ends
# the row's time. A reader of the log that mirrors the table has to look at row_end.
. "$(dirname "$0")/server.sh"
maria118
sql 'CREATE DATABASE d; CREATE TABLE d.t (a INT PRIMARY KEY, b INT) WITH SYSTEM VERSIONING; INSERT INTO d.t VALUES (1, 1); RESET MASTER'
events() { sql 'SHOW BINLOG EVENTS' | cut -f 3 | grep -o '^\(Write\|Update\|Delete\)_rows' | tr '\n' ' '; }
sql 'UPDATE d.t SET b = 2'
seen 'UPDATE' 'Update_rows Write_rows ' "$(events)"
sql 'RESET MASTER; DELETE FROM d.t'
seen 'DELETE' 'Update_rows ' "$(events)"
