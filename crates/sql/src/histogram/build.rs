//! From the values of a column to a histogram.
//!
//! Values are kept by the bytes that an index would have for them, so their order and what is equal are the column's own. The buckets of an
//! equi-height histogram are filled one after the other up to a size that is searched for: the smallest at which there are enough buckets.

use std::collections::BTreeMap;
use std::sync::Arc;

use types::{IndexDef, KeyCodec, KeyPart, TableDef, TypeError, Value};

use super::{Bucket, DataType, Histogram, TEXT_CHARS, collation_of};

/// Steps of the search for the size of buckets.
const SEARCH_STEPS: usize = 10;

/// Counts the values of a column.
pub(crate) struct Builder {
    def: Arc<TableDef>,
    column: usize,
    codec: KeyCodec,
    values: BTreeMap<Vec<u8>, (Value, u64)>,
    rows: u64,
    nulls: u64,
}

/// What the histogram is to be.
pub(crate) struct Wanted {
    pub(crate) buckets: u64,
    pub(crate) auto_update: bool,
    /// The part of the rows that was counted.
    pub(crate) sampling_rate: f64,
    pub(crate) now: String,
}

impl Builder {
    pub(crate) fn new(def: &Arc<TableDef>, column: usize) -> Self {
        let is_text = DataType::of(&def.columns[column].ty) == Some(DataType::String);
        let part = KeyPart { prefix_chars: is_text.then_some(TEXT_CHARS), ..KeyPart::column(column) };
        // An index that is the primary key has no other parts behind its own.
        let index = IndexDef { parts: vec![part], ..def.primary().clone() };
        let codec = KeyCodec::new(def, &index);
        Builder { def: def.clone(), column, codec, values: BTreeMap::new(), rows: 0, nulls: 0 }
    }

    /// One more row.
    pub(crate) fn add(&mut self, value: Value) -> Result<(), TypeError> {
        self.rows += 1;
        if value.is_null() {
            self.nulls += 1;
            return Ok(());
        }
        let value = first_chars(value);
        let key = self.key_of(&value)?;
        self.values.entry(key).or_insert((value, 0)).1 += 1;
        Ok(())
    }

    /// The bytes by whose order values are ordered.
    pub(crate) fn key_of(&mut self, value: &Value) -> Result<Vec<u8>, TypeError> {
        let mut key = Vec::new();
        self.codec.encode_prefix(std::slice::from_ref(value), &mut key)?;
        Ok(key)
    }

    /// The histogram of what was counted.
    pub(crate) fn finish(self, wanted: &Wanted) -> Option<Histogram> {
        let column = &self.def.columns[self.column];
        let is_singleton = self.values.len() as u64 <= wanted.buckets;
        let rows = self.rows.max(1) as f64;
        let mut buckets = Vec::new();
        let mut before = 0;
        let groups = if is_singleton { 1 } else { bucket_size(&self.values, wanted.buckets) };
        let mut in_bucket = 0;
        let mut once = 0;
        let mut values_left = self.values.len() as u64;
        for (value, count) in self.values.into_values() {
            // Where there are buckets enough each value has its own.
            let may_join = values_left > wanted.buckets.saturating_sub(buckets.len() as u64);
            values_left -= 1;
            before += count;
            let cumulative = before as f64 / rows;
            match buckets.last_mut() {
                Some(Bucket { upper, cumulative: last, distinct, .. }) if may_join && in_bucket + count <= groups => {
                    (*upper, *last, *distinct) = (value, cumulative, *distinct + 1);
                    in_bucket += count;
                    once += u64::from(count == 1);
                }
                last => {
                    last.into_iter().for_each(|bucket| more_values(bucket, in_bucket, once, wanted.sampling_rate));
                    buckets.push(Bucket { lower: value.clone(), upper: value, cumulative, distinct: 1 });
                    (in_bucket, once) = (count, u64::from(count == 1));
                }
            }
        }
        if !is_singleton {
            buckets
                .last_mut()
                .into_iter()
                .for_each(|bucket| more_values(bucket, in_bucket, once, wanted.sampling_rate));
        }
        Some(Histogram {
            data_type: DataType::of(&column.ty)?,
            collation: collation_of(column),
            auto_update: wanted.auto_update,
            null_values: self.nulls as f64 / rows,
            sampling_rate: wanted.sampling_rate,
            buckets_specified: wanted.buckets,
            last_updated: wanted.now.clone(),
            is_singleton,
            buckets,
        })
    }
}

/// Values that a sample has once stand for others that it does not have.
fn more_values(bucket: &mut Bucket, rows: u64, once: u64, rate: f64) {
    if rate < 1.0 && bucket.distinct > 1 {
        let distinct = bucket.distinct as f64 / (1.0 - (1.0 - rate) * once as f64 / rows.max(1) as f64);
        bucket.distinct = distinct.round() as u64;
    }
}

/// How many rows a bucket takes, so that there are no more buckets than this.
fn bucket_size(values: &BTreeMap<Vec<u8>, (Value, u64)>, buckets: u64) -> u64 {
    let all: u64 = values.values().map(|(_, count)| count).sum();
    let fits = |size: u64| {
        let (mut used, mut rows) = (1, 0);
        for (_, count) in values.values() {
            match rows > 0 && rows + count > size {
                true => (used, rows) = (used + 1, *count),
                false => rows += count,
            }
        }
        used <= buckets
    };
    // Two buckets that follow one another have more rows together than fit into one.
    let (mut lower, mut upper) = (0, 2 * all / buckets + 1);
    for _ in 0..SEARCH_STEPS {
        if upper <= lower + 1 {
            break;
        }
        let size = lower + (upper - lower) / 2;
        if fits(size) { upper = size } else { lower = size }
    }
    upper
}

/// The part of a text that is looked at.
fn first_chars(value: Value) -> Value {
    let chars = TEXT_CHARS as usize;
    match value {
        Value::Bytes(bytes) => Value::Bytes(bytes.slice(..bytes.len().min(chars))),
        Value::Str(bytes) if bytes.len() > chars => {
            let text = String::from_utf8_lossy(&bytes);
            let end = text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at);
            Value::str(text[..end].to_owned())
        }
        other => other,
    }
}
