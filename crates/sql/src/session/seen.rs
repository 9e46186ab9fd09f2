//! Statements that differ from earlier ones in the values of a key only: `SELECT … WHERE id = 17` behind `SELECT … WHERE id = 4`.
//!
//! Most clients send such statements as text. Their text without these values, its *form*, is what PREPARE would be given; a session that
//! sees a form for the second time prepares it, and runs those that follow as an execution of it: they are neither parsed, bound nor planned.
//!
//! # Invariants
//! - A form is kept only if its plan looks one row up by a unique key, each `?` is the whole value of one of its parts, and the column is one
//!   whose values come as such literals: numbers for integers, texts for texts. So no value is seen in a result's description, no other
//!   plan would be chosen for other values, and a value is compared as the literal would be.
//! - What a text means depends on the session's settings and its default database: whoever changes one calls [`Seen::clear`]. A plan that is no
//!   longer current is not run.
//! - What is kept is bounded: [`KNOWN_MAX`] plans and [`FORMS_MAX`] texts of [`LONGEST`] bytes.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use types::{ColumnType, Value};

use crate::expr::ExprKind;
use crate::parse::ParsedStatement;
use crate::plan::access::{IndexAccess, Interval};
use crate::plan::node::{AccessMethod, Node, PlannedSource, QueryBody};
use crate::plan::{Plan, PlanKind};

/// Longer texts have no form, in bytes.
const LONGEST: usize = 512;
/// Plans of one session.
const KNOWN_MAX: usize = 32;
/// Forms of one session.
const FORMS_MAX: usize = 128;

/// A statement's text with `?` in the place of its values.
pub(super) struct Form {
    pub(super) text: String,
    /// [`Value::Int`] and [`Value::Str`], in the order of their `?`.
    pub(super) values: Vec<Value>,
}

impl Form {
    /// The form of a text that may be worth one. Whoever reads it must be sure where literals begin and end: a text with comments, variables, double
    /// quotes or backslashes has none.
    pub(super) fn of(text: &str) -> Option<Form> {
        let is_select = text.get(..6).is_some_and(|word| word.eq_ignore_ascii_case("SELECT"));
        if !is_select || text.len() > LONGEST {
            return None;
        }
        let form = Form { text: String::with_capacity(text.len()), values: Vec::new() };
        Reader { text, at: 0, last_word: "", form }.read().filter(|form| !form.values.is_empty())
    }
}

/// Reads a text from its beginning to its end.
struct Reader<'t> {
    text: &'t str,
    at: usize,
    /// The word that stands directly before.
    last_word: &'t str,
    form: Form,
}

impl<'t> Reader<'t> {
    fn read(mut self) -> Option<Form> {
        while let Some(&byte) = self.text.as_bytes().get(self.at) {
            match byte {
                b'0'..=b'9' => self.number()?,
                b'\'' => self.quoted_text()?,
                b'`' => {
                    let end = self.at + 1 + self.text[self.at + 1..].find('`')?;
                    self.copy(end + 1);
                    self.last_word = "";
                }
                byte if is_word(byte) => {
                    let word = self.while_is(is_word);
                    // A text behind a word without space has a prefix: N'…', x'…'.
                    if self.text.as_bytes().get(word) == Some(&b'\'') {
                        return None;
                    }
                    self.last_word = &self.text[self.at..word];
                    self.copy(word);
                }
                b' ' | b'\t' | b'\n' | b'\r' => self.copy(self.at + 1),
                // Comments, variables, what may be an identifier or a text, parameters, and several statements.
                b'"' | b'\\' | b'@' | b'#' | b'?' | b';' => return None,
                byte => {
                    let next = self.text.as_bytes().get(self.at + 1).copied().unwrap_or_default();
                    if matches!((byte, next), (b'-', b'-') | (b'/', b'*') | (b'.', b'0'..=b'9')) {
                        return None;
                    }
                    self.copy(self.at + 1);
                    self.last_word = "";
                }
            }
        }
        Some(self.form)
    }

    /// Where that ends which goes on as long as `is` says.
    fn while_is(&self, is: fn(u8) -> bool) -> usize {
        let rest = &self.text.as_bytes()[self.at..];
        self.at + rest.iter().position(|byte| !is(*byte)).unwrap_or(rest.len())
    }

