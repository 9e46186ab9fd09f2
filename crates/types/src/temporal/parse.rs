//! Text and numbers as MySQL reads them into dates and times.
//!
//! Two forms of text: with separators (`2024-1-31 12:34:56.5`, nearly any punctuation, also `T`, also a zone `+05:30`), and
//! digits only, whose number says what they mean (`240131`, `20240131123456`). Years of two digits are 1970 to 2069.
//! What a date may lack ([`Allow`]) is the caller's (sql_mode's) to say.

use super::{Date, DateTime, Time, calendar, fraction_unit};

/// Which irregular dates are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allow {
    /// `0000-00-00`
    pub zero_date: bool,
    /// `2024-00-00`
    pub zero_in_date: bool,
    /// `2024-02-31`
    pub invalid_dates: bool,
}

impl Allow {
    /// Everything but days beyond 31.
    pub const ALL: Allow = Allow { zero_date: true, zero_in_date: true, invalid_dates: true };
    /// Zero dates and parts, as expressions (not assignments) take them.
    pub const ZEROS: Allow = Allow { zero_date: true, zero_in_date: true, invalid_dates: false };

    /// Whether this date is one that is taken.
    pub fn accepts(self, date: Date) -> bool {
        if date.is_zero() {
            return self.zero_date;
        }
        if date.has_zero_part() && !self.zero_in_date {
            return false;
        }
        date.year <= YEAR_MAX
            && date.month <= 12
            && date.day <= 31
            && (self.invalid_dates || date.month == 0 || date.day <= calendar::days_in_month(date.year, date.month))
    }
}

/// The last year that a date has.
const YEAR_MAX: u16 = 9999;

/// What was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parsed<T> {
    /// The value; a fraction is cut after six digits.
    pub value: T,
    /// The seventh digit of the fraction was 5 or more.
    pub round_up: bool,
    /// How many digits the fraction had, at most 6.
    pub fsp: u8,
    /// Something stood behind the value, and was ignored.
    pub trailing: bool,
    /// There was a time of day beside the date.
    pub has_time: bool,
    /// The zone that stood behind it, in minutes east of Greenwich.
    pub zone_minutes: Option<i32>,
    /// The value was out of range, and is the nearest that is not (TIME only).
    pub clamped: bool,
}

impl<T> Parsed<T> {
    /// A value that was not read from text.
    pub fn exactly(value: T) -> Self {
        Parsed { value, round_up: false, fsp: 0, trailing: false, has_time: false, zone_minutes: None, clamped: false }
    }

    fn map<U>(self, change: impl FnOnce(T) -> U) -> Parsed<U> {
        Parsed {
            value: change(self.value),
            round_up: self.round_up,
            fsp: self.fsp,
            trailing: self.trailing,
            has_time: self.has_time,
            zone_minutes: self.zone_minutes,
            clamped: self.clamped,
        }
    }
}

impl Parsed<DateTime> {
    /// The value rounded to `fsp` digits (or cut, if `truncate`). `None` beyond the year 9999.
    pub fn rounded(&self, fsp: u8, truncate: bool) -> Option<DateTime> {
        if truncate {
            return Some(self.value.truncated(fsp));
        }
        match self.value.rounded(fsp)? {
            rounded if self.round_up && fsp == 6 => {
                let next = DateTime { micros: rounded.micros + 1, ..rounded };
                if next.micros < 1_000_000 { Some(next) } else { DateTime { micros: 999_999, ..rounded }.rounded(5) }
            }
            rounded => Some(rounded),
        }
    }
}

impl Parsed<Time> {
    /// The value rounded to `fsp` digits (or cut, if `truncate`).
    pub fn rounded(&self, fsp: u8, truncate: bool) -> Time {
        if truncate {
            return self.value.truncated(fsp);
        }
        // The seventh digit is lost unless all six others are wanted.
        let carry = if fsp == 6 { self.carry() } else { 0 };
        Time::from_micros(self.value.micros() + carry).rounded(fsp)
    }

    /// The microsecond that the seventh digit adds.
    fn carry(&self) -> i64 {
        let away = if self.value.micros() < 0 { -1 } else { 1 };
        away * self.round_up as i64
    }
}

/// Reads text as a date or a date and time.
pub fn datetime(text: &[u8], allow: Allow) -> Option<Parsed<DateTime>> {
    let (parsed, _) = date_parts(text)?;
    is_moment(parsed.value, allow).then_some(parsed)
}

