//! LOAD DATA: execution.

use std::borrow::Cow;

use base::{SqlError, codes};
use bytes::{Bytes, BytesMut};
use types::charset::{Charset, char_count};
use types::{ColumnDef, ColumnType, Value};

use crate::dml::insert::Progress;
use crate::dml::load_plan::{LoadPlan, SetColumn, Target, field_length};
use crate::exec::ExecContext;
use crate::exec::apply::SubqueryRun;
use crate::expr::build::type_of_value;
use crate::expr::{EvalContext, convert_for_column};
use crate::load::{Fields, Found, Input, LoadFrom, Stop};
use crate::result::{Outcome, ResultSink};
use crate::write::{Assigned, short_integer};

/// Steps between two looks at whether the statement was cancelled. A line is one, and so is each field or column that it sets.
const STEPS_PER_CHECK: usize = 2048;

/// A piece of memory for texts. It goes with the last row that has something in it.
const TEXT_BYTES: usize = 32 << 10;

/// A LOAD DATA under way.
struct Load<'p> {
    plan: &'p LoadPlan,
    fields: Fields,
    input: Input,
    progress: Progress,
    /// Where the texts of rows under way are, many of them in one piece of memory.
    texts: BytesMut,
    frame: Vec<Value>,
    runs: Vec<SubqueryRun<'p>>,
    /// Lines to skip yet.
    lines_left: u64,
}

/// What became of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    Row,
    Skipped,
    /// There is none.
    End,
}

impl LoadPlan {
    /// Runs it.
    pub(crate) async fn execute(
        &self,
        context: &mut ExecContext<'_>,
        sink: &mut dyn ResultSink,
    ) -> Result<Outcome, SqlError> {
        let from = context.load.take().unwrap_or(LoadFrom::Client);
        if self.warns {
            context.eval.warn(
                codes::WARN_NON_ASCII_SEPARATOR_NOT_IMPLEMENTED,
                "Non-ASCII separator arguments are not fully supported",
            );
        }
        let input = Input::open(&from, &self.file, context, sink).await?;
        let mut load = Load {
            plan: self,
            fields: Fields::new(self.rules.clone()),
            input,
            progress: Progress::new(&self.insert, context),
            texts: BytesMut::with_capacity(TEXT_BYTES),
            frame: vec![Value::Null; self.width],
            runs: self.subqueries.iter().map(SubqueryRun::new).collect(),
            lines_left: self.skip_lines,
        };
        load.run(context, sink).await?;
        let Progress { rows, affected, deleted, first_generated, .. } = load.progress;
        let skipped = rows - (affected - deleted);
        let warnings = context.eval.warnings.count();
        Ok(Outcome {
            affected_rows: affected,
            last_insert_id: first_generated.unwrap_or(0),
            generated_id: first_generated.is_some(),
            info: format!("Records: {rows}  Deleted: {deleted}  Skipped: {skipped}  Warnings: {warnings}"),
            ..Outcome::default()
        })
    }
}