    fn copy(&mut self, end: usize) {
        self.form.text.push_str(&self.text[self.at..end]);
        self.at = end;
    }

    fn value(&mut self, value: Value, end: usize) {
        self.form.text.push('?');
        self.form.values.push(value);
        self.at = end;
        self.last_word = "";
    }

    /// Digits alone. Those of LIMIT and OFFSET stay: a plan is made for them.
    fn number(&mut self) -> Option<()> {
        /// Numbers with more digits may be beyond BIGINT.
        const DIGITS_MAX: usize = 18;
        let end = self.while_is(|byte| byte.is_ascii_digit());
        let next = self.text.as_bytes().get(end).copied().unwrap_or_default();
        if is_word(next) || next == b'.' || end - self.at > DIGITS_MAX {
            return None;
        }
        if ["LIMIT", "OFFSET"].iter().any(|word| self.last_word.eq_ignore_ascii_case(word)) {
            self.copy(end);
            self.last_word = "";
            return Some(());
        }
        let number = self.text[self.at..end].parse().ok()?;
        self.value(Value::Int(number), end);
        Some(())
    }

    /// `'…'` without anything that has a meaning of its own.
    fn quoted_text(&mut self) -> Option<()> {
        let rest = &self.text[self.at + 1..];
        let length = rest.find('\'')?;
        let (content, behind) = (&rest[..length], rest.as_bytes().get(length + 1));
        if content.contains('\\') || behind == Some(&b'\'') {
            return None;
        }
        self.value(Value::Str(Bytes::copy_from_slice(content.as_bytes())), self.at + length + 2);
        Some(())
    }
}

/// What an identifier may go on with.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

/// What a session knows of the forms that it has seen.
#[derive(Default)]
pub(super) struct Seen {
    forms: HashMap<String, Entry, foldhash::fast::RandomState>,
    /// How many of them have plans, and what those take, in bytes.
    plans: usize,
    bytes: u64,
}

enum Entry {
    Once,
    /// It has been looked at, and its statements take the usual way.
    Unfit,
    Known(Arc<Known>),
}

/// A form with its plan.
pub(super) struct Known {
    pub(super) parsed: ParsedStatement,
    pub(super) plan: Arc<Plan>,
    /// Of each value, whether it is a text.
    texts: Vec<bool>,
    /// That tree and plan take, about.
    bytes: u64,
}

impl Known {
    /// `None` if the plan is not one that serves all values. `bytes` is what tree and plan take, about.
    pub(super) fn new(parsed: ParsedStatement, plan: Plan, bytes: u64) -> Option<Known> {
        let mut texts = vec![None; parsed.param_count];
        for (number, is_text) in keys(&plan)? {
            *texts.get_mut(number)? = Some(is_text);
        }
        let texts = texts.into_iter().collect::<Option<_>>()?;
        Some(Known { parsed, plan: Arc::new(plan), texts, bytes })
    }
}

impl Seen {
    /// Forgets all: texts may have another meaning now.
    pub(super) fn clear(&mut self) {
        self.forms.clear();
        (self.plans, self.bytes) = (0, 0);
    }

    /// Bytes that it takes, about.
    pub(super) fn held_bytes(&self) -> u64 {
        /// Of a form, about.
        const TEXT: usize = 100;
        self.bytes + (self.forms.len() * (size_of::<(String, Entry)>() + TEXT)) as u64
    }

    /// What the form's statement can be run with.
    pub(super) fn known(&self, form: &Form) -> Option<Arc<Known>> {
        let Entry::Known(known) = self.forms.get(&form.text)? else { return None };
        let fits = known.texts.iter().zip(&form.values).all(|(text, value)| *text == matches!(value, Value::Str(_)));
        fits.then(|| known.clone())
    }

    /// Notes that a form was seen; whether it is now to be looked at, and the answer given to [`Seen::keep`].
    pub(super) fn note(&mut self, form: &Form) -> bool {
        if let Some(entry) = self.forms.get(&form.text) {
            return matches!(entry, Entry::Once);
        }
        if self.forms.len() >= FORMS_MAX {
            self.forms.retain(|_, entry| matches!(entry, Entry::Known(_)));
        }
        self.forms.insert(form.text.clone(), Entry::Once);
        false
    }

