//! Regular expressions: REGEXP_LIKE (and so REGEXP), REGEXP_INSTR, REGEXP_SUBSTR, REGEXP_REPLACE.
//!
//! The syntax is the `regex` crate's, which is nearly all of what MySQL's library takes: without back references and
//! look-around, and in time that grows with the text and the pattern only. Two settings have other units here than there:
//! `regexp_stack_limit` bounds the bytes of a compiled pattern, `regexp_time_limit` the seconds of all searches of one call.
//! One search cannot be ended: one that might take longer is not begun, and others go on meanwhile.
//!
//! Binary strings are searched byte by byte: each byte is the character of that number, and the result is bytes again.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use base::{SqlError, codes};
use regex::{Regex, RegexBuilder};
use regex_syntax::Parser;
use regex_syntax::hir::{Hir, HirKind};
use types::charset::{char_count, prefix_bytes};
use types::{Value, collation};

use super::{Args, FunctionInfo, LONG_TEXT, int, line, regexp_class, replacement, some, text_of, text_of_first, truth};
use crate::expr::coerce;
use crate::expr::tree::{Expr, VariableScope};
use crate::expr::types::{Kind, aggregate_collations};

pub(super) static TABLE: &[FunctionInfo] = &[
    line("regexp_like", 2, 3, truth, |args| {
        let pattern = some!(compile(args, 2)?);
        let text = some!(text(args, 0)?);
        Ok(Value::from(Search::new(args, &pattern, &text, 0)?.next()?.is_some()))
    })
    .compares(2),
    line("regexp_instr", 2, 6, int, regexp_instr).compares(2),
    line("regexp_substr", 2, 5, text_of_first, regexp_substr).compares(2),
    line("regexp_replace", 3, 6, |args, session| text_of(&args[..1], |_| LONG_TEXT, session), regexp_replace)
        .compares(2),
];

/// 3995 for a binary string beside text.
pub(super) fn check(name: &str, args: &[Expr]) -> Result<(), SqlError> {
    let count = match name {
        "regexp_replace" => 3,
        "regexp_like" | "regexp_instr" | "regexp_substr" => 2,
        _ => return Ok(()),
    };
    let Some((first, others)) = args[..count.min(args.len())].split_first() else { return Ok(()) };
    let is_string = |arg: &Expr| arg.ty.kind.is_string();
    let is_binary = |arg: &Expr| arg.ty.kind == Kind::Bytes;
    for other in others.iter().filter(|other| is_string(other) && is_string(first)) {
        if is_binary(first) != is_binary(other) {
            let collation = |arg: &Expr| if is_binary(arg) { "binary" } else { arg.ty.collation.name() };
            let message = format!(
                "Character set '{}' cannot be used in conjunction with '{}' in call to {name}.",
                collation(first),
                collation(other)
            );
            return Err(SqlError::new(codes::CHARACTER_SET_MISMATCH, message));
        }
    }
    Ok(())
}

/// An argument as the text that is searched.
fn text(args: &Args<'_>, at: usize) -> Result<Option<String>, SqlError> {
    let Some(text) = args.text(at)? else { return Ok(None) };
    Ok(Some(match args.is_binary(at) {
        true => text.iter().map(|&byte| char::from(byte)).collect(),
        false => String::from_utf8_lossy(&text).into_owned(),
    }))
}

/// A part of such a text as a value.
fn value(args: &Args<'_>, text: &str) -> Value {
    match args.is_binary(0) {
        true => args.string(text.chars().map(|c| c as u8).collect::<Vec<u8>>()),
        false => args.string(text.as_bytes().to_vec()),
    }
}

/// A setting of the server.
fn limit(args: &Args<'_>, name: &str) -> Result<u64, SqlError> {
    let value = args.ctx.host.system_variable(VariableScope::Global, name)?;
    Ok(coerce::to_bits(&value, args.ctx)?.unwrap_or(0))
}

