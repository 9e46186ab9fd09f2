#!/usr/bin/env bash
# The difference of two calls of YEAR() whose second is the later year.
# Guess: -5, as ever: YEAR() gives an INT.
# Seen with MySQL 9.7.4: YEAR() gives a YEAR, which is unsigned, so that the difference is error 1690; a table that is made of it has a
# column of type year, which does not hold the year 1000.
. "$(dirname "$0")/server.sh"
mysql97
sql "CREATE DATABASE d"
seen 'difference' 1690 "$(sql "SELECT YEAR('2020-01-01') - YEAR('2025-01-01')" 2>&1 | grep -o 1690)"
seen 'type' 'year' "$(sql "CREATE TABLE d.t AS SELECT YEAR('2020-01-01') AS y;
    SELECT column_type FROM information_schema.columns WHERE table_schema = 'd'")"
seen 'year 1000' 1264 "$(sql "CREATE TABLE d.u AS SELECT YEAR('1000-01-01') AS y" 2>&1 | grep -o 1264)"
seen 'the value alone' 1000 "$(sql "SELECT YEAR('1000-01-01')")"
