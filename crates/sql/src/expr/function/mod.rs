//! The functions: their names, arguments, types and evaluation.
//!
//! A function is a line in one of the tables of [`string`], [`encoding`], [`math`], [`time`], [`control`], [`json`], [`xml`], [`info`] and others: name, number of
//! arguments, how its type follows from theirs, and how it is evaluated. Arguments are evaluated by the function itself,
//! through [`Args`], so that IF and COALESCE look at no more than they need.

mod aes;
mod case;
pub(crate) mod cipher;
mod compress;
mod control;
mod encoding;
mod form;
mod grouping;
mod hash;
mod info;
pub(crate) mod json;
mod length;
mod maria;
mod math;
mod missing;
mod regexp;
mod regexp_class;
mod replacement;
pub(crate) mod string;
mod system;
mod time;
mod time_format;
mod time_read;
mod time_span;
mod xml;

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashMap;
use std::fmt;
use std::sync::LazyLock;

use base::memory;
use base::{SqlError, codes};
use bytes::Bytes;
use types::temporal::parse::Allow;
use types::{CollationId, Date, DateTime, Time, Value};

pub(crate) use self::encoding::hex_text;
pub(crate) use self::form::bits_as_bytes;
pub(crate) use self::grouping::{grouping, grouping_of, is_grouping, is_grouping_of};
pub use self::regexp::Pattern;
use crate::expr::beside::literal_bits;
use crate::expr::build::{Mixed, agree, bytes_together};
use crate::expr::coerce;
use crate::expr::context::{EvalContext, SessionInfo};
use crate::expr::tree::{Constancy, Expr, ExprKind};
use crate::expr::types::{Coercibility, ExprType, Kind, aggregate_collations};
use crate::expr::whole;

/// A function that a [`call`](crate::expr::ExprKind::Call) names: a line of the table of functions.
#[derive(Clone, Copy)]
pub struct Function(&'static FunctionInfo);

type Infer = fn(&[Expr], &SessionInfo) -> ExprType;
type Eval = fn(&Args<'_>) -> Result<Value, SqlError>;

/// A line of the table.
pub(crate) struct FunctionInfo {
    name: &'static str,
    args_min: usize,
    args_max: usize,
    constancy: Constancy,
    waits: bool,
    collations: Collations,
    infer: Infer,
    eval: Eval,
}

/// Which of a function's arguments have to agree on a collation.
#[derive(Clone, Copy)]
enum Collations {
    /// None: each is used by itself.
    Separate,
    /// The first so many: they are compared.
    Compared(usize),
    /// All from this one on: they become one text.
    Joined(usize),
}

/// A line of the table for a function that depends on its arguments alone.
const fn line(name: &'static str, args_min: usize, args_max: usize, infer: Infer, eval: Eval) -> FunctionInfo {
    FunctionInfo {
        name,
        args_min,
        args_max,
        constancy: Constancy::Literal,
        waits: false,
        collations: Collations::Separate,
        infer,
        eval,
    }
}

impl FunctionInfo {
    /// It has one value during an execution of the statement.
    const fn per_execution(mut self) -> Self {
        self.constancy = Constancy::Execution;
        self
    }

    /// It has another value each time.
    const fn volatile(mut self) -> Self {
        self.constancy = Constancy::Volatile;
        self
    }

    /// Its first `count` arguments are compared with each other.
    const fn compares(mut self, count: usize) -> Self {
        self.collations = Collations::Compared(count);
        self
    }

    /// Its arguments from that one on become one text.
    const fn joins(mut self, from: usize) -> Self {
        self.collations = Collations::Joined(from);
        self
    }

    /// 1267 if arguments that have to agree on a collation do not.
    fn check_collations(&self, args: &[Expr]) -> Result<(), SqlError> {
        let (args, mixed) = match self.collations {
            Collations::Separate => return Ok(()),
            Collations::Compared(count) if matches!(self.name, "nullif" | "strcmp") => {
                (&args[..count], Mixed::Unsettled)
            }
            Collations::Compared(count) => (&args[..count.min(args.len())], Mixed::Refused),
            Collations::Joined(from) => (&args[from..], Mixed::Allowed),
        };
        let types: Vec<&ExprType> = args.iter().map(|arg| &arg.ty).collect();
        agree(&types, self.name, mixed).map(|_| ())
    }

    /// The executor computes it.
    const fn waiting(mut self) -> Self {
        self.waits = true;
        self.volatile()
    }
}

const MANY: usize = usize::MAX;

impl Function {
    /// Its name, in lower case.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// The executor computes it (SLEEP and the like): the planner moves the call into a slot; [`Expr::eval`] refuses it.
    pub fn waits(self) -> bool {
        self.0.waits
    }

    /// Whether it makes numbers of its own, unlike one that passes on an argument.
    pub(crate) fn computes_number(self) -> bool {
        self.is_of(math::TABLE)
    }

    fn is_of(self, table: &'static [FunctionInfo]) -> bool {
        table.iter().any(|line| std::ptr::eq(line, self.0))
    }

    /// How long its result holds, apart from its arguments.
    pub fn constancy(self) -> Constancy {
        self.0.constancy
    }

    /// A result that is far longer than a packet, or needs arguments that together are, is NULL with a warning (1301): such a
    /// text could not be sent, and calls in calls would take any amount of memory.
    pub(crate) fn eval(self, args: &Args<'_>) -> Result<Value, SqlError> {
        let result = (self.0.eval)(args);
        memory::check()?;
        let longest = args.longest();
        let null = || args.too_long(longest.saturating_add(1)).map(|null| null.unwrap_or(Value::Null));
        match &result {
            Ok(Value::Str(bytes) | Value::Bytes(bytes) | Value::Json(bytes)) if bytes.len() as u64 > longest => null(),
            Err(_) if args.taken.get() > longest => null(),
            _ => result,
        }
    }
}

impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name)
    }
}

