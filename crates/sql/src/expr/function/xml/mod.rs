//! EXTRACTVALUE and UPDATEXML: MySQL's own reader of XML and its own part of XPath.
//!
//! ```text
//!   XML ── document: nodes in the order of the text ──┐
//!   XPath ── xpath: an expression over sets of nodes ─┴─ find: the set, or the value ── text, or the text with another part
//! ```
//!
//! What of XPath is computed with values is computed by the same expressions as in SQL, so that numbers, conversions and warnings are those.
//! Entities stay as they are written; a text that is no XML is NULL with a warning (1525), an XPath that is none is error 1105.
//!
//! Invariants: elements are nested in one another [`document::DEPTH_MAX`] deep at most, what an XPath nests and chains is bounded too (1436); a set of
//! nodes may have a node more than once, and is counted as it grows.

mod document;
mod find;
mod xpath;

use std::ops::Range;

use base::{SqlError, codes};
use types::Value;

use self::document::{Document, NodeKind};
use self::find::Finder;
use self::xpath::{Item, XPath};
use super::{Args, FunctionInfo, LONG_TEXT, joined_text, line, some};
use crate::expr::constant::constant;
use crate::expr::context::SessionInfo;
use crate::expr::tree::{Constancy, Expr};
use crate::expr::types::ExprType;

pub(super) static TABLE: &[FunctionInfo] = &[
    line("extractvalue", 2, 2, text_type, extract).joins(0).per_execution(),
    line("updatexml", 3, 3, text_type, update).joins(0).per_execution(),
];

fn text_type(args: &[Expr], session: &SessionInfo) -> ExprType {
    ExprType { length: LONG_TEXT, ..joined_text(args, session) }
}

/// 1105 for an XPath that is another for each row, or that is known to be none.
pub(super) fn check(name: &str, args: &[Expr], session: &SessionInfo) -> Result<(), SqlError> {
    let path = match (name, args) {
        ("extractvalue", [_, path]) | ("updatexml", [_, path, _]) => path,
        _ => return Ok(()),
    };
    if path.constancy() > Constancy::Execution {
        return Err(SqlError::unknown("Only constant XPATH queries are supported"));
    }
    match constant(path, session) {
        Some(value @ (Value::Str(_) | Value::Bytes(_))) => {
            let text = value.as_bytes().map_or(&[][..], |text| text);
            let ty = joined_text(args, session);
            on_stack(text, || XPath::parse(&String::from_utf8_lossy(text), ty.collation, session).map(|_| ()))
        }
        _ => Ok(()),
    }
}

/// Longer paths are read and computed on a large stack.
fn on_stack<R>(path: &[u8], call: impl FnOnce() -> R) -> R {
    const SHORT: usize = 128;
    if path.len() <= SHORT { call() } else { base::on_large_stack(call) }
}

/// NULL with 1525 if it is none.
fn read<'t>(args: &Args<'_>, text: &'t [u8]) -> Result<Option<Document<'t>>, SqlError> {
    args.ctx.worked(text.len() as u64)?;
    match Document::read(text)? {
        Ok(document) => Ok(Some(document)),
        Err(message) => {
            let shown = crate::expr::coerce::printable(message.as_bytes());
            args.ctx.warn(codes::WRONG_VALUE, format!("Incorrect XML value: '{shown}'"));
            Ok(None)
        }
    }
}

fn extract(args: &Args<'_>) -> Result<Value, SqlError> {
    let (text, path) = (some!(args.part(0)?), some!(args.text(1)?));
    on_stack(&path, || {
        let path = XPath::parse(&String::from_utf8_lossy(&path), args.ty.collation, args.ctx.session)?;
        let Some(document) = read(args, &text)? else { return Ok(Value::Null) };
        let finder = Finder { args, document: &document };
        match finder.text(&path)? {
            Some(text) => Ok(args.string(text)),
            None => Ok(Value::Null),
        }
    })
}

fn update(args: &Args<'_>) -> Result<Value, SqlError> {
    let (text, path, new) = (some!(args.part(0)?), some!(args.text(1)?), some!(args.part(2)?));
    let place = on_stack(&path, || -> Result<Option<Range<usize>>, SqlError> {
        let path = XPath::parse(&String::from_utf8_lossy(&path), args.ty.collation, args.ctx.session)?;
        let Some(document) = read(args, &text)? else { return Ok(None) };
        let Item::Set(set) = &path.item else { return Ok(None) };
        let found = Finder { args, document: &document }.set(set, None)?;
        // What is found more than once, or not at all, stays.
        let [member] = found[..] else { return Ok(Some(text.len()..text.len())) };
        let node = document.node(member.node);
        Ok(Some(match node.kind {
            NodeKind::Root => 0..text.len(),
            NodeKind::Attribute => node.begin()..node.tag_end(),
            NodeKind::Element | NodeKind::Text => {
                // As in MySQL, what stands right behind the name at its end is taken for the `>`.
                node.begin() - 1..(node.tag_end() + 1).min(text.len())
            }
        }))
    })?;
    let Some(place) = place else { return Ok(Value::Null) };
    if place.start == text.len() && !text.is_empty() {
        return Ok(args.string(text));
    }
    if let Some(null) = args.too_long((text.len() - place.len() + new.len()) as u64)? {
        return Ok(null);
    }
    Ok(args.string([&text[..place.start], &new[..], &text[place.end..]].concat()))
}
