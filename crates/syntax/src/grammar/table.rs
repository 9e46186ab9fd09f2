//! FROM.
//!
//! An inner join may lack its condition, and ON belongs to the nearest join that has none yet. `a JOIN b RIGHT JOIN c ON …` is
//! `(a JOIN b) RIGHT JOIN c ON …`: when the joins without a condition are known, each joins what is on its left with the first table on its right that
//! is not in parentheses. That is what MySQL's grammar does.

use super::{Parser, TABLES_MAX, is, too_many_tables};
use crate::ast::{
    Derived, IndexHint, IndexHintKind, IndexHintScope, Join, JoinCondition, JoinKind, Name, Query, TableFactor,
    TableRef,
};
use crate::error::{ParseError, Parsed};
use crate::span::Span;
use crate::token::Token;
use crate::words::may_be_alias;

/// What is in parentheses in FROM.
enum Inner {
    /// A query, whose alias may follow.
    Query(Box<Query>),
    Tables(TableRef),
}

/// A join whose condition has not come.
struct Open {
    left: TableRef,
    kind: JoinKind,
    span: Span,
}

impl<'a> Parser<'a> {
    /// The tables of FROM; none of `FROM DUAL`.
    pub(super) fn from(&mut self) -> Parsed<Vec<TableRef>> {
        if self.accept("DUAL") {
            return Ok(Vec::new());
        }
        self.table_list()
    }

    /// Tables with commas between them.
    pub(super) fn table_list(&mut self) -> Parsed<Vec<TableRef>> {
        let around = std::mem::take(&mut self.tables);
        let tables = self.list(Self::joined_tables)?;
        self.tables = around;
        Ok(tables)
    }

    /// A table and those that it is joined with.
    fn joined_tables(&mut self) -> Parsed<TableRef> {
        let first = self.table_factor()?;
        self.joins_behind(first)
    }

    /// The joins of a table that was read.
    fn joins_behind(&mut self, first: TableRef) -> Parsed<TableRef> {
        let mut left = first;
        let mut open: Vec<Open> = Vec::new();
        let mut joins = 0;
        loop {
            let start = self.offset();
            if let Some((kind, is_natural)) = self.join_words()? {
                joins += 1;
                self.reach(self.depth + joins)?;
                let span = self.span_from(start);
                if is_natural {
                    let right = self.table_factor()?;
                    left = joined(Open { left, kind, span }, right, JoinCondition::Natural);
                } else {
                    open.push(Open { left, kind, span });
                    left = self.table_factor()?;
                }
            } else if let Some(condition) = self.join_condition(!open.is_empty())? {
                match open.pop() {
                    Some(join) => left = joined(join, left, condition),
                    None => return Err(ParseError::syntax(start)),
                }
            } else {
                break;
            }
        }
        while let Some(join) = open.pop() {
            if matches!(join.kind, JoinKind::Left | JoinKind::Right) {
                return self.unexpected();
            }
            left = crossed(join, left);
        }
        Ok(left)
    }

    /// `[NATURAL] [INNER | CROSS | {LEFT | RIGHT} [OUTER]] JOIN`: the kind, and whether it is NATURAL.
    fn join_words(&mut self) -> Parsed<Option<(JoinKind, bool)>> {
        let Some(word) = self.peek_word() else { return Ok(None) };
        let natural = is(word, "NATURAL");
        self.skip(usize::from(natural));
        let kind = match self.peek_word().unwrap_or_default() {
            word if is(word, "JOIN") => JoinKind::Inner,
            word if is(word, "STRAIGHT_JOIN") && !natural => JoinKind::Straight,
            word if is(word, "INNER") || is(word, "CROSS") && !natural => {
                self.skip(1);
                JoinKind::Inner
            }
            word if (is(word, "LEFT") || is(word, "RIGHT")) && self.peek_at(1) != Some(&Token::LParen) => {
                let kind = if is(word, "LEFT") { JoinKind::Left } else { JoinKind::Right };
                self.skip(1);
                let _ = self.accept("OUTER");
                kind
            }
            _ if natural => return self.unexpected(),
            _ => return Ok(None),
        };
        self.expect(if kind == JoinKind::Straight { "STRAIGHT_JOIN" } else { "JOIN" })?;
        Ok(Some((kind, natural)))
    }

    /// ON or USING, if a join waits for it.
    fn join_condition(&mut self, is_awaited: bool) -> Parsed<Option<JoinCondition>> {
        if !is_awaited {
            return Ok(None);
        }
        if self.accept("ON") {
            return Ok(Some(JoinCondition::On(self.expr()?)));
        }
        if self.accept("USING") {
            return Ok(Some(JoinCondition::Using(self.parenthesized(Self::name)?)));
        }
        Ok(None)
    }

    fn count_table(&mut self) -> Parsed<()> {
        self.tables += 1;
        if self.tables > TABLES_MAX { Err(too_many_tables().into()) } else { Ok(()) }
    }

    fn table_factor(&mut self) -> Parsed<TableRef> {
        if self.next_is(&Token::LParen) {
            return match self.table_parenthesis()? {
                Inner::Query(query) => self.derived(*query, false),
                Inner::Tables(tables) => Ok(tables),
            };
        }
        if self.next_are("LATERAL") && self.peek_at(1) == Some(&Token::LParen) {
            self.skip(1);
            let query = self.subquery()?;
            return self.derived(query, true);
        }
        if self.next_are("JSON_TABLE") && self.peek_at(1) == Some(&Token::LParen) {
            self.skip(1);
            self.count_table()?;
            return self.json_table();
        }
        if self.accept_token(&Token::LBrace) {
            // ODBC's `{OJ a LEFT JOIN b ON …}`
            self.expect("OJ")?;
            self.enter()?;
            let tables = self.joined_tables()?;
            self.leave();
            self.expect_token(&Token::RBrace)?;
            return Ok(TableRef::List(vec![tables]));
        }
        self.count_table()?;
        self.named_table().map(|table| TableRef::Table(Box::new(table)))
    }

