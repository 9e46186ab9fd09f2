//! What holds for every program: what is printed is read as an equal tree, its end is found, and its size and depth cost what they have to.

use proptest::prelude::*;
use types::SqlMode;

use crate::golden;
use crate::parse::{ParseContext, next_statement, parse_one};
use crate::statement::Statement;

fn read(text: &str) -> Result<Statement, u16> {
    let parsed = parse_one(text, &ParseContext::default()).map_err(|error| error.code)?;
    Ok(parsed.statement.clone())
}

fn printed(statement: &Statement) -> Option<String> {
    match statement {
        Statement::Program(program) => Some(program.to_string()),
        _ => None,
    }
}

/// Reads what is printed of a program; whether the text is one.
fn reads_again(text: &str) -> bool {
    let Ok(statement) = read(text) else { return false };
    let Some(again) = printed(&statement) else { return false };
    assert_eq!(read(&again), Ok(statement), "{text}\n{again}");
    true
}

/// Cuts a text into its statements.
fn cut(mut text: &[u8]) -> Vec<&[u8]> {
    let mut pieces = Vec::new();
    while let Some(length) = next_statement(text, SqlMode::default()) {
        pieces.push(&text[..length]);
        text = &text[length..];
    }
    pieces
}

#[test]
fn what_is_printed_is_read_again_and_ends_where_it_ends() {
    let mut programs = 0;
    golden::read("golden/parse_program.txt", |text| {
        if reads_again(text) {
            programs += 1;
            let whole = format!("{};", text.trim_end().trim_end_matches(';'));
            let both = format!("{whole} SELECT 2; SELECT 3");
            let pieces: Vec<&[u8]> = vec![whole.as_bytes(), b" SELECT 2;", b" SELECT 3"];
            assert_eq!(cut(both.as_bytes()), pieces, "{text}");
        }
    });
    assert!(programs > 200, "{programs}");
}

/// Names that are no ASCII, in whatever character set, are no words of the grammar.
#[test]
fn a_programs_end_is_found_in_any_character_set() {
    let text =
        b"CREATE PROCEDURE \xe9a() BEGIN \xe9end: LOOP SELECT '\xff;'; LEAVE \xe9end; END LOOP; END; SELECT '\xe9'";
    assert_eq!(cut(text).len(), 2);
    let text = "CREATE PROCEDURE p() BEGIN SELECT 'ä;', `é;` AS ende; END; SELECT 1";
    assert_eq!(cut(text.as_bytes()).last(), Some(&&b" SELECT 1"[..]));
}

/// A text that is wrong goes on up to its end, as its error says.
#[test]
fn a_wrong_program_takes_all_that_follows() {
    for text in [
        "CREATE PROCEDURE p() BEGIN SELCT 1; END; SELECT 2;",
        "BEGIN NOT ATOMIC SELECT 1; ELSE; SELECT 2",
        "IF 1; SELECT 2",
    ] {
        assert_eq!(cut(text.as_bytes()), [text.as_bytes()]);
    }
    // What is refused for its kind ends somewhere.
    assert_eq!(cut(b"CREATE PROCEDURE p() CREATE VIEW v AS SELECT 1; SELECT 2").len(), 2);
}

/// A word of a program in another statement begins none.
#[test]
fn other_statements_end_at_their_semicolons() {
    let text = "CREATE TABLE event (trigger_ INT, function_ INT); ALTER TABLE event ADD b INT; SET @a = 1; BEGIN; SELECT 1; IF";
    assert_eq!(cut(text.as_bytes()).len(), 6);
    for text in ["CREATE TABLE event (a INT);", "ALTER TABLE event;", "BEGIN;", "SET @procedure = 1;"] {
        assert!(read(text).is_ok(), "{text}");
    }
    assert_eq!(read("CREATE TABLE event (a INT); SELECT 1"), Err(1064));
}

fn nested(depth: usize, (begin, end): (&str, &str)) -> String {
    format!("CREATE PROCEDURE p() {}SELECT 1; {}", begin.repeat(depth), end.repeat(depth))
        .trim_end_matches("; ")
        .to_owned()
}

/// What is nested is bounded, whatever nests it; the deepest is read, cut, printed and dropped.
#[test]
fn nested_blocks() {
    for pair in [
        ("BEGIN ", "END; "),
        ("IF 1 THEN ", "END IF; "),
        ("CASE 1 WHEN 1 THEN ", "END CASE; "),
        ("LOOP ", "END LOOP; "),
        ("WHILE 1 DO ", "END WHILE; "),
        ("REPEAT ", "UNTIL 1 END REPEAT; "),
        ("FOR i IN 1..2 DO ", "END FOR; "),
        ("BEGIN DECLARE EXIT HANDLER FOR 1 ", "END; "),
        ("SET STATEMENT lock_wait_timeout = 1 FOR ", ""),
    ] {
        assert_eq!(read(&nested(100_000, pair)), Err(1436), "{pair:?}");
        let deep = nested(1900, pair);
        assert!(base::on_large_stack(|| reads_again(&deep)), "{pair:?}");
        assert_eq!(cut(format!("{deep}; SELECT 2").as_bytes()).len(), 2, "{pair:?}");
    }
}

