//! Options of tables, in CREATE TABLE and ALTER TABLE.

use crate::Token;
use base::{SqlError, codes};

use super::Parsed;
use super::declared_charset::DeclaredCharset;
use super::tokens::Tokens;
use crate::ParseError;
use crate::digits::parse_number;
use crate::statement::TableOptions;

/// Options that are only recorded: their names, and the numbers that their values may be, from the least to the greatest.
const RECORDED: &[(&str, u64, u64)] = &[
    ("KEY_BLOCK_SIZE", 0, 65535),
    ("AVG_ROW_LENGTH", 0, 0xffff_ffff),
    ("MAX_ROWS", 0, u64::MAX),
    ("MIN_ROWS", 0, u64::MAX),
    ("STATS_PERSISTENT", 0, 1),
    ("STATS_AUTO_RECALC", 0, 1),
    ("STATS_SAMPLE_PAGES", 1, 65535),
    ("CHECKSUM", 0, u64::MAX),
    ("TABLE_CHECKSUM", 0, u64::MAX),
    ("DELAY_KEY_WRITE", 0, u64::MAX),
    ("PACK_KEYS", 0, 1),
];

/// Words of ROW_FORMAT; the last one is MariaDB's.
const ROW_FORMATS: [&str; 7] = ["DEFAULT", "DYNAMIC", "FIXED", "COMPRESSED", "REDUNDANT", "COMPACT", "PAGE"];

/// Options that are not there.
const REFUSED: [&str; 7] = [
    "DATA DIRECTORY",
    "INDEX DIRECTORY",
    "UNION",
    "CONNECTION",
    "ENGINE_ATTRIBUTE",
    "SECONDARY_ENGINE",
    "SECONDARY_ENGINE_ATTRIBUTE",
];

/// Tablespaces that every MySQL has; where a table's pages are says nothing here.
const BUILT_IN_TABLESPACES: [&str; 2] = ["innodb_file_per_table", "innodb_system"];

/// Options of MariaDB's engines that say nothing here.
const MARIA_ALONE: [&str; 3] = ["PAGE_COMPRESSION_LEVEL", "TRANSACTIONAL", "PAGE_CHECKSUM"];

/// Options of a table, with or without commas between.
pub(super) fn table_options(tokens: &mut Tokens<'_>) -> Parsed<TableOptions> {
    let mut options = TableOptions::default();
    let start = tokens.offset();
    let mut comma = None;
    loop {
        let pieces = tokens.notes.pieces.len();
        if !table_option(tokens, &mut options)? {
            if options.collation.is_some() {
                tokens.has_collation(start);
            }
            return Ok(options);
        }
        // A comma may also end the options, in ALTER TABLE: it is no option.
        let next_comma = comma_between_options(tokens, &options);
        let goes_with_next = tokens.with_comma(pieces, comma, next_comma);
        // A comma goes with one option.
        comma = next_comma.filter(|_| !goes_with_next);
        if next_comma.is_some() {
            tokens.next();
        }
    }
}

/// The place of a comma that comes next, if an option is behind it.
fn comma_between_options(tokens: &mut Tokens<'_>, options: &TableOptions) -> Option<usize> {
    if tokens.peek() != Some(&Token::Comma) {
        return None;
    }
    let (place, pieces) = (tokens.place(), tokens.notes.pieces.len());
    tokens.next();
    let is_followed = table_option(tokens, &mut options.clone()).unwrap_or(false);
    tokens.back_to(place);
    tokens.notes.pieces.truncate(pieces);
    is_followed.then_some(place)
}

fn table_option(tokens: &mut Tokens<'_>, options: &mut TableOptions) -> Parsed<bool> {
    let place = tokens.place();
    tokens.accept("DEFAULT");
    let equals = |tokens: &mut Tokens<'_>| tokens.accept_token(&Token::Eq);
    if tokens.accept("ENGINE") {
        equals(tokens);
        let name = tokens.name_or_string()?;
        tokens.engine_read(place, &name);
        options.engine = Some(name);
    } else if tokens.accept("AUTO_INCREMENT") {
        equals(tokens);
        options.auto_increment = Some(tokens.number()?);
    } else if tokens.accept("CHARACTER SET") || tokens.accept("CHARSET") {
        equals(tokens);
        DeclaredCharset { charset: &mut options.charset, collation: &mut options.collation }.charset(tokens)?;
    } else if tokens.accept("COLLATE") {
        equals(tokens);
        DeclaredCharset { charset: &mut options.charset, collation: &mut options.collation }.collation(tokens)?;
    } else if tokens.accept("COMMENT") {
        equals(tokens);
        options.comment = Some(tokens.string()?);
    } else if let Some((name, least, greatest)) = RECORDED.iter().find(|(name, ..)| tokens.accept(name)) {
        equals(tokens);
        options.recorded.push((name.to_string(), number_or_default(tokens, *least..=*greatest)?));
    } else if tokens.accept("ROW_FORMAT") {
        equals(tokens);
        options.recorded.push(("ROW_FORMAT".into(), tokens.expect_one(&ROW_FORMATS)?.to_string()));
    } else if tokens.accept("INSERT_METHOD") {
        // Of MERGE tables, which there are none of; MySQL forgets it too.
        equals(tokens);
        tokens.expect_one(&["NO", "FIRST", "LAST"])?;
    } else if storage_option(tokens, options, place)? {
    } else if tokens.accept("START TRANSACTION") {
        // What is logged is a transaction by itself.
        tokens.decided(place);
        options.rows_follow = true;
    } else if tokens.next_are("WITH SYSTEM VERSIONING") {
        return Err(ParseError::not_supported("WITH SYSTEM VERSIONING"));
    } else if let Some(words) = REFUSED.iter().find(|words| tokens.next_are(words)) {
        return Err(ParseError::not_supported(words));
    } else {
        tokens.back_to(place);
        return Ok(false);
    }
    Ok(true)
}

