//! Text as a document: what MySQL takes for JSON, with its words for what it does not.

use base::SqlError;
use base::memory;

use super::{DEPTH_MAX, Json, Object};

/// Why text is no document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// 3140, 3141
    #[error("\"{what}\" at position {position}.")]
    Invalid {
        /// In MySQL's words.
        what: &'static str,
        /// Bytes before it.
        position: usize,
    },
    /// 3157
    #[error("The JSON document exceeds the maximum depth.")]
    TooDeep,
    /// Its tree is larger than the connection may have: see [`base::memory`].
    #[error(transparent)]
    Memory(#[from] SqlError),
}

type Parsed<T> = Result<T, ParseError>;

/// The document that a text is.
///
/// # Errors
/// If it is none, or too deep.
pub fn parse(text: &str) -> Parsed<Json> {
    let mut parser = Parser { text: text.as_bytes(), at: 0 };
    parser.skip_blanks();
    if parser.peek().is_none() {
        return parser.fail("The document is empty.");
    }
    let json = parser.value(0)?;
    parser.skip_blanks();
    match parser.peek() {
        Some(_) => parser.fail("The document root must not be followed by other values."),
        None => Ok(json),
    }
}

/// The text of a JSON string at the front of `text` (with its quotes), and its length there.
pub fn parse_prefix_of_literal(text: &str) -> Option<(String, usize)> {
    let mut parser = Parser { text: text.as_bytes(), at: 0 };
    let string = parser.string().ok()?;
    Some((string, parser.at))
}

struct Parser<'t> {
    text: &'t [u8],
    at: usize,
}

