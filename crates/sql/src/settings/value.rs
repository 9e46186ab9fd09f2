//! Types and values of settings.

use std::fmt;
use std::sync::Arc;
use syntax::digits::parse_number;

use base::{SqlError, codes};

use super::{Setting, SettingId};

/// What a setting's value may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// ON or OFF.
    Bool,
    /// A signed number.
    Int {
        /// Smallest.
        min: i64,
        /// Largest.
        max: i64,
    },
    /// An unsigned number. Values outside are moved to the nearest allowed one, with a warning, as MySQL does.
    UInt {
        /// Smallest.
        min: u64,
        /// Largest.
        max: u64,
        /// Values are multiples of this.
        block: u64,
    },
    /// A number with a fraction.
    Double {
        /// Smallest.
        min: f64,
        /// Largest.
        max: f64,
    },
    /// Text.
    Text,
    /// One of these words, or its number from 0.
    Enum(&'static [&'static str]),
    /// Some of these words, with commas between, or the number whose bits they are.
    Set(&'static [&'static str]),
    /// The name of a character set.
    CharacterSet,
    /// The name of a collation.
    Collation,
    /// `SYSTEM`, an offset such as `+02:00`, or a name of the time zone database.
    TimeZone,
    /// A language of names of days and months.
    Locale,
}

/// Who has a value of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The server.
    Global,
    /// The server, and each session its own, which begins as the server's.
    Both,
    /// Each session; there is no global value.
    Session,
}

/// The value of a setting.
#[derive(Clone, Debug, PartialEq)]
pub enum SettingValue {
    /// Of settings that have none now.
    Null,
    /// Of [`Kind::Bool`].
    Bool(bool),
    /// Of [`Kind::Int`].
    Int(i64),
    /// Of [`Kind::UInt`].
    UInt(u64),
    /// Of [`Kind::Double`].
    Double(f64),
    /// Of all others.
    Text(Arc<str>),
}

impl SettingValue {
    /// A text.
    pub fn text(text: impl Into<Arc<str>>) -> Self {
        SettingValue::Text(text.into())
    }

    /// Whether ON; numbers other than 0 are.
    pub fn as_bool(&self) -> bool {
        match self {
            SettingValue::Null => false,
            SettingValue::Bool(on) => *on,
            SettingValue::Int(n) => *n != 0,
            SettingValue::UInt(n) => *n != 0,
            SettingValue::Double(n) => *n != 0.0,
            SettingValue::Text(text) => matches!(&**text, "ON" | "1"),
        }
    }

    /// A number with its fraction; 0 if it is none.
    pub fn as_f64(&self) -> f64 {
        match self {
            SettingValue::Double(n) => *n,
            other => other.as_u64() as f64,
        }
    }

    /// The number; 0 for a text.
    pub fn as_u64(&self) -> u64 {
        match self {
            SettingValue::Bool(on) => u64::from(*on),
            SettingValue::Int(n) => u64::try_from(*n).unwrap_or(0),
            SettingValue::UInt(n) => *n,
            SettingValue::Double(n) => *n as u64,
            SettingValue::Null | SettingValue::Text(_) => 0,
        }
    }

    /// The text; empty for anything else.
    pub fn as_str(&self) -> &str {
        match self {
            SettingValue::Text(text) => text,
            _ => "",
        }
    }
}

/// As SHOW VARIABLES prints it.
impl fmt::Display for SettingValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SettingValue::Null => Ok(()),
            SettingValue::Bool(on) => f.write_str(if *on { "ON" } else { "OFF" }),
            SettingValue::Int(n) => n.fmt(f),
            SettingValue::UInt(n) => n.fmt(f),
            SettingValue::Double(n) => write!(f, "{n:.6}"),
            SettingValue::Text(text) => f.write_str(text),
        }
    }
}

/// A value that was checked, and whether it had to be moved into the range.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    /// What to store.
    pub value: SettingValue,
    /// The value was outside and is now the nearest inside (warning 1292).
    pub adjusted: bool,
}

