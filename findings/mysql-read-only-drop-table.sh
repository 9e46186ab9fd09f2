#!/usr/bin/env bash
# DROP TABLE, which commits by itself, in a transaction that is READ ONLY: by START TRANSACTION, and by the session's default.
# Guess: both are error 1792, or neither: in both cases the session says that its transactions only read.
# Seen with MySQL 9.7.4: after SET SESSION TRANSACTION READ ONLY it is 1792; after START TRANSACTION READ ONLY the transaction is
# committed first, and the table is gone.
. "$(dirname "$0")/server.sh"
mysql97
sql 'CREATE DATABASE d; CREATE TABLE d.by_session (a INT); CREATE TABLE d.by_start (a INT)'
seen 'by the session' 'ERROR 1792 (25006) at line 1: Cannot execute statement in a READ ONLY transaction.' \
    "$(sql 'SET SESSION TRANSACTION READ ONLY; DROP TABLE d.by_session')"
seen 'by START TRANSACTION' '' "$(sql 'START TRANSACTION READ ONLY; DROP TABLE d.by_start')"
seen 'tables that are left' 'by_session' "$(sql 'SHOW TABLES FROM d')"
