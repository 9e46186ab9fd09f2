//! Groups and aggregates, computed from images.
//!
//! A group is found by the bytes of its key's columns as they are stored: equal bytes are one group. Other bytes may be of the same group
//! (`'a'` and `'A'`), so those that are new are made into the key that [`order::encode`] says, once.

use std::sync::Arc;

use base::SqlError;
use bytes::Bytes;
use engine::Rows;
use types::{ColumnType, TypeError, Value, collation};

use crate::exec::image::ImageOf;
use crate::exec::image::compile::Compiler;
use crate::exec::image::conditions::ImageCondition;
use crate::exec::image::numbers::{Number, Units};
use crate::exec::keys::KeyMap;
use crate::expr::{Aggregate, AggregateFunction, AggregateState, Expr, ExprType, Kind, order};
use crate::plan::node::AggregateNode;

/// Bytes that a group takes beside its key and first row, and its aggregates each.
const GROUP_BYTES: usize = 160;
const STATE_BYTES: usize = size_of::<AggregateState>();
/// Bytes of keys that stand for a group which has others already are remembered up to so many, and twice as many as there are groups.
const ALIASES_MAX: usize = 1 << 16;

/// How images are grouped.
pub(crate) struct ImageGrouping {
    pub(crate) of: ImageOf,
    pub(crate) conditions: Vec<ImageCondition>,
    /// Columns of GROUP BY: positions in the image, and types.
    keys: Vec<(usize, ExprType)>,
    /// Equal keys are stored as equal bytes.
    has_exact_keys: bool,
    aggregates: Vec<(Arc<Aggregate>, Summed)>,
}

/// What an aggregate takes of an image.
enum Summed {
    /// COUNT(*)
    Rows,
    /// COUNT of a column.
    NotNull(usize),
    /// SUM, AVG
    Exact(Number),
    /// The same of a column of floating-point numbers.
    Double(usize),
    /// MIN, MAX of a column.
    Extreme(usize),
}

/// Groups under way.
#[derive(Default)]
pub(crate) struct ImageGroups {
    /// By the bytes of the key's columns.
    raw: KeyMap<u32>,
    /// By the key.
    keys: KeyMap<u32>,
    pub(crate) list: Vec<ImageGroup>,
    bytes: usize,
    scratch: Vec<u8>,
}

/// A group under way: the image of its first row, and its aggregates.
pub(crate) struct ImageGroup {
    /// Bytes of the key's columns, of its last row; if rows come in order.
    raw: Vec<u8>,
    key: Vec<u8>,
    pub(crate) first: Bytes,
    pub(crate) states: Vec<AggregateState>,
}

impl ImageGrouping {
    /// The grouping of a node over images for which these conditions hold; `None` if something of it cannot be said of images.
    pub(crate) fn new(node: &AggregateNode, conditions: &[&Expr], compiler: &Compiler<'_>) -> Option<Self> {
        let keys = node.keys.iter().map(|key| Some((compiler.place(key)?, key.ty.clone()))).collect::<Option<_>>()?;
        let summed =
            |(aggregate, _): &(Arc<Aggregate>, usize)| Some((aggregate.clone(), Summed::new(aggregate, compiler)?));
        let is_exact = |key: &Expr| {
            let place = compiler.place(key)?;
            let ty = &compiler.of.def(place).ty;
            Some(ty.integer().is_some() || *ty == ColumnType::Date)
        };
        let has_exact_keys = node.keys.iter().all(|key| is_exact(key) == Some(true));
        let aggregates = node.aggregates.iter().map(summed).collect::<Option<_>>()?;
        let conditions =
            conditions.iter().map(|condition| compiler.condition(condition, true)).collect::<Option<_>>()?;
        Some(ImageGrouping { of: compiler.of.clone(), conditions, keys, has_exact_keys, aggregates })
    }

    /// Whether it only counts rows.
    pub(crate) fn counts_rows(&self) -> bool {
        self.keys.is_empty() && self.aggregates.iter().all(|(_, summed)| matches!(summed, Summed::Rows))
    }

    /// Whether rows may be taken in parts: sums of floating-point numbers depend on their order.
    pub(crate) fn is_divisible(&self) -> bool {
        !self.aggregates.iter().any(|(_, summed)| matches!(summed, Summed::Double(_)))
    }

    /// Whether no sum can outgrow its memory.
    pub(crate) fn sums_fit(&self) -> bool {
        let fits = |summed: &Summed| if let Summed::Exact(number) = summed { number.sums_fit() } else { true };
        self.aggregates.iter().all(|(_, summed)| fits(summed))
    }

    /// If it wants nothing but MIN and MAX of columns, without groups: which of which columns of the table.
    pub(crate) fn extremes(&self) -> Option<Vec<(&Aggregate, usize)>> {
        if !self.keys.is_empty() || self.aggregates.is_empty() {
            return None;
        }
        let mut extremes = Vec::with_capacity(self.aggregates.len());
        for (aggregate, summed) in &self.aggregates {
            let Summed::Extreme(place) = summed else { return None };
            extremes.push((&**aggregate, self.of.column(*place)));
        }
        Some(extremes)
    }

