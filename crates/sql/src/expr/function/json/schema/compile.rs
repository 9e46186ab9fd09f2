//! A schema as a list of schemas that lead to one another by number.

use std::collections::HashMap;

use base::memory;
use types::json::Object;

use super::super::super::regexp::{self, Pattern};
use super::*;
use crate::expr::json::too_deep;

/// The number of a schema in its list.
pub(super) type SchemaId = usize;

/// The schema that takes anything.
pub(super) const ANY: SchemaId = 0;

/// As many schemas may be in one another, references followed.
pub(super) const DEPTH_MAX: usize = 200;

/// The types of draft 4, and their bits.
pub(super) mod kind {
    pub(in super::super) const NULL: u8 = 1;
    pub(in super::super) const BOOLEAN: u8 = 2;
    pub(in super::super) const OBJECT: u8 = 4;
    pub(in super::super) const ARRAY: u8 = 8;
    pub(in super::super) const STRING: u8 = 16;
    pub(in super::super) const NUMBER: u8 = 32;
    pub(in super::super) const INTEGER: u8 = 64;
    pub(in super::super) const ALL: u8 = 127;
}

/// What becomes of members or elements that no other keyword names.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Additional {
    #[default]
    Allowed,
    Refused,
    Of(SchemaId),
}

/// What elements have to be.
#[derive(Debug, Default)]
pub(super) enum Items {
    #[default]
    Any,
    Each(SchemaId),
    ByPlace(Vec<SchemaId>),
}

/// What there has to be beside a member.
#[derive(Debug)]
pub(super) enum Dependency {
    Members(Vec<String>),
    Schema(SchemaId),
}

/// One schema. What a keyword that is not there would say is what refuses nothing.
#[derive(Debug, Default)]
pub(super) struct Schema {
    pub(super) pointer: String,
    pub(super) types: u8,
    pub(super) one_of_values: Option<Vec<Json>>,
    pub(super) all_of: Vec<SchemaId>,
    pub(super) any_of: Vec<SchemaId>,
    pub(super) one_of: Vec<SchemaId>,
    pub(super) not: Option<SchemaId>,
    pub(super) properties: HashMap<String, SchemaId>,
    pub(super) required: Vec<String>,
    pub(super) pattern_properties: Vec<(Pattern, SchemaId)>,
    pub(super) additional_properties: Additional,
    pub(super) properties_count: (u64, u64),
    pub(super) dependencies: Vec<(String, Dependency)>,
    pub(super) items: Items,
    pub(super) additional_items: Additional,
    pub(super) items_count: (u64, u64),
    pub(super) unique_items: bool,
    pub(super) minimum: Option<Json>,
    pub(super) maximum: Option<Json>,
    pub(super) exclusive_minimum: bool,
    pub(super) exclusive_maximum: bool,
    pub(super) multiple_of: Option<Json>,
    pub(super) length: (u64, u64),
    pub(super) pattern: Option<Pattern>,
    /// It has a text as its default: such a member need not be there though it is required.
    pub(super) has_default: bool,
}

/// All schemas of one text.
#[derive(Debug)]
pub(super) struct Schemas {
    list: Vec<Schema>,
    pub(super) root: SchemaId,
}

impl Schemas {
    /// # Errors
    /// 1235 for references to elsewhere, 3157 for those in a circle.
    pub(super) fn compile(root: &Json, args: &Args<'_>) -> Result<Self, SqlError> {
        let any = Schema { pointer: "#".to_owned(), types: kind::ALL, ..Schema::of_anything() };
        let mut compiler = Compiler { root, args, list: vec![any], known: HashMap::new(), depth: 0 };
        let id = compiler.schema(root, "#".to_owned())?;
        compiler.all_inside(root, "#")?;
        let root = id;
        Ok(Schemas { list: compiler.list, root })
    }

    pub(super) fn get(&self, id: SchemaId) -> &Schema {
        &self.list[id]
    }
}

impl Schema {
    fn of_anything() -> Self {
        const ANY_COUNT: (u64, u64) = (0, u64::MAX);
        Schema { properties_count: ANY_COUNT, items_count: ANY_COUNT, length: ANY_COUNT, ..Schema::default() }
    }
}

struct Compiler<'a> {
    root: &'a Json,
    args: &'a Args<'a>,
    list: Vec<Schema>,
    /// By their places; `None` while it is being made.
    known: HashMap<String, Option<SchemaId>>,
    depth: usize,
}

/// A number that bounds a count.
fn count(object: &Object, keyword: &str) -> Option<u64> {
    let count = match object.get(keyword)? {
        Json::Int(n) => u64::try_from(*n).ok()?,
        Json::UInt(n) => *n,
        _ => return None,
    };
    (count <= u64::from(u32::MAX)).then_some(count)
}