/// A compiled pattern.
#[derive(Debug)]
pub struct Pattern {
    from: Source,
    regex: Regex,
    /// See [`places`]; counted once it is needed.
    places: OnceLock<u64>,
}

/// What a pattern is compiled from.
#[derive(Debug, PartialEq, Eq)]
struct Source {
    text: String,
    ignore_case: bool,
    multi_line: bool,
    dot_all: bool,
    /// `regexp_stack_limit`
    size: usize,
}

/// The pattern with its match flags, which are argument `flags`; without any the collation says whether case matters.
fn compile(args: &Args<'_>, flags: usize) -> Result<Option<Arc<Pattern>>, SqlError> {
    let Some(source) = source(args, flags)? else { return Ok(None) };
    let last = &args.ctx.session.last_pattern;
    if let Some(last) = last.lock().as_ref().filter(|last| last.from == source) {
        return Ok(Some(Arc::clone(last)));
    }
    args.ctx.worked(source.text.len() as u64 * CHARACTER_STEPS)?;
    let pattern = Arc::new(Pattern::build(source)?);
    *last.lock() = Some(Arc::clone(&pattern));
    Ok(Some(pattern))
}

/// What a compiled pattern may take if there is no limit.
const UNLIMITED: usize = 1 << 30;

fn source(args: &Args<'_>, flags: usize) -> Result<Option<Source>, SqlError> {
    let Some(text) = text(args, 1)? else { return Ok(None) };
    let binary = args.is_binary(0) || args.is_binary(1);
    let collation = aggregate_collations(&args.args[0].ty, &args.args[1].ty).0;
    let size = match limit(args, "regexp_stack_limit")? {
        0 => UNLIMITED,
        bytes => usize::try_from(bytes).unwrap_or(UNLIMITED),
    };
    let ignore_case = !binary && collation::equal(collation, b"a", b"A");
    let mut source = Source { text, ignore_case, multi_line: false, dot_all: false, size };
    if flags < args.len() {
        let Some(flags) = args.text(flags)? else { return Ok(None) };
        for &flag in flags.iter() {
            match flag {
                b'c' => source.ignore_case = false,
                b'i' => source.ignore_case = true,
                b'm' => source.multi_line = true,
                b'n' => source.dot_all = true,
                b'u' => {}
                _ => return Err(wrong_arguments(args, "")),
            }
        }
    }
    Ok(Some(source))
}

impl Pattern {
    fn build(from: Source) -> Result<Self, SqlError> {
        if from.text.is_empty() {
            return Err(illegal_argument());
        }
        if classes(&from.text) > CLASSES_MAX {
            return Err(too_large());
        }
        let built = RegexBuilder::new(&regexp_class::by_unicode(&from.text))
            .case_insensitive(from.ignore_case)
            .multi_line(from.multi_line)
            .dot_matches_new_line(from.dot_all)
            .size_limit(from.size)
            .build();
        match built {
            Ok(regex) => Ok(Pattern { from, regex, places: OnceLock::new() }),
            Err(error) => Err(wrong_pattern(&error)),
        }
    }

    fn places(&self) -> u64 {
        *self.places.get_or_init(|| Parser::new().parse(self.regex.as_str()).map_or(1, |pattern| places(&pattern)))
    }
}

/// A pattern that no call of REGEXP_LIKE has; `None` if the text is none. Case matters.
pub(super) fn of_text(args: &Args<'_>, text: &str) -> Result<Option<Pattern>, SqlError> {
    let size = usize::try_from(limit(args, "regexp_stack_limit")?).ok().filter(|size| *size > 0).unwrap_or(UNLIMITED);
    args.ctx.worked(text.len() as u64 * CHARACTER_STEPS)?;
    let text = if text.is_empty() { "(?:)" } else { text }.to_owned();
    match Pattern::build(Source { text, ignore_case: false, multi_line: false, dot_all: false, size }) {
        Ok(pattern) => Ok(Some(pattern)),
        Err(error) if [codes::NOT_SUPPORTED_YET.0, codes::REGEXP_STACK_OVERFLOW.0].contains(&error.code) => Err(error),
        Err(_) => Ok(None),
    }
}