static BY_NAME: LazyLock<HashMap<&'static str, &'static FunctionInfo>> = LazyLock::new(|| {
    let tables = [
        string::TABLE,
        encoding::TABLE,
        compress::TABLE,
        aes::TABLE,
        system::TABLE,
        maria::TABLE,
        math::TABLE,
        time::TABLE,
        control::TABLE,
        info::TABLE,
        hash::TABLE,
        regexp::TABLE,
        json::TABLE,
        xml::TABLE,
    ];
    tables.into_iter().flatten().map(|info| (info.name, info)).collect()
});

/// Functions that only [`crate::expr::build`] calls: their first arguments are its codes, or there is no such name in MySQL.
const INTERNAL: [&str; 7] = ["json_value", "member of", "extract", "timestampdiff", "trim", "own number", "coerced"];

/// Functions outside of [`math`] whose arguments are numbers: `0x41` is 65 there, an ENUM its place.
const NUMERIC: [&str; 9] = [
    "format",
    "from_unixtime",
    "sec_to_time",
    "makedate",
    "maketime",
    "from_days",
    "interval",
    "period_add",
    "period_diff",
];

/// The call of a function by name (any case). 1305 if there is none, 1582 if the number of arguments is wrong. Aggregates are
/// found by [`crate::expr::Aggregate::resolve`]; ask that first.
pub fn resolve(name: &str, args: Vec<Expr>, session: &SessionInfo) -> Result<Expr, SqlError> {
    let lower = name.to_ascii_lowercase();
    match (&*lower, args.len()) {
        ("trim", 1) => {
            let mut args = args;
            args.insert(0, Expr::int(syntax::ast::TrimSide::Both as i64));
            call("trim", args, session)
        }
        _ if INTERNAL.contains(&&*lower) => Err(no_such_function(name, session)),
        _ => call(&lower, args, session),
    }
}

/// Whether there is such a function.
pub fn exists(name: &str) -> bool {
    BY_NAME.contains_key(&*name.to_ascii_lowercase())
}

/// The call of a function of the tables.
pub(crate) fn call(name: &str, args: Vec<Expr>, session: &SessionInfo) -> Result<Expr, SqlError> {
    let info = BY_NAME.get(name).ok_or_else(|| no_such_function(name, session))?;
    if !(info.args_min..=info.args_max).contains(&args.len()) {
        let message = format!("Incorrect parameter count in the call to native function '{}'", name.to_uppercase());
        return Err(SqlError::new(codes::WRONG_PARAMCOUNT_TO_NATIVE_FCT, message));
    }
    json::check_pairs(info.name, args.len())?;
    regexp::check(info.name, &args)?;
    time::check_fraction(info.name, &args)?;
    xml::check(info.name, &args, session)?;
    info.check_collations(&args)?;
    let args = control::compare_first(info.name, args)?;
    Ok(build(info, args, session))
}

fn build(info: &'static FunctionInfo, args: Vec<Expr>, session: &SessionInfo) -> Expr {
    let args = form::in_form(info.name, args);
    let takes_numbers = Function(info).computes_number() || NUMERIC.contains(&info.name);
    let args = match takes_numbers {
        true => args.into_iter().map(crate::expr::build::numeric_arg).collect(),
        false => args,
    };
    let mut args = control::prepare(info.name, args);
    if Function(info).is_of(string::TABLE) {
        bytes_together(&mut args);
    }
    let ty = (info.infer)(&args, session);
    Expr { kind: ExprKind::Call { function: Function(info), args }, ty }
}