    /// Keeps what a form can be run with, or that it cannot.
    pub(super) fn keep(&mut self, form: Form, known: Option<Known>) {
        if self.plans >= KNOWN_MAX {
            self.clear();
        }
        self.forget(&form);
        let entry = match known {
            None => Entry::Unfit,
            Some(known) => {
                self.plans += 1;
                self.bytes += known.bytes;
                Entry::Known(Arc::new(known))
            }
        };
        self.forms.insert(form.text, entry);
    }

    /// Forgets a form whose plan does not hold any more.
    pub(super) fn forget(&mut self, form: &Form) {
        if let Some(Entry::Known(known)) = self.forms.remove(&form.text) {
            self.plans -= 1;
            self.bytes -= known.bytes;
        }
    }
}

/// The parameters that are parts of the one key that a plan looks up, and whether each is a text; `None` of any other plan.
fn keys(plan: &Plan) -> Option<Vec<(usize, bool)>> {
    let PlanKind::Query(query) = &plan.kind else { return None };
    let QueryBody::Block(block) = &query.body else { return None };
    let [table] = &block.tables[..] else { return None };
    let PlannedSource::Base(table) = &table.source else { return None };
    if !query.into.is_empty() || !block.subqueries.is_empty() {
        return None;
    }
    let access = looked_up(&block.root).filter(|access| access.is_single_row())?;
    let mut keys = Vec::with_capacity(access.parts.len());
    for part in &access.parts {
        let [Interval::Point(value)] = &part.intervals[..] else { return None };
        let is_text = match &table.def.columns.get(part.column)?.ty {
            ColumnType::Char { .. } | ColumnType::VarChar { .. } => true,
            ty => ty.integer().map(|_| false)?,
        };
        // A part that is the same for all statements of the form is none of their values.
        match value.kind {
            ExprKind::Param(number) => keys.push((number, is_text)),
            ExprKind::Literal(_) => {}
            _ => return None,
        }
    }
    Some(keys)
}

fn looked_up(node: &Node) -> Option<&IndexAccess> {
    match node {
        Node::Access(node) => match &node.method {
            AccessMethod::Index(access, _) => Some(access),
            AccessMethod::All { .. } => None,
        },
        Node::Limit { input, .. } | Node::Sort { input, .. } | Node::Filter { input, .. } => looked_up(input),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(text: &str) -> Option<(String, Vec<Value>)> {
        Form::of(text).map(|form| (form.text, form.values))
    }

    #[test]
    fn values_leave_the_text() {
        let text = |text: &str| Value::Str(Bytes::copy_from_slice(text.as_bytes()));
        assert_eq!(
            form("select c1, `t 5`.x from t5 where id=17 AND name = 'Grüße' LIMIT 1 OFFSET  0"),
            Some((
                "select c1, `t 5`.x from t5 where id=? AND name = ? LIMIT 1 OFFSET  0".to_owned(),
                vec![Value::Int(17), text("Grüße")]
            ))
        );
        assert_eq!(
            form("SELECT a FROM t WHERE id = -5"),
            Some(("SELECT a FROM t WHERE id = -?".to_owned(), vec![Value::Int(5)]))
        );
    }

    #[test]
    fn what_may_be_read_otherwise_has_no_form() {
        for text in [
            "SELECT 1.5",
            "SELECT 1e5",
            "SELECT 0x10",
            "SELECT .5",
            "SELECT 1234567890123456789",
            "SELECT N'a'",
            "SELECT 'it''s'",
            "SELECT 'a\\'",
            "SELECT 'open",
            "SELECT `open WHERE 1",
            "SELECT \"a\" FROM t WHERE id = 1",
            "SELECT 1 -- x",
            "SELECT 1 # x",
            "SELECT /* x */ 1",
            "SELECT @a, 1",
            "SELECT ? + 1",
            "SELECT 1; SELECT 2",
            "SELECT a FROM t",
            "INSERT INTO t VALUES (1)",
        ] {
            assert_eq!(form(text), None, "{text}");
        }
        assert_eq!(form(&format!("SELECT 1 {}", "a".repeat(LONGEST))), None);
    }
}
