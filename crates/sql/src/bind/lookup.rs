//! Columns of a block by their names, for blocks in which many are named.

use std::cell::{Cell, OnceCell};
use std::collections::{HashMap, HashSet};

use crate::bind::scope::Visible;
use crate::bind::tree::BoundTable;

/// After so many searches it pays to note where each name is.
const MANY: usize = 64;

/// Where columns are; made once it has been asked for often enough.
#[derive(Debug, Default)]
pub(crate) struct Lookup {
    searches: Cell<usize>,
    places: OnceCell<Places>,
}

/// Where columns are, by their names in lower case.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// The first that may be named without its table, as (table, column), and whether there is another one.
    shown: HashMap<String, ((usize, usize), bool)>,
    /// Those of tables that can be seen.
    of_tables: HashMap<String, Vec<(usize, usize)>>,
}

impl Lookup {
    /// Counts a search; the places, if they are worth it.
    pub(super) fn places(&self, tables: &[BoundTable], visible: &[Visible]) -> Option<&Places> {
        self.searches.set(self.searches.get() + 1);
        (self.searches.get() > MANY).then(|| self.places.get_or_init(|| Places::new(tables, visible)))
    }
}

impl Places {
    fn new(tables: &[BoundTable], visible: &[Visible]) -> Self {
        let mut places = Places::default();
        let name = |table: usize, column: usize| tables[table].columns[column].name.to_lowercase();
        for shown in visible.iter().filter(|visible| !visible.hidden) {
            let place = (shown.table, shown.column);
            let known = places.shown.entry(name(shown.table, shown.column));
            known.and_modify(|(_, is_more)| *is_more = true).or_insert((place, false));
        }
        let seen: HashSet<usize> = visible.iter().map(|visible| visible.table).collect();
        for table in (0..tables.len()).filter(|table| seen.contains(table)) {
            for column in 0..tables[table].columns.len() {
                places.of_tables.entry(name(table, column)).or_default().push((table, column));
            }
        }
        places
    }

    /// A column that is named without its table; an error if there are several.
    pub(super) fn unqualified(&self, column: &str) -> Result<Option<(usize, usize)>, ()> {
        match self.shown.get(&column.to_lowercase()) {
            Some((_, true)) => Err(()),
            found => Ok(found.map(|(place, _)| *place)),
        }
    }

    /// Columns of that name, in the order of their tables.
    pub(super) fn of_name(&self, column: &str) -> &[(usize, usize)] {
        self.of_tables.get(&column.to_lowercase()).map_or(&[], Vec::as_slice)
    }
}
