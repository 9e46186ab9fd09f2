#!/usr/bin/env bash
# JSON_TABLE with values that do not fit the types of its columns.
# Guess: NULL, as for INT, DATE and SET; with ERROR ON ERROR error 3669.
# Seen with MySQL 9.7.4: a TIME is what the text begins with ('2020-01-02' is 00:20:20), also with ERROR ON ERROR; an ENUM is '' unless ERROR ON ERROR is said.
. "$(dirname "$0")/server.sh"
mysql97
seen 'a TIME' '00:20:20' "$(sql "SELECT a FROM JSON_TABLE('[\"2020-01-02\"]', '\$[*]' COLUMNS(a TIME PATH '\$' ERROR ON ERROR)) j")"
seen 'an ENUM' "''" "$(sql "SELECT QUOTE(a) FROM JSON_TABLE('[\"c\"]', '\$[*]' COLUMNS(a ENUM('a') PATH '\$')) j")"
seen 'a SET' 'NULL' "$(sql "SELECT QUOTE(a) FROM JSON_TABLE('[\"c\"]', '\$[*]' COLUMNS(a SET('a') PATH '\$')) j")"
