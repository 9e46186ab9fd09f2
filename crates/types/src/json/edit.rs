//! Changes in a document: JSON_SET and its kin, and the diffs with which a log says what changed.

use super::path::{Index, Leg, Path};
use super::{Json, Object};

/// What [`Json::change`] does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// JSON_SET: replaces what is there, adds what is not.
    Set,
    /// JSON_INSERT: only adds.
    Insert,
    /// JSON_REPLACE: only replaces.
    Replace,
}

/// What a diff of a partial update does at its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Diff {
    /// Another value for what is there.
    Replace,
    /// A member that was not there, or an element at that place.
    Insert,
    /// It goes away.
    Remove,
}

/// What became of [`Json::array_insert`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrayInsert {
    /// It was done, or there was no such array.
    Done,
    /// 3165: the path does not end with a cell.
    NoCell,
}

impl Json {
    /// The value at a path without wildcards.
    fn at_mut(&mut self, legs: &[Leg], auto_wrap: bool) -> Option<&mut Json> {
        let mut here = self;
        for leg in legs {
            here = match (leg, here) {
                (Leg::Member(key), Json::Object(object)) => object.get_mut(key)?,
                (Leg::Cell(index), Json::Array(elements)) => {
                    let (place, is_there) = index.place(elements.len());
                    elements.get_mut(place).filter(|_| is_there)?
                }
                (Leg::Cell(_), other) if auto_wrap && leg.wraps() && !matches!(other, Json::Array(_)) => other,
                _ => return None,
            };
        }
        Some(here)
    }

    /// JSON_SET, JSON_INSERT, JSON_REPLACE for one path without wildcards.
    pub fn change(&mut self, path: &Path, value: Json, change: Change) {
        if let Some(here) = self.at_mut(&path.legs, true) {
            if change != Change::Insert {
                *here = value;
            }
            return;
        }
        let Some((last, parents)) = path.legs.split_last().filter(|_| change != Change::Replace) else { return };
        match (last, self.at_mut(parents, true)) {
            (Leg::Member(key), Some(Json::Object(object))) => object.set(key, value),
            (Leg::Cell(index), Some(Json::Array(elements))) => {
                elements.insert(index.place(elements.len()).0, value);
            }
            (Leg::Cell(index), Some(other)) => {
                let own = std::mem::take(other);
                *other = Json::Array(if let Index::Last(_) = index { vec![value, own] } else { vec![own, value] });
            }
            _ => {}
        }
    }

    /// JSON_REMOVE for one path without wildcards that is not `$`.
    pub fn remove(&mut self, path: &Path) -> bool {
        let Some((last, parents)) = path.legs.split_last() else { return false };
        match (last, self.at_mut(parents, true)) {
            (Leg::Member(key), Some(Json::Object(object))) => object.remove(key).is_some(),
            (Leg::Cell(index), Some(Json::Array(elements))) => {
                let (place, is_there) = index.place(elements.len());
                if is_there {
                    elements.remove(place);
                }
                is_there
            }
            _ => false,
        }
    }

    /// JSON_ARRAY_APPEND for one path without wildcards.
    pub fn array_append(&mut self, path: &Path, value: Json) {
        match self.at_mut(&path.legs, true) {
            Some(Json::Array(elements)) => elements.push(value),
            Some(other) => *other = Json::Array(vec![std::mem::take(other), value]),
            None => {}
        }
    }

    /// JSON_ARRAY_INSERT for one path without wildcards.
    pub fn array_insert(&mut self, path: &Path, value: Json) -> ArrayInsert {
        let Some((Leg::Cell(index), parents)) = path.legs.split_last() else { return ArrayInsert::NoCell };
        if let Some(Json::Array(elements)) = self.at_mut(parents, true) {
            elements.insert(index.place(elements.len()).0, value);
        }
        ArrayInsert::Done
    }

    /// Applies a diff; `None` if the document is not what it was made for.
    pub fn apply_diff(&mut self, diff: Diff, path: &Path, value: Json) -> Option<()> {
        match diff {
            Diff::Replace => *self.at_mut(&path.legs, false)? = value,
            Diff::Remove => self.remove(path).then_some(())?,
            Diff::Insert => {
                let (last, parents) = path.legs.split_last()?;
                match (last, self.at_mut(parents, false)?) {
                    (Leg::Member(key), Json::Object(object)) if object.get(key).is_none() => object.set(key, value),
                    (Leg::Cell(index), Json::Array(elements)) => {
                        let (place, _) = index.place(elements.len());
                        elements.insert(place, value);
                    }
                    _ => return None,
                }
            }
        }
        Some(())
    }

    /// JSON_MERGE_PRESERVE: arrays are joined, objects merged, other values become an array.
    pub fn merge_preserve(self, other: Json) -> Json {
        match (self, other) {
            (Json::Object(a), Json::Object(b)) => {
                Json::Object(a.merged(b, Some, |own, other| Some(own.merge_preserve(other))))
            }
            (a, b) => {
                let mut elements = a.into_array();
                elements.extend(b.into_array());
                Json::Array(elements)
            }
        }
    }

    /// JSON_MERGE_PATCH, as RFC 7396 has it.
    pub fn merge_patch(self, patch: Json) -> Json {
        let Json::Object(patch) = patch else { return patch };
        let own = if let Json::Object(own) = self { own } else { Object::default() };
        let patched = |own: Json, patch: Json| (patch != Json::Null).then(|| own.merge_patch(patch));
        Json::Object(own.merged(patch, |patch| patched(Json::default(), patch), patched))
    }
}
