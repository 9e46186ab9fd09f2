#!/usr/bin/env bash
# ALTER USER u IDENTIFIED WITH the plugin that the account has, without a password.
# Guess: the password becomes empty, and that is all.
# Seen with MySQL 9.7.4: the account's password is expired besides; with AS '' it is not.
. "$(dirname "$0")/server.sh"
mysql97
sql "CREATE USER a IDENTIFIED BY 'x', b IDENTIFIED BY 'x'; ALTER USER a IDENTIFIED WITH caching_sha2_password; ALTER USER b IDENTIFIED WITH caching_sha2_password AS ''"
seen 'WITH alone, and with AS' $'a\t\tY\nb\t\tN' "$(sql "SELECT user, authentication_string, password_expired FROM mysql.user WHERE user IN ('a', 'b') ORDER BY 1")"
