//! Strings of a log as the bytes of our columns: length, character set, what is behind the last character.

use std::borrow::Cow;

use binlog::charset_of_collation;
use binlog::event::ColumnMeta;
use types::ColumnDef;
use types::ColumnType;
use types::charset::{Charset, char_count, prefix_bytes};

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
    /// They stay if they are text of that character set, which is ours: the log does not say, or cannot be trusted.
    Check(Charset),
    /// From the source's character set to ours.
    Convert(Charset, Charset),
}

impl TextConvert {
    pub(super) fn new(source: &ColumnMeta, from: StringForm, to: StringForm, column: &ColumnDef, cut: bool) -> Self {
        let ours = if column.ty.has_charset() { column.collation.charset() } else { Charset::Binary };
        let recode = match (charset_of(source), ours) {
            (Some(theirs @ Charset::Single(_)), Charset::Utf8Mb4 | Charset::Single(_)) if theirs != ours => {
                Recode::Convert(theirs, ours)
            }
            (Some(Charset::Utf8Mb4), Charset::Single(_)) => Recode::Convert(Charset::Utf8Mb4, ours),
            (_, ours) if ours.has_every_byte() => Recode::Keep,
            (_, ours) => Recode::Check(ours),
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
        let keeps_bytes = matches!(self.recode, Recode::Keep | Recode::Check(_));
        self.from_prefix == self.to_prefix && keeps_bytes && self.pad_to.is_none()
    }

    /// Whether a value of the log is one of ours, byte for byte.
    pub(super) fn keeps(&self, value: &[u8]) -> bool {
        let content = &value[self.from_prefix..];
        self.is_same_form()
            && content.len() <= self.max_bytes
            && self.wrong_from(content).is_none()
            && self.trim.is_none_or(|pad| content.last() != Some(&pad))
            && !self.has_too_many_chars(content)
    }

    /// From where on bytes that should stay are no text.
    fn wrong_from(&self, content: &[u8]) -> Option<usize> {
        let Recode::Check(ours) = self.recode else { return None };
        Some(ours.valid_up_to(content)).filter(|&valid| valid < content.len())
    }

    /// Whether what is stored is UTF-8.
    fn is_utf8(&self) -> bool {
        matches!(self.recode, Recode::Check(Charset::Utf8Mb4) | Recode::Convert(_, Charset::Utf8Mb4))
    }

    fn has_too_many_chars(&self, content: &[u8]) -> bool {
        self.max_chars.is_some_and(|max| content.len() > max && (!self.is_utf8() || char_count(content) > max))
    }

    /// Appends a value of the log as one of ours.
    pub(super) fn append(&self, value: &[u8], out: &mut Vec<u8>) -> Result<(), Refused> {
        let content = &value[self.from_prefix..];
        let mut content = match self.recode {
            Recode::Keep | Recode::Check(_) => match self.wrong_from(content) {
                Some(at) => return Err(Refused::NoText(content[at..].to_vec())),
                None => Cow::Borrowed(content),
            },
            Recode::Convert(theirs, ours) => {
                let wrong = || Refused::NoText(content.to_vec());
                match theirs.text(content).ok_or_else(wrong)? {
                    Cow::Borrowed(text) => ours.encode(text.as_bytes()).ok_or_else(wrong)?,
                    Cow::Owned(text) => Cow::Owned(ours.encode(text.as_bytes()).ok_or_else(wrong)?.into_owned()),
                }
            }
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
        let is_utf8 = self.is_utf8();
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

/// The character set of a collation of MySQL or MariaDB, as far as it can be here; `None` if the log does not say, or for
/// others.
fn charset_of(column: &ColumnMeta) -> Option<Charset> {
    Charset::by_name(charset_of_collation(column.collation?)?)
}
