//! The grammar of hints, as MySQL's.
//!
//! | form | hints |
//! |---|---|
//! | `([@block] [table, …])`, `(table@block, …)` | those of tables |
//! | `([@block] table [index, …])`, `(table@block [index, …])` | those of indexes |
//! | `([@block])` | JOIN_FIXED_ORDER |
//! | `([@block] [strategy, …])` | SEMIJOIN, NO_SEMIJOIN, SUBQUERY |
//! | a number, `name = value`, a name | MAX_EXECUTION_TIME, SET_VAR, QB_NAME and RESOURCE_GROUP |

use std::fmt;

use syntax::lexer::lex;
use syntax::token::{Token, TokenAt};
use types::SqlMode;

use super::{Hint, HintedTable, SetVar};

/// What stands in a hint's parentheses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Tables,
    Order,
    Indexes,
    Block,
    Strategies(&'static [&'static str]),
    Milliseconds,
    Variable,
    Name,
}

const SEMIJOINS: &[&str] = &["DUPSWEEDOUT", "FIRSTMATCH", "LOOSESCAN", "MATERIALIZATION"];
const SUBQUERIES: &[&str] = &["INTOEXISTS", "MATERIALIZATION"];

/// All hints there are.
const ALL: &[(&str, Form)] = &[
    ("BKA", Form::Tables),
    ("NO_BKA", Form::Tables),
    ("BNL", Form::Tables),
    ("NO_BNL", Form::Tables),
    ("DERIVED_CONDITION_PUSHDOWN", Form::Tables),
    ("NO_DERIVED_CONDITION_PUSHDOWN", Form::Tables),
    ("HASH_JOIN", Form::Tables),
    ("NO_HASH_JOIN", Form::Tables),
    ("MERGE", Form::Tables),
    ("NO_MERGE", Form::Tables),
    ("GROUP_INDEX", Form::Indexes),
    ("NO_GROUP_INDEX", Form::Indexes),
    ("INDEX", Form::Indexes),
    ("NO_INDEX", Form::Indexes),
    ("INDEX_MERGE", Form::Indexes),
    ("NO_INDEX_MERGE", Form::Indexes),
    ("JOIN_INDEX", Form::Indexes),
    ("NO_JOIN_INDEX", Form::Indexes),
    ("MRR", Form::Indexes),
    ("NO_MRR", Form::Indexes),
    ("NO_ICP", Form::Indexes),
    ("NO_RANGE_OPTIMIZATION", Form::Indexes),
    ("ORDER_INDEX", Form::Indexes),
    ("NO_ORDER_INDEX", Form::Indexes),
    ("SKIP_SCAN", Form::Indexes),
    ("NO_SKIP_SCAN", Form::Indexes),
    ("JOIN_FIXED_ORDER", Form::Block),
    ("JOIN_ORDER", Form::Order),
    ("JOIN_PREFIX", Form::Order),
    ("JOIN_SUFFIX", Form::Order),
    ("SEMIJOIN", Form::Strategies(SEMIJOINS)),
    ("NO_SEMIJOIN", Form::Strategies(SEMIJOINS)),
    ("SUBQUERY", Form::Strategies(SUBQUERIES)),
    ("MAX_EXECUTION_TIME", Form::Milliseconds),
    ("SET_VAR", Form::Variable),
    ("QB_NAME", Form::Name),
    ("RESOURCE_GROUP", Form::Name),
];

/// A hint as it was written.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) name: &'static str,
    pub(super) arguments: Arguments,
}

#[derive(Debug)]
pub(super) enum Arguments {
    Milliseconds(u32),
    Variable(SetVar),
    Name(String),
    OfPlan { block: Option<String>, tables: Vec<HintedTable>, words: Vec<String> },
}

/// What is wrong with a comment, and where in it; nowhere is its end.
#[derive(Debug)]
pub(super) struct Wrong {
    pub(super) at: Option<usize>,
    pub(super) message: Option<&'static str>,
}

