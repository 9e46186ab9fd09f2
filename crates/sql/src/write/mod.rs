//! [`RowMaker`]: the one place where a row is made.
//!
//! A maker is planned once per table and statement. It holds no values of a run: it is the same for all rows, and for all runs of a prepared
//! statement. What is under way is in a [`NewRow`], or in a list of changes, which are used again for one row after the other.
//!
//! ```text
//!   a new row       inputs ──> defaults ──> number ──> image      INSERT, REPLACE, LOAD DATA, ALTER TABLE's copy
//!   a changed row   inputs ──> ON UPDATE ───────────> image      UPDATE, ON DUPLICATE KEY UPDATE, cascades
//!   bytes           inputs, defaults ───────────────> image      rows of another server's log: [`ImageMaker`]
//! ```
//!
//! | stage | function | what it does |
//! |---|---|---|
//! | inputs | [`RowMaker::set`] and its kin, [`Assignments::apply`] | each value is converted for its column, and a NULL that the column does not take becomes an error or what stands for it (`null`) |
//! | defaults | [`RowMaker::complete`] | columns that were not given, in the table's order |
//! | ON UPDATE | [`RowMaker::changed`] | the time, if anything of the row is different and the column itself is not given; a cascade leaves it ([`RowMaker::replaced`]) |
//! | number | [`RowMaker::number`] | AUTO_INCREMENT, for a row that has no number yet |
//! | image | [`RowMaker::image`], [`RowMaker::changed`] | the row's bytes; the engine makes the keys of them |
//!
//! A stage that is to come between (what other columns make, what the table checks) is a line of [`RowMaker::complete`] and [`RowMaker::changed`].
//!
//! # Invariants
//! - Inputs are converted one by one as they come, in the statement's order: so are its errors and warnings.
//! - Defaults come behind all inputs, in the order of the columns; none is computed for a column that was given.
//! - Nothing but a maker makes an image of values, and what it makes has no NULL in a column that takes none.
//! - Numbers come last: a row that fails before has taken none.
//! - A row costs its image: the values under way are in memory that is kept, and nothing is looked up by name.
//!
//! How strict a run is, and what its messages say of which row, are [`Terms`] and the row's number.

mod assign;
mod default;
mod image;
mod input;
mod null;
mod numbers;

pub(crate) use assign::{Assigned, Assignment, Assignments, Kept};
pub(crate) use default::{DefaultValue, default_expr};
pub(crate) use image::ImageMaker;
pub(crate) use input::{for_column, short_integer, takes_numbers};
pub(crate) use null::NullOfCopy;
pub(crate) use numbers::{Numbers, Series};

use std::sync::Arc;

use base::{SqlError, codes, memory};
use bytes::Bytes;
use engine::Table;
use types::table::TableCodec;
use types::{ColumnDef, TableDef, Value};

use crate::bind::Binder;
use crate::exec::ExecContext;
use crate::exec::spill::check_room_for;
use crate::expr::copied::Copied;
use crate::expr::zero::implicit_default;
use crate::expr::{EvalContext, Strictness, convert_for_column, name_table};

/// How rows of one table are made in one statement.
#[derive(Debug)]
pub(crate) struct RowMaker {
    form: Form,
    /// Per column what it gets if it is not given; empty where no row is new.
    defaults: Vec<DefaultValue>,
    /// The column whose numbers are made.
    pub(crate) auto_increment: Option<usize>,
    /// The generated key that is counted beside that column.
    counted: Option<usize>,
    /// Columns with ON UPDATE CURRENT_TIMESTAMP.
    timed: Vec<usize>,
}

/// What the rows look like.
#[derive(Debug)]
enum Form {
    Table(Arc<Table>),
    /// As they will in a table that is being defined anew.
    New(Box<TableCodec>),
}

/// On which terms one run of a statement makes its rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    pub(crate) strictness: Strictness,
    /// NULL for a column that takes none is an error whatever `sql_mode` says: what a statement gives to a single row.
    pub(crate) refuses_null: bool,
    /// `auto_increment_increment` and `auto_increment_offset`
    pub(crate) numbering: (u64, u64),
}

impl Terms {
    /// Those of a statement, with IGNORE or without.
    pub(crate) fn of(ignore: bool, context: &ExecContext<'_>) -> Self {
        let strictness = Strictness::of(ignore, &context.eval);
        Terms { strictness, refuses_null: false, numbering: context.auto_increment }
    }

    /// An error in strict mode, a warning otherwise.
    pub(crate) fn complain(self, code: codes::Code, message: String, eval: &EvalContext<'_>) -> Result<(), SqlError> {
        match self.strictness {
            Strictness::Strict => Err(SqlError::new(code, message)),
            Strictness::Lenient => {
                eval.warn(code, message);
                Ok(())
            }
        }
    }
}

/// A new row under way.
#[derive(Debug, Default)]
pub(crate) struct NewRow {
    /// A value per column.
    values: Vec<Value>,
    states: Vec<ColumnState>,
    /// In the statement, from 1: for messages.
    pub(crate) number: u64,
}

