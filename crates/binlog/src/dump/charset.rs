//! Character sets and collations by the numbers that logs have for them.
//!
//! Servers take a collation by its number, but a character set for `character_set_client` only by its name (MariaDB), and so do literals
//! (`_utf8mb4 X'…' COLLATE …`).

use crate::charset::charset_of_collation;

/// MariaDB's collations of Unicode 14 begin here: 256 for each character set.
const UCA1400: u16 = 2048;
/// In their numbers: trailing blanks matter; accents do; upper and lower case do. The language is above.
const NOPAD: u16 = 4;
const ACCENTS: u16 = 2;
const CASE: u16 = 1;
/// MariaDB's other collations in which trailing blanks matter: the number of the other one and this.
const NOPAD_OFFSET: u16 = 1024;

/// The character set of a collation.
pub(super) fn charset_name(collation: u16) -> Option<&'static str> {
    charset_of_collation(collation.into())
}

/// The name of a collation, of those that servers use without being told to, and a few more.
pub(super) fn collation_name(id: u16) -> Option<String> {
    let known = match id {
        8 => "latin1_swedish_ci",
        11 => "ascii_general_ci",
        33 => "utf8mb3_general_ci",
        45 => "utf8mb4_general_ci",
        46 => "utf8mb4_bin",
        47 => "latin1_bin",
        48 => "latin1_general_ci",
        49 => "latin1_general_cs",
        31 => "latin1_german2_ci",
        5 => "latin1_german1_ci",
        63 => "binary",
        65 => "ascii_bin",
        83 => "utf8mb3_bin",
        192 => "utf8mb3_unicode_ci",
        224 => "utf8mb4_unicode_ci",
        246 => "utf8mb4_unicode_520_ci",
        255 => "utf8mb4_0900_ai_ci",
        278 => "utf8mb4_0900_as_cs",
        305 => "utf8mb4_0900_as_ci",
        309 => "utf8mb4_0900_bin",
        35 => "ucs2_general_ci",
        54 => "utf16_general_ci",
        60 => "utf32_general_ci",
        // Without a language.
        UCA1400.. if (id - UCA1400) % 256 < 8 => {
            let charset = charset_name(id)?;
            let has = |flag: u16, yes: &'static str, no: &'static str| if id & flag != 0 { yes } else { no };
            let (pad, accents, case) = (has(NOPAD, "nopad_", ""), has(ACCENTS, "as", "ai"), has(CASE, "cs", "ci"));
            return Some(format!("{charset}_uca1400_{pad}{accents}_{case}"));
        }
        _ => return None,
    };
    Some(known.to_owned())
}

/// What MySQL has in place of a collation that only MariaDB has; the number itself for those that both have.
///
/// Unicode 14 is MySQL's 9, in which blanks at the end matter: what is equal by one is equal by the other, but for those blanks and for
/// characters of later versions.
pub(super) fn mysql_collation(id: u16) -> u16 {
    match id {
        UCA1400.. if charset_name(id) == Some("utf8mb4") => match id & (ACCENTS | CASE) {
            0 => 255,
            ACCENTS => 305,
            3 => 278,
            _ => id,
        },
        UCA1400.. if charset_name(id) == Some("utf8mb3") && id & (ACCENTS | CASE) == 0 => 192,
        NOPAD_OFFSET..UCA1400 => id - NOPAD_OFFSET,
        // Croatian.
        576 => 213,
        608 => 245,
        id => id,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_mariadb() {
        assert_eq!(collation_name(2304).as_deref(), Some("utf8mb4_uca1400_ai_ci"));
        assert_eq!(collation_name(2311).as_deref(), Some("utf8mb4_uca1400_nopad_as_cs"));
        assert_eq!(collation_name(2048).as_deref(), Some("utf8mb3_uca1400_ai_ci"));
        assert_eq!(collation_name(2312), None);
        assert_eq!([mysql_collation(2304), mysql_collation(1032), mysql_collation(45)], [255, 8, 45]);
        assert_eq!((charset_name(579), charset_name(u16::MAX)), (Some("utf8mb3"), None));
    }
}
