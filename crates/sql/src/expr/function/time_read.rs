//! What STR_TO_DATE reads: the parts of a date and time as a format says, and what they come to.

use types::temporal::calendar;
use types::temporal::parse::{Allow, full_year};
use types::{Date, DateTime, Time, Value};

use crate::expr::locale::Locale;
use crate::expr::types::Kind;

/// The parts that were read so far.
#[derive(Default)]
pub(super) struct Reader<'a> {
    /// What was not read yet.
    pub(super) text: &'a [u8],
    year: u16,
    month: u8,
    day: u8,
    day_of_year: u32,
    /// From Monday, 1.
    weekday: Option<u8>,
    week: Option<Week>,
    /// The year of %X or %x, and whether its weeks begin with Sunday.
    week_year: Option<(u16, bool)>,
    hour: u8,
    minute: u8,
    second: u8,
    micros: u32,
    afternoon: bool,
    twelve_hours: bool,
}

/// A week that was read.
#[derive(Clone, Copy)]
struct Week {
    number: u8,
    sunday_first: bool,
    /// %V and %v: it is one of the year of %X or %x.
    strict: bool,
}

impl<'a> Reader<'a> {
    pub(super) fn of(text: &'a [u8]) -> Self {
        Reader { text, ..Reader::default() }
    }

    pub(super) fn read(&mut self, format: &[u8]) -> Option<()> {
        let mut rest = format;
        while let Some((&byte, after)) = rest.split_first() {
            rest = after;
            if self.text.is_empty() {
                // What the text does not say stays zero.
                return Some(());
            }
            if byte == b'%' && !rest.is_empty() {
                let specifier = rest[0];
                rest = &rest[1..];
                self.text = self.text.trim_ascii_start();
                self.part(specifier)?;
            } else if byte.is_ascii_whitespace() {
                self.text = self.text.trim_ascii_start();
            } else {
                self.text = self.text.strip_prefix(&[byte])?;
            }
        }
        Some(())
    }

    fn part(&mut self, specifier: u8) -> Option<()> {
        match specifier {
            b'Y' => {
                let (year, len) = self.number(4)?;
                self.year = if len <= 2 { full_year(year) } else { year } as u16;
            }
            b'y' => self.year = full_year(self.number(2)?.0) as u16,
            b'm' | b'c' => self.month = self.in_range(2, 12)?,
            b'M' => self.month = self.name(&Locale::english().months, usize::MAX)? + 1,
            b'b' => self.month = self.name(&Locale::english().months, 3)? + 1,
            b'd' | b'e' => self.day = self.in_range(2, 31)?,
            b'D' => {
                self.day = self.in_range(2, 31)?;
                self.text = self.text.get(2..)?;
            }
            b'j' => self.day_of_year = self.number(3)?.0,
            b'H' | b'k' => self.hour = self.in_range(2, 23)?,
            b'h' | b'I' | b'l' => {
                self.hour = self.in_range(2, 12).filter(|hour| *hour > 0)?;
                self.twelve_hours = true;
            }
            b'i' => self.minute = self.in_range(2, 59)?,
            b's' | b'S' => self.second = self.in_range(2, 59)?,
            b'f' => {
                let (number, len) = self.number(6)?;
                self.micros = number * 10u32.pow(6 - len as u32);
            }
            b'p' => {
                // It is a half of hours that were read before.
                let half = self.text.get(..2).filter(|_| self.twelve_hours)?.to_ascii_uppercase();
                self.afternoon = match &half[..] {
                    b"AM" => false,
                    b"PM" => true,
                    _ => return None,
                };
                self.text = &self.text[2..];
            }
            b'T' => self.time(b"%H:%i:%s")?,
            b'r' => self.time(b"%I:%i:%s %p")?,
            b'W' => self.weekday = Some(self.name(&Locale::english().days, usize::MAX)? + 1),
            b'a' => self.weekday = Some(self.name(&Locale::english().days, 3)? + 1),
            b'w' => self.weekday = Some(self.in_range(1, 6).map(|day| if day == 0 { 7 } else { day })?),
            b'U' | b'u' | b'V' | b'v' => {
                let number = self.in_range(2, 53)?;
                let strict = matches!(specifier, b'V' | b'v');
                if strict && number == 0 {
                    return None;
                }
                self.week = Some(Week { number, sunday_first: matches!(specifier, b'U' | b'V'), strict });
            }
            b'X' | b'x' => self.week_year = Some((self.number(4)?.0 as u16, specifier == b'X')),
            b'%' => self.text = self.text.strip_prefix(b"%")?,
            b'.' => self.skip(u8::is_ascii_punctuation),
            b'@' => self.skip(u8::is_ascii_alphabetic),
            b'#' => self.skip(u8::is_ascii_digit),
            _ => return None,
        }
        Some(())
    }

