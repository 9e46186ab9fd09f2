//! What is wrong with a histogram that a client gives, in MySQL's words and MySQL's order.

use serde_json::Value as Json;
use types::{ColumnDef, Value};

use super::text::value_of;
use super::{BUCKETS_MAX, DataType, Histogram};

/// Sums of frequencies may be so far from 1.
const EPSILON: f64 = 1e-9;

/// Why it is no histogram of the column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// It is no JSON: what the parser says, and where.
    NoJson(&'static str, usize),
    /// It is JSON.
    Json(String),
}

fn refuse<T>(message: impl Into<String>) -> Result<T, Refused> {
    Err(Refused::Json(message.into()))
}

fn wrong_type<T>(at: &str) -> Result<T, Refused> {
    refuse(format!("Wrong attribute type at '{at}'."))
}

/// The histogram that a text is. `order` compares values of the column.
pub(crate) fn check(
    text: &str,
    column: &ColumnDef,
    order: &dyn Fn(&Value) -> Option<Vec<u8>>,
) -> Result<Histogram, Refused> {
    if text.trim().is_empty() {
        return Err(Refused::NoJson("The document is empty.", text.len()));
    }
    let json: Json = match serde_json::from_str(text) {
        Ok(json) => json,
        Err(error) => return Err(Refused::NoJson("Invalid value.", error.column().saturating_sub(1))),
    };
    let Json::Object(_) = &json else { return refuse("JSON data is not an object") };
    let kind = text_at(&json, "histogram-type")?;
    let is_singleton = match kind {
        "singleton" => true,
        "equi-height" => false,
        _ => return refuse("Unsupported histogram type at '$.\"histogram-type\"'."),
    };
    let data_type = text_at(&json, "data-type")?;
    let Some(own) = DataType::of(&column.ty).filter(|own| own.name() == data_type) else {
        return refuse("Histogram data type does not match column data type at '$.\"data-type\"'.");
    };
    let rate = double_at(&json, "sampling-rate")?;
    if rate <= 0.0 || rate > 1.0 {
        return refuse("The value of attribute sampling-rate must be greater than 0 and less than or equal to 1.");
    }
    let Some(specified) = attribute(&json, "number-of-buckets-specified")?.as_i64() else {
        return wrong_type("$.\"number-of-buckets-specified\"");
    };
    if !(1..=BUCKETS_MAX as i64).contains(&specified) {
        return refuse(
            "The value of attribute number-of-buckets-specified must be an integer in the range from 1 to 1024 at \
             '$.\"number-of-buckets-specified\"'.",
        );
    }
    let nulls = double_at(&json, "null-values")?;
    if !(0.0..=1.0).contains(&nulls) {
        return refuse("The null values fraction must be between 0 and 1.");
    }
    match attribute(&json, "collation-id")?.as_u64() {
        None => return wrong_type("$.\"collation-id\""),
        Some(id) if u16::try_from(id).ok().and_then(types::collation::by_id).is_none() => {
            return refuse("The charset ID does not exist at '$.\"collation-id\"'.");
        }
        Some(_) => {}
    }
    if !attribute(&json, "auto-update")?.is_boolean() {
        return wrong_type("$.\"auto-update\"");
    }
    let Some(buckets) = attribute(&json, "buckets")?.as_array() else { return wrong_type("$.buckets") };
    if buckets.len() as i64 > specified {
        return refuse(
            "The number of real buckets must be less than or equal to the number specified by attribute number-of-buckets-specified.",
        );
    }
    check_buckets(buckets, is_singleton, (own, column, order), nulls)?;
    match Histogram::from_json(&json, column) {
        Some(histogram) => Ok(histogram),
        None => refuse("JSON format error."),
    }
}

/// What the values of buckets are, and how they are ordered.
type Values<'v> = (DataType, &'v ColumnDef, &'v dyn Fn(&Value) -> Option<Vec<u8>>);

fn check_buckets(buckets: &[Json], is_singleton: bool, of: Values<'_>, nulls: f64) -> Result<(), Refused> {
    let (data_type, column, order) = of;
    let (mut last, mut cumulative) = (None, 0.0);
    for (number, bucket) in buckets.iter().enumerate() {
        let at = |place: usize| format!("$.buckets[{number}][{place}]");
        let Some(parts) = bucket.as_array() else { return wrong_type(&format!("$.buckets[{number}]")) };
        let (count, wanted) = if is_singleton { (2, "Two") } else { (4, "Four") };
        if parts.len() != count {
            return refuse(format!("{wanted} elements required for bucket at '$.buckets[{number}]'."));
        }
        let key = |place: usize| -> Result<Vec<u8>, Refused> {
            let Some(value) = value_of(data_type, column, &parts[place]) else { return wrong_type(&at(place)) };
            order(&value).map_or_else(|| refuse(format!("Out of range value for column at '{}'.", at(place))), Ok)
        };
        let lower = key(0)?;
        let is_after = last.as_ref().is_none_or(|last| lower > *last);
        if is_singleton && !is_after {
            return refuse(format!("The value at '{}' must be greater than that of previous bucket.", at(0)));
        }
        let upper = if is_singleton { lower.clone() } else { key(1)? };
        if lower > upper {
            return refuse(format!(
                "The lower inclusive value of bucket at '{}' must be less than or equal to upper inclusive value.",
                at(0)
            ));
        }
        if !is_after {
            return refuse(format!(
                "The lower inclusive value of bucket at '{}' must be greater than the upper inclusive value of previous bucket.",
                at(0)
            ));
        }
        let place = if is_singleton { 1 } else { 2 };
        let Some(frequency) = parts[place].as_f64().filter(|_| parts[place].is_f64()) else {
            return wrong_type(&at(place));
        };
        if !(0.0..=1.0).contains(&frequency) {
            return refuse(format!(
                "The frequency must be greater than or equal to 0 and less than or equal to 1 at '{}'.",
                at(place)
            ));
        }
        if frequency <= cumulative {
            return refuse(format!(
                "The cumulative frequency of bucket at '{}' must be greater than that of previous bucket.",
                at(place)
            ));
        }
        if !is_singleton && parts[3].as_u64().is_none() {
            return wrong_type(&at(3));
        }
        (last, cumulative) = (Some(upper), frequency);
    }
    if buckets.is_empty() && nulls != 0.0 && nulls != 1.0 {
        return refuse("The null values fraction should be 0 or 1.");
    }
    if !buckets.is_empty() && (nulls + cumulative - 1.0).abs() > EPSILON {
        // With MySQL's quote at the end.
        return refuse(
            "The sum of the null values fraction and the cumulative frequency of the last bucket should be 1.'",
        );
    }
    Ok(())
}

/// How MySQL writes the path of a key.
fn path(key: &str) -> String {
    if key.contains('-') { format!("$.\"{key}\"") } else { format!("$.{key}") }
}

fn attribute<'j>(json: &'j Json, key: &str) -> Result<&'j Json, Refused> {
    json.get(key).map_or_else(|| refuse(format!("Missing attribute at '{}'.", path(key))), Ok)
}

fn text_at<'j>(json: &'j Json, key: &str) -> Result<&'j str, Refused> {
    attribute(json, key)?.as_str().map_or_else(|| wrong_type(&path(key)), Ok)
}

/// A number that is written as a double.
fn double_at(json: &Json, key: &str) -> Result<f64, Refused> {
    let number = attribute(json, key)?;
    number.as_f64().filter(|_| number.is_f64()).map_or_else(|| wrong_type(&path(key)), Ok)
}
