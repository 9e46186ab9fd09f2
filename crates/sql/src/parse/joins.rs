//! FROM as MySQL reads it, put in words that `sqlparser` reads in the same way.
//!
//! An inner join may lack its condition, and ON belongs to the nearest join that has none yet. So `a JOIN b RIGHT JOIN c ON …` might be
//! `a JOIN (b RIGHT JOIN c ON …)`; it is `(a JOIN b) RIGHT JOIN c ON …`. `sqlparser` makes the first of it, with a nested join where the second
//! has parentheses, so here joins in real parentheses get an alias that no statement can write ([`PARENTHESES`]), and the binder joins those
//! without it from left to right.
//!
//! | form | becomes |
//! |---|---|
//! | `a JOIN (b JOIN c)` | `a JOIN (b JOIN c) AS` the mark |
//! | `(a)`, `((a JOIN b))` | without the parentheses |
//! | `(a, b LEFT JOIN c ON …)`, `UPDATE a, b SET` | CROSS JOIN for the comma, parentheses around what it joins |
//! | `SELECT 1 FOR UPDATE`, `SELECT 1 ON DUPLICATE KEY UPDATE …` | FROM DUAL before what follows |
//! | `a LEFT JOIN b` without ON or USING | 1064 |
//! | more tables than a join may have | 1116, before anything recurses over them |

use base::{SqlError, codes};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

use super::error::ParseError;
use super::{Parsed, range};
use crate::plan::conditions::TABLES_MAX;

/// The alias of a join in parentheses that stands on the right side of another.
pub(crate) const PARENTHESES: &str = "\0()";

/// What is known of the tokens between two parentheses, or of the statement.
#[derive(Default)]
struct Level {
    /// SELECT or DELETE was read: a FROM is a clause.
    is_query: bool,
    /// A clause behind the select list was read.
    has_clause: bool,
    /// In FROM, or where a statement names its tables without that word.
    in_from: bool,
    /// A table or a parenthesis comes next.
    wants_table: bool,
    /// The place of the parenthesis, if it is one around tables.
    opened: Option<usize>,
    /// It stands right behind the word JOIN.
    is_joined: bool,
    /// Commas between tables have to be written as joins.
    rewrites_commas: bool,
    /// There is more than one table between the parentheses.
    joins: bool,
    tables: usize,
    /// Joins that have no condition yet; whether each needs one.
    open_joins: Vec<bool>,
    /// The last comma, and whether there is a join behind it.
    comma: Option<(usize, bool)>,
}

/// Rewrites all of a statement's tokens.
pub(super) fn prepare(all: &mut Vec<TokenWithSpan>, from: usize) -> Parsed<()> {
    let mut pass = Pass { edits: Vec::new(), levels: vec![Level::default()] };
    for place in from..all.len() {
        pass.token(all, place, from)?;
    }
    let end = all.last().map_or(0, |last| range(last.span).end);
    pass.end_from(all.len(), end)?;
    pass.apply(all);
    Ok(())
}

struct Pass {
    /// What is put in place of a token, by place; of one place those before the token come first.
    edits: Vec<(usize, Vec<Token>, bool)>,
    levels: Vec<Level>,
}

fn word(token: &TokenWithSpan) -> Keyword {
    match &token.token {
        Token::Word(word) if word.quote_style.is_none() => word.keyword,
        _ => Keyword::NoKeyword,
    }
}

fn is_word(token: Option<&TokenWithSpan>, expected: &str) -> bool {
    matches!(token.map(|token| &token.token), Some(Token::Word(word)) if word.value.eq_ignore_ascii_case(expected))
}

fn keyword(word: &str) -> Token {
    Token::make_word(word, None)
}

impl Pass {
    fn level(&mut self) -> &mut Level {
        if self.levels.is_empty() {
            self.levels.push(Level::default());
        }
        let last = self.levels.len() - 1;
        &mut self.levels[last]
    }

    fn token(&mut self, all: &[TokenWithSpan], place: usize, first: usize) -> Parsed<()> {
        let offset = range(all[place].span).start;
        match &all[place].token {
            Token::LParen => self.open(all, place),
            Token::RParen => return self.close(place, offset),
            Token::Comma if self.level().in_from => return self.comma(place, offset),
            Token::Word(_) => return self.word(all, place, offset, first),
            _ => self.level().wants_table = false,
        }
        Ok(())
    }

