//! What hints are read, and what is warned of.

use super::*;

fn hints(text: &str) -> Hints {
    Hints::of(text, SqlMode::default())
}

#[test]
fn the_time_of_the_first_select() {
    let after = |milliseconds| Some(Some(Duration::from_millis(milliseconds)));
    let time = |text| hints(text).max_execution_time;
    assert_eq!(time("SELECT /*+ MAX_EXECUTION_TIME(500) */ 1"), after(500));
    assert_eq!(time(" (select/*+ NO_ICP(t) max_execution_time ( 7 ) */ 1)"), after(7));
    assert_eq!(time("EXPLAIN ANALYZE SELECT /*+ MAX_EXECUTION_TIME(7) */ 1"), after(7));
    assert_eq!(time("SELECT /*+ MAX_EXECUTION_TIME(0) */ 1"), Some(None));
    assert_eq!(time("SELECT /*+ MAX_EXECUTION_TIME(5) MAX_EXECUTION_TIME(6) */ 1"), after(5));
    for text in [
        "SELECT 1 /*+ MAX_EXECUTION_TIME(500) */",
        "SELECT /* MAX_EXECUTION_TIME(500) */ 1",
        "SELECT /*+ XMAX_EXECUTION_TIME(500) */ 1",
        "SELECT /*+ MAX_EXECUTION_TIME(x) */ 1",
        "SELECT /*+ MAX_EXECUTION_TIME(500 */ )",
        "SELECT '/*+', /*+ MAX_EXECUTION_TIME(500) */ 1",
        "UPDATE /*+ MAX_EXECUTION_TIME(500) */ t SET a = 1",
        "SELECT /*+ é MAX_EXECUTION_TIME(",
    ] {
        assert_eq!(time(text), None, "{text}");
    }
}

#[test]
fn of_many_hints_some_are_warned_of() {
    for hint in ["SET_VAR(a=1) ", "MAX_EXECUTION_TIME(5) ", "NO_ICP(t) "] {
        let hints = hints(&format!("SELECT /*+ {} */ 1", hint.repeat(100_000)));
        assert!(hints.warnings.len() <= Warnings::KEPT_MAX);
    }
}

#[test]
fn so_many_hints_are_kept() {
    for hint in ["SET_VAR(a{}=1)", "NO_ICP(t{})", "JOIN_ORDER(a, b{})"] {
        let all: Vec<String> = (0..50_000).map(|number: u32| hint.replace("{}", &number.to_string())).collect();
        let hints = hints(&format!("SELECT /*+ {} */ 1", all.join(" ")));
        assert_eq!(hints.of_plans.len() + hints.variables.len(), HINTS_MAX, "{hint}");
        assert_eq!(hints.warnings.len(), Warnings::KEPT_MAX);
    }
}

#[test]
fn hints_of_blocks() {
    let text = "SELECT /*+ BKA(t) QB_NAME(a) MERGE(@b u) NO_ICP(v@b) NO_MRR(@`select#2` w) */ 1 FROM (SELECT /*+ QB_NAME(b) */ 2) u";
    let hints = hints(text);
    assert_eq!(hints.warnings, []);
    let inner = text.rfind("SELECT").unwrap();
    let of = |start, number| hints.of_block(start, number).map(|hint| hint.name).collect::<Vec<_>>();
    assert_eq!(of(0, 1), ["BKA"]);
    assert_eq!(of(inner, 2), ["MERGE", "NO_ICP", "NO_MRR"]);
}