/// Reads a comment: its hints up to what is wrong with it.
pub(super) fn read(comment: &str) -> (Vec<Written>, Option<Wrong>) {
    let Ok(lexed) = lex(comment, SqlMode::default()) else {
        return (Vec::new(), Some(Wrong { at: Some(0), message: None }));
    };
    let mut cursor = Cursor { tokens: &lexed.tokens, at: 0 };
    let mut hints = Vec::new();
    if lexed.tokens.is_empty() {
        return (hints, Some(Wrong { at: None, message: None }));
    }
    while cursor.peek().is_some() {
        match cursor.hint() {
            Ok(hint) => hints.push(hint),
            Err(wrong) => return (hints, Some(wrong)),
        }
    }
    (hints, None)
}

struct Cursor<'t> {
    tokens: &'t [TokenAt<'t>],
    at: usize,
}

impl<'t> Cursor<'t> {
    fn peek(&self) -> Option<&'t Token<'t>> {
        self.tokens.get(self.at).map(|token| &token.token)
    }

    fn wrong<T>(&self) -> Result<T, Wrong> {
        Err(Wrong { at: self.tokens.get(self.at).map(|token| token.span.start as usize), message: None })
    }

    fn accept(&mut self, token: &Token<'_>) -> bool {
        let is_it = self.peek() == Some(token);
        self.at += usize::from(is_it);
        is_it
    }

    fn expect(&mut self, token: &Token<'_>) -> Result<(), Wrong> {
        if self.accept(token) { Ok(()) } else { self.wrong() }
    }

    fn name(&mut self) -> Result<String, Wrong> {
        let name = match self.peek() {
            // The name of a hint is a word of its own.
            Some(Token::Word(word)) if known(word).is_none() => (*word).to_owned(),
            Some(Token::Name(name)) => name.clone().into_owned(),
            _ => return self.wrong(),
        };
        self.at += 1;
        Ok(name)
    }

    fn block(&mut self) -> Option<String> {
        let Some(Token::Variable(name)) = self.peek() else { return None };
        self.at += 1;
        Some(name.clone().into_owned())
    }

    fn hint(&mut self) -> Result<Written, Wrong> {
        let found = match self.peek() {
            Some(Token::Word(word)) => known(word),
            _ => None,
        };
        let Some(&(name, form)) = found else { return self.wrong() };
        self.at += 1;
        self.expect(&Token::LParen)?;
        let arguments = self.arguments(form)?;
        self.expect(&Token::RParen)?;
        Ok(Written { name, arguments })
    }

