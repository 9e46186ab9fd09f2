//! Optimizer hints: comments right behind the first word of a query block, `SELECT /*+ … */ …`. The lexer passes over them as over any
//! comment, so they are looked for in the text.
//!
//! ```text
//!   text ──> comments, each of a block ──(grammar)──> hints ──> those that contradict others go ──> the binder asks for a block's
//! ```
//!
//! A hint is about its own block, or about one that it names (`@name`): by a name that QB_NAME gives, or by its number (`select#2`). What is
//! no hint is a warning and never an error, and so is what names nothing. Tables and indexes are looked up when the block is bound
//! ([`crate::bind`]).

mod grammar;

use std::time::Duration;

use base::{SqlError, codes};
use syntax::Token;
use syntax::error::near;
use syntax::lexer::lex;
use types::SqlMode;

use self::grammar::{Arguments, Written};
use crate::expr::Warnings;

/// Hints of a statement that are kept: each is held against all others.
const HINTS_MAX: usize = 2000;

/// A hint that holds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Hint {
    /// In upper case.
    pub(crate) name: &'static str,
    /// The block that it is about, if it names one.
    pub(crate) block: Option<String>,
    /// The tables that it is about.
    pub(crate) tables: Vec<HintedTable>,
    /// Its indexes, or strategies.
    pub(crate) words: Vec<String>,
    /// Where the block begins that it stands in.
    pub(crate) start: usize,
}

/// A table of a hint.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct HintedTable {
    pub(crate) name: String,
    /// The block that it stands in, if that is said.
    pub(crate) block: Option<String>,
}

/// `SET_VAR(name = value)`
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SetVar {
    pub(crate) name: String,
    /// As written; in quotes it is a text.
    pub(crate) value: String,
    pub(crate) is_text: bool,
}

/// The hints of a statement.
#[derive(Debug, Default)]
pub(crate) struct Hints {
    /// What `MAX_EXECUTION_TIME(milliseconds)` says; no time is no limit. Of several the first one counts.
    pub(crate) max_execution_time: Option<Option<Duration>>,
    /// What holds for the statement only.
    pub(crate) variables: Vec<SetVar>,
    /// Those that are about plans.
    pub(crate) of_plans: Vec<Hint>,
    /// Where the statement's first word stands.
    pub(crate) statement_start: usize,
    /// Names of blocks, each with where it begins.
    blocks: Vec<(usize, String)>,
    /// How many blocks there are.
    block_count: usize,
    /// What is to be warned of; no more than are kept of a statement.
    pub(crate) warnings: Vec<SqlError>,
}

impl Hints {
    /// Of a statement's text.
    pub(crate) fn of(text: &str, sql_mode: SqlMode) -> Hints {
        let mut hints = Hints::default();
        if !text.contains("/*+") {
            return hints;
        }
        let Ok(lexed) = lex(text, sql_mode) else { return hints };
        let mut statement = None;
        let mut depth = 0usize;
        for (at, token) in lexed.tokens.iter().enumerate() {
            match token.token {
                Token::LParen => depth += 1,
                Token::RParen => depth = depth.saturating_sub(1),
                _ => {}
            }
            let Token::Word(word) = token.token else { continue };
            let Some(kind) = Opening::of(word) else { continue };
            let is_first = statement.is_none() && (kind == Opening::Select || depth == 0);
            if kind != Opening::Select && !is_first {
                continue;
            }
            if is_first {
                statement = Some(kind);
                hints.statement_start = token.span.start as usize;
            }
            hints.block_count += usize::from(kind != Opening::Insert);
            let end = lexed.tokens.get(at + 1).map_or(text.len(), |next| next.span.start as usize);
            let top = is_first.then_some(kind);
            hints.take(text, (token.span.end as usize, end), (token.span.start as usize, top));
        }
        hints.check_blocks();
        hints
    }

