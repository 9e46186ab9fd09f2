//! A document beside a schema. The first failure is reported, in the order of reading: a value's type, then its members
//! or elements, then how many they are and what they need beside them, then `enum` and the schemas that look at the whole value.

use std::cmp::Ordering;

use types::json::Object;

use super::super::super::regexp;
use super::compile::{ANY, Additional, Dependency, Items, Schema, SchemaId, kind};
use super::*;

/// Where a document fails, and at what.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) schema: String,
    pub(super) document: String,
    pub(super) keyword: &'static str,
}

type Checked = Result<Option<Failure>, SqlError>;

pub(super) fn validate(schemas: &Schemas, document: &Json, args: &Args<'_>) -> Checked {
    Validator { schemas, args, place: "#".to_owned() }.value(schemas.root, document)
}

struct Validator<'a> {
    schemas: &'a Schemas,
    args: &'a Args<'a>,
    /// Where in the document.
    place: String,
}

impl Validator<'_> {
    fn failure(&self, schema: &Schema, keyword: &'static str) -> Checked {
        Ok(Some(Failure { schema: schema.pointer.clone(), document: self.place.clone(), keyword }))
    }

    fn is_valid(&mut self, id: SchemaId, json: &Json) -> Result<bool, SqlError> {
        Ok(self.value(id, json)?.is_none())
    }

    fn value(&mut self, id: SchemaId, json: &Json) -> Checked {
        const STEPS: u64 = 64;
        self.args.ctx.worked(STEPS)?;
        if id == ANY {
            return Ok(None);
        }
        let schemas = self.schemas;
        let schema = schemas.get(id);
        if schema.types & types_of(json) == 0 {
            return self.failure(schema, "type");
        }
        let failure = match json {
            Json::Object(object) => self.object(schema, json, object)?,
            Json::Array(elements) => self.array(schema, elements)?,
            Json::Null | Json::Bool(_) => None,
            Json::Int(_) | Json::UInt(_) | Json::Double(_) | Json::Decimal(_) => self.number(schema, json)?,
            text => self.text(schema, text)?,
        };
        if failure.is_some() {
            return Ok(failure);
        }
        self.whole(schema, json)
    }

    /// `enum`, and the schemas of the value as a whole.
    fn whole(&mut self, schema: &Schema, json: &Json) -> Checked {
        if let Some(values) = &schema.one_of_values {
            let hash = same::hash(json);
            if !values.iter().any(|value| same::hash(value) == hash && same::is_same(value, json)) {
                return self.failure(schema, "enum");
            }
        }
        for &id in &schema.all_of {
            if !self.is_valid(id, json)? {
                return self.failure(schema, "allOf");
            }
        }
        let count = |validator: &mut Self, ids: &[SchemaId], enough: usize| {
            let mut valid = 0;
            for &id in ids {
                valid += usize::from(validator.is_valid(id, json)?);
                if valid == enough {
                    break;
                }
            }
            Ok::<_, SqlError>(valid)
        };
        if !schema.any_of.is_empty() && count(self, &schema.any_of, 1)? == 0 {
            return self.failure(schema, "anyOf");
        }
        if !schema.one_of.is_empty() && count(self, &schema.one_of, 2)? != 1 {
            return self.failure(schema, "oneOf");
        }
        match schema.not {
            Some(id) if self.is_valid(id, json)? => self.failure(schema, "not"),
            _ => Ok(None),
        }
    }

    /// Checks what is one step further in the document.
    fn within(&mut self, name: &str, check: impl FnOnce(&mut Self) -> Checked) -> Checked {
        let before = self.place.len();
        push_step(&mut self.place, name);
        let checked = check(self);
        self.place.truncate(before);
        checked
    }

    fn object(&mut self, schema: &Schema, json: &Json, object: &Object) -> Checked {
        for (name, value) in object.iter() {
            let failure = self.within(name, |validator| validator.member(schema, name, value))?;
            if failure.is_some() {
                return Ok(failure);
            }
        }
        let is_needed = |name: &String| {
            let own = schema.properties.get(name);
            object.get(name).is_none() && !own.is_some_and(|id| self.schemas.get(*id).has_default)
        };
        if schema.required.iter().any(is_needed) {
            return self.failure(schema, "required");
        }
        let count = object.len() as u64;
        if count < schema.properties_count.0 {
            return self.failure(schema, "minProperties");
        }
        if count > schema.properties_count.1 {
            return self.failure(schema, "maxProperties");
        }
        for (name, dependency) in &schema.dependencies {
            if object.get(name).is_none() {
                continue;
            }
            let is_met = match dependency {
                Dependency::Members(names) => names.iter().all(|name| object.get(name).is_some()),
                Dependency::Schema(id) => self.is_valid(*id, json)?,
            };
            if !is_met {
                return self.failure(schema, "dependencies");
            }
        }
        Ok(None)
    }

    /// A member: what its name says of it, and patterns of its name.
    fn member(&mut self, schema: &Schema, name: &str, value: &Json) -> Checked {
        let mut patterns = Vec::new();
        for (pattern, id) in &schema.pattern_properties {
            if regexp::is_found(self.args, pattern, name)? {
                patterns.push(*id);
            }
        }
        let named = schema.properties.get(name).copied();
        let other = match schema.additional_properties {
            Additional::Of(id) => Some(id),
            Additional::Allowed | Additional::Refused => None,
        };
        if patterns.is_empty() {
            return match (named, other, schema.additional_properties) {
                (Some(id), ..) | (None, Some(id), _) => self.value(id, value),
                (None, None, Additional::Refused) => self.failure(schema, "additionalProperties"),
                _ => Ok(None),
            };
        }
        let mut all = true;
        for id in patterns {
            all = all && self.is_valid(id, value)?;
        }
        // What `additionalProperties` says of the value counts beside patterns only if they do not say that it is right.
        let is_right = match (named, other) {
            (Some(id), _) => all && self.is_valid(id, value)?,
            (None, Some(id)) => all || self.is_valid(id, value)?,
            (None, None) => all,
        };
        if is_right { Ok(None) } else { self.failure(self.schemas.get(ANY), "patternProperties") }
    }

    fn array(&mut self, schema: &Schema, elements: &[Json]) -> Checked {
        let mut known: std::collections::HashMap<u64, Vec<&Json>> = Default::default();
        for (at, element) in elements.iter().enumerate() {
            let name = at.to_string();
            let id = match &schema.items {
                Items::Any => ANY,
                Items::Each(id) => *id,
                Items::ByPlace(ids) => match (ids.get(at), schema.additional_items) {
                    (Some(id), _) => *id,
                    (None, Additional::Of(id)) => id,
                    (None, Additional::Allowed) => ANY,
                    (None, Additional::Refused) => {
                        return self.within(&name, |validator| validator.failure(schema, "additionalItems"));
                    }
                },
            };
            let failure = self.within(&name, |validator| validator.value(id, element))?;
            if failure.is_some() {
                return Ok(failure);
            }
            if schema.unique_items {
                let alike = known.entry(same::hash(element)).or_default();
                self.args.ctx.worked(alike.len() as u64)?;
                if alike.iter().any(|other| same::is_same(other, element)) {
                    return self.within(&name, |validator| validator.failure(schema, "uniqueItems"));
                }
                alike.push(element);
            }
        }
        let count = elements.len() as u64;
        if count < schema.items_count.0 {
            return self.failure(schema, "minItems");
        }
        if count > schema.items_count.1 {
            return self.failure(schema, "maxItems");
        }
        Ok(None)
    }

    fn number(&self, schema: &Schema, json: &Json) -> Checked {
        let beyond = |bound: &Option<Json>, wanted: Ordering, is_exclusive: bool| {
            bound.as_ref().is_some_and(|bound| {
                let order = order(json, bound);
                order == wanted || is_exclusive && order == Ordering::Equal
            })
        };
        if beyond(&schema.minimum, Ordering::Less, schema.exclusive_minimum) {
            return self.failure(schema, "minimum");
        }
        if beyond(&schema.maximum, Ordering::Greater, schema.exclusive_maximum) {
            return self.failure(schema, "maximum");
        }
        match &schema.multiple_of {
            Some(step) if !is_multiple(json, step) => self.failure(schema, "multipleOf"),
            _ => Ok(None),
        }
    }

    fn text(&self, schema: &Schema, json: &Json) -> Checked {
        let unquoted;
        let text = match json {
            Json::String(text) => text,
            other => {
                let mut text = String::new();
                other.write_unquoted(&mut text);
                unquoted = text;
                &unquoted
            }
        };
        let (least, most) = schema.length;
        if (least, most) != (0, u64::MAX) {
            self.args.ctx.worked(text.len() as u64)?;
            let length = text.chars().count() as u64;
            if length < least {
                return self.failure(schema, "minLength");
            }
            if length > most {
                return self.failure(schema, "maxLength");
            }
        }
        match &schema.pattern {
            Some(pattern) if !regexp::is_found(self.args, pattern, text)? => self.failure(schema, "pattern"),
            _ => Ok(None),
        }
    }
}