/// Whether a pattern is anywhere in a text.
pub(super) fn is_found(args: &Args<'_>, pattern: &Pattern, text: &str) -> Result<bool, SqlError> {
    Ok(Search::new(args, pattern, text, 0)?.next()?.is_some())
}

/// Steps that a character of a pattern takes until it is compiled, roughly.
const CHARACTER_STEPS: u64 = 1000;
/// So many classes of letters, digits and the like do not fit into the default of `regexp_stack_limit`.
const CLASSES_MAX: usize = 1000;

/// How many classes of Unicode's a pattern has, at most: each has hundreds of ranges, which are made before any limit is looked at.
fn classes(pattern: &str) -> usize {
    let escaped = pattern.as_bytes().windows(2).filter(|two| two[0] == b'\\' && b"pPwWdDsS".contains(&two[1]));
    escaped.count() + pattern.matches("[:").count()
}

/// Steps of a search for one character of the text, at most: how many places in the pattern it may be at.
fn places(pattern: &Hir) -> u64 {
    match pattern.kind() {
        HirKind::Empty | HirKind::Look(_) => 1,
        HirKind::Literal(literal) => literal.0.len() as u64,
        HirKind::Class(_) => 4,
        HirKind::Repetition(repetition) => {
            let times = u64::from(repetition.max.unwrap_or(repetition.min + 1).max(1));
            places(&repetition.sub).saturating_mul(times)
        }
        HirKind::Capture(capture) => places(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().fold(0, |all: u64, part| all.saturating_add(places(part)))
        }
    }
}

/// 1210
fn wrong_arguments(args: &Args<'_>, more: &str) -> SqlError {
    SqlError::new(codes::WRONG_ARGUMENTS, format!("Incorrect arguments to {}{more}", args.name))
}

/// 3685
fn illegal_argument() -> SqlError {
    SqlError::new(codes::REGEXP_ERROR, "Illegal argument to a regular expression.")
}

/// 3698
fn too_large() -> SqlError {
    SqlError::new(codes::REGEXP_STACK_OVERFLOW, "Overflow in the regular expression backtrack stack.")
}

/// 3699
fn takes_too_long() -> SqlError {
    SqlError::new(codes::REGEXP_TIME_OUT, "Timeout exceeded in regular expression match.")
}

/// The error of a pattern that is none, or is none here.
fn wrong_pattern(error: &regex::Error) -> SqlError {
    let regex::Error::Syntax(text) = error else { return too_large() };
    let says = |part: &str| text.contains(part);
    let (code, message): (_, Cow<'static, str>) = match () {
        _ if says("look-around") => return SqlError::not_supported("look-around in regular expressions"),
        _ if says("backreferences") => return SqlError::not_supported("back references in regular expressions"),
        _ if says("unclosed group") || says("unopened group") => {
            (codes::REGEXP_MISMATCHED_PAREN, "Mismatched parenthesis in regular expression.".into())
        }
        _ if says("unclosed character class") => (
            codes::REGEXP_MISSING_CLOSE_BRACKET,
            "The regular expression contains an unclosed bracket expression.".into(),
        ),
        _ if says("invalid repetition count range") => {
            (codes::REGEXP_MAX_LT_MIN, "The maximum is less than the minumum in a {min,max} interval.".into())
        }
        _ if says("escape sequence") => {
            (codes::REGEXP_BAD_ESCAPE_SEQUENCE, "Unrecognized escape sequence in regular expression.".into())
        }
        _ if says("invalid character class range") => (
            codes::REGEXP_INVALID_RANGE,
            "The regular expression contains an [x-y] character range where x comes after y.".into(),
        ),
        _ if says("capture group name") => {
            (codes::REGEXP_INVALID_CAPTURE_GROUP_NAME, replacement::INVALID_GROUP_NAME.into())
        }
        _ if says("repetition operator missing") => {
            // The library points at the place in the line below the pattern's.
            let caret = text.lines().find(|line| line.trim() == "^").map_or(0, |line| line.trim_end().len());
            let character = caret.saturating_sub("    ".len());
            let message = format!("Syntax error in regular expression on line 1, character {character}.");
            (codes::REGEXP_RULE_SYNTAX, message.into())
        }
        _ => return illegal_argument(),
    };
    SqlError::new(code, message)
}

