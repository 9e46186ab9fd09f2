//! Strings of character sets as UTF-8.

use std::borrow::Cow;

use types::charset::Charset;

/// A string of a character set as UTF-8; `None` if it is not text there, or of one of the East Asian and other sets that are not
/// converted here.
pub(crate) fn text_of<'b>(charset: &str, bytes: &'b [u8]) -> Option<Cow<'b, str>> {
    let decoded = |text: Option<String>| text.map(Cow::Owned);
    if let Some(charset @ (Charset::Utf8Mb4 | Charset::Single(_))) = Charset::by_name(charset) {
        return charset.text(bytes);
    }
    match charset {
        "utf16" | "ucs2" => decoded(utf16(bytes, u16::from_be_bytes)),
        "utf16le" => decoded(utf16(bytes, u16::from_le_bytes)),
        "utf32" if bytes.len().is_multiple_of(4) => {
            let chars = bytes.chunks_exact(4).map(|c| char::from_u32(u32::from_be_bytes([c[0], c[1], c[2], c[3]])));
            decoded(chars.collect())
        }
        _ => None,
    }
}

fn utf16(bytes: &[u8], unit: impl Fn([u8; 2]) -> u16) -> Option<String> {
    if !bytes.len().is_multiple_of(2) {
        return None;
    }
    let units = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
    char::decode_utf16(units).collect::<Result<String, _>>().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_in_several_sets() {
        assert_eq!(text_of("latin1", b"M\xfcller \x80").as_deref(), Some("Müller €"));
        assert_eq!(text_of("utf8mb4", "grün".as_bytes()).as_deref(), Some("grün"));
        assert_eq!(text_of("utf8mb4", b"\xff"), None);
        assert_eq!(text_of("ascii", b"\x80"), None);
        assert_eq!(text_of("cp1251", b"\xcf\xf0").as_deref(), Some("Пр"));
        assert_eq!(text_of("binary", b"x"), None);
        assert_eq!(text_of("utf16", &[0xd8, 0x3d, 0xde, 0, 0, b'x']).as_deref(), Some("😀x"));
        assert_eq!(text_of("utf16le", &[b'x', 0]).as_deref(), Some("x"));
        assert_eq!(text_of("utf32", &[0, 1, 0xf6, 0]).as_deref(), Some("😀"));
        assert_eq!(text_of("utf32", &[0, 1, 0xf6]), None);
        assert_eq!(text_of("gbk", b"x"), None);
    }
}
