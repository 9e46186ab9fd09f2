//! Settings of a session, as code, numbers and texts.

use super::messages::Setting;
use crate::error::EventError;
use crate::event::StatusVar;

/// In `numbers` of code 12: the databases were too many.
const TOO_MANY: u64 = 1;

pub(super) fn fill(var: &StatusVar<'_>) -> Setting {
    let mut texts: Vec<&[u8]> = Vec::new();
    let numbers: Vec<u64> = match var {
        StatusVar::Flags2(n) | StatusVar::SourceDataWritten(n) => vec![(*n).into()],
        StatusVar::Microseconds(n) | StatusVar::MariaMicroseconds(n) => vec![(*n).into()],
        StatusVar::SqlMode(n) | StatusVar::TableMapForUpdate(n) => vec![*n],
        StatusVar::CommitTimestamp(n) | StatusVar::CommitTimestamp2(n) => vec![*n],
        StatusVar::DdlXid(n) | StatusVar::MariaXid(n) => vec![*n],
        StatusVar::AutoIncrement(increment, offset) => vec![(*increment).into(), (*offset).into()],
        StatusVar::Charsets(ids) => ids.iter().map(|&id| id.into()).collect(),
        StatusVar::LcTimeNames(n) | StatusVar::CharsetDatabase(n) | StatusVar::DefaultCollationForUtf8mb4(n) => {
            vec![(*n).into()]
        }
        StatusVar::ExplicitDefaultsForTimestamp(on) => vec![(*on).into()],
        StatusVar::RequirePrimaryKey(n)
        | StatusVar::DefaultTableEncryption(n)
        | StatusVar::EnableCascadeTriggers(n) => {
            vec![(*n).into()]
        }
        StatusVar::UpdatedSchemas(None) => vec![TOO_MANY],
        StatusVar::MariaAlter { flags, start_seq_no } => {
            std::iter::once(u64::from(*flags)).chain(*start_seq_no).collect()
        }
        StatusVar::CharacterSetCollations(pairs) => pairs.iter().flat_map(|&(a, b)| [a.into(), b.into()]).collect(),
        StatusVar::CatalogNul(text)
        | StatusVar::Catalog(text)
        | StatusVar::TimeZone(text)
        | StatusVar::Unknown(text) => {
            texts.push(text);
            Vec::new()
        }
        StatusVar::Invoker { user, host } => {
            texts.extend([user, host]);
            Vec::new()
        }
        StatusVar::UpdatedSchemas(Some(names)) => {
            texts.extend(names);
            Vec::new()
        }
    };
    Setting { code: var.code().into(), numbers, texts: texts.into_iter().map(<[u8]>::to_vec).collect() }
}

pub(super) fn provide(setting: &Setting) -> Result<StatusVar<'_>, EventError> {
    let bad = || EventError::malformed(format!("setting {} with {:?}", setting.code, setting.numbers));
    let number = |at: usize| setting.numbers.get(at).copied().ok_or_else(bad);
    let u16_at = |at: usize| number(at).and_then(|n| u16::try_from(n).map_err(|_| bad()));
    let u32_at = |at: usize| number(at).and_then(|n| u32::try_from(n).map_err(|_| bad()));
    let u8_at = |at: usize| number(at).and_then(|n| u8::try_from(n).map_err(|_| bad()));
    let text = |at: usize| setting.texts.get(at).map(Vec::as_slice).ok_or_else(bad);
    Ok(match setting.code {
        0 => StatusVar::Flags2(u32_at(0)?),
        1 => StatusVar::SqlMode(number(0)?),
        2 => StatusVar::CatalogNul(text(0)?),
        3 => StatusVar::AutoIncrement(u16_at(0)?, u16_at(1)?),
        4 => StatusVar::Charsets([u16_at(0)?, u16_at(1)?, u16_at(2)?]),
        5 => StatusVar::TimeZone(text(0)?),
        6 => StatusVar::Catalog(text(0)?),
        7 => StatusVar::LcTimeNames(u16_at(0)?),
        8 => StatusVar::CharsetDatabase(u16_at(0)?),
        9 => StatusVar::TableMapForUpdate(number(0)?),
        10 => StatusVar::SourceDataWritten(u32_at(0)?),
        11 => StatusVar::Invoker { user: text(0)?, host: text(1)? },
        12 if setting.numbers.first() == Some(&TOO_MANY) => StatusVar::UpdatedSchemas(None),
        12 => StatusVar::UpdatedSchemas(Some(setting.texts.iter().map(Vec::as_slice).collect())),
        13 => StatusVar::Microseconds(u32_at(0)?),
        14 => StatusVar::CommitTimestamp(number(0)?),
        15 => StatusVar::CommitTimestamp2(number(0)?),
        16 => StatusVar::ExplicitDefaultsForTimestamp(number(0)? != 0),
        17 => StatusVar::DdlXid(number(0)?),
        18 => StatusVar::DefaultCollationForUtf8mb4(u16_at(0)?),
        19 => StatusVar::RequirePrimaryKey(u8_at(0)?),
        20 => StatusVar::DefaultTableEncryption(u8_at(0)?),
        21 => StatusVar::EnableCascadeTriggers(u8_at(0)?),
        128 => StatusVar::MariaMicroseconds(u32_at(0)?),
        129 => StatusVar::MariaXid(number(0)?),
        130 => StatusVar::MariaAlter { flags: u8_at(0)?, start_seq_no: setting.numbers.get(1).copied() },
        131 => {
            let pairs = (0..setting.numbers.len() / 2).map(|i| Ok((u16_at(2 * i)?, u16_at(2 * i + 1)?)));
            StatusVar::CharacterSetCollations(pairs.collect::<Result<_, EventError>>()?)
        }
        _ => StatusVar::Unknown(text(0)?),
    })
}