/// So is what no program may have in it, before that is said.
#[test]
fn nested_programs() {
    for head in ["CREATE PROCEDURE p() ", "ALTER EVENT e DO ", "CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO "] {
        assert_eq!(read(&format!("{}SELECT 1", head.repeat(100_000))), Err(1436), "{head}");
    }
    assert_eq!(read(&format!("{}SELECT 1", "CREATE PROCEDURE p() ".repeat(1000))), Err(1303));
}

/// Long programs take time in proportion to their length (otherwise this takes minutes).
#[test]
fn long_programs() {
    const STATEMENTS: usize = 20_000;
    let blocks = |statement: &str| format!("CREATE PROCEDURE p(y INT) x: BEGIN {} END", statement.repeat(STATEMENTS));
    for text in [
        blocks("SELECT 1; "),
        blocks("SET @a = 1; "),
        blocks("SELECT 1 INTO y; "),
        blocks("LEAVE x; "),
        blocks("BEGIN END; "),
        blocks("z: BEGIN DECLARE y INT; LEAVE z; END; "),
        blocks("CREATE TABLE t (a INT); "),
        format!(
            "CREATE PROCEDURE p() BEGIN {} END",
            (0..STATEMENTS).map(|at| format!("DECLARE v{at} INT; ")).collect::<String>()
        ),
        format!("CREATE PROCEDURE p() IF 1 THEN SELECT 1; {} END IF", "ELSEIF 2 THEN SELECT 2; ".repeat(STATEMENTS)),
    ] {
        let parsed = parse_one(&text, &ParseContext::default());
        let statement = parsed.map(|parsed| parsed.statement.clone()).map_err(|error| error.to_string());
        assert!(statement.is_ok(), "{}… {:?}", &text[..60], statement.err());
        assert_eq!(cut(format!("{text}; SELECT 2").as_bytes()).len(), 2);
    }
    // Many programs, too.
    assert_eq!(cut(b"CREATE PROCEDURE p() BEGIN SELECT 1; END; ".repeat(5000).as_slice()).len(), 5000);
}

/// A whole number of statements is read, none is left out.
#[test]
fn every_statement_is_there() {
    let text = format!("BEGIN NOT ATOMIC {}END", "SELECT 1; ".repeat(100_000));
    let Ok(Statement::Program(program)) = read(&text) else { panic!("it is no program") };
    assert_eq!(program.to_string().matches("SELECT 1;").count(), 100_000);
}

#[test]
fn quotes_of_any_mode_are_printed_alike() {
    let modes = SqlMode::ANSI_QUOTES.with(SqlMode::NO_BACKSLASH_ESCAPES);
    let text = r#"CREATE PROCEDURE "p""q"() BEGIN CREATE TABLE "t" (a INT DEFAULT 'a\'); SET @'x y' = 'it''s'; SELECT "a", '\'; END"#;
    let parsed = parse_one(text, &ParseContext { sql_mode: modes, ..ParseContext::default() });
    let parsed = parsed.expect("it is read");
    let again = printed(&parsed.statement).expect("it is a program");
    assert_eq!(read(&again), Ok(parsed.statement.clone()), "{again}");
}

/// Rows of a program's INSERT are in its tree.
#[test]
fn no_rows_stay_text() {
    let text = "CREATE PROCEDURE p() BEGIN INSERT INTO t VALUES (1), (2), (3); INSERT INTO t VALUES (4), (5); END";
    let Ok(statement) = read(text) else { panic!("it is read") };
    let again = printed(&statement).unwrap_or_default();
    assert!(again.contains("VALUES (1), (2), (3)") && again.contains("VALUES (4), (5)"), "{again}");
}