    fn open(&mut self, all: &[TokenWithSpan], place: usize) {
        let is_joined = place > 0 && matches!(word(&all[place - 1]), Keyword::JOIN | Keyword::STRAIGHT_JOIN);
        let level = self.level();
        let wanted = level.in_from && std::mem::take(&mut level.wants_table);
        let around_tables = wanted && !opens_query(all, place);
        level.tables += usize::from(wanted && !around_tables);
        self.levels.push(match around_tables {
            false => Level::default(),
            true => Level {
                in_from: true,
                wants_table: true,
                opened: Some(place),
                is_joined,
                rewrites_commas: true,
                ..Level::default()
            },
        });
    }

    fn close(&mut self, place: usize, offset: usize) -> Parsed<()> {
        self.end_from(place, offset)?;
        if self.levels.len() == 1 {
            return Ok(());
        }
        let Some(level) = self.levels.pop() else { return Ok(()) };
        let Some(opened) = level.opened else { return Ok(()) };
        if !level.joins {
            self.edits.push((opened, Vec::new(), true));
            self.edits.push((place, Vec::new(), true));
        } else if level.is_joined {
            self.edits.push((place + 1, vec![keyword("AS"), Token::make_word(PARENTHESES, Some('`'))], false));
        }
        let outer = self.level();
        // A join in parentheses alone is one of the outer ones too: the inner parentheses are enough.
        outer.tables += level.tables;
        check_tables(outer.tables)
    }

    fn comma(&mut self, place: usize, offset: usize) -> Parsed<()> {
        self.check_conditions(offset)?;
        self.end_comma(place);
        let level = self.level();
        level.wants_table = true;
        level.joins = true;
        level.comma = level.rewrites_commas.then_some((place, false));
        Ok(())
    }

    fn word(&mut self, all: &[TokenWithSpan], place: usize, offset: usize, first: usize) -> Parsed<()> {
        use Keyword as K;
        let found = word(&all[place]);
        let before = if place > first { word(&all[place - 1]) } else { K::NoKeyword };
        let is_top = self.levels.len() == 1;
        if self.ends_select_list(found, all.get(place + 1)) {
            self.edits.push((place, vec![keyword("FROM"), keyword("DUAL")], false));
        }
        let level = self.level();
        match found {
            K::SELECT => *level = Level { is_query: true, ..Level::default() },
            K::DELETE if place == first => level.is_query = true,
            K::UPDATE if place == first => {
                (level.in_from, level.wants_table, level.rewrites_commas) = (true, true, true);
            }
            K::FROM if level.is_query => (level.in_from, level.wants_table) = (true, true),
            K::USING if is_top && word(&all[first]) == K::DELETE && level.open_joins.is_empty() => {
                (level.in_from, level.wants_table) = (true, true);
            }
            _ if !level.in_from => {}
            // No table is named so.
            K::JOIN | K::STRAIGHT_JOIN | K::ON | K::USING if level.wants_table && before != K::FOR => {
                return Err(ParseError::syntax(offset));
            }
            K::JOIN | K::STRAIGHT_JOIN if before != K::FOR => {
                let natural = is_natural(all, place);
                let outer = place > 0 && matches!(before, K::LEFT | K::RIGHT | K::OUTER);
                (level.joins, level.wants_table) = (true, true);
                if let Some((_, joined)) = &mut level.comma {
                    *joined = true;
                }
                if !natural {
                    level.open_joins.push(outer);
                }
            }
            K::ON if is_word(all.get(place + 1), "DUPLICATE") => return self.end_from(place, offset),
            K::ORDER | K::GROUP if before == K::FOR => {}
            K::ON | K::USING => {
                level.open_joins.pop();
                level.wants_table = false;
            }
            K::WHERE
            | K::GROUP
            | K::HAVING
            | K::ORDER
            | K::LIMIT
            | K::UNION
            | K::EXCEPT
            | K::INTERSECT
            | K::SET
            | K::INTO
            | K::WINDOW
            | K::LOCK => return self.end_from(place, offset),
            K::FOR if !matches!(before, K::INDEX | K::KEY) => return self.end_from(place, offset),
            _ => {
                level.tables += usize::from(std::mem::take(&mut level.wants_table));
                return check_tables(level.tables);
            }
        }
        Ok(())
    }