/// 1305, as MySQL; 1235 if MySQL has it.
pub(crate) fn no_such_function(name: &str, session: &SessionInfo) -> SqlError {
    let lower = name.to_ascii_lowercase();
    if missing::is_missing(&lower) {
        return SqlError::not_supported(format!("{}()", name.to_uppercase()));
    }
    let schema = session.database.as_deref().map(|schema| format!("{schema}.")).unwrap_or_default();
    let whose = if missing::is_of_mariadb(&lower) { "; it is MariaDB's, and not supported yet" } else { "" };
    SqlError::new(codes::SP_DOES_NOT_EXIST, format!("FUNCTION {schema}{name} does not exist{whose}"))
}

/// The number of an ENUM's member, the bits of a SET, the number with which the text of a TEXT or BLOB begins.
pub(crate) fn own_number(arg: Expr) -> Expr {
    build(&control::OWN_NUMBER, vec![arg], &SessionInfo::default())
}

/// What the values of a column become in another ([`Copied`](crate::expr::copied::Copied)).
pub(crate) fn copied(arg: Expr, to: &types::ColumnType) -> Expr {
    let ty = ExprType { origin: Some(to.clone()), ..ExprType::of_kind(Kind::Any) }.nullable(arg.ty.nullable);
    Expr { kind: ExprKind::Call { function: Function(&control::COPIED), args: vec![arg] }, ty }
}

/// Whether it is what [`copied`] makes.
pub(crate) fn is_copied(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Call { function, .. } if *function == Function(&control::COPIED))
}

/// A constant beside a YEAR: the year that one or two digits are, any other value as it is.
pub(crate) fn year_beside(arg: Expr) -> Expr {
    let function =
        if matches!(arg.kind, ExprKind::Param(_)) { &control::WHOLE_YEAR_BESIDE } else { &control::YEAR_BESIDE };
    build(function, vec![arg], &SessionInfo::default())
}

/// A constant beside a TIME with so many digits behind the point: the time that it is there, any other value as it is.
pub(crate) fn time_beside(arg: Expr, fsp: u8) -> Expr {
    let ty = ExprType::temporal(Kind::Time, fsp).nullable(arg.ty.nullable);
    Expr { kind: ExprKind::Call { function: Function(&control::TIME_BESIDE), args: vec![arg] }, ty }
}

/// The values in the form of another type.
pub(crate) fn coerced(arg: Expr, ty: &ExprType) -> Expr {
    let nullable = arg.ty.nullable || ty.nullable;
    let ty = ExprType { origin: None, ..ty.clone() }.nullable(nullable);
    Expr { kind: ExprKind::Call { function: Function(&control::COERCED), args: vec![arg] }, ty }
}

/// What a statement's result shows of an expression: the digits of what IF or CASE has chosen.
pub(crate) fn shown(arg: Expr) -> Expr {
    if !arg.is_choice_of_decimal() {
        return arg;
    }
    let ty = arg.ty.clone();
    Expr { kind: ExprKind::Call { function: Function(&control::SHOWN), args: vec![arg] }, ty }
}

/// The values as a column of a UNION holds them ([`stored`](crate::expr::stored)).
pub(crate) fn stored(arg: Expr, ty: &ExprType) -> Expr {
    let nullable = arg.ty.nullable || ty.nullable;
    let ty = ExprType { origin: None, ..ty.clone() }.nullable(nullable);
    Expr { kind: ExprKind::Call { function: Function(&control::STORED), args: vec![arg] }, ty }
}

/// The arguments of one call while it is evaluated.
pub(crate) struct Args<'a> {
    pub(crate) args: &'a [Expr],
    pub(crate) ty: &'a ExprType,
    pub(crate) row: &'a [Value],
    pub(crate) ctx: &'a EvalContext<'a>,
    /// The function's name.
    name: &'static str,
    /// Bytes of all long arguments so far.
    taken: Cell<u64>,
}

impl<'a> Args<'a> {
    /// The arguments of a call of a function.
    pub(crate) fn new(
        function: Function,
        args: &'a [Expr],
        ty: &'a ExprType,
        row: &'a [Value],
        ctx: &'a EvalContext<'a>,
    ) -> Self {
        Args { args, ty, row, ctx, name: function.name(), taken: Cell::new(0) }
    }

    /// What a result may take. Some functions of MySQL give twice as many bytes as they are given, without a limit.
    fn longest(&self) -> u64 {
        self.ctx.session.max_allowed_packet.saturating_mul(2).saturating_add(LONG_ARGUMENT)
    }