/// Whether each part is in its range, and the date is one that is taken.
fn is_moment(value: DateTime, allow: Allow) -> bool {
    let DateTime { date, hour, minute, second, .. } = value;
    hour < 24 && minute < 60 && second < 60 && allow.accepts(date)
}

/// What the parts of a date and time are separated by: [`time`] has to know which texts can be nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Nothing, or a space between day and hour.
    Timestamp,
    /// Punctuation only: `10:11:12.123456` could be a span as well.
    Ambiguous,
}

/// The parts of a date and time, whatever their values.
fn date_parts(text: &[u8]) -> Option<(Parsed<DateTime>, Form)> {
    let text = text.trim_ascii_start();
    text.first().filter(|byte| byte.is_ascii_digit())?;
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'T').count();
    match text.get(digits) {
        None => compact(text, digits),
        Some(b'.') if digits > 4 => compact(text, digits),
        // `543.21` is 2054-03-21, as if nothing stood between.
        Some(b'.') if digits == 3 => separated(text, 2),
        _ => separated(text, usize::MAX),
    }
}

/// `20240131`, `240131123456`, …; behind a date without a time the point of a fraction only separates (`240131.12`).
fn compact(text: &[u8], digits: usize) -> Option<(Parsed<DateTime>, Form)> {
    let year_len = if matches!(digits, 4 | 8 | 14..) { 4 } else { 2 };
    let mut reader = Reader { text };
    let mut parts = [0u32; 6];
    let mut count = 0;
    let mut form = Form::Timestamp;
    for (at, part) in parts.iter_mut().enumerate() {
        reader.skip_byte(b'T');
        if at >= 3 && reader.text.first() == Some(&b'.') {
            reader.skip_byte(b'.');
            form = Form::Ambiguous;
        }
        let Some((number, _)) = reader.digits(if at == 0 { year_len } else { 2 }) else { break };
        *part = number;
        count += 1;
    }
    (count >= 3 || count == 2 && digits == 4).then_some(())?;
    finish(parts, year_len == 2, count > 3, count == 6, reader).map(|parsed| (parsed, form))
}

/// `2024-1-31 12:34:56.5+05:30`; a part that has its most digits needs no separator.
fn separated(text: &[u8], most: usize) -> Option<(Parsed<DateTime>, Form)> {
    let mut reader = Reader { text };
    let mut parts = [0u32; 6];
    let mut count = 0;
    let mut short_year = false;
    let mut form = Form::Ambiguous;
    for (at, part) in parts.iter_mut().enumerate() {
        let Some((number, len)) = reader.digits(most) else { break };
        if at == 0 {
            short_year = len == 2;
        }
        *part = number;
        count += 1;
        if at == 5 {
            break;
        }
        let separator = match reader.separator(at) {
            Some(separator) => separator,
            None if len == most => continue,
            None => break,
        };
        if separator.iter().any(u8::is_ascii_whitespace) {
            form = Form::Timestamp;
        }
    }
    (count >= 3).then_some(())?;
    finish(parts, short_year, count > 3, count == 6, reader).map(|parsed| (parsed, form))
}

/// Year, fraction and zone, and what stands behind.
fn finish(
    parts: [u32; 6],
    short_year: bool,
    has_time: bool,
    has_seconds: bool,
    mut reader: Reader<'_>,
) -> Option<Parsed<DateTime>> {
    let all_zero = parts.iter().all(|&part| part == 0);
    let year = if short_year && !all_zero { full_year(parts[0]) } else { parts[0] };
    let (micros, fsp, round_up) = if has_seconds { reader.fraction() } else { (0, 0, false) };
    let zone_minutes = if has_time { reader.zone() } else { None };
    let byte = |n: u32| u8::try_from(n).ok();
    let date = Date::new(u16::try_from(year).ok()?, byte(parts[1])?, byte(parts[2])?);
    let value = DateTime::new(date, byte(parts[3])?, byte(parts[4])?, byte(parts[5])?, micros);
    let trailing = !reader.text.trim_ascii().is_empty();
    Some(Parsed { round_up, fsp, trailing, has_time, zone_minutes, ..Parsed::exactly(value) })
}

/// 1970 to 2069.
pub fn full_year(year: u32) -> u32 {
    match year {
        0..70 => year + 2000,
        70..100 => year + 1900,
        _ => year,
    }
}

/// A shorter text is never a date and time where a span is wanted: `240131101112` is the shortest.
const TIMESTAMP_MIN_LEN: usize = 12;