impl Load<'_> {
    async fn run(&mut self, context: &mut ExecContext<'_>, sink: &mut dyn ResultSink) -> Result<(), SqlError> {
        let line_steps = 1 + self.plan.targets.len() + self.plan.set.len();
        let mut steps = 0;
        while self.plan.has_line_ends && self.lines_left > 0 {
            self.lines_left -= 1;
            if self.next_line(context, sink).await? {
                return Ok(());
            }
            look(&mut steps, 1, context).await?;
        }
        loop {
            let line = match self.fields.is_fixed() {
                true => self.fixed_line(context, sink).await?,
                false => self.line(context, sink).await?,
            };
            match line {
                Line::End => return Ok(()),
                Line::Skipped => {}
                Line::Row => {
                    self.set_columns(context).await?;
                    self.plan.insert.insert_row(&mut self.progress, context).await?;
                }
            }
            let ended = self.next_line(context, sink).await?;
            if ended {
                return Ok(());
            }
            if line == Line::Row && self.fields.was_cut() {
                let message = too_many(self.progress.rows);
                self.progress.terms.complain(codes::WARN_TOO_MANY_RECORDS, message, &context.eval)?;
            }
            look(&mut steps, line_steps, context).await?;
        }
    }

    /// Gives the reader more of the file: at least as much again as it has, so that long fields are not looked at too often.
    async fn fill(&mut self, stop: Stop, context: &ExecContext<'_>, sink: &mut dyn ResultSink) -> Result<(), SqlError> {
        if let Stop::Malformed(text) = stop {
            let text = crate::expr::coerce::printable(&Bytes::from(text));
            let message = format!("Invalid {} character string: '{text}'", self.plan.charset);
            return Err(SqlError::new(codes::INVALID_CHARACTER_STRING, message));
        }
        let waiting = self.fields.waiting();
        if waiting as u64 > context.eval.session.max_allowed_packet {
            let message = "Got a packet bigger than 'max_allowed_packet' bytes";
            return Err(SqlError::new(codes::NET_PACKET_TOO_LARGE, message));
        }
        while self.fields.waiting() <= 2 * waiting {
            let block = self.input.next(context, sink).await?;
            if block.is_empty() {
                self.fields.end();
                break;
            }
            self.fields.feed(&block);
        }
        Ok(())
    }

    async fn next_line(&mut self, context: &ExecContext<'_>, sink: &mut dyn ResultSink) -> Result<bool, SqlError> {
        loop {
            match self.fields.next_line() {
                Ok(ended) => return Ok(ended),
                Err(stop) => self.fill(stop, context, sink).await?,
            }
        }
    }

    /// Reads a line of separated fields into the row and variables.
    async fn line(&mut self, context: &ExecContext<'_>, sink: &mut dyn ResultSink) -> Result<Line, SqlError> {
        self.progress.begin_row();
        let skips = self.lines_left > 0;
        let mut read = 0;
        for target in &self.plan.targets {
            let found = loop {
                match self.fields.field() {
                    Ok(found) => break found,
                    Err(stop) => self.fill(stop, context, sink).await?,
                }
            };
            if found == Found::Nothing {
                break;
            }
            read += 1;
            if !skips {
                self.take(target, context)?;
            }
        }
        if skips {
            self.lines_left -= 1;
            return Ok(if read == 0 { Line::End } else { Line::Skipped });
        }
        if read == 0 {
            return Ok(Line::End);
        }
        for target in &self.plan.targets[read..] {
            self.lack(target, context)?;
        }
        Ok(Line::Row)
    }

    /// A field for its target.
    fn take(&mut self, target: &Target, context: &ExecContext<'_>) -> Result<(), SqlError> {
        let value = self.fields.value();
        let column = match target {
            Target::Column(column) => *column,
            Target::Variable(name) => {
                let value = (!self.fields.is_null()).then(|| Bytes::copy_from_slice(value));
                set_variable(name, value, self.plan.rules.charset(), &context.eval);
                return Ok(());
            }
        };
        let Progress { row, terms, .. } = &mut self.progress;
        let maker = &self.plan.insert.maker;
        if self.fields.is_null() {
            return maker.set_null_of_file(row, column, *terms, &context.eval);
        }
        if let Some(number) = maker.column(column).ty.integer().and_then(|_| short_integer(value)) {
            return maker.set(row, column, Value::Int(number), *terms, &context.eval);
        }
        self.texts.extend_from_slice(value);
        let bytes = self.texts.split().freeze();
        self.store(column, bytes, context)
    }

    fn column(&self, column: usize) -> &ColumnDef {
        self.plan.insert.maker.column(column)
    }

    fn store(&mut self, column: usize, bytes: Bytes, context: &ExecContext<'_>) -> Result<(), SqlError> {
        let charset = self.plan.rules.charset();
        let value = match value_for(bytes, charset, self.column(column)) {
            Value::Bytes(broken) if charset == Charset::Utf8Mb4 && is_text(&self.column(column).ty) => {
                self.broken_text(column, broken, context)?
            }
            value => value,
        };
        let Progress { row, terms, .. } = &mut self.progress;
        self.plan.insert.maker.set(row, column, value, *terms, &context.eval)
    }

    /// A field that is not all text of its character set, as far as the column has room: what is before the first wrong byte.
    fn broken_text(&self, column: usize, bytes: Bytes, context: &ExecContext<'_>) -> Result<Value, SqlError> {
        let def = self.column(column);
        let valid = std::str::from_utf8(&bytes).map_or_else(|error| error.valid_up_to(), str::len);
        let room = match def.ty {
            ColumnType::Char { chars } | ColumnType::VarChar { chars } => chars as usize,
            _ => usize::MAX,
        };
        if char_count(&bytes[..valid]) > room {
            return Ok(Value::Str(String::from_utf8_lossy(&bytes).into_owned().into()));
        }
        // As if the column were in the file's character set: otherwise the bytes would be text of its own.
        let def = ColumnDef { collation: Charset::Utf8Mb4.default_collation(), ..def.clone() };
        let Progress { row, terms, .. } = &self.progress;
        convert_for_column(Value::Bytes(bytes), &def, terms.strictness, row.number, &context.eval)
    }

    /// The line has no field for this target.
    fn lack(&mut self, target: &Target, context: &ExecContext<'_>) -> Result<(), SqlError> {
        let column = match target {
            Target::Variable(name) => {
                set_variable(name, None, self.plan.rules.charset(), &context.eval);
                return Ok(());
            }
            Target::Column(column) => *column,
        };
        let Progress { row, terms, .. } = &mut self.progress;
        self.plan.insert.maker.set_missing_field(row, column, *terms, &context.eval)?;
        terms.complain(codes::WARN_TOO_FEW_RECORDS, too_few(row.number), &context.eval)
    }

    /// Reads a line whose fields have the lengths of their columns.
    async fn fixed_line(&mut self, context: &ExecContext<'_>, sink: &mut dyn ResultSink) -> Result<Line, SqlError> {
        self.progress.begin_row();
        let found = loop {
            match self.fields.fixed_line() {
                Ok(found) => break found,
                Err(stop) => self.fill(stop, context, sink).await?,
            }
        };
        if found == Found::Nothing {
            return Ok(Line::End);
        }
        if self.lines_left > 0 {
            self.lines_left -= 1;
            return Ok(Line::Skipped);
        }
        let mut rest = Bytes::copy_from_slice(self.fields.value());
        let (number, terms) = (self.progress.row.number, self.progress.terms);
        for target in &self.plan.targets {
            let Target::Column(column) = target else { continue };
            if rest.is_empty() {
                terms.complain(codes::WARN_TOO_FEW_RECORDS, too_few(number), &context.eval)?;
                self.plan.insert.maker.keep_default(&mut self.progress.row, *column, terms, &context.eval)?;
                continue;
            }
            let field = rest.split_to(field_length(self.column(*column)).min(rest.len()));
            self.store(*column, field, context)?;
        }
        if !rest.is_empty() {
            terms.complain(codes::WARN_TOO_MANY_RECORDS, too_many(number), &context.eval)?;
        }
        Ok(Line::Row)
    }

    /// SET.
    async fn set_columns(&mut self, context: &mut ExecContext<'_>) -> Result<(), SqlError> {
        if self.plan.set.is_empty() {
            return Ok(());
        }
        let (maker, terms) = (&self.plan.insert.maker, self.progress.terms);
        for &(column, slot) in &self.plan.reads {
            let row = &self.progress.row;
            self.frame[slot] = match row.is_given(column) {
                true => row.value(column).clone(),
                false => maker.default_value(row, column, terms, &context.eval)?,
            };
        }
        let plan = self.plan;
        if plan.sets_variables() {
            // They may read variables, which are others now.
            self.runs = plan.subqueries.iter().map(SubqueryRun::new).collect();
        }
        for SetColumn { column, value, subqueries } in &plan.set {
            for run in &mut self.runs[subqueries.clone()] {
                let result = run.value(&self.frame, context).await?;
                self.frame[run.slot()] = result;
            }
            let row = &mut self.progress.row;
            match value {
                Assigned::Expr(expr) => {
                    maker.set(row, *column, expr.eval(&self.frame, &context.eval)?, terms, &context.eval)?;
                }
                Assigned::Default(default) => {
                    let def = maker.column(*column);
                    row.put(*column, default.value(def, terms.strictness, row.number, &context.eval)?);
                }
            }
            if let Some((_, slot)) = plan.reads.iter().find(|(read, _)| read == column) {
                self.frame[*slot] = self.progress.row.value(*column).clone();
            }
        }
        Ok(())
    }
}

