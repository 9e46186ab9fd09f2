//! Strings of a log as the bytes of our columns: length, character set, what is behind the last character.

use std::borrow::Cow;

use binlog::event::ColumnMeta;
use types::ColumnDef;
use types::ColumnType;
use types::charset::{Charset, char_count, latin1_to_utf8, prefix_bytes, utf8_to_latin1};

use super::convert::Refused;
use super::form::{StringForm, StringKind};

/// How strings of one column become ours.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextConvert {
    /// Bytes of the length, there and here.
    from_prefix: usize,
    to_prefix: usize,
    recode: Recode,
    /// What comes back at the end of a BINARY of the source.
    pad_to: Option<usize>,
    /// What is not kept at the end of CHAR and BINARY here.
    trim: Option<u8>,
    max_bytes: usize,
    max_chars: Option<usize>,
    /// What is too long is cut.
    cut: bool,
}

/// What becomes of the characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Recode {
    /// The bytes stay.
    Keep,
    /// They stay if they are UTF-8: the log does not say, or cannot be trusted.
    CheckUtf8,
    FromLatin1,
    ToLatin1,
}

impl TextConvert {
    pub(super) fn new(source: &ColumnMeta, from: StringForm, to: StringForm, column: &ColumnDef, cut: bool) -> Self {
        let ours = if column.ty.has_charset() { column.collation.charset() } else { Charset::Binary };
        let recode = match (charset_of(source), ours) {
            (Some(Charset::Latin1), Charset::Utf8Mb4) => Recode::FromLatin1,
            (_, Charset::Utf8Mb4) => Recode::CheckUtf8,
            (Some(Charset::Utf8Mb4), Charset::Latin1) => Recode::ToLatin1,
            _ => Recode::Keep,
        };
        let (trim, max_chars) = match column.ty {
            ColumnType::Char { chars } => (Some(b' '), Some(chars as usize)),
            ColumnType::Binary { .. } => (Some(0), None),
            ColumnType::VarChar { chars } => (None, Some(chars as usize)),
            _ => (None, None),
        };
        let is_padded = from.kind == StringKind::Fixed && to.kind != StringKind::Fixed && ours == Charset::Binary;
        TextConvert {
            from_prefix: from.prefix,
            to_prefix: to.prefix,
            recode,
            pad_to: is_padded.then_some(from.max),
            trim,
            max_bytes: to.max,
            max_chars,
            cut,
        }
    }

    /// Whether strings of ours may be bytes of the log, if [`TextConvert::keeps`] says so of each.
    pub(super) fn is_same_form(&self) -> bool {
        let keeps_bytes = matches!(self.recode, Recode::Keep | Recode::CheckUtf8);
        self.from_prefix == self.to_prefix && keeps_bytes && self.pad_to.is_none()
    }

    /// Whether a value of the log is one of ours, byte for byte.
    pub(super) fn keeps(&self, value: &[u8]) -> bool {
        let content = &value[self.from_prefix..];
        self.is_same_form()
            && content.len() <= self.max_bytes
            && (self.recode == Recode::Keep || std::str::from_utf8(content).is_ok())
            && self.trim.is_none_or(|pad| content.last() != Some(&pad))
            && !self.has_too_many_chars(content)
    }

    fn has_too_many_chars(&self, content: &[u8]) -> bool {
        match (self.max_chars, self.recode) {
            (Some(max), Recode::Keep | Recode::ToLatin1) => content.len() > max,
            (Some(max), _) => content.len() > max && char_count(content) > max,
            (None, _) => false,
        }
    }

    /// Appends a value of the log as one of ours.
    pub(super) fn append(&self, value: &[u8], out: &mut Vec<u8>) -> Result<(), Refused> {
        let content = &value[self.from_prefix..];
        let mut content = match self.recode {
            Recode::Keep => Cow::Borrowed(content),
            Recode::CheckUtf8 => {
                let wrong = std::str::from_utf8(content).err().map(|error| error.valid_up_to());
                match wrong {
                    Some(at) => return Err(Refused::NoText(content[at..].to_vec())),
                    None => Cow::Borrowed(content),
                }
            }
            Recode::FromLatin1 => latin1_to_utf8(content),
            Recode::ToLatin1 => utf8_to_latin1(content).ok_or_else(|| Refused::NoText(content.to_vec()))?,
        };
        if let Some(len) = self.pad_to.filter(|&len| content.len() < len) {
            content.to_mut().resize(len, 0);
        }
        let kept = self.kept(&content)?;
        out.extend_from_slice(&(kept as u32).to_le_bytes()[..self.to_prefix]);
        out.extend_from_slice(&content[..kept]);
        Ok(())
    }

    /// How many bytes of a text are stored.
    fn kept(&self, content: &[u8]) -> Result<usize, Refused> {
        let is_utf8 = matches!(self.recode, Recode::CheckUtf8 | Recode::FromLatin1);
        let trimmed = |end: usize| match self.trim {
            Some(pad) => content[..end].iter().rposition(|&byte| byte != pad).map_or(0, |last| last + 1),
            None => end,
        };
        let all = trimmed(content.len());
        let mut end = match self.max_chars {
            Some(max) if is_utf8 => prefix_bytes(&content[..all], max),
            Some(max) => all.min(max),
            None => all,
        };
        if end > self.max_bytes {
            end = self.max_bytes;
            // No half of a character stays.
            while is_utf8 && end > 0 && content[end] & 0xc0 == 0x80 {
                end -= 1;
            }
        }
        if end < all && !self.cut { Err(Refused::TooLong) } else { Ok(trimmed(end)) }
    }
}

/// MariaDB's collations without padding have the number of the other and this.
const MARIA_NOPAD: u32 = 1024;

/// The character set of a collation of MySQL or MariaDB, as far as it can be here; `None` if the log does not say, or for
/// others.
fn charset_of(column: &ColumnMeta) -> Option<Charset> {
    let id = column.collation?;
    let id = if (MARIA_NOPAD..2 * MARIA_NOPAD).contains(&id) { id - MARIA_NOPAD } else { id };
    match id {
        63 => Some(Charset::Binary),
        5 | 8 | 15 | 31 | 47..=49 | 94 => Some(Charset::Latin1),
        // ascii is a part of it, utf8mb3 another; MariaDB's UCA 14 collations of both.
        11 | 65 | 33 | 76 | 83 | 192..=215 | 223 | 2048..=2559 => Some(Charset::Utf8Mb4),
        other => types::collation::by_id(u16::try_from(other).ok()?).map(|id| id.charset()),
    }
}