    /// `name [PARTITION (…)] [[AS] alias] [hints]`
    pub(super) fn named_table(&mut self) -> Parsed<TableFactor> {
        let name = self.table_path()?;
        let partitions = self.partitions()?;
        if self.next_are("FOR SYSTEM_TIME") {
            return Err(ParseError::not_supported("FOR SYSTEM_TIME"));
        }
        let alias = self.table_alias()?;
        let mut hints = Vec::new();
        while let Some(hint) = self.index_hint()? {
            hints.push(hint);
        }
        if self.next_are("TABLESAMPLE") {
            return Err(ParseError::not_supported("TABLESAMPLE"));
        }
        Ok(TableFactor { name, partitions, alias, hints })
    }

    /// `PARTITION (…)`, if it comes next.
    pub(super) fn partitions(&mut self) -> Parsed<Vec<Name>> {
        if self.accept("PARTITION") { self.parenthesized(Self::name) } else { Ok(Vec::new()) }
    }

    pub(super) fn table_alias(&mut self) -> Parsed<Option<Name>> {
        let is_alias = match self.peek() {
            Some(Token::Name(_)) => true,
            Some(Token::Word(word)) => may_be_alias(word),
            _ => false,
        };
        if self.accept("AS") || is_alias { self.name().map(Some) } else { Ok(None) }
    }

    /// The alias of a query in FROM. Without one it is an error, but of another kind than a syntax error.
    fn derived(&mut self, query: Query, lateral: bool) -> Parsed<TableRef> {
        self.count_table()?;
        let alias = self.table_alias()?;
        let columns = if alias.is_some() { self.names_in_parentheses()? } else { Vec::new() };
        Ok(TableRef::Derived(Box::new(Derived { lateral, query, alias, columns })))
    }

    /// `( query )`, or `( tables )`.
    fn table_parenthesis(&mut self) -> Parsed<Inner> {
        self.expect_token(&Token::LParen)?;
        self.enter()?;
        let inner = if self.begins_query() || self.next_are("VALUES") {
            Inner::Query(Box::new(self.inner_query()?))
        } else if self.next_is(&Token::LParen) {
            match self.table_parenthesis()? {
                Inner::Query(query) if self.continues_query() => Inner::Query(Box::new(self.query_behind(*query)?)),
                Inner::Query(query) if self.next_is(&Token::RParen) => Inner::Query(query),
                Inner::Query(query) => {
                    let first = self.derived(*query, false)?;
                    Inner::Tables(self.tables_behind(first)?)
                }
                Inner::Tables(first) => Inner::Tables(self.tables_behind(first)?),
            }
        } else {
            let first = self.table_factor()?;
            Inner::Tables(self.tables_behind(first)?)
        };
        self.leave();
        self.expect_token(&Token::RParen)?;
        Ok(inner)
    }

    /// The rest of a list in parentheses. One table alone is that table.
    fn tables_behind(&mut self, first: TableRef) -> Parsed<TableRef> {
        let first = self.joins_behind(first)?;
        let tables = self.list_behind(first, Self::joined_tables)?;
        Ok(match <[TableRef; 1]>::try_from(tables) {
            Ok([table @ (TableRef::Table(_) | TableRef::Derived(_) | TableRef::Json(_) | TableRef::List(_))]) => table,
            Ok([join]) => TableRef::List(vec![join]),
            Err(tables) => TableRef::List(tables),
        })
    }

    /// `USE INDEX (…)`, of which several may stand in a row.
    fn index_hint(&mut self) -> Parsed<Option<IndexHint>> {
        let kind = match self.peek_word().unwrap_or_default() {
            word if is(word, "USE") => IndexHintKind::Use,
            word if is(word, "FORCE") => IndexHintKind::Force,
            word if is(word, "IGNORE") => IndexHintKind::Ignore,
            _ => return Ok(None),
        };
        if !self.are_at(1, "INDEX") && !self.are_at(1, "KEY") {
            return Ok(None);
        }
        self.skip(2);
        let scope = match self.accept("FOR") {
            false => None,
            true => Some(match self.expect_one(&["JOIN", "ORDER BY", "GROUP BY"])? {
                "JOIN" => IndexHintScope::Join,
                "ORDER BY" => IndexHintScope::OrderBy,
                _ => IndexHintScope::GroupBy,
            }),
        };
        let indexes = match kind {
            IndexHintKind::Use => self.parenthesized_if_any(Self::index_name)?,
            _ => self.parenthesized(Self::index_name)?,
        };
        Ok(Some(IndexHint { kind, scope, indexes }))
    }

    fn index_name(&mut self) -> Parsed<Name> {
        if self.next_are("PRIMARY") { self.any_name() } else { self.name() }
    }
}

fn joined(join: Open, right: TableRef, condition: JoinCondition) -> TableRef {
    let Open { left, kind, span } = join;
    TableRef::Join(Box::new(Join { left, right, kind, condition, span }))
}

/// A join without a condition, put in front of the first table of what is on its right.
fn crossed(join: Open, mut right: TableRef) -> TableRef {
    let mut first = &mut right;
    while let TableRef::Join(next) = first {
        first = &mut next.left;
    }
    let table = std::mem::replace(first, TableRef::List(Vec::new()));
    *first = joined(join, table, JoinCondition::None);
    right
}
