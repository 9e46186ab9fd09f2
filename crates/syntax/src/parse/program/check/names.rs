//! Names that are known in a place of a program.

use std::collections::HashMap;

use crate::ast::Name;
use crate::statement::program::body::DataType;

/// Names of one kind, each with what it stands for. A block's hide those of the blocks around it.
pub(super) struct Names<T> {
    /// For each name what it stands for, innermost last, with the number of blocks around that.
    known: HashMap<String, Vec<(usize, T)>>,
    /// Names in the order in which they were declared, with the number of blocks around them.
    order: Vec<(usize, String)>,
    depth: usize,
}

impl<T> Default for Names<T> {
    fn default() -> Self {
        Names { known: HashMap::new(), order: Vec::new(), depth: 0 }
    }
}

/// A name as it is compared.
fn folded(name: &Name) -> String {
    name.as_str().to_lowercase()
}

/// Whether two names are one.
pub(super) fn is_same(a: &Name, b: &Name) -> bool {
    folded(a) == folded(b)
}

impl<T> Names<T> {
    /// A block begins.
    pub(super) fn enter(&mut self) {
        self.depth += 1;
    }

    /// A block ends, and with it the scope of its names.
    pub(super) fn leave(&mut self) {
        while let Some((_, name)) = self.order.pop_if(|(depth, _)| *depth == self.depth) {
            if let Some(meanings) = self.known.get_mut(&name) {
                meanings.pop();
            }
        }
        self.depth -= 1;
    }

    /// Declares a name in the block; false if the block has it already.
    pub(super) fn declare(&mut self, name: &Name, meaning: T) -> bool {
        let name = folded(name);
        let meanings = self.known.entry(name.clone()).or_default();
        if meanings.last().is_some_and(|(depth, _)| *depth == self.depth) {
            return false;
        }
        meanings.push((self.depth, meaning));
        self.order.push((self.depth, name));
        true
    }

    /// What a name stands for.
    pub(super) fn get(&self, name: &Name) -> Option<&T> {
        self.known.get(&folded(name))?.last().map(|(_, meaning)| meaning)
    }
}

/// A label.
pub(super) struct Label {
    /// How many handlers are around it.
    pub(super) handlers: usize,
    pub(super) is_loop: bool,
}

/// A variable, as LIMIT takes it or does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Variable {
    /// A whole number.
    Whole,
    /// Anything else.
    Other,
    /// It has the type of something else.
    Unknown,
}

impl Variable {
    /// Of that type.
    pub(super) fn of(ty: &DataType) -> Variable {
        match ty {
            DataType::Plain(ty) => match ty.name {
                "bool" | "tinyint" | "smallint" | "mediumint" | "int" | "bigint" | "serial" => Variable::Whole,
                _ => Variable::Other,
            },
            DataType::Row(_) | DataType::RowOf(_) => Variable::Other,
            DataType::Of(_) => Variable::Unknown,
        }
    }
}
