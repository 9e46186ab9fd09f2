//! The names of a select list, for what may name its items.

use std::collections::{HashMap, HashSet};

use types::schema::same_name;

use crate::expr::Expr;

/// So many names are compared one after the other; more are looked up.
const FEW: usize = 16;

/// The items of a select list by their names.
#[derive(Debug, Default)]
pub(crate) struct Aliases {
    items: Vec<(String, Expr)>,
    /// Of many items what each name means, by the name in lower case.
    names: HashMap<String, Named>,
}

/// What a name means.
#[derive(Clone, Copy, Debug)]
struct Named {
    /// The first item of that name.
    first: usize,
    is_only: bool,
    /// The others are not all the same column as the first.
    is_ambiguous: bool,
}

/// No names at all.
pub(crate) static NO_ALIASES: std::sync::LazyLock<Aliases> = std::sync::LazyLock::new(Aliases::default);

impl Aliases {
    pub(crate) fn new(items: Vec<(String, Expr)>) -> Self {
        let mut names = HashMap::new();
        for (at, (name, expr)) in items.iter().enumerate().filter(|_| items.len() > FEW) {
            let new = Named { first: at, is_only: true, is_ambiguous: false };
            let named = names.entry(name.to_lowercase()).or_insert(new);
            if named.first != at {
                named.add(&items[named.first].1, expr);
            }
        }
        Aliases { items, names }
    }

    fn named(&self, name: &str) -> Option<Named> {
        if self.items.len() > FEW {
            return self.names.get(&name.to_lowercase()).copied();
        }
        let mut of_name = self.items.iter().enumerate().filter(|(_, (alias, _))| same_name(alias, name));
        let (first, (_, expr)) = of_name.next()?;
        let mut named = Named { first, is_only: true, is_ambiguous: false };
        of_name.for_each(|(_, (_, other))| named.add(expr, other));
        Some(named)
    }

    /// The first item of that name.
    pub(crate) fn find(&self, name: &str) -> Option<&Expr> {
        self.named(name).map(|named| &self.items[named.first].1)
    }

    /// Whether one item alone has that name.
    pub(crate) fn has_one(&self, name: &str) -> bool {
        self.named(name).is_some_and(|named| named.is_only)
    }

    /// Whether items of that name are several columns.
    pub(crate) fn is_ambiguous(&self, name: &str) -> bool {
        self.named(name).is_some_and(|named| named.is_ambiguous)
    }

    /// The item at a place, which counts from 1.
    pub(crate) fn at(&self, number: usize) -> Option<&Expr> {
        self.items.get(number.wrapping_sub(1)).map(|(_, expr)| expr)
    }

    /// The name of the item at a place, which counts from 1.
    pub(crate) fn name_at(&self, number: usize) -> Option<&str> {
        self.items.get(number.wrapping_sub(1)).map(|(name, _)| name.as_str())
    }

    /// The numbers of items that are columns.
    pub(crate) fn columns(&self) -> impl Iterator<Item = usize> {
        self.items.iter().filter_map(|(_, expr)| expr.as_column())
    }
}

impl Named {
    /// There is another item of the name.
    fn add(&mut self, first: &Expr, other: &Expr) {
        self.is_only = false;
        self.is_ambiguous |= first.as_column() != other.as_column();
    }
}

/// What GROUP BY has for HAVING.
#[derive(Debug, Default)]
pub(crate) struct Grouped {
    /// Names of columns that stand alone in it, in lower case.
    pub(crate) names: HashSet<String>,
    /// The numbers of columns that are grouped by or selected.
    pub(crate) shown: HashSet<usize>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::ExprType;

    #[test]
    fn few_and_many_names_mean_the_same() {
        let column = |slot| Expr::column(slot, ExprType::of_kind(crate::expr::Kind::Int));
        let items = |more: usize| {
            let named = [("a", 1), ("B", 2), ("b", 2), ("c", 3), ("C", 4), ("É", 5)]
                .map(|(name, slot)| (name.to_owned(), column(slot)));
            let others = (0..more).map(|at| (format!("other{at}"), column(at)));
            Aliases::new(named.into_iter().chain(others).collect())
        };
        for aliases in [items(0), items(100_000)] {
            let is = |name: &str| {
                (aliases.find(name).and_then(Expr::as_column), aliases.has_one(name), aliases.is_ambiguous(name))
            };
            assert_eq!(is("A"), (Some(1), true, false));
            assert_eq!(is("b"), (Some(2), false, false));
            assert_eq!(is("c"), (Some(3), false, true));
            assert_eq!(is("é"), (Some(5), true, false));
            assert_eq!(is("nosuch"), (None, false, false));
            assert_eq!((aliases.at(0), aliases.at(2).and_then(Expr::as_column)), (None, Some(2)));
        }
    }
}
