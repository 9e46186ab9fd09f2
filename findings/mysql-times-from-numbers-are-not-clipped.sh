#!/usr/bin/env bash
# A number and a text of the same digits, beyond the greatest time, as times.
# Guess: both are 838:59:59 with a warning.
# Seen with MySQL 9.7.4: the text is, the number is NULL.
. "$(dirname "$0")/server.sh"
mysql97
seen 'a text' '838:59:59' "$(sql "SELECT TIME('8390000')")"
seen 'a number' 'NULL' "$(sql 'SELECT TIME(8390000)')"
seen 'the greatest number' '838:59:59' "$(sql 'SELECT TIME(8385959)')"
