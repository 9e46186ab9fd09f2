//! A text as XML, in MySQL's reading of it: elements, attributes, and the texts of both.
//!
//! It is more generous than XML is: there may be several elements at the top and text beside them, an attribute may have no value, and the name at an
//! element's end is compared by its length alone.

use std::ops::Range;

use base::{SqlError, memory};

/// As many elements and attributes may be in one another.
pub(super) const DEPTH_MAX: usize = 254;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodeKind {
    /// What all is in.
    Root,
    Element,
    Attribute,
    Text,
}

/// A node. Places are those in the text.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) kind: NodeKind,
    pub(super) parent: u32,
    /// The first node that is not in it.
    pub(super) after: u32,
    /// Where its name begins and ends, or the text that it is.
    span: (u32, u32),
    /// Where its end begins to end: behind the name there.
    tag_end: u32,
}

impl Node {
    pub(super) fn begin(&self) -> usize {
        self.span.0 as usize
    }

    pub(super) fn tag_end(&self) -> usize {
        self.tag_end as usize
    }
}

/// The nodes in the order in which they begin. The first is the root.
#[derive(Debug)]
pub(super) struct Document<'t> {
    text: &'t [u8],
    nodes: Vec<Node>,
}

impl<'t> Document<'t> {
    /// The document, or what is wrong with the text.
    ///
    /// # Errors
    /// 4082 beyond the session's memory.
    pub(super) fn read(text: &'t [u8]) -> Result<Result<Self, String>, SqlError> {
        let root = Node { kind: NodeKind::Root, parent: 0, after: 0, span: (0, 0), tag_end: 0 };
        let mut reader = Reader { text, at: 0, nodes: vec![root], open: 0, depth: 0 };
        match reader.read() {
            Ok(()) => {
                reader.nodes[0].after = reader.nodes.len() as u32;
                Ok(Ok(Document { text, nodes: reader.nodes }))
            }
            Err(Failure::Memory(error)) => Err(error),
            Err(Failure::Wrong(message)) => {
                let before = &text[..reader.at];
                let newline = before.iter().rposition(|byte| *byte == b'\n');
                let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
                let place = reader.at - newline.unwrap_or(0) + 1;
                Ok(Err(format!("parse error at line {line} pos {place}: {message}")))
            }
        }
    }

    pub(super) fn node(&self, number: u32) -> &Node {
        &self.nodes[number as usize]
    }

    /// A node's name or text.
    pub(super) fn text_of(&self, number: u32) -> &'t [u8] {
        let (begin, end) = self.node(number).span;
        &self.text[begin as usize..end as usize]
    }

    /// What is in a node, one level deep.
    pub(super) fn children(&self, number: u32) -> impl Iterator<Item = u32> {
        let end = self.node(number).after;
        let first = Some(number + 1).filter(|first| *first < end);
        std::iter::successors(first, move |child| Some(self.node(*child).after).filter(|next| *next < end))
    }
}

enum Failure {
    Wrong(String),
    Memory(SqlError),
}

impl From<SqlError> for Failure {
    fn from(error: SqlError) -> Self {
        Failure::Memory(error)
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    End,
    Ident(Range<usize>),
    Quoted(Range<usize>),
    Sign(u8),
    Comment,
    Cdata(Range<usize>),
    Unknown,
}

impl Token {
    fn name(&self) -> String {
        match self {
            Token::End => "END-OF-INPUT".to_owned(),
            Token::Ident(_) => "IDENT".to_owned(),
            Token::Quoted(_) => "STRING".to_owned(),
            Token::Sign(sign) => format!("'{}'", char::from(*sign)),
            Token::Comment => "COMMENT".to_owned(),
            Token::Cdata(_) => "CDATA".to_owned(),
            Token::Unknown => "unknown token".to_owned(),
        }
    }

    fn is(&self, sign: u8) -> bool {
        *self == Token::Sign(sign)
    }

    /// It is not what is wanted.
    fn unexpected(&self, wanted: &str) -> Failure {
        Failure::Wrong(format!("{} unexpected ({wanted} wanted)", self.name()))
    }
}

struct Reader<'t> {
    text: &'t [u8],
    at: usize,
    nodes: Vec<Node>,
    /// The innermost node that has not ended.
    open: u32,
    depth: usize,
}

fn begins_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'_' | b':' | 0x80..)
}

fn is_in_name(byte: u8) -> bool {
    begins_name(byte) || byte.is_ascii_digit() || matches!(byte, b'-' | b'.')
}