    /// The one group of a grouping without keys, with so many rows.
    pub(crate) fn counted(&self, rows: u64) -> Vec<AggregateState> {
        let mut states = self.start();
        states.iter_mut().for_each(|state| state.add_count(rows));
        states
    }

    fn start(&self) -> Vec<AggregateState> {
        self.aggregates.iter().map(|(aggregate, _)| aggregate.start()).collect()
    }

    /// Takes in the rows for which the conditions hold. False if it cannot be done like this: a number does not fit, or the groups take
    /// more than `bytes`.
    pub(crate) fn add(&self, rows: &Rows, groups: &mut ImageGroups, bytes: usize) -> Result<bool, SqlError> {
        for row in 0..rows.len() {
            let image = rows.value(row);
            if !self.holds(image, &mut groups.scratch)? {
                continue;
            }
            let group = match self.keys.is_empty() {
                true if groups.list.is_empty() => groups.push(Vec::new(), image, self.start()),
                true => 0,
                false => self.group_of(image, groups, || rows.value_bytes(row))?,
            };
            if groups.bytes > bytes {
                return Ok(false);
            }
            if !self.take_in(&mut groups.list[group].states, image, || rows.value_bytes(row))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The same where rows with equal keys come one after the other: groups that have ended are given, and `current` is the last.
    pub(crate) fn add_ordered(
        &self,
        rows: &Rows,
        current: &mut Option<ImageGroup>,
        scratch: &mut Vec<u8>,
        mut give: impl FnMut(ImageGroup),
    ) -> Result<bool, SqlError> {
        for row in 0..rows.len() {
            let image = rows.value(row);
            if !self.holds(image, scratch)? {
                continue;
            }
            self.raw_key(image, scratch)?;
            if current.as_ref().is_none_or(|group| group.raw != *scratch) {
                let key = if self.has_exact_keys { Vec::new() } else { self.key(&rows.value_bytes(row))? };
                match current {
                    Some(group) if !self.has_exact_keys && group.key == key => group.raw.clone_from(scratch),
                    _ => {
                        let group = ImageGroup::new(scratch.clone(), key, image, self.start());
                        current.replace(group).into_iter().for_each(&mut give);
                    }
                }
            }
            if let Some(group) = current
                && !self.take_in(&mut group.states, image, || rows.value_bytes(row))?
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Joins a group with one whose rows come behind its own, if they are the same; gives it back if not.
    pub(crate) fn join_ordered(
        &self,
        group: &mut ImageGroup,
        other: ImageGroup,
    ) -> Result<Option<ImageGroup>, SqlError> {
        if group.raw != other.raw && (self.has_exact_keys || group.key != other.key) {
            return Ok(Some(other));
        }
        group.raw = other.raw;
        self.join(&mut group.states, &other.states)?;
        Ok(None)
    }

    fn join(&self, states: &mut [AggregateState], others: &[AggregateState]) -> Result<(), SqlError> {
        let states = states.iter_mut().zip(others).zip(&self.aggregates);
        states.into_iter().try_for_each(|((state, other), (aggregate, _))| state.join(aggregate, other))
    }

    /// Takes a row into the states of its group; false if a number does not fit.
    fn take_in(
        &self,
        states: &mut [AggregateState],
        image: &[u8],
        shared: impl Fn() -> Bytes,
    ) -> Result<bool, SqlError> {
        for ((aggregate, summed), state) in self.aggregates.iter().zip(states) {
            if !summed.add(aggregate, state, &self.of, image, &shared)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn holds(&self, image: &[u8], scratch: &mut Vec<u8>) -> Result<bool, TypeError> {
        ImageCondition::all_hold(&self.conditions, &self.of, image, scratch)
    }

    /// The group of an image, which is made if it is new.
    fn group_of(&self, image: &[u8], groups: &mut ImageGroups, shared: impl Fn() -> Bytes) -> Result<usize, SqlError> {
        let mut raw = std::mem::take(&mut groups.scratch);
        self.raw_key(image, &mut raw)?;
        if let Some(&group) = groups.raw.get(&raw) {
            groups.scratch = raw;
            return Ok(group as usize);
        }
        let key = self.key(&shared())?;
        let group = match groups.keys.get(&key) {
            Some(&group) => group as usize,
            None => groups.push(key, image, self.start()),
        };
        if groups.raw.len() < ALIASES_MAX.max(2 * groups.list.len()) {
            groups.bytes += raw.len() + KeyMap::<u32>::bytes_beside_key();
            groups.raw.insert(&raw, group as u32);
        }
        groups.scratch = raw;
        Ok(group)
    }

    /// The bytes of the key's columns as they are stored.
    fn raw_key(&self, image: &[u8], raw: &mut Vec<u8>) -> Result<(), TypeError> {
        raw.clear();
        for (place, _) in &self.keys {
            match self.of.field(*place).bytes(image)? {
                Some(bytes) => {
                    raw.push(1);
                    raw.extend_from_slice(bytes);
                }
                None => raw.push(0),
            }
        }
        Ok(())
    }

    /// The key: equal bytes for rows of one group.
    fn key(&self, image: &Bytes) -> Result<Vec<u8>, TypeError> {
        let mut key = Vec::new();
        for (place, ty) in &self.keys {
            order::encode(ty, &self.of.layout().decode_column(image, *place)?, false, &mut key);
        }
        Ok(key)
    }

    /// Takes in groups of rows that come behind those of `groups`. False if they take more than `bytes`.
    pub(crate) fn merge(&self, groups: &mut ImageGroups, others: ImageGroups, bytes: usize) -> Result<bool, SqlError> {
        for other in others.list {
            match groups.keys.get(&other.key) {
                None => {
                    groups.push(other.key, &other.first, other.states);
                    if groups.bytes > bytes {
                        return Ok(false);
                    }
                }
                Some(&group) => self.join(&mut groups.list[group as usize].states, &other.states)?,
            }
        }
        Ok(true)
    }
}

impl ImageGroups {
    /// What they take, about.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    fn push(&mut self, key: Vec<u8>, first: &[u8], states: Vec<AggregateState>) -> usize {
        let number = self.list.len();
        self.bytes += 2 * key.len() + first.len() + GROUP_BYTES + states.len() * STATE_BYTES;
        self.keys.insert(&key, number as u32);
        self.list.push(ImageGroup::new(Vec::new(), key, first, states));
        number
    }
}

impl ImageGroup {
    /// Its first row's image is copied, since it would keep a page.
    fn new(raw: Vec<u8>, key: Vec<u8>, first: &[u8], states: Vec<AggregateState>) -> Self {
        ImageGroup { raw, key, first: Bytes::copy_from_slice(first), states }
    }
}

impl Summed {
    fn new(aggregate: &Aggregate, compiler: &Compiler<'_>) -> Option<Summed> {
        if aggregate.distinct || !aggregate.order_by.is_empty() {
            return None;
        }
        match (aggregate.function, &aggregate.args[..]) {
            (AggregateFunction::Count, []) => Some(Summed::Rows),
            (AggregateFunction::Count, [arg]) => match compiler.place(arg) {
                Some(place) => Some(Summed::NotNull(place)),
                None => compiler.constant(arg).filter(|value| !value.is_null()).map(|_| Summed::Rows),
            },
            (AggregateFunction::Sum | AggregateFunction::Avg, [arg]) => match aggregate.ty.kind {
                Kind::Decimal => Number::new(arg, aggregate.scale_of_sum(), compiler).map(Summed::Exact),
                _ => compiler.place(arg).filter(|place| compiler.of.field(*place).is_double()).map(Summed::Double),
            },
            (AggregateFunction::Min | AggregateFunction::Max, [arg]) => {
                let place = compiler.place(arg)?;
                let ty = &compiler.of.def(place).ty;
                let is_member = matches!(ty, ColumnType::Enum { .. } | ColumnType::Set { .. } | ColumnType::Json);
                (!is_member).then_some(Summed::Extreme(place))
            }
            _ => None,
        }
    }

    /// Takes in an image; false if a number does not fit.
    #[inline]
    fn add(
        &self,
        aggregate: &Aggregate,
        state: &mut AggregateState,
        of: &ImageOf,
        image: &[u8],
        shared: impl Fn() -> Bytes,
    ) -> Result<bool, SqlError> {
        match self {
            Summed::Rows => state.add_count(1),
            Summed::NotNull(place) => state.add_count(of.field(*place).bytes(image)?.is_some().into()),
            Summed::Exact(number) => match number.units(of, image)? {
                Units::Null => {}
                Units::Number(number) => return Ok(state.add_units(number)),
                Units::TooGreat => return Ok(false),
            },
            Summed::Double(place) => {
                if let Some(number) = of.field(*place).double(image)? {
                    state.add_double(number);
                }
            }
            Summed::Extreme(place) => {
                let Some(content) = of.field(*place).content(image)? else { return Ok(true) };
                let is_worse = match state.best() {
                    None => false,
                    // Most texts are no better, and need not be made values.
                    Some(Value::Str(best)) if content.is_ascii() => {
                        !aggregate.prefers(collation::compare(aggregate.ty.collation, content, best))
                    }
                    Some(_) => false,
                };
                if !is_worse {
                    let value = of.layout().decode_column(&shared(), *place)?;
                    state.take_best(aggregate, value);
                }
            }
        }
        Ok(true)
    }
}
