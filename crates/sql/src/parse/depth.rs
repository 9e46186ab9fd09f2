//! How deep a statement is nested, counted from its tokens, before anything is made of them.
//!
//! Trees are walked by recursion, here and in everything behind the parser, so their depth is bounded: by [`DEPTH_MAX`] for what
//! operators, brackets and CASE nest, by [`SELECTS_MAX`] for queries in queries, by [`UNIONS_MAX`] for the branches of a UNION. The errors
//! are MySQL's. A chain of AND or OR may be as long as a packet, as in MySQL, where such a chain is one list: the parser makes a tree of
//! it that is as deep as the chain is long, so long ones get brackets here, which make it as deep as the logarithm.
//!
//! ```text
//!   a OR b OR c OR d OR e OR f   ──>   a OR ((b OR c) OR (d OR e)) OR f          (in groups of GROUP, not of two)
//! ```
//!
//! The first and the last operand stay outside, because what is in front of the one and behind the other is not known here.
//!
//! # Invariants
//! - The depth that is counted is at least that of the tree: each token that may become a node above another one counts, unless it stands where
//!   no expression goes on (a comma, the beginning of a clause).
//! - A chain is grouped only between two of its own operators, so each bracket encloses whole operands.

use base::{SqlError, codes};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

use super::{Parsed, operator};

/// How deep operators, brackets and CASE may be nested: about as deep as the stack of a MySQL of usual settings allows.
pub(crate) const DEPTH_MAX: usize = 2000;
/// How many queries may be around a query, as in MySQL.
pub(crate) const SELECTS_MAX: usize = 63;
/// How many branches a UNION may have; the parser makes a tree of them that is as deep.
const UNIONS_MAX: usize = 100_000;
/// A chain of more operands is grouped, and so many are in each group.
const GROUP: usize = 16;

/// 1436
pub(crate) fn too_deep() -> SqlError {
    let message = format!("Thread stack overrun: the statement is nested more than {DEPTH_MAX} levels deep");
    SqlError::new(codes::STACK_OVERRUN, message)
}

/// 1473
pub(crate) fn too_many_selects() -> SqlError {
    SqlError::new(codes::TOO_HIGH_NESTING_OF_SELECT, "Too high level of nesting for select")
}

/// Bounds the depth of a statement, and groups its long chains. The answer is a bound of the depth of its tree.
///
/// # Errors
/// 1436, 1473.
pub(super) fn bound(tokens: &mut Vec<TokenWithSpan>) -> Parsed<usize> {
    let mut scan = Scan { levels: vec![Level::default()], ..Scan::default() };
    for (place, token) in tokens.iter().enumerate() {
        scan.token(place, &token.token)?;
    }
    while scan.levels.len() > 1 {
        scan.close();
    }
    scan.levels[0].end_expression(&mut scan.brackets);
    let bound = scan.levels[0].best + scan.unions + referring_selects(tokens);
    if !scan.brackets.is_empty() {
        insert(tokens, scan.brackets);
    }
    Ok(bound)
}

/// How many queries may stand in one another by their names: those of a statement with WITH.
fn referring_selects(tokens: &[TokenWithSpan]) -> usize {
    match tokens.iter().any(|token| is_word(token, Keyword::WITH)) {
        true => selects(tokens),
        false => 0,
    }
}

/// How often SELECT stands in a statement.
pub(super) fn selects(tokens: &[TokenWithSpan]) -> usize {
    tokens.iter().filter(|token| is_word(token, Keyword::SELECT)).count()
}

fn is_word(token: &TokenWithSpan, keyword: Keyword) -> bool {
    operator::keyword_of(&token.token) == keyword
}

/// What a token may do to a tree.
enum Role {
    /// Begins something that has an end.
    Open {
        is_case: bool,
    },
    Close {
        is_case: bool,
    },
    /// Ends whatever expression is under way.
    Separator,
    Select,
    Union,
    And,
    Or,
    Between,
    Xor,
    Assignment,
    /// An operator, or a word that may be part of one.
    Operator,
    /// A value or a name.
    Operand,
}

