//! Units of time.

/// The unit of an INTERVAL, of EXTRACT, TIMESTAMPADD and TIMESTAMPDIFF.
#[allow(missing_docs, reason = "their names say it")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IntervalUnit {
    Microsecond,
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Quarter,
    Year,
    SecondMicrosecond,
    MinuteMicrosecond,
    MinuteSecond,
    HourMicrosecond,
    HourSecond,
    HourMinute,
    DayMicrosecond,
    DaySecond,
    DayMinute,
    DayHour,
    YearMonth,
}

/// Units in the order of their numbers, with their names.
const UNITS: [(IntervalUnit, &str); 20] = {
    use IntervalUnit::*;
    [
        (Microsecond, "MICROSECOND"),
        (Second, "SECOND"),
        (Minute, "MINUTE"),
        (Hour, "HOUR"),
        (Day, "DAY"),
        (Week, "WEEK"),
        (Month, "MONTH"),
        (Quarter, "QUARTER"),
        (Year, "YEAR"),
        (SecondMicrosecond, "SECOND_MICROSECOND"),
        (MinuteMicrosecond, "MINUTE_MICROSECOND"),
        (MinuteSecond, "MINUTE_SECOND"),
        (HourMicrosecond, "HOUR_MICROSECOND"),
        (HourSecond, "HOUR_SECOND"),
        (HourMinute, "HOUR_MINUTE"),
        (DayMicrosecond, "DAY_MICROSECOND"),
        (DaySecond, "DAY_SECOND"),
        (DayMinute, "DAY_MINUTE"),
        (DayHour, "DAY_HOUR"),
        (YearMonth, "YEAR_MONTH"),
    ]
};

impl IntervalUnit {
    /// The unit with that number.
    pub fn by_number(number: usize) -> Option<IntervalUnit> {
        UNITS.get(number).map(|(unit, _)| *unit)
    }

    /// The unit with that name, in any case (`DAY`, `sql_tsi_day`, `DAY_HOUR`, …).
    pub fn by_name(name: &str) -> Option<IntervalUnit> {
        let name = name.to_ascii_uppercase();
        let name = name.strip_prefix("SQL_TSI_").unwrap_or(&name);
        UNITS.iter().find(|(_, known)| *known == name).map(|(unit, _)| *unit)
    }

    /// `DAY`, `DAY_HOUR`, …
    pub fn name(self) -> &'static str {
        UNITS[self as usize].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_in_the_order_of_their_numbers() {
        for (number, (unit, name)) in UNITS.iter().enumerate() {
            assert_eq!((*unit as usize, IntervalUnit::by_name(name)), (number, Some(*unit)));
        }
    }
}
