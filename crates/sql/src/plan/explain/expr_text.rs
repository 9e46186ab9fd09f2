//! Expressions as text, with the names of their columns.

use crate::expr::{Expr, ExprKind};
use crate::plan::node::{BlockPlan, SlotSource};
use types::Value;

/// The text of an expression of this block.
pub(super) fn text(expr: &Expr, block: &BlockPlan) -> String {
    text_with(expr, &|slot| slot_name(slot, block))
}

/// The text of an expression, with the names that `name` gives what it reads.
pub(in crate::plan) fn text_with(expr: &Expr, name: &dyn Fn(usize) -> String) -> String {
    let of = |expr: &Expr| text_with(expr, name);
    let list = |exprs: &[Expr]| exprs.iter().map(of).collect::<Vec<_>>().join(",");
    let joined = |exprs: &[Expr], with: &str| format!("({})", exprs.iter().map(of).collect::<Vec<_>>().join(with));
    match &expr.kind {
        ExprKind::Literal(value) => literal(value),
        ExprKind::Param(_) => "?".into(),
        ExprKind::Column { slot, .. } => name(*slot),
        ExprKind::Compare { op, args } => format!("({} {} {})", of(&args[0]), op.sign(), of(&args[1])),
        ExprKind::And(parts) => joined(parts, " and "),
        ExprKind::Or(parts) => joined(parts, " or "),
        ExprKind::Xor(args) => joined(&args[..], " xor "),
        ExprKind::Not(arg) => match &arg.kind {
            ExprKind::IsNull(arg) => format!("({} is not null)", of(arg)),
            _ => format!("(not {})", of(arg)),
        },
        ExprKind::IsNull(arg) => format!("({} is null)", of(arg)),
        ExprKind::IsTruth { arg, wanted } => format!("({} is {wanted})", of(arg)),
        ExprKind::In { value, list: items } => format!("({} in ({}))", of(value), list(items)),
        ExprKind::Between { args } => format!("({} between {} and {})", of(&args[0]), of(&args[1]), of(&args[2])),
        ExprKind::Like { args, .. } => format!("({} like {})", of(&args[0]), of(&args[1])),
        ExprKind::Arithmetic { op, args } => format!("({} {} {})", of(&args[0]), op.sign(), of(&args[1])),
        ExprKind::Negate(arg) => format!("-({})", of(arg)),
        ExprKind::Bit { op, args } => format!("({} {} {})", of(&args[0]), op.sign(), of(&args[1])),
        ExprKind::UserVariable(name) => format!("@{name}"),
        ExprKind::SystemVariable { name, .. } => format!("@@{name}"),
        ExprKind::Call { function, args } => format!("{}({})", function.name(), list(args)),
        ExprKind::Cast { arg, .. } => format!("cast({})", of(arg)),
        ExprKind::Case { .. } => "case …".into(),
        _ => {
            let mut parts = Vec::new();
            expr.for_each_child(&mut |child| parts.push(of(child)));
            format!("({})", parts.join(","))
        }
    }
}

/// What a slot is called.
pub(super) fn slot_name(slot: usize, block: &BlockPlan) -> String {
    match block.slots[slot] {
        SlotSource::Column { table, column } => {
            let table = &block.tables[table];
            format!("{}.{}", table.alias, table.columns[column])
        }
        SlotSource::RowImage { table } => format!("<row of {}>", block.tables[table].alias),
        SlotSource::Outer { slot } => format!("<outer {slot}>"),
        SlotSource::Subquery { index } => match &block.subqueries[index].query {
            Some(query) => format!("<subquery #{}>", super::table::first_number(query)),
            None => "<function>".into(),
        },
        SlotSource::Key { index } => format!("<key {}>", index + 1),
        SlotSource::Aggregate { index } => format!("<aggregate {}>", index + 1),
        SlotSource::Window { index } => format!("<window {}>", index + 1),
    }
}

fn literal(value: &Value) -> String {
    let mut text = Vec::new();
    value.write_text(types::value::NOT_FIXED, &mut text);
    let text = String::from_utf8_lossy(&text);
    match value {
        Value::Null => "NULL".into(),
        Value::Int(_) | Value::UInt(_) | Value::Float(_) | Value::Double(_) | Value::Decimal(_) => text.into_owned(),
        _ => format!("'{}'", text.replace('\'', "''")),
    }
}
