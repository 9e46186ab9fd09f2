#!/usr/bin/env bash
# SUBSTRING_INDEX from the right with a delimiter that overlaps itself: the last 'aa' of nine 'a' and a digit.
# Guess: the same in each character set whose characters are these.
# Seen with MySQL 9.7.4: utf8mb4 searches from the left and leaves an 'a', latin1 searches from the right.
. "$(dirname "$0")/server.sh"
mysql97
seen 'utf8mb4' 'a1' "$(sql "SELECT SUBSTRING_INDEX(_utf8mb4'aaaaaaaaa1', _utf8mb4'aa', -1)")"
seen 'latin1' '1' "$(sql "SELECT SUBSTRING_INDEX(_latin1'aaaaaaaaa1', _latin1'aa', -1)")"
