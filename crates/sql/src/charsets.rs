//! Character sets by name, as statements and settings name them.

use std::borrow::Cow;

use base::{SqlError, codes};
use types::CollationId;
use types::charset::Charset;
use types::collation;

use crate::expr::hex_text;
use crate::settings::{SettingId, SettingValue};

pub(crate) use syntax::charsets::static_name;

/// The name of the character set that a collation of this number has.
pub(crate) fn name_of_number(id: u16) -> Option<&'static str> {
    match id {
        33 | 76 | 83 | 192..=215 | 223 | 2048..=2303 => static_name("utf8mb3"),
        id => collation::by_id(id).map(|id| id.charset().name()),
    }
}

/// The collation that a character set has by default.
pub(crate) fn default_collation(charset: &str) -> Option<CollationId> {
    match static_name(charset)? {
        // What MySQL's has, by another name.
        "utf8mb3" => Some(CollationId::UTF8MB4_GENERAL_CI),
        name => Charset::by_name(name).map(Charset::default_collation),
    }
}

/// The collation that `character_set_collations` (`utf8mb3=…,utf8mb4=…`) gives utf8mb3, if it is not the default here.
pub(crate) fn utf8mb3_of(collations: &str) -> Option<CollationId> {
    let pairs = collations.split(',').filter_map(|pair| pair.split_once('='));
    let mut named = pairs.filter(|(charset, _)| static_name(charset.trim()) == Some("utf8mb3"));
    let collation = collation::by_name(named.next()?.1.trim())?;
    Some(collation).filter(|collation| *collation != CollationId::UTF8MB4_GENERAL_CI)
}

/// Bytes of a character set as text (1300).
pub(crate) fn text_of(bytes: &[u8], charset: Charset) -> Result<Cow<'_, str>, SqlError> {
    charset.text(bytes).ok_or_else(|| {
        let message = format!("Invalid {} character string: '{}'", charset.name(), hex_text(bytes).to_uppercase());
        SqlError::new(codes::INVALID_CHARACTER_STRING, message)
    })
}

/// The `_bin` collation of a character set.
pub(crate) fn binary_collation(charset: &str) -> Option<CollationId> {
    match static_name(charset)? {
        "binary" => Some(CollationId::BINARY),
        "utf8mb4" | "utf8mb3" => Some(CollationId::UTF8MB4_BIN),
        name => collation::by_name(&format!("{name}_bin")),
    }
}

/// CHARACTER SET and COLLATE of a definition or of SET NAMES together: each may be left out; both have to fit.
pub(crate) fn resolve(charset: Option<&str>, collate: Option<&str>) -> Result<Option<CollationId>, SqlError> {
    let by_charset = match charset {
        Some(name) => Some(default_collation(name).ok_or_else(|| unknown_charset(name))?),
        None => None,
    };
    let Some(collate) = collate else { return Ok(by_charset) };
    let chosen = collation::by_name(collate).ok_or_else(|| unknown_collation(collate))?;
    match by_charset {
        Some(default) if default.charset() != chosen.charset() => Err(mismatch(collate, charset.unwrap_or_default())),
        _ => Ok(Some(chosen)),
    }
}

/// 1253.
pub(crate) fn mismatch(collation: &str, charset: &str) -> SqlError {
    SqlError::new(
        codes::COLLATION_CHARSET_MISMATCH,
        format!("COLLATION '{collation}' is not valid for CHARACTER SET '{charset}'"),
    )
}

/// 1115.
pub(crate) fn unknown_charset(name: &str) -> SqlError {
    SqlError::new(codes::UNKNOWN_CHARACTER_SET, format!("Unknown character set: '{name}'"))
}

/// 1273.
pub(crate) fn unknown_collation(name: &str) -> SqlError {
    SqlError::new(codes::UNKNOWN_COLLATION, format!("Unknown collation: '{name}'"))
}

/// Settings of a character set and of its collation that follow one another.
const PAIRS: [(SettingId, SettingId); 3] = [
    (SettingId::character_set_connection, SettingId::collation_connection),
    (SettingId::character_set_database, SettingId::collation_database),
    (SettingId::character_set_server, SettingId::collation_server),
];

/// What else changes when a setting gets this value: a character set brings its default collation, a collation its
/// character set.
pub(crate) fn paired(id: SettingId, value: &SettingValue) -> Option<(SettingId, SettingValue)> {
    PAIRS.into_iter().find_map(|(charset, collation)| match id {
        _ if id == charset => {
            let default = default_collation(value.as_str())?;
            Some((collation, SettingValue::text(default.name())))
        }
        _ if id == collation => {
            let named = types::collation::by_name(value.as_str())?;
            Some((charset, SettingValue::text(named.charset().name())))
        }
        _ => None,
    })
}
