//! Queries.
//!
//! A query in parentheses may be all of an operand, of a part of FROM, or the first branch of a longer query: what stands behind it tells. So
//! [`Parser::query_behind`] goes on with a query that is read already.

use base::{SqlError, codes};

use super::{Parser, SELECTS_MAX, is, too_many_selects};
use crate::ast::{
    Body, Cte, Expr, ExprKind, GroupBy, Into, IntoTarget, Limit, Lock, LockWait, Mention, Name, OrderItem, Place,
    Query, Select, SelectItem, SelectOptions, SetBranch, SetOp, TableFactor, TablePath, TableRef, With,
};
use crate::error::{ParseError, Parsed};
use crate::token::Token;
use crate::words::{may_be_alias, may_be_name};

/// 3954
fn misplaced_into() -> ParseError {
    let message =
        "Misplaced INTO clause, INTO is not allowed inside subqueries, and must be placed at end of UNION clauses.";
    SqlError::new(codes::MISPLACED_INTO, message).into()
}

impl<'a> Parser<'a> {
    /// A query: SELECT, WITH, VALUES, TABLE, or one in parentheses.
    ///
    /// # Errors
    /// 1064 if there is none, 1436 if it is too deep, 1473 for queries in queries beyond [`SELECTS_MAX`], 1116 for tables beyond
    /// [`super::TABLES_MAX`], 3954 for an INTO that is not at its end.
    pub fn query(&mut self) -> Parsed<Query> {
        let with = self.with()?;
        self.query_with(with)
    }

    /// The same behind its WITH.
    ///
    /// # Errors
    /// As of [`Parser::query`].
    pub fn query_with(&mut self, with: Option<With>) -> Parsed<Query> {
        self.enter()?;
        let start = self.offset();
        let body = self.body()?;
        let query = self.tail(with, body, start)?;
        self.leave();
        Ok(query)
    }

    /// A query within another statement, which cannot have an INTO.
    pub(super) fn inner_query(&mut self) -> Parsed<Query> {
        let query = self.query()?;
        if has_into(&query) { Err(misplaced_into()) } else { Ok(query) }
    }

    /// Whether a query begins here, apart from one in parentheses.
    pub(super) fn begins_query(&self) -> bool {
        match self.peek_word() {
            Some(word) if is(word, "SELECT") || is(word, "WITH") => true,
            Some(word) if is(word, "TABLE") => matches!(self.peek_at(1), Some(Token::Word(_) | Token::Name(_))),
            Some(word) if is(word, "VALUES") => self.begins_values(),
            _ => false,
        }
    }

    /// Whether what comes next is `VALUES ROW(…)`; `VALUES (…)` is a function.
    fn begins_values(&self) -> bool {
        self.are_at(1, "ROW") && self.peek_at(2) == Some(&Token::LParen)
    }

    /// Whether a query in parentheses, which was read, is the first branch of another one, or has clauses behind it.
    pub(super) fn continues_query(&self) -> bool {
        const WORDS: [&str; 8] = ["UNION", "EXCEPT", "INTERSECT", "ORDER", "LIMIT", "FOR", "LOCK", "INTO"];
        self.peek_word().is_some_and(|word| WORDS.iter().any(|known| is(word, known)))
    }

    /// What a query in parentheses, which was read, is part of; itself if nothing is behind it.
    pub(super) fn whole_query(&mut self, first: Query) -> Parsed<Query> {
        if self.continues_query() { self.query_behind(first) } else { Ok(first) }
    }

    /// The query that begins with one in parentheses, which was read.
    pub(super) fn query_behind(&mut self, first: Query) -> Parsed<Query> {
        self.enter()?;
        let start = first.span.start as usize;
        let first = Body::Query(Box::new(first));
        let first = self.set_branches(first, SetOp::Intersect)?;
        let body = self.set_branches(first, SetOp::Union)?;
        let query = self.tail(None, body, start)?;
        self.leave();
        if has_into(&query) { Err(misplaced_into()) } else { Ok(query) }
    }

