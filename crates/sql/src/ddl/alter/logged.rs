//! What the log says of an ALTER TABLE in place of the statement as it was written.

use types::schema::same_name;
use types::{ColumnDef, TableDef};

use super::super::{RowOrder, render, with_local_defaults};
use super::{Altered, work};
use crate::parse::LogChanges;
use crate::parse::ast::{AlterAction, AlterTable};

impl Altered<'_> {
    /// The whole text, or changes of what was written. `left_out` are places of it that are not in the log; `counter` is where the AUTO_INCREMENT counter
    /// goes on, if that has to be said.
    pub(super) fn logged(
        &self,
        mut left_out: Vec<usize>,
        counter: Option<u64>,
        row_order: Option<RowOrder>,
    ) -> (Option<String>, LogChanges) {
        let keeps_online = self.copying.is_asked && self.copying.is_logged;
        let online = self.alter.online.iter().filter(|_| !keeps_online);
        left_out.extend(online.flat_map(|online| &online.items));
        left_out.sort_unstable();
        if let Some(text) = self.replaced_index() {
            return (Some(text), LogChanges::default());
        }
        let (log_text, mut changes) = self.with_generated_key(left_out);
        if self.copying.is_logged && !self.copying.is_asked {
            changes.add_action("ALGORITHM=COPY");
        }
        if let Some(next) = counter {
            changes.add_action(&format!("AUTO_INCREMENT = {next}"));
        }
        changes.row_order = row_order;
        if !self.context.is_of_maria {
            changes.in_mariadb = self.defaults_in_mariadb();
        }
        changes.is_as_in_mariadb = self.context.is_of_maria && self.differs_between_families();
        (log_text, changes)
    }

    /// CREATE OR REPLACE INDEX, where there was one.
    fn replaced_index(&self) -> Option<String> {
        let [AlterAction::DropIndex(old), AlterAction::AddIndex(_)] = &self.alter.actions[..] else { return None };
        let new = self.new.indexes.iter().find(|index| self.alter.of_index && same_name(&index.name, old))?;
        Some(render::replace_index(&self.table.def, &self.new, new))
    }

    /// What a MariaDB has to do in place of ALTER COLUMN … SET DEFAULT, by which it forgets what MySQL keeps: that a column has the time when its row
    /// changes. Of one without a default MODIFY would say something else, too.
    fn defaults_in_mariadb(&self) -> Vec<(usize, String)> {
        let mut instead = Vec::new();
        for action in self.alter.actions.iter().map(AlterAction::unconditional) {
            let AlterAction::ColumnDefault { column, default: Some(_), item } = action else { continue };
            let Some(old) = self.table.def.column_index(column) else { continue };
            let new = self.sources.iter().position(|source| *source == Some(old));
            if let Some(new) = new
                && work::loses_on_update(&self.table.def.columns[old])
            {
                let new_def = with_local_defaults(&self.new, self.context.time_zone);
                instead.push((*item, render::modify_in_mariadb(&new_def, new)));
            }
        }
        instead
    }

    /// Every server that executes the log has the same columns in the same order: a generated primary key is written out when it comes, when it goes
    /// and when another column becomes the AUTO_INCREMENT column or is it no longer, and FIRST is the place behind one that stays.
    fn with_generated_key(&self, left_out: Vec<usize>) -> (Option<String>, LogChanges) {
        let (alter, old, new) = (self.alter, &*self.table.def, &self.new);
        let mut changes = LogChanges { left_out, ..LogChanges::default() };
        let comes = new.generated_pk && self.sources[0] != Some(0);
        let goes = old.generated_pk && !self.sources.contains(&Some(0));
        changes.behind_generated_key = new.generated_pk && !comes;
        let is_counted = |def: &TableDef| def.columns[0].auto_increment;
        if !comes && !goes {
            if new.generated_pk && is_counted(old) != is_counted(new) {
                changes.added_actions = render::modify_generated_column(new);
            }
            return (None, changes);
        }
        let mut actions = Vec::new();
        if goes {
            if !alter.says(|action| matches!(action, AlterAction::DropPrimaryKey)) {
                actions.push("DROP PRIMARY KEY".to_owned());
            }
            if !drops_generated_column(alter) {
                actions.push(render::drop_generated_column());
            }
        }
        if comes {
            actions.push(render::add_generated_column(new));
        }
        let actions = actions.join(", ");
        match alter.actions[..] {
            // It may be written as DROP INDEX.
            [ref action] if matches!(action.unconditional(), AlterAction::DropPrimaryKey) => {
                (Some(render::alter_table(old, &format!("DROP PRIMARY KEY, {actions}"))), LogChanges::default())
            }
            _ => {
                changes.added_actions = actions;
                (None, changes)
            }
        }
    }

    /// Whether MariaDB and MySQL do different things: a character set or changed types beside CONVERT TO, NULL in columns that take none any more, an
    /// index that another in descending order replaces, and defaults of columns that have the time when their rows change.
    fn differs_between_families(&self) -> bool {
        let (alter, old) = (self.alter, &self.table.def);
        let is_descending = |action: &AlterAction| match action {
            AlterAction::AddIndex(spec) => spec.parts.iter().any(|part| part.descending),
            _ => false,
        };
        let replaces = old.indexes.iter().any(|index| index.generated) && alter.actions.iter().any(is_descending);
        let converts = alter.actions.iter().any(|action| matches!(action, AlterAction::ConvertTo(..)));
        let declares = alter.says(|action| match action {
            AlterAction::Options(options) => options.charset.is_some() || options.collation.is_some(),
            _ => false,
        });
        let columns = self.new.columns.iter().zip(&self.sources);
        let mut columns = columns.filter_map(|(new, source)| Some((&old.columns[(*source)?], new)));
        let gives_default = |column: &ColumnDef| {
            alter.says(|action| matches!(action, AlterAction::ColumnDefault { column: name, .. } if same_name(name, &column.name)))
        };
        let keeps_time = old.columns.iter().any(|column| work::loses_on_update(column) && gives_default(column));
        replaces
            || keeps_time
            || converts && declares
            || columns.any(|(old, new)| converts && old.ty != new.ty || old.nullable && !new.nullable)
    }
}

pub(super) fn drops_generated_column(alter: &AlterTable) -> bool {
    alter.says(|action| matches!(action, AlterAction::DropColumn(name) if work::is_generated_key(name)))
}