    /// Whether a SELECT without FROM ends before a locking clause or ON DUPLICATE KEY UPDATE, whose first words might be aliases.
    fn ends_select_list(&mut self, found: Keyword, next: Option<&TokenWithSpan>) -> bool {
        use Keyword as K;
        let level = self.level();
        let before = level.has_clause;
        level.has_clause |=
            matches!(found, K::FROM | K::WHERE | K::GROUP | K::HAVING | K::ORDER | K::LIMIT | K::INTO | K::DELETE);
        let follows = match found {
            K::FOR => is_word(next, "UPDATE") || is_word(next, "SHARE"),
            K::ON => is_word(next, "DUPLICATE"),
            _ => false,
        };
        level.is_query && !before && follows
    }

    /// The end of FROM, whose last token is before this place.
    fn end_from(&mut self, place: usize, offset: usize) -> Parsed<()> {
        if !self.level().in_from {
            return Ok(());
        }
        self.check_conditions(offset)?;
        self.end_comma(place);
        let level = self.level();
        (level.in_from, level.wants_table) = (false, false);
        Ok(())
    }

    /// Outer joins need a condition.
    fn check_conditions(&mut self, offset: usize) -> Parsed<()> {
        match std::mem::take(&mut self.level().open_joins).contains(&true) {
            true => Err(ParseError::syntax(offset)),
            false => Ok(()),
        }
    }

    /// What a comma joins ends before this place.
    fn end_comma(&mut self, place: usize) {
        let Some((comma, joined)) = self.level().comma.take() else { return };
        let mut words = vec![keyword("CROSS"), keyword("JOIN")];
        if joined {
            words.push(Token::LParen);
            let mark = Token::make_word(PARENTHESES, Some('`'));
            self.edits.push((place, vec![Token::RParen, keyword("AS"), mark], false));
        }
        self.edits.push((comma, words, true));
    }

    /// Puts the edits into the tokens.
    fn apply(mut self, all: &mut Vec<TokenWithSpan>) {
        if self.edits.is_empty() {
            return;
        }
        // What is put before a token comes before what is put in its place.
        self.edits.sort_by_key(|(place, _, replaces)| (*place, *replaces));
        let mut edits = self.edits.into_iter().peekable();
        let old = std::mem::take(all);
        let last = old.last().map(|last| last.span);
        for (place, token) in old.into_iter().enumerate() {
            let mut replaced = false;
            while let Some((_, tokens, replaces)) = edits.next_if(|(at, ..)| *at == place) {
                replaced |= replaces;
                all.extend(tokens.into_iter().map(|new| TokenWithSpan::new(new, token.span)));
            }
            if !replaced {
                all.push(token);
            }
        }
        if let Some(span) = last {
            all.extend(edits.flat_map(|(_, tokens, _)| tokens).map(|new| TokenWithSpan::new(new, span)));
        }
    }
}

fn check_tables(tables: usize) -> Parsed<()> {
    match tables > TABLES_MAX {
        true => Err(ParseError::from(too_many_tables())),
        false => Ok(()),
    }
}

/// 1116
pub(crate) fn too_many_tables() -> SqlError {
    let message = format!("Too many tables; MySQL can only use {TABLES_MAX} tables in a join");
    SqlError::new(codes::TOO_MANY_TABLES, message)
}

/// `NATURAL [INNER | {LEFT | RIGHT} [OUTER]] JOIN`, whose last word is here.
fn is_natural(all: &[TokenWithSpan], place: usize) -> bool {
    let words = all[..place].iter().rev().map(word);
    let mut words =
        words.skip_while(|word| matches!(word, Keyword::INNER | Keyword::LEFT | Keyword::RIGHT | Keyword::OUTER));
    words.next() == Some(Keyword::NATURAL)
}

