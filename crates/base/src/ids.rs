//! Numbers and names that identify things, each a type of its own.

use std::fmt;
use std::str::FromStr;

macro_rules! number {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub $inner);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

number! {
    /// The place of a transaction in log order: dense, one per transaction, never reset. 0 is the empty database.
    CommitNumber(u64)
}
number! {
    /// A page of the data file: the number of its first block, which is its offset divided by the size of a block.
    PageNumber(u64)
}
number! {
    /// A table, for its whole life; never given again.
    TableId(u64)
}
number! {
    /// An index, clustered or secondary, over all tables; never given again. Names its tree and its memtable.
    IndexId(u64)
}
number! {
    /// A client's connection (`CONNECTION_ID()`, the id of `SHOW PROCESSLIST` and `KILL`).
    ConnectionId(u32)
}
number! {
    /// `server_id`: in every event's header.
    ServerId(u32)
}

impl CommitNumber {
    /// The commit number after this one.
    pub fn next(self) -> Self {
        CommitNumber(self.0 + 1)
    }
}

/// A place between two events of the log: sequence number of the file (the digits of its name) and byte offset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LogPosition {
    /// Number of the log file; `binlog.000003` is 3. 0 is before every file.
    pub file: u64,
    /// Offset in the file, in bytes; the first event is at 4.
    pub offset: u64,
}

impl LogPosition {
    /// The position `offset` bytes into file `file`.
    pub fn new(file: u64, offset: u64) -> Self {
        LogPosition { file, offset }
    }
}

impl fmt::Display for LogPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:06}:{}", self.file, self.offset)
    }
}

/// A UUID, in the order of its text form.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uuid(pub [u8; 16]);

impl fmt::Display for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, byte) in self.0.iter().enumerate() {
            if matches!(i, 4 | 6 | 8 | 10) {
                f.write_str("-")?;
            }
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Uuid {
    type Err = String;

    /// Reads `8-4-4-4-12` hexadecimal digits; the dashes may be left out, as MySQL allows.
    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || format!("'{text}' is not a UUID");
        let dashes_are_right = text.len() == 32 || text.match_indices('-').map(|(at, _)| at).eq([8, 13, 18, 23]);
        let digits: Vec<u8> = text.bytes().filter(|&b| b != b'-').collect();
        if digits.len() != 32 || !dashes_are_right {
            return Err(bad());
        }
        let mut uuid = [0; 16];
        for (byte, pair) in uuid.iter_mut().zip(digits.chunks(2)) {
            let nibble = |digit: u8| (digit as char).to_digit(16).ok_or_else(bad);
            *byte = (nibble(pair[0])? << 4 | nibble(pair[1])?) as u8;
        }
        Ok(Uuid(uuid))
    }
}

/// The tag of a GTID (MySQL 8.3 on): at most 32 characters, a letter or `_` and then letters, digits and `_`; letters are small ones.
/// Most GTIDs have none. In the order of its text, none first.
///
/// The text itself, padded with zeros, and not the number of one in a table: whoever may name a GTID may name any tag, so such a
/// table would have to be bounded, and could be filled up by clients that only ask. A [`Gtid`] is 56 bytes so, of which comparing
/// looks at the tag where the servers are the same.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag([u8; Tag::LEN_MAX]);

impl Tag {
    /// The most characters.
    pub const LEN_MAX: usize = 32;
    /// No tag.
    pub const NONE: Tag = Tag([0; Tag::LEN_MAX]);

    /// Reads a tag, capitals as small letters; nothing is [`Tag::NONE`].
    ///
    /// # Errors
    /// When the bytes are no tag.
    pub fn new(text: &[u8]) -> Result<Tag, ParseTagError> {
        let is_good = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'_';
        let mut tag = Tag::NONE;
        let bytes = tag.0.get_mut(..text.len()).ok_or(ParseTagError)?;
        bytes.copy_from_slice(text);
        bytes.make_ascii_lowercase();
        let begins_well = !bytes.first().is_some_and(u8::is_ascii_digit);
        if begins_well && bytes.iter().all(is_good) { Ok(tag) } else { Err(ParseTagError) }
    }

    /// Whether it is no tag.
    pub fn is_none(&self) -> bool {
        self.0[0] == 0
    }