/// The matches from a place on, one after the other. An empty one may follow one that was not.
struct Search<'a> {
    args: &'a Args<'a>,
    pattern: &'a Pattern,
    text: &'a str,
    at: usize,
    /// `regexp_time_limit`, in seconds; 0 if there is none.
    seconds: u64,
    /// When the first search began.
    began: Option<Duration>,
}

/// A shorter text is searched without a look at the pattern, which can have as many places as its limit in bytes allows.
const SHORT_TEXT: u64 = 256;
/// Of a search that cannot make use of tables: so many places in so many characters a second.
const STEPS_OF_SECOND: u64 = 60_000_000;
/// What a search behind the first one is taken for at most.
const STEPS_OF_NEXT: u64 = 16_384;

impl<'a> Search<'a> {
    fn new(args: &'a Args<'a>, pattern: &'a Pattern, text: &'a str, at: usize) -> Result<Self, SqlError> {
        let seconds = limit(args, "regexp_time_limit")?;
        Ok(Search { args, pattern, text, at, seconds, began: None })
    }

    /// Whether there is text to search; 3699 if the call has taken its time, or would take it with this search; 1317 and 3024 as anywhere.
    fn begin(&mut self) -> Result<bool, SqlError> {
        let ctx = self.args.ctx;
        ctx.check_cancelled()?;
        let now = ctx.watch.map(|watch| watch.clock.monotonic()).unwrap_or_default();
        match self.began {
            None => {
                self.began = Some(now);
                self.check_size()?;
            }
            Some(began) if self.seconds > 0 && now.saturating_sub(began) > Duration::from_secs(self.seconds) => {
                return Err(takes_too_long());
            }
            // It begins where the last one has found something, and so goes over a part of the rest.
            Some(_) => ctx.worked(self.rest().min(STEPS_OF_NEXT))?,
        }
        Ok(self.at <= self.text.len())
    }

    fn rest(&self) -> u64 {
        self.text.len().saturating_sub(self.at) as u64
    }

    /// 3699 if one search might take longer than all may.
    fn check_size(&self) -> Result<(), SqlError> {
        if self.rest() < SHORT_TEXT {
            return Ok(());
        }
        let steps = self.rest().saturating_mul(self.pattern.places());
        let most = self.seconds.saturating_mul(STEPS_OF_SECOND);
        if most > 0 && steps > most { Err(takes_too_long()) } else { self.args.ctx.worked(steps) }
    }

    fn next(&mut self) -> Result<Option<regex::Match<'a>>, SqlError> {
        let found = if self.begin()? { self.pattern.regex.find_at(self.text, self.at) } else { None };
        self.go_on(found);
        Ok(found)
    }

    fn next_captures(&mut self) -> Result<Option<regex::Captures<'a>>, SqlError> {
        let found = if self.begin()? { self.pattern.regex.captures_at(self.text, self.at) } else { None };
        self.go_on(found.as_ref().and_then(|captures| captures.get(0)));
        Ok(found)
    }

    fn go_on(&mut self, found: Option<regex::Match<'a>>) {
        self.at = match found {
            None => self.text.len() + 1,
            Some(found) if found.is_empty() => {
                let next = self.text[found.end()..].chars().next().map_or(1, char::len_utf8);
                found.end() + next
            }
            Some(found) => found.end(),
        };
    }

    /// The match of that number, from 1 on.
    fn nth(&mut self, number: usize) -> Result<Option<regex::Match<'a>>, SqlError> {
        for _ in 1..number {
            if self.next()?.is_none() {
                return Ok(None);
            }
        }
        self.next()
    }
}

