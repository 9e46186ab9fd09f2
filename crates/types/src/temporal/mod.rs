//! DATE, TIME, DATETIME as values: MySQL's ranges, with its zero dates and zero parts.
//!
//! | module | what |
//! |---|---|
//! | here | the three types, their text |
//! | [`calendar`] | days as numbers, lengths of months, weeks, seconds since 1970 |
//! | [`parse`] | text and numbers as MySQL reads them |
//! | [`binary`] | DATETIME2, TIMESTAMP2, TIME2, DATE and YEAR in row images and keys |
//!
//! Values hold microseconds always; how many digits are meant (fsp) is in the type of the column or expression. Nothing here
//! knows the time or a time zone.

pub mod binary;
pub mod calendar;
mod format;
pub mod parse;

/// A day. Year, month and day may be zero (`0000-00-00`, `2024-00-00`), as sql_mode allows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date {
    /// 0 to 9999
    pub year: u16,
    /// 0 to 12
    pub month: u8,
    /// 0 to 31
    pub day: u8,
}

/// A span of time, signed, at most 838:59:59.999999.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time {
    micros: i64,
}

/// Day and time of day. Whether it means UTC, the session's zone or none is the column type's business.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DateTime {
    /// Day.
    pub date: Date,
    /// 0 to 23
    pub hour: u8,
    /// 0 to 59
    pub minute: u8,
    /// 0 to 59
    pub second: u8,
    /// 0 to 999999
    pub micros: u32,
}

impl Date {
    /// `0000-00-00`
    pub const ZERO: Date = Date { year: 0, month: 0, day: 0 };

    /// The day with these parts, unchecked.
    pub const fn new(year: u16, month: u8, day: u8) -> Self {
        Date { year, month, day }
    }

    /// Whether every part is zero.
    pub fn is_zero(self) -> bool {
        self == Date::ZERO
    }

    /// Whether month or day is zero.
    pub fn has_zero_part(self) -> bool {
        self.month == 0 || self.day == 0
    }

    /// The number `20240131`.
    pub fn to_number(self) -> i64 {
        self.year as i64 * 10_000 + self.month as i64 * 100 + self.day as i64
    }

    /// Midnight of the day.
    pub fn at_midnight(self) -> DateTime {
        DateTime { date: self, ..DateTime::default() }
    }
}

impl Time {
    /// 838:59:59, without a fraction: the greatest TIME.
    pub const MAX: Time = Time { micros: ((838 * 60 + 59) * 60 + 59) * MICROS_PER_SECOND };

    /// The span of so many microseconds, unchecked.
    pub const fn from_micros(micros: i64) -> Self {
        Time { micros }
    }

    /// The span of these parts; what is beyond all spans is the longest one.
    pub const fn from_parts(negative: bool, hours: u32, minutes: u32, seconds: u32, micros: u32) -> Self {
        let seconds = (hours as i64 * 60 + minutes as i64) * 60 + seconds as i64;
        let micros = seconds.saturating_mul(MICROS_PER_SECOND).saturating_add(micros as i64);
        Time { micros: if negative { -micros } else { micros } }
    }

    /// Its microseconds.
    pub const fn micros(self) -> i64 {
        self.micros
    }

    /// Sign, hours, minutes, seconds, microseconds.
    pub fn parts(self) -> (bool, u32, u32, u32, u32) {
        let micros = self.micros.unsigned_abs();
        let seconds = micros / MICROS_PER_SECOND as u64;
        let part = |n: u64| n as u32;
        (
            self.micros < 0,
            part(seconds / 3600),
            part(seconds / 60 % 60),
            part(seconds % 60),
            part(micros % MICROS_PER_SECOND as u64),
        )
    }

    /// The nearest span within the range of TIME, and whether it is another one.
    pub fn clamped(self) -> (Time, bool) {
        let micros = self.micros.clamp(-Time::MAX.micros, Time::MAX.micros);
        (Time { micros }, micros != self.micros)
    }

    /// The number `-123456` (hhmmss), without the fraction.
    pub fn to_number(self) -> i64 {
        let (negative, hours, minutes, seconds, _) = self.parts();
        let number = hours as i64 * 10_000 + minutes as i64 * 100 + seconds as i64;
        if negative { -number } else { number }
    }

    /// With `fsp` digits of the fraction, half up (away from zero).
    pub fn rounded(self, fsp: u8) -> Time {
        let unit = fraction_unit(fsp) as i64;
        let half = if self.micros < 0 { -unit / 2 } else { unit / 2 };
        Time { micros: (self.micros + half) / unit * unit }
    }

    /// With `fsp` digits of the fraction, the rest dropped.
    pub fn truncated(self, fsp: u8) -> Time {
        let unit = fraction_unit(fsp) as i64;
        Time { micros: self.micros / unit * unit }
    }
}

impl DateTime {
    /// `0000-00-00 00:00:00`
    pub const ZERO: DateTime = DateTime::new(Date::ZERO, 0, 0, 0, 0);

    /// The point in time with these parts, unchecked.
    pub const fn new(date: Date, hour: u8, minute: u8, second: u8, micros: u32) -> Self {
        DateTime { date, hour, minute, second, micros }
    }

    /// The time of day as a span.
    pub fn time(self) -> Time {
        Time::from_parts(false, self.hour as u32, self.minute as u32, self.second as u32, self.micros)
    }

    /// A day and a span from 00:00:00 to 23:59:59.999999.
    pub fn from_date_time(date: Date, time: Time) -> Self {
        let (_, hours, minutes, seconds, micros) = time.parts();
        debug_assert!(hours < 24 && time.micros >= 0);
        DateTime::new(date, hours as u8, minutes as u8, seconds as u8, micros)
    }

    /// The number `20240131123456`, without the fraction.
    pub fn to_number(self) -> i64 {
        self.date.to_number() * 1_000_000 + self.hour as i64 * 10_000 + self.minute as i64 * 100 + self.second as i64
    }

    /// With `fsp` digits of the fraction, half up; may go on to the next second, and so the next day. `None` beyond the year
    /// 9999.
    pub fn rounded(self, fsp: u8) -> Option<DateTime> {
        let unit = fraction_unit(fsp);
        let micros = (self.micros + unit / 2) / unit * unit;
        if micros < MICROS_PER_SECOND as u32 {
            return Some(DateTime { micros, ..self });
        }
        DateTime { micros: 0, ..self }.next_second()
    }

    /// With `fsp` digits of the fraction, the rest dropped.
    pub fn truncated(self, fsp: u8) -> DateTime {
        DateTime { micros: self.micros / fraction_unit(fsp) * fraction_unit(fsp), ..self }
    }

    fn next_second(self) -> Option<DateTime> {
        if self.time().micros < MICROS_PER_DAY - MICROS_PER_SECOND {
            let time = Time::from_micros(self.time().micros + MICROS_PER_SECOND);
            return Some(DateTime::from_date_time(self.date, time));
        }
        if self.date.has_zero_part() {
            return Some(DateTime { micros: 0, ..self });
        }
        Some(calendar::from_day_number(calendar::day_number(self.date) + 1)?.at_midnight())
    }
}

/// Microseconds in a second.
pub const MICROS_PER_SECOND: i64 = 1_000_000;
/// Microseconds in a day.
pub const MICROS_PER_DAY: i64 = 86_400 * MICROS_PER_SECOND;

/// How many microseconds the last of `fsp` digits counts.
pub fn fraction_unit(fsp: u8) -> u32 {
    const UNITS: [u32; 7] = [1_000_000, 100_000, 10_000, 1_000, 100, 10, 1];
    UNITS[fsp.min(6) as usize]
}
