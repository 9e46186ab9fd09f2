#!/usr/bin/env bash
# A document whose text is longer than max_allowed_packet (64 MiB), made by JSON_ARRAY and used by other functions.
# Guess: as with REPEAT and CONCAT the function that makes it gives NULL, with warning 1301.
# Seen with MySQL 9.7.4: only where the document becomes text. JSON_LENGTH counts its elements, JSON_EXTRACT takes one out, IS NULL is false; LENGTH of it is NULL.
. "$(dirname "$0")/server.sh"
mysql97
document="JSON_ARRAY(REPEAT('a', 40000000), REPEAT('b', 40000000))"
seen 'JSON_LENGTH' '2' "$(sql "SELECT JSON_LENGTH($document)")"
seen 'JSON_EXTRACT' '40000002' "$(sql "SELECT LENGTH(JSON_EXTRACT($document, '\$[1]'))")"
seen 'IS NULL' '0' "$(sql "SELECT $document IS NULL")"
seen 'LENGTH' 'NULL' "$(sql "SELECT LENGTH($document)")"