fn role(token: &Token) -> Role {
    let Token::Word(word) = token else {
        return match token {
            Token::LParen | Token::LBracket | Token::LBrace => Role::Open { is_case: false },
            Token::RParen | Token::RBracket | Token::RBrace => Role::Close { is_case: false },
            Token::Comma | Token::SemiColon => Role::Separator,
            Token::Assignment => Role::Assignment,
            Token::CustomBinaryOperator(name) if operator::negated(name).0 == operator::BETWEEN => Role::Between,
            Token::Number(..) | Token::SingleQuotedString(_) | Token::Placeholder(_) => Role::Operand,
            _ => Role::Operator,
        };
    };
    if word.quote_style.is_some() {
        return Role::Operand;
    }
    match word.keyword {
        Keyword::CASE => Role::Open { is_case: true },
        Keyword::END => Role::Close { is_case: true },
        Keyword::SELECT => Role::Select,
        Keyword::UNION | Keyword::EXCEPT | Keyword::INTERSECT | Keyword::MINUS => Role::Union,
        Keyword::FROM
        | Keyword::WHERE
        | Keyword::GROUP
        | Keyword::ORDER
        | Keyword::HAVING
        | Keyword::LIMIT
        | Keyword::ON
        | Keyword::WHEN
        | Keyword::THEN
        | Keyword::ELSE
        | Keyword::JOIN
        | Keyword::STRAIGHT_JOIN => Role::Separator,
        Keyword::AND => Role::And,
        Keyword::OR => Role::Or,
        Keyword::XOR => Role::Xor,
        Keyword::NoKeyword if !is_operator(&word.value) => Role::Operand,
        Keyword::NULL | Keyword::TRUE | Keyword::FALSE | Keyword::DEFAULT | Keyword::AS => Role::Operand,
        _ => Role::Operator,
    }
}

/// Whether an operand, perhaps a name, has to come behind a token.
fn wants_operand(role: &Role, token: &Token) -> bool {
    match (role, token) {
        (Role::Operand | Role::Close { .. }, _) => false,
        (Role::Operator, Token::Word(word)) => {
            const WORDS: [Keyword; 5] =
                [Keyword::NOT, Keyword::LIKE, Keyword::COLLATE, Keyword::ESCAPE, Keyword::DISTINCT];
            WORDS.contains(&word.keyword) || is_operator(&word.value)
        }
        // The star of all columns, and strings, which count as operators.
        (Role::Operator, token) => *token != Token::Mul && !is_text(token),
        _ => true,
    }
}

pub(super) fn is_text(token: &Token) -> bool {
    matches!(
        token,
        Token::DoubleQuotedString(_)
            | Token::NationalStringLiteral(_)
            | Token::HexStringLiteral(_)
            | Token::SingleQuotedByteStringLiteral(_)
            | Token::DoubleQuotedByteStringLiteral(_)
    )
}

/// Operators that are no keywords to `sqlparser`.
fn is_operator(word: &str) -> bool {
    ["MEMBER", "BINARY"].iter().any(|operator| word.eq_ignore_ascii_case(operator))
}

/// What is under way between two brackets. The operators of an expression bind in this order: those of an operand, AND, XOR, OR, `:=`.
#[derive(Default)]
struct Level {
    is_case: bool,
    is_select: bool,
    /// Levels of all that is around the brackets.
    around: usize,
    /// BETWEENs whose AND has not come.
    betweens: usize,
    /// The operand under way: its operators, and the deepest of its brackets.
    operators: usize,
    deepest: usize,
    /// The AND under way, and the deepest operand of it that has ended.
    ands: Chain,
    under_and: usize,
    xors: usize,
    under_xor: usize,
    ors: Chain,
    under_or: usize,
    assignments: usize,
    /// The deepest expression that has ended.
    best: usize,
}

impl Level {
    fn operand(&self) -> usize {
        self.operators + self.deepest
    }

    fn and(&self) -> usize {
        self.ands.depth() + self.under_and.max(self.operand())
    }

    fn xor(&self) -> usize {
        self.xors + self.under_xor.max(self.and())
    }

    /// The depth of the expression under way.
    fn expression(&self) -> usize {
        1 + self.assignments + self.ors.depth() + self.under_or.max(self.xor())
    }

    fn end_operand(&mut self) {
        self.under_and = self.under_and.max(self.operand());
        (self.operators, self.deepest, self.betweens) = (0, 0, 0);
    }

    fn end_and(&mut self, brackets: &mut Vec<Bracket>) {
        self.under_xor = self.under_xor.max(self.and());
        self.ands.end(brackets);
        (self.operators, self.deepest, self.betweens, self.under_and) = (0, 0, 0, 0);
    }

    fn end_xor(&mut self, brackets: &mut Vec<Bracket>) {
        let depth = self.xor();
        self.end_and(brackets);
        self.under_or = self.under_or.max(depth);
        (self.xors, self.under_xor) = (0, 0);
    }

    fn end_expression(&mut self, brackets: &mut Vec<Bracket>) {
        self.best = self.best.max(self.expression());
        self.end_xor(brackets);
        self.ors.end(brackets);
        (self.under_or, self.assignments) = (0, 0);
    }
}

/// The places of the operators of a chain.
#[derive(Default)]
struct Chain(Vec<usize>);

impl Chain {
    fn depth(&self) -> usize {
        match self.0.len() {
            short @ 0..=GROUP => short,
            long => (2 * GROUP + 2) * (1 + long.ilog2() as usize / GROUP.ilog2() as usize),
        }
    }

