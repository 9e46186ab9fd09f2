//! Where a stored program ends: the semicolons in its body end no statement.
//!
//! Stored programs are not there yet, and an error says so; but a text of several statements has to be cut behind the whole of one.

/// Follows the words of a statement.
#[derive(Debug, Default)]
pub(crate) struct ProgramScan {
    kind: Kind,
    /// Words so far, while it is not known what the statement is.
    words: usize,
    /// Blocks that are open.
    depth: usize,
    last: Last,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Kind {
    /// It begins.
    #[default]
    Unknown,
    /// CREATE came first.
    Create,
    /// It makes a stored program.
    Program,
    /// It is anything else.
    Other,
}

/// What came last, as far as it matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Last {
    /// A statement of the body may begin here.
    Beginning,
    /// THEN or ELSE: a statement, or an expression of CASE.
    Branch,
    /// END, which the next word may tell more of.
    End,
    #[default]
    Other,
}

/// So many words may stand between CREATE and what a stored program is.
const PREFIX_WORDS_MAX: usize = 12;

impl ProgramScan {
    /// Whether a semicolon here belongs to a body.
    pub(crate) fn holds_semicolon(&mut self) -> bool {
        let is_open = self.kind == Kind::Program && self.depth > 0;
        self.last = if is_open { Last::Beginning } else { Last::Other };
        is_open
    }

    /// Something quoted came.
    pub(crate) fn quoted(&mut self) {
        self.last = Last::Other;
    }

    /// A piece of text outside of quotes and comments.
    pub(crate) fn read(&mut self, text: &[u8]) {
        if self.kind == Kind::Other {
            return;
        }
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'@') || *byte >= 0x80;
        let mut parts = text.chunk_by(|a, b| is_word(a) && is_word(b)).peekable();
        while let Some(part) = parts.next() {
            match part.first() {
                Some(first) if is_word(first) => {
                    self.word(part, parts.peek().is_some_and(|next| next.first() == Some(&b'(')));
                }
                // A label, or what stands between a procedure's head and its body.
                Some(b':' | b')') => self.last = Last::Beginning,
                Some(b' ' | b'\t' | b'\n' | b'\r') => {}
                _ => self.last = Last::Other,
            }
        }
    }

    /// A word; `is_call` if a parenthesis touches it.
    fn word(&mut self, word: &[u8], is_call: bool) {
        let is = |known: &str| word.eq_ignore_ascii_case(known.as_bytes());
        let any = |known: &[&str]| known.iter().any(|known| is(known));
        match self.kind {
            Kind::Unknown if is("CREATE") => self.kind = Kind::Create,
            // The version of a comment.
            Kind::Unknown if word.iter().all(u8::is_ascii_digit) => {}
            Kind::Unknown | Kind::Other => self.kind = Kind::Other,
            Kind::Create => {
                self.words += 1;
                if any(&["PROCEDURE", "FUNCTION", "TRIGGER", "EVENT"]) {
                    self.kind = Kind::Program;
                } else if any(&["TABLE", "INDEX", "VIEW", "DATABASE", "SCHEMA", "USER"])
                    || self.words > PREFIX_WORDS_MAX
                {
                    self.kind = Kind::Other;
                }
            }
            Kind::Program => {
                self.last = if any(&["BEGIN", "CASE"]) {
                    // END CASE is one word more, and no other CASE.
                    self.depth += usize::from(self.last != Last::End);
                    if is("BEGIN") { Last::Beginning } else { Last::Other }
                } else if any(&["IF", "LOOP", "REPEAT", "WHILE"]) {
                    let begins = self.last == Last::Beginning || self.last == Last::Branch && !is_call;
                    self.depth += usize::from(begins);
                    if any(&["LOOP", "REPEAT"]) { Last::Beginning } else { Last::Other }
                } else if is("END") {
                    self.depth = self.depth.saturating_sub(1);
                    Last::End
                } else if any(&["THEN", "ELSE"]) {
                    Last::Branch
                } else if any(&["DO", "ROW"]) {
                    Last::Beginning
                } else {
                    Last::Other
                };
            }
        }
    }
}