/// Counts steps, and looks after many of them whether the statement has to end.
async fn look(steps: &mut usize, more: usize, context: &ExecContext<'_>) -> Result<(), SqlError> {
    *steps += more;
    if *steps >= STEPS_PER_CHECK {
        *steps = 0;
        context.check_cancelled().await?;
    }
    Ok(())
}

fn too_few(row: u64) -> String {
    format!("Row {row} doesn't contain data for all columns")
}

fn too_many(row: u64) -> String {
    format!("Row {row} was truncated; it contained more data than there were input columns")
}

/// A field for a column. What is in no character set keeps its bytes.
fn value_for(bytes: Bytes, charset: Charset, column: &ColumnDef) -> Value {
    match column.ty {
        ColumnType::Binary { .. } | ColumnType::VarBinary { .. } | ColumnType::Blob { .. } | ColumnType::Bit { .. } => {
            Value::Bytes(bytes)
        }
        ref ty if is_text(ty) && charset == Charset::Binary => Value::Bytes(bytes),
        _ => text(bytes, charset),
    }
}

fn is_text(ty: &ColumnType) -> bool {
    matches!(ty, ColumnType::Char { .. } | ColumnType::VarChar { .. } | ColumnType::Text { .. })
}

fn text(bytes: Bytes, charset: Charset) -> Value {
    match charset.text(&bytes) {
        Some(Cow::Owned(text)) => Value::Str(text.into()),
        Some(Cow::Borrowed(_)) => Value::Str(bytes),
        None => Value::Bytes(bytes),
    }
}

fn set_variable(name: &str, bytes: Option<Bytes>, charset: Charset, eval: &EvalContext<'_>) {
    let is_binary = charset == Charset::Binary;
    let collation = charset.default_collation();
    let sample = if is_binary { Value::Bytes(Bytes::new()) } else { Value::Str(Bytes::new()) };
    let value = match bytes {
        None => Value::Null,
        Some(bytes) if is_binary => Value::Bytes(bytes),
        Some(bytes) => text(bytes, charset),
    };
    let ty = type_of_value(if value.is_null() { &sample } else { &value }, collation).nullable(true);
    eval.session.user_variables.lock().insert(name.to_owned(), (value, ty));
}
