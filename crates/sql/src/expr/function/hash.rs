//! Hashes.

use base::SqlError;
use md5::Md5;
use sha1::{Digest, Sha1};
use sha2::{Sha224, Sha256, Sha384, Sha512};
use types::Value;

use super::encoding::hex_text;
use super::{Args, FunctionInfo, line, own_text, some};

pub(super) static TABLE: &[FunctionInfo] = &[
    line(
        "md5",
        1,
        1,
        |_, session| own_text(32, session),
        |args| Ok(Value::str(hex_text(&Md5::digest(some!(args.bytes(0)?))))),
    ),
    line("sha1", 1, 1, |_, session| own_text(40, session), sha1),
    line("sha", 1, 1, |_, session| own_text(40, session), sha1),
    line("sha2", 2, 2, |_, session| own_text(128, session), sha2),
];

fn sha1(args: &Args<'_>) -> Result<Value, SqlError> {
    Ok(Value::str(hex_text(&Sha1::digest(some!(args.bytes(0)?)))))
}

fn sha2(args: &Args<'_>) -> Result<Value, SqlError> {
    let (text, bits) = (some!(args.bytes(0)?), some!(args.int(1)?));
    Ok(Value::str(match bits {
        224 => hex_text(&Sha224::digest(&text)),
        0 | 256 => hex_text(&Sha256::digest(&text)),
        384 => hex_text(&Sha384::digest(&text)),
        512 => hex_text(&Sha512::digest(&text)),
        _ => return Ok(Value::Null),
    }))
}
