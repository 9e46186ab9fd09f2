//! Expressions as text, with the names of their columns, as MySQL writes them.
//!
//! A statement may be as long as a packet, so a text has an end: what does not fit into its room is `…`.

use crate::expr::{CastType, Expr, ExprKind};
use types::Value;

/// Bytes of one expression's text.
const EXPR_BYTES_MAX: usize = 16 << 10;

/// A text that stops to grow when its room is used up.
struct Room {
    out: String,
    is_full: bool,
}

impl Room {
    fn new() -> Room {
        Room { out: String::new(), is_full: false }
    }

    fn put(&mut self, text: &str) {
        if self.is_full {
            return;
        }
        if self.out.len() + text.len() <= EXPR_BYTES_MAX {
            return self.out.push_str(text);
        }
        let left = EXPR_BYTES_MAX - self.out.len();
        let end = (0..=left).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        self.out.push_str(&text[..end]);
        self.out.push('…');
        self.is_full = true;
    }
}

/// The text of an expression, with the names that `name` gives what it reads.
pub(in crate::plan) fn text_with(expr: &Expr, name: &dyn Fn(usize) -> String) -> String {
    let mut writer = Writer { room: Room::new(), name };
    writer.expr(expr);
    writer.room.out
}

/// The text of conditions that all have to hold.
pub(super) fn all_of<'e>(exprs: impl IntoIterator<Item = &'e Expr>, name: &dyn Fn(usize) -> String) -> String {
    let exprs: Vec<&Expr> = exprs.into_iter().collect();
    let mut writer = Writer { room: Room::new(), name };
    match &exprs[..] {
        [one] => writer.expr(one),
        several => writer.joined(several.iter().copied(), " and "),
    }
    writer.room.out
}

struct Writer<'a> {
    room: Room,
    name: &'a dyn Fn(usize) -> String,
}