fn types_of(json: &Json) -> u8 {
    match json {
        Json::Null => kind::NULL,
        Json::Bool(_) => kind::BOOLEAN,
        Json::Int(_) | Json::UInt(_) => kind::INTEGER | kind::NUMBER,
        Json::Double(_) | Json::Decimal(_) => kind::NUMBER,
        Json::Array(_) => kind::ARRAY,
        Json::Object(_) => kind::OBJECT,
        _ => kind::STRING,
    }
}

fn as_integer(json: &Json) -> Option<i128> {
    match json {
        Json::Int(n) => Some((*n).into()),
        Json::UInt(n) => Some((*n).into()),
        _ => None,
    }
}

pub(super) fn as_double(json: &Json) -> f64 {
    match json {
        Json::Int(n) => *n as f64,
        Json::UInt(n) => *n as f64,
        Json::Double(n) => *n,
        Json::Decimal(n) => n.to_f64(),
        _ => 0.0,
    }
}

fn order(a: &Json, b: &Json) -> Ordering {
    match (as_integer(a), as_integer(b)) {
        (Some(a), Some(b)) => a.cmp(&b),
        _ => as_double(a).total_cmp(&as_double(b)),
    }
}

/// Whether a number is a multiple, as near as DOUBLEs can tell.
fn is_multiple(number: &Json, step: &Json) -> bool {
    if let (Some(number), Some(step)) = (as_integer(number), as_integer(step)) {
        return number % step == 0;
    }
    let quotient = as_double(number).abs() / as_double(step);
    let nearest = (quotient + 0.5).floor();
    let difference = (nearest - quotient).abs();
    difference <= (quotient + nearest) * f64::EPSILON || difference < f64::MIN_POSITIVE
}

