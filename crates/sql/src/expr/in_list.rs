//! The list of an IN. Many literals of one kind are looked up by what is equal in all values that equal them, instead of one by one.

use std::collections::HashSet;
use std::ops::{Deref, DerefMut};
use std::sync::OnceLock;

use types::{CollationId, Value};

use crate::expr::order::{Comparison, comparison};
use crate::expr::tree::{Expr, ExprKind};
use crate::expr::types::Kind;

/// Fewer are compared one by one.
const LOOKED_UP: usize = 6;

/// What a value is looked for in.
#[derive(Clone, Debug)]
pub struct InList {
    items: Vec<Expr>,
    /// Made when it is first looked for; `None` if they are to be compared one by one.
    known: OnceLock<Option<Known>>,
}

/// The values of a list of literals.
#[derive(Clone, Debug)]
struct Known {
    comparison: Comparison,
    keys: HashSet<Vec<u8>>,
    has_null: bool,
}

impl InList {
    /// Whether a value that is not NULL is in the list, if that is known without its expressions; inside, `None` is NULL.
    pub(crate) fn find(&self, sought: &Expr, value: &Value, collation: CollationId) -> Option<Option<bool>> {
        let known = self.known.get_or_init(|| self.known(sought, collation)).as_ref()?;
        let is_own = match known.comparison.kind {
            Kind::Int => matches!(value, Value::Int(_) | Value::UInt(_)),
            _ => matches!(value, Value::Str(_)),
        };
        let mut key = Vec::with_capacity(32);
        if !is_own || !known.comparison.encode(value, &mut key) {
            return None;
        }
        Some(match known.keys.contains(&key) {
            true => Some(true),
            false if known.has_null => None,
            false => Some(false),
        })
    }

    /// Integers beside an integer, or texts beside a text: no other kinds are compared as they are.
    fn known(&self, sought: &Expr, collation: CollationId) -> Option<Known> {
        if self.items.len() < LOOKED_UP {
            return None;
        }
        let (mut keys, mut has_null, mut kind) = (HashSet::new(), false, None);
        for item in &self.items {
            let ExprKind::Literal(value) = &item.kind else { return None };
            if value.is_null() {
                has_null = true;
                continue;
            }
            let own = comparison(&sought.ty, &item.ty)?.kind;
            let is_own = match own {
                Kind::Int => matches!(value, Value::Int(_) | Value::UInt(_)),
                Kind::Str => matches!(value, Value::Str(_)),
                _ => false,
            };
            if !is_own || *kind.get_or_insert(own) != own {
                return None;
            }
            let mut key = Vec::new();
            Comparison { kind: own, collation }.encode(value, &mut key);
            keys.insert(key);
        }
        Some(Known { comparison: Comparison { kind: kind?, collation }, keys, has_null })
    }
}

impl From<Vec<Expr>> for InList {
    fn from(items: Vec<Expr>) -> Self {
        InList { items, known: OnceLock::new() }
    }
}

impl PartialEq for InList {
    fn eq(&self, other: &Self) -> bool {
        self.items == other.items
    }
}

impl Deref for InList {
    type Target = [Expr];

    fn deref(&self) -> &[Expr] {
        &self.items
    }
}

impl DerefMut for InList {
    fn deref_mut(&mut self) -> &mut [Expr] {
        self.known = OnceLock::new();
        &mut self.items
    }
}

impl<'l> IntoIterator for &'l InList {
    type Item = &'l Expr;
    type IntoIter = std::slice::Iter<'l, Expr>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.iter()
    }
}