    /// Its text; empty for none.
    pub fn as_str(&self) -> &str {
        let len = self.0.iter().position(|&byte| byte == 0).unwrap_or(Tag::LEN_MAX);
        std::str::from_utf8(&self.0[..len]).expect("made of ASCII alone")
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl FromStr for Tag {
    type Err = ParseTagError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Tag::new(text.as_bytes())
    }
}

/// The text is not the tag of a GTID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseTagError;

/// A global transaction identifier: the server where the transaction was born, a tag if one was chosen, and its number there, which is
/// counted for each tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Gtid {
    /// The source's `server_uuid`.
    pub uuid: Uuid,
    /// Mostly none.
    pub tag: Tag,
    /// From 1.
    pub gno: u64,
}

impl Gtid {
    /// One without a tag.
    pub fn new(uuid: Uuid, gno: u64) -> Self {
        Gtid { uuid, tag: Tag::NONE, gno }
    }
}

impl FromStr for Gtid {
    type Err = ParseGtidError;

    /// `uuid:number` or `uuid:tag:number`; blanks around each are MySQL's.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (uuid, rest) = text.split_once(':').ok_or(ParseGtidError)?;
        let uuid = uuid.trim().parse().map_err(|_| ParseGtidError)?;
        let (tag, gno) = match rest.split_once(':') {
            Some((tag, gno)) => (tag.trim().parse().map_err(|_| ParseGtidError)?, gno),
            None => (Tag::NONE, rest),
        };
        let gno = gno.trim().parse().map_err(|_| ParseGtidError)?;
        let is_number = (1..i64::MAX as u64).contains(&gno);
        // `uuid::number` is none.
        let is_whole = tag.is_none() != rest.contains(':');
        if is_number && is_whole { Ok(Gtid { uuid, tag, gno }) } else { Err(ParseGtidError) }
    }
}

/// The text is not a GTID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseGtidError;

impl fmt::Display for Gtid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.tag.is_none() {
            write!(f, "{}:{}", self.uuid, self.gno)
        } else {
            write!(f, "{}:{}:{}", self.uuid, self.tag, self.gno)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uuid_round_trip() {
        let text = "3e11fa47-71ca-11e1-9e33-c80aa9429562";
        let uuid: Uuid = text.parse().unwrap();
        assert_eq!(uuid.to_string(), text);
        assert_eq!(text.replace('-', "").parse(), Ok(uuid));
        assert!("3e11fa4771ca-11e1-9e33-c80aa9429562".parse::<Uuid>().is_err());
        assert!("3e11fa47-71ca-11e1-9e33-c80aa942956g".parse::<Uuid>().is_err());
    }

    #[test]
    fn positions_are_ordered_by_file_first() {
        assert!(LogPosition::new(2, 4) > LogPosition::new(1, 900));
        assert_eq!(LogPosition::new(2, 4).to_string(), "000002:4");
    }

    #[test]
    fn tags() {
        let longest = "a_tag_that_is_as_long_as_it_can_";
        for (text, tag) in [("", ""), ("x", "x"), ("_", "_"), ("Tag_1", "tag_1"), (longest, longest)] {
            assert_eq!(text.parse::<Tag>().unwrap().as_str(), tag);
        }
        for bad in ["1", "a-b", "a b", "\u{e4}", "a\0", "\0", &format!("{longest}x")] {
            assert_eq!(bad.parse::<Tag>(), Err(ParseTagError), "{bad:?}");
        }
        let mut sorted: Vec<Tag> = ["b", "ab", "", "a", "a_", "a1"].map(|tag| tag.parse().unwrap()).to_vec();
        sorted.sort_unstable();
        let texts: Vec<&str> = sorted.iter().map(Tag::as_str).collect();
        assert_eq!(texts, ["", "a", "a1", "a_", "ab", "b"], "in the order of their bytes");
        assert!(Tag::NONE.is_none() && Tag::default().is_none() && !sorted[1].is_none());
    }

    #[test]
    fn gtids() {
        let uuid = "3e11fa47-71ca-11e1-9e33-c80aa9429562";
        for (text, shown) in [(":23", ":23"), (" : 23 ", ":23"), (":Blue:7", ":blue:7"), (": blue : 7", ":blue:7")] {
            assert_eq!(format!("{uuid}{text}").parse::<Gtid>().unwrap().to_string(), format!("{uuid}{shown}"));
        }
        for bad in
            ["", ":", ":0", "::1", ":blue", ":blue:", ":blue:0", ":a:b:1", ":7:1", ":1:blue", ":9223372036854775807"]
        {
            assert_eq!(format!("{uuid}{bad}").parse::<Gtid>(), Err(ParseGtidError), "{bad}");
        }
        assert!(size_of::<Gtid>() <= 56, "they are copied about");
    }
}
