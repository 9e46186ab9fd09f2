#!/usr/bin/env bash
# Read XML whose elements end under other names: `<ab>1</cd>`.
# Guess: a text that is no XML is NULL with warning 1525.
# Seen with MySQL 9.7.4: the name at an element's end is compared by its length alone, so `<ab>1</cd>` is taken, and `<ab>1</cde>` is not. The warning
# of the latter leaves the first character of the wanted name out where the element is not in another: it wants `</b>`.
. "$(dirname "$0")/server.sh"
mysql97
seen 'another name as long' '1' "$(sql "SELECT EXTRACTVALUE('<ab>1</cd>', '/ab')")"
seen 'inside of another' '1' "$(sql "SELECT EXTRACTVALUE('<x><ab>1</cd></x>', '/x/ab')")"
seen 'a longer name' 'NULL' "$(sql "SELECT EXTRACTVALUE('<ab>1</cde>', '/ab')")"
seen 'what it wants' "Warning	1525	Incorrect XML value: 'parse error at line 1 pos 11: '</cde>' unexpected ('</b>' wanted)'" \
    "$(sql "SELECT EXTRACTVALUE('<ab>1</cde>', '/ab'); SHOW WARNINGS" | tail -n 1)"