    /// `( query )`, the parentheses more than once, too.
    pub(super) fn subquery(&mut self) -> Parsed<Query> {
        self.expect_token(&Token::LParen)?;
        self.enter()?;
        let query = if self.next_is(&Token::LParen) {
            let first = self.subquery()?;
            self.whole_query(first)?
        } else if self.begins_query() || self.next_are("VALUES") {
            self.inner_query()?
        } else {
            return self.unexpected();
        };
        self.leave();
        self.expect_token(&Token::RParen)?;
        Ok(query)
    }

    /// WITH, if it comes next.
    ///
    /// # Errors
    /// As of [`Parser::query`].
    pub fn with(&mut self) -> Parsed<Option<With>> {
        if !self.accept("WITH") {
            return Ok(None);
        }
        self.has_with = true;
        // It may be a name, too.
        let names_cte = match self.peek_at(1) {
            Some(Token::Word(word)) => !is(word, "AS"),
            next => matches!(next, Some(Token::Name(_))),
        };
        let recursive = names_cte && self.next_are("RECURSIVE");
        self.skip(usize::from(recursive));
        let ctes = self.list(|parser| {
            let name = parser.name()?;
            let columns = parser.names_in_parentheses()?;
            parser.expect("AS")?;
            Ok(Cte { name, columns, query: parser.subquery()? })
        })?;
        if self.next_are("CYCLE") {
            return Err(ParseError::not_supported("CYCLE … RESTRICT"));
        }
        Ok(Some(With { recursive, ctes }))
    }

    fn body(&mut self) -> Parsed<Body> {
        let first = self.intersection()?;
        self.set_branches(first, SetOp::Union)
    }

    fn intersection(&mut self) -> Parsed<Body> {
        let first = self.branch()?;
        self.set_branches(first, SetOp::Intersect)
    }

    /// The branches behind a first one: those of INTERSECT, or those of UNION and EXCEPT, which are of INTERSECTs.
    fn set_branches(&mut self, first: Body, of: SetOp) -> Parsed<Body> {
        let mut branches: Vec<SetBranch> = Vec::new();
        while let Some(op) = self.next_set_operator().filter(|op| (*op == SetOp::Intersect) == (of == SetOp::Intersect))
        {
            self.skip(1);
            let all = self.accept("ALL");
            let _ = !all && self.accept("DISTINCT");
            base::memory::check_room(&branches, 1)?;
            let body = if of == SetOp::Intersect { self.branch()? } else { self.intersection()? };
            branches.push(SetBranch { op, all, body });
        }
        if branches.is_empty() {
            return Ok(first);
        }
        // Only what is around all of them, or behind the last one, may have an INTO.
        let before = branches.iter().rev().skip(1).map(|branch| &branch.body).chain([&first]);
        if before.into_iter().any(body_has_into) {
            return Err(misplaced_into());
        }
        Ok(Body::Set(Box::new(first), branches))
    }

    fn next_set_operator(&self) -> Option<SetOp> {
        match self.peek_word()? {
            word if is(word, "UNION") => Some(SetOp::Union),
            word if is(word, "EXCEPT") => Some(SetOp::Except),
            word if is(word, "INTERSECT") => Some(SetOp::Intersect),
            _ => None,
        }
    }

    /// An operand of UNION and its kin.
    fn branch(&mut self) -> Parsed<Body> {
        if self.next_is(&Token::LParen) {
            return Ok(Body::Query(Box::new(self.outer_parentheses()?)));
        }
        if self.next_are("SELECT") {
            return Ok(Body::Select(Box::new(self.select()?)));
        }
        if self.accept("TABLE") {
            return Ok(Body::Select(Box::new(self.whole_table()?)));
        }
        self.expect("VALUES")?;
        let rows = self.list(|parser| {
            let _ = parser.accept("ROW");
            parser.parenthesized_if_any(Self::expr)
        })?;
        Ok(Body::Values(rows))
    }

