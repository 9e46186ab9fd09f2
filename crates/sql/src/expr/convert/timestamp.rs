//! A value on its way into a TIMESTAMP column.

use base::{SqlError, codes};
use types::temporal::{MICROS_PER_SECOND, calendar};
use types::{DateTime, Value};

use super::{Assignment, Strictness, TIMESTAMP_MAX_SECONDS};
use crate::expr::coerce::{self, OfZone};

impl Assignment<'_> {
    pub(super) fn timestamp(&self, value: &Value, fsp: u8) -> Result<Value, SqlError> {
        let local = self.datetime(value, fsp)?;
        if local == DateTime::ZERO {
            return Ok(Value::DateTime(local));
        }
        let moment = match calendar::is_real(local.date) {
            true => coerce::local_to_utc(local, &self.ctx.session.time_zone),
            false => None,
        };
        let in_range =
            |moment: &OfZone| (1..=TIMESTAMP_MAX_SECONDS).contains(&moment.micros.div_euclid(MICROS_PER_SECOND));
        let moment = moment.filter(in_range);
        if moment.is_some_and(|moment| moment.is_skipped) {
            self.skipped_by_clocks(value)?;
        }
        match moment.and_then(|moment| calendar::from_unix_micros(moment.micros)) {
            Some(utc) => Ok(Value::DateTime(utc)),
            None => {
                self.incorrect_temporal("datetime", value, false)?;
                Ok(Value::DateTime(DateTime::ZERO))
            }
        }
    }

    fn skipped_by_clocks(&self, value: &Value) -> Result<(), SqlError> {
        match self.strictness {
            Strictness::Strict => self.incorrect(codes::TRUNCATED_WRONG_VALUE, "datetime", value),
            Strictness::Lenient => {
                let (column, row) = (&self.column.name, self.row_number);
                let message = format!("Invalid TIMESTAMP value in column '{column}' at row {row}");
                self.ctx.warn(codes::WARN_INVALID_TIMESTAMP, message);
                Ok(())
            }
        }
    }
}
