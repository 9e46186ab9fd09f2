//! The bytes of a file as lines and fields, as LOAD DATA reads them.
//!
//! A file is read once, byte by byte, with the rules of MySQL's reader, in its odd places too: what ends a field is looked for before
//! what ends a line, an enclosed field may hold both, an encloser that nothing of them follows is a character like others, a line that
//! has more fields than there are targets is skipped without regard to enclosers.
//!
//! # Invariants
//! - A step either ends, or wants more bytes ([`Stop::Hungry`]) and has changed nothing; it is taken again with more of the file.
//! - Whatever the bytes, the end of the file is reached.

use types::charset::Charset;

use crate::parse::ast::FileFormat;

/// Why a step has not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// It needs more of the file.
    Hungry,
    /// These bytes are in no way text of the file's character set.
    Malformed(Vec<u8>),
}

/// What became of a step that looks for a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// It is in [`Fields::value`].
    Field,
    /// The line, or the file, has no more.
    Nothing,
}

/// How a file is read.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    field_end: Vec<u8>,
    line_end: Vec<u8>,
    line_start: Vec<u8>,
    enclosed: Option<u8>,
    escaped: Option<u8>,
    charset: Charset,
    /// The longest character of `utf8mb3` has three bytes.
    has_four_bytes: bool,
    /// Bytes of a line without terminators; 0 if fields have them.
    fixed: usize,
}

impl Rules {
    /// `charset` is the name of a character set that there is; `fixed` the length of a line of a file whose fields are not separated.
    pub(crate) fn new(format: &FileFormat, escaped: &[u8], charset: &str, fixed: usize) -> Self {
        let mut line_end = format.line_end.clone();
        if line_end == format.field_end {
            line_end.clear();
        }
        Rules {
            field_end: format.field_end.clone(),
            line_end,
            line_start: format.line_start.clone(),
            enclosed: format.enclosed.first().copied(),
            escaped: escaped.first().copied(),
            charset: Charset::by_name(charset).unwrap_or(Charset::Utf8Mb4),
            has_four_bytes: charset == "utf8mb4",
            fixed,
        }
    }

    pub(crate) fn charset(&self) -> Charset {
        self.charset
    }

    /// Bytes of the character that begins so; 0 for none.
    fn char_length(&self, byte: u8) -> usize {
        match (self.charset, byte) {
            (Charset::Utf8Mb4, 0x80..=0xc1 | 0xf8..) => 0,
            (Charset::Utf8Mb4, 0xc2..=0xdf) => 2,
            (Charset::Utf8Mb4, 0xe0..=0xef) => 3,
            (Charset::Utf8Mb4, 0xf0..=0xf7) => 4 * usize::from(self.has_four_bytes),
            _ => 1,
        }
    }
}

/// A place in the file: behind what was read, and bytes that were put back.
#[derive(Clone, Debug, Default)]
struct Cursor {
    at: usize,
    back: Vec<u8>,
}

/// Reads fields of a file that comes in pieces.
pub(crate) struct Fields {
    rules: Rules,
    /// What is not used up yet.
    buffer: Vec<u8>,
    cursor: Cursor,
    /// Nothing comes behind the buffer.
    is_whole: bool,
    /// The field that was found.
    value: Vec<u8>,
    /// It was enclosed.
    enclosed: bool,
    /// It has `\N` in it.
    found_null: bool,
    line_ended: bool,
    file_ended: bool,
    before_line: bool,
    /// The line that was left had more.
    cut: bool,
    /// What is left of a line is being skipped.
    leaving: bool,
    /// Bytes that mean something in a field; all others are taken as they are.
    special: [bool; 256],
}

impl Fields {
    pub(crate) fn new(rules: Rules) -> Self {
        let mut special = [false; 256];
        for (byte, is_special) in (0..=u8::MAX).zip(special.iter_mut()) {
            let begins = |text: &[u8]| text.first() == Some(&byte);
            *is_special = rules.char_length(byte) != 1
                || begins(&rules.field_end)
                || begins(&rules.line_end)
                || rules.enclosed == Some(byte)
                || rules.escaped == Some(byte);
        }
        let before_line = !rules.line_start.is_empty();
        Fields {
            rules,
            buffer: Vec::new(),
            cursor: Cursor::default(),
            is_whole: false,
            value: Vec::new(),
            enclosed: false,
            found_null: false,
            line_ended: false,
            file_ended: false,
            before_line,
            cut: false,
            leaving: false,
            special,
        }
    }

