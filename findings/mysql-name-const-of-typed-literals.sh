#!/usr/bin/env bash
# NAME_CONST takes literals: TRUE, DATE '2024-01-01'.
# Guess: both are literals.
# Seen with MySQL 9.7.4: error 1210 for both, while a number, a text, NULL and a negative number are taken.
. "$(dirname "$0")/server.sh"
mysql97
seen 'number, text, NULL, negative' $'1\tx\tNULL\t-1' "$(sql "SELECT NAME_CONST('a', 1), NAME_CONST('b', 'x'), NAME_CONST('c', NULL), NAME_CONST('d', -1)")"
seen 'TRUE' '1210' "$(sql "SELECT NAME_CONST('a', TRUE)" | grep -o 1210)"
seen 'a date' '1210' "$(sql "SELECT NAME_CONST('a', DATE '2024-01-01')" | grep -o 1210)"