/// Reads text as a span: `-1 12:34:56.5`, `12:34`, `123456`, or the time of a date and time.
pub fn time(text: &[u8]) -> Option<Parsed<Time>> {
    let text = text.trim_ascii_start();
    let negative = text.first() == Some(&b'-');
    let body = &text[negative as usize..];
    if body.len() >= TIMESTAMP_MIN_LEN
        && let Some((parsed, Form::Timestamp)) = date_parts(body).filter(|(parsed, _)| parsed.has_time)
    {
        return (!negative && is_moment(parsed.value, Allow::ALL)).then(|| parsed.map(DateTime::time));
    }
    let mut reader = Reader { text: body };
    let (first, _) = reader.digits(usize::MAX)?;
    let (hours, minutes, seconds) = match reader.text {
        [b' ', rest @ ..] if rest.trim_ascii_start().first().is_some_and(u8::is_ascii_digit) => {
            reader.text = rest.trim_ascii_start();
            let (hours, minutes, seconds) = clock(None, &mut reader);
            (first.saturating_mul(24).saturating_add(hours), minutes, seconds)
        }
        [b':', ..] => clock(Some(first), &mut reader),
        _ => (first / 10_000, first / 100 % 100, first % 100),
    };
    let is_whole = matches!(reader.text, [b'.', rest @ ..] if !rest.first().is_some_and(u8::is_ascii_digit));
    let (micros, fsp, round_up) = reader.fraction();
    let trailing = !reader.text.trim_ascii().is_empty();
    (minutes < 60 && seconds < 60 && (is_whole || !is_exponent(reader.text))).then_some(())?;
    let (value, clamped) = Time::from_parts(negative, hours, minutes, seconds, micros).clamped();
    // What is cut to the longest span is not rounded beyond it.
    let round_up = round_up && !clamped;
    Some(Parsed { round_up, fsp, trailing, clamped, has_time: true, ..Parsed::exactly(value) })
}

/// `e5`, `E-5`: text with it behind a time is none.
fn is_exponent(text: &[u8]) -> bool {
    match text {
        [b'e' | b'E', b'+' | b'-', digit, ..] | [b'e' | b'E', digit, ..] => digit.is_ascii_digit(),
        _ => false,
    }
}

/// A date and time, or a span: what ADDTIME and TIMEDIFF read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// A span.
    Span(Parsed<Time>),
    /// A date, perhaps with a time. Its day may be none of the calendar.
    At(Parsed<DateTime>),
}

/// Reads text that may be either: `10:11:12` is a span, `2010-11-12`, `101112` and `10:11-12` are dates, and so is all else
/// that can be read as one.
pub fn moment(text: &[u8]) -> Option<Moment> {
    let span = time(text);
    let is_clock = span.is_some_and(|span| !span.trailing && !span.clamped) && looks_like_clock(text);
    if let Some(at) = datetime(text, Allow::ALL).filter(|_| !is_clock) {
        return Some(Moment::At(at));
    }
    span.map(Moment::Span)
}

/// `-10:11:12`, perhaps with a fraction.
fn looks_like_clock(text: &[u8]) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b':' | b'.' | b'-');
    let text = text.trim_ascii();
    text.iter().all(is_part) && text.iter().filter(|&&byte| byte == b':').count() == 2
}

/// `hours:minutes:seconds`; hours may have been read.
fn clock(hours: Option<u32>, reader: &mut Reader<'_>) -> (u32, u32, u32) {
    let mut parts = [0; 3];
    let mut at = 0;
    if let Some(hours) = hours {
        parts[0] = hours;
        at = 1;
    }
    while at < 3 {
        let has_more =
            at == 0 || reader.text.first() == Some(&b':') && reader.text.get(1).is_some_and(u8::is_ascii_digit);
        if !has_more {
            break;
        }
        reader.skip_byte(b':');
        parts[at] = reader.digits(usize::MAX).map_or(0, |(number, _)| number);
        at += 1;
    }
    (parts[0], parts[1], parts[2])
}

