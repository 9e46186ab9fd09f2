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

/// A global transaction identifier: the server where the transaction was born, and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Gtid {
    /// The source's `server_uuid`.
    pub uuid: Uuid,
    /// From 1.
    pub gno: u64,
}

impl FromStr for Gtid {
    type Err = ParseGtidError;

    /// `uuid:number`; blanks around both are MySQL's.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (uuid, gno) = text.split_once(':').ok_or(ParseGtidError)?;
        let uuid = uuid.trim().parse().map_err(|_| ParseGtidError)?;
        let gno = gno.trim().parse().map_err(|_| ParseGtidError)?;
        if gno == 0 || gno >= i64::MAX as u64 { Err(ParseGtidError) } else { Ok(Gtid { uuid, gno }) }
    }
}

/// The text is not a GTID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseGtidError;

impl fmt::Display for Gtid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.uuid, self.gno)
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
}