/// Text, where to begin in it (bytes) and which occurrence is meant; `None` if one is NULL.
fn place(args: &Args<'_>, first: usize) -> Result<Option<(String, usize, i64)>, SqlError> {
    let (Some(text), Some(position), Some(occurrence)) =
        (text(args, 0)?, args.int_or(first, 1)?, args.int_or(first + 1, 1)?)
    else {
        return Ok(None);
    };
    if position < 1 && args.name != "regexp_instr" {
        let message = format!("Incorrect parameters in the call to native function '{}'", args.name);
        return Err(SqlError::new(codes::WRONG_PARAMETERS_TO_NATIVE_FCT, message));
    }
    let chars = char_count(text.as_bytes()) as i64;
    if position < 1 || position > chars.max(1) {
        return Err(replacement::out_of_bounds());
    }
    let from = prefix_bytes(text.as_bytes(), position as usize - 1);
    Ok(Some((text, from, occurrence)))
}

fn regexp_instr(args: &Args<'_>) -> Result<Value, SqlError> {
    let pattern = some!(compile(args, 5)?);
    let (text, from, occurrence) = some!(place(args, 2)?);
    let at_end = match some!(args.int_or(4, 0)?) {
        option @ (0 | 1) => option == 1,
        _ => return Err(wrong_arguments(args, ": return_option must be 1 or 0.")),
    };
    let found = Search::new(args, &pattern, &text, from)?.nth(occurrence.max(1) as usize)?;
    Ok(Value::Int(found.map_or(0, |found| {
        let at = if at_end { found.end() } else { found.start() };
        char_count(&text.as_bytes()[..at]) as i64 + 1
    })))
}

fn regexp_substr(args: &Args<'_>) -> Result<Value, SqlError> {
    let pattern = some!(compile(args, 4)?);
    let (text, from, occurrence) = some!(place(args, 2)?);
    let found = Search::new(args, &pattern, &text, from)?.nth(occurrence.max(1) as usize)?;
    Ok(found.map_or(Value::Null, |found| value(args, found.as_str())))
}

fn regexp_replace(args: &Args<'_>) -> Result<Value, SqlError> {
    let pattern = some!(compile(args, 5)?);
    let new = some!(text(args, 2)?);
    let (text, from, _) = some!(place(args, 3)?);
    // Occurrence 0 is all of them; that is the default here.
    let occurrence = match some!(args.int_or(4, 0)?) {
        0 => None,
        occurrence => Some(occurrence.max(1) as usize),
    };
    if text.is_empty() {
        return Ok(value(args, ""));
    }
    let parts = replacement::parse(&new, &pattern.regex)?;
    let mut search = Search::new(args, &pattern, &text, from)?;
    let (mut out, mut last, mut number) = (String::new(), 0, 0);
    while let Some(captures) = search.next_captures()? {
        let Some(whole) = captures.get(0) else { continue };
        number += 1;
        if occurrence.is_some_and(|occurrence| number < occurrence) {
            continue;
        }
        out.push_str(&text[last..whole.start()]);
        replacement::expand(&parts, &captures, &mut out);
        last = whole.end();
        if (out.len() + text.len() - last) as u64 > args.ctx.session.max_allowed_packet {
            let message = "The result string is larger than the result buffer.";
            return Err(SqlError::new(codes::REGEXP_BUFFER_OVERFLOW, message));
        }
        if occurrence.is_some() {
            break;
        }
    }
    out.push_str(&text[last..]);
    Ok(value(args, &out))
}
