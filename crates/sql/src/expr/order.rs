//! Order and equality of values of one type: ORDER BY, GROUP BY, DISTINCT, UNION, joins by hash.

use std::cmp::Ordering;

use types::{CollationId, Value};

use crate::expr::types::ExprType;

/// The order of two values of this type (NULL first): strings by their collation, ENUM and SET by their numbers.
pub fn compare(ty: &ExprType, a: &Value, b: &Value) -> Ordering {
    let _ = (ty, a, b);
    todo!()
}

/// Appends bytes whose order is the order of the values, and which are equal for equal values: a key for sorting, grouping
/// and hashing. With `descending` in the opposite order.
pub fn encode(ty: &ExprType, value: &Value, descending: bool, out: &mut Vec<u8>) {
    let _ = (ty, value, descending, out);
    todo!()
}

/// As what two expressions are compared by `=`; both sides of a hash join encode their values with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// As which kind.
    pub kind: crate::expr::types::Kind,
    /// Of strings.
    pub collation: CollationId,
}

/// As what values of these types are compared; `None` if only row by row evaluation can say (then no hash join).
pub fn comparison(left: &ExprType, right: &ExprType) -> Option<Comparison> {
    let _ = (left, right);
    todo!()
}

impl Comparison {
    /// Appends bytes that are equal if and only if the values compare as equal. `false` (and nothing) for NULL.
    pub fn encode(&self, value: &Value, out: &mut Vec<u8>) -> bool {
        let _ = (value, out);
        todo!()
    }
}
