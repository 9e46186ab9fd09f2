#!/usr/bin/env bash
# SHOW BINLOG EVENTS FROM a position that is no event's beginning: one inside of each of a file's first four events.
# Guess: error 1220 for each, since there is no header at that place (MariaDB 11.8 says so: "Wrong offset").
# Seen with MySQL 9.7.4: inside the format description, the previous GTIDs and a GTID event it goes on with the next event, without
# a word; inside the QUERY behind them it is 1220, and the reason is made of what the bytes happen to be.
. "$(dirname "$0")/server.sh"
mysql97
sql 'RESET BINARY LOGS AND GTIDS; CREATE DATABASE d; CREATE DATABASE e'
next() { sql "SHOW BINLOG EVENTS FROM $1 LIMIT 1" | cut -f 2,3 | sed 's/^\(ERROR [0-9]*\).*/\1/'; }
seen 'events' $'4\tFormat_desc\n127\tPrevious_gtids\n158\tGtid\n235\tQuery' "$(sql 'SHOW BINLOG EVENTS LIMIT 4' | cut -f 2,3)"
seen 'from 5' $'127\tPrevious_gtids' "$(next 5)"
seen 'from 128' $'158\tGtid' "$(next 128)"
seen 'from 159' $'235\tQuery' "$(next 159)"
seen 'from 236' 'ERROR 1220' "$(next 236)"
