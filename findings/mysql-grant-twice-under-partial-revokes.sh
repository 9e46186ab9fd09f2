#!/usr/bin/env bash
# With partial_revokes, an account that holds INSERT everywhere but on one database is granted it there, twice.
# Guess: the first GRANT gives the privilege on the database, and the second changes nothing.
# Seen with MySQL 9.7.4: the first one only takes the exception away; the second one is a grant on the database, which a REVOKE takes
# away alone, so that it needs two of them before the account cannot insert.
. "$(dirname "$0")/server.sh"
mysql97
of_database() { sql 'SHOW GRANTS FOR a' | grep '`d`' || true; }
sql "SET GLOBAL partial_revokes = ON; CREATE DATABASE d; CREATE USER a; GRANT INSERT ON *.* TO a; REVOKE INSERT ON d.* FROM a"
seen 'revoked' 'REVOKE INSERT ON `d`.* FROM `a`@`%`' "$(of_database)"
sql 'GRANT INSERT ON d.* TO a'
seen 'granted once' '' "$(of_database)"
sql 'GRANT INSERT ON d.* TO a'
seen 'granted twice' 'GRANT INSERT ON `d`.* TO `a`@`%`' "$(of_database)"
sql 'REVOKE INSERT ON d.* FROM a'
seen 'revoked once' '' "$(of_database)"
sql 'REVOKE INSERT ON d.* FROM a'
seen 'revoked twice' 'REVOKE INSERT ON `d`.* FROM `a`@`%`' "$(of_database)"
