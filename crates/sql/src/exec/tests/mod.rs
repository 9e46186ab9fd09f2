//! Statements against an engine on a simulated machine: results and plans as golden scripts in `testdata/query`.

mod fixture;
mod metamorphic;

use crate::exec::{ExecContext, execute};
use crate::golden;
use crate::parse::ast::Statement;
use crate::plan::{Plan, PlanContext, plan_statement};
use crate::result::ResultSink;
use fixture::Fixture;

fn check(script: &str) {
    let fixture = Fixture::new();
    golden::check(&format!("testdata/query/{script}.txt"), |input| fixture.run(input));
}

#[test]
fn select() {
    check("select");
}

#[test]
fn joins() {
    check("joins");
}

#[test]
fn json_table() {
    check("json_table");
}

#[test]
fn grouping() {
    check("grouping");
}

#[test]
fn windows() {
    check("windows");
}

#[test]
fn subqueries() {
    check("subqueries");
}

#[test]
fn changes() {
    check("changes");
}

#[test]
fn plans() {
    check("plans");
}

/// What each rule of the planner makes of a query.
#[test]
fn rules() {
    check("rules");
}

#[test]
fn explain() {
    check("explain");
}

/// What operators say that they have done.
#[test]
fn explain_analyze() {
    check("explain_analyze");
}

#[test]
fn explain_json() {
    check("explain_json");
}

/// However long a statement is, what is said of its plan has an end.
#[test]
fn what_explain_says_is_bounded() {
    let fixture = Fixture::new();
    let run = |sql: String| fixture.run(&sql);
    run("CREATE TABLE t (a INT PRIMARY KEY)".into());
    let numbers: Vec<String> = (0..20_000).map(|n| n.to_string()).collect();
    let long = format!("a + 1 IN ({}, a)", numbers.join(","));
    for format in ["TREE", "JSON"] {
        let text = run(format!("EXPLAIN FORMAT={format} SELECT * FROM t WHERE {long}"));
        assert!(text.contains('…') && text.len() < 200 << 10, "{} bytes", text.len());
        let text = run(format!("EXPLAIN FORMAT={format} SELECT 1{}", " UNION ALL SELECT 2".repeat(15_000)));
        assert!(text.contains('…') && text.len() < 8 << 20, "{} bytes", text.len());
        let subqueries = vec!["(SELECT MAX(a) FROM t)"; 6_000].join(",");
        let text = run(format!("EXPLAIN FORMAT={format} SELECT {subqueries}"));
        assert!(text.contains('…') && text.len() < 16 << 20, "{} bytes", text.len());
    }
}

#[test]
fn errors() {
    check("errors");
}

/// The same queries with so little memory that every operator has to use temporary files.
#[test]
fn spilling() {
    check("spilling");
}

/// Sessions are tasks that move between threads.
#[test]
fn executions_are_send() {
    fn is_send<T: Send>(_: &T) {}
    fn check_execution(plan: &Plan, context: &mut ExecContext<'_>, sink: &mut dyn ResultSink) {
        is_send(&execute(plan, context, sink));
    }
    fn check_planning(context: &PlanContext<'_>, statement: &Statement) {
        is_send(&plan_statement(context, statement));
    }
    let _ = (check_execution, check_planning);
}
