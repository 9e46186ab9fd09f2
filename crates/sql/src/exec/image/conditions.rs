//! Conditions on images.

use bytes::Bytes;
use engine::Rows;
use types::charset::{Charset, prefix_bytes};
use types::{CollationId, ColumnDef, ColumnType, TypeError, Value, collation};

use crate::exec::image::ImageOf;
use crate::exec::image::ranks::RankSet;
use crate::expr::pattern::Pattern;
use crate::expr::{CompareOp, decides};

/// A text of an image: that of a column, or some of its characters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextOf {
    pub(crate) place: usize,
    /// So many are skipped, and so many taken.
    pub(crate) part: Option<(usize, usize)>,
}

impl TextOf {
    #[inline]
    fn of<'r>(&self, of: &ImageOf, image: &'r [u8]) -> Result<Option<&'r [u8]>, TypeError> {
        let text = of.field(self.place).content(image)?;
        Ok(match (text, self.part) {
            (Some(text), Some((skip, take))) => {
                let rest = &text[prefix_bytes(text, skip)..];
                Some(&rest[..prefix_bytes(rest, take)])
            }
            (text, _) => text,
        })
    }
}

/// A condition that holds or does not; what is neither, for NULLs, does not.
pub(crate) enum ImageCondition {
    /// Of no row.
    Never,
    /// A column's rank is in one of these, ascending and apart, both ends included.
    Ranks {
        place: usize,
        ranges: Vec<(u64, u64)>,
    },
    /// A column's rank is one of these.
    Among {
        place: usize,
        ranks: RankSet,
    },
    /// A column is NULL, or is not.
    Null {
        place: usize,
        wanted: bool,
    },
    /// Two columns of the same kind.
    Columns {
        left: usize,
        op: CompareOp,
        right: usize,
    },
    /// A text beside a constant.
    Text {
        text: TextOf,
        op: CompareOp,
        value: Bytes,
        collation: CollationId,
    },
    /// A text is among these, or among none of them.
    OneOf {
        text: TextOf,
        values: Vec<Bytes>,
        collation: CollationId,
        wanted: bool,
    },
    /// LIKE, NOT LIKE
    Like {
        text: TextOf,
        pattern: Box<Pattern>,
        wanted: bool,
    },
    All(Vec<ImageCondition>),
    Any(Vec<ImageCondition>),
}

impl ImageCondition {
    /// A column's value is not behind one of its own form, in ascending or descending order, in which NULLs are first or last. `None` if it
    /// cannot be said, or would leave nothing out.
    pub(crate) fn up_to(of: &ImageOf, place: usize, value: &Value, descending: bool) -> Option<Self> {
        let null = |wanted| ImageCondition::Null { place, wanted };
        let own = match (value, is_text(of.def(place))) {
            (Value::Null, _) if descending => return None,
            (Value::Null, _) => return Some(null(true)),
            (Value::Str(value), true) => {
                let op = if descending { CompareOp::GreaterEq } else { CompareOp::LessEq };
                let text = TextOf { place, part: None };
                ImageCondition::Text { text, op, value: value.clone(), collation: of.def(place).collation }
            }
            (value, _) if of.field(place).has_ranks() => {
                let rank = of.field(place).rank_of(value)?;
                let ranges = vec![if descending { (rank, u64::MAX) } else { (0, rank) }];
                ImageCondition::Ranks { place, ranges }
            }
            _ => return None,
        };
        Some(if descending { own } else { ImageCondition::Any(vec![own, null(true)]) })
    }

    /// A column's value is equal to one of some; `None` if that cannot be said of ranks. It may hold for some more.
    pub(crate) fn among(of: &ImageOf, place: usize, values: &mut dyn Iterator<Item = &Value>) -> Option<Self> {
        use ColumnType::{Date, DateTime, Decimal, Time};
        let (field, ty) = (of.field(place), &of.def(place).ty);
        if !field.has_ranks() {
            return None;
        }
        let mut ranks = Vec::new();
        for value in values {
            let rank = match (ty, value) {
                (ty, Value::Int(n)) if ty.integer().is_some() => field.rank_of_integer(i128::from(*n)),
                (ty, Value::UInt(n)) if ty.integer().is_some() => field.rank_of_integer(i128::from(*n)),
                (Decimal { .. }, Value::Decimal(_))
                | (Date, Value::Date(_))
                | (DateTime { .. }, Value::DateTime(_))
                | (Time { .. }, Value::Time(_)) => field.rank_of(value),
                (_, Value::Null) => None,
                _ => return None,
            };
            ranks.extend(rank);
        }
        Some(ImageCondition::Among { place, ranks: RankSet::of(&ranks) })
    }

