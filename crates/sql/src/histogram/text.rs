//! Histograms as MySQL's JSON, and back: keys by length, then by letters; frequencies are doubles.

use base::base64;
use serde_json::Value as Json;
use types::{CollationId, ColumnDef, ColumnType, Date, DateTime, Decimal, Time, Value};

use super::{Bucket, DataType, Histogram};

/// How a string is marked that has its bytes in base 64.
const OPAQUE: &str = "base64:type254:";

impl Histogram {
    /// Its JSON, in one line.
    pub(crate) fn to_json(&self, column: &ColumnDef) -> String {
        let bucket = |bucket: &Bucket| {
            let value = |value| value_text(self.data_type, column, value);
            match self.is_singleton {
                true => format!("[{}, {:?}]", value(&bucket.upper), bucket.cumulative),
                false => {
                    let (lower, upper) = (value(&bucket.lower), value(&bucket.upper));
                    format!("[{lower}, {upper}, {:?}, {}]", bucket.cumulative, bucket.distinct)
                }
            }
        };
        let buckets = self.buckets.iter().map(bucket).collect::<Vec<_>>().join(", ");
        format!(
            "{{\"buckets\": [{buckets}], \"data-type\": \"{}\", \"auto-update\": {}, \"null-values\": {:?}, \"collation-id\": {}, \
             \"last-updated\": \"{}\", \"sampling-rate\": {:?}, \"histogram-type\": \"{}\", \"number-of-buckets-specified\": {}}}",
            self.data_type.name(),
            self.auto_update,
            self.null_values,
            self.collation.0,
            self.last_updated,
            self.sampling_rate,
            if self.is_singleton { "singleton" } else { "equi-height" },
            self.buckets_specified,
        )
    }

    /// From JSON of this form, as it is in the catalog.
    pub(crate) fn parse(json: &str, column: &ColumnDef) -> Option<Histogram> {
        Histogram::from_json(&serde_json::from_str(json).ok()?, column)
    }

    pub(super) fn from_json(json: &Json, column: &ColumnDef) -> Option<Histogram> {
        let data_type = DataType::of(&column.ty)?;
        let is_singleton = json.get("histogram-type")?.as_str()? == "singleton";
        let bucket = |bucket: &Json| {
            let value = |at: usize| value_of(data_type, column, bucket.get(at)?);
            let (upper, frequency) = if is_singleton { (0, 1) } else { (1, 2) };
            Some(Bucket {
                lower: value(0)?,
                upper: value(upper)?,
                cumulative: bucket.get(frequency)?.as_f64()?,
                distinct: if is_singleton { 1 } else { bucket.get(3)?.as_u64()?.max(1) },
            })
        };
        Some(Histogram {
            data_type,
            collation: CollationId(json.get("collation-id")?.as_u64()? as u16),
            auto_update: json.get("auto-update")?.as_bool()?,
            null_values: json.get("null-values")?.as_f64()?,
            sampling_rate: json.get("sampling-rate")?.as_f64()?,
            buckets_specified: json.get("number-of-buckets-specified")?.as_u64()?,
            last_updated: json.get("last-updated").and_then(Json::as_str).unwrap_or_default().to_owned(),
            is_singleton,
            buckets: json.get("buckets")?.as_array()?.iter().map(bucket).collect::<Option<_>>()?,
        })
    }
}

/// Whether its values are unsigned numbers.
fn is_unsigned(column: &ColumnDef) -> bool {
    matches!(column.ty, ColumnType::Bit { .. } | ColumnType::Year)
        || column.ty.integer().is_some_and(|(_, unsigned)| unsigned)
}

fn members(column: &ColumnDef) -> &[String] {
    match &column.ty {
        ColumnType::Enum { members } | ColumnType::Set { members } => members,
        _ => &[],
    }
}

fn value_text(data_type: DataType, column: &ColumnDef, value: &Value) -> String {
    let quoted = |write: &dyn Fn(&mut Vec<u8>)| {
        let mut out = Vec::new();
        write(&mut out);
        format!("\"{}\"", String::from_utf8_lossy(&out))
    };
    match (data_type, value) {
        (DataType::Enum, Value::Str(text)) => {
            let place = members(column).iter().position(|member| member.as_bytes() == &text[..]);
            place.map_or(0, |place| place + 1).to_string()
        }
        (DataType::Set, Value::Str(text)) => {
            let text = String::from_utf8_lossy(text);
            let place = |member: &str| members(column).iter().position(|other| other == member);
            text.split(',').filter_map(place).fold(0_u64, |bits, place| bits | 1 << place).to_string()
        }
        (_, Value::Int(number)) => number.to_string(),
        (_, Value::UInt(number)) => number.to_string(),
        (_, Value::Float(number)) => format!("{:?}", f64::from(*number)),
        (_, Value::Double(number)) => format!("{number:?}"),
        (_, Value::Decimal(number)) => number.to_string(),
        (_, Value::Date(date)) => quoted(&|out| date.write_text(out)),
        (_, Value::Time(time)) => quoted(&|out| time.write_text(6, out)),
        (_, Value::DateTime(at)) => quoted(&|out| at.write_text(6, out)),
        (_, Value::Str(bytes) | Value::Bytes(bytes)) => {
            let mut out = OPAQUE.as_bytes().to_vec();
            base64::encode_lines(bytes, &mut out);
            quoted(&|to| to.extend(out.iter().filter(|byte| **byte != b'\n')))
        }
        (_, Value::Null | Value::Json(_)) => "null".to_owned(),
    }
}

/// A value as the column has it; `None` if it is none.
pub(super) fn value_of(data_type: DataType, column: &ColumnDef, json: &Json) -> Option<Value> {
    let text = || json.as_str();
    Some(match data_type {
        DataType::Int if is_unsigned(column) => Value::UInt(json.as_u64()?),
        DataType::Int => Value::Int(json.as_i64()?),
        DataType::UInt => Value::UInt(json.as_u64()?),
        DataType::Double if matches!(column.ty, ColumnType::Float { .. }) => Value::Float(json.as_f64()? as f32),
        DataType::Double => Value::Double(json.as_f64()?),
        DataType::Decimal => Value::Decimal(json.as_number()?.to_string().parse::<Decimal>().ok()?),
        DataType::Date => Value::Date(Date::from_canonical(text()?)?),
        DataType::Time => Value::Time(Time::from_canonical(text()?)?),
        DataType::DateTime => Value::DateTime(DateTime::from_canonical(text()?)?),
        DataType::String => {
            let bytes = base64::decode(text()?.strip_prefix(OPAQUE)?.as_bytes())?;
            match column.ty.is_binary() {
                true => Value::Bytes(bytes.into()),
                false => Value::Str(bytes.into()),
            }
        }
        DataType::Enum => match json.as_u64()?.checked_sub(1) {
            Some(place) => Value::str(members(column).get(place as usize)?.clone()),
            None => Value::str_static(""),
        },
        DataType::Set => {
            let bits = json.as_u64()?;
            let chosen = members(column).iter().enumerate().filter(|(place, _)| bits & 1 << place != 0);
            Value::str(chosen.map(|(_, member)| member.as_str()).collect::<Vec<_>>().join(","))
        }
    })
}