/// Reads a number as a date or a date and time: 240131, 20240131, 20240131123456, ….
pub fn datetime_from_number(number: i64, micros: u32, allow: Allow) -> Option<Parsed<DateTime>> {
    const SHORT_DATE_OF_2000: i64 = 69 * 10_000 + 1231;
    const SHORT_TIME_OF_2000: i64 = 69 * 10_000_000_000 + 1_231_235_959;
    let (full, has_time) = match number {
        0 => (0, false),
        10_000_101_000_000.. => (number, true),
        101..=SHORT_DATE_OF_2000 => ((number + 20_000_000) * 1_000_000, false),
        700_101..=991_231 => ((number + 19_000_000) * 1_000_000, false),
        991_232..=99_991_231 => (number * 1_000_000, false),
        101_000_000..=SHORT_TIME_OF_2000 => (number + 20_000_000_000_000, true),
        700_101_000_000..=991_231_235_959 => (number + 19_000_000_000_000, true),
        991_231_235_960..=10_000_100_999_999 => (number, true),
        _ => return None,
    };
    let (day, clock) = (full / 1_000_000, full % 1_000_000);
    (day <= 99_991_231).then_some(())?;
    let date = Date::new((day / 10_000) as u16, (day / 100 % 100) as u8, (day % 100) as u8);
    let (hour, minute, second) = ((clock / 10_000) as u8, (clock / 100 % 100) as u8, (clock % 100) as u8);
    let in_range = hour < 24 && minute < 60 && second < 60 && date.month <= 12 && date.day <= 31;
    let value = DateTime::new(date, hour, minute, second, micros);
    (in_range && allow.accepts(date)).then(|| Parsed { has_time, ..Parsed::exactly(value) })
}

/// Reads a number as a date where a date alone is wanted: `YEAR(5)`, `CAST(131 AS DATE)`. It has fewer rules than
/// [`datetime_from_number`]: 5 is the 5th of no month in 2000, and of a longer number the last six digits, a time, are not looked at.
pub fn date_from_number(number: i64, allow: Allow) -> Option<Date> {
    const LARGEST: i64 = 99_991_231;
    let day = if number > LARGEST { number / 1_000_000 } else { number };
    let full = match day {
        0..=691_231 => day + 20_000_000,
        691_232..=991_231 => day + 19_000_000,
        991_232..=LARGEST => day,
        _ => return None,
    };
    let date = Date::new((full / 10_000) as u16, (full / 100 % 100) as u8, (full % 100) as u8);
    (date.month <= 12 && date.day <= 31 && allow.accepts(date)).then_some(date)
}

/// Reads a number as a span: hhmmss.
pub fn time_from_number(number: i64, micros: u32) -> Option<Parsed<Time>> {
    let magnitude = number.unsigned_abs();
    if magnitude > 8_385_959 {
        if number >= 10_000_000_000
            && let Some(parsed) = datetime_from_number(number, micros, Allow::ZEROS)
        {
            return Some(parsed.map(DateTime::time));
        }
        let value = if number < 0 { Time::from_micros(-Time::MAX.micros()) } else { Time::MAX };
        return Some(Parsed { clamped: true, ..Parsed::exactly(value) });
    }
    let (hours, minutes, seconds) = (magnitude / 10_000, magnitude / 100 % 100, magnitude % 100);
    (minutes < 60 && seconds < 60).then_some(())?;
    let time = Time::from_parts(number < 0, hours as u32, minutes as u32, seconds as u32, micros);
    let (value, clamped) = time.clamped();
    Some(Parsed { clamped, has_time: true, ..Parsed::exactly(value) })
}

struct Reader<'a> {
    text: &'a [u8],
}

