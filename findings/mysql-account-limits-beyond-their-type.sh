#!/usr/bin/env bash
# Options of accounts with numbers beyond what mysql.user's columns hold.
# Guess: an error that the value is out of range, for each.
# Seen with MySQL 9.7.4: PASSWORD HISTORY 65536 is kept as 65535, PASSWORD REUSE INTERVAL 65536 DAY is shown as 65536; no error, no warning.
. "$(dirname "$0")/server.sh"
mysql97
seen 'the statement' '' "$(sql 'CREATE USER a PASSWORD HISTORY 65536 PASSWORD REUSE INTERVAL 65536 DAY; SHOW WARNINGS')"
seen 'what is kept' $'65535\t65535' "$(sql "SELECT Password_reuse_history, Password_reuse_time FROM mysql.user WHERE user = 'a'")"
seen 'what is shown' '65536 DAY' "$(sql 'SHOW CREATE USER a' | grep -o '65536 DAY')"
