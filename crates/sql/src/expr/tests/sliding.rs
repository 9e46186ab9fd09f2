//! Aggregates over frames that move forward are what they are over the frame's rows alone.

use proptest::prelude::*;
use types::Value;

use super::{NOW, TestHost, column};
use crate::expr::aggregate::{Aggregate, AggregateClauses};
use crate::expr::{EvalContext, Expr, ExprType, SessionInfo, Sliding, Warnings};

const OF_NUMBERS: [&str; 12] = [
    "count",
    "sum",
    "avg",
    "min",
    "max",
    "bit_and",
    "bit_or",
    "bit_xor",
    "std",
    "var_samp",
    "variance",
    "json_arrayagg",
];

fn alone(aggregate: &Aggregate, rows: &[Value], ctx: &EvalContext<'_>) -> Value {
    let mut state = aggregate.start();
    rows.iter().for_each(|row| aggregate.add(&mut state, std::slice::from_ref(row), ctx).unwrap());
    aggregate.finish(state).unwrap()
}

fn are_near(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Double(a), Value::Double(b)) => (a - b).abs() <= 1e-9 * (1.0 + a.abs()),
        _ => a == b,
    }
}

/// Moves a frame by the steps that are given: how far its beginning goes, and its end.
fn check(name: &str, ty: &str, rows: &[Value], steps: &[(usize, usize)]) -> Result<(), TestCaseError> {
    let (session, warnings) = (SessionInfo::default(), Warnings::default());
    let ctx = EvalContext::new(&session, &TestHost, NOW, &warnings);
    let arg = Expr::column(0, ExprType::of_column(&column(ty)));
    let aggregate = Aggregate::resolve(name, vec![arg], AggregateClauses::default(), &session).unwrap();
    let mut sliding = Sliding::new(&aggregate, true);
    let (mut start, mut end) = (0, 0);
    for (leave, enter) in steps {
        for row in &rows[end..rows.len().min(end + enter)] {
            sliding.enter(&aggregate, std::slice::from_ref(row), &ctx).unwrap();
            end += 1;
        }
        for row in &rows[start..end.min(start + leave)] {
            sliding.leave(&aggregate, std::slice::from_ref(row), &ctx).unwrap();
            start += 1;
        }
        let (is, wanted) = (sliding.value(&aggregate, &ctx).unwrap(), alone(&aggregate, &rows[start..end], &ctx));
        prop_assert!(are_near(&is, &wanted), "{name} of {start}..{end}: {is:?}, not {wanted:?}");
    }
    Ok(())
}

fn steps() -> impl Strategy<Value = Vec<(usize, usize)>> {
    prop::collection::vec((0usize..5, 0usize..5), 1..60)
}

proptest! {
    #[test]
    fn frames_of_integers(
        rows in prop::collection::vec(prop::option::of(-5i64..50), 0..120),
        steps in steps(),
        function in prop::sample::select(OF_NUMBERS.to_vec()),
    ) {
        let rows: Vec<Value> = rows.into_iter().map(|n| n.map_or(Value::Null, Value::Int)).collect();
        check(function, "int", &rows, &steps)?;
    }

    #[test]
    fn frames_of_doubles(
        rows in prop::collection::vec(prop::option::of(-1e6..1e6), 0..120),
        steps in steps(),
        function in prop::sample::select(vec!["sum", "avg", "min", "max", "std", "var_pop"]),
    ) {
        let rows: Vec<Value> = rows.into_iter().map(|n| n.map_or(Value::Null, Value::Double)).collect();
        check(function, "double", &rows, &steps)?;
    }

    #[test]
    fn frames_of_texts(
        rows in prop::collection::vec(prop::option::of("[aAbBé]{0,2}"), 0..60),
        steps in steps(),
        function in prop::sample::select(vec!["min", "max", "count"]),
    ) {
        let rows: Vec<Value> =
            rows.into_iter().map(|text| text.map_or(Value::Null, |text| Value::from(text.as_str()))).collect();
        check(function, "varchar(3)", &rows, &steps)?;
    }
}

/// Frames that are longer than those that are added up for each row.
#[test]
fn long_frames() {
    let rows: Vec<Value> = (0..3000i64).map(|n| Value::Double((n * 37 % 101) as f64)).collect();
    let mut steps = vec![(0, 700)];
    steps.extend(std::iter::repeat_n((3, 3), 500));
    steps.extend(std::iter::repeat_n((4, 1), 400));
    for function in ["sum", "avg", "std", "var_samp", "min", "max", "bit_xor", "bit_and"] {
        check(function, "double", &rows, &steps).unwrap();
    }
    let bytes: Vec<Value> = (0..3000u32).map(|n| Value::Bytes(n.to_be_bytes().to_vec().into())).collect();
    for function in ["bit_and", "bit_or", "bit_xor"] {
        check(function, "varbinary(3)", &bytes, &steps).unwrap();
    }
}