impl Reader<'_> {
    /// At most `max` digits as a number (which saturates), and how many they were.
    fn digits(&mut self, max: usize) -> Option<(u32, usize)> {
        let len = self.text.iter().take(max).take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, rest) = self.text.split_at(len);
        self.text = rest;
        let add = |n: u32, digit: &u8| n.saturating_mul(10).saturating_add((digit - b'0') as u32);
        (len > 0).then(|| (digits.iter().fold(0, add), len))
    }

    fn skip_byte(&mut self, byte: u8) {
        self.text = self.text.strip_prefix(&[byte]).unwrap_or(self.text);
    }

    /// Steps over what stands between parts `at` and `at + 1`, and gives it: punctuation; between day and hour `T` or spaces as
    /// well. `None` (and no step) if nothing of that is followed by a digit.
    fn separator(&mut self, at: usize) -> Option<&[u8]> {
        let is_separator = |byte: u8| byte.is_ascii_punctuation() || at == 2 && byte.is_ascii_whitespace();
        let len = match self.text.first() {
            Some(b'T') if at == 2 => 1,
            _ => self.text.iter().take_while(|byte| is_separator(**byte)).count(),
        };
        let (separator, rest) = self.text.split_at(len);
        (len > 0 && rest.first().is_some_and(u8::is_ascii_digit)).then(|| {
            self.text = rest;
            separator
        })
    }

    /// `.123456789`: microseconds, number of digits (at most 6), whether the rest rounds up.
    fn fraction(&mut self) -> (u32, u8, bool) {
        let Some(rest) = self.text.strip_prefix(b".") else { return (0, 0, false) };
        self.text = rest;
        let Some((number, len)) = self.digits(6) else { return (0, 0, false) };
        let round_up = self.text.first().is_some_and(|byte| (b'5'..=b'9').contains(byte));
        self.digits(usize::MAX);
        (number * fraction_unit(len as u8), len as u8, round_up)
    }

    /// `+05:30`, `-08:00`
    fn zone(&mut self) -> Option<i32> {
        let sign = match self.text.first()? {
            b'+' => 1,
            b'-' => -1,
            _ => return None,
        };
        let &[h1, h2, b':', m1, m2] = self.text.get(1..6)? else { return None };
        let number = |a: u8, b: u8| {
            (a.is_ascii_digit() && b.is_ascii_digit()).then(|| (a - b'0') as i32 * 10 + (b - b'0') as i32)
        };
        let (hours, minutes) = (number(h1, h2)?, number(m1, m2)?);
        // As in MySQL, there is no `-00:00`.
        let is_one = minutes < 60 && hours * 60 + minutes <= 14 * 60 && (sign > 0 || hours + minutes > 0);
        is_one.then_some(())?;
        self.text = &self.text[6..];
        Some(sign * (hours * 60 + minutes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(text: &str) -> Option<String> {
        let parsed = datetime(text.as_bytes(), Allow::ZEROS)?;
        let mut out = Vec::new();
        parsed.value.write_text(parsed.fsp, &mut out);
        Some(String::from_utf8(out).unwrap() + if parsed.trailing { " …" } else { "" })
    }

    #[test]
    fn datetimes() {
        let cases = [
            ("2024-01-31", Some("2024-01-31 00:00:00")),
            ("2024-1-3 4:5:6", Some("2024-01-03 04:05:06")),
            (" 2024-01-31T12:34:56.5", Some("2024-01-31 12:34:56.5")),
            ("24-01-31", Some("2024-01-31 00:00:00")),
            ("70.01.31", Some("1970-01-31 00:00:00")),
            ("1-2-3", Some("0001-02-03 00:00:00")),
            ("001-2-3", Some("0001-02-03 00:00:00")),
            ("240131.5", Some("2024-01-31 05:00:00")),
            ("20240131", Some("2024-01-31 00:00:00")),
            ("240131", Some("2024-01-31 00:00:00")),
            ("20240131123456", Some("2024-01-31 12:34:56")),
            ("20240131T123456.25", Some("2024-01-31 12:34:56.25")),
            ("240131123456", Some("2024-01-31 12:34:56")),
            ("2024-01-31 12:34", Some("2024-01-31 12:34:00")),
            ("2024-01-31abc", Some("2024-01-31 00:00:00 …")),
            ("2024-02-30", None),
            ("2024-02-00", Some("2024-02-00 00:00:00")),
            ("0000-00-00", Some("0000-00-00 00:00:00")),
            ("2024-13-01", None),
            ("2024-01-31 25:00:00", None),
            ("abc", None),
            ("", None),
            ("2024-01", None),
        ];
        for (text, expected) in cases {
            assert_eq!(show(text).as_deref(), expected, "{text}");
        }
        let zone = datetime(b"2024-01-31 12:00:00+05:30", Allow::ZEROS).unwrap();
        assert_eq!((zone.zone_minutes, zone.trailing), (Some(330), false));
        let no_zone = datetime(b"2024-01-31 12:00:00-00:00", Allow::ZEROS).unwrap();
        assert_eq!((no_zone.zone_minutes, no_zone.trailing), (None, true));
        let long = datetime(b"2024-01-31 12:00:00.1234567", Allow::ZEROS).unwrap();
        assert_eq!(long.rounded(6, false).unwrap().micros, 123_457);
        let carry = datetime(b"2024-12-31 23:59:59.9999995", Allow::ZEROS).unwrap();
        assert_eq!(carry.rounded(6, false), Some(DateTime::new(Date::new(2025, 1, 1), 0, 0, 0, 0)));
    }

    #[test]
    fn times() {
        let show = |text: &str| {
            let parsed = time(text.as_bytes())?;
            let mut out = Vec::new();
            parsed.value.write_text(parsed.fsp, &mut out);
            Some(String::from_utf8(out).unwrap())
        };
        let cases = [
            ("12:34:56", Some("12:34:56")),
            ("12:34", Some("12:34:00")),
            ("-1 12:34:56.5", Some("-36:34:56.5")),
            ("123456", Some("12:34:56")),
            ("1234", Some("00:12:34")),
            ("12", Some("00:00:12")),
            ("2 3", Some("51:00:00")),
            ("900:00:00", Some("838:59:59")),
            ("2024-01-31 12:34:56", Some("12:34:56")),
            ("2024-02-31 12:34:56.5", Some("12:34:56.5")),
            ("10-11-12 13:14:15", Some("13:14:15")),
            ("10:11:12 13:14:15", Some("13:14:15")),
            ("20240131123456.5", Some("12:34:56.5")),
            ("240131101112", Some("10:11:12")),
            ("-2024-01-31 12:34:56", None),
            ("2024-13-31 12:34:56", None),
            // Without a space it is a span, though it could be a date.
            ("10:11:12.123456", Some("10:11:12.123456")),
            ("23:05:31.000000", Some("23:05:31.000000")),
            ("101112.123456", Some("10:11:12.123456")),
            ("-10:11:12.123456", Some("-10:11:12.123456")),
            ("34 10:11:12.123456", Some("826:11:12.123456")),
            ("0000000010:11:12", Some("10:11:12")),
            ("2024-01-31T12:34:56", Some("00:20:24")),
            ("12:60:00", None),
            ("x", None),
        ];
        for (text, expected) in cases {
            assert_eq!(show(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn moments() {
        let show = |text: &str| {
            let mut out = Vec::new();
            match moment(text.as_bytes())? {
                Moment::Span(parsed) => parsed.value.write_text(parsed.fsp, &mut out),
                Moment::At(parsed) => parsed.value.write_text(parsed.fsp, &mut out),
            }
            Some(String::from_utf8(out).unwrap())
        };
        let cases = [
            ("10:11:12", Some("10:11:12")),
            ("-10:11:12.5", Some("-10:11:12.5")),
            ("10", Some("00:00:10")),
            ("1 10:11:12", Some("34:11:12")),
            ("101312", Some("10:13:12")),
            ("101112", Some("2010-11-12 00:00:00")),
            ("101112.5", Some("2010-11-12 05:00:00")),
            ("10.11.12", Some("2010-11-12 00:00:00")),
            ("10:11-12", Some("2010-11-12 00:00:00")),
            ("2010:11:12", Some("2010-11-12 00:00:00")),
            ("2010-11-12T01:02:03", Some("2010-11-12 01:02:03")),
            ("x", None),
        ];
        for (text, expected) in cases {
            assert_eq!(show(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn numbers() {
        let date = |n: i64| datetime_from_number(n, 0, Allow::ZEROS).map(|parsed| parsed.value.to_number());
        assert_eq!(date(20_240_131), Some(20_240_131_000_000));
        assert_eq!(date(240_131), Some(20_240_131_000_000));
        assert_eq!(date(991_231_235_959), Some(19_991_231_235_959));
        assert_eq!(date(0), Some(0));
        assert_eq!(date(99), None);
        assert_eq!(time_from_number(-123_456, 0).unwrap().value.to_number(), -123_456);
        assert!(time_from_number(9_000_000, 0).unwrap().clamped);
        assert_eq!(time_from_number(6_000, 0), None);
        let day = |n: i64| date_from_number(n, Allow::ZEROS).map(|date| date.to_number());
        let days = [(0, 20_000_000), (5, 20_000_005), (131, 20_000_131), (700_000, 19_700_000), (1_000_101, 1_000_101)];
        for (n, expected) in days {
            assert_eq!(day(n), Some(expected));
        }
        assert_eq!([day(691_231_235_960), day(1_000_101_000_000)], [Some(20_691_231), Some(1_000_101)]);
        assert_eq!([32, 99, 1300, -5, 99_991_232].map(day), [None; 5]);
    }

    #[test]
    fn no_year_has_five_digits() {
        for text in ["10000-01-01", "12345-01-01 10:00:00", "65535-1-1", "65536-1-1", "99999-12-31"] {
            assert_eq!(datetime(text.as_bytes(), Allow::ALL), None, "{text}");
        }
        assert_eq!(date_parts(b"9999-12-31").map(|(parsed, _)| parsed.value.date), Some(Date::new(9999, 12, 31)));
    }
}