impl Setting {
    /// Checks a value from SET and brings it into the setting's type and range.
    pub fn check(&self, value: &SettingValue) -> Result<Checked, SqlError> {
        let checked = |value| Ok(Checked { value, adjusted: false });
        match self.kind {
            Kind::Bool => match bool_of(value) {
                Some(on) => checked(SettingValue::Bool(on)),
                None => Err(self.wrong_value(value)),
            },
            Kind::Int { min, max } => {
                let n = self.integer(value)?;
                let inside = n.clamp(i128::from(min), i128::from(max));
                Ok(Checked { value: SettingValue::Int(inside as i64), adjusted: inside != n })
            }
            Kind::UInt { min, max, block } => {
                let n = self.integer(value)?;
                let inside = n.clamp(i128::from(min), i128::from(max)) as u64;
                let whole = (inside - inside % block).max(min);
                Ok(Checked { value: SettingValue::UInt(whole), adjusted: i128::from(whole) != n })
            }
            Kind::Double { min, max } => {
                let n = match value {
                    SettingValue::Double(n) => *n,
                    SettingValue::Int(n) => *n as f64,
                    SettingValue::UInt(n) => *n as f64,
                    _ => return Err(self.wrong_type()),
                };
                let inside = n.clamp(min, max);
                Ok(Checked { value: SettingValue::Double(inside), adjusted: inside != n })
            }
            Kind::Text => match value {
                SettingValue::Text(_) | SettingValue::Null => checked(value.clone()),
                _ => Err(self.wrong_type()),
            },
            Kind::Enum(words) if self.id == SettingId::default_storage_engine => {
                self.engine(words, value).and_then(checked)
            }
            Kind::Enum(words) => self.one_of(words, value).and_then(checked),
            Kind::Set(_)
                if self.id == SettingId::protocol_compression_algorithms && !matches!(value, SettingValue::Text(_)) =>
            {
                Err(if *value == SettingValue::Null { self.wrong_value(value) } else { self.wrong_type() })
            }
            Kind::Set(words) => match self.some_of(words, value)? {
                // Nobody could connect.
                none if self.id == SettingId::protocol_compression_algorithms && none.as_str().is_empty() => {
                    Err(self.wrong_value(value))
                }
                some => checked(some),
            },
            Kind::CharacterSet | Kind::Collation | Kind::TimeZone | Kind::Locale => match value {
                SettingValue::Text(text) => super::session::check_name(self, text).and_then(checked),
                // Results as they are, without conversion.
                SettingValue::Null if self.id == SettingId::character_set_results => checked(SettingValue::Null),
                SettingValue::Null => Err(self.wrong_value(value)),
                // The number of a collation, as logs have it.
                SettingValue::Int(_) | SettingValue::UInt(_) if self.kind != Kind::TimeZone => {
                    super::session::name_of_number(self, value).and_then(checked)
                }
                _ => Err(self.wrong_type()),
            },
        }
    }

    /// Reads a value as a configuration file or the command line has it: `64M`, `ON`, text without quotes.
    pub fn parse(&self, text: &str) -> Result<SettingValue, SqlError> {
        let (value, checked) = self.parse_nearest(text)?;
        match checked.adjusted {
            true => Err(self.wrong_value(&value)),
            false => Ok(checked.value),
        }
    }

    /// The same; a number out of range becomes the nearest inside. Gives what was written, and what holds.
    pub(super) fn parse_nearest(&self, text: &str) -> Result<(SettingValue, Checked), SqlError> {
        let number = || parse_number(text).ok_or_else(|| self.wrong_value(&SettingValue::text(text)));
        let value = match self.kind {
            Kind::Int { .. } | Kind::UInt { .. } => number().map(|n| match u64::try_from(n) {
                Ok(n) => SettingValue::UInt(n),
                Err(_) => SettingValue::Int(n as i64),
            })?,
            Kind::Double { .. } => match text.trim().parse() {
                Ok(n) => SettingValue::Double(n),
                Err(_) => return Err(self.wrong_value(&SettingValue::text(text))),
            },
            Kind::Bool | Kind::Enum(_) | Kind::Set(_) if text.trim().parse::<u64>().is_ok() => {
                SettingValue::UInt(text.trim().parse().unwrap_or(0))
            }
            _ => SettingValue::text(text),
        };
        let checked = self.check(&value)?;
        Ok((value, checked))
    }