    fn arguments(&mut self, form: Form) -> Result<Arguments, Wrong> {
        match form {
            Form::Milliseconds => return self.milliseconds(),
            Form::Variable => return self.variable(),
            Form::Name => return Ok(Arguments::Name(self.name()?)),
            Form::Tables | Form::Order | Form::Indexes | Form::Block | Form::Strategies(_) => {}
        }
        let block = self.block();
        let is_own = block.is_none();
        let is_empty = self.peek() == Some(&Token::RParen);
        let (mut tables, mut words) = (Vec::new(), Vec::new());
        match form {
            Form::Tables | Form::Order if !is_empty => tables = self.list(|cursor| cursor.table(is_own))?,
            Form::Indexes => {
                tables.push(self.table(is_own)?);
                if self.peek() != Some(&Token::RParen) {
                    words = self.list(Cursor::name)?;
                }
            }
            Form::Strategies(known) if !is_empty || known.len() == SUBQUERIES.len() => {
                words = self.list(|cursor| cursor.strategy(known))?;
            }
            _ => {}
        }
        Ok(Arguments::OfPlan { block, tables, words })
    }

    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Result<T, Wrong>) -> Result<Vec<T>, Wrong> {
        let mut items = vec![item(self)?];
        while self.accept(&Token::Comma) {
            items.push(item(self)?);
        }
        Ok(items)
    }

    fn table(&mut self, may_name_block: bool) -> Result<HintedTable, Wrong> {
        let name = self.name()?;
        Ok(HintedTable { name, block: if may_name_block { self.block() } else { None } })
    }

    fn strategy(&mut self, known: &[&str]) -> Result<String, Wrong> {
        let Some(Token::Word(word)) = self.peek() else { return self.wrong() };
        match known.iter().find(|strategy| strategy.eq_ignore_ascii_case(word)) {
            Some(strategy) => {
                self.at += 1;
                Ok((*strategy).to_owned())
            }
            None => self.wrong(),
        }
    }

    fn milliseconds(&mut self) -> Result<Arguments, Wrong> {
        let Some(Token::Number(digits)) = self.peek() else { return self.wrong() };
        if !digits.bytes().all(|digit| digit.is_ascii_digit()) {
            return self.wrong();
        }
        self.at += 1;
        match digits.parse() {
            Ok(milliseconds) => Ok(Arguments::Milliseconds(milliseconds)),
            Err(_) => {
                self.wrong().map_err(|wrong: Wrong| Wrong { message: Some("Unsupported MAX_EXECUTION_TIME"), ..wrong })
            }
        }
    }

    fn variable(&mut self) -> Result<Arguments, Wrong> {
        // A setting may be called as a hint is.
        let Some(Token::Word(name)) = self.peek() else { return self.wrong() };
        let name = (*name).to_owned();
        self.at += 1;
        self.expect(&Token::Eq)?;
        let (value, is_text) = match self.peek() {
            Some(Token::Number(digits)) => ((*digits).to_owned(), false),
            Some(Token::Word(word)) => ((*word).to_owned(), false),
            Some(Token::Name(name)) => (name.clone().into_owned(), false),
            Some(Token::Text(text)) => (text.clone().into_owned(), true),
            _ => return self.wrong(),
        };
        self.at += 1;
        Ok(Arguments::Variable(SetVar { name, value, is_text }))
    }
}

fn known(word: &str) -> Option<&'static (&'static str, Form)> {
    ALL.iter().find(|(name, _)| name.eq_ignore_ascii_case(word))
}

impl Written {
    pub(super) fn of_plan(hint: &Hint) -> Written {
        let (block, tables, words) = (hint.block.clone(), hint.tables.clone(), hint.words.clone());
        Written { name: hint.name, arguments: Arguments::OfPlan { block, tables, words } }
    }
}

/// As MySQL's warnings show it.
impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let form = known(self.name).map(|(_, form)| *form);
        write!(f, "{}(", self.name)?;
        match &self.arguments {
            Arguments::Milliseconds(milliseconds) => write!(f, "{milliseconds})"),
            Arguments::Name(name) => write!(f, "`{name}`)"),
            Arguments::Variable(SetVar { name, value, is_text: true }) => write!(f, "{name}='{value}') "),
            Arguments::Variable(SetVar { name, value, is_text: false }) => write!(f, "{name}={value}) "),
            Arguments::OfPlan { block, tables, words } => {
                if let Some(block) = block {
                    write!(f, "@`{block}` ")?;
                }
                let tables: Vec<String> = tables.iter().map(ToString::to_string).collect();
                let quoted =
                    |word: &String| if form == Some(Form::Indexes) { format!("`{word}`") } else { word.clone() };
                let words: Vec<String> = words.iter().map(quoted).collect();
                let space = if words.is_empty() { "" } else { " " };
                match form {
                    Some(Form::Order) => write!(f, " {})", tables.join(",")),
                    _ if block.is_some() => write!(f, "{}{space}{})", tables.join(","), words.join(", ")),
                    _ => write!(f, "{} {space}{})", tables.join(","), words.join(", ")),
                }
            }
        }
    }
}

impl fmt::Display for HintedTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.name)?;
        self.block.as_ref().map_or(Ok(()), |block| write!(f, "@`{block}`"))
    }
}