    /// The hints of the comment in a gap between two tokens, if there is one.
    fn take(&mut self, text: &str, (from, to): (usize, usize), (start, top): (usize, Option<Opening>)) {
        let gap = &text[from..to];
        let Some(comment) = gap.trim_start().strip_prefix("/*+") else { return };
        let Some(length) = comment.find("*/") else { return };
        let begin = from + gap.len() - comment.len();
        let (written, error) = grammar::read(&comment[..length]);
        for hint in written {
            self.add(hint, start, top);
        }
        if let Some(error) = error {
            let what = error.message.unwrap_or("Optimizer hint syntax error");
            let place = match error.at {
                Some(at) => near(text, begin + at),
                None => "near '*/' at line 1".to_owned(),
            };
            self.warn(|| SqlError::new(codes::PARSE_ERROR, format!("{what} {place}")));
        }
    }

    fn add(&mut self, written: Written, start: usize, top: Option<Opening>) {
        let shown = written.to_string();
        let is_new = match written.arguments {
            Arguments::Milliseconds(milliseconds) => return self.limit(top, milliseconds),
            Arguments::Name(name) if written.name == "QB_NAME" => {
                let is_new = !self.blocks.iter().any(|(at, other)| *at == start || *other == name);
                if is_new {
                    self.blocks.push((start, name));
                }
                is_new
            }
            Arguments::Name(name) => {
                // There are no resource groups, so none has this name.
                let message = || format!("Resource Group '{name}' does not exist.");
                return self.warn(|| SqlError::new(codes::RESOURCE_GROUP_NOT_EXISTS, message()));
            }
            Arguments::Variable(variable) => {
                // Only what stands in the statement's own comment holds for it.
                if top.is_none() {
                    return;
                }
                let is_new = !self.variables.iter().any(|other| other.name.eq_ignore_ascii_case(&variable.name));
                if is_new && self.variables.len() == HINTS_MAX {
                    return self.warn_of_many();
                }
                if is_new {
                    self.variables.push(variable);
                }
                is_new
            }
            Arguments::OfPlan { block, tables, words } => {
                return self.add_of_plan(Hint { name: written.name, block, tables, words, start }, &shown);
            }
        };
        if !is_new {
            self.warn_conflict(&shown);
        }
    }

    /// A hint about several tables is one about each of them, but for those of join orders.
    fn add_of_plan(&mut self, hint: Hint, shown: &str) {
        if hint.tables.len() < 2 || hint.name.starts_with("JOIN_") && !hint.name.ends_with("INDEX") {
            return match self.of_plans.iter().any(|other| contradict(other, &hint)) {
                true => self.warn_conflict(shown),
                false if self.of_plans.len() == HINTS_MAX => self.warn_of_many(),
                false => self.of_plans.push(hint),
            };
        }
        for table in hint.tables.clone() {
            let one = Hint { tables: vec![table], ..hint.clone() };
            let shown = Written::of_plan(&one).to_string();
            self.add_of_plan(one, &shown);
        }
    }

    fn warn(&mut self, warning: impl FnOnce() -> SqlError) {
        if self.warnings.len() < Warnings::KEPT_MAX {
            self.warnings.push(warning());
        }
    }

    fn warn_of_many(&mut self) {
        let message = || format!("Optimizer hints beyond {HINTS_MAX} are ignored");
        self.warn(|| SqlError::new(codes::WARN_CONFLICTING_HINT, message()));
    }

    fn warn_conflict(&mut self, shown: &str) {
        let message = || format!("Hint {shown} is ignored as conflicting/duplicated");
        self.warn(|| SqlError::new(codes::WARN_CONFLICTING_HINT, message()));
    }

    fn limit(&mut self, top: Option<Opening>, milliseconds: u32) {
        if top != Some(Opening::Select) {
            let message = "MAX_EXECUTION_TIME hint is supported by top-level standalone SELECT statements only";
            self.warn(|| SqlError::new(codes::UNSUPPORTED_MAX_EXECUTION_TIME, message));
        } else if self.max_execution_time.is_some() {
            self.warn_conflict(&format!("MAX_EXECUTION_TIME({milliseconds})"));
        } else {
            let time = Duration::from_millis(milliseconds.into());
            self.max_execution_time = Some(Some(time).filter(|time| !time.is_zero()));
        }
    }

