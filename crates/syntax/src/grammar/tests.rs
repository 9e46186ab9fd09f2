//! What is read, and what is printed of it.

use types::SqlMode;

use super::{DEPTH_MAX, Parser};
use crate::ast::Query;
use crate::error::ParseError;
use crate::lexer::lex;

fn parser(text: &str) -> Parser<'_> {
    let lexed = lex(text, SqlMode::default()).unwrap_or_else(|error| panic!("{text}: {error:?}"));
    Parser::new(lexed.tokens, text, SqlMode::default())
}

fn query(text: &str) -> Result<Query, ParseError> {
    let mut parser = parser(text);
    let query = parser.query()?;
    parser.end().map(|()| query)
}

/// What is printed of a query, which is read as the same one; or where it is wrong.
fn printed(text: &str) -> String {
    match query(text) {
        Ok(read) => {
            let printed = read.to_string();
            let again = query(&printed).unwrap_or_else(|error| panic!("{text}: {printed}: {error:?}"));
            assert_eq!(read, again, "{text}: {printed}");
            printed
        }
        Err(ParseError::Syntax(at)) => format!("{}…", &text[..at]),
        Err(ParseError::Sql(error)) => format!("{} {}", error.code, error.message),
    }
}

/// Operators with the parentheses that they mean.
fn grouped(text: &str) -> String {
    use crate::ast::{Expr, ExprKind};
    fn group(expr: &Expr) -> String {
        match &expr.kind {
            ExprKind::Unary(op, operand) => format!("({op}{})", group(operand)),
            ExprKind::Binary(left, op, right) => format!("({} {op} {})", group(left), group(right)),
            ExprKind::And(operands) => format!("({})", operands.iter().map(group).collect::<Vec<_>>().join(" AND ")),
            ExprKind::Or(operands) => format!("({})", operands.iter().map(group).collect::<Vec<_>>().join(" OR ")),
            ExprKind::Is(operand, test, false) => format!("({} IS {test})", group(operand)),
            ExprKind::In(operand, list, _) => {
                format!("({} IN ({}))", group(operand), list.iter().map(group).collect::<Vec<_>>().join(", "))
            }
            ExprKind::Between(parts, _) => {
                format!("({} BETWEEN {} AND {})", group(&parts[0]), group(&parts[1]), group(&parts[2]))
            }
            ExprKind::Like(parts, None, _) => format!("({} LIKE {})", group(&parts[0]), group(&parts[1])),
            ExprKind::Assign(name, value) => format!("(@{name} := {})", group(value)),
            ExprKind::Collate(operand, name) => format!("({} COLLATE {})", group(operand), name.text),
            other => other.to_string().replace('`', ""),
        }
    }
    let mut parser = parser(text);
    match parser.expr().and_then(|expr| parser.end().map(|()| expr)) {
        Ok(expr) => group(&expr),
        Err(ParseError::Syntax(at)) => format!("{}…", &text[..at]),
        Err(ParseError::Sql(error)) => error.message,
    }
}