    /// Whether all of them hold for an image.
    pub(crate) fn all_hold<'c>(
        conditions: impl IntoIterator<Item = &'c ImageCondition>,
        of: &ImageOf,
        image: &[u8],
        scratch: &mut Vec<u8>,
    ) -> Result<bool, TypeError> {
        for condition in conditions {
            if !condition.holds(of, image, scratch)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Adds the numbers of the rows for which all conditions hold to `wanted`.
    pub(crate) fn select<'c>(
        conditions: impl Iterator<Item = &'c ImageCondition> + Clone,
        of: &ImageOf,
        rows: &Rows,
        scratch: &mut Vec<u8>,
        wanted: &mut Vec<u32>,
    ) -> Result<(), TypeError> {
        for row in 0..rows.len() {
            if ImageCondition::all_hold(conditions.clone(), of, rows.value(row), scratch)? {
                wanted.push(row as u32);
            }
        }
        Ok(())
    }

    /// Whether it holds for an image. `scratch` is memory to be used again.
    pub(crate) fn holds(&self, of: &ImageOf, image: &[u8], scratch: &mut Vec<u8>) -> Result<bool, TypeError> {
        Ok(match self {
            ImageCondition::Never => false,
            ImageCondition::Ranks { place, ranges } => {
                of.field(*place).rank(image)?.is_some_and(|rank| is_within(rank, ranges))
            }
            ImageCondition::Among { place, ranks } => {
                of.field(*place).rank(image)?.is_some_and(|rank| ranks.contains(rank))
            }
            ImageCondition::Null { place, wanted } => of.field(*place).bytes(image)?.is_none() == *wanted,
            ImageCondition::Columns { left, op, right } => {
                let ranks = of.field(*left).rank(image)?.zip(of.field(*right).rank(image)?);
                ranks.is_some_and(|(left, right)| decides(*op, left.cmp(&right)))
            }
            ImageCondition::Text { text, op, value, collation } => {
                let text = text.of(of, image)?;
                text.is_some_and(|text| match op {
                    CompareOp::Eq => collation::equal(*collation, text, value),
                    CompareOp::NotEq => !collation::equal(*collation, text, value),
                    op => decides(*op, collation::compare(*collation, text, value)),
                })
            }
            ImageCondition::OneOf { text, values, collation, wanted } => {
                let text = text.of(of, image)?;
                let is_one = |text| values.iter().any(|value| collation::equal(*collation, text, value));
                text.is_some_and(|text| is_one(text) == *wanted)
            }
            ImageCondition::Like { text, pattern, wanted } => {
                let text = text.of(of, image)?;
                text.is_some_and(|text| pattern.matches(text, scratch) == *wanted)
            }
            ImageCondition::All(parts) => ImageCondition::all_hold(parts, of, image, scratch)?,
            ImageCondition::Any(parts) => {
                for part in parts {
                    if part.holds(of, image, scratch)? {
                        return Ok(true);
                    }
                }
                false
            }
        })
    }
}

/// Whether a column's texts are stored as they are compared.
pub(crate) fn is_text(def: &ColumnDef) -> bool {
    matches!(def.ty, ColumnType::Char { .. } | ColumnType::VarChar { .. } | ColumnType::Text { .. })
        && def.collation.charset() == Charset::Utf8Mb4
}

fn is_within(rank: u64, ranges: &[(u64, u64)]) -> bool {
    match ranges {
        [(from, to)] => (*from..=*to).contains(&rank),
        ranges => {
            let after = ranges.partition_point(|(from, _)| *from <= rank);
            after.checked_sub(1).is_some_and(|at| rank <= ranges[at].1)
        }
    }
}
