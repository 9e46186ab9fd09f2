//! The three short answers: OK, ERR, EOF.

use base::SqlError;
use types::charset::Charset;

use crate::codec::{Put, Reader, text};
use crate::flags::{capability, status};
use crate::{PacketWriter, WireError};

/// First byte of OK.
pub const OK: u8 = 0x00;
/// First byte of EOF, and of the OK that ends a result set under `DEPRECATE_EOF`.
pub const EOF: u8 = 0xfe;
/// First byte of ERR.
pub const ERR: u8 = 0xff;
/// First byte of the request to send a local file.
pub const LOCAL_INFILE: u8 = 0xfb;

/// Asks the client for a file. It answers with packets of its bytes and an empty one at the end.
pub fn write_local_infile(out: &mut PacketWriter, name: &[u8]) {
    out.packet(|packet| {
        packet.push(LOCAL_INFILE);
        packet.extend_from_slice(name);
    });
}

/// A statement succeeded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ok<'a> {
    /// Rows changed (or found, by the client's capability).
    pub affected_rows: u64,
    /// The first generated value, or 0.
    pub last_insert_id: u64,
    /// Flags of [`status`].
    pub status: u16,
    /// Number of warnings.
    pub warnings: u16,
    /// For people: "Rows matched: 1  Changed: 1  Warnings: 0".
    pub info: &'a str,
    /// What changed in the session, if that is tracked.
    pub changes: &'a [SessionChange],
}

/// One change of session state, as OK tells it to clients with `SESSION_TRACK`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionChange {
    /// A system variable has a new value.
    SystemVariable(String, String),
    /// The default database is another one.
    Schema(String),
    /// Something of the session is not as in others.
    State,
    /// GTIDs that were committed, or are executed.
    Gtids(String),
}

impl SessionChange {
    fn encode(&self, out: &mut Vec<u8>) {
        let mut data = Vec::new();
        let kind = match self {
            SessionChange::SystemVariable(name, value) => {
                data.put_lenenc_bytes(name.as_bytes());
                data.put_lenenc_bytes(value.as_bytes());
                0
            }
            SessionChange::Schema(name) => {
                data.put_lenenc_bytes(name.as_bytes());
                1
            }
            SessionChange::State => {
                data.push(b'1');
                2
            }
            SessionChange::Gtids(set) => {
                // The form in which they are: as text.
                data.push(0);
                data.put_lenenc_bytes(set.as_bytes());
                3
            }
        };
        out.push(kind);
        out.put_lenenc_bytes(&data);
    }
}

/// Writes an OK.
pub fn write_ok(out: &mut PacketWriter, capabilities: u32, ok: &Ok<'_>) {
    out.packet(|out| encode_ok(out, OK, capabilities, ok));
}

/// Ends a result set: an EOF, or an OK in its place for clients with `DEPRECATE_EOF`.
pub fn write_end_of_rows(out: &mut PacketWriter, capabilities: u32, ok: &Ok<'_>) {
    if capabilities & capability::DEPRECATE_EOF != 0 {
        out.packet(|out| encode_ok(out, EOF, capabilities, ok));
    } else {
        write_eof(out, ok.warnings, ok.status);
    }
}

/// Writes an EOF.
pub fn write_eof(out: &mut PacketWriter, warnings: u16, status: u16) {
    out.packet(|out| {
        out.push(EOF);
        out.put_u16(warnings);
        out.put_u16(status);
    });
}

/// Writes an ERR, its message in a character set.
pub fn write_err(out: &mut PacketWriter, capabilities: u32, error: &SqlError, charset: Charset) {
    // MySQL's clients have 512 bytes for a message.
    const MESSAGE_BYTES_MAX: usize = 511;
    out.packet(|out| {
        out.push(ERR);
        out.put_u16(error.code);
        if capabilities & capability::PROTOCOL_41 != 0 {
            out.push(b'#');
            out.extend_from_slice(&error.sqlstate);
        }
        let cut = error.message.floor_char_boundary(MESSAGE_BYTES_MAX);
        out.extend_from_slice(&charset.encode_lossy(&error.message.as_bytes()[..cut]));
    });
}

