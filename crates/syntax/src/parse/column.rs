//! Columns: types and what follows them.

use std::ops::Range;

use crate::{Parser, Token};

use super::timestamps::TimestampColumn;
use super::tokens::Tokens;
use super::{Parsed, foreign_key};
use crate::ParseError;
use crate::statement::{
    ColumnSpec, DefaultSpec, IndexKind, IndexPart, IndexSpec, Literal, TableKey, TextString, TypeSpec,
};
use types::SqlMode;

/// Names of types, and what they are synonyms of. Two words come before their first word alone.
const TYPES: &[(&str, &str)] = &[
    ("BOOLEAN", "bool"),
    ("BOOL", "bool"),
    ("TINYINT", "tinyint"),
    ("INT1", "tinyint"),
    ("SMALLINT", "smallint"),
    ("INT2", "smallint"),
    ("MEDIUMINT", "mediumint"),
    ("INT3", "mediumint"),
    ("MIDDLEINT", "mediumint"),
    ("INTEGER", "int"),
    ("INT4", "int"),
    ("INT", "int"),
    ("BIGINT", "bigint"),
    ("INT8", "bigint"),
    ("SERIAL", "serial"),
    ("FLOAT4", "float"),
    ("FLOAT8", "double"),
    ("FLOAT", "float"),
    ("DOUBLE PRECISION", "double"),
    ("DOUBLE", "double"),
    ("REAL", "real"),
    ("DECIMAL", "decimal"),
    ("DEC", "decimal"),
    ("NUMERIC", "decimal"),
    ("FIXED", "decimal"),
    ("BIT", "bit"),
    ("DATETIME", "datetime"),
    ("DATE", "date"),
    ("TIMESTAMP", "timestamp"),
    ("TIME", "time"),
    ("YEAR", "year"),
    ("NATIONAL CHARACTER VARYING", "nvarchar"),
    ("NATIONAL CHAR VARYING", "nvarchar"),
    ("NATIONAL VARCHAR", "nvarchar"),
    ("NATIONAL CHARACTER", "nchar"),
    ("NATIONAL CHAR", "nchar"),
    ("NCHAR VARYING", "nvarchar"),
    ("NCHAR", "nchar"),
    ("NVARCHAR", "nvarchar"),
    ("CHARACTER VARYING", "varchar"),
    ("CHAR VARYING", "varchar"),
    ("VARCHARACTER", "varchar"),
    ("VARCHAR", "varchar"),
    ("CHARACTER", "char"),
    ("CHAR", "char"),
    ("BINARY", "binary"),
    ("VARBINARY", "varbinary"),
    ("TINYTEXT", "tinytext"),
    ("MEDIUMTEXT", "mediumtext"),
    ("LONGTEXT", "longtext"),
    ("LONG VARCHAR", "mediumtext"),
    ("LONG VARBINARY", "mediumblob"),
    ("LONG", "mediumtext"),
    ("TEXT", "text"),
    ("TINYBLOB", "tinyblob"),
    ("MEDIUMBLOB", "mediumblob"),
    ("LONGBLOB", "longblob"),
    ("BLOB", "blob"),
    ("ENUM", "enum"),
    ("SET", "set"),
    ("JSON", "json"),
];

const UNSUPPORTED_TYPES: &[&str] = &[
    "GEOMETRY",
    "POINT",
    "LINESTRING",
    "POLYGON",
    "MULTIPOINT",
    "MULTILINESTRING",
    "MULTIPOLYGON",
    "GEOMETRYCOLLECTION",
    "GEOMCOLLECTION",
    "VECTOR",
    "UUID",
    "INET4",
    "INET6",
];

/// `name type …`; a key written at the column goes to `keys`.
pub(super) fn column(tokens: &mut Tokens<'_>, keys: &mut Vec<TableKey>) -> Parsed<ColumnSpec> {
    let name = tokens.identifier()?;
    column_after_name(tokens, name, keys)
}