/// Pieces of which programs are made.
const PIECES: &[&str] = &[
    "BEGIN",
    "NOT ATOMIC",
    "END",
    ";",
    ";",
    ";",
    "DECLARE",
    "x",
    "y",
    "INT",
    "CURSOR FOR",
    "CONDITION FOR",
    "EXIT HANDLER FOR",
    "SQLEXCEPTION",
    "SQLSTATE '42000'",
    "SELECT 1",
    "SELECT 1 INTO x",
    "LIMIT x",
    "IF 1 THEN",
    "ELSE",
    "ELSEIF 2 THEN",
    "END IF",
    "CASE 1",
    "WHEN 1 THEN",
    "END CASE",
    "LOOP",
    "END LOOP",
    "WHILE 1 DO",
    "END WHILE",
    "REPEAT",
    "UNTIL 1",
    "END REPEAT",
    "FOR i IN",
    "1",
    "..",
    "(SELECT 2)",
    "DO",
    "END FOR",
    "l:",
    "l",
    "LEAVE l",
    "ITERATE l",
    "RETURN 1",
    "OPEN y",
    "FETCH y INTO x",
    "CLOSE y",
    "SET x = 1",
    "SET NEW.a = OLD.a",
    "SET STATEMENT a = 1 FOR",
    "SIGNAL x",
    "RESIGNAL",
    "GET DIAGNOSTICS",
    "@a = NUMBER",
    "CONDITION 1",
    "x = MESSAGE_TEXT",
    "CALL p",
    "(",
    ")",
    ",",
    "'",
    "`",
    "/*!",
    "*/",
    "--",
    "é",
    "TYPE OF",
    "ROW",
    "DEFAULT",
    "?",
    "COMMIT",
    "CREATE TABLE t (a INT)",
    "INSERT INTO t VALUES (1), (2)",
    "DROP PROCEDURE q",
];

/// Such pieces, put together at random.
fn program_like() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(PIECES);
    let heads = prop::sample::select(vec![
        "CREATE PROCEDURE p(IN x INT)",
        "CREATE FUNCTION f(x INT) RETURNS INT DETERMINISTIC",
        "CREATE TRIGGER t BEFORE INSERT ON u FOR EACH ROW",
        "CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO",
        "CREATE PROCEDURE p() BEGIN",
        "BEGIN NOT ATOMIC",
        "",
    ]);
    (heads, prop::collection::vec(pieces, 0..24)).prop_map(|(head, pieces)| format!("{head} {}", pieces.join(" ")))
}

/// Programs that can be read, made of others.
fn program() -> impl Strategy<Value = String> {
    let single = prop::sample::select(vec![
        "SELECT a FROM t LIMIT v",
        "SET v = v + 1",
        "LEAVE l",
        "INSERT INTO t VALUES (1, 'x'), (2, \"y\")",
        "CALL p(v, @a)",
        "OPEN c",
        "FETCH c INTO v",
        "SIGNAL k SET MESSAGE_TEXT = 'it''s'",
        "CREATE TABLE `a``b` (a INT COMMENT '\\\\')",
        "RESIGNAL",
        "CLOSE c",
        "GET DIAGNOSTICS CONDITION 1 v = MYSQL_ERRNO",
        "SELECT 1 INTO v",
        "START TRANSACTION",
        "DO SLEEP(0)",
        "FLUSH TABLES",
        "SHOW TABLES",
    ])
    .prop_map(str::to_owned);
    let statement = single.prop_recursive(5, 40, 3, |inner| {
        let list = prop::collection::vec(inner, 1..4).prop_map(|statements| statements.join("; ") + "; ");
        (list, 0..8).prop_map(|(list, kind)| match kind {
            0 => format!("BEGIN DECLARE w INT DEFAULT 1; {list}END"),
            1 => format!("IF v > 1 THEN {list}ELSEIF 2 THEN {list}ELSE {list}END IF"),
            2 => format!("CASE v WHEN 1 THEN {list}END CASE"),
            3 => format!("CASE WHEN v THEN {list}ELSE {list}END CASE"),
            4 => format!("WHILE v DO {list}END WHILE"),
            5 => format!("REPEAT {list}UNTIL v END REPEAT"),
            6 => format!("FOR i IN REVERSE 1..v DO {list}END FOR"),
            _ => format!("FOR r IN (SELECT 1 AS a) DO {list}END FOR"),
        })
    });
    prop::collection::vec(statement, 1..5).prop_map(|statements| {
        format!(
            "CREATE PROCEDURE p(v INT) l: BEGIN DECLARE k CONDITION FOR SQLSTATE '45000'; DECLARE c CURSOR FOR SELECT 1; \
             DECLARE CONTINUE HANDLER FOR NOT FOUND, k SET @done = 1; {}; END l",
            statements.join("; ")
        )
    })
}

proptest! {
    #[test]
    fn no_program_panics(text in program_like()) {
        reads_again(&text);
        cut(text.as_bytes());
    }

    #[test]
    fn programs_are_printed_and_cut(text in program()) {
        prop_assert!(reads_again(&text), "{}", text);
        prop_assert_eq!(cut(format!("{text}; SELECT 1").as_bytes()).len(), 2);
    }
}
