//! Names of months and days in the languages of `lc_time_names`.
//!
//! They are MySQL's: `locales.txt` has a line for each locale, as a real server gives it (the interop test `locales` asks one, and writes the
//! file anew with `UPDATE_GOLDEN=1`).
//!
//! ```text
//! number <tab> name <tab> January|… <tab> Jan|… <tab> Monday|… <tab> Mon|…
//! ```

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
}

static ALL: LazyLock<Vec<Locale>> = LazyLock::new(|| include_str!("locales.txt").lines().filter_map(read).collect());

fn read(line: &'static str) -> Option<Locale> {
    let mut fields = line.split('\t');
    let (number, name) = (fields.next()?.parse().ok()?, fields.next()?);
    let mut names = || fields.next().map(|names| names.split('|').collect::<Vec<_>>());
    let (months, short_months, days, short_days) = (names()?, names()?, names()?, names()?);
    let is_whole = [&months, &short_months].iter().all(|names| names.len() == 12)
        && [&days, &short_days].iter().all(|names| names.len() == 7);
    is_whole.then_some(Locale { number, name, months, short_months, days, short_days })
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
        assert_eq!(Locale::by_number(german.number.into()), Some(german));
        assert!(Locale::by_name("tlh").is_none());
    }
}