pub(super) fn column_after_name(tokens: &mut Tokens<'_>, name: String, keys: &mut Vec<TableKey>) -> Parsed<ColumnSpec> {
    let start = tokens.offset();
    let mut ty = type_spec(tokens)?;
    let type_end = tokens.end_of_last();
    let mut column = ColumnSpec {
        name,
        ty: ty.clone(),
        nullable: None,
        default: None,
        on_update_now: None,
        auto_increment: false,
        invisible: false,
        comment: String::new(),
        without_effect: None,
    };
    let own_keys = keys.len();
    if ty.name == "serial" {
        ty.name = "bigint";
        ty.unsigned = true;
        column.nullable = Some(false);
        column.auto_increment = true;
        keys.push(own_index(IndexKind::Unique, &column.name));
        column.ty = ty;
    }
    while attribute(tokens, &mut column, keys)? {}
    keep_once(keys, own_keys);
    // What is a primary key by a word of its own takes no NULL, and so has no such default (1067).
    let is_primary = |key: &TableKey| matches!(key, TableKey::Index(index) if index.kind == IndexKind::Primary);
    if matches!(column.default, Some(DefaultSpec::Null)) && keys[own_keys..].iter().any(is_primary) {
        column.nullable = column.nullable.or(Some(false));
    }
    tokens.notes.timestamps.extend(TimestampColumn::of(&column, type_end));
    if column.ty.collation.is_some() || column.ty.binary {
        tokens.has_collation(start);
    }
    Ok(column)
}

/// However often its words stand at a column, a key is one.
fn keep_once(keys: &mut Vec<TableKey>, start: usize) {
    for key in keys.split_off(start) {
        if !keys[start..].contains(&key) {
            keys.push(key);
        }
    }
}

/// One attribute; false if there is none.
fn attribute(tokens: &mut Tokens<'_>, column: &mut ColumnSpec, keys: &mut Vec<TableKey>) -> Parsed<bool> {
    if tokens.accept("NOT NULL") {
        column.nullable = Some(false);
    } else if tokens.accept("NULL") {
        column.nullable = Some(true);
    } else if tokens.accept("DEFAULT") {
        let place = tokens.place();
        let default = default(tokens)?;
        let (range, _) = tokens.read_since(place);
        match &default {
            DefaultSpec::Literal(_) if TEXT_TYPES.contains(&column.ty.name) => tokens.notes.text_defaults.push(range),
            DefaultSpec::Now(digits) => other_digits(tokens, column, *digits, range),
            _ => {}
        }
        column.default = Some(default);
    } else if tokens.accept("ON UPDATE") {
        let place = tokens.place();
        let digits = now(tokens)?;
        let (range, _) = tokens.read_since(place);
        other_digits(tokens, column, digits, range);
        column.on_update_now = Some(digits);
    } else if tokens.accept("AUTO_INCREMENT") {
        column.auto_increment = true;
    } else if tokens.accept("UNIQUE") {
        tokens.accept("KEY");
        keys.push(own_index(IndexKind::Unique, &column.name));
    } else if tokens.accept("PRIMARY KEY") || tokens.accept("PRIMARY") || tokens.accept("KEY") {
        keys.push(own_index(IndexKind::Primary, &column.name));
    } else if tokens.accept("COMMENT") {
        column.comment = tokens.string()?;
    } else if column.ty.collation.is_none() && tokens.accept("COLLATE") {
        column.ty.collation = Some(tokens.collation()?);
    } else if tokens.accept("SERIAL DEFAULT VALUE") {
        column.nullable = Some(false);
        column.auto_increment = true;
        keys.push(own_index(IndexKind::Unique, &column.name));
    } else if tokens.accept("VISIBLE") {
        column.invisible = false;
    } else if tokens.accept("INVISIBLE") {
        column.invisible = true;
    } else if tokens.accept("COLUMN_FORMAT") {
        if tokens.expect_one(&["DEFAULT", "FIXED", "DYNAMIC"])? != "DEFAULT" {
            column.without_effect = Some("COLUMN_FORMAT");
        }
    } else if tokens.accept("STORAGE") {
        if tokens.expect_one(&["DEFAULT", "DISK", "MEMORY"])? != "DEFAULT" {
            column.without_effect = Some("STORAGE");
        }
    } else if let Some(key) = foreign_key::of_column(tokens, &column.name)? {
        keys.push(TableKey::Foreign(key));
    } else {
        return refused_attribute(tokens);
    }
    Ok(true)
}

/// Types whose DEFAULT is an expression for a MySQL.
const TEXT_TYPES: [&str; 9] =
    ["tinytext", "text", "mediumtext", "longtext", "tinyblob", "blob", "mediumblob", "longblob", "json"];