    /// The name behind TABLE, as `SELECT * FROM name`.
    fn whole_table(&mut self) -> Parsed<Select> {
        let name = self.table_path()?;
        let table = TableFactor { name, partitions: Vec::new(), alias: None, hints: Vec::new() };
        let from = vec![TableRef::Table(Box::new(table))];
        Ok(Select { items: vec![SelectItem::Star], from, ..Select::default() })
    }

    /// A query in parentheses, as all of a statement or of a branch: it may have an INTO.
    fn outer_parentheses(&mut self) -> Parsed<Query> {
        self.expect_token(&Token::LParen)?;
        let query = self.query()?;
        self.expect_token(&Token::RParen)?;
        Ok(query)
    }

    /// What may stand behind a query's body.
    fn tail(&mut self, with: Option<With>, mut body: Body, start: usize) -> Parsed<Query> {
        let order_by = self.order_by()?;
        if self.next_are("PROCEDURE") {
            return Err(ParseError::not_supported("PROCEDURE ANALYSE"));
        }
        let limit = self.limit_clause()?;
        let mut into = self.targets_clause()?;
        let mut locks = Vec::new();
        while let Some(lock) = self.lock()? {
            locks.push(lock);
        }
        if into.is_none() {
            into = self.targets_clause()?;
        }
        if into.is_some() && body_has_into(&body) {
            return Err(misplaced_into());
        }
        if let Body::Set(_, branches) = &mut body
            && let Some(SetBranch { body: Body::Select(last), .. }) = branches.last_mut()
        {
            // It is about all branches.
            into = into.or(last.into.take());
        }
        Ok(Query { with, body, order_by, limit, into, locks, span: self.span_from(start) })
    }

    /// ORDER BY, if it comes next.
    pub(super) fn order_by(&mut self) -> Parsed<Vec<OrderItem>> {
        if self.accept("ORDER BY") { self.list(Self::order_item) } else { Ok(Vec::new()) }
    }

    pub(super) fn order_item(&mut self) -> Parsed<OrderItem> {
        let expr = self.expr()?;
        let descending = self.accept("DESC");
        let _ = !descending && self.accept("ASC");
        Ok(OrderItem { expr, descending })
    }

    pub(super) fn limit_clause(&mut self) -> Parsed<Option<Limit>> {
        if !self.accept("LIMIT") {
            let begins_fetch = self.next_are("FETCH") || self.next_are("OFFSET");
            return if begins_fetch { Err(ParseError::not_supported("OFFSET … FETCH")) } else { Ok(None) };
        }
        let first = self.row_count()?;
        if self.accept_token(&Token::Comma) {
            return Ok(Some(Limit { count: self.row_count()?, offset: Some(first) }));
        }
        let offset = if self.accept("OFFSET") { Some(self.row_count()?) } else { None };
        if self.next_are("ROWS EXAMINED") {
            return Err(ParseError::not_supported("LIMIT ROWS EXAMINED"));
        }
        Ok(Some(Limit { count: first, offset }))
    }

    /// A number, a parameter, or a variable of a program.
    pub(super) fn row_count(&mut self) -> Parsed<Expr> {
        let count = match self.peek() {
            Some(Token::Number(_) | Token::Param(_) | Token::Hex(_) | Token::Bits(_)) => self.operand(),
            Some(Token::Word(word)) if may_be_name(word) => self.operand(),
            Some(Token::Name(_)) => self.operand(),
            _ => self.unexpected(),
        }?;
        if let ExprKind::Column(variable) = &count.kind {
            self.mention(Mention::Limit(variable.clone()))?;
        }
        Ok(count)
    }

    fn targets_clause(&mut self) -> Parsed<Option<Into>> {
        let start = self.offset();
        if !self.accept("INTO") {
            return Ok(None);
        }
        for file in ["OUTFILE", "DUMPFILE"] {
            if self.next_are(file) && matches!(self.peek_at(1), Some(Token::Text(_))) {
                return Err(ParseError::not_supported(format_args!("SELECT … INTO {file}")));
            }
        }
        let span = self.span_from(start);
        let targets = self.list(|parser| match parser.accept_variable() {
            Some(name) => Ok(IntoTarget::Variable(name.into())),
            None => parser.local_target(),
        })?;
        Ok(Some(Into { targets, span }))
    }

