#!/usr/bin/env bash
# A VALUES statement with ORDER BY, by the number of a column and by its name.
# Guess: the rows are ordered, as the manual's example has it.
# Seen with MySQL 9.7.4: they come as they were written; as a derived table, or behind a UNION, they are ordered.
. "$(dirname "$0")/server.sh"
mysql97
seen 'by a number' '1 3 2' "$(sql 'VALUES ROW(1), ROW(3), ROW(2) ORDER BY 1 DESC' | xargs)"
seen 'by its name' '1 3 2' "$(sql 'VALUES ROW(1), ROW(3), ROW(2) ORDER BY column_0 DESC' | xargs)"
seen 'the first one' '1' "$(sql 'VALUES ROW(1), ROW(3), ROW(2) ORDER BY column_0 DESC LIMIT 1' | xargs)"
seen 'of a derived table' '3 2 1' "$(sql 'SELECT * FROM (VALUES ROW(1), ROW(3), ROW(2)) t ORDER BY 1 DESC' | xargs)"
seen 'of a UNION' '3 2 1' "$(sql 'VALUES ROW(1), ROW(3) UNION VALUES ROW(2) ORDER BY 1 DESC' | xargs)"
