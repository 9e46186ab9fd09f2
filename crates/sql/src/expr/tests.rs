//! Expressions as text, and what MySQL 9.7 answers to `SELECT` of each: `testdata/functions.golden`. Where it is meant to differ
//! a comment in the file says why.

use std::sync::Arc;

use base::{SqlError, UnixMicros, codes};
use engine::{Catalog, CatalogChange, DdlPlanner, DdlText, Engine, EngineOptions};
use io::sim::SimMachine;
use types::{ColumnDef, ColumnType, Value};

use crate::bind::Binder;
use crate::expr::{EvalContext, Expr, Host, SessionInfo, Strictness, VariableScope, Warnings, convert_for_column};
use crate::parse::{ParseContext, parse_expr};
use crate::plan::PlanContext;
use crate::virtual_table::NoVirtualTables;

mod functions;
mod lengths;
mod sliding;

/// 2024-01-31 12:00:00 UTC.
const NOW: UnixMicros = UnixMicros(1_706_702_400_000_000);

struct NoDdl;

impl DdlPlanner for NoDdl {
    fn plan(&self, text: &DdlText, _: &Catalog) -> Result<CatalogChange, SqlError> {
        Err(SqlError::not_supported(&text.sql))
    }
}

pub(super) struct TestHost;

impl Host for TestHost {
    fn system_variable(&self, _: VariableScope, name: &str) -> Result<Value, SqlError> {
        match name {
            "regexp_stack_limit" => Ok(Value::UInt(8_000_000)),
            "regexp_time_limit" => Ok(Value::UInt(32)),
            _ => Err(SqlError::new(codes::UNKNOWN_SYSTEM_VARIABLE, format!("Unknown system variable '{name}'"))),
        }
    }

    fn clock_now(&self) -> UnixMicros {
        NOW
    }

    fn fill_random(&self, bytes: &mut [u8]) {
        bytes.fill(7);
    }
}

struct Fixture {
    engine: Arc<Engine>,
    session: SessionInfo,
}

impl Fixture {
    fn new() -> Self {
        let machine = SimMachine::new(1);
        let env = machine.env();
        let options = EngineOptions::default();
        let engine = machine.run(async { Engine::open(env, options, Arc::new(NoDdl)).await }).unwrap().unwrap();
        let session = SessionInfo { user: "root@localhost".into(), ..SessionInfo::default() };
        Fixture { engine, session }
    }

    fn bind(&self, text: &str) -> Result<Expr, SqlError> {
        let parsed = parse_expr(text, &ParseContext { sql_mode: self.session.sql_mode, ..ParseContext::default() })?;
        let context = PlanContext {
            catalog: &self.engine.catalog(),
            database: None,
            session: &self.session,
            host: &TestHost,
            virtual_tables: &NoVirtualTables,
            engine: &self.engine,
            transaction: None,
            text,
            param_count: 0,
            param_types: &[],
            warnings: &Warnings::default(),
            uses_until_error: None,
            watch: None,
        };
        let bound = Binder::new(&context).bind_constants(std::slice::from_ref(&parsed))?.remove(0);
        Ok(bound)
    }

    fn context<'a>(&'a self, warnings: &'a Warnings, strict: bool) -> EvalContext<'a> {
        EvalContext { strict, ..EvalContext::new(&self.session, &TestHost, NOW, warnings) }
    }

    /// The value as the text protocol shows it, then the warnings.
    fn show(&self, text: &str) -> String {
        let warnings = Warnings::default();
        let result = self.bind(text).and_then(|expr| {
            let value = expr.eval(&[], &self.context(&warnings, false))?;
            Ok((value, expr.ty))
        });
        let shown = match result {
            Ok((Value::Null, _)) => "NULL".to_string(),
            Ok((value, ty)) => String::from_utf8_lossy(&super::coerce::text(&value, &ty)).into_owned(),
            Err(error) => error.to_string(),
        };
        with_warnings(shown, &warnings)
    }

    /// `TYPE <- expression`: what an INSERT stores in a column `c` of that type.
    fn show_assignment(&self, line: &str) -> String {
        let (mode_and_type, text) = line.split_once(" <- ").unwrap();
        let (strictness, ty) = match mode_and_type.strip_prefix("lenient ") {
            Some(ty) => (Strictness::Lenient, ty),
            None => (Strictness::Strict, mode_and_type),
        };
        let warnings = Warnings::default();
        let ctx = self.context(&warnings, strictness == Strictness::Strict);
        let column = column(ty);
        let stored = self.bind(text).and_then(|expr| {
            let value = expr.eval(&[], &ctx)?;
            convert_for_column(value, &column, strictness, 1, &ctx)
        });
        let shown = match stored {
            Ok(Value::Null) => "NULL".to_string(),
            Ok(value) => {
                // What was made is what the codec takes, and what comes back.
                let layout = types::RowLayout::of_columns([&column]);
                let row = layout.encode(std::slice::from_ref(&value)).unwrap();
                assert_eq!(layout.decode_column(&row, 0).unwrap(), value, "{line}");
                let ty = super::ExprType::of_column(&column);
                String::from_utf8_lossy(&super::coerce::text(&value, &ty)).into_owned()
            }
            Err(error) => error.to_string(),
        };
        with_warnings(shown, &warnings)
    }
}

