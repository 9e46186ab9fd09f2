//! Columns: from what was written to a [`ColumnDef`], with MySQL's limits.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use base::{SqlError, codes};
use types::{BlobSize, CollationId, ColumnDef, ColumnType, collation};

use super::{DdlContext, check_column_name, check_comment, default};
use crate::charsets;
use crate::expr::WarningLevel;
use crate::expr::types::ExprType;
use crate::parse::ast::{ColumnSpec, TextString, TypeSpec};

/// Most bytes of a VARCHAR, and of a row without its TEXTs and BLOBs.
pub(super) const ROW_BYTES_MAX: u32 = 65535;

/// A column of a new or changed table whose columns have `table_collation` if they say nothing.
pub(super) fn column_def(
    spec: &ColumnSpec,
    table_collation: CollationId,
    context: &DdlContext<'_>,
) -> Result<ColumnDef, SqlError> {
    let name = &spec.name;
    check_column_name(name)?;
    check_comment(&spec.comment, 1024, &format!("field '{name}'"), codes::TOO_LONG_FIELD_COMMENT)?;
    let collation = collation(&spec.ty, table_collation, context)?;
    let (ty, collation) = column_type(name, &spec.ty, collation, context)?;
    if spec.auto_increment && !engine::catalog::may_auto_increment(&ty) {
        return Err(wrong_specifier(name));
    }
    let mut column = ColumnDef::new(name.clone(), ty);
    if matches!(spec.ty.name, "float" | "double") {
        column.float_digits = spec.ty.length.zip(spec.ty.decimals).map(|(all, after)| (all as u8, after as u8));
    }
    (column.display_width, column.zerofill) = (display_width(&spec.ty, &column.ty), spec.ty.zerofill);
    warn_of_deprecated(&spec.ty, context);
    if let Some(clause) = spec.without_effect {
        let message = format!("'{clause}' of column '{name}' has no effect on this server");
        context.warnings.push(WarningLevel::Warning, codes::NOT_SUPPORTED_YET, message);
    }
    column.collation = collation;
    column.nullable = spec.nullable.unwrap_or(!spec.auto_increment);
    column.on_update_now = spec.on_update_now.is_some();
    column.auto_increment = spec.auto_increment;
    column.invisible = spec.invisible;
    column.comment = spec.comment.clone();
    if spec.auto_increment && spec.default.is_some() {
        return Err(default::invalid(name));
    }
    column.default = match &spec.default {
        Some(default) => default::column_default(default, &column, context)?,
        None => None,
    };
    if let Some(fsp) = spec.on_update_now
        && default::digits_of_now(&column.ty, fsp, context).is_none()
    {
        return Err(SqlError::new(codes::INVALID_ON_UPDATE, format!("Invalid ON UPDATE clause for '{name}' column")));
    }
    Ok(column)
}

/// A column of a table function.
pub(crate) fn column_of_function(
    spec: &ColumnSpec,
    collation: CollationId,
    context: &DdlContext<'_>,
) -> Result<ColumnDef, SqlError> {
    column_def(spec, collation, context)
}

/// The collation of a column's type; `BINARY` for what has no character set.
fn collation(ty: &TypeSpec, table: CollationId, context: &DdlContext<'_>) -> Result<CollationId, SqlError> {
    let has_text =
        matches!(ty.name, "char" | "varchar" | "tinytext" | "text" | "mediumtext" | "longtext" | "enum" | "set");
    if !has_text {
        return Ok(CollationId::BINARY);
    }
    if ty.binary {
        let charset = ty.charset.as_deref().unwrap_or(table.charset().name());
        return charsets::binary_collation(charset).ok_or_else(|| charsets::unknown_charset(charset));
    }
    let own = context.collation_of(ty.charset.as_deref(), ty.collation.as_deref())?;
    Ok(own.unwrap_or(table))
}

