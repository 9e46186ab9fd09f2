#!/usr/bin/env bash
# A definition with two version comments, one for a later server than this; its text in the binary log.
# Guess: the log has the statement as the client sent it, so that each replica decides by its own version.
# Seen with MySQL 9.7.4: the comment that was executed is as it was sent; the other has lost its "!" and is a plain comment, so a replica
# of the later version does what its source did.
. "$(dirname "$0")/server.sh"
mysql97
sql 'CREATE DATABASE d; RESET BINARY LOGS AND GTIDS'
sql "CREATE TABLE d.t (a INT /*!99999 , b INT */) /*!50100 COMMENT 'c' */"
seen 'logged' "CREATE TABLE d.t (a INT /* 99999 , b INT */) /*!50100 COMMENT 'c' */" \
    "$(sql 'SHOW BINLOG EVENTS' --skip-column-names | cut -f 6 | grep '^CREATE TABLE' | sed 's| /\* xid=.*||')"
