#!/usr/bin/env bash
# Ask XPath of EXTRACTVALUE for what the standard defines: concat of three texts, division, siblings.
# Guess: what is not implemented is an error (1105), as for string() or starts-with().
# Seen with MySQL 9.7.4: concat() takes two of its arguments and forgets the others, `div` divides whole numbers, axes to siblings and to what follows lead to
# children, and a node that is found twice is counted twice.
. "$(dirname "$0")/server.sh"
mysql97
seen 'three texts' 'ab' "$(sql "SELECT EXTRACTVALUE('<a/>', 'concat(\"a\", \"b\", \"c\")')")"
seen 'seven halves' '3' "$(sql "SELECT EXTRACTVALUE('<a/>', '7.5 div 2')")"
seen 'what follows' '1 2' "$(sql "SELECT EXTRACTVALUE('<a><b>1</b><b>2</b></a>', '/a/following::b')")"
seen 'elements in elements' '3' "$(sql "SELECT EXTRACTVALUE('<a><a><a>1</a></a></a>', 'count(//a//a)')")"
