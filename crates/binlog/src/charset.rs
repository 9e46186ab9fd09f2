//! Character sets by the numbers of their collations, which is what events have.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_collations() {
        let names = [8, 33, 46, 63, 255, 1070, 2304, 28, 54].map(charset_of_collation);
        let sets = ["latin1", "utf8mb3", "utf8mb4", "binary", "utf8mb4", "utf8mb4", "utf8mb4", "gbk", "utf16"];
        assert_eq!(names, sets.map(Some));
        assert_eq!(charset_of_collation(70_000), None);
    }
}