    fn len(&self) -> usize {
        self.args.len()
    }

    fn value(&self, at: usize) -> Result<Cow<'a, Value>, SqlError> {
        self.counted(self.args[at].eval_ref(self.row, self.ctx)?)
    }

    /// The argument, and its bytes among those of all long ones.
    fn counted(&self, value: Cow<'a, Value>) -> Result<Cow<'a, Value>, SqlError> {
        if let Value::Str(bytes) | Value::Bytes(bytes) | Value::Json(bytes) = &*value
            && bytes.len() as u64 > LONG_ARGUMENT
        {
            self.taken.set(self.taken.get().saturating_add(bytes.len() as u64));
            if self.taken.get() > self.longest() {
                return Err(self.ctx.packet_overflow(self.name));
            }
        }
        Ok(value)
    }

    fn text(&self, at: usize) -> Result<Option<Bytes>, SqlError> {
        let (value, shown) = self.args[at].eval_shown(self.row, self.ctx)?;
        let value = self.counted(value)?;
        let is_none = value.is_null() || crate::expr::json::is_beyond_packet(shown, &value, self.ctx)?;
        Ok((!is_none).then(|| coerce::text_of(shown, &value)))
    }

    /// The argument as a binary string.
    fn bytes(&self, at: usize) -> Result<Option<Bytes>, SqlError> {
        let value = self.value(at)?;
        let arg = &self.args[at];
        let is_none = value.is_null() || crate::expr::json::is_beyond_packet(arg, &value, self.ctx)?;
        Ok((!is_none).then(|| match coerce::has_other_bytes(&arg.ty) {
            true => coerce::bytes(&value, &arg.ty),
            false => coerce::text_of(arg, &value),
        }))
    }

    /// A text that becomes part of the result; 3854 if the result's character set does not have it.
    fn part(&self, at: usize) -> Result<Option<Bytes>, SqlError> {
        let text = self.text(at)?;
        text.map(|text| coerce::in_charset(text, &self.args[at].ty, self.ty)).transpose()
    }

    fn int(&self, at: usize) -> Result<Option<i64>, SqlError> {
        if let Some(bits) = literal_bits(&self.args[at]) {
            return Ok(Some(bits as i64));
        }
        let value = self.counted(self.args[at].eval_whole(self.row, self.ctx)?)?;
        let value = whole::without_fraction(&self.args[at], value);
        whole::check_whole(&self.args[at], &value, self.ctx)?;
        coerce::to_i64(&value, self.ctx)
    }

    /// An optional last argument; `None` only if it is NULL.
    fn int_or(&self, at: usize, default: i64) -> Result<Option<i64>, SqlError> {
        if at < self.args.len() { self.int(at) } else { Ok(Some(default)) }
    }

    fn double(&self, at: usize) -> Result<Option<f64>, SqlError> {
        coerce::to_f64(&*self.value(at)?, self.ctx)
    }

    fn truth(&self, at: usize) -> Result<Option<bool>, SqlError> {
        self.args[at].eval_truth(self.row, self.ctx)
    }

    fn datetime(&self, at: usize, allow: Allow) -> Result<Option<DateTime>, SqlError> {
        coerce::to_datetime(&*self.dated(at)?, allow, self.ctx)
    }

    fn date(&self, at: usize, allow: Allow) -> Result<Option<Date>, SqlError> {
        coerce::to_date(&*self.dated(at)?, allow, self.ctx)
    }

    fn time(&self, at: usize) -> Result<Option<Time>, SqlError> {
        coerce::to_time(&*self.dated(at)?, self.ctx)
    }

    /// The value where a date or time is wanted.
    fn dated(&self, at: usize) -> Result<Cow<'a, Value>, SqlError> {
        Ok(coerce::dated(&self.args[at], self.value(at)?))
    }

    /// Whether the call works on bytes instead of characters.
    fn is_binary(&self, at: usize) -> bool {
        matches!(self.args[at].ty.kind, Kind::Bytes)
    }

    /// The result of a function whose type is text or binary by its arguments.
    fn string(&self, bytes: impl Into<Bytes>) -> Value {
        if self.ty.kind == Kind::Bytes { Value::Bytes(bytes.into()) } else { Value::Str(bytes.into()) }
    }

    /// 1301: the result would be longer than a packet; NULL.
    ///
    /// # Errors
    /// 4082 if the connection may not have so much memory.
    fn too_long(&self, length: u64) -> Result<Option<Value>, SqlError> {
        if length <= self.ctx.session.max_allowed_packet {
            memory::check_more(length)?;
            return Ok(None);
        }
        self.ctx.warn_of_overflow(self.name);
        Ok(Some(Value::Null))
    }
}

