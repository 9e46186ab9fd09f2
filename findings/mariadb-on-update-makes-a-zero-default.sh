#!/usr/bin/env bash
# A TIMESTAMP or DATETIME column NOT NULL ON UPDATE CURRENT_TIMESTAMP without DEFAULT, under NO_ZERO_DATE and with explicit_defaults_for_timestamp=ON; then another column is added.
# Guess: the column has no default, as in MySQL, and the table can be changed.
# Seen with MariaDB 11.8: its default is '0000-00-00 00:00:00', which CREATE TABLE takes and each later ALTER TABLE that adds a column refuses with 1067.
. "$(dirname "$0")/server.sh"
maria118
mode="SET sql_mode = 'STRICT_TRANS_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE', explicit_defaults_for_timestamp = ON"
run() {
    sql "$mode; CREATE DATABASE IF NOT EXISTS d; USE d; DROP TABLE IF EXISTS t; CREATE TABLE t (id INT PRIMARY KEY, c $1)"
    sql "SELECT column_default FROM information_schema.columns WHERE table_schema = 'd' AND column_name = 'c'"
    sql "$mode; USE d; ALTER TABLE t ADD x INT" | sed -n 's/^\(ERROR.*)\) at line.*/\1/p'
}
seen 'TIMESTAMP' $'\'0000-00-00 00:00:00\'\nERROR 1067 (42000)' "$(run 'TIMESTAMP NOT NULL ON UPDATE CURRENT_TIMESTAMP')"
seen 'DATETIME' $'\'0000-00-00 00:00:00\'\nERROR 1067 (42000)' "$(run 'DATETIME NOT NULL ON UPDATE CURRENT_TIMESTAMP')"
seen 'without ON UPDATE' 'NULL' "$(run 'DATETIME NOT NULL')"
