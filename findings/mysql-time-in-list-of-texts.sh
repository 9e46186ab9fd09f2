#!/usr/bin/env bash
# A TIME column in a list of texts that are no times.
# Guess: such a text equals no time, however many there are.
# Seen with MySQL 9.7.4: in a list of several constants it is 00:00:00 and finds midnight; alone it finds nothing.
. "$(dirname "$0")/server.sh"
mysql97
sql "CREATE DATABASE d; CREATE TABLE d.t (c TIME); INSERT INTO d.t VALUES ('00:00:00'), ('10:00:00')"
seen 'two texts' '00:00:00' "$(sql "SELECT c FROM d.t WHERE c IN ('x', 'y')")"
seen 'one text' '' "$(sql "SELECT c FROM d.t WHERE c IN ('x')")"