impl Writer<'_> {
    fn put(&mut self, text: &str) {
        self.room.put(text);
    }

    fn list<'e>(&mut self, exprs: impl Iterator<Item = &'e Expr>, with: &str) {
        for (number, expr) in exprs.enumerate() {
            if self.room.is_full {
                return;
            }
            if number > 0 {
                self.put(with);
            }
            self.expr(expr);
        }
    }

    fn joined<'e>(&mut self, exprs: impl Iterator<Item = &'e Expr>, with: &str) {
        self.put("(");
        self.list(exprs, with);
        self.put(")");
    }

    /// Expressions with words before, between and behind them.
    fn parts(&mut self, parts: &[(&str, &Expr)], end: &str) {
        for (before, expr) in parts {
            self.put(before);
            self.expr(expr);
        }
        self.put(end);
    }

    fn between(&mut self, left: &Expr, sign: &str, right: &Expr) {
        self.parts(&[("(", left)], " ");
        self.put(sign);
        self.parts(&[(" ", right)], ")");
    }

    fn call<'e>(&mut self, function: &str, args: impl Iterator<Item = &'e Expr>) {
        self.put(function);
        self.put("(");
        self.list(args, ",");
        self.put(")");
    }

    fn expr(&mut self, expr: &Expr) {
        if self.room.is_full {
            return;
        }
        match &expr.kind {
            ExprKind::Literal(value) => self.literal(value),
            ExprKind::Param(_) => self.put("?"),
            ExprKind::Column { slot, .. } => {
                let name = (self.name)(*slot);
                self.put(&name);
            }
            ExprKind::Compare { op, args } => self.between(&args[0], op.sign(), &args[1]),
            ExprKind::And(parts) => self.joined(parts.iter(), " and "),
            ExprKind::Or(parts) => self.joined(parts.iter(), " or "),
            ExprKind::Xor(args) => self.joined(args.iter(), " xor "),
            ExprKind::Not(arg) => self.not(arg),
            ExprKind::IsNull(arg) => self.parts(&[("(", arg)], " is null)"),
            ExprKind::IsTruth { arg, wanted } => {
                self.parts(&[("(", arg)], if *wanted { " is true)" } else { " is false)" })
            }
            ExprKind::In { value, list } => self.in_list(value, list, " in "),
            ExprKind::Between { args } => {
                self.parts(&[("(", &args[0]), (" between ", &args[1]), (" and ", &args[2])], ")")
            }
            ExprKind::Like { args, .. } => self.between(&args[0], "like", &args[1]),
            ExprKind::Arithmetic { op, args } => self.between(&args[0], op.sign(), &args[1]),
            ExprKind::Bit { op, args } => self.between(&args[0], op.sign(), &args[1]),
            ExprKind::Negate(arg) => self.parts(&[("-(", arg)], ")"),
            ExprKind::UserVariable(name) => self.put(&format!("(@{name})")),
            ExprKind::SystemVariable { name, .. } => self.put(&format!("@@{name}")),
            ExprKind::AssignVariable { name, value } => {
                self.put(&format!("(@{name}:="));
                self.parts(&[("", value)], ")");
            }
            ExprKind::Call { function, args } => self.call(function.name(), args.iter()),
            ExprKind::Cast { arg, to } => {
                self.parts(&[("cast(", arg)], " as ");
                self.put(&cast_type(to));
                self.put(")");
            }
            ExprKind::Case { operand, arms, otherwise } => self.case(operand.as_deref(), arms, otherwise.as_deref()),
            ExprKind::Interval { args, unit, subtract } => {
                self.parts(&[("(", &args[0])], if *subtract { " - " } else { " + " });
                self.parts(&[("interval ", &args[1])], " ");
                self.put(&format!("{unit:?})").to_lowercase());
            }
            ExprKind::Collate(arg) => self.parts(&[("(", arg)], &format!(" collate {})", expr.ty.collation.name())),
        }
    }

    fn not(&mut self, arg: &Expr) {
        match &arg.kind {
            ExprKind::IsNull(arg) => self.parts(&[("(", arg)], " is not null)"),
            ExprKind::IsTruth { arg, wanted } => {
                self.parts(&[("(", arg)], if *wanted { " is not true)" } else { " is not false)" })
            }
            ExprKind::In { value, list } => self.in_list(value, list, " not in "),
            ExprKind::Between { args } => {
                self.parts(&[("(", &args[0]), (" not between ", &args[1]), (" and ", &args[2])], ")")
            }
            _ => self.parts(&[("(not(", arg)], "))"),
        }
    }

    fn in_list(&mut self, value: &Expr, list: &[Expr], word: &str) {
        self.parts(&[("(", value)], word);
        self.joined(list.iter(), ",");
        self.put(")");
    }

    fn case(&mut self, operand: Option<&Expr>, arms: &[(Expr, Expr)], otherwise: Option<&Expr>) {
        self.put("(case");
        operand.into_iter().for_each(|operand| self.parts(&[(" ", operand)], ""));
        for (when, then) in arms {
            self.parts(&[(" when ", when), (" then ", then)], "");
        }
        otherwise.into_iter().for_each(|otherwise| self.parts(&[(" else ", otherwise)], ""));
        self.put(" end)");
    }

    fn literal(&mut self, value: &Value) {
        let mut text = Vec::new();
        value.write_text(types::value::NOT_FIXED, &mut text);
        text.truncate(EXPR_BYTES_MAX + 1);
        let text = String::from_utf8_lossy(&text);
        match value {
            Value::Null => self.put("NULL"),
            Value::Int(_) | Value::UInt(_) | Value::Float(_) | Value::Double(_) | Value::Decimal(_) => self.put(&text),
            _ => {
                self.put("'");
                self.put(&text.replace('\\', "\\\\").replace('\'', "\\'"));
                self.put("'");
            }
        }
    }
}

fn cast_type(to: &CastType) -> String {
    let sized = |name: &str, size: Option<u32>| size.map_or(name.into(), |size| format!("{name}({size})"));
    let with_fraction = |name: &str, fsp: u8| if fsp == 0 { name.into() } else { format!("{name}({fsp})") };
    match to {
        CastType::Char { chars } => sized("char", *chars),
        CastType::Binary { bytes } => sized("char", *bytes) + " charset binary",
        CastType::Time { fsp } => with_fraction("time", *fsp),
        CastType::DateTime { fsp } => with_fraction("datetime", *fsp),
        CastType::Decimal { precision, scale } => format!("decimal({precision},{scale})"),
        other => format!("{other:?}").to_lowercase(),
    }
}
