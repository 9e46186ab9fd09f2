//! COMPRESS and its kin. A compressed string is the length of the text (4 bytes, the lowest first; two bits are not the
//! length's) and a zlib stream.

use std::io::Read;

use base::{SqlError, codes};
use flate2::Compression;
use flate2::read::{ZlibDecoder, ZlibEncoder};
use types::Value;

use super::{Args, FunctionInfo, LONG_TEXT, line, short_int, some};
use crate::expr::types::ExprType;

pub(super) static TABLE: &[FunctionInfo] = &[
    line("compress", 1, 1, |args, _| ExprType::bytes(compressed_length(args[0].ty.byte_length())), compress),
    line("uncompress", 1, 1, |_, _| ExprType::bytes(LONG_TEXT), uncompress),
    line("uncompressed_length", 1, 1, short_int::<11>, uncompressed_length),
];

/// How long so many bytes may become: a stream of what cannot be compressed has a bit more than those, and there are the length in front and the point
/// behind it.
fn compressed_length(bytes: u32) -> u32 {
    const OF_STREAM: u32 = 13;
    let more = (bytes >> 12) + (bytes >> 14) + (bytes >> 25) + OF_STREAM + HEAD as u32 + 1;
    bytes.saturating_add(more)
}

/// Bytes of the length in front of the stream.
const HEAD: usize = 4;
const LENGTH_MASK: u32 = 0x3fff_ffff;

fn compress(args: &Args<'_>) -> Result<Value, SqlError> {
    let text = some!(args.bytes(0)?);
    if text.is_empty() {
        return Ok(Value::Bytes(text));
    }
    let mut out = (text.len() as u32 & LENGTH_MASK).to_le_bytes().to_vec();
    let compressed = ZlibEncoder::new(&text[..], Compression::default()).read_to_end(&mut out);
    compressed.map_err(|error| SqlError::unknown(error.to_string()))?;
    // A blank at the end could be lost in a CHAR, so MySQL puts a point behind it.
    if out.last() == Some(&b' ') {
        out.push(b'.');
    }
    Ok(args.too_long(out.len() as u64)?.unwrap_or(Value::Bytes(out.into())))
}

/// The length that stands in front; `None` if there is no room for one and a stream.
fn length_of(compressed: &[u8]) -> Option<u64> {
    let head = compressed.get(..HEAD).filter(|_| compressed.len() > HEAD)?;
    Some(u64::from(u32::from_le_bytes(head.try_into().ok()?) & LENGTH_MASK))
}

fn uncompress(args: &Args<'_>) -> Result<Value, SqlError> {
    let compressed = some!(args.bytes(0)?);
    if compressed.is_empty() {
        return Ok(Value::Bytes(compressed));
    }
    let Some(length) = length_of(&compressed) else { return damaged(args) };
    let max = args.ctx.session.max_allowed_packet;
    if length > max {
        let message = format!(
            "Uncompressed data size too large; the maximum size is {max} (probably, length of uncompressed data was corrupted)"
        );
        args.ctx.warn(codes::TOO_BIG_FOR_UNCOMPRESS, message);
        return Ok(Value::Null);
    }
    let mut out = Vec::new();
    // A stream that is longer than its length says is damaged; no more than one byte of that is read.
    let read = ZlibDecoder::new(&compressed[HEAD..]).take(length + 1).read_to_end(&mut out);
    match read {
        Ok(_) if !out.is_empty() && out.len() as u64 <= length => Ok(Value::Bytes(out.into())),
        _ => damaged(args),
    }
}

/// NULL with 1259.
fn damaged(args: &Args<'_>) -> Result<Value, SqlError> {
    args.ctx.warn(codes::ZLIB_Z_DATA_ERROR, "ZLIB: Input data corrupted");
    Ok(Value::Null)
}

fn uncompressed_length(args: &Args<'_>) -> Result<Value, SqlError> {
    let compressed = some!(args.bytes(0)?);
    let length = length_of(&compressed);
    if length.is_none() && !compressed.is_empty() {
        damaged(args)?;
    }
    Ok(Value::Int(length.unwrap_or(0) as i64))
}