fn counts(object: &Object, least: &str, most: &str) -> (u64, u64) {
    (count(object, least).unwrap_or(0), count(object, most).unwrap_or(u64::MAX))
}

fn number(object: &Object, keyword: &str) -> Option<Json> {
    let value = object.get(keyword)?;
    matches!(value, Json::Int(_) | Json::UInt(_) | Json::Double(_) | Json::Decimal(_)).then(|| value.clone())
}

fn is_true(object: &Object, keyword: &str) -> bool {
    matches!(object.get(keyword), Some(Json::Bool(true)))
}

fn members<'j>(object: &'j Object, keyword: &str) -> impl Iterator<Item = (&'j str, &'j Json)> {
    let inner = match object.get(keyword) {
        Some(Json::Object(inner)) => Some(inner),
        _ => None,
    };
    inner.into_iter().flat_map(Object::iter)
}

fn elements<'j>(object: &'j Object, keyword: &str) -> &'j [Json] {
    match object.get(keyword) {
        Some(Json::Array(elements)) => elements,
        _ => &[],
    }
}

fn texts(elements: &[Json]) -> Vec<String> {
    let text = |element: &Json| match element {
        Json::String(text) => Some(text.clone()),
        _ => None,
    };
    elements.iter().filter_map(text).collect()
}

fn step(pointer: &str, keyword: &str) -> String {
    let mut pointer = pointer.to_owned();
    push_step(&mut pointer, keyword);
    pointer
}

impl Compiler<'_> {
    /// The schema at a place; what is no object takes anything.
    fn schema(&mut self, json: &Json, pointer: String) -> Result<SchemaId, SqlError> {
        if self.depth == DEPTH_MAX {
            return Err(too_deep());
        }
        self.depth += 1;
        let id = self.schema_at(json, pointer)?;
        self.depth -= 1;
        Ok(id)
    }

    /// What is in a value, whether a keyword leads there or not: references that are refused are refused anywhere.
    fn all_inside(&mut self, json: &Json, pointer: &str) -> Result<(), SqlError> {
        match json {
            Json::Object(object) => object.iter().try_for_each(|(name, value)| self.inside(value, pointer, name)),
            Json::Array(elements) => {
                let mut places = elements.iter().enumerate();
                places.try_for_each(|(at, element)| self.inside(element, pointer, &at.to_string()))
            }
            _ => Ok(()),
        }
    }

    fn inside(&mut self, json: &Json, pointer: &str, name: &str) -> Result<(), SqlError> {
        if !matches!(json, Json::Object(_) | Json::Array(_)) {
            return Ok(());
        }
        let pointer = step(pointer, name);
        self.schema(json, pointer.clone())?;
        self.all_inside(json, &pointer)
    }

    fn schema_at(&mut self, json: &Json, pointer: String) -> Result<SchemaId, SqlError> {
        let Json::Object(object) = json else { return Ok(ANY) };
        self.args.ctx.worked(1 + object.len() as u64 + pointer.len() as u64)?;
        if let Some(Json::String(target)) = object.get("$ref")
            && !target.is_empty()
        {
            return self.reference(target);
        }
        match self.known.get(&pointer) {
            Some(Some(id)) => return Ok(*id),
            Some(None) => return Err(too_deep()),
            None => {}
        }
        self.known.insert(pointer.clone(), None);
        let schema = self.object(object, &pointer)?;
        memory::check_room(&self.list, 1)?;
        let id = self.list.len();
        self.list.push(schema);
        self.known.insert(pointer, Some(id));
        Ok(id)
    }

    /// What `#/a/b` leads to; 1235 for anything that is not in the same schema.
    fn reference(&mut self, target: &str) -> Result<SchemaId, SqlError> {
        let Some(fragment) = target.strip_prefix('#') else {
            return Err(SqlError::not_supported("references in JSON Schema"));
        };
        let Some((names, found)) = follow(self.root, fragment) else { return Ok(ANY) };
        let mut pointer = "#".to_owned();
        names.iter().for_each(|name| push_step(&mut pointer, name));
        self.schema(found, pointer)
    }

    fn all(&mut self, elements: &[Json], pointer: &str) -> Result<Vec<SchemaId>, SqlError> {
        let places = elements.iter().enumerate();
        places.map(|(at, element)| self.schema(element, step(pointer, &at.to_string()))).collect()
    }

    fn additional(&mut self, object: &Object, keyword: &str, pointer: &str) -> Result<Additional, SqlError> {
        Ok(match object.get(keyword) {
            Some(Json::Bool(false)) => Additional::Refused,
            Some(schema @ Json::Object(_)) => Additional::Of(self.schema(schema, step(pointer, keyword))?),
            _ => Additional::Allowed,
        })
    }

    fn object(&mut self, object: &Object, pointer: &str) -> Result<Schema, SqlError> {
        let mut schema = Schema { pointer: pointer.to_owned(), types: types_of(object), ..Schema::of_anything() };
        if let Some(Json::Array(values)) = object.get("enum") {
            schema.one_of_values = Some(values.clone()).filter(|values| !values.is_empty());
        }
        schema.all_of = self.all(elements(object, "allOf"), &step(pointer, "allOf"))?;
        schema.any_of = self.all(elements(object, "anyOf"), &step(pointer, "anyOf"))?;
        schema.one_of = self.all(elements(object, "oneOf"), &step(pointer, "oneOf"))?;
        if let Some(not) = object.get("not") {
            schema.not = Some(self.schema(not, step(pointer, "not"))?);
        }
        self.members(&mut schema, object, pointer)?;
        match object.get("items") {
            Some(Json::Array(items)) => schema.items = Items::ByPlace(self.all(items, &step(pointer, "items"))?),
            Some(each @ Json::Object(_)) => schema.items = Items::Each(self.schema(each, step(pointer, "items"))?),
            _ => {}
        }
        schema.additional_items = self.additional(object, "additionalItems", pointer)?;
        schema.items_count = counts(object, "minItems", "maxItems");
        schema.unique_items = is_true(object, "uniqueItems");
        schema.minimum = number(object, "minimum");
        schema.maximum = number(object, "maximum");
        schema.exclusive_minimum = is_true(object, "exclusiveMinimum");
        schema.exclusive_maximum = is_true(object, "exclusiveMaximum");
        schema.multiple_of = number(object, "multipleOf").filter(|number| validate::as_double(number) > 0.0);
        schema.length = counts(object, "minLength", "maxLength");
        if let Some(Json::String(pattern)) = object.get("pattern") {
            schema.pattern = self.pattern(pattern)?;
        }
        schema.has_default = matches!(object.get("default"), Some(Json::String(text)) if !text.is_empty());
        Ok(schema)
    }

    /// The keywords that are about the members of objects.
    fn members(&mut self, schema: &mut Schema, object: &Object, pointer: &str) -> Result<(), SqlError> {
        let place = step(pointer, "properties");
        for (name, value) in members(object, "properties") {
            let id = self.schema(value, step(&place, name))?;
            schema.properties.insert(name.to_owned(), id);
        }
        let place = step(pointer, "patternProperties");
        for (name, value) in members(object, "patternProperties") {
            let id = self.schema(value, step(&place, name))?;
            if let Some(pattern) = self.pattern(name)? {
                schema.pattern_properties.push((pattern, id));
            }
        }
        schema.additional_properties = self.additional(object, "additionalProperties", pointer)?;
        schema.required = texts(elements(object, "required"));
        schema.properties_count = counts(object, "minProperties", "maxProperties");
        let place = step(pointer, "dependencies");
        for (name, value) in members(object, "dependencies") {
            let dependency = match value {
                Json::Array(names) => Dependency::Members(texts(names)),
                Json::Object(_) => Dependency::Schema(self.schema(value, step(&place, name))?),
                _ => continue,
            };
            schema.dependencies.push((name.to_owned(), dependency));
        }
        Ok(())
    }

    /// One that is no regular expression says nothing.
    fn pattern(&self, text: &str) -> Result<Option<Pattern>, SqlError> {
        let pattern = regexp::of_text(self.args, text)?;
        memory::check()?;
        Ok(pattern)
    }
}

