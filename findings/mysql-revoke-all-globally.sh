#!/usr/bin/env bash
# REVOKE ALL ON *.* of an account with privileges at three levels.
# Guess: ON *.* names the global level, as it does in GRANT, so those on a database and on a table stay (as after REVOKE SELECT ON *.*).
# Seen with MySQL 9.7.4: they are gone too.
. "$(dirname "$0")/server.sh"
mysql97
sql 'CREATE DATABASE d; CREATE TABLE d.t (a INT); CREATE USER u; GRANT SELECT ON *.* TO u; GRANT SELECT, INSERT ON d.* TO u; GRANT SELECT, UPDATE ON d.t TO u'
sql 'REVOKE SELECT ON *.* FROM u'
seen 'after REVOKE SELECT ON *.*' $'GRANT USAGE ON *.* TO `u`@`%`\nGRANT SELECT, INSERT ON `d`.* TO `u`@`%`\nGRANT SELECT, UPDATE ON `d`.`t` TO `u`@`%`' \
    "$(sql 'SHOW GRANTS FOR u')"
sql 'REVOKE ALL ON *.* FROM u'
seen 'after REVOKE ALL ON *.*' 'GRANT USAGE ON *.* TO `u`@`%`' "$(sql 'SHOW GRANTS FOR u')"
