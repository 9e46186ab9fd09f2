#!/usr/bin/env bash
# UPPER and LOWER of letters whose other case takes more bytes in UTF-8: U+0250 has two bytes, its capital U+2C6F three.
# Guess: each letter becomes its other one, so ten of them become 30 bytes, and what is behind them stays.
# Seen with MySQL 9.7.4: under utf8mb4_0900_ai_ci the text ends where the bytes of the argument are used up, or is empty; under
# utf8mb4_general_ci, which does not know these pairs, it stays as it is. MariaDB 11.8 under utf8mb4_uca1400_ai_ci has all 30 bytes.
. "$(dirname "$0")/server.sh"
mysql97
seen 'ten letters' '3' "$(sql "SELECT LENGTH(UPPER(REPEAT(CONVERT(_utf32 0x00000250 USING utf8mb4) COLLATE utf8mb4_0900_ai_ci, 10)))")"
seen 'text behind them' 'E2B1AF' "$(sql "SELECT HEX(UPPER(CONCAT(REPEAT(CONVERT(_utf32 0x00000250 USING utf8mb4) COLLATE utf8mb4_0900_ai_ci, 10), 'behind')))")"
seen 'one letter' '' "$(sql "SELECT HEX(LOWER(CONVERT(_utf32 0x0000023A USING utf8mb4) COLLATE utf8mb4_0900_ai_ci))")"
seen 'general_ci' '20' "$(sql "SELECT LENGTH(UPPER(REPEAT(CONVERT(_utf32 0x00000250 USING utf8mb4) COLLATE utf8mb4_general_ci, 10)))")"
