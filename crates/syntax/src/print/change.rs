//! Statements that change rows.

use std::fmt::{self, Display, Formatter};

use super::{Clause, List, ListClause, Parentheses};
use crate::ast::{Assignment, Delete, Insert, InsertSource, Priority, RowAlias, TableRef, Update};

impl Display for Insert {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(if self.replace { "REPLACE " } else { "INSERT " })?;
        f.write_str(match self.priority {
            None => "",
            Some(Priority::Low) => "LOW_PRIORITY ",
            Some(Priority::High) => "HIGH_PRIORITY ",
            Some(Priority::Delayed) => "DELAYED ",
        })?;
        write!(f, "{}INTO {}", if self.ignore { "IGNORE " } else { "" }, self.table)?;
        Parentheses(" PARTITION", &self.partitions).fmt(f)?;
        if let Some(columns) = &self.columns {
            write!(f, " ({})", List(columns))?;
        }
        write!(f, " {}", self.source)?;
        Clause("AS", self.alias.as_ref()).fmt(f)?;
        ListClause("ON DUPLICATE KEY UPDATE", self.on_duplicate.as_deref().unwrap_or_default()).fmt(f)?;
        ListClause("RETURNING", self.returning.as_deref().unwrap_or_default()).fmt(f)
    }
}

impl Display for InsertSource {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            InsertSource::Values(rows, literal_rows) => {
                f.write_str("VALUES ")?;
                for (at, row) in rows.iter().enumerate() {
                    write!(f, "{}({})", if at > 0 { ", " } else { "" }, List(row))?;
                    if at == 0 {
                        (0..literal_rows.len()).try_for_each(|row| write!(f, ", {}", literal_rows.text_of(row)))?;
                    }
                }
                Ok(())
            }
            InsertSource::Set(assignments) => write!(f, "SET {}", List(assignments)),
            InsertSource::Query(query) => query.fmt(f),
        }
    }
}

impl Display for RowAlias {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.name, Parentheses("", &self.columns))
    }
}

impl Display for Assignment {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}", self.column, self.value)
    }
}

impl Display for Update {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(with) = &self.with {
            write!(f, "{with} ")?;
        }
        f.write_str("UPDATE ")?;
        f.write_str(if self.low_priority { "LOW_PRIORITY " } else { "" })?;
        f.write_str(if self.ignore { "IGNORE " } else { "" })?;
        write!(f, "{} SET {}", List(&self.tables), List(&self.assignments))?;
        Clause("WHERE", self.filter.as_ref()).fmt(f)?;
        ListClause("ORDER BY", &self.order_by).fmt(f)?;
        Clause("LIMIT", self.limit.as_ref()).fmt(f)
    }
}

impl Display for Delete {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(with) = &self.with {
            write!(f, "{with} ")?;
        }
        f.write_str("DELETE ")?;
        f.write_str(if self.low_priority { "LOW_PRIORITY " } else { "" })?;
        f.write_str(if self.quick { "QUICK " } else { "" })?;
        f.write_str(if self.ignore { "IGNORE " } else { "" })?;
        match (&self.targets, &self.from[..]) {
            (Some(targets), from) => write!(f, "{} FROM {}", List(targets), List::<TableRef>(from))?,
            (None, from) => write!(f, "FROM {}", List(from))?,
        }
        Clause("WHERE", self.filter.as_ref()).fmt(f)?;
        ListClause("ORDER BY", &self.order_by).fmt(f)?;
        Clause("LIMIT", self.limit.as_ref()).fmt(f)?;
        ListClause("RETURNING", self.returning.as_deref().unwrap_or_default()).fmt(f)
    }
}