/// The time with other digits than its column has, at this place: a MariaDB gives it those of the column.
fn other_digits(tokens: &mut Tokens<'_>, column: &ColumnSpec, digits: u8, range: Range<usize>) {
    let own = column.ty.length.unwrap_or(0);
    if matches!(column.ty.name, "datetime" | "timestamp") && own != u64::from(digits) {
        tokens.notes.other_digits.push((range, own));
    }
}

fn refused_attribute(tokens: &Tokens<'_>) -> Parsed<bool> {
    let refused = [
        ("CONSTRAINT", "CHECK"),
        ("CHECK", "CHECK"),
        ("GENERATED", "generated columns"),
        ("AS", "generated columns"),
        ("ENGINE_ATTRIBUTE", "ENGINE_ATTRIBUTE"),
        ("SECONDARY_ENGINE_ATTRIBUTE", "SECONDARY_ENGINE_ATTRIBUTE"),
        ("NOT SECONDARY", "NOT SECONDARY"),
        ("SRID", "spatial types"),
        ("WITHOUT SYSTEM VERSIONING", "SYSTEM VERSIONING"),
        ("WITH SYSTEM VERSIONING", "SYSTEM VERSIONING"),
        ("COMPRESSED", "COMPRESSED columns"),
    ];
    match refused.iter().find(|(word, _)| tokens.next_are(word)) {
        // `AS` may also begin the SELECT of CREATE TABLE.
        Some(("AS", _)) if tokens.peek_at(1) != Some(&Token::LParen) => Ok(false),
        Some((_, what)) => Err(ParseError::not_supported(what)),
        None => Ok(false),
    }
}

fn own_index(kind: IndexKind, column: &str) -> TableKey {
    TableKey::Index(IndexSpec::new(kind, None, vec![IndexPart::whole(column)]))
}

pub(super) fn type_spec(tokens: &mut Tokens<'_>) -> Parsed<TypeSpec> {
    if let Some(word) = UNSUPPORTED_TYPES.iter().find(|word| tokens.next_are(word)) {
        return Err(ParseError::not_supported(format!("{word} columns")));
    }
    let start = tokens.offset();
    let Some((_, name)) = TYPES.iter().find(|(words, _)| tokens.accept(words)) else { return tokens.unexpected() };
    let mut ty = TypeSpec {
        name,
        length: None,
        decimals: None,
        unsigned: false,
        zerofill: false,
        members: Vec::new(),
        charset: None,
        collation: None,
        binary: false,
    };
    match *name {
        "bool" => ty.length = Some(1),
        "real" => ty.name = if tokens.sql_mode.has(SqlMode::REAL_AS_FLOAT) { "float" } else { "double" },
        "json" => tokens.notes.json_types.push(start..start + "json".len()),
        "nchar" => (ty.name, ty.charset) = ("char", Some("utf8mb3".into())),
        "nvarchar" => (ty.name, ty.charset) = ("varchar", Some("utf8mb3".into())),
        "enum" | "set" => ty.members = tokens.in_parentheses(Tokens::text_string)?,
        _ => {}
    }
    if ty.members.is_empty() && ty.name != "json" && tokens.accept_token(&Token::LParen) {
        ty.length = Some(if ty.name == "float" { tokens.whole_number()? } else { tokens.number()? });
        if tokens.accept_token(&Token::Comma) {
            ty.decimals = Some(tokens.number()?);
        }
        tokens.expect_token(&Token::RParen)?;
    }
    if matches!(*name, "nchar" | "nvarchar") {
        let end = tokens.end_of_last();
        tokens.notes.utf8mb3.push(end..end);
    }
    type_modifiers(tokens, &mut ty)?;
    if ty.name == "varchar" && ty.length.is_none() || ty.name == "varbinary" && ty.length.is_none() {
        return tokens.unexpected();
    }
    Ok(ty)
}

/// The type of a column that is no table's, with its COLLATE.
pub(crate) fn column_type(parser: &mut Parser<'_>) -> Parsed<TypeSpec> {
    let mode = parser.mode();
    let mut tokens = Tokens::new(std::mem::replace(parser, Parser::new(Vec::new(), "", mode)), mode);
    let ty = plain_type(&mut tokens);
    *parser = tokens.into_parser();
    ty
}

/// A type, with its COLLATE.
pub(super) fn plain_type(tokens: &mut Tokens<'_>) -> Parsed<TypeSpec> {
    let mut ty = type_spec(tokens)?;
    if is_text(&ty) && tokens.accept("COLLATE") {
        ty.collation = Some(tokens.collation()?);
    }
    Ok(ty)
}