    /// Hints about blocks that are not there go.
    fn check_blocks(&mut self) {
        let mut hints = std::mem::take(&mut self.of_plans);
        hints.retain(|hint| {
            let named = hint.block.iter().chain(hint.tables.iter().filter_map(|table| table.block.as_ref()));
            // The tables of a join order may be of blocks that become a part of this one.
            let is_order = matches!(hint.name, "JOIN_ORDER" | "JOIN_PREFIX" | "JOIN_SUFFIX");
            let missing = named.filter(|_| hint.block.is_some() || !is_order).find(|name| !self.has_block(name));
            let missing = missing.cloned();
            if let Some(name) = &missing {
                let message = || format!("Query block name `{name}` is not found for {} hint", hint.name);
                self.warn(|| SqlError::new(codes::WARN_UNKNOWN_QB_NAME, message()));
            }
            missing.is_none()
        });
        self.of_plans = hints;
    }

    pub(crate) fn has_block(&self, name: &str) -> bool {
        let number = name.strip_prefix("select#").and_then(|number| number.parse().ok());
        self.blocks.iter().any(|(_, other)| other == name)
            || number.is_some_and(|number: usize| (1..=self.block_count).contains(&number))
    }

    /// The hints about a block: those that stand in it and name no other one, and those that name it.
    pub(crate) fn of_block(&self, start: usize, number: u32) -> impl Iterator<Item = &Hint> {
        let is_own = move |name: &str| {
            self.blocks.iter().any(|(at, other)| *at == start && other == name) || name == format!("select#{number}")
        };
        self.of_plans.iter().filter(move |hint| {
            let of_table = hint.tables.first().and_then(|table| table.block.as_deref());
            let of_table = of_table.filter(|_| hint.tables.len() == 1);
            match hint.block.as_deref().or(of_table) {
                Some(name) => is_own(name),
                // Hints of an INSERT are of its SELECT.
                None => hint.start == start || number == 1 && hint.start == self.statement_start,
            }
        })
    }
}

/// The first words of statements that may have hints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Opening {
    Select,
    Insert,
    Change,
}

impl Opening {
    fn of(word: &str) -> Option<Opening> {
        let is = |known: &str| word.eq_ignore_ascii_case(known);
        match () {
            () if is("SELECT") => Some(Opening::Select),
            () if is("INSERT") || is("REPLACE") => Some(Opening::Insert),
            () if is("UPDATE") || is("DELETE") => Some(Opening::Change),
            () => None,
        }
    }
}

/// Whether a hint cannot hold beside another one that came before it.
fn contradict(before: &Hint, hint: &Hint) -> bool {
    if before.start != hint.start || before.block != hint.block {
        return false;
    }
    let (family, without) = family(hint.name);
    let (other, without_before) = self::family(before.name);
    match family {
        // A fixed order leaves nothing to say, and of the others each says its part once.
        "JOIN_FIXED_ORDER" => ["JOIN_FIXED_ORDER", "JOIN_ORDER", "JOIN_PREFIX", "JOIN_SUFFIX"].contains(&other),
        "JOIN_PREFIX" | "JOIN_SUFFIX" => other == family || other == "JOIN_FIXED_ORDER",
        "JOIN_ORDER" => other == "JOIN_FIXED_ORDER",
        "SEMIJOIN" | "SUBQUERY" => ["SEMIJOIN", "SUBQUERY"].contains(&other),
        "INDEX" | "JOIN_INDEX" | "GROUP_INDEX" | "ORDER_INDEX" => {
            let of_same = before.tables == hint.tables && other.ends_with("INDEX");
            of_same && (other == family || (other == "INDEX" || family == "INDEX") && without != without_before)
        }
        _ => other == family && before.tables == hint.tables,
    }
}

/// A hint's name without NO_, and whether that was there.
fn family(name: &'static str) -> (&'static str, bool) {
    match name.strip_prefix("NO_") {
        Some(family) => (family, true),
        None => (name, false),
    }
}

#[cfg(test)]
mod tests;