    /// A variable of a program, or a field of one, where a value goes.
    fn local_target(&mut self) -> Parsed<IntoTarget> {
        let name = self.name()?;
        self.mention(Mention::Into(name.clone()))?;
        match self.accept_token(&Token::Period) {
            true => Ok(IntoTarget::Field(name, self.any_name()?)),
            false => Ok(IntoTarget::Local(name)),
        }
    }

    fn lock(&mut self) -> Parsed<Option<Lock>> {
        if self.accept("LOCK IN SHARE MODE") {
            let wait = self.lock_wait()?;
            return Ok(Some(Lock { exclusive: false, of: Vec::new(), wait }));
        }
        if !self.accept("FOR") {
            return Ok(None);
        }
        let exclusive = self.expect_one(&["UPDATE", "SHARE"])? == "UPDATE";
        let of: Vec<TablePath> = if self.accept("OF") { self.list(Self::table_path)? } else { Vec::new() };
        let wait = self.lock_wait()?;
        Ok(Some(Lock { exclusive, of, wait }))
    }

    fn lock_wait(&mut self) -> Parsed<LockWait> {
        if self.accept("NOWAIT") {
            return Ok(LockWait::NoWait);
        }
        if self.accept("SKIP LOCKED") {
            return Ok(LockWait::SkipLocked);
        }
        if self.accept("WAIT") {
            return Ok(LockWait::Seconds(self.number()?));
        }
        Ok(LockWait::Default)
    }

    /// SELECT up to what a query may have behind its body.
    fn select(&mut self) -> Parsed<Select> {
        let start = Place(self.offset());
        self.expect("SELECT")?;
        self.selects += 1;
        if self.selects > SELECTS_MAX + 1 {
            return Err(too_many_selects().into());
        }
        self.enter()?;
        let mut select = Select { start, options: self.select_options()?, ..Select::default() };
        select.items = self.select_items()?;
        select.into = self.targets_clause()?;
        if self.accept("FROM") {
            select.from = self.from()?;
        }
        select.filter = self.expr_behind("WHERE")?;
        select.group_by = self.group_by()?;
        select.having = self.expr_behind("HAVING")?;
        if self.accept("WINDOW") {
            select.windows = self.list(Self::named_window)?;
        }
        select.qualify = self.expr_behind("QUALIFY")?;
        self.leave();
        self.selects -= 1;
        Ok(select)
    }

    /// The expression behind a word, if that comes next: WHERE and its kin.
    pub(super) fn expr_behind(&mut self, word: &str) -> Parsed<Option<Expr>> {
        if self.accept(word) { self.expr().map(Some) } else { Ok(None) }
    }

    fn select_options(&mut self) -> Parsed<SelectOptions> {
        let mut options = SelectOptions::default();
        let mut all = false;
        loop {
            match self.peek_word().unwrap_or_default() {
                word if is(word, "ALL") => all = true,
                word if is(word, "DISTINCT") || is(word, "DISTINCTROW") => options.distinct = true,
                word if is(word, "HIGH_PRIORITY") => options.high_priority = true,
                word if is(word, "STRAIGHT_JOIN") => options.straight_join = true,
                word if is(word, "SQL_SMALL_RESULT") => options.small_result = true,
                word if is(word, "SQL_BIG_RESULT") => options.big_result = true,
                word if is(word, "SQL_BUFFER_RESULT") => options.buffer_result = true,
                word if is(word, "SQL_CALC_FOUND_ROWS") => options.calc_found_rows = true,
                // Elsewhere it is a name.
                word if is(word, "SQL_NO_CACHE") => {
                    if matches!(self.peek_at(1), None | Some(Token::Comma | Token::RParen | Token::Period)) {
                        break;
                    }
                    options.no_cache = true;
                }
                _ => break,
            }
            self.skip(1);
        }
        if all && options.distinct {
            let message = "Incorrect usage of ALL and DISTINCT";
            return Err(SqlError::new(codes::WRONG_USAGE, message).into());
        }
        Ok(options)
    }