    fn integer(&self, value: &SettingValue) -> Result<i128, SqlError> {
        match value {
            SettingValue::Int(n) => Ok(i128::from(*n)),
            SettingValue::UInt(n) => Ok(i128::from(*n)),
            SettingValue::Bool(on) => Ok(i128::from(*on)),
            _ => Err(self.wrong_type()),
        }
    }

    fn one_of(&self, words: &[&'static str], value: &SettingValue) -> Result<SettingValue, SqlError> {
        let word = match value {
            SettingValue::Text(text) => words.iter().find(|word| word.eq_ignore_ascii_case(text)),
            SettingValue::Bool(on) => {
                let text = if *on { "ON" } else { "OFF" };
                words.iter().find(|word| **word == text).or_else(|| words.get(usize::from(*on)))
            }
            SettingValue::Int(n) => usize::try_from(*n).ok().and_then(|n| words.get(n)),
            SettingValue::UInt(n) => usize::try_from(*n).ok().and_then(|n| words.get(n)),
            SettingValue::Null => None,
            SettingValue::Double(_) => return Err(self.wrong_type()),
        };
        word.map(|word| SettingValue::text(*word)).ok_or_else(|| self.wrong_value(value))
    }

    /// The name of a storage engine, which unlike other words is never meant by a number.
    fn engine(&self, words: &[&'static str], value: &SettingValue) -> Result<SettingValue, SqlError> {
        match value {
            SettingValue::Text(text) => self
                .one_of(words, value)
                .map_err(|_| SqlError::new(codes::UNKNOWN_STORAGE_ENGINE, format!("Unknown storage engine '{text}'"))),
            SettingValue::Null => Err(self.wrong_value(value)),
            _ => Err(self.wrong_type()),
        }
    }

    fn some_of(&self, words: &[&'static str], value: &SettingValue) -> Result<SettingValue, SqlError> {
        let bits = match value {
            SettingValue::Text(text) => {
                let mut bits = 0u64;
                for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
                    let at = words.iter().position(|known| known.eq_ignore_ascii_case(word));
                    bits |= 1 << at.ok_or_else(|| self.wrong_value(&SettingValue::text(word)))?;
                }
                bits
            }
            SettingValue::UInt(n) => *n,
            SettingValue::Int(n) if *n >= 0 => *n as u64,
            SettingValue::Bool(_) | SettingValue::Double(_) => return Err(self.wrong_type()),
            _ => return Err(self.wrong_value(value)),
        };
        if words.len() < 64 && bits >> words.len() != 0 {
            return Err(self.wrong_value(value));
        }
        let chosen: Vec<&str> = words.iter().enumerate().filter(|(i, _)| bits >> i & 1 != 0).map(|(_, w)| *w).collect();
        Ok(SettingValue::text(chosen.join(",")))
    }

    /// 1231.
    pub(crate) fn wrong_value(&self, value: &SettingValue) -> SqlError {
        let shown = match value {
            SettingValue::Null => "NULL".to_string(),
            other => other.to_string(),
        };
        SqlError::new(
            codes::WRONG_VALUE_FOR_VAR,
            format!("Variable '{}' can't be set to the value of '{shown}'", self.name),
        )
    }

    /// 1232.
    pub(crate) fn wrong_type(&self) -> SqlError {
        SqlError::new(codes::WRONG_TYPE_FOR_VAR, format!("Incorrect argument type to variable '{}'", self.name))
    }
}

pub(super) fn bool_of(value: &SettingValue) -> Option<bool> {
    match value {
        SettingValue::Bool(on) => Some(*on),
        SettingValue::Int(0) | SettingValue::UInt(0) => Some(false),
        SettingValue::Int(1) | SettingValue::UInt(1) => Some(true),
        SettingValue::Text(text) => match text.to_ascii_lowercase().as_str() {
            "on" | "true" | "yes" => Some(true),
            "off" | "false" | "no" => Some(false),
            _ => None,
        },
        _ => None,
    }
}
