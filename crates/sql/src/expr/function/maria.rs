//! Functions that MariaDB has and MySQL has not.

use base::{SqlError, codes};
use types::{CollationId, Value};

use super::{Args, FunctionInfo, line, own_text, short_nullable_int, short_uint, some, system_text};
use crate::expr::json;

pub(super) static TABLE: &[FunctionInfo] = &[
    line("chr", 1, 1, |_, session| own_text(1, session), chr),
    line("crc32c", 1, 2, short_uint::<10>, |args| {
        let (begin, text) = match args.len() {
            1 => (0, some!(args.bytes(0)?)),
            _ => (some!(args.int(0)?) as u32, some!(args.bytes(1)?)),
        };
        Ok(Value::UInt(crc32c(begin, &text).into()))
    }),
    line("json_equals", 2, 2, short_nullable_int::<1>, |args| {
        let (a, b) = (some!(document(args, 0)?), some!(document(args, 1)?));
        Ok(Value::from(types::json::order::compare(&a, &b) == std::cmp::Ordering::Equal))
    }),
    line("json_exists", 2, 2, short_nullable_int::<1>, |args| {
        let (document, path) = (some!(document(args, 0)?), some!(args.text(1)?));
        // A path that is none leads to nothing that there could be.
        let Ok(path) = types::json::Path::parse(&String::from_utf8_lossy(&path)) else { return Ok(Value::Null) };
        let found = path.find_counted(&document, true, &mut |values| args.ctx.worked(values))?;
        Ok(Value::from(!found.is_empty()))
    }),
    line(
        "sys_guid",
        0,
        0,
        |_, _| system_text(32),
        |args| Ok(Value::from(random_uuid(args).to_string().replace('-', "").to_uppercase())),
    )
    .volatile(),
    line(
        "uuid_v4",
        0,
        0,
        |_, _| system_text(36).nullable(false),
        |args| Ok(Value::from(random_uuid(args).to_string())),
    )
    .volatile(),
    line(
        "uuid_v7",
        0,
        0,
        |_, _| system_text(36).nullable(false),
        |args| {
            let mut uuid = random_uuid(args);
            let millis = args.ctx.host.clock_now().0 / 1000;
            uuid.0[..6].copy_from_slice(&millis.to_be_bytes()[2..]);
            uuid.0[6] = uuid.0[6] & 0x0f | 0x70;
            Ok(Value::from(uuid.to_string()))
        },
    )
    .volatile(),
];

fn random_uuid(args: &Args<'_>) -> base::Uuid {
    let mut bytes = [0; 16];
    args.ctx.host.fill_random(&mut bytes);
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    base::Uuid(bytes)
}

/// The character whose bytes the number is; NULL with 1300 if they are none.
fn chr(args: &Args<'_>) -> Result<Value, SqlError> {
    let bytes = (some!(args.int(0)?) as u32).to_be_bytes();
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count().min(bytes.len() - 1);
    let bytes = &bytes[zeros..];
    if std::str::from_utf8(bytes).is_ok() || args.ty.collation == CollationId::BINARY {
        return Ok(args.string(bytes.to_vec()));
    }
    const SHOWN: usize = 3;
    let shown = super::hex_text(&bytes[..bytes.len().min(SHOWN)]).to_uppercase();
    args.ctx.warn(codes::INVALID_CHARACTER_STRING, format!("Invalid utf8mb4 character string: '{shown}'"));
    Ok(Value::Null)
}

/// A document. NULL with a warning of a text that is none.
fn document(args: &Args<'_>, at: usize) -> Result<Option<types::Json>, SqlError> {
    let value = args.value(at)?;
    let parsed = match &*value {
        Value::Null => return Ok(None),
        Value::Json(_) => json::document(&value),
        _ => match args.text(at)? {
            None => return Ok(None),
            Some(text) => json::parse_argument(&text, at + 1, args.name),
        },
    };
    match parsed {
        Err(error) if error.code == codes::INVALID_JSON_TEXT_IN_PARAM.0 => {
            args.ctx.warn(codes::INVALID_JSON_TEXT_IN_PARAM, error.message);
            Ok(None)
        }
        other => other.map(Some),
    }
}

/// Of each byte what the division by Castagnoli's polynomial leaves.
const CRC32C: [u32; 256] = {
    const POLYNOMIAL: u32 = 0x82f6_3b78;
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < table.len() {
        let mut rest = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            rest = if rest & 1 == 1 { rest >> 1 ^ POLYNOMIAL } else { rest >> 1 };
            bit += 1;
        }
        table[byte] = rest;
        byte += 1;
    }
    table
};

fn crc32c(begin: u32, text: &[u8]) -> u32 {
    !text.iter().fold(!begin, |rest, byte| rest >> 8 ^ CRC32C[usize::from(rest as u8 ^ byte)])
}
