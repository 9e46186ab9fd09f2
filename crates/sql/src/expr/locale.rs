//! Names of months and days in the languages of `lc_time_names`, and how FORMAT writes numbers in them.
//!
//! They are MySQL's: `locales.txt` has a line for each locale, as a real server gives it (the interop test `locales` asks one, and writes the
//! file anew with `UPDATE_GOLDEN=1`).
//!
//! ```text
//! number <tab> name <tab> January|… <tab> Jan|… <tab> Monday|… <tab> Mon|… <tab> 1,234,567,890,123.5
//! ```
//!
//! The last one is [`NumberForm`]'s sample: its point, what separates groups of digits, and how many digits a group has.

use std::sync::LazyLock;

use base::{SqlError, codes};

/// One locale.
#[derive(Debug, PartialEq, Eq)]
pub struct Locale {
    /// What logs have for it.
    pub number: u16,
    /// `de_DE`
    pub name: &'static str,
    /// From January on.
    pub months: Vec<&'static str>,
    /// The same, short.
    pub short_months: Vec<&'static str>,
    /// From Monday on.
    pub days: Vec<&'static str>,
    /// The same, short.
    pub short_days: Vec<&'static str>,
    /// How numbers are written.
    pub numbers: NumberForm,
}

/// How a locale writes numbers.
#[derive(Debug, PartialEq, Eq)]
pub struct NumberForm {
    point: &'static str,
    separator: &'static str,
    /// Digits of the groups from the point on.
    groups: Vec<usize>,
    /// The last group's length is that of all further ones.
    repeats: bool,
}

impl NumberForm {
    /// The form of `1,234,567,890,123.5`.
    fn of_sample(sample: &'static str) -> Option<NumberForm> {
        let is_digit = |c: char| c.is_ascii_digit();
        let sample = sample.strip_suffix('5')?;
        let (whole, point) = sample.split_at(sample.rfind(is_digit)? + 1);
        // One locale has a NUL there, which the file has as its escape.
        let written = match whole.trim_start_matches(is_digit) {
            rest if rest.starts_with("\\0") => "\\0",
            rest => &rest[..rest.find(is_digit).unwrap_or(0)],
        };
        let separator = if written == "\\0" { "\0" } else { written };
        if separator.is_empty() {
            return Some(NumberForm { point, separator, groups: Vec::new(), repeats: false });
        }
        let mut groups: Vec<usize> = whole.rsplit(written).map(str::len).collect();
        let first = groups.pop()?;
        let repeats = groups.last().is_some_and(|last| first <= *last);
        Some(NumberForm { point, separator, groups, repeats })
    }

    /// A number's text in this form; `text` has a point and no separators.
    pub fn write(&self, text: &str) -> String {
        let (whole, fraction) = text.split_once('.').map_or((text, None), |(whole, fraction)| (whole, Some(fraction)));
        let (sign, digits) = whole.strip_prefix('-').map_or(("", whole), |digits| ("-", digits));
        let (mut parts, mut left) = (Vec::new(), digits);
        let mut groups = self.groups.iter().copied();
        let mut last = None;
        while let Some(size) = groups.next().or(last.filter(|_| self.repeats)) {
            if left.len() <= size {
                break;
            }
            let (rest, group) = left.split_at(left.len() - size);
            parts.push(group);
            (left, last) = (rest, Some(size));
        }
        parts.push(left);
        parts.reverse();
        let mut out = format!("{sign}{}", parts.join(self.separator));
        if let Some(fraction) = fraction {
            out.push_str(self.point);
            out.push_str(fraction);
        }
        out
    }
}

static ALL: LazyLock<Vec<Locale>> = LazyLock::new(|| include_str!("locales.txt").lines().filter_map(read).collect());

fn read(line: &'static str) -> Option<Locale> {
    let mut fields = line.split('\t');
    let (number, name) = (fields.next()?.parse().ok()?, fields.next()?);
    let mut names = || fields.next().map(|names| names.split('|').collect::<Vec<_>>());
    let (months, short_months, days, short_days) = (names()?, names()?, names()?, names()?);
    let is_whole = [&months, &short_months].iter().all(|names| names.len() == 12)
        && [&days, &short_days].iter().all(|names| names.len() == 7);
    let numbers = NumberForm::of_sample(fields.next()?)?;
    is_whole.then_some(Locale { number, name, months, short_months, days, short_days, numbers })
}

impl Locale {
    /// `en_US`, the default.
    pub fn english() -> &'static Locale {
        // A test sees that all lines can be read.
        &ALL[0]
    }

    /// By its name, in any case.
    pub fn by_name(name: &str) -> Option<&'static Locale> {
        ALL.iter().find(|locale| locale.name.eq_ignore_ascii_case(name))
    }

    /// By the number that logs have for it.
    pub fn by_number(number: u64) -> Option<&'static Locale> {
        ALL.iter().find(|locale| u64::from(locale.number) == number)
    }

    /// 1649 for what is none.
    pub fn unknown(name: impl std::fmt::Display) -> SqlError {
        SqlError::new(codes::UNKNOWN_LOCALE, format!("Unknown locale: '{name}'"))
    }

    /// The longest of some names, in characters.
    pub fn width(names: &[&str]) -> u32 {
        names.iter().map(|name| name.chars().count() as u32).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_can_be_read() {
        assert_eq!(ALL.len(), include_str!("locales.txt").lines().count());
        let english = Locale::english();
        assert_eq!(
            (english.number, english.name, english.months[1], english.short_days[6]),
            (0, "en_US", "February", "Sun")
        );
        let german = Locale::by_name("DE_de").unwrap();
        assert_eq!((german.months[2], german.days[0]), ("März", "Montag"));
        let written = |name: &str| Locale::by_name(name).unwrap().numbers.write("-1234567.89");
        assert_eq!(written("de_DE"), "-1.234.567,89");
        assert_eq!(written("en_IN"), "-12,34,567.89");
        assert_eq!(written("fr_FR"), "-1234567,89");
        assert_eq!(english.numbers.write("123"), "123");
        for line in include_str!("locales.txt").lines() {
            let (name, sample) = (line.split('\t').nth(1).unwrap(), line.rsplit('\t').next().unwrap());
            assert_eq!(
                Locale::by_name(name).unwrap().numbers.write("1234567890123.5"),
                sample.replace("\\0", "\0"),
                "{name}"
            );
        }
        assert_eq!(Locale::by_number(german.number.into()), Some(german));
        assert!(Locale::by_name("tlh").is_none());
    }
}