fn column_type(
    name: &str,
    ty: &TypeSpec,
    collation: CollationId,
    context: &DdlContext<'_>,
) -> Result<(ColumnType, CollationId), SqlError> {
    let unsigned = ty.unsigned;
    let column_type = match ty.name {
        "bool" | "tinyint" | "smallint" | "mediumint" | "int" | "bigint" => integer(name, ty)?,
        "float" | "double" => floating(name, ty)?,
        "decimal" => {
            let (precision, scale) = decimal_digits(name, ty)?;
            ColumnType::Decimal { precision, scale, unsigned }
        }
        "bit" => ColumnType::Bit { bits: bits(name, ty)? },
        "date" => ColumnType::Date,
        "time" => ColumnType::Time { fsp: fsp(name, ty)? },
        "datetime" => ColumnType::DateTime { fsp: fsp(name, ty)? },
        "timestamp" => ColumnType::Timestamp { fsp: fsp(name, ty)? },
        "year" if ty.length.is_some_and(|width| width != 4) && !context.is_logged => {
            return Err(SqlError::new(codes::INVALID_YEAR_COLUMN_LENGTH, "Invalid display width. Use YEAR instead."));
        }
        "year" => ColumnType::Year,
        "json" => ColumnType::Json,
        "enum" | "set" => members(name, ty, collation, context)?,
        _ => return string(name, ty, collation, context),
    };
    Ok((column_type, collation))
}

fn integer(name: &str, ty: &TypeSpec) -> Result<ColumnType, SqlError> {
    if ty.decimals.is_some() {
        return Err(wrong_specifier(name));
    }
    if ty.length.is_some_and(|width| width > 255) {
        return Err(width_out_of_range(name, 255));
    }
    let unsigned = ty.unsigned;
    Ok(match ty.name {
        "bool" | "tinyint" => ColumnType::TinyInt { unsigned },
        "smallint" => ColumnType::SmallInt { unsigned },
        "mediumint" => ColumnType::MediumInt { unsigned },
        "int" => ColumnType::Int { unsigned },
        _ => ColumnType::BigInt { unsigned },
    })
}

/// The display width that is kept: of ZEROFILL, and of TINYINT(1).
fn display_width(spec: &TypeSpec, ty: &ColumnType) -> Option<u8> {
    let (bytes, unsigned) = ty.integer()?;
    let written = spec.length.and_then(|width| u8::try_from(width).ok()).filter(|width| *width > 0);
    if spec.zerofill {
        return Some(written.unwrap_or(match bytes {
            1 => 3,
            2 => 5,
            3 => 8,
            4 => 10,
            _ => 20,
        }));
    }
    written.filter(|width| *width == 1 && bytes == 1 && !unsigned)
}

/// 1681, for what MySQL is going to remove.
fn warn_of_deprecated(ty: &TypeSpec, context: &DdlContext<'_>) {
    let warn = |what: &str| {
        context.warnings.push(WarningLevel::Warning, codes::WARN_DEPRECATED_SYNTAX_NO_REPLACEMENT, what.to_string());
    };
    let has_digits = ty.decimals.is_some() && matches!(ty.name, "float" | "double");
    let warn_of_digits = || {
        if has_digits {
            warn(
                "Specifying number of digits for floating point data types is deprecated and will be removed in a \
                 future release.",
            );
        }
    };
    if !ty.zerofill {
        warn_of_digits();
    }
    if ty.zerofill {
        warn(
            "The ZEROFILL attribute is deprecated and will be removed in a future release. Use the LPAD function \
              to zero-pad numbers, or store the formatted numbers in a CHAR column.",
        );
        warn_of_digits();
    } else if ty.unsigned && matches!(ty.name, "float" | "double" | "decimal") {
        warn(
            "UNSIGNED for decimal and floating point data types is deprecated and support for it will be removed in a \
              future release.",
        );
    }
    if ty.length.is_some() && matches!(ty.name, "tinyint" | "smallint" | "mediumint" | "int" | "bigint") {
        warn("Integer display width is deprecated and will be removed in a future release.");
    }
}

fn floating(name: &str, ty: &TypeSpec) -> Result<ColumnType, SqlError> {
    let unsigned = ty.unsigned;
    if let Some(decimals) = ty.decimals {
        check_digits(name, ty.length.unwrap_or(0), decimals)?;
        return Ok(match ty.name {
            "float" => ColumnType::Float { unsigned },
            _ => ColumnType::Double { unsigned },
        });
    }
    match (ty.name, ty.length) {
        ("float", None | Some(0..=24)) => Ok(ColumnType::Float { unsigned }),
        ("float", Some(25..=53)) | ("double", None) => Ok(ColumnType::Double { unsigned }),
        _ => Err(wrong_specifier(name)),
    }
}