fn with_warnings(mut shown: String, warnings: &Warnings) -> String {
    for warning in warnings.take() {
        shown.push_str(&format!("\n{} {}: {}", warning.level.name(), warning.code, warning.message));
    }
    shown
}

fn column(text: &str) -> ColumnDef {
    use types::BlobSize;
    let members: Arc<[String]> = ["a", "b", "c"].map(String::from).into();
    let ty = match text {
        "tinyint" => ColumnType::TinyInt { unsigned: false },
        "tinyint unsigned" => ColumnType::TinyInt { unsigned: true },
        "int" | "int not null" => ColumnType::Int { unsigned: false },
        "bigint unsigned" => ColumnType::BigInt { unsigned: true },
        "float" => ColumnType::Float { unsigned: false },
        "double" => ColumnType::Double { unsigned: false },
        "decimal(5,2)" => ColumnType::Decimal { precision: 5, scale: 2, unsigned: false },
        "decimal(5,2) unsigned" => ColumnType::Decimal { precision: 5, scale: 2, unsigned: true },
        "char(3)" => ColumnType::Char { chars: 3 },
        "varchar(3)" | "varchar(3) latin1" => ColumnType::VarChar { chars: 3 },
        "varbinary(3)" => ColumnType::VarBinary { bytes: 3 },
        "binary(3)" => ColumnType::Binary { bytes: 3 },
        "tinytext" => ColumnType::Text { size: BlobSize::Tiny },
        "date" => ColumnType::Date,
        "time" => ColumnType::Time { fsp: 0 },
        "datetime" => ColumnType::DateTime { fsp: 0 },
        "datetime(3)" => ColumnType::DateTime { fsp: 3 },
        "timestamp" => ColumnType::Timestamp { fsp: 0 },
        "year" => ColumnType::Year,
        "bit(4)" => ColumnType::Bit { bits: 4 },
        "enum('a','b','c')" => ColumnType::Enum { members },
        "set('a','b','c')" => ColumnType::Set { members },
        other => panic!("no such type here: {other}"),
    };
    let mut column = ColumnDef::new("c", ty);
    column.nullable = !text.ends_with("not null");
    if text.ends_with("latin1") {
        column.collation = types::CollationId::LATIN1_SWEDISH_CI;
    }
    column
}

#[test]
fn expressions() {
    let fixture = Fixture::new();
    crate::golden::check("src/expr/testdata/functions.golden", |text| fixture.show(text));
}

#[test]
fn assignments() {
    let fixture = Fixture::new();
    crate::golden::check("src/expr/testdata/assignments.golden", |line| fixture.show_assignment(line));
}

/// What an aggregate makes of these rows of one column.
fn aggregate(name: &str, column: &ColumnDef, rows: &[Value]) -> String {
    use crate::expr::aggregate::{Aggregate, AggregateClauses};
    let session = SessionInfo::default();
    let warnings = Warnings::default();
    let ctx = EvalContext::new(&session, &TestHost, NOW, &warnings);
    let arg = Expr::column(0, super::ExprType::of_column(column));
    let aggregate = Aggregate::resolve(name, vec![arg], AggregateClauses::default(), &session).unwrap();
    let mut state = aggregate.start();
    for row in rows {
        aggregate.add(&mut state, std::slice::from_ref(row), &ctx).unwrap();
    }
    let value = aggregate.finish(state).unwrap();
    match value {
        Value::Null => "NULL".to_string(),
        value => String::from_utf8_lossy(&super::coerce::text(&value, &aggregate.ty)).into_owned(),
    }
}

#[test]
fn aggregates() {
    let ints = [Value::Int(1), Value::Null, Value::Int(2), Value::Int(2)];
    let of = |name| aggregate(name, &column("int"), &ints);
    assert_eq!((of("count"), of("sum"), of("avg")), ("3".into(), "5".into(), "1.6667".into()));
    assert_eq!((of("min"), of("max")), ("1".into(), "2".into()));
    assert_eq!(of("group_concat"), "1,2,2");
    assert_eq!((of("bit_or"), of("bit_xor")), ("3".into(), "1".into()));
    assert_eq!(of("var_pop"), "0.2222222222222222");
    assert_eq!(of("stddev_samp"), "0.5773502691896257");
    let none = |name| aggregate(name, &column("int"), &[Value::Null]);
    assert_eq!((none("sum"), none("count"), none("bit_and")), ("NULL".into(), "0".into(), u64::MAX.to_string()));
    let texts = ["b", "A", "a", "c"].map(Value::from);
    let of = |name| aggregate(name, &column("varchar(3)"), &texts);
    assert_eq!((of("min"), of("max")), ("A".into(), "c".into()));
    let members = ["c", "a", "b"].map(Value::from);
    assert_eq!(aggregate("sum", &column("enum('a','b','c')"), &members), "6");
    assert_eq!(aggregate("avg", &column("double"), &[Value::Double(1.0), Value::Double(2.0)]), "1.5");
}