    /// A time as a whole: its hours are of the day from then on.
    fn time(&mut self, format: &[u8]) -> Option<()> {
        let twelve_hours = std::mem::take(&mut self.twelve_hours);
        self.read(format)?;
        self.hour = self.hour_of_day();
        (self.twelve_hours, self.afternoon) = (twelve_hours, false);
        Some(())
    }

    fn hour_of_day(&self) -> u8 {
        match self.twelve_hours {
            true => self.hour % 12 + if self.afternoon { 12 } else { 0 },
            false => self.hour,
        }
    }

    fn skip(&mut self, is_one: fn(&u8) -> bool) {
        let len = self.text.iter().take_while(|byte| is_one(byte)).count();
        self.text = &self.text[len..];
    }

    fn number(&mut self, max_digits: usize) -> Option<(u32, usize)> {
        let len = self.text.iter().take(max_digits).take_while(|byte| byte.is_ascii_digit()).count();
        let number = self.text[..len].iter().fold(0, |n, digit| n * 10 + (digit - b'0') as u32);
        self.text = &self.text[len..];
        (len > 0).then_some((number, len))
    }

    fn in_range(&mut self, max_digits: usize, max: u32) -> Option<u8> {
        self.number(max_digits).map(|(number, _)| number).filter(|number| *number <= max).map(|number| number as u8)
    }

    /// One of some names, or of their first letters, as a whole word.
    fn name(&mut self, names: &[&str], letters: usize) -> Option<u8> {
        let len = self.text.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let (word, rest) = self.text.split_at(len);
        let is_it = |name: &&str| word.eq_ignore_ascii_case(&name.as_bytes()[..name.len().min(letters)]);
        let found = names.iter().position(is_it)?;
        self.text = rest;
        Some(found as u8)
    }

    pub(super) fn value(&self, kind: Kind, allow: Allow) -> Option<Value> {
        let hour = self.hour_of_day();
        let time = Time::from_parts(false, hour as u32, self.minute as u32, self.second as u32, self.micros);
        if kind == Kind::Time {
            return Some(Value::Time(time));
        }
        let date = self.date()?;
        allow.accepts(date).then(|| match kind {
            Kind::Date => Value::Date(date),
            _ => Value::DateTime(DateTime::from_date_time(date, time)),
        })
    }

    /// The day of a week goes before that of a year, and this before that of a month.
    fn date(&self) -> Option<Date> {
        let first_of = |year: u16| calendar::day_number(Date::new(year, 1, 1));
        match (self.week, self.weekday, self.day_of_year) {
            (Some(week), Some(weekday), _) => {
                let year = match (week.strict, self.week_year) {
                    (true, Some((year, sunday_first))) if sunday_first == week.sunday_first => year,
                    (false, None) => self.year,
                    _ => return None,
                };
                calendar::from_day_number(week.day(first_of(year), weekday.into()))
            }
            (_, _, 0) => Some(Date::new(self.year, self.month, self.day)),
            (_, _, day) => calendar::from_day_number(first_of(self.year) + i64::from(day) - 1),
        }
    }
}

impl Week {
    /// The number of its day, in the year that begins with the day `first`.
    fn day(self, first: i64, weekday: i64) -> i64 {
        let begins = (first + 5 + i64::from(self.sunday_first)).rem_euclid(7);
        let weeks = (i64::from(self.number) - 1) * 7;
        match self.sunday_first {
            true => first + if begins == 0 { 0 } else { 7 } - begins + weeks + weekday % 7,
            false => first + if begins <= 3 { 0 } else { 7 } - begins + weeks + weekday - 1,
        }
    }
}
