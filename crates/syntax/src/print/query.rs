//! Queries and their tables.

use std::fmt::{self, Display, Formatter};

use super::{Clause, List, ListClause, Parentheses, quoted};
use crate::ast::{
    Body, Cte, Derived, GroupBy, IndexHint, IndexHintKind, IndexHintScope, Into, IntoTarget, Join, JoinCondition,
    JoinKind, Limit, Lock, LockWait, OrderItem, Query, Select, SelectItem, SelectOptions, SetBranch, SetOp,
    TableFactor, TableRef, With,
};

impl fmt::Debug for Query {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "«{self}»")
    }
}

impl Display for Query {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(with) = &self.with {
            write!(f, "{with} ")?;
        }
        self.body.fmt(f)?;
        ListClause("ORDER BY", &self.order_by).fmt(f)?;
        Clause("LIMIT", self.limit.as_ref()).fmt(f)?;
        if let Some(into) = &self.into {
            write!(f, " {into}")?;
        }
        self.locks.iter().try_for_each(|lock| write!(f, " {lock}"))
    }
}

impl Display for With {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "WITH {}{}", if self.recursive { "RECURSIVE " } else { "" }, List(&self.ctes))
    }
}

impl Display for Cte {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}{} AS ({})", self.name, Parentheses("", &self.columns), self.query)
    }
}

impl Display for Body {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Body::Select(select) => select.fmt(f),
            Body::Values(rows) => {
                f.write_str("VALUES ")?;
                for (at, row) in rows.iter().enumerate() {
                    write!(f, "{}ROW({})", if at > 0 { ", " } else { "" }, List(row))?;
                }
                Ok(())
            }
            Body::Query(query) => write!(f, "({query})"),
            Body::Set(first, branches) => {
                first.fmt(f)?;
                branches.iter().try_for_each(|branch| write!(f, " {branch}"))
            }
        }
    }
}

impl Display for SetBranch {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let op = match self.op {
            SetOp::Union => "UNION",
            SetOp::Except => "EXCEPT",
            SetOp::Intersect => "INTERSECT",
        };
        write!(f, "{op} {}{}", if self.all { "ALL " } else { "" }, self.body)
    }
}

impl Display for Select {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "SELECT {}{}", self.options, List(&self.items))?;
        if let Some(into) = &self.into {
            write!(f, " {into}")?;
        }
        ListClause("FROM", &self.from).fmt(f)?;
        Clause("WHERE", self.filter.as_ref()).fmt(f)?;
        Clause("GROUP BY", self.group_by.as_ref()).fmt(f)?;
        Clause("HAVING", self.having.as_ref()).fmt(f)?;
        ListClause("WINDOW", &self.windows).fmt(f)?;
        Clause("QUALIFY", self.qualify.as_ref()).fmt(f)
    }
}

/// Each with a space behind it.
impl Display for SelectOptions {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let words = [
            (self.distinct, "DISTINCT "),
            (self.high_priority, "HIGH_PRIORITY "),
            (self.straight_join, "STRAIGHT_JOIN "),
            (self.small_result, "SQL_SMALL_RESULT "),
            (self.big_result, "SQL_BIG_RESULT "),
            (self.buffer_result, "SQL_BUFFER_RESULT "),
            (self.no_cache, "SQL_NO_CACHE "),
            (self.calc_found_rows, "SQL_CALC_FOUND_ROWS "),
        ];
        words.iter().filter(|(is_there, _)| *is_there).try_for_each(|(_, word)| f.write_str(word))
    }
}

impl Display for SelectItem {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            SelectItem::Star => f.write_str("*"),
            SelectItem::TableStar(table) => write!(f, "{table}.*"),
            SelectItem::Expr { expr, alias } => write!(f, "{expr}{}", Clause("AS", alias.as_ref())),
        }
    }
}

impl Display for GroupBy {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", List(&self.keys), if self.rollup { " WITH ROLLUP" } else { "" })
    }
}

impl Display for OrderItem {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.expr, if self.descending { " DESC" } else { "" })
    }
}

impl Display for Limit {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.count, Clause("OFFSET", self.offset.as_ref()))
    }
}

impl Display for Into {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "INTO {}", List(&self.targets))
    }
}

impl Display for IntoTarget {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            IntoTarget::Variable(name) => {
                f.write_str("@")?;
                quoted(name, f)
            }
            IntoTarget::Local(name) => name.fmt(f),
            IntoTarget::Field(row, field) => write!(f, "{row}.{field}"),
        }
    }
}

impl Display for Lock {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(if self.exclusive { "FOR UPDATE" } else { "FOR SHARE" })?;
        ListClause("OF", &self.of).fmt(f)?;
        match self.wait {
            LockWait::Default => Ok(()),
            LockWait::NoWait => f.write_str(" NOWAIT"),
            LockWait::SkipLocked => f.write_str(" SKIP LOCKED"),
            LockWait::Seconds(seconds) => write!(f, " WAIT {seconds}"),
        }
    }
}

impl Display for TableRef {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            TableRef::Table(table) => table.fmt(f),
            TableRef::Derived(derived) => derived.fmt(f),
            TableRef::Json(table) => table.fmt(f),
            TableRef::Join(join) => join.fmt(f),
            TableRef::List(tables) => write!(f, "({})", List(tables)),
        }
    }
}

impl Display for TableFactor {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.name.fmt(f)?;
        Parentheses(" PARTITION", &self.partitions).fmt(f)?;
        Clause("AS", self.alias.as_ref()).fmt(f)?;
        self.hints.iter().try_for_each(|hint| write!(f, " {hint}"))
    }
}

impl Display for Derived {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", if self.lateral { "LATERAL " } else { "" }, self.query)?;
        write!(f, "{}{}", Clause("AS", self.alias.as_ref()), Parentheses("", &self.columns))
    }
}

impl Display for IndexHint {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            IndexHintKind::Use => "USE INDEX",
            IndexHintKind::Force => "FORCE INDEX",
            IndexHintKind::Ignore => "IGNORE INDEX",
        })?;
        f.write_str(match self.scope {
            None => "",
            Some(IndexHintScope::Join) => " FOR JOIN",
            Some(IndexHintScope::OrderBy) => " FOR ORDER BY",
            Some(IndexHintScope::GroupBy) => " FOR GROUP BY",
        })?;
        write!(f, " ({})", List(&self.indexes))
    }
}

impl Display for Join {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let natural = if self.condition == JoinCondition::Natural { "NATURAL " } else { "" };
        let kind = match self.kind {
            JoinKind::Inner => "JOIN",
            JoinKind::Straight => "STRAIGHT_JOIN",
            JoinKind::Left => "LEFT JOIN",
            JoinKind::Right => "RIGHT JOIN",
        };
        write!(f, "{} {natural}{kind} {}", self.left, self.right)?;
        match &self.condition {
            JoinCondition::None | JoinCondition::Natural => Ok(()),
            JoinCondition::On(condition) => write!(f, " ON {condition}"),
            JoinCondition::Using(columns) => write!(f, " USING ({})", List(columns)),
        }
    }
}