/// As MySQL 9.7 warns of them.
#[test]
fn what_is_warned_of() {
    let warned = |text: &str, wanted: &[&str]| {
        let warnings = hints(text).warnings;
        let warnings: Vec<String> = warnings.iter().map(|w| format!("{} {}", w.code, w.message)).collect();
        assert_eq!(warnings, wanted, "{text}");
    };
    let ignored = |hint: &str| format!("3126 Hint {hint} is ignored as conflicting/duplicated");
    let syntax = |near: &str| format!("1064 Optimizer hint syntax error near '{near}' at line 1");
    warned("DELETE /*+ QB_NAME(x) JOIN_ORDER(a, b) no_index (t i) */ FROM t", &[]);
    warned("SELECT /*+ */ 1", &[&syntax("*/")]);
    warned("SELECT /*+ INDEX */ 1", &[&syntax("*/")]);
    warned("SELECT /*+ INDEX() */ 1", &[&syntax(") */ 1")]);
    warned("SELECT /*+ BKA(t) NOSUCH(t) SET_VAR(a=1) */ 1", &[&syntax("NOSUCH(t) SET_VAR(a=1) */ 1")]);
    warned("SELECT /*+ BKA(t), NO_ICP(t) */ 1", &[&syntax(", NO_ICP(t) */ 1")]);
    warned("SELECT /*+ BKA(t NO_ICP(t) */ 1", &[&syntax("NO_ICP(t) */ 1")]);
    warned("SELECT /*+ JOIN_FIXED_ORDER(t) */ 1", &[&syntax("t) */ 1")]);
    warned("SELECT /*+ MAX_EXECUTION_TIME(x) */ 1", &[&syntax("x) */ 1")]);
    warned("SELECT /*+ SEMIJOIN(NOSUCH) */ 1", &[&syntax("NOSUCH) */ 1")]);
    warned(
        "SELECT /*+ MAX_EXECUTION_TIME(99999999999) */ 1",
        &["1064 Unsupported MAX_EXECUTION_TIME near ') */ 1' at line 1"],
    );
    warned("SELECT /*+ MAX_EXECUTION_TIME(5) MAX_EXECUTION_TIME(6) */ 1", &[&ignored("MAX_EXECUTION_TIME(6)")]);
    for text in [
        "INSERT /*+ MAX_EXECUTION_TIME(5) */ INTO t VALUES (1)",
        "SELECT 1 FROM t WHERE a IN (SELECT /*+ MAX_EXECUTION_TIME(5) */ 1)",
        "SELECT 1 UNION SELECT /*+ MAX_EXECUTION_TIME(5) */ 1",
    ] {
        let wanted = "3125 MAX_EXECUTION_TIME hint is supported by top-level standalone SELECT statements only";
        warned(text, &[wanted]);
    }
    for (hints, wanted) in [
        ("NO_INDEX(t ka, kab) INDEX(t ka)", "INDEX(`t`  `ka`)"),
        ("INDEX(t) INDEX(t)", "INDEX(`t` )"),
        ("INDEX(t ka) INDEX(t ka, kab)", "INDEX(`t`  `ka`, `kab`)"),
        ("INDEX(t ka) NO_ORDER_INDEX(t ka)", "NO_ORDER_INDEX(`t`  `ka`)"),
        ("BKA(t) NO_BKA(t)", "NO_BKA(`t` )"),
        ("BKA() NO_BKA()", "NO_BKA( )"),
        ("QB_NAME(a) QB_NAME(b)", "QB_NAME(`b`)"),
        ("JOIN_PREFIX(t) JOIN_PREFIX(v,t)", "JOIN_PREFIX( `v`,`t`)"),
        ("JOIN_FIXED_ORDER() JOIN_PREFIX(v)", "JOIN_PREFIX( `v`)"),
        ("JOIN_PREFIX(t) JOIN_FIXED_ORDER()", "JOIN_FIXED_ORDER( )"),
        ("QB_NAME(q) SEMIJOIN(@q FIRSTMATCH) NO_SEMIJOIN(@q LOOSESCAN)", "NO_SEMIJOIN(@`q`  LOOSESCAN)"),
        ("MERGE(d) NO_MERGE(d)", "NO_MERGE(`d` )"),
        ("SET_VAR(a=1) SET_VAR(a=2)", "SET_VAR(a=2) "),
    ] {
        warned(&format!("SELECT /*+ {hints} */ 1"), &[&ignored(wanted)]);
    }
    warned("SELECT /*+ BKA(t,v) NO_BKA(v,t) */ 1", &[&ignored("NO_BKA(`v` )"), &ignored("NO_BKA(`t` )")]);
    for hints in ["JOIN_ORDER(t,v) JOIN_ORDER(v,t)", "JOIN_INDEX(t ka) INDEX(t kab)", "JOIN_ORDER()"] {
        warned(&format!("SELECT /*+ {hints} */ 1"), &[]);
    }
    for hint in ["BKA(@x)", "BKA(@x t)", "BKA(t@x)"] {
        let text = format!("SELECT /*+ {hint} */ 1");
        warned(&text, &["3127 Query block name `x` is not found for BKA hint"]);
    }
    warned("SELECT /*+ RESOURCE_GROUP(x) */ 1", &["3651 Resource Group 'x' does not exist."]);
}