    /// Bytes that wait to be used.
    pub(crate) fn waiting(&self) -> usize {
        self.buffer.len() - self.cursor.at
    }

    /// More of the file.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        self.buffer.drain(..self.cursor.at);
        self.cursor.at = 0;
        self.buffer.extend_from_slice(bytes);
    }

    /// The file has no more.
    pub(crate) fn end(&mut self) {
        self.is_whole = true;
    }

    /// The last field, without what encloses it.
    pub(crate) fn value(&self) -> &[u8] {
        &self.value
    }

    /// Whether the last field stands for NULL.
    pub(crate) fn is_null(&self) -> bool {
        let is_word = !self.enclosed && self.rules.enclosed.is_some() && self.value == b"NULL";
        is_word || self.found_null && self.value.len() == 1
    }

    /// Whether the line that was left last had more than was read of it.
    pub(crate) fn was_cut(&self) -> bool {
        self.cut
    }

    /// Whether fields have a fixed length.
    pub(crate) fn is_fixed(&self) -> bool {
        self.rules.fixed > 0
    }

    fn next(&self, cursor: &mut Cursor) -> Result<Option<u8>, Stop> {
        if let Some(byte) = cursor.back.pop() {
            return Ok(Some(byte));
        }
        match self.buffer.get(cursor.at) {
            Some(byte) => {
                cursor.at += 1;
                Ok(Some(*byte))
            }
            None if self.is_whole => Ok(None),
            None => Err(Stop::Hungry),
        }
    }

    /// Whether the rest of a terminator follows its first byte; if not, nothing was read.
    fn ends(&self, cursor: &mut Cursor, terminator: &[u8]) -> Result<bool, Stop> {
        for (read, wanted) in terminator.iter().enumerate().skip(1) {
            let byte = self.next(cursor)?;
            if byte != Some(*wanted) {
                cursor.back.extend(byte);
                cursor.back.extend(terminator[1..read].iter().rev());
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Goes behind what lines begin with; `false` at the end of the file.
    fn find_line_start(&mut self) -> Result<bool, Stop> {
        let mut cursor = self.cursor.clone();
        loop {
            let Some(byte) = self.next(&mut cursor)? else {
                (self.cursor, self.line_ended, self.file_ended) = (cursor, true, true);
                self.before_line = false;
                return Ok(false);
            };
            if self.rules.line_start.first() == Some(&byte) && self.ends(&mut cursor, &self.rules.line_start)? {
                self.cursor = cursor;
                self.before_line = false;
                return Ok(true);
            }
            // What is left out is not looked at again.
            self.cursor.clone_from(&cursor);
        }
    }

    /// The next field of the line.
    pub(crate) fn field(&mut self) -> Result<Found, Stop> {
        if self.line_ended || self.before_line && !self.find_line_start()? {
            self.found_null = false;
            return Ok(Found::Nothing);
        }
        let mut scan = Scan::new(self.cursor.clone(), std::mem::take(&mut self.value));
        let result = scan.run(self);
        self.value = std::mem::take(&mut scan.to);
        if result.is_ok() {
            self.cursor = scan.cursor;
            self.found_null = scan.found_null;
        }
        let end = result?;
        (self.enclosed, self.line_ended, self.file_ended) = match end {
            End::File { .. } => (false, true, true),
            End::Line { enclosed } => (enclosed, true, false),
            End::EnclosedFile => (true, true, false),
            End::Field { enclosed } => (enclosed, false, false),
        };
        if self.enclosed {
            self.value.remove(0);
        }
        Ok(if end == (End::File { has_field: false }) { Found::Nothing } else { Found::Field })
    }

    /// The next line of a file whose fields have fixed lengths.
    pub(crate) fn fixed_line(&mut self) -> Result<Found, Stop> {
        if self.line_ended || self.before_line && !self.find_line_start()? {
            return Ok(Found::Nothing);
        }
        let (mut cursor, mut to) = (self.cursor.clone(), std::mem::take(&mut self.value));
        to.clear();
        let result = self.read_fixed(&mut cursor, &mut to);
        let is_empty = to.is_empty();
        self.value = to;
        let ended = result?;
        self.cursor = cursor;
        if let Some(at_end_of_file) = ended {
            self.line_ended = true;
            self.file_ended |= at_end_of_file;
        }
        Ok(if ended == Some(true) && is_empty { Found::Nothing } else { Found::Field })
    }

    /// `Some` if the line has ended, with whether the file has.
    fn read_fixed(&self, cursor: &mut Cursor, to: &mut Vec<u8>) -> Result<Option<bool>, Stop> {
        let mut found_null = false;
        while to.len() < self.rules.fixed {
            let Some(byte) = self.next(cursor)? else { return Ok(Some(true)) };
            if self.rules.escaped == Some(byte) {
                let Some(escaped) = self.next(cursor)? else {
                    to.push(byte);
                    return Ok(Some(true));
                };
                to.push(unescape(escaped, &mut found_null));
                continue;
            }
            if self.rules.line_end.first() == Some(&byte) && self.ends(cursor, &self.rules.line_end)? {
                return Ok(Some(false));
            }
            to.push(byte);
        }
        Ok(None)
    }

    /// Leaves the line; `true` if it was the last.
    pub(crate) fn next_line(&mut self) -> Result<bool, Stop> {
        if self.line_ended || self.file_ended {
            (self.line_ended, self.cut) = (false, false);
            self.before_line = !self.rules.line_start.is_empty();
            return Ok(self.file_ended);
        }
        if !std::mem::replace(&mut self.leaving, true) {
            self.cut = false;
        }
        let ended = self.rest_of_line()?;
        self.leaving = false;
        self.before_line = !self.rules.line_start.is_empty();
        self.file_ended |= ended;
        Ok(ended)
    }

    fn rest_of_line(&mut self) -> Result<bool, Stop> {
        if self.rules.line_end.is_empty() {
            return Ok(false);
        }
        loop {
            let mut cursor = self.cursor.clone();
            let skipped = self.skip_in_line(&mut cursor)?;
            // What is skipped is not looked at again.
            self.cursor = cursor;
            match skipped {
                Skipped::Line => return Ok(false),
                Skipped::File => return Ok(true),
                Skipped::Escaped { at_end } => {
                    self.cut = true;
                    if at_end {
                        return Ok(true);
                    }
                }
                Skipped::EscapeInChar => {}
                Skipped::Character => self.cut = true,
            }
        }
    }

    fn skip_in_line(&self, cursor: &mut Cursor) -> Result<Skipped, Stop> {
        let Some(mut byte) = self.next(cursor)? else { return Ok(Skipped::File) };
        let length = self.rules.char_length(byte);
        if length > 1 {
            for _ in 1..length {
                let Some(next) = self.next(cursor)? else { return Ok(Skipped::File) };
                byte = next;
            }
            if self.rules.escaped == Some(byte) {
                return Ok(Skipped::EscapeInChar);
            }
        }
        if self.rules.escaped == Some(byte) {
            return Ok(Skipped::Escaped { at_end: self.next(cursor)?.is_none() });
        }
        if self.rules.line_end.first() == Some(&byte) && self.ends(cursor, &self.rules.line_end)? {
            return Ok(Skipped::Line);
        }
        Ok(Skipped::Character)
    }
}

/// What was skipped of a line.
enum Skipped {
    /// Its end.
    Line,
    /// The end of the file.
    File,
    /// An escape, with what it escapes.
    Escaped { at_end: bool },
    /// Bytes that would be a character, the last of which is the escape.
    EscapeInChar,
    /// Anything else.
    Character,
}

/// How a field ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    File {
        has_field: bool,
    },
    Line {
        enclosed: bool,
    },
    Field {
        enclosed: bool,
    },
    /// With its encloser, and the file behind it.
    EnclosedFile,
}