fn types_of(object: &Object) -> u8 {
    let of_name = |name: &str| match name {
        "null" => kind::NULL,
        "boolean" => kind::BOOLEAN,
        "object" => kind::OBJECT,
        "array" => kind::ARRAY,
        "string" => kind::STRING,
        "number" => kind::NUMBER,
        "integer" => kind::INTEGER,
        _ => 0,
    };
    match object.get("type") {
        None => kind::ALL,
        Some(Json::String(name)) => of_name(name),
        Some(Json::Array(names)) => texts(names).iter().fold(0, |types, name| types | of_name(name)),
        Some(_) => 0,
    }
}

/// The names of a fragment, and what they lead to; `None` if that is nothing.
fn follow<'j>(root: &'j Json, fragment: &str) -> Option<(Vec<String>, &'j Json)> {
    let mut steps = fragment.split('/');
    steps.next().filter(|before| before.is_empty())?;
    let (mut names, mut at) = (Vec::new(), root);
    for step in steps {
        let name = String::from_utf8(percent_decoded(step)).ok()?.replace("~1", "/").replace("~0", "~");
        at = match at {
            Json::Object(object) => object.get(&name)?,
            Json::Array(elements) => elements.get(name.parse::<usize>().ok()?)?,
            _ => return None,
        };
        names.push(name);
    }
    Some((names, at))
}

fn percent_decoded(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, behind @ ..] = rest {
        let digits = behind.get(..2).filter(|_| *first == b'%').and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                rest = &behind[2..];
            }
            None => {
                out.push(*first);
                rest = behind;
            }
        }
    }
    out
}