fn encode_ok(out: &mut Vec<u8>, first: u8, capabilities: u32, ok: &Ok<'_>) {
    out.push(first);
    out.put_lenenc(ok.affected_rows);
    out.put_lenenc(ok.last_insert_id);
    let tracked = capabilities & capability::SESSION_TRACK != 0;
    let changed = if tracked && !ok.changes.is_empty() { status::SESSION_STATE_CHANGED } else { 0 };
    out.put_u16(ok.status | changed);
    out.put_u16(ok.warnings);
    if !ok.info.is_empty() || changed != 0 {
        out.put_lenenc_bytes(ok.info.as_bytes());
    }
    if changed != 0 {
        let mut changes = Vec::new();
        ok.changes.iter().for_each(|change| change.encode(&mut changes));
        out.put_lenenc_bytes(&changes);
    }
}

/// What a server said about a command, as a client reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// See [`Ok::affected_rows`].
    pub affected_rows: u64,
    /// See [`Ok::last_insert_id`].
    pub last_insert_id: u64,
    /// Flags of [`status`].
    pub status: u16,
    /// Number of warnings.
    pub warnings: u16,
    /// What the server says of the changes, as its bytes are.
    pub info: String,
}

/// Reads OK, EOF or ERR; the latter becomes [`WireError::Refused`].
pub fn read_done(packet: &[u8]) -> Result<Done, WireError> {
    let mut reader = Reader::new(packet);
    match reader.u8("the answer")? {
        ERR => Err(WireError::Refused(read_err(packet)?)),
        EOF if packet.len() < 7 => {
            let warnings = reader.u16("EOF's warnings")?;
            let status = reader.u16("EOF's status")?;
            Ok(Done { affected_rows: 0, last_insert_id: 0, status, warnings, info: String::new() })
        }
        OK | EOF => Ok(Done {
            affected_rows: reader.lenenc("OK's affected rows")?,
            last_insert_id: reader.lenenc("OK's last insert id")?,
            status: reader.u16("OK's status")?,
            warnings: reader.u16("OK's warnings")?,
            info: if reader.rest().is_empty() { String::new() } else { text(reader.lenenc_bytes("OK's text")?) },
        }),
        _ => Err(WireError::Malformed("an answer that is neither OK, EOF nor ERR")),
    }
}

/// Reads an ERR.
pub fn read_err(packet: &[u8]) -> Result<SqlError, WireError> {
    let mut reader = Reader::new(packet);
    if reader.u8("ERR")? != ERR {
        return Err(WireError::Malformed("ERR"));
    }
    let code = reader.u16("ERR's code")?;
    let mut sqlstate = *b"HY000";
    if reader.rest().first() == Some(&b'#') {
        reader.u8("ERR's mark")?;
        sqlstate = reader.array("ERR's SQLSTATE")?;
    }
    Ok(SqlError { code, sqlstate, message: text(reader.take_rest()) })
}

/// Whether a packet of a result set is its end and not a row: a row may begin with 0xfe too, as the first
/// byte of a huge length, but is then longer than any end.
pub fn is_end_of_rows(packet: &[u8]) -> bool {
    packet.first() == Some(&EOF) && packet.len() < crate::frame::FRAME_BYTES_MAX
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::codes;

    #[test]
    fn ok_with_and_without_tracking() {
        let changes = [SessionChange::Schema("test".into())];
        let ok = Ok { affected_rows: 300, status: status::AUTOCOMMIT, info: "hi", changes: &changes, ..Ok::default() };
        let mut out = PacketWriter::new();
        write_ok(&mut out, capability::PROTOCOL_41, &ok);
        assert_eq!(out.bytes()[4..], [0, 0xfc, 0x2c, 1, 0, 2, 0, 0, 0, 2, b'h', b'i']);
        out.sent(0);
        write_ok(&mut out, capability::SESSION_TRACK, &ok);
        assert_eq!(out.bytes()[4..16], [0, 0xfc, 0x2c, 1, 0, 2, 0x40, 0, 0, 2, b'h', b'i']);
        assert_eq!(&out.bytes()[16..], b"\x07\x01\x05\x04test");
    }

    #[test]
    fn err_round_trip() {
        let error = SqlError::new(codes::PARSE_ERROR, "You have an error");
        let mut out = PacketWriter::new();
        write_err(&mut out, capability::PROTOCOL_41, &error, Charset::Utf8Mb4);
        assert_eq!(read_done(&out.bytes()[4..]), Err(WireError::Refused(error)));
    }

    #[test]
    fn a_long_message_is_cut_between_characters() {
        let mut out = PacketWriter::new();
        write_err(&mut out, capability::PROTOCOL_41, &SqlError::unknown("ä".repeat(600)), Charset::Utf8Mb4);
        assert_eq!(read_err(&out.bytes()[4..]).unwrap().message, "ä".repeat(255));
    }
}
