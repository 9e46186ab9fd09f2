//! The words of the normal form.

use std::collections::HashMap;
use std::sync::LazyLock;

/// MySQL's keywords, as its `information_schema.KEYWORDS` has them.
const KEYWORDS: &str = include_str!("keywords.txt");

/// Keywords only right in front of a parenthesis.
const FUNCTIONS: &str = "ADDDATE BIT_AND BIT_OR BIT_XOR CAST COUNT CURDATE CURTIME DATE_ADD DATE_SUB EXTRACT GROUP_CONCAT JSON_ARRAYAGG \
                         JSON_OBJECTAGG MAX MID MIN NOW POSITION SESSION_USER STD STDDEV STDDEV_POP STDDEV_SAMP ST_COLLECT SUBDATE SUBSTR \
                         SUBSTRING SUM SYSDATE SYSTEM_USER TRIM VARIANCE VAR_POP VAR_SAMP";

/// Spellings of one token, of which the last is the one that is written.
const SPELLINGS: &[&[&str]] = &[
    &["ANY", "SOME"],
    &["CHAR", "CHARACTER"],
    &["COLUMNS", "FIELDS"],
    &["CURRENT_DATE", "CURDATE"],
    &["CURRENT_TIME", "CURTIME"],
    &["CURRENT_TIMESTAMP", "LOCALTIME", "LOCALTIMESTAMP", "NOW"],
    &["DATABASE", "SCHEMA"],
    &["DATABASES", "SCHEMAS"],
    &["DAY", "SQL_TSI_DAY"],
    &["DEC", "DECIMAL"],
    &["DESCRIBE", "EXPLAIN"],
    &["DISTINCT", "DISTINCTROW"],
    &["DOUBLE", "FLOAT8"],
    &["FLOAT", "FLOAT4"],
    &["GEOMCOLLECTION", "GEOMETRYCOLLECTION"],
    &["HOUR", "SQL_TSI_HOUR"],
    &["INT", "INT4", "INTEGER"],
    &["INT1", "TINYINT"],
    &["INT2", "SMALLINT"],
    &["INT3", "MEDIUMINT", "MIDDLEINT"],
    &["BIGINT", "INT8"],
    &["IO_THREAD", "RELAY_THREAD"],
    &["MID", "SUBSTR", "SUBSTRING"],
    &["MINUTE", "SQL_TSI_MINUTE"],
    &["MONTH", "SQL_TSI_MONTH"],
    &["NDB", "NDBCLUSTER"],
    &["QUARTER", "SQL_TSI_QUARTER"],
    &["REGEXP", "RLIKE"],
    &["SECOND", "SQL_TSI_SECOND"],
    &["SESSION_USER", "USER", "SYSTEM_USER"],
    &["SQL_TSI_WEEK", "WEEK"],
    &["SQL_TSI_YEAR", "YEAR"],
    &["STD", "STDDEV", "STDDEV_POP"],
    &["VARCHAR", "VARCHARACTER"],
    &["VARIANCE", "VAR_POP"],
];

/// Words behind which an expression begins, so that a sign there belongs to the number behind it.
pub(super) const BEGIN_EXPRESSION: &[&str] = &[
    "AND", "AT", "BETWEEN", "CASE", "DEFAULT", "DIV", "ELSE", "ELSEIF", "ENDS", "EVERY", "IF", "INTERVAL", "LIKE",
    "MOD", "NOT", "OR", "RETURN", "RLIKE", "SELECT", "STARTS", "THEN", "UNTIL", "WHEN", "WHILE", "XOR",
];

/// Words between two operands.
const OPERATORS: &[&str] = &[
    "AND", "BETWEEN", "COLLATE", "DIV", "IN", "IS", "LIKE", "MEMBER", "MOD", "NOT", "OR", "REGEXP", "RLIKE", "SOUNDS",
    "XOR",
];

const HINTS: &str = "BKA BNL DERIVED_CONDITION_PUSHDOWN DUPSWEEDOUT FIRSTMATCH GROUP_INDEX HASH_JOIN INDEX INDEX_MERGE INTOEXISTS \
                     JOIN_FIXED_ORDER JOIN_INDEX JOIN_ORDER JOIN_PREFIX JOIN_SUFFIX LOOSESCAN MATERIALIZATION MAX_EXECUTION_TIME MERGE MRR \
                     NO_BKA NO_BNL NO_DERIVED_CONDITION_PUSHDOWN NO_GROUP_INDEX NO_HASH_JOIN NO_ICP NO_INDEX NO_INDEX_MERGE NO_JOIN_INDEX \
                     NO_MERGE NO_MRR NO_ORDER_INDEX NO_RANGE_OPTIMIZATION NO_SEMIJOIN NO_SKIP_SCAN NO_SUBQUERY ORDER_INDEX QB_NAME \
                     RESOURCE_GROUP SEMIJOIN SET_VAR SKIP_SCAN SUBQUERY";

/// What is written for a word, and whether it is a keyword in front of a parenthesis only.
static WORDS: LazyLock<HashMap<&'static str, (&'static str, bool)>> = LazyLock::new(|| {
    let written = |word: &'static str| {
        let spellings = SPELLINGS.iter().find(|spellings| spellings.contains(&word));
        spellings.and_then(|spellings| spellings.last()).copied().unwrap_or(word)
    };
    let functions = FUNCTIONS.split_whitespace().map(|word| (word, (written(word), true)));
    functions.chain(KEYWORDS.split_whitespace().map(|word| (word, (written(word), false)))).collect()
});

/// The keyword that a word is, as it is written.
pub(super) fn keyword(word: &str, before_parenthesis: bool) -> Option<&'static str> {
    const LONGEST: usize = 64;
    if word.len() > LONGEST || !word.is_ascii() {
        return None;
    }
    let (written, is_function) = *WORDS.get(&*word.to_ascii_uppercase())?;
    (before_parenthesis || !is_function).then_some(written)
}

pub(super) fn hint(word: &str) -> Option<&'static str> {
    HINTS.split_whitespace().find(|hint| hint.eq_ignore_ascii_case(word))
}

pub(super) fn is_operator(word: &str) -> bool {
    OPERATORS.iter().any(|operator| operator.eq_ignore_ascii_case(word))
}

/// Whether `_name` says the character set of a literal.
pub(super) fn is_charset_name(name: &str) -> bool {
    const NAMES: &str = "armscii8 ascii big5 binary cp1250 cp1251 cp1256 cp1257 cp850 cp852 cp866 cp932 dec8 eucjpms euckr gb18030 gb2312 gbk \
                         geostd8 greek hebrew hp8 keybcs2 koi8r koi8u latin1 latin2 latin5 latin7 macce macroman sjis swe7 tis620 ucs2 ujis \
                         utf16 utf16le utf32 utf8 utf8mb3 utf8mb4";
    NAMES.split(' ').any(|known| known.eq_ignore_ascii_case(name))
}
