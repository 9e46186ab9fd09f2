#!/usr/bin/env bash
# An account is blocked by FAILED_LOGIN_ATTEMPTS; an administrator gives it another password.
# Guess: with the new password the block is over.
# Seen with MySQL 9.7.4: it is not (3955); ACCOUNT UNLOCK ends it.
. "$(dirname "$0")/server.sh"
mysql97
sql "CREATE USER a IDENTIFIED BY 'x' FAILED_LOGIN_ATTEMPTS 1 PASSWORD_LOCK_TIME UNBOUNDED"
log_in() { chroot "$root" mysql --no-defaults --socket=/mnt/socket -ua -p"$1" -N -B -e 'SELECT 1' 2>&1 | grep -o '^1$\|1045\|3955' || true; }
seen 'a wrong password' '3955' "$(log_in wrong)"
sql "ALTER USER a IDENTIFIED BY 'y'"
seen 'the new password' '3955' "$(log_in y)"
sql 'ALTER USER a ACCOUNT UNLOCK'
seen 'after ACCOUNT UNLOCK' '1' "$(log_in y)"