/// One look for a field.
struct Scan {
    cursor: Cursor,
    to: Vec<u8>,
    found_null: bool,
    /// The encloser, in a field that begins with it.
    encloser: Option<u8>,
    /// The first byte of a character was escaped; its other bytes may be as well.
    escaped_char: bool,
}

impl Scan {
    fn new(cursor: Cursor, mut to: Vec<u8>) -> Self {
        to.clear();
        Scan { cursor, to, found_null: false, encloser: None, escaped_char: false }
    }

    fn run(&mut self, fields: &Fields) -> Result<End, Stop> {
        let rules = &fields.rules;
        match fields.next(&mut self.cursor)? {
            None => return Ok(End::File { has_field: false }),
            Some(byte) if rules.enclosed == Some(byte) => {
                self.to.push(byte);
                self.encloser = Some(byte);
            }
            Some(byte) => self.cursor.back.push(byte),
        }
        loop {
            self.take_plain(fields);
            let Some(byte) = fields.next(&mut self.cursor)? else { return Ok(End::File { has_field: true }) };
            if rules.escaped == Some(byte) {
                match fields.next(&mut self.cursor)? {
                    None => {
                        self.to.push(byte);
                        return Ok(End::File { has_field: true });
                    }
                    Some(escaped) if rules.escaped != rules.enclosed || escaped == byte => {
                        self.escape(fields, escaped);
                        continue;
                    }
                    Some(other) => self.cursor.back.push(other),
                }
            }
            let byte = match self.terminator(fields, byte)? {
                Some(Ok(end)) => return Ok(end),
                // A doubled encloser.
                Some(Err(())) => continue,
                None => byte,
            };
            if !self.character(fields, byte)? {
                return Ok(End::File { has_field: true });
            }
        }
    }

