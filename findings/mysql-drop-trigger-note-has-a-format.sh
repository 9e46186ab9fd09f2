#!/usr/bin/env bash
# DROP TRIGGER IF EXISTS in a database that is not there.
# Guess: a note that names the database.
# Seen with MySQL 9.7.4: the note's text is the server's own format, with its %-.192s.
. "$(dirname "$0")/server.sh"
mysql97
seen 'the note' "Note 1049 Unknown database '%-.192s'" "$(sql 'DROP TRIGGER IF EXISTS nosuch.t; SHOW WARNINGS' | tr '\t' ' ')"
seen 'without IF EXISTS' "Unknown database 'nosuch'" "$(sql 'DROP TRIGGER nosuch.t' 2>&1 | grep -o "Unknown database.*")"