    /// Adds brackets around groups of operands, then around groups of groups.
    fn end(&mut self, brackets: &mut Vec<Bracket>) {
        // A group is what stands between two operators: as many operands as there are operators between the two, and one more.
        let mut operators = std::mem::take(&mut self.0);
        for rank in 1.. {
            if operators.len() <= GROUP {
                return;
            }
            let last = operators.last().copied();
            let mut ends: Vec<usize> = operators.into_iter().step_by(GROUP).collect();
            ends.extend(last.filter(|last| ends.last() != Some(last)));
            for pair in ends.windows(2) {
                brackets.push(Bracket { at: pair[0] + 1, rank, is_open: true });
                brackets.push(Bracket { at: pair[1], rank, is_open: false });
            }
            operators = ends;
        }
    }
}

/// A bracket in front of the token at a place; those of a higher rank are outside of those of a lower one.
#[derive(Clone, Copy)]
struct Bracket {
    at: usize,
    rank: usize,
    is_open: bool,
}

#[derive(Default)]
struct Scan {
    levels: Vec<Level>,
    selects: usize,
    unions: usize,
    brackets: Vec<Bracket>,
    /// No expression can end behind the token before.
    wants_operand: bool,
}

impl Scan {
    fn token(&mut self, place: usize, token: &Token) -> Parsed<()> {
        if operator::is_marker(token) {
            return Ok(());
        }
        let role = role(token);
        let wanted = std::mem::replace(&mut self.wants_operand, wants_operand(&role, token));
        match role {
            // There END is a name.
            Role::Close { is_case: true } if wanted => return Ok(()),
            Role::Operand => return Ok(()),
            Role::Open { is_case } => self.open(is_case),
            Role::Close { is_case } => {
                if self.levels.len() > 1 && self.levels.last().is_some_and(|level| level.is_case == is_case) {
                    self.close();
                }
            }
            role => self.operator(place, role)?,
        }
        let level = &self.levels[self.levels.len() - 1];
        if level.around + level.expression() > DEPTH_MAX { Err(too_deep().into()) } else { Ok(()) }
    }

    fn open(&mut self, is_case: bool) {
        let level = &self.levels[self.levels.len() - 1];
        let around = level.around + level.expression();
        self.levels.push(Level { is_case, around, ..Level::default() });
    }

    fn close(&mut self) {
        let Some(mut level) = self.levels.pop() else { return };
        level.end_expression(&mut self.brackets);
        self.selects -= usize::from(level.is_select);
        let outer = self.levels.len() - 1;
        let outer = &mut self.levels[outer];
        outer.deepest = outer.deepest.max(level.best);
    }

    fn operator(&mut self, place: usize, role: Role) -> Parsed<()> {
        let top = self.levels.len() - 1;
        let (level, brackets) = (&mut self.levels[top], &mut self.brackets);
        match role {
            Role::And if level.betweens > 0 => level.betweens -= 1,
            // What is right of an assignment reaches over the operators behind it.
            Role::And | Role::Or | Role::Xor if level.assignments > 0 => level.operators += 1,
            Role::And => {
                level.end_operand();
                level.ands.0.push(place);
            }
            Role::Xor => {
                level.end_and(brackets);
                level.xors += 1;
            }
            Role::Or => {
                level.end_xor(brackets);
                level.ors.0.push(place);
            }
            Role::Assignment => level.assignments += 1,
            Role::Between => (level.operators, level.betweens) = (level.operators + 1, level.betweens + 1),
            Role::Separator => level.end_expression(brackets),
            Role::Select | Role::Union => {
                level.end_expression(brackets);
                self.unions += usize::from(matches!(role, Role::Union));
                self.selects += usize::from(!std::mem::replace(&mut level.is_select, true));
                if self.unions > UNIONS_MAX {
                    return Err(too_deep().into());
                }
                if self.selects > SELECTS_MAX + 1 {
                    return Err(too_many_selects().into());
                }
            }
            Role::Operator | Role::Operand | Role::Open { .. } | Role::Close { .. } => level.operators += 1,
        }
        Ok(())
    }
}

/// Puts brackets in front of tokens.
fn insert(tokens: &mut Vec<TokenWithSpan>, mut brackets: Vec<Bracket>) {
    // Of brackets at one place those that close come first, the inner ones before the outer ones; of those that open the outer ones.
    let order = |bracket: &Bracket| match bracket.is_open {
        false => (bracket.at, 0, bracket.rank),
        true => (bracket.at, 1, usize::MAX - bracket.rank),
    };
    brackets.sort_by_key(order);
    let mut grouped = Vec::with_capacity(tokens.len() + brackets.len());
    let mut next = brackets.into_iter().peekable();
    for (place, token) in std::mem::take(tokens).into_iter().enumerate() {
        while let Some(bracket) = next.next_if(|bracket| bracket.at == place) {
            let bracket = if bracket.is_open { Token::LParen } else { Token::RParen };
            grouped.push(TokenWithSpan::new(bracket, token.span));
        }
        grouped.push(token);
    }
    *tokens = grouped;
}

