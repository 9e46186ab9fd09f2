//! Bodies of programs.

use std::fmt::{self, Display, Formatter};

use super::{Clause, List, Parentheses};
use crate::statement::Statement;
use crate::statement::program::body::{
    Arm, Block, BodyKind, BodyStatement, Case, Declaration, DeclarationKind, ForSource, If, Label, Loop, LoopKind,
    Single,
};

impl Display for BodyStatement {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            BodyKind::Single(single) => single.fmt(f),
            BodyKind::With(with) => write!(f, "{} {}", with.text, with.statement),
            BodyKind::Block(block) => block.fmt(f),
            BodyKind::If(if_statement) => if_statement.fmt(f),
            BodyKind::Case(case) => case.fmt(f),
            BodyKind::Loop(the_loop) => the_loop.fmt(f),
            BodyKind::Leave(label) => write!(f, "LEAVE {label}"),
            BodyKind::Iterate(label) => write!(f, "ITERATE {label}"),
            BodyKind::Return(value) => write!(f, "RETURN {value}"),
            BodyKind::Open { cursor, args } => write!(f, "OPEN {cursor}{}", Parentheses("", args)),
            BodyKind::Fetch { cursor, into } => write!(f, "FETCH {cursor} INTO {}", List(into)),
            BodyKind::FetchGroup => f.write_str("FETCH GROUP NEXT ROW"),
            BodyKind::Close(cursor) => write!(f, "CLOSE {cursor}"),
        }
    }
}

impl Display for Single {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match (&self.statement, &self.text) {
            (_, Some(text)) => f.write_str(text),
            (Statement::Query(query), None) => query.fmt(f),
            (Statement::Insert(insert), None) => insert.fmt(f),
            (Statement::Update(update), None) => update.fmt(f),
            (Statement::Delete(delete), None) => delete.fmt(f),
            (Statement::Program(program), None) => program.fmt(f),
            // Those have their text.
            (_, None) => Err(fmt::Error),
        }
    }
}

/// Statements with a semicolon and a space behind each.
struct Statements<'t>(&'t [BodyStatement]);

impl Display for Statements<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|statement| write!(f, "{statement}; "))
    }
}

/// The label before a block or loop.
struct Begin<'t>(&'t Label);

impl Display for Begin<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.0.begin {
            Some(name) => write!(f, "{name}: "),
            None => Ok(()),
        }
    }
}

/// The label behind it.
struct End<'t>(&'t Label);

impl Display for End<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.0.end {
            Some(name) => write!(f, " {name}"),
            None => Ok(()),
        }
    }
}

impl Display for Block {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}BEGIN {}", Begin(&self.label), if self.not_atomic { "NOT ATOMIC " } else { "" })?;
        self.declarations.iter().try_for_each(|declaration| write!(f, "{declaration}; "))?;
        write!(f, "{}END{}", Statements(&self.statements), End(&self.label))
    }
}

impl Display for Declaration {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            DeclarationKind::Variables { names, ty, default } => {
                write!(f, "DECLARE {} {ty}{}", List(names), Clause("DEFAULT", default.as_ref()))
            }
            DeclarationKind::Condition { name, condition } => write!(f, "DECLARE {name} CONDITION FOR {condition}"),
            DeclarationKind::Cursor { name, params, query } => {
                write!(f, "DECLARE {name} CURSOR{} FOR {query}", Parentheses(" ", params))
            }
            DeclarationKind::Handler { goes_on, conditions, action } => {
                let kind = if *goes_on { "CONTINUE" } else { "EXIT" };
                write!(f, "DECLARE {kind} HANDLER FOR {} {action}", List(conditions))
            }
        }
    }
}

/// ELSE, if it is there.
struct Else<'t>(&'t Option<Vec<BodyStatement>>);

impl Display for Else<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(statements) => write!(f, "ELSE {}", Statements(statements)),
            None => Ok(()),
        }
    }
}

/// A condition and what is behind it.
impl Display for Arm {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} THEN {}", self.condition, Statements(&self.statements))
    }
}

impl Display for If {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (at, arm) in self.arms.iter().enumerate() {
            write!(f, "{} {arm}", if at == 0 { "IF" } else { "ELSEIF" })?;
        }
        write!(f, "{}END IF", Else(&self.otherwise))
    }
}

impl Display for Case {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("CASE ")?;
        if let Some(operand) = &self.operand {
            write!(f, "{operand} ")?;
        }
        self.arms.iter().try_for_each(|arm| write!(f, "WHEN {arm}"))?;
        write!(f, "{}END CASE", Else(&self.otherwise))
    }
}

impl Display for Loop {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (begin, inside, end) = (Begin(&self.label), Statements(&self.statements), End(&self.label));
        match &self.kind {
            LoopKind::Forever => write!(f, "{begin}LOOP {inside}END LOOP{end}"),
            LoopKind::While(condition) => write!(f, "{begin}WHILE {condition} DO {inside}END WHILE{end}"),
            LoopKind::Repeat(condition) => write!(f, "{begin}REPEAT {inside}UNTIL {condition} END REPEAT{end}"),
            LoopKind::For(variable, source) => write!(f, "{begin}FOR {variable} IN {source} DO {inside}END FOR{end}"),
        }
    }
}

impl Display for ForSource {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            ForSource::Range { reverse, first, last } => {
                write!(f, "{}{first} .. {last}", if *reverse { "REVERSE " } else { "" })
            }
            ForSource::Cursor { name, args } => write!(f, "{name}{}", Parentheses("", args)),
            ForSource::Query(query) => write!(f, "({query})"),
        }
    }
}