/// What a row under way has of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ColumnState {
    /// Nothing that counts.
    Open,
    /// What the statement gives.
    Given,
    /// The default, which is the same for all rows of the statement: it stays for the next one.
    Filled,
}

/// Columns of a row that is there with their new values, each once.
pub(crate) type Changes = Vec<(usize, Value)>;

impl NewRow {
    /// For rows of so many columns.
    pub(crate) fn of_columns(count: usize) -> Self {
        NewRow { values: vec![Value::Null; count], states: vec![ColumnState::Open; count], number: 0 }
    }

    /// Begins the next row: nothing of it is given.
    pub(crate) fn begin(&mut self, number: u64) {
        self.number = number;
        for state in &mut self.states {
            if *state == ColumnState::Given {
                *state = ColumnState::Open;
            }
        }
    }

    /// Gives a value that is in the column's own form.
    pub(crate) fn put(&mut self, column: usize, value: Value) {
        self.states[column] = ColumnState::Given;
        self.values[column] = value;
    }

    /// Whether a column has its value from the statement.
    pub(crate) fn is_given(&self, column: usize) -> bool {
        self.states[column] == ColumnState::Given
    }

    /// What a column has.
    pub(crate) fn value(&self, column: usize) -> &Value {
        &self.values[column]
    }
}

impl RowMaker {
    /// For a statement that makes new rows of a table, and may change others.
    pub(crate) fn of_new_rows(binder: &Binder<'_>, table: &Arc<Table>) -> Result<Self, SqlError> {
        let columns = &table.def.columns;
        let mut defaults =
            columns.iter().map(|column| DefaultValue::of(binder, column)).collect::<Result<Vec<_>, _>>()?;
        let counted = table.def.counted_pk();
        if let Some(counted) = counted {
            defaults[counted] = DefaultValue::AutoIncrement;
        }
        let auto_increment = table.def.auto_increment_column();
        Ok(RowMaker { defaults, auto_increment, counted, ..RowMaker::of_changes(table) })
    }

    /// The same of LOAD DATA and of another server's log: that a column which these do not have has no default is nothing to speak of.
    pub(crate) fn without_complaints(binder: &Binder<'_>, table: &Arc<Table>) -> Result<Self, SqlError> {
        let mut maker = RowMaker::of_new_rows(binder, table)?;
        for (default, column) in maker.defaults.iter_mut().zip(&table.def.columns) {
            default.or_implicit(column);
        }
        Ok(maker)
    }

    /// For a statement that changes rows of a table and makes none.
    pub(crate) fn of_changes(table: &Arc<Table>) -> Self {
        let columns = table.def.columns.iter().enumerate();
        let timed = columns.filter(|(_, column)| column.on_update_now).map(|(number, _)| number).collect();
        RowMaker { form: Form::Table(table.clone()), defaults: Vec::new(), auto_increment: None, counted: None, timed }
    }

    /// For ALTER TABLE, which makes rows of a new form from those of the old one. Columns that are added get `defaults`, in which the column that gets
    /// numbers has none.
    pub(crate) fn of_new_form(def: &TableDef, defaults: Vec<DefaultValue>, auto_increment: Option<usize>) -> Self {
        let form = Form::New(Box::new(TableCodec::new(Arc::new(def.clone()))));
        RowMaker { form, defaults, auto_increment, counted: None, timed: Vec::new() }
    }

    fn codec(&self) -> &TableCodec {
        match &self.form {
            Form::Table(table) => &table.codec,
            Form::New(codec) => codec,
        }
    }

    /// The table's definition.
    pub(crate) fn def(&self) -> &TableDef {
        &self.codec().def
    }

    /// A column of the table.
    pub(crate) fn column(&self, column: usize) -> &ColumnDef {
        &self.codec().def.columns[column]
    }

    /// What a column gets if it is not given.
    pub(crate) fn default(&self, column: usize) -> &DefaultValue {
        &self.defaults[column]
    }

    /// An empty row.
    pub(crate) fn new_row(&self) -> NewRow {
        NewRow::of_columns(self.codec().def.columns.len())
    }

    /// A value in its column's own form.
    fn converted(
        &self,
        column: usize,
        value: Value,
        row_number: u64,
        terms: Terms,
        eval: &EvalContext<'_>,
    ) -> Result<Value, SqlError> {
        let def = self.column(column);
        let strictness = if terms.refuses_null && value.is_null() { Strictness::Strict } else { terms.strictness };
        match &self.form {
            Form::Table(table) => convert_for_column(value, def, strictness, row_number, eval)
                .map_err(|error| name_table(error, def, &table.def.name)),
            Form::New(_) => convert_for_column(value, def, strictness, row_number, eval),
        }
    }

    /// An input: converts a value for its column. NULL for AUTO_INCREMENT stays, and becomes a number later.
    pub(crate) fn set(
        &self,
        row: &mut NewRow,
        column: usize,
        value: Value,
        terms: Terms,
        eval: &EvalContext<'_>,
    ) -> Result<(), SqlError> {
        let value = match value {
            Value::Null if self.auto_increment == Some(column) => Value::Null,
            value => self.converted(column, value, row.number, terms, eval)?,
        };
        row.put(column, value);
        Ok(())
    }

