#!/usr/bin/env bash
# In strict mode, an integer column beside a text that is no number, in DELETE and in UPDATE.
# Guess: both are error 1292, as both are in MySQL.
# Seen with MariaDB 11.8: UPDATE is; DELETE deletes and warns.
. "$(dirname "$0")/server.sh"
maria118
sql "CREATE DATABASE d; CREATE TABLE d.t (a INT, b INT); INSERT INTO d.t VALUES (0, 1), (1, 1)"
seen 'UPDATE' '1292' "$(sql "UPDATE d.t SET b = 2 WHERE a = 'k'" 2>&1 | grep -o 1292)"
seen 'DELETE' '1292' "$(sql "DELETE FROM d.t WHERE a = 'k'; SHOW WARNINGS" | grep -o 1292 | head -n 1)"
seen 'what is left' '1' "$(sql 'SELECT a FROM d.t' | xargs)"
