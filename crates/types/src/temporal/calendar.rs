//! Days as numbers, lengths of months, weeks, seconds since 1970.
//!
//! Day numbers are MySQL's (`TO_DAYS`): the Gregorian calendar carried back, with a year 0 that has no leap day.

use super::{Date, DateTime, MICROS_PER_DAY, MICROS_PER_SECOND, Time};

/// TO_DAYS('1970-01-01')
pub const EPOCH_DAY: i64 = 719_528;

/// TO_DAYS('9999-12-31')
pub const LAST_DAY: i64 = 3_652_424;

/// Whether the year has a 29th of February; year 0 has none.
pub fn is_leap_year(year: u16) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || (year.is_multiple_of(400) && year != 0))
}

/// Days in a year.
pub fn days_in_year(year: u16) -> i64 {
    365 + is_leap_year(year) as i64
}

/// Days in a month from 1 to 12.
pub fn days_in_month(year: u16, month: u8) -> u8 {
    match month {
        2 => 28 + is_leap_year(year) as u8,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// `TO_DAYS`: the number of a day. Zero parts count as MySQL counts them.
pub fn day_number(date: Date) -> i64 {
    let (mut year, month, day) = (date.year as i64, date.month as i64, date.day as i64);
    if year == 0 && month == 0 {
        return 0;
    }
    let mut days = 365 * year + 31 * (month - 1) + day;
    if month <= 2 {
        year -= 1;
    } else {
        days -= (month * 4 + 23) / 10;
    }
    days + year / 4 - (year / 100 + 1) * 3 / 4
}

/// `FROM_DAYS`: the day with that number; `None` outside of the years 1 to 9999.
pub fn from_day_number(number: i64) -> Option<Date> {
    if !(366..=LAST_DAY).contains(&number) {
        return None;
    }
    // Years begin in March here, so that the leap day is the last.
    let days = number - EPOCH_DAY + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year_of_era + era * 400 + (month <= 2) as i64;
    Some(Date::new(year as u16, month as u8, day as u8))
}

/// 0 is Monday, 6 Sunday.
pub fn weekday(date: Date) -> u8 {
    ((day_number(date) + 5).rem_euclid(7)) as u8
}

/// From 1.
pub fn day_of_year(date: Date) -> i64 {
    day_number(date) - day_number(Date::new(date.year, 1, 1)) + 1
}

/// Whether it is a day of the calendar, without zero parts.
pub fn is_real(date: Date) -> bool {
    (1..=12).contains(&date.month) && date.day >= 1 && date.day <= days_in_month(date.year, date.month)
}

/// How weeks are counted: the bits of MySQL's WEEK() mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeekMode {
    /// Weeks begin on Monday.
    pub monday_first: bool,
    /// Days before the first week belong to the last week of the year before.
    pub year_of_week: bool,
    /// The first week is the first with a whole first weekday (else: with four days or more).
    pub first_weekday: bool,
}

impl WeekMode {
    /// The mode of `WEEK(date, number)`.
    pub fn from_number(number: u8) -> Self {
        let monday_first = number & 1 != 0;
        WeekMode { monday_first, year_of_week: number & 2 != 0, first_weekday: (number & 4 != 0) ^ !monday_first }
    }
}

/// The week of a date and the year to which the week belongs.
pub fn week(date: Date, mode: WeekMode) -> (u32, u16) {
    let today = day_number(date);
    let mut first = day_number(Date::new(date.year, 1, 1));
    let mut year = date.year;
    let mut year_of_week = mode.year_of_week;
    let weekday_of = |day: i64| (day + 5 + !mode.monday_first as i64).rem_euclid(7);
    let mut weekday = weekday_of(first);
    if date.month == 1 && date.day as i64 <= 7 - weekday {
        let in_old_week = (mode.first_weekday && weekday != 0) || (!mode.first_weekday && weekday >= 4);
        if !year_of_week && in_old_week {
            return (0, year);
        }
        year_of_week = true;
        if in_old_week {
            year = year.saturating_sub(1);
            let days = days_in_year(year);
            first -= days;
            weekday = (weekday + 53 * 7 - days).rem_euclid(7);
        }
    }
    let late_start = (mode.first_weekday && weekday != 0) || (!mode.first_weekday && weekday >= 4);
    let days = if late_start { today - (first + 7 - weekday) } else { today - (first - weekday) };
    if year_of_week && days >= 52 * 7 {
        let weekday = (weekday + days_in_year(year)).rem_euclid(7);
        if (!mode.first_weekday && weekday < 4) || (mode.first_weekday && weekday == 0) {
            return (1, year + 1);
        }
    }
    // A date without a month or a day may be before it: MySQL and MariaDB count so, too.
    (days as u32 / 7 + 1, year)
}

/// Microseconds since day 0 (as `day_number` counts).
pub fn to_micros(datetime: DateTime) -> i64 {
    day_number(datetime.date) * MICROS_PER_DAY + datetime.time().micros()
}

/// The inverse of [`to_micros`]; `None` outside of the years 1 to 9999.
pub fn from_micros(micros: i64) -> Option<DateTime> {
    let date = from_day_number(micros.div_euclid(MICROS_PER_DAY))?;
    Some(DateTime::from_date_time(date, Time::from_micros(micros.rem_euclid(MICROS_PER_DAY))))
}

/// Microseconds since 1970-01-01 00:00:00 of a point in time in UTC.
pub fn to_unix_micros(utc: DateTime) -> i64 {
    to_micros(utc) - EPOCH_DAY * MICROS_PER_DAY
}

/// The point in time in UTC so many microseconds after 1970-01-01 00:00:00.
pub fn from_unix_micros(micros: i64) -> Option<DateTime> {
    from_micros(micros.checked_add(EPOCH_DAY * MICROS_PER_DAY)?)
}

/// Seconds since 1970, rounded down, of a point in time in UTC.
pub fn to_unix_seconds(utc: DateTime) -> i64 {
    to_unix_micros(utc).div_euclid(MICROS_PER_SECOND)
}

/// A date so many months later (or earlier); a day that the month does not have becomes its last. `None` outside of the
/// years 0 to 9999.
pub fn add_months(date: Date, months: i64) -> Option<Date> {
    let total = (date.year as i64 * 12 + date.month as i64 - 1).checked_add(months)?;
    if !(0..120_000).contains(&total) {
        return None;
    }
    let (year, month) = ((total / 12) as u16, (total % 12) as u8 + 1);
    Some(Date::new(year, month, date.day.min(days_in_month(year, month))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn day_numbers() {
        assert_eq!(day_number(Date::new(1970, 1, 1)), EPOCH_DAY);
        assert_eq!(day_number(Date::new(9999, 12, 31)), LAST_DAY);
        assert_eq!(day_number(Date::new(1, 1, 1)), 366);
        assert_eq!(day_number(Date::new(0, 1, 1)), 1);
        for number in 366..=LAST_DAY {
            let date = from_day_number(number).unwrap();
            assert!(is_real(date));
            assert_eq!(day_number(date), number);
        }
        assert_eq!(from_day_number(365), None);
        assert_eq!(from_day_number(LAST_DAY + 1), None);
    }

    #[test]
    fn weekdays_and_weeks() {
        assert_eq!(weekday(Date::new(2024, 2, 29)), 3);
        // As MySQL answers SELECT WEEK('2008-02-20', n), for 0..=7.
        let of = |date: Date| (0..8).map(|mode| week(date, WeekMode::from_number(mode)).0).collect::<Vec<_>>();
        assert_eq!(of(Date::new(2008, 2, 20)), [7, 8, 7, 8, 8, 7, 8, 7]);
        assert_eq!(of(Date::new(2000, 1, 1)), [0, 0, 52, 52, 0, 0, 52, 52]);
        assert_eq!(of(Date::new(2008, 12, 31)), [52, 53, 52, 1, 53, 52, 53, 52]);
    }

    #[test]
    fn unix_time() {
        let datetime = DateTime::new(Date::new(2038, 1, 19), 3, 14, 7, 5);
        assert_eq!(to_unix_micros(datetime), i32::MAX as i64 * MICROS_PER_SECOND + 5);
        assert_eq!(from_unix_micros(to_unix_micros(datetime)), Some(datetime));
        assert_eq!(to_unix_seconds(DateTime::new(Date::new(1969, 12, 31), 23, 59, 59, 500_000)), -1);
    }

    #[test]
    fn months() {
        assert_eq!(add_months(Date::new(2024, 1, 31), 1), Some(Date::new(2024, 2, 29)));
        assert_eq!(add_months(Date::new(2024, 1, 31), -2), Some(Date::new(2023, 11, 30)));
        assert_eq!(add_months(Date::new(9999, 12, 1), 1), None);
    }
}