impl Reader<'_> {
    fn read(&mut self) -> Result<(), Failure> {
        while self.at < self.text.len() {
            if self.text[self.at] == b'<' {
                self.tag()?;
                continue;
            }
            let begin = self.at;
            self.at = self.find_from(begin, b"<");
            self.value(begin..self.at)?;
        }
        if self.open == 0 { Ok(()) } else { Err(Failure::Wrong("unexpected END-OF-INPUT".to_owned())) }
    }

    /// Where a text comes next; the end if it does not.
    fn find_from(&self, from: usize, what: &[u8]) -> usize {
        memchr::memmem::find(&self.text[from..], what).map_or(self.text.len(), |found| from + found)
    }

    fn token(&mut self) -> Token {
        let space = self.text[self.at..].iter().take_while(|byte| b" \t\r\n".contains(byte)).count();
        self.at += space;
        let (begin, rest) = (self.at, &self.text[self.at..]);
        let Some(&first) = rest.first() else { return Token::End };
        if rest.starts_with(b"<!--") {
            self.at = (self.find_from(begin, b"-->") + 3).min(self.text.len());
            return Token::Comment;
        }
        if rest.starts_with(b"<![CDATA[") {
            let end = self.find_from(begin, b"]]>");
            self.at = (end + 3).min(self.text.len());
            return Token::Cdata(begin + 9..end.max(begin + 9));
        }
        match first {
            b'?' | b'=' | b'/' | b'<' | b'>' | b'!' => {
                self.at += 1;
                Token::Sign(first)
            }
            b'"' | b'\'' => {
                let end = self.find_from(begin + 1, &[first]);
                self.at = (end + 1).min(self.text.len());
                Token::Quoted(begin + 1..end)
            }
            _ if begins_name(first) => {
                self.at += rest.iter().take_while(|byte| is_in_name(**byte)).count();
                Token::Ident(begin..self.at)
            }
            _ => Token::Unknown,
        }
    }

    /// What begins with `<`.
    fn tag(&mut self) -> Result<(), Failure> {
        match self.token() {
            Token::Comment => return Ok(()),
            Token::Cdata(text) => return self.value(text),
            _ => {}
        }
        let mut token = self.token();
        if token.is(b'/') {
            let Token::Ident(name) = self.token_or("ident", |token| matches!(token, Token::Ident(_)))? else {
                return Ok(());
            };
            self.leave(Some(name))?;
            token = self.token();
            return if token.is(b'>') { Ok(()) } else { Err(token.unexpected("'>'")) };
        }
        let (is_declaration, is_instruction) = (token.is(b'!'), token.is(b'?'));
        if is_declaration || is_instruction {
            token = self.token();
        }
        let Token::Ident(name) = token else { return Err(token.unexpected("ident or '/'")) };
        self.enter(NodeKind::Element, name)?;
        token = self.attributes(is_declaration)?;
        if token.is(b'/') && !is_declaration {
            self.leave(None)?;
            token = self.token();
        }
        if is_instruction {
            if !token.is(b'?') {
                return Err(token.unexpected("'?'"));
            }
            self.leave(None)?;
            token = self.token();
        }
        if is_declaration {
            self.leave(None)?;
        }
        if token.is(b'>') { Ok(()) } else { Err(token.unexpected("'>'")) }
    }

    fn token_or(&mut self, wanted: &str, is_it: impl Fn(&Token) -> bool) -> Result<Token, Failure> {
        let token = self.token();
        if is_it(&token) { Ok(token) } else { Err(token.unexpected(wanted)) }
    }

    /// Attributes, and the token that is none.
    fn attributes(&mut self, is_declaration: bool) -> Result<Token, Failure> {
        loop {
            let name = match self.token() {
                Token::Ident(name) => name,
                Token::Quoted(text) if is_declaration => text,
                other => return Ok(other),
            };
            match self.token() {
                Token::Sign(b'=') => {
                    let is_value = |token: &Token| matches!(token, Token::Ident(_) | Token::Quoted(_));
                    let value = self.token_or("ident or string", is_value)?;
                    self.enter(NodeKind::Attribute, name)?;
                    if let Token::Ident(value) | Token::Quoted(value) = value {
                        self.value(value)?;
                    }
                    self.leave(None)?;
                }
                Token::Ident(_) => {
                    self.enter(NodeKind::Attribute, name)?;
                    self.leave(None)?;
                }
                Token::Quoted(_) if is_declaration => {}
                other => return Ok(other),
            }
        }
    }

    fn push(&mut self, kind: NodeKind, span: Range<usize>) -> Result<u32, Failure> {
        memory::check_room(&self.nodes, 1)?;
        let number = self.nodes.len() as u32;
        let span = (span.start as u32, span.end as u32);
        self.nodes.push(Node { kind, parent: self.open, after: number + 1, span, tag_end: span.1 });
        Ok(number)
    }

    fn value(&mut self, text: Range<usize>) -> Result<(), Failure> {
        self.push(NodeKind::Text, text).map(|_| ())
    }

    fn enter(&mut self, kind: NodeKind, name: Range<usize>) -> Result<(), Failure> {
        if self.depth == DEPTH_MAX {
            return Err(Failure::Wrong(String::new()));
        }
        self.open = self.push(kind, name)?;
        self.depth += 1;
        Ok(())
    }

    fn leave(&mut self, name: Option<Range<usize>>) -> Result<(), Failure> {
        let open = &self.nodes[self.open as usize];
        if let Some(name) = name {
            let shown = |range: Range<usize>| {
                const SHOWN: usize = 31;
                let bytes = &self.text[range];
                String::from_utf8_lossy(&bytes[..bytes.len().min(SHOWN)]).into_owned()
            };
            let (begin, end) = (open.span.0 as usize, open.span.1 as usize);
            if self.open == 0 {
                return Err(Failure::Wrong(format!("'</{}>' unexpected (END-OF-INPUT wanted)", shown(name))));
            }
            if name.len() != end - begin {
                // MySQL leaves the first character of a name at the top out.
                let wanted = shown(begin + usize::from(open.parent == 0)..end);
                return Err(Failure::Wrong(format!("'</{}>' unexpected ('</{wanted}>' wanted)", shown(name))));
            }
        }
        let after = self.nodes.len() as u32;
        let node = &mut self.nodes[self.open as usize];
        (node.after, node.tag_end) = (after, self.at as u32);
        self.open = node.parent;
        self.depth = self.depth.saturating_sub(1);
        Ok(())
    }
}
