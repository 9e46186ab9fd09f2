#!/usr/bin/env bash
# EXCEPT ALL whose right side is an INTERSECT, or a UNION, that gives a NULL.
# Guess: a NULL on the right takes away a NULL on the left, and nothing else: two ones less a NULL are two ones.
# Seen with MySQL 9.7.4: the NULL takes away a row that is not NULL. Where the right side is a plain SELECT of NULL it does not.
. "$(dirname "$0")/server.sh"
mysql97
seen 'of an INTERSECT' '1' "$(sql 'SELECT COUNT(*) FROM (SELECT 1 UNION ALL SELECT 1 EXCEPT ALL (SELECT NULL INTERSECT SELECT NULL)) d')"
seen 'of a UNION' '1' "$(sql 'SELECT COUNT(*) FROM (SELECT 1 UNION ALL SELECT 1 EXCEPT ALL (SELECT NULL UNION SELECT NULL)) d')"
seen 'of a SELECT' '2' "$(sql 'SELECT COUNT(*) FROM (SELECT 1 UNION ALL SELECT 1 EXCEPT ALL SELECT NULL) d')"