/// Which values are the same: of numbers 1 and 1.0 are.
mod same {
    use std::hash::{DefaultHasher, Hash, Hasher};

    use super::*;

    pub(super) fn hash(json: &Json) -> u64 {
        let mut hasher = DefaultHasher::new();
        types_of(json).hash(&mut hasher);
        match json {
            Json::Int(_) | Json::UInt(_) | Json::Double(_) | Json::Decimal(_) => {
                let mut hasher = DefaultHasher::new();
                as_double(json).to_bits().hash(&mut hasher);
                return hasher.finish();
            }
            Json::String(text) => text.hash(&mut hasher),
            Json::Array(elements) => elements.iter().for_each(|element| hash(element).hash(&mut hasher)),
            Json::Object(object) => {
                object.iter().for_each(|(name, value)| (name, hash(value)).hash(&mut hasher));
            }
            other => other.to_text().hash(&mut hasher),
        }
        hasher.finish()
    }

    pub(super) fn is_same(a: &Json, b: &Json) -> bool {
        match (a, b) {
            (Json::Array(a), Json::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b)),
            (Json::Object(a), Json::Object(b)) => {
                a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| a.0 == b.0 && is_same(a.1, b.1))
            }
            _ if types_of(a) & kind::NUMBER != 0 && types_of(b) & kind::NUMBER != 0 => order(a, b) == Ordering::Equal,
            _ => a == b,
        }
    }
}