/// The limits of FLOAT(M,D) and DOUBLE(M,D).
fn check_digits(name: &str, digits: u64, decimals: u64) -> Result<(), SqlError> {
    match (digits, decimals) {
        (_, 31..) => Err(too_big_scale(name, decimals)),
        (0, 0) | (256.., _) => Err(width_out_of_range(name, 255)),
        _ if decimals > digits => Err(more_decimals_than_digits(name)),
        _ => Ok(()),
    }
}

fn too_big_scale(name: &str, scale: u64) -> SqlError {
    let message = format!("Too big scale {scale} specified for column '{name}'. Maximum is 30.");
    SqlError::new(codes::TOO_BIG_SCALE, message)
}

fn more_decimals_than_digits(name: &str) -> SqlError {
    let message = format!("For float(M,D), double(M,D) or decimal(M,D), M must be >= D (column '{name}').");
    SqlError::new(codes::M_BIGGER_THAN_D, message)
}

fn decimal_digits(name: &str, ty: &TypeSpec) -> Result<(u8, u8), SqlError> {
    let precision = ty.length.filter(|digits| *digits > 0).unwrap_or(10);
    let scale = ty.decimals.unwrap_or(0);
    if scale > 30 {
        return Err(too_big_scale(name, scale));
    }
    if precision > 65 {
        return Err(too_big_precision(name, precision, 65));
    }
    if scale > precision || ty.length == Some(0) && scale > 0 {
        return Err(more_decimals_than_digits(name));
    }
    Ok((precision as u8, scale as u8))
}

fn bits(name: &str, ty: &TypeSpec) -> Result<u8, SqlError> {
    match ty.length.unwrap_or(1) {
        0 => Err(SqlError::new(codes::INVALID_FIELD_SIZE, format!("Invalid size for column '{name}'."))),
        bits @ 1..=64 => Ok(bits as u8),
        _ => Err(width_out_of_range(name, 64)),
    }
}

fn fsp(name: &str, ty: &TypeSpec) -> Result<u8, SqlError> {
    match ty.length.unwrap_or(0) {
        fsp @ 0..=6 => Ok(fsp as u8),
        fsp => Err(too_big_precision(name, fsp, 6)),
    }
}

/// An ENUM's number has two bytes.
const ENUM_MEMBERS_MAX: usize = 65535;

fn members(
    name: &str,
    ty: &TypeSpec,
    collation: CollationId,
    context: &DdlContext<'_>,
) -> Result<ColumnType, SqlError> {
    let is_set = ty.name == "set";
    let text_of = |member: &TextString| -> Result<String, SqlError> {
        let text = match member {
            TextString::Text(text) => Cow::Borrowed(text.as_str()),
            TextString::Bytes(bytes) => charsets::text_of(bytes, collation.charset())?,
        };
        Ok(text.trim_end_matches(' ').to_owned())
    };
    let members: Arc<[String]> = ty.members.iter().map(text_of).collect::<Result<_, _>>()?;
    if is_set && members.len() > 64 {
        return Err(SqlError::new(codes::TOO_BIG_SET, format!("Too many strings for column {name} and SET")));
    }
    if members.len() > ENUM_MEMBERS_MAX {
        let message = format!("Too many enumeration values for column {name}.");
        return Err(SqlError::new(codes::TOO_MANY_ENUM_VALUES, message));
    }
    if is_set && let Some(member) = members.iter().find(|member| member.contains(',')) {
        let message = format!("Illegal set '{member}' value found during parsing");
        return Err(SqlError::new(codes::ILLEGAL_VALUE_FOR_TYPE, message));
    }
    let ty = if is_set { ColumnType::Set { members } } else { ColumnType::Enum { members } };
    check_members(name, &ty, collation, context)?;
    Ok(ty)
}

/// Members that are equal in the column's collation: an error in strict mode, and notes otherwise, if they are not the same text.
fn check_members(
    name: &str,
    ty: &ColumnType,
    collation: CollationId,
    context: &DdlContext<'_>,
) -> Result<(), SqlError> {
    let (kind, members) = match ty {
        ColumnType::Enum { members } => ("ENUM", members),
        ColumnType::Set { members } => ("SET", members),
        _ => return Ok(()),
    };
    let mut later: HashMap<Vec<u8>, &str> = HashMap::with_capacity(members.len());
    let mut duplicates = Vec::new();
    for member in members.iter().rev() {
        let mut weights = Vec::new();
        collation::weights(collation, member.as_bytes(), &mut weights);
        if let Some(other) = later.insert(weights, member) {
            duplicates.push((member, member == other));
        }
    }
    for (member, is_same) in duplicates.into_iter().rev() {
        let message = format!("Column '{name}' has duplicated value '{member}' in {kind}");
        if is_same || context.sql_mode.is_strict() && !context.is_logged {
            return Err(SqlError::new(codes::DUPLICATED_VALUE_IN_TYPE, message));
        }
        context.warnings.push(WarningLevel::Note, codes::DUPLICATED_VALUE_IN_TYPE, message);
    }
    Ok(())
}