    /// Takes what means nothing, many bytes at a time.
    fn take_plain(&mut self, fields: &Fields) {
        if !self.cursor.back.is_empty() {
            return;
        }
        let rest = &fields.buffer[self.cursor.at..];
        let length = rest.iter().position(|byte| fields.special[*byte as usize]).unwrap_or(rest.len());
        self.to.extend_from_slice(&rest[..length]);
        self.cursor.at += length;
    }

    fn escape(&mut self, fields: &Fields, escaped: u8) {
        if fields.rules.char_length(escaped) == 1 {
            self.to.push(unescape(escaped, &mut self.found_null));
        } else {
            self.escaped_char = true;
            self.cursor.back.push(escaped);
        }
    }

    /// Whether a byte, with those behind it, ends the field; `Err` if it was an encloser and its double, which are one.
    fn terminator(&mut self, fields: &Fields, byte: u8) -> Result<Option<Result<End, ()>>, Stop> {
        let rules = &fields.rules;
        let begins = |text: &[u8], byte: u8| text.first() == Some(&byte);
        if self.encloser.is_none() {
            if begins(&rules.line_end, byte) && fields.ends(&mut self.cursor, &rules.line_end)? {
                return Ok(Some(Ok(End::Line { enclosed: false })));
            }
            if begins(&rules.field_end, byte) && fields.ends(&mut self.cursor, &rules.field_end)? {
                return Ok(Some(Ok(End::Field { enclosed: false })));
            }
            return Ok(None);
        }
        if self.encloser != Some(byte) {
            return Ok(None);
        }
        let Some(next) = fields.next(&mut self.cursor)? else { return Ok(Some(Ok(End::EnclosedFile))) };
        if next == byte {
            self.to.push(byte);
            return Ok(Some(Err(())));
        }
        if begins(&rules.line_end, next) && fields.ends(&mut self.cursor, &rules.line_end)? {
            return Ok(Some(Ok(End::Line { enclosed: true })));
        }
        if begins(&rules.field_end, next) && fields.ends(&mut self.cursor, &rules.field_end)? {
            return Ok(Some(Ok(End::Field { enclosed: true })));
        }
        self.cursor.back.push(next);
        Ok(None)
    }

    /// Takes a character; `false` if the file ends in it, which leaves none of it.
    fn character(&mut self, fields: &Fields, byte: u8) -> Result<bool, Stop> {
        let rules = &fields.rules;
        let length = rules.char_length(byte);
        if length == 0 {
            return Err(Stop::Malformed(self.to.clone()));
        }
        if length == 1 {
            self.to.push(byte);
            return Ok(true);
        }
        let start = self.to.len();
        self.to.push(byte);
        for _ in 1..length {
            let Some(mut next) = fields.next(&mut self.cursor)? else {
                self.to.truncate(start);
                return Ok(false);
            };
            if self.escaped_char && rules.escaped == Some(next) {
                next = fields.next(&mut self.cursor)?.map_or(next, |byte| unescape(byte, &mut self.found_null));
            }
            self.to.push(next);
        }
        self.escaped_char = false;
        if std::str::from_utf8(&self.to[start..]).is_err() {
            // Its first byte is taken, the others are looked at by themselves.
            self.cursor.back.extend(self.to.drain(start + 1..).rev());
        }
        Ok(true)
    }
}

/// The byte that an escaped one stands for.
fn unescape(byte: u8, found_null: &mut bool) -> u8 {
    match byte {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'b' => 8,
        b'0' => 0,
        b'Z' => 26,
        b'N' => {
            *found_null = true;
            b'N'
        }
        other => other,
    }
}
