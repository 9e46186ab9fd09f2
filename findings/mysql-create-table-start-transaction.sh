#!/usr/bin/env bash
# A client says CREATE TABLE … START TRANSACTION, the option with which a MySQL logs CREATE TABLE … SELECT.
# Guess: it is refused, or means nothing outside of a log.
# Seen with MySQL 9.7.4: it begins a transaction in which nothing but BINLOG, COMMIT and ROLLBACK may follow (3977), not even SELECT; ROLLBACK
# takes the table away.
. "$(dirname "$0")/server.sh"
mysql97
sql 'CREATE DATABASE d'
seen 'a query behind it' '3977' "$(sql 'CREATE TABLE d.t (a INT PRIMARY KEY) START TRANSACTION; SELECT 1' 2>&1 | grep -o 3977)"
seen 'after ROLLBACK' '0' "$(sql "CREATE TABLE d.u (a INT PRIMARY KEY) START TRANSACTION; ROLLBACK; SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'd'")"
seen 'after COMMIT' '1' "$(sql "CREATE TABLE d.v (a INT PRIMARY KEY) START TRANSACTION; COMMIT; SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'd'")"