/// As both peers read them; where only one of them does, as that one.
#[test]
fn operators_bind_as_in_mysql() {
    for (text, meant) in [
        ("a OR b AND c XOR d", "(a OR ((b AND c) XOR d))"),
        ("a AND b && c || d OR e", "((a AND b AND c) OR d OR e)"),
        ("NOT a = b AND c", "((NOT (a = b)) AND c)"),
        ("NOT NOT a IS NULL", "(NOT (NOT (a IS NULL)))"),
        ("! a IN (b)", "((!a) IN (b))"),
        ("!!a", "(!(!a))"),
        ("a = NOT b", "a = …"),
        ("a + NOT b", "a + …"),
        ("a IS NULL = b", "((a IS NULL) = b)"),
        ("a IS TRUE IS TRUE", "((a IS TRUE) IS TRUE)"),
        ("a = b <=> c", "((a = b) <=> c)"),
        ("a = b LIKE c", "(a = (b LIKE c))"),
        ("a LIKE b = c", "((a LIKE b) = c)"),
        ("a LIKE b + c", "(a LIKE (b + c))"),
        ("a IN (b) IN (c)", "((a IN (b)) IN (c))"),
        ("a IN (b) + c", "a IN (b) …"),
        ("a BETWEEN b AND c IN (d)", "(a BETWEEN b AND (c IN (d)))"),
        ("a BETWEEN b AND c AND d", "((a BETWEEN b AND c) AND d)"),
        ("a BETWEEN b IN (c) AND d", "(a BETWEEN (b IN (c)) AND d)"),
        ("a | b & c << d + e * f ^ -g", "(a | (b & (c << (d + (e * (f ^ (-g)))))))"),
        ("a DIV b MOD c", "((a DIV b) % c)"),
        ("- a COLLATE b", "(-(a COLLATE b))"),
        ("a + @b := c + d OR e", "(a + (@b := ((c + d) OR e)))"),
        ("2 * INTERVAL 1 DAY + a", "(2 * (INTERVAL 1 DAY + a))"),
        ("INTERVAL 1 DAY + a * b = c AND d", "((INTERVAL 1 DAY + ((a * b) = c)) AND d)"),
        ("INTERVAL 1 DAY + NOT a", "(INTERVAL 1 DAY + (NOT a))"),
        ("a COLLATE binary", "a COLLATE …"),
        ("a + INTERVAL(b, c) * d", "(a + (INTERVAL(b, c) * d))"),
        ("a + INTERVAL (b) + c DAY", "(a + INTERVAL (b) + c DAY)"),
        ("INTERVAL 1 DAY", "INTERVAL 1 DAY…"),
        ("a - INTERVAL 1 DAY * -2", "((a - INTERVAL 1 DAY) * (-2))"),
        ("a + INTERVAL 1 DAY ^ b - c", "(((a + INTERVAL 1 DAY) ^ b) - c)"),
        ("a <=> ANY (SELECT 1)", "a <=> ANY (…"),
        ("_utf8mb4", "_utf8mb4…"),
        ("or.a", "or.a"),
        ("or .a", "…"),
        ("t. from", "t. …"),
        ("t.from", "t.from"),
        ("mod(a, b) mod c", "(mod(a, b) % c)"),
        ("a SOUNDS LIKE b + c", "(a SOUNDS LIKE (b + c))"),
    ] {
        assert_eq!(grouped(text), meant, "{text}");
    }
}

