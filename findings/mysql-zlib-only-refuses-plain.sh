#!/usr/bin/env bash
# protocol_compression_algorithms = 'zlib', and a client that does not ask for compression.
# Guess: the setting says which compressions a client may ask for; one that asks for none goes on as before.
# Seen with MySQL 9.7.4: "uncompressed" is an algorithm of the list too. The plain client is refused (3922), on a local socket too, and
# names the algorithm that it did not know of; with zlib it gets in.
. "$(dirname "$0")/server.sh"
mysql97 --protocol-compression-algorithms=zlib
seen 'plain' "ERROR 3922 (HY000): Invalid compression algorithm 'uncompressed'." "$(sql 'SELECT 1')"
seen 'zlib' '1' "$(sql 'SELECT 1' --compression-algorithms=zlib)"