fn is_digit(byte: Option<u8>) -> bool {
    byte.is_some_and(|byte| byte.is_ascii_digit())
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn accept(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn fail<T>(&self, what: &'static str) -> Parsed<T> {
        Err(ParseError::Invalid { what, position: self.at })
    }

    fn fail_at<T>(&self, what: &'static str, position: usize) -> Parsed<T> {
        Err(ParseError::Invalid { what, position })
    }

    fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    fn value(&mut self, depth: usize) -> Parsed<Json> {
        match self.peek() {
            Some(b'n') => self.word("null", Json::Null),
            Some(b't') => self.word("true", Json::Bool(true)),
            Some(b'f') => self.word("false", Json::Bool(false)),
            Some(b'"') => self.string().map(Json::String),
            Some(b'[' | b'{') if depth >= DEPTH_MAX => Err(ParseError::TooDeep),
            Some(b'[') => self.array(depth + 1),
            Some(b'{') => self.object(depth + 1),
            _ => self.number(),
        }
    }

    fn word(&mut self, word: &str, value: Json) -> Parsed<Json> {
        for byte in word.bytes() {
            if !self.accept(byte) {
                return self.fail("Invalid value.");
            }
        }
        Ok(value)
    }

    fn array(&mut self, depth: usize) -> Parsed<Json> {
        self.at += 1;
        let mut elements = Vec::new();
        self.skip_blanks();
        if self.accept(b']') {
            return Ok(Json::Array(elements));
        }
        loop {
            memory::check_room(&elements, 1)?;
            elements.push(self.value(depth)?);
            self.skip_blanks();
            if self.accept(b']') {
                return Ok(Json::Array(elements));
            }
            if !self.accept(b',') {
                return self.fail("Missing a comma or ']' after an array element.");
            }
            self.skip_blanks();
        }
    }

    fn object(&mut self, depth: usize) -> Parsed<Json> {
        self.at += 1;
        let mut members = Vec::new();
        self.skip_blanks();
        if self.accept(b'}') {
            return Ok(Json::Object(Object::default()));
        }
        loop {
            if self.peek() != Some(b'"') {
                return self.fail("Missing a name for object member.");
            }
            memory::check_room(&members, 1)?;
            let key = self.string()?;
            self.skip_blanks();
            if !self.accept(b':') {
                return self.fail("Missing a colon after a name of object member.");
            }
            self.skip_blanks();
            members.push((key, self.value(depth)?));
            self.skip_blanks();
            if self.accept(b'}') {
                return Ok(Json::Object(Object::from_members(members)));
            }
            if !self.accept(b',') {
                return self.fail("Missing a comma or '}' after an object member.");
            }
            self.skip_blanks();
        }
    }

    fn string(&mut self) -> Parsed<String> {
        self.at += 1;
        let mut out = Vec::new();
        loop {
            match self.peek() {
                None => return self.fail("Missing a closing quotation mark in string."),
                Some(b'"') => {
                    self.at += 1;
                    break;
                }
                Some(b'\\') => self.escape(&mut out)?,
                Some(0) => return self.fail("Missing a closing quotation mark in string."),
                Some(..0x20) => return self.fail("Invalid encoding in string."),
                Some(byte) => {
                    out.push(byte);
                    self.at += 1;
                }
            }
        }
        // The text was UTF-8, and escapes add whole characters.
        Ok(String::from_utf8(out).unwrap_or_default())
    }

    fn escape(&mut self, out: &mut Vec<u8>) -> Parsed<()> {
        let start = self.at;
        self.at += 1;
        let plain = match self.peek() {
            Some(byte @ (b'"' | b'\\' | b'/')) => byte,
            Some(b'b') => 8,
            Some(b'f') => 12,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'u') => {
                self.at += 1;
                let c = self.code_point(start)?;
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                return Ok(());
            }
            _ => return self.fail_at("Invalid escape character in string.", start),
        };
        self.at += 1;
        out.push(plain);
        Ok(())
    }

    fn code_point(&mut self, start: usize) -> Parsed<char> {
        const WRONG_PAIR: &str = "The surrogate pair in string is invalid.";
        let first = self.four_digits(start)?;
        let code = match first {
            0xd800..=0xdbff => {
                if !(self.accept(b'\\') && self.accept(b'u')) {
                    return self.fail_at(WRONG_PAIR, start);
                }
                let second = self.four_digits(start)?;
                if !(0xdc00..=0xdfff).contains(&second) {
                    return self.fail_at(WRONG_PAIR, start);
                }
                0x10000 + ((first - 0xd800) << 10 | (second - 0xdc00))
            }
            code => code,
        };
        char::from_u32(code).map_or_else(|| self.fail_at(WRONG_PAIR, start), Ok)
    }

    fn four_digits(&mut self, start: usize) -> Parsed<u32> {
        let mut code = 0;
        for _ in 0..4 {
            let Some(digit) = self.peek().and_then(|byte| char::from(byte).to_digit(16)) else {
                return self.fail_at("Incorrect hex digit after \\u escape in string.", start);
            };
            code = code << 4 | digit;
            self.at += 1;
        }
        Ok(code)
    }

    fn digits(&mut self) {
        while is_digit(self.peek()) {
            self.at += 1;
        }
    }

    fn number(&mut self) -> Parsed<Json> {
        let start = self.at;
        self.accept(b'-');
        if !is_digit(self.peek()) {
            return self.fail("Invalid value.");
        }
        if !self.accept(b'0') {
            self.digits();
        }
        let mut is_whole = true;
        if self.accept(b'.') {
            is_whole = false;
            if !is_digit(self.peek()) {
                return self.fail("Miss fraction part in number.");
            }
            self.digits();
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            is_whole = false;
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            if !is_digit(self.peek()) {
                return self.fail("Miss exponent in number.");
            }
            self.digits();
        }
        // Only ASCII was passed.
        let text = std::str::from_utf8(&self.text[start..self.at]).unwrap_or_default();
        if is_whole && let Some(integer) = integer(text) {
            return Ok(integer);
        }
        match text.parse::<f64>() {
            Ok(n) if n.is_finite() => Ok(Json::Double(n)),
            _ => self.fail_at("Number too big to be stored in double.", start),
        }
    }
}

/// A positive number of more than 32 bits is unsigned, as the library that MySQL reads JSON with has it.
fn integer(text: &str) -> Option<Json> {
    if let Ok(n) = text.parse::<i64>() {
        return Some(if n > i64::from(u32::MAX) { Json::UInt(n as u64) } else { Json::Int(n) });
    }
    text.parse::<u64>().ok().map(Json::UInt)
}
