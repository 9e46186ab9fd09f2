//! Whether the server where an ALTER TABLE was made copies the table, and what of the result depends on it.

use engine::Table;
use types::TableDef;

use super::super::{DdlContext, mapper};
use super::online;
use crate::parse::ast::AlterTable;

/// What MySQL does, or the MariaDB whose log it is.
pub(in crate::ddl) struct Copying {
    /// ALGORITHM=COPY
    pub(super) is_asked: bool,
    /// Values get another type.
    pub(super) converts: bool,
    /// The primary key goes and no other comes but a generated one.
    pub(super) drops_key: bool,
    /// A column takes no NULLs any more, and `sql_mode` lets others stand for those that there are.
    pub(super) silences_null: bool,
    /// It copies the table.
    pub(in crate::ddl) is_done: bool,
    /// Rows are numbered as in a table that is copied. A generated primary key, which is not at the source, is numbered as at replicas, to which
    /// it is named.
    pub(in crate::ddl) numbers_rows: bool,
    /// The log has to say ALGORITHM=COPY, as replicas would do something else.
    pub(super) is_logged: bool,
}

impl Copying {
    /// `renames`: a column that stays has another name.
    pub(super) fn of(
        alter: &AlterTable,
        table: &Table,
        (new, sources): (&TableDef, &[Option<usize>]),
        renames: bool,
        context: &DdlContext<'_>,
    ) -> Self {
        let old = &table.def;
        let is_asked = online::asks_copy(alter);
        let converts = mapper::converts(old, new, sources, context.is_of_maria);
        let drops_key = online::drops_key(alter, old, new);
        let refuses_null = mapper::refuses_null(old, new, sources);
        let silences_null = !context.sql_mode.is_strict() && refuses_null;
        let says_so = converts || table.is_temporary() || is_asked || silences_null && !context.is_of_maria;
        let numbered = mapper::numbered(old, new, sources);
        let numbers_generated = numbered.is_some_and(|column| new.generated_pk && column == 0);
        let numbers_others = numbered.is_some() && !numbers_generated;
        // A MariaDB may do without a copy; then it begins with another number, and does not sort the index anew of a column that has another collation
        // and another name: that is corrupted for it.
        let differs_in_place =
            numbered.is_some() && context.auto_increment != (1, 1) || renames && !context.is_of_maria;
        Copying {
            is_asked,
            converts,
            drops_key,
            silences_null,
            is_done: says_so || drops_key,
            numbers_rows: says_so || drops_key && numbers_others,
            // A MariaDB has the default in place of NULL if it does not copy.
            is_logged: is_asked && (numbered.is_some() || refuses_null)
                || silences_null && !context.is_of_maria
                || drops_key && numbers_others
                || converts && differs_in_place,
        }
    }
}