/// Queries, and what is printed of them, or where they are wrong.
const QUERIES: &[(&str, &str)] = &[
    ("SELECT 1 a, 'b' 'c', t.*, d.t.*", "SELECT 1 AS `a`, 'b' 'c', `t`.*, `d`.`t`.*"),
    ("SELECT DISTINCT SQL_CALC_FOUND_ROWS * FROM dual", "SELECT DISTINCT SQL_CALC_FOUND_ROWS *"),
    ("SELECT sql_no_cache 1, sql_cache", "SELECT SQL_NO_CACHE 1, `sql_cache`"),
    ("SELECT DISTINCT ALL 1", "1221 Incorrect usage of ALL and DISTINCT"),
    ("((SELECT 1) UNION (SELECT 2) LIMIT 1)", "((SELECT 1) UNION (SELECT 2) LIMIT 1)"),
    ("SELECT 1 UNION SELECT 2 INTERSECT ALL SELECT 3", "SELECT 1 UNION SELECT 2 INTERSECT ALL SELECT 3"),
    ("SELECT ((SELECT 1) UNION (SELECT 2)) + 1", "SELECT ((SELECT 1) UNION (SELECT 2)) + 1"),
    ("SELECT 1 IN ((SELECT 1)), 1 IN ((SELECT 1), 2)", "SELECT 1 IN (SELECT 1), 1 IN ((SELECT 1), 2)"),
    ("SELECT 1 IN ((SELECT 1) UNION (SELECT 2))", "SELECT 1 IN ((SELECT 1) UNION (SELECT 2))"),
    ("SELECT 1 LIMIT 1 UNION SELECT 2", "SELECT 1 LIMIT 1 …"),
    ("SELECT 1, * FROM t", "SELECT 1, …"),
    ("SELECT 1 FROM a JOIN b RIGHT JOIN c ON 1", "SELECT 1 FROM `a` JOIN `b` RIGHT JOIN `c` ON 1"),
    ("SELECT 1 FROM a JOIN (b RIGHT JOIN c ON 1)", "SELECT 1 FROM `a` JOIN (`b` RIGHT JOIN `c` ON 1)"),
    ("SELECT 1 FROM a LEFT JOIN b JOIN c ON 1", "SELECT 1 FROM a LEFT JOIN b JOIN c ON 1…"),
    ("SELECT 1 FROM a LEFT JOIN b", "SELECT 1 FROM a LEFT JOIN b…"),
    ("SELECT 1 FROM (a), ((b)), (c, d)", "SELECT 1 FROM `a`, `b`, (`c`, `d`)"),
    ("SELECT 1 FROM ((SELECT 1) a JOIN b)", "SELECT 1 FROM ((SELECT 1) AS `a` JOIN `b`)"),
    ("SELECT 1 FROM ((SELECT 1)) AS a (b)", "SELECT 1 FROM (SELECT 1) AS `a` (`b`)"),
    ("SELECT 1 FROM a NATURAL LEFT JOIN b", "SELECT 1 FROM `a` NATURAL LEFT JOIN `b`"),
    (
        "SELECT 1 FROM t x USE KEY FOR ORDER BY (a) IGNORE INDEX (PRIMARY)",
        "SELECT 1 FROM `t` AS `x` USE INDEX FOR ORDER BY (`a`) IGNORE INDEX (`PRIMARY`)",
    ),
    ("SELECT 1 FOR UPDATE OF t SKIP LOCKED FOR SHARE", "SELECT 1 FOR UPDATE OF `t` SKIP LOCKED FOR SHARE"),
    ("SELECT 1 LOCK IN SHARE MODE", "SELECT 1 FOR SHARE"),
    ("SELECT 1 UNION SELECT 2 INTO @a", "SELECT 1 UNION SELECT 2 INTO @`a`"),
    ("SELECT 1 INTO @a FOR UPDATE", "SELECT 1 INTO @`a` FOR UPDATE"),
    (
        "WITH RECURSIVE a (b) AS (SELECT 1), c AS (TABLE a) SELECT 2",
        "WITH RECURSIVE `a` (`b`) AS (SELECT 1), `c` AS (SELECT * FROM `a`) SELECT 2",
    ),
    ("VALUES (1, 2), ROW(3, 4)", "VALUES ROW(1, 2), ROW(3, 4)"),
    ("SELECT COUNT(*), COUNT(DISTINCT a, b), SUM(ALL a)", "SELECT COUNT(*), COUNT(DISTINCT `a`, `b`), SUM(`a`)"),
    ("SELECT COUNT(DISTINCT *)", "SELECT COUNT(DISTINCT …"),
    (
        "SELECT GROUP_CONCAT(a ORDER BY b DESC SEPARATOR 0x2C LIMIT 1)",
        "SELECT GROUP_CONCAT(`a` ORDER BY `b` DESC SEPARATOR X'2C' LIMIT 1)",
    ),
    (
        "SELECT SUM(a) OVER (w PARTITION BY b ORDER BY c ROWS BETWEEN 1 PRECEDING AND CURRENT ROW), RANK() OVER w, f(1) over",
        "SELECT SUM(`a`) OVER (`w` PARTITION BY `b` ORDER BY `c` ROWS BETWEEN 1 PRECEDING AND CURRENT ROW), RANK() OVER `w`, \
             f(1) AS `over`",
    ),
    ("SELECT 1 FROM t WINDOW w AS (), v AS (w)", "SELECT 1 FROM `t` WINDOW `w` AS (), `v` AS (`w`)"),
    ("SELECT a->'$.b', t.a ->> '$'", "SELECT `a` -> '$.b', `t`.`a` ->> '$'"),
    ("SELECT 'a'->'$'", "SELECT 'a'…"),
    ("SELECT CASE end WHEN 1 THEN t.end END end", "SELECT CASE `end` WHEN 1 THEN `t`.`end` END AS `end`"),
    (
        "SELECT TRIM(LEADING FROM a), TRIM('b' FROM a), TRIM(a)",
        "SELECT TRIM(LEADING FROM `a`), TRIM('b' FROM `a`), TRIM(`a`)",
    ),
    ("SELECT POSITION(a IN b), MID(a FROM 2 FOR 3)", "SELECT LOCATE(`a`, `b`), MID(`a`, 2, 3)"),
    (
        "SELECT CHAR(65 USING latin1), CONVERT(a, NCHAR(3))",
        "SELECT CONVERT(CHAR(65) USING `latin1`), CAST(`a` AS CHAR(3) CHARACTER SET `utf8mb3`)",
    ),
    (
        "SELECT {d '2020-01-01'}, {fn f()}, _latin1 x'41', N'a' 'b'",
        "SELECT DATE'2020-01-01', (f()), _latin1 X'41', N'a' 'b'",
    ),
    (
        "SELECT WEIGHT_STRING(a AS CHAR(3)), GET_FORMAT(DATE, 'EUR')",
        "SELECT WEIGHT_STRING(`a` AS CHAR(3)), GET_FORMAT(DATE, 'EUR')",
    ),
    (
        "SELECT TIMESTAMPDIFF(SQL_TSI_DAY, a, b), DATE_ADD(a, INTERVAL 1 DAY)",
        "SELECT TIMESTAMPDIFF(DAY, `a`, `b`), DATE_ADD(`a`, INTERVAL 1 DAY)",
    ),
    (
        "SELECT current_user, CURRENT_DATE(), @@session.a.b, @`x y`",
        "SELECT current_user, CURRENT_DATE(), @@session.a.b, @`x y`",
    ),
    ("SELECT MATCH (a, b) AGAINST ('c' IN BOOLEAN MODE)", "SELECT MATCH (`a`, `b`) AGAINST ('c' IN BOOLEAN MODE)"),
    (
        "SELECT JSON_VALUE(a, '$' RETURNING SIGNED DEFAULT 1 ON EMPTY ERROR ON ERROR)",
        "SELECT JSON_VALUE(`a`, '$' RETURNING SIGNED DEFAULT 1 ON EMPTY ERROR ON ERROR)",
    ),
    (
        "SELECT * FROM t, JSON_TABLE(t.d, '$[*]' COLUMNS(o FOR ORDINALITY, a INT EXISTS PATH '$.a', NESTED PATH '$.b' COLUMNS(b CHAR(3) \
         CHARACTER SET latin1 PATH '$' DEFAULT '1' ON EMPTY ERROR ON ERROR))) j",
        "SELECT * FROM `t`, JSON_TABLE(`t`.`d`, '$[*]' COLUMNS (`o` FOR ORDINALITY, `a` INT EXISTS PATH '$.a', NESTED PATH '$.b' COLUMNS \
         (`b` CHAR(3) CHARACTER SET latin1 PATH '$' DEFAULT '1' ON EMPTY ERROR ON ERROR))) AS `j`",
    ),
    ("SELECT 1 GROUP BY ROLLUP (a, b)", "SELECT 1 GROUP BY `a`, `b` WITH ROLLUP"),
    ("SELECT DEFAULT", "SELECT …"),
    ("SELECT BIT_AND(DISTINCT a)", "SELECT BIT_AND(…"),
    ("SELECT DATE_ADD(a, 1), ADDDATE(a, 1)", "SELECT DATE_ADD(a, …"),
    ("SELECT MATCH a, t.b AGAINST ('c')", "SELECT MATCH (`a`, `t`.`b`) AGAINST ('c')"),
    ("SELECT @@session.'sql_mode', @@global.a.b", "SELECT @@session.sql_mode, @@global.a.b"),
    ("SELECT @@a.b.c.d", "SELECT @@a.b.c…"),
    ("SELECT 1 FROM a LEFT STRAIGHT_JOIN b ON 1", "SELECT 1 FROM a LEFT …"),
    ("SELECT DEFAULT(a), VALUES(t.b)", "SELECT DEFAULT(`a`), VALUES(`t`.`b`)"),
    ("SELECT a.b.c.d", "SELECT a.b.c…"),
    (
        "SELECT 1 INTO @a UNION SELECT 2",
        "3954 Misplaced INTO clause, INTO is not allowed inside subqueries, and must be placed at end of UNION clauses.",
    ),
];