/// Whether it has a character set.
pub(super) fn is_text(ty: &TypeSpec) -> bool {
    matches!(ty.name, "char" | "varchar" | "text" | "tinytext" | "mediumtext" | "longtext" | "enum" | "set")
}

fn type_modifiers(tokens: &mut Tokens<'_>, ty: &mut TypeSpec) -> Parsed<()> {
    let has_charset = is_text(ty);
    loop {
        if ty.name == "json" {
            return Ok(());
        } else if tokens.accept("UNSIGNED") {
            ty.unsigned = true;
        } else if tokens.accept("ZEROFILL") {
            ty.zerofill = true;
            ty.unsigned = true;
        } else if tokens.accept("SIGNED") {
        } else if ty.charset.is_none()
            && has_charset
            && (tokens.accept("CHARACTER SET") || tokens.accept("CHARSET") || tokens.accept("CHAR SET"))
        {
            ty.charset = Some(tokens.charset()?);
        } else if has_charset && tokens.accept("ASCII") {
            ty.charset = Some("latin1".into());
        } else if has_charset && tokens.accept("UNICODE") {
            return Err(ParseError::not_supported("character set ucs2"));
        } else if has_charset && tokens.accept("BYTE") {
            ty.charset = Some("binary".into());
        } else if has_charset && tokens.accept("BINARY") {
            ty.binary = true;
        } else {
            return Ok(());
        }
    }
}

/// What follows DEFAULT.
pub(super) fn default(tokens: &mut Tokens<'_>) -> Parsed<DefaultSpec> {
    if tokens.accept("NULL") {
        return Ok(DefaultSpec::Null);
    }
    if tokens.accept_token(&Token::LParen) {
        tokens.enter()?;
        let inner = default(tokens);
        tokens.leave();
        // MySQL's expression defaults; those that are a literal or the time in parentheses are just that.
        return match inner {
            Ok(inner) if tokens.accept_token(&Token::RParen) => Ok(match inner {
                DefaultSpec::Literal(literal) => DefaultSpec::InParentheses(literal),
                other => other,
            }),
            Err(error @ ParseError::Sql(_)) => Err(error),
            _ => Err(ParseError::not_supported("expressions as DEFAULT")),
        };
    }
    if is_now(tokens) {
        return Ok(DefaultSpec::Now(now(tokens)?));
    }
    literal(tokens).map(DefaultSpec::Literal)
}

const NOW: &[&str] = &["CURRENT_TIMESTAMP", "NOW", "LOCALTIME", "LOCALTIMESTAMP"];

fn is_now(tokens: &Tokens<'_>) -> bool {
    NOW.iter().any(|word| tokens.next_are(word))
}

/// `CURRENT_TIMESTAMP`, `NOW(3)`: the number of digits.
fn now(tokens: &mut Tokens<'_>) -> Parsed<u8> {
    tokens.expect_one(NOW)?;
    if !tokens.accept_token(&Token::LParen) {
        return Ok(0);
    }
    if tokens.accept_token(&Token::RParen) {
        return Ok(0);
    }
    let digits = tokens.number()?;
    tokens.expect_token(&Token::RParen)?;
    u8::try_from(digits).or_else(|_| tokens.unexpected())
}

pub(super) fn literal(tokens: &mut Tokens<'_>) -> Parsed<Literal> {
    if tokens.accept("TRUE") {
        return Ok(Literal::Bool(true));
    }
    if tokens.accept("FALSE") {
        return Ok(Literal::Bool(false));
    }
    let sign = if tokens.accept_token(&Token::Minus) {
        "-"
    } else {
        tokens.accept_token(&Token::Plus);
        ""
    };
    // `_utf8mb4'text'`: text is utf8mb4 in any case.
    if sign.is_empty() && tokens.peek_word().is_some_and(|word| word.starts_with('_')) {
        tokens.next();
    }
    match tokens.peek() {
        Some(Token::Number(digits)) => {
            let number = format!("{sign}{digits}");
            tokens.next();
            Ok(Literal::Number(number))
        }
        Some(Token::NationalText(text)) if sign.is_empty() => {
            let text = text.clone().into_owned();
            tokens.next();
            Ok(Literal::String(text))
        }
        _ if sign.is_empty() => Ok(match tokens.text_string()? {
            TextString::Text(text) => Literal::String(text),
            TextString::Bytes(bytes) => Literal::Bytes(bytes),
        }),
        _ => tokens.unexpected(),
    }
}
