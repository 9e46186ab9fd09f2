#!/usr/bin/env bash
# MD5() and SHA1() of a server as it is installed.
# Guess: both are there, old as they are; at most they warn.
# Seen with MySQL 9.7.4: error 1305, as of a function that never was; SHA2() is there. A component has to be installed for the two, which the
# server's own package holds.
. "$(dirname "$0")/server.sh"
mysql97
sql "CREATE DATABASE d"
seen 'MD5' "ERROR 1305 (42000) at line 1: FUNCTION d.MD5 does not exist" "$(sql "SELECT MD5('a')" d)"
seen 'SHA1' "ERROR 1305 (42000) at line 1: FUNCTION d.SHA1 does not exist" "$(sql "SELECT SHA1('a')" d)"
seen 'SHA2' '64' "$(sql "SELECT LENGTH(SHA2('a', 256))" d)"