/// CHAR, VARCHAR, TEXT and their binary kin. In the binary character set the one becomes the other.
fn string(
    name: &str,
    ty: &TypeSpec,
    collation: CollationId,
    context: &DdlContext<'_>,
) -> Result<(ColumnType, CollationId), SqlError> {
    let binary = collation == CollationId::BINARY;
    let width = collation.charset().max_bytes_per_char();
    let length = ty.length.unwrap_or(1);
    let column_type = match ty.name {
        "char" | "binary" => {
            if length > 255 {
                return Err(too_long(name, 255));
            }
            let length = length as u32;
            if binary { ColumnType::Binary { bytes: length } } else { ColumnType::Char { chars: length } }
        }
        "varchar" | "varbinary" => {
            let chars_max = u64::from(ROW_BYTES_MAX / width);
            if length > chars_max {
                if context.sql_mode.is_strict() {
                    return Err(too_long(name, chars_max));
                }
                return Ok((converted(name, length * u64::from(width), binary, context), collation));
            }
            let length = length as u32;
            if binary { ColumnType::VarBinary { bytes: length } } else { ColumnType::VarChar { chars: length } }
        }
        _ => {
            let size = match ty.name {
                "tinytext" | "tinyblob" => BlobSize::Tiny,
                "mediumtext" | "mediumblob" => BlobSize::Medium,
                "longtext" | "longblob" => BlobSize::Long,
                _ if ty.length.is_some_and(|length| length > u64::from(u32::MAX)) => {
                    return Err(width_out_of_range(name, u32::MAX));
                }
                _ => ty.length.map_or(BlobSize::Normal, |length| blob_for(length * u64::from(width))),
            };
            if binary { ColumnType::Blob { size } } else { ColumnType::Text { size } }
        }
    };
    Ok((column_type, collation))
}

/// The smallest TEXT or BLOB that holds so many bytes.
fn blob_for(bytes: u64) -> BlobSize {
    let sizes = [BlobSize::Tiny, BlobSize::Normal, BlobSize::Medium];
    sizes.into_iter().find(|size| bytes <= u64::from(size.max_bytes())).unwrap_or(BlobSize::Long)
}

/// A VARCHAR that is too long becomes a TEXT outside strict mode.
fn converted(name: &str, bytes: u64, binary: bool, context: &DdlContext<'_>) -> ColumnType {
    let (from, to) = if binary { ("VARBINARY", "BLOB") } else { ("VARCHAR", "TEXT") };
    let message = format!("Converting column '{name}' from {from} to {to}");
    context.warnings.push(WarningLevel::Note, codes::AUTO_CONVERT, message);
    let size = blob_for(bytes);
    if binary { ColumnType::Blob { size } } else { ColumnType::Text { size } }
}

/// CONVERT TO CHARACTER SET. A TEXT (and a BLOB that was another type, as in MySQL) becomes the smallest that holds as many characters as the
/// column did before the statement: `old`, which is `None` if it was not there or the statement says its length.
pub(super) fn convert(
    column: &mut ColumnDef,
    old: Option<&ColumnDef>,
    collation: CollationId,
    context: &DdlContext<'_>,
) -> Result<(), SqlError> {
    if !column.ty.has_charset() {
        if let (ColumnType::Blob { size }, Some(old)) = (&mut column.ty, old)
            && *size != BlobSize::Long
        {
            *size = blob_for(characters(old));
        }
        return Ok(());
    }
    column.collation = collation;
    check_members(&column.name, &column.ty, collation, context)?;
    if collation == CollationId::BINARY {
        make_binary(column, old);
        return Ok(());
    }
    let width = collation.charset().max_bytes_per_char();
    match (&mut column.ty, old) {
        (ColumnType::VarChar { chars }, _) if *chars > ROW_BYTES_MAX / width => {
            if context.sql_mode.is_strict() {
                return Err(too_long(&column.name, u64::from(ROW_BYTES_MAX / width)));
            }
            let bytes = u64::from(*chars) * u64::from(width);
            column.ty = converted(&column.name, bytes, false, context);
        }
        (ColumnType::Text { size }, Some(old)) if *size != BlobSize::Long => {
            *size = blob_for(characters(old) * u64::from(width));
        }
        _ => {}
    }
    Ok(())
}