#[cfg(test)]
mod tests {
    use super::super::{ParseContext, lexer};
    use super::*;

    fn bounded(text: &str) -> Result<(usize, String), u16> {
        let Ok(mut lexed) = lexer::lex(text, &ParseContext::default()) else { panic!("{text} is not read") };
        let depth = bound(&mut lexed.tokens).map_err(|error| error.into_sql(text).code)?;
        Ok((depth, lexed.tokens.iter().map(|token| token.token.to_string()).collect::<Vec<_>>().join(" ")))
    }

    fn code(text: &str) -> u16 {
        bounded(text).err().unwrap_or(0)
    }

    #[test]
    fn long_chains_become_groups() {
        let names: Vec<String> = (0..40).map(|n| format!("c{n}")).collect();
        let (_, text) = bounded(&names.join(" OR ")).unwrap();
        let group = |from: usize, to: usize| format!("( {} )", names[from..=to].join(" OR "));
        assert_eq!(text, format!("c0 OR {} OR {} OR {} OR c39", group(1, 16), group(17, 32), group(33, 38)));
        for (operator, weaker) in [("OR", ","), ("AND", "OR"), ("AND", "XOR")] {
            let chain = vec!["a = 1"; 100_000].join(&format!(" {operator} "));
            assert!(bounded(&format!("{chain} {weaker} {chain}")).unwrap().0 < 200, "{operator} in {weaker}");
        }
    }

    #[test]
    fn what_is_no_chain_stays() {
        for text in [
            ["a BETWEEN 1 AND 2"; 10].join(" OR "),
            ["@a := b"; 30].join(" OR "),
            ["a"; 17].join(" OR "),
            ["f(a OR b)"; 16].join(" AND "),
        ] {
            let brackets = text.matches('(').count();
            assert_eq!(bounded(&text).unwrap().1.matches('(').count(), brackets, "{text}");
        }
        let betweens = ["a BETWEEN 1 AND 2"; 40].join(" AND ");
        let (_, text) = bounded(&betweens).unwrap();
        let text = text.replace(operator::BOUNDS, "");
        assert!(text.contains("AND ( a BETWEEN  1 AND 2 AND a BETWEEN"), "{text}");
    }

    #[test]
    fn all_that_nests_is_counted() {
        let many = |piece: &str| piece.repeat(DEPTH_MAX + 1);
        let last = |piece: &str, end: &str| format!("SELECT {}1{}", many(piece), many(end));
        for text in [
            format!("SELECT 1{}", many("+1")),
            format!("SELECT 1{}", many(" XOR 1 AND 1")),
            format!("SELECT 1{}", many(" BETWEEN 0 AND 1")),
            format!("SELECT 1{}", many(" IS NULL")),
            format!("SELECT 1{}", many(" IN (1)")),
            format!("SELECT @a{}", many(" := @a OR @a")),
            format!("SELECT 1{}", many(" COLLATE x")),
            last("(", ")"),
            last("NOT ", ""),
            last("- ", ""),
            last("f(1, ", ")"),
            last("CASE WHEN 1 THEN ", " END"),
            last("CASE ", " WHEN 1 THEN 1 END"),
            last("(1+", "+1)"),
            last("CASE WHEN t.end THEN ", " ELSE 0 END"),
            last("CASE WHEN end THEN ", " END"),
            last("CASE 1 + end WHEN 1 THEN ", ""),
            format!("SELECT {}1{}{}", "(".repeat(1500), ")".repeat(1500), "+1".repeat(600)),
        ] {
            assert_eq!(code(&text), codes::STACK_OVERRUN.0, "{}", &text[..40]);
        }
        assert_eq!(code(&format!("SELECT {}1{}", "(SELECT ".repeat(63), ")".repeat(63))), 0);
        assert_eq!(code(&format!("SELECT {}1{}", "(SELECT ".repeat(64), ")".repeat(64))), 1473);
        assert_eq!(code(&format!("{}SELECT 1{}", "(".repeat(1900), ")".repeat(1900))), 0);
        assert_eq!(code(&format!("SELECT 1{}", " UNION SELECT 1".repeat(50_000))), 0);
        assert_eq!(code(&format!("SELECT 1{}", ", 1 + 1".repeat(50_000))), 0);
        assert_eq!(code(&format!("SELECT 1{}", ", CASE WHEN 1 THEN CURRENT_DATE END".repeat(3000))), 0);
    }
}
