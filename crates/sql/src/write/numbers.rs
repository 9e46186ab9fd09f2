//! The numbers that AUTO_INCREMENT makes in one statement, as MySQL makes them.
//!
//! Numbers are reserved in intervals: as many as VALUES has rows, then (and where the rows are not known) two, four, eight, …. A cursor goes
//! through the interval; a larger number that a row brings along moves it behind that number, and a cursor behind the interval's end reserves
//! the next one. So `(NULL), (26), (NULL)` are 1, 26, 27, whatever was reserved.

use base::{SqlError, codes};
use engine::Table;
use engine::catalog::AutoIncrement;
use types::{ColumnDef, ColumnType, SqlMode, Value};

use super::{Form, NewRow, RowMaker, Terms};
use crate::exec::ExecContext;
use crate::expr::{EvalContext, Strictness, convert_for_column};

/// An interval is at most this long where the number of rows is not known.
const LONGEST_INTERVAL: u32 = 16;

/// The numbers of one statement.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    /// The next number; 0 before the first.
    next: u64,
    /// What is reserved begins and ends here.
    start: u64,
    end: u64,
    /// Rows for which numbers are still reserved; before the first interval those that are expected.
    rows: u64,
    /// Intervals that were reserved.
    intervals: u32,
    /// The next number before this row's own moved it.
    passed: Option<u64>,
}

/// `auto_increment_increment` and `auto_increment_offset`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Series {
    increment: u64,
    offset: u64,
}

impl Series {
    /// MySQL ignores an offset that is larger than the increment.
    pub(crate) fn new((increment, offset): (u64, u64)) -> Self {
        let increment = increment.max(1);
        Series { increment, offset: if offset > increment { 0 } else { offset } }
    }

    /// The first number of the series after this one.
    pub(crate) fn after(self, number: u64) -> u64 {
        if self.increment == 1 {
            return number.saturating_add(1);
        }
        let past = (number.saturating_add(self.increment) - self.offset) / self.increment;
        past.saturating_mul(self.increment).saturating_add(self.offset)
    }

    /// The last number of the series up to this one.
    pub(crate) fn up_to(self, number: u64) -> u64 {
        if number < self.offset {
            number
        } else {
            (number - self.offset) / self.increment * self.increment + self.offset
        }
    }
}

impl Numbers {
    /// For a statement of so many rows; 0 if that is not known.
    pub(crate) fn of_rows(rows: usize) -> Self {
        Numbers { rows: rows as u64, ..Numbers::default() }
    }

    /// The number of the next row. `largest` is the column's; `first` is where the statement's numbers have to begin.
    pub(crate) fn make(&mut self, table: &Table, largest: u64, series: Series, first: &mut Option<u64>) -> u64 {
        if self.next >= self.end {
            self.reserve(table, largest, series, first);
        }
        let number = self.next;
        self.next = series.after(number);
        number
    }

    fn reserve(&mut self, table: &Table, largest: u64, series: Series, first: &mut Option<u64>) {
        if let Some(first) = first.take() {
            // That is all that there are, and so none is another row's.
            (self.next, self.start, self.end) = (first, u64::MAX, u64::MAX);
            return;
        }
        if self.rows == 0 {
            self.rows = 1 << self.intervals.min(LONGEST_INTERVAL);
        }
        let counter = table.auto_increment();
        // At the end of the column's numbers the last one is given again, and meets itself.
        self.next = match counter.peek() > largest {
            true => series.after(largest - 1),
            false => counter.next(self.rows, series.increment, series.offset),
        };
        self.start = self.next;
        self.end = self.next.saturating_add(self.rows.saturating_mul(series.increment));
        self.intervals += 1;
    }

    /// A row has the number by itself: the next is larger.
    pub(crate) fn pass(&mut self, number: u64, series: Series) {
        if self.next > 0 && number >= self.next {
            self.passed = Some(self.next);
            self.next = series.after(number);
        }
    }

    /// Whether it is one of those numbers, given or not.
    pub(crate) fn has_reserved(&self, number: u64) -> bool {
        (self.start..self.end).contains(&number)
    }

    /// The row did not come to be: the next one gets the number that was generated for it, and one that it had by itself does not count.
    pub(crate) fn give_back(&mut self, generated: Option<u64>) {
        match generated {
            Some(number) => self.next = number,
            None => self.next = self.passed.unwrap_or(self.next),
        }
    }

    /// A row is done.
    pub(crate) fn end_row(&mut self) {
        self.passed = None;
        if self.intervals > 0 {
            self.rows = self.rows.saturating_sub(1);
        }
    }
}