    /// An input that is another column's value.
    pub(crate) fn set_copied(
        &self,
        row: &mut NewRow,
        column: usize,
        (value, copied): (Value, Option<&Copied>),
        terms: Terms,
        eval: &EvalContext<'_>,
    ) -> Result<(), SqlError> {
        let Some(copied) = copied else { return self.set(row, column, value, terms, eval) };
        match copied.no_member(&value) {
            Some(none) => row.put(column, none),
            None => self.set(row, column, copied.value(value), terms, eval)?,
        }
        Ok(())
    }

    /// An input that is the word DEFAULT. A column that has none is an error or a warning when it is its turn. For AUTO_INCREMENT it is a
    /// zero, which asks for a number unless zeros are numbers.
    pub(crate) fn set_default(
        &self,
        row: &mut NewRow,
        column: usize,
        terms: Terms,
        eval: &EvalContext<'_>,
    ) -> Result<(), SqlError> {
        if self.auto_increment == Some(column) {
            return self.set(row, column, Value::Int(0), terms, eval);
        }
        if matches!(self.defaults[column], DefaultValue::Missing) {
            let value = self.default_value(row, column, terms, eval)?;
            row.put(column, value);
        }
        Ok(())
    }

    /// The default of a column that is not given, for a row under way.
    pub(crate) fn default_value(
        &self,
        row: &NewRow,
        column: usize,
        terms: Terms,
        eval: &EvalContext<'_>,
    ) -> Result<Value, SqlError> {
        self.defaults[column].value(self.column(column), terms.strictness, row.number, eval)
    }

    /// All that comes between a row's inputs and its number.
    pub(crate) fn complete(&self, row: &mut NewRow, terms: Terms, eval: &EvalContext<'_>) -> Result<(), SqlError> {
        self.fill(row, terms, eval)?;
        if let Some(pk) = self.counted.filter(|&pk| !row.is_given(pk)) {
            row.values[pk] = Value::UInt(self.next_number(pk, terms.numbering));
        }
        Ok(())
    }

    /// The next number of a column's own counter.
    fn next_number(&self, column: usize, (increment, offset): (u64, u64)) -> u64 {
        match &self.form {
            Form::Table(table) => table.counter(column).next(1, increment, offset),
            Form::New(_) => 0,
        }
    }

    /// Gives the columns that were not given their defaults; AUTO_INCREMENT is NULL until its number is taken. What is the same for all rows is computed
    /// once, and so it is said once in a statement that a column has none; of the word DEFAULT it is said each time.
    fn fill(&self, row: &mut NewRow, terms: Terms, eval: &EvalContext<'_>) -> Result<(), SqlError> {
        for (column, default) in self.defaults.iter().enumerate() {
            if row.states[column] != ColumnState::Open {
                continue;
            }
            row.values[column] = default.value(self.column(column), terms.strictness, row.number, eval)?;
            if default.is_constant() {
                row.states[column] = ColumnState::Filled;
            }
        }
        Ok(())
    }

    /// The image of a row that is complete.
    pub(crate) fn image(&self, row: &NewRow) -> Result<Bytes, SqlError> {
        check_room_for(&row.values)?;
        Ok(self.codec().row.encode(&row.values)?)
    }

    /// The image of a row whose number is not known yet: it is zero.
    pub(crate) fn image_without_number(&self, row: &mut NewRow) -> Result<Bytes, SqlError> {
        let Some(column) = self.auto_increment else { return self.image(row) };
        let zero = implicit_default(self.column(column));
        let number = std::mem::replace(&mut row.values[column], zero);
        let image = self.image(row);
        row.values[column] = number;
        image
    }

    /// The new image of a row; `None` if nothing is different. Columns with ON UPDATE that are not among the changes are added to them.
    pub(crate) fn changed(
        &self,
        old: &Bytes,
        changes: &mut Changes,
        row_number: u64,
        terms: Terms,
        eval: &EvalContext<'_>,
    ) -> Result<Option<Bytes>, SqlError> {
        if self.timed.is_empty() {
            let new = self.replaced(old, changes)?;
            return Ok((new != *old).then_some(new));
        }
        changes.sort_unstable_by_key(|(column, _)| *column);
        if !self.codec().row.differs(old, changes)? {
            return Ok(None);
        }
        let given = changes.len();
        for &column in &self.timed {
            if !changes[..given].iter().any(|(changed, _)| *changed == column) {
                let def = self.column(column);
                changes.push((column, default::statement_time(def, terms.strictness, row_number, eval)?));
            }
        }
        self.replaced(old, changes).map(Some)
    }

    /// A row with other values in some columns, and nothing else different: all others are copied as bytes.
    pub(crate) fn replaced(&self, old: &Bytes, changes: &mut Changes) -> Result<Bytes, SqlError> {
        changes.sort_unstable_by_key(|(column, _)| *column);
        let bytes = changes.iter().filter_map(|(_, value)| value.as_bytes()).map(|bytes| bytes.len()).sum::<usize>();
        memory::check_more((old.len() + bytes) as u64)?;
        Ok(self.codec().row.replace(old, changes)?)
    }
}