/// A stored TIMESTAMP is UTC; read in an expression it is the session's time, and goes back as UTC.
#[test]
fn timestamps_are_shown_in_the_sessions_zone() {
    let session =
        SessionInfo { time_zone: jiff::tz::TimeZone::get("Europe/Berlin").unwrap(), ..SessionInfo::default() };
    let warnings = Warnings::default();
    let ctx = EvalContext { strict: true, ..EvalContext::new(&session, &TestHost, NOW, &warnings) };
    let column = column("timestamp");
    let expr = Expr::column(0, super::ExprType::of_column(&column));
    assert!(!expr.ty.utc);
    for (utc, local) in [("2024-01-31 12:00:00", "2024-01-31 13:00:00"), ("2024-07-31 12:00:00", "2024-07-31 14:00:00")]
    {
        let stored = Value::DateTime(types::DateTime::from_canonical(utc).unwrap());
        let shown = expr.eval(std::slice::from_ref(&stored), &ctx).unwrap();
        assert_eq!(shown, Value::DateTime(types::DateTime::from_canonical(local).unwrap()));
        let back = convert_for_column(Value::from(local), &column, Strictness::Strict, 1, &ctx).unwrap();
        assert_eq!(back, stored);
    }
}

#[test]
fn parameters_take_the_kind_of_their_value() {
    use crate::expr::{ArithmeticOp, CompareOp, build};
    let session = SessionInfo::default();
    let warnings = Warnings::default();
    let sum = build::arithmetic(ArithmeticOp::Add, Expr::int(1), Expr::param(0, None), &session).unwrap();
    let same =
        build::compare(CompareOp::Eq, build::string_literal("A", types::CollationId::DEFAULT), Expr::param(0, None))
            .unwrap();
    let eval = |expr: &Expr, param: Value| {
        let params = [param];
        let ctx = EvalContext { params: &params, ..EvalContext::new(&session, &TestHost, NOW, &warnings) };
        expr.eval(&[], &ctx).unwrap()
    };
    assert_eq!(eval(&sum, Value::Int(2)), Value::Int(3));
    assert_eq!(eval(&sum, Value::Double(0.5)), Value::Double(1.5));
    assert_eq!(eval(&sum, Value::Null), Value::Null);
    assert_eq!(eval(&same, Value::from("a")), Value::Int(1));
    assert_eq!(eval(&same, Value::from("b")), Value::Int(0));
}

mod orders {
    use std::cmp::Ordering;

    use types::{CollationId, Value};

    use crate::expr::order::{self, comparison};
    use crate::expr::{ExprType, Kind};

    fn values() -> Vec<(ExprType, Value)> {
        let of = ExprType::of_kind;
        let mut all: Vec<(ExprType, Value)> = Vec::new();
        for n in [i64::MIN, -5, 0, 1, 2, i64::MAX] {
            all.push((of(Kind::Int), Value::Int(n)));
            all.push((ExprType::decimal(30, 2), Value::Decimal(types::Decimal::from(n))));
        }
        all.extend([0, 1, u64::MAX].map(|n| (of(Kind::UInt), Value::UInt(n))));
        all.extend([-1.5, -0.0, 0.0, 1.0, 1e300].map(|n| (of(Kind::Double), Value::Double(n))));
        for text in ["1.50", "-0.01", "99999999999999999999999999999999999999999999"] {
            all.push((ExprType::decimal(65, 2), Value::Decimal(text.parse().unwrap())));
        }
        all.extend(["", "a", "A", "b", "aa"].map(|text| (ExprType::text(9, CollationId::DEFAULT), Value::from(text))));
        all
    }

    /// Keys are ordered as values of one kind are, and equal for a join exactly when `=` says so.
    #[test]
    fn keys_agree_with_comparison() {
        let session = super::SessionInfo::default();
        let warnings = super::Warnings::default();
        let ctx = super::EvalContext::new(&session, &super::TestHost, super::NOW, &warnings);
        for (left_ty, left) in values() {
            for (right_ty, right) in values() {
                let order = crate::expr::compare::compare(&left, &right, CollationId::DEFAULT, &ctx).unwrap();
                if left_ty.kind == right_ty.kind {
                    assert_eq!(Some(order::compare(&left_ty, &left, &right)), order, "{left:?} {right:?}");
                    let (mut a, mut b) = (Vec::new(), Vec::new());
                    order::encode(&left_ty, &left, true, &mut a);
                    order::encode(&right_ty, &right, true, &mut b);
                    assert_eq!(Some(b.cmp(&a)), order, "descending {left:?} {right:?}");
                }
                if let Some(comparison) = comparison(&left_ty, &right_ty) {
                    let (mut a, mut b) = (Vec::new(), Vec::new());
                    assert!(comparison.encode(&left, &mut a) && comparison.encode(&right, &mut b));
                    assert_eq!(a == b, order == Some(Ordering::Equal), "join {left:?} {right:?}");
                }
            }
        }
    }
}