/// Text of the character set `binary`: so many bytes as there were characters.
fn make_binary(column: &mut ColumnDef, old: Option<&ColumnDef>) {
    column.ty = match column.ty {
        ColumnType::Char { chars } => ColumnType::Binary { bytes: chars },
        ColumnType::VarChar { chars } => ColumnType::VarBinary { bytes: chars },
        ColumnType::Text { size } => {
            let size = old.filter(|_| size != BlobSize::Long).map_or(size, |old| blob_for(characters(old)));
            ColumnType::Blob { size }
        }
        _ => return,
    };
}

/// The most characters of a column's values.
fn characters(column: &ColumnDef) -> u64 {
    let chars = u64::from(ExprType::of_column(column).length);
    match column.ty {
        ColumnType::Text { .. } => chars / u64::from(column.collation.charset().max_bytes_per_char()),
        // A sign and a point.
        ColumnType::Decimal { unsigned, scale, .. } => chars + u64::from(!unsigned) + u64::from(scale > 0),
        _ => chars,
    }
}

/// Bytes of a column in a row, as MySQL counts them for its limit (TEXT and BLOB count as a pointer and the bytes of their length).
pub(super) fn row_bytes(column: &ColumnDef) -> u32 {
    const POINTER: u32 = 8;
    let fraction = |fsp: u8| u32::from(fsp.div_ceil(2));
    match &column.ty {
        ColumnType::Text { size } | ColumnType::Blob { size } => POINTER + 1 + *size as u32,
        ColumnType::Json => POINTER + 4,
        ColumnType::VarChar { .. } | ColumnType::VarBinary { .. } => {
            let bytes = column.max_bytes();
            bytes + if bytes > 255 { 2 } else { 1 }
        }
        ColumnType::Char { .. } | ColumnType::Binary { .. } => column.max_bytes(),
        ColumnType::Float { .. } => 4,
        ColumnType::Double { .. } => 8,
        ColumnType::Decimal { precision, scale, .. } => digit_bytes(precision - scale) + digit_bytes(*scale),
        ColumnType::Bit { bits } => u32::from(bits.div_ceil(8)),
        ColumnType::Date => 3,
        ColumnType::Time { fsp } => 3 + fraction(*fsp),
        ColumnType::Timestamp { fsp } => 4 + fraction(*fsp),
        ColumnType::DateTime { fsp } => 5 + fraction(*fsp),
        ColumnType::Year => 1,
        ColumnType::Enum { .. } | ColumnType::Set { .. } => column.ty.pack_length().unwrap_or(8) as u32,
        integer => integer.integer().map_or(8, |(bytes, _)| bytes as u32),
    }
}

/// Bytes that so many digits of a DECIMAL take: four for each nine of them.
fn digit_bytes(digits: u8) -> u32 {
    const OF_REST: [u32; 9] = [0, 1, 1, 2, 2, 3, 3, 4, 4];
    u32::from(digits / 9) * 4 + OF_REST[usize::from(digits % 9)]
}

fn wrong_specifier(name: &str) -> SqlError {
    SqlError::new(codes::WRONG_FIELD_SPEC, format!("Incorrect column specifier for column '{name}'"))
}

fn width_out_of_range(name: &str, max: u32) -> SqlError {
    let message = format!("Display width out of range for column '{name}' (max = {max})");
    SqlError::new(codes::TOO_BIG_DISPLAYWIDTH, message)
}

fn too_big_precision(name: &str, precision: u64, max: u32) -> SqlError {
    let message = format!("Too-big precision {precision} specified for '{name}'. Maximum is {max}.");
    SqlError::new(codes::TOO_BIG_PRECISION, message)
}

fn too_long(name: &str, max: u64) -> SqlError {
    let message = format!("Column length too big for column '{name}' (max = {max}); use BLOB or TEXT instead");
    SqlError::new(codes::TOO_BIG_FIELDLENGTH, message)
}