#[test]
fn queries_are_printed_as_they_are_read() {
    for (text, meant) in QUERIES {
        assert_eq!(printed(text), *meant, "{text}");
    }
}

/// The depth of what was read, or the error's number.
fn depth(text: &str) -> Result<usize, u16> {
    let mut parser = parser(text);
    match parser.query().and_then(|query| parser.end().map(|()| query)) {
        Ok(query) => {
            base::on_large_stack(|| drop(query));
            Ok(parser.depth_read())
        }
        Err(error) => Err(error.into_sql(text).code),
    }
}

#[test]
fn all_that_nests_is_counted() {
    base::on_large_stack(|| {
        let many = |piece: &str| piece.repeat(DEPTH_MAX + 1);
        let around = |piece: &str, end: &str| format!("SELECT {}1{}", many(piece), many(end));
        for text in [
            format!("SELECT 1{}", many("+1")),
            format!("SELECT 1{}", many(" XOR 1 AND 1")),
            format!("SELECT 1{}", many(" BETWEEN 0 AND 1")),
            format!("SELECT 1{}", many(" IS NULL")),
            format!("SELECT 1{}", many(" IN (1)")),
            format!("SELECT @a{}", many(" := @a OR @a")),
            format!("SELECT 1{}", many(" COLLATE x")),
            around("(", ")"),
            around("NOT ", ""),
            around("- ", ""),
            around("f(1, ", ")"),
            around("CASE WHEN 1 THEN ", " END"),
            around("CASE ", " WHEN 1 THEN 1 END"),
            around("(1+", "+1)"),
            format!("SELECT {}1{}{}", "(".repeat(1500), ")".repeat(1500), "+1".repeat(600)),
            format!("{}SELECT 1{}", many("("), many(")")),
            format!("SELECT 1 FROM {}t{}", many("("), many(")")),
            format!("SELECT 1 FROM {}t{}", many("{OJ "), many("}")),
            format!("SELECT 1 IN {}SELECT 1{}", many("("), many(")")),
            around("{fn ", "}"),
            around("!", ""),
            around("BINARY ", ""),
            around("INTERVAL 1 DAY + ", ""),
            around("INTERVAL ", " DAY + 1"),
            around("ROW(1, ", ")"),
            around("DATE_ADD(1, INTERVAL ", " DAY)"),
            around("EXISTS (SELECT ", ")"),
        ] {
            assert!(matches!(depth(&text), Err(1436 | 1473)), "{}", &text[..40]);
        }
        assert!(depth(&format!("SELECT {}1{}", "(SELECT ".repeat(63), ")".repeat(63))).is_ok());
        assert_eq!(depth(&format!("SELECT {}1{}", "(SELECT ".repeat(64), ")".repeat(64))), Err(1473));
        assert!(depth(&format!("{}SELECT 1{}", "(".repeat(900), ")".repeat(900))).is_ok());
        assert!(depth(&format!("SELECT {}1{}", "(".repeat(1900), ")".repeat(1900))).is_ok());
        // Lists are as deep as the deepest of their items.
        for flat in
            [" OR 1 = 2", " AND 1 = 2 OR 1 = 3", " UNION SELECT 1", ", 1 + 1", ", CASE WHEN 1 THEN CURRENT_DATE END"]
        {
            assert!(depth(&format!("SELECT 1{}", flat.repeat(50_000))).unwrap() < 20, "{flat}");
        }
        let tables = |count: usize| {
            depth(&format!("SELECT 1 FROM t0{}", (1..count).map(|n| format!(" JOIN t{n}")).collect::<String>()))
        };
        assert!(tables(61).unwrap() > 60);
        assert_eq!(tables(62), Err(1116));
    });
}
