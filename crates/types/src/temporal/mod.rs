//! DATE, TIME, DATETIME as values: MySQL's ranges, with its zero dates and zero parts.

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
    /// The day with these parts, unchecked.
    pub fn new(year: u16, month: u8, day: u8) -> Self {
        Date { year, month, day }
    }

    /// Appends `2024-01-31`.
    pub fn write_text(self, out: &mut Vec<u8>) {
        let _ = out;
        todo!()
    }

    /// Reads what [`Date::write_text`] writes.
    pub fn from_canonical(text: &str) -> Option<Self> {
        let _ = text;
        todo!()
    }
}

impl Time {
    /// The span of so many microseconds.
    pub fn from_micros(micros: i64) -> Self {
        Time { micros }
    }

    /// Its microseconds.
    pub fn micros(self) -> i64 {
        self.micros
    }

    /// Appends `-12:34:56.789` with `fsp` digits of the fraction.
    pub fn write_text(self, fsp: u8, out: &mut Vec<u8>) {
        let _ = (fsp, out);
        todo!()
    }

    /// Reads what [`Time::write_text`] writes.
    pub fn from_canonical(text: &str) -> Option<Self> {
        let _ = text;
        todo!()
    }
}

impl DateTime {
    /// The point in time with these parts, unchecked.
    pub fn new(date: Date, hour: u8, minute: u8, second: u8, micros: u32) -> Self {
        DateTime { date, hour, minute, second, micros }
    }

    /// Appends `2024-01-31 12:34:56.789` with `fsp` digits of the fraction.
    pub fn write_text(self, fsp: u8, out: &mut Vec<u8>) {
        let _ = (fsp, out);
        todo!()
    }

    /// Reads what [`DateTime::write_text`] writes.
    pub fn from_canonical(text: &str) -> Option<Self> {
        let _ = text;
        todo!()
    }
}
