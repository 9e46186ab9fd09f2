//! Which character set a collation's number stands for, and strings in it as UTF-8.

use std::borrow::Cow;

/// The character set of a collation of MySQL's or MariaDB's, by its number; `None` for numbers that are not known.
pub fn charset_of_collation(id: u32) -> Option<&'static str> {
    /// MariaDB: the collation without padding of another one.
    const NOPAD: u32 = 1024;
    let id = if (1024..2048).contains(&id) { id - NOPAD } else { id };
    Some(match id {
        1 | 84 => "big5",
        2 | 9 | 21 | 27 | 77 => "latin2",
        3 | 69 => "dec8",
        4 | 80 => "cp850",
        5 | 8 | 15 | 31 | 47 | 48 | 49 | 94 => "latin1",
        6 | 72 => "hp8",
        7 | 74 => "koi8r",
        10 | 82 => "swe7",
        11 | 65 => "ascii",
        12 | 91 => "ujis",
        13 | 88 => "sjis",
        14 | 23 | 50 | 51 | 52 => "cp1251",
        16 | 71 => "hebrew",
        18 | 89 => "tis620",
        19 | 85 => "euckr",
        20 | 41 | 42 | 79 => "latin7",
        22 | 75 => "koi8u",
        24 | 86 => "gb2312",
        25 | 70 => "greek",
        26 | 34 | 44 | 66 | 99 => "cp1250",
        28 | 87 => "gbk",
        29 | 58 | 59 => "cp1257",
        30 | 78 => "latin5",
        32 | 64 => "armscii8",
        33 | 76 | 83 | 192..=223 => "utf8mb3",
        35 | 90 | 128..=159 => "ucs2",
        36 | 68 => "cp866",
        37 | 73 => "keybcs2",
        38 | 43 => "macce",
        39 | 53 => "macroman",
        40 | 81 => "cp852",
        45 | 46 | 224..=247 | 255..=323 => "utf8mb4",
        54 | 55 | 101..=124 => "utf16",
        56 | 62 => "utf16le",
        57 | 67 => "cp1256",
        60 | 61 | 160..=183 => "utf32",
        63 => "binary",
        92 | 93 => "geostd8",
        95 | 96 => "cp932",
        97 | 98 => "eucjpms",
        248..=250 => "gb18030",
        2048..=2303 => "utf8mb3",
        2304..=2559 => "utf8mb4",
        2560..=2815 => "ucs2",
        2816..=3071 => "utf16",
        3072..=3327 => "utf32",
        // MariaDB's Croatian, Myanmar and Thai ones, and the like.
        576..=607 => "utf8mb3",
        608..=639 => "utf8mb4",
        640..=671 => "ucs2",
        672..=703 => "utf16",
        736..=767 => "utf32",
        _ => return None,
    })
}

/// A string of a character set as UTF-8; `None` if it is not text there, or of one of the East Asian and other sets that are not
/// converted here.
pub(crate) fn text_of<'b>(charset: &str, bytes: &'b [u8]) -> Option<Cow<'b, str>> {
    let decoded = |text: Option<String>| text.map(Cow::Owned);
    match charset {
        "utf8mb4" | "utf8mb3" | "utf8" => std::str::from_utf8(bytes).ok().map(Cow::Borrowed),
        "ascii" if bytes.is_ascii() => std::str::from_utf8(bytes).ok().map(Cow::Borrowed),
        "latin1" => match types::charset::latin1_to_utf8(bytes) {
            Cow::Borrowed(bytes) => std::str::from_utf8(bytes).ok().map(Cow::Borrowed),
            Cow::Owned(bytes) => decoded(String::from_utf8(bytes).ok()),
        },
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
        assert_eq!(text_of("utf16", &[0xd8, 0x3d, 0xde, 0, 0, b'x']).as_deref(), Some("😀x"));
        assert_eq!(text_of("utf16le", &[b'x', 0]).as_deref(), Some("x"));
        assert_eq!(text_of("utf32", &[0, 1, 0xf6, 0]).as_deref(), Some("😀"));
        assert_eq!(text_of("utf32", &[0, 1, 0xf6]), None);
        assert_eq!(text_of("gbk", b"x"), None);
    }

    #[test]
    fn numbers_of_collations() {
        let names = [8, 33, 46, 63, 255, 1070, 2304, 28, 54].map(charset_of_collation);
        let sets = ["latin1", "utf8mb3", "utf8mb4", "binary", "utf8mb4", "utf8mb4", "utf8mb4", "gbk", "utf16"];
        assert_eq!(names, sets.map(Some));
        assert_eq!(charset_of_collation(70_000), None);
    }
}