/// Shorter arguments are not counted: of them there are at most as many as a statement has bytes.
pub(crate) const LONG_ARGUMENT: u64 = 4096;

/// NULL if an argument is.
macro_rules! some {
    ($argument:expr) => {
        match $argument {
            Some(value) => value,
            None => return Ok(Value::Null),
        }
    };
}
pub(crate) use some;

fn any_nullable(args: &[Expr]) -> bool {
    args.iter().any(|arg| arg.ty.nullable)
}

fn int(args: &[Expr], _: &SessionInfo) -> ExprType {
    ExprType::of_kind(Kind::Int).nullable(any_nullable(args))
}

fn nullable_int(_: &[Expr], _: &SessionInfo) -> ExprType {
    ExprType::of_kind(Kind::Int)
}

/// An integer of so many characters at most, one of them for the sign. (CREATE TABLE … SELECT makes an INT of a short one.)
fn short_int<const CHARS: u32>(args: &[Expr], session: &SessionInfo) -> ExprType {
    ExprType { length: CHARS, ..int(args, session) }
}

/// The same, which may be NULL whatever the arguments are.
fn short_nullable_int<const CHARS: u32>(args: &[Expr], session: &SessionInfo) -> ExprType {
    ExprType { length: CHARS, ..nullable_int(args, session) }
}

fn uint(args: &[Expr], _: &SessionInfo) -> ExprType {
    ExprType::of_kind(Kind::UInt).nullable(any_nullable(args))
}

/// An unsigned integer of so many characters at most.
fn short_uint<const CHARS: u32>(args: &[Expr], session: &SessionInfo) -> ExprType {
    ExprType { length: CHARS, ..uint(args, session) }
}

fn nullable_uint(_: &[Expr], _: &SessionInfo) -> ExprType {
    ExprType::of_kind(Kind::UInt)
}

fn double(_: &[Expr], _: &SessionInfo) -> ExprType {
    ExprType::of_kind(Kind::Double)
}

fn truth(args: &[Expr], _: &SessionInfo) -> ExprType {
    ExprType::truth(any_nullable(args))
}

/// Text (or a binary string, if that wins over the text) with all arguments' collation, as long as `length` says of the kind that it is.
fn text_of(args: &[Expr], length: impl FnOnce(Kind) -> u32, session: &SessionInfo) -> ExprType {
    let ty = joined_text(args, session);
    ExprType { length: length(ty.kind), ..ty }
}

/// The same without its length.
fn joined_text(args: &[Expr], session: &SessionInfo) -> ExprType {
    let mut all: Option<ExprType> = None;
    for arg in args.iter().filter(|arg| arg.ty.kind.is_text()) {
        all = Some(match all {
            None => arg.ty.clone(),
            Some(all) => {
                let (collation, coercibility) = aggregate_collations(&all, &arg.ty);
                ExprType { collation, coercibility, ..all }
            }
        });
    }
    let is_number = |arg: &Expr| arg.ty.kind.is_numeric() || arg.ty.kind.is_temporal();
    match all {
        None => own_text(0, session),
        // What is no text settles a conflict.
        Some(ExprType { coercibility: Coercibility::None, .. }) if args.iter().any(is_number) => own_text(0, session),
        Some(ExprType { collation: CollationId::BINARY, coercibility, .. }) => {
            ExprType { coercibility, ..ExprType::bytes(0) }
        }
        Some(ExprType { collation, coercibility, .. }) => ExprType { collation, coercibility, ..own_text(0, session) },
    }
}

/// Text as long as all arguments together.
fn text_of_all(args: &[Expr], session: &SessionInfo) -> ExprType {
    text_of(args, |kind| args.iter().fold(0u32, |sum, arg| sum.saturating_add(arg.ty.length_as(kind))), session)
}

/// Text like the first argument.
fn text_of_first(args: &[Expr], session: &SessionInfo) -> ExprType {
    text_of(&args[..1], |kind| args[0].ty.length_as(kind), session)
}

/// Longer than any VARCHAR.
const LONG_TEXT: u32 = 16_777_216;

/// Text in the connection's collation.
fn own_text(length: u32, session: &SessionInfo) -> ExprType {
    ExprType::text(length, session.collation_connection)
}

/// Text that says something about the system, in utf8mb4.
fn system_text(length: u32) -> ExprType {
    ExprType { coercibility: Coercibility::SystemConstant, ..ExprType::text(length, CollationId::DEFAULT) }
}
