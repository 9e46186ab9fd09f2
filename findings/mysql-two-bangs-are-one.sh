#!/usr/bin/env bash
# NOT written as `!`, twice: `!!a`.
# Guess: the negation of a negation, as `! !a` and `NOT NOT a` are.
# Seen with MySQL 9.7.4: two that touch are one, so that `!!a` is `!a`, and `!!!a` is `!(!a)`; with a space or a parenthesis between them they are two. MariaDB 11.8.9 reads two.
. "$(dirname "$0")/server.sh"
mysql97
seen 'one' '0' "$(sql "SELECT !1")"
seen 'two that touch' '0 1' "$(sql "SELECT CONCAT_WS(' ', !!1, !!0)")"
seen 'three that touch' '1' "$(sql "SELECT !!!1")"
seen 'two apart' '1 1 1' "$(sql "SELECT CONCAT_WS(' ', ! !1, !(!1), NOT NOT 1)")"
