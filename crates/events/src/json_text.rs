//! MySQL's binary form of JSON documents, as the text that MySQL makes of it.

use types::json::{binary, quote};

use crate::error::EventError;

/// The text of a document.
///
/// # Errors
/// If the bytes are none.
pub fn json_text(bytes: &[u8]) -> Result<String, EventError> {
    let json = binary::decode(bytes).map_err(|_| EventError::malformed("a JSON document that is none"))?;
    Ok(json.to_text())
}

/// Appends a JSON string.
pub(crate) fn put_json_string(out: &mut String, text: &str) {
    quote(text, out);
}

/// RFC 4648, with padding.
pub(crate) fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits = group.iter().enumerate().fold(0u32, |bits, (i, &byte)| bits | u32::from(byte) << (16 - 8 * i));
        for place in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * place) & 63) as usize];
            out.push(if place <= group.len() { char::from(digit) } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_of_any_length() {
        let texts = ["", "f", "fo", "foo", "foob", "fooba", "foobar"].map(|text| base64(text.as_bytes()));
        assert_eq!(texts, ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"]);
    }
}