/// Whether a parenthesis in FROM is that of a query: `(SELECT …)`, `((SELECT …) UNION …)`, `((SELECT …))`.
fn opens_query(all: &[TokenWithSpan], place: usize) -> bool {
    /// Deeper ones are refused by the parser.
    const DEEPEST: usize = 64;
    let is_open = |token: &&TokenWithSpan| token.token == Token::LParen;
    let opened = all[place..].iter().take(DEEPEST).take_while(is_open).count();
    let Some(first) = all.get(place + opened) else { return false };
    if !matches!(word(first), Keyword::SELECT | Keyword::WITH | Keyword::VALUES | Keyword::TABLE) {
        return false;
    }
    let (mut depth, mut at) = (opened, place + opened);
    while depth > 1 {
        match all.get(at).map(|token| &token.token) {
            Some(Token::LParen) => depth += 1,
            Some(Token::RParen) => {
                depth -= 1;
                let next = all.get(at + 1).map(word).unwrap_or(Keyword::NoKeyword);
                let goes_on = matches!(
                    next,
                    Keyword::UNION | Keyword::EXCEPT | Keyword::INTERSECT | Keyword::ORDER | Keyword::LIMIT
                );
                let closes = all.get(at + 1).is_some_and(|next| next.token == Token::RParen);
                if depth < opened && !goes_on && !closes {
                    // An alias: what is inside is a table.
                    return false;
                }
            }
            None => return false,
            _ => {}
        }
        at += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use crate::parse::{ParseContext, parse_one};

    /// How a statement is after the rewriting, or the error.
    fn read(text: &str) -> String {
        match parse_one(text, &ParseContext::default()) {
            Ok(parsed) => match &parsed.statement {
                crate::parse::ast::Statement::Query(query) => query.to_string().replace("`\0()`", "mark"),
                crate::parse::ast::Statement::Update(update) => update.update.to_string().replace("`\0()`", "mark"),
                other => format!("{other:?}"),
            },
            Err(error) => format!("{} {}", error.code, error.message),
        }
    }

    #[test]
    fn parentheses_around_joins_are_kept_apart_from_those_of_the_parser() {
        assert_eq!(read("SELECT 1 FROM a JOIN (b JOIN c)"), "SELECT 1 FROM a JOIN (b JOIN c) AS mark");
        assert_eq!(read("SELECT 1 FROM a JOIN b RIGHT JOIN c ON 1"), "SELECT 1 FROM a JOIN (b RIGHT JOIN c ON 1)");
        assert_eq!(read("SELECT STRAIGHT_JOIN (1) FROM (a), ((b))"), "SELECT STRAIGHT_JOIN (1) FROM a, b");
        assert_eq!(read("SELECT 1 FROM ((SELECT 1)) a JOIN b"), "SELECT 1 FROM ((SELECT 1)) a JOIN b");
        assert_eq!(read("SELECT 1 FROM ((SELECT 1) a JOIN b)"), "SELECT 1 FROM ((SELECT 1) a JOIN b)");
    }

    #[test]
    fn commas_between_tables_bind_looser_than_joins() {
        assert_eq!(
            read("SELECT 1 FROM a LEFT JOIN (b, c RIGHT JOIN d ON 1, e) ON 2"),
            "SELECT 1 FROM a LEFT JOIN (b CROSS JOIN (c RIGHT JOIN d ON 1) AS mark CROSS JOIN e) AS mark ON 2"
        );
        assert_eq!(
            read("UPDATE a, b RIGHT JOIN c ON 1 SET x = 1, y = 2"),
            "UPDATE a CROSS JOIN (b RIGHT JOIN c ON 1) AS mark SET x = 1, y = 2"
        );
    }

    #[test]
    fn outer_joins_need_a_condition() {
        for text in ["SELECT 1 FROM a LEFT JOIN b WHERE 1", "SELECT 1 FROM a RIGHT JOIN b JOIN c ON 1 WHERE 1"] {
            let error = read(text);
            assert!(error.starts_with("1064") && error.contains("near 'WHERE 1'"), "{error}");
        }
        assert_eq!(read("SELECT 1 FROM a NATURAL LEFT JOIN b"), "SELECT 1 FROM a NATURAL LEFT JOIN b");
    }

    #[test]
    fn the_number_of_tables_is_bounded_before_they_are_nested() {
        let joins = |tables: usize| format!("SELECT 1 FROM t x0{}", " JOIN t x".repeat(tables - 1));
        assert!(read(&joins(61)).starts_with("SELECT"));
        assert!(read(&joins(62)).starts_with("1116"));
        assert!(read(&joins(100_000)).starts_with("1116"));
        let commas = format!("SELECT 1 FROM t{}", ", t".repeat(300));
        assert!(read(&commas).starts_with("1116"));
    }
}