/// An option that is about files: how they are compressed, encrypted, and where they are. `place` is where the options began.
fn storage_option(tokens: &mut Tokens<'_>, options: &mut TableOptions, place: usize) -> Parsed<bool> {
    if tokens.accept("COMPRESSION") {
        tokens.accept_token(&Token::Eq);
        let name = tokens.string()?;
        let value = if name.is_empty() { "DEFAULT".to_string() } else { quoted(&name) };
        let is_none = name.is_empty() || name.eq_ignore_ascii_case("none");
        tokens.only_mysql(place, if is_none { "PAGE_COMPRESSED=0" } else { "PAGE_COMPRESSED=1" });
        options.recorded.push(("COMPRESSION".into(), value));
    } else if accept_option(tokens, "PAGE_COMPRESSED") {
        tokens.accept_token(&Token::Eq);
        let value = page_compressed(tokens)?;
        let is_none = value == "DEFAULT";
        tokens.only_maria(place, if is_none { "COMPRESSION=''" } else { "COMPRESSION='zlib'" });
        options.recorded.push(("COMPRESSION".into(), value));
    } else if MARIA_ALONE.iter().any(|name| accept_option(tokens, name)) {
        tokens.accept_token(&Token::Eq);
        option_value(tokens)?;
        tokens.only_maria(place, "");
    } else if tokens.accept("AUTOEXTEND_SIZE") {
        tokens.accept_token(&Token::Eq);
        let bytes = size(tokens)?;
        if bytes % (4 << 20) != 0 {
            let message = "AUTOEXTEND_SIZE should be a multiple of 4M";
            return Err(SqlError::new(codes::AUTOEXTEND_SIZE_NOT_MULTIPLE, message).into());
        }
        options.recorded.push(("AUTOEXTEND_SIZE".into(), bytes.to_string()));
        tokens.only_mysql(place, "");
    } else if tokens.accept("ENCRYPTION") {
        tokens.accept_token(&Token::Eq);
        if !tokens.string()?.eq_ignore_ascii_case("n") {
            return Err(ParseError::not_supported("ENCRYPTION"));
        }
        tokens.only_mysql(place, "");
    } else if tokens.accept("PASSWORD") {
        tokens.accept_token(&Token::Eq);
        tokens.string()?;
    } else if tokens.accept("TABLESPACE") {
        tokens.accept_token(&Token::Eq);
        let name = tokens.name_or_string()?;
        if !BUILT_IN_TABLESPACES.iter().any(|known| known.eq_ignore_ascii_case(&name)) {
            return Err(ParseError::not_supported(format!("TABLESPACE {name}")));
        }
        if tokens.next_are("STORAGE") {
            return Err(ParseError::not_supported("STORAGE of a TABLESPACE"));
        }
        options.recorded.push(("TABLESPACE".into(), name.to_ascii_lowercase()));
    } else {
        return Ok(false);
    }
    Ok(true)
}

/// The name of an option of MariaDB's engines, which its SHOW CREATE TABLE puts into backticks.
fn accept_option(tokens: &mut Tokens<'_>, name: &str) -> bool {
    let is_it = match tokens.peek() {
        Some(Token::Word(word)) => word.eq_ignore_ascii_case(name),
        Some(Token::Name(word)) => word.eq_ignore_ascii_case(name),
        _ => false,
    };
    if is_it {
        tokens.next();
    }
    is_it
}

/// What MariaDB's PAGE_COMPRESSED is as COMPRESSION: its own default is zlib.
fn page_compressed(tokens: &mut Tokens<'_>) -> Parsed<String> {
    let place = tokens.place();
    let value = option_value(tokens)?;
    match value.trim_matches('\'').to_ascii_uppercase().as_str() {
        "1" | "ON" | "YES" | "TRUE" => Ok(quoted("zlib")),
        "0" | "OFF" | "NO" | "FALSE" | "DEFAULT" => Ok("DEFAULT".to_string()),
        _ => {
            tokens.back_to(place);
            tokens.unexpected()
        }
    }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn option_value(tokens: &mut Tokens<'_>) -> Parsed<String> {
    match tokens.peek() {
        Some(Token::Number(_)) => tokens.number().map(|number| number.to_string()),
        Some(Token::Text(_)) => tokens.string().map(|text| quoted(&text)),
        _ => tokens.any_word().map(|word| word.to_ascii_uppercase()),
    }
}

/// A number in a range, or DEFAULT.
fn number_or_default(tokens: &mut Tokens<'_>, range: std::ops::RangeInclusive<u64>) -> Parsed<String> {
    if tokens.accept("DEFAULT") {
        return Ok("DEFAULT".to_string());
    }
    let place = tokens.place();
    let number = tokens.number()?;
    if !range.contains(&number) {
        tokens.back_to(place);
        return tokens.unexpected();
    }
    Ok(number.to_string())
}

/// A number of bytes: `4194304`, `4M`.
fn size(tokens: &mut Tokens<'_>) -> Parsed<u64> {
    let place = tokens.place();
    let text = option_value(tokens)?;
    // MySQL knows K, M and G here.
    let number = parse_number(&text).filter(|_| !text.ends_with('T'));
    match number.and_then(|number| u64::try_from(number).ok()) {
        Some(number) => Ok(number),
        None => {
            tokens.back_to(place);
            tokens.unexpected()
        }
    }
}