impl RowMaker {
    /// Gives a row its AUTO_INCREMENT number, if it has none; which one it is.
    pub(crate) fn number(
        &self,
        row: &mut NewRow,
        numbers: &mut Numbers,
        terms: Terms,
        context: &mut ExecContext<'_>,
    ) -> Result<Option<u64>, SqlError> {
        let (Some(column), Form::Table(table)) = (self.auto_increment, &self.form) else { return Ok(None) };
        let series = Series::new(terms.numbering);
        let def = self.column(column);
        if !asks_for_number(&row.values[column], context.eval.session.sql_mode) {
            numbers.pass(row.values[column].counted().unwrap_or(0), series);
            return Ok(None);
        }
        let number = numbers.make(table, largest(&def.ty), series, &mut context.insert_id);
        if def.nullable && row.values[column].is_null() {
            // A column that may be NULL stays so, as in MySQL: the number is gone.
            return Ok(Some(number));
        }
        let number = fitting(number, def, series, (row.number, terms), &context.eval)?;
        row.values[column] =
            convert_for_column(Value::UInt(number), def, Strictness::Strict, row.number, &context.eval)?;
        Ok(Some(number))
    }

    /// The same of a row that ALTER TABLE makes, whose column had no numbers before; `counter` is that of the copy.
    pub(crate) fn number_copied(
        &self,
        row: &mut NewRow,
        counter: &AutoIncrement,
        terms: Terms,
        eval: &EvalContext<'_>,
    ) -> Result<(), SqlError> {
        let Some(column) = self.auto_increment else { return Ok(()) };
        if !asks_for_number(&row.values[column], eval.session.sql_mode) {
            counter.seen(row.values[column].counted().unwrap_or(0));
            return Ok(());
        }
        let (increment, offset) = terms.numbering;
        let number = Value::UInt(counter.next(1, increment, offset));
        let converted = convert_for_column(number, self.column(column), Strictness::Strict, row.number, eval);
        row.values[column] = converted.map_err(|_| no_more_numbers())?;
        Ok(())
    }
}

/// Whether a value of an AUTO_INCREMENT column stands for the next number.
fn asks_for_number(value: &Value, sql_mode: SqlMode) -> bool {
    let is_zero = match *value {
        Value::Null => return true,
        Value::Int(number) => number == 0,
        Value::UInt(number) => number == 0,
        Value::Double(number) => number.round_ties_even() == 0.0,
        Value::Float(number) => number.round_ties_even() == 0.0,
        _ => false,
    };
    is_zero && !sql_mode.has(SqlMode::NO_AUTO_VALUE_ON_ZERO)
}

/// 1467
fn no_more_numbers() -> SqlError {
    SqlError::new(codes::AUTOINC_READ_FAILED, "Failed to read auto-increment value from storage engine")
}

/// A generated number, or what stands in its place if the column cannot have it.
fn fitting(
    number: u64,
    def: &ColumnDef,
    series: Series,
    (row_number, terms): (u64, Terms),
    eval: &EvalContext<'_>,
) -> Result<u64, SqlError> {
    let largest = largest(&def.ty);
    if number <= largest && number < u64::MAX {
        return Ok(number);
    }
    // Numbers of the series end before the column's do.
    if number == series.after(largest - 1) && number < u64::MAX {
        convert_for_column(Value::UInt(number), def, terms.strictness, row_number, eval)?;
        return Ok(series.up_to(largest));
    }
    Err(no_more_numbers())
}

/// The largest number that a column can have.
pub(crate) fn largest(ty: &ColumnType) -> u64 {
    let of_bits = |bits: u32, unsigned: bool| u64::MAX >> (64 - bits + u32::from(!unsigned));
    match *ty {
        ColumnType::TinyInt { unsigned } => of_bits(8, unsigned),
        ColumnType::SmallInt { unsigned } => of_bits(16, unsigned),
        ColumnType::MediumInt { unsigned } => of_bits(24, unsigned),
        ColumnType::Int { unsigned } => of_bits(32, unsigned),
        ColumnType::BigInt { unsigned } => of_bits(64, unsigned),
        ColumnType::Float { .. } => 1 << 24,
        ColumnType::Double { .. } => 1 << 53,
        _ => u64::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::{Series, largest};
    use types::ColumnType;

    #[test]
    fn a_series_goes_on_after_any_number() {
        let tens = Series::new((10, 3));
        assert_eq!([0, 3, 12, 27].map(|number| tens.after(number)), [3, 13, 13, 33]);
        assert_eq!([2, 3, 12, 127].map(|number| tens.up_to(number)), [2, 3, 3, 123]);
        assert_eq!(Series::new((1, 1)).after(u64::MAX), u64::MAX);
        // An offset beyond the increment does not count.
        assert_eq!(Series::new((10, 11)).after(20), 30);
    }

    #[test]
    fn the_largest_numbers_are_those_of_the_types() {
        assert_eq!(largest(&ColumnType::TinyInt { unsigned: false }), 127);
        assert_eq!(largest(&ColumnType::MediumInt { unsigned: true }), 0xff_ffff);
        assert_eq!(largest(&ColumnType::BigInt { unsigned: false }), i64::MAX as u64);
        assert_eq!(largest(&ColumnType::BigInt { unsigned: true }), u64::MAX);
    }
}