    /// A select list, and that of RETURNING.
    ///
    /// # Errors
    /// 1064 if it is none, and as of [`Parser::expr`].
    pub fn select_items(&mut self) -> Parsed<Vec<SelectItem>> {
        let first = if self.accept_token(&Token::Star) { SelectItem::Star } else { self.select_item()? };
        self.list_behind(first, Self::select_item)
    }

    fn select_item(&mut self) -> Parsed<SelectItem> {
        if let Some(star) = self.table_star()? {
            return Ok(star);
        }
        let expr = self.expr()?;
        Ok(SelectItem::Expr { expr, alias: self.item_alias()? })
    }

    /// `table.*`, `database.table.*`
    fn table_star(&mut self) -> Parsed<Option<SelectItem>> {
        let is_name = |token: Option<&Token<'_>>| matches!(token, Some(Token::Word(_) | Token::Name(_)));
        let is = |ahead: usize, token: &Token<'_>| self.peek_at(ahead) == Some(token);
        if !is_name(self.peek()) || !is(1, &Token::Period) {
            return Ok(None);
        }
        let parts = match is(2, &Token::Star) {
            true => 1,
            false if is_name(self.peek_at(2)) && is(3, &Token::Period) && is(4, &Token::Star) => 2,
            false => return Ok(None),
        };
        let mut path = TablePath { schema: None, name: self.any_name()? };
        self.skip(1);
        if parts == 2 {
            path = TablePath { schema: Some(path.name), name: self.any_name()? };
            self.skip(1);
        }
        self.skip(1);
        Ok(Some(SelectItem::TableStar(path)))
    }

    /// `[AS] name`, `[AS] 'name'`
    fn item_alias(&mut self) -> Parsed<Option<Name>> {
        let is_announced = self.accept("AS");
        let is_name = match self.peek() {
            Some(Token::Text(_) | Token::Name(_)) => true,
            Some(Token::Word(word)) => may_be_alias(word),
            _ => false,
        };
        match is_announced || is_name {
            false => Ok(None),
            true if matches!(self.peek(), Some(Token::Text(_))) => self.collation().map(Some),
            true => self.name().map(Some),
        }
    }

    fn group_by(&mut self) -> Parsed<Option<GroupBy>> {
        if !self.accept("GROUP BY") {
            return Ok(None);
        }
        if self.next_are("ROLLUP") && self.peek_at(1) == Some(&Token::LParen) {
            self.skip(1);
            return Ok(Some(GroupBy { keys: self.parenthesized(Self::expr)?, rollup: true }));
        }
        for (words, what) in [("CUBE", "GROUP BY CUBE"), ("GROUPING SETS", "GROUP BY GROUPING SETS")] {
            if self.next_are(words) && self.peek_at(words.split(' ').count()) == Some(&Token::LParen) {
                return Err(ParseError::not_supported(what));
            }
        }
        let keys = self.list(|parser| {
            let key = parser.expr()?;
            if parser.next_are("ASC") || parser.next_are("DESC") {
                return Err(ParseError::not_supported("ASC and DESC in GROUP BY"));
            }
            Ok(key)
        })?;
        Ok(Some(GroupBy { keys, rollup: self.accept("WITH ROLLUP") }))
    }
}

/// Whether a query has an INTO, wherever that may be.
pub(crate) fn has_into(query: &Query) -> bool {
    query.into.is_some() || body_has_into(&query.body)
}

/// Whether a body has an INTO: its own, or that of the query in its parentheses.
fn body_has_into(body: &Body) -> bool {
    match body {
        Body::Select(select) => select.into.is_some(),
        Body::Query(query) => has_into(query),
        Body::Set(_, branches) => branches.last().is_some_and(|branch| body_has_into(&branch.body)),
        Body::Values(_) => false,
    }
}
