//! What a replica sends before a source streams its log, and the stream's packets.

use crate::WireError;
use crate::codec::{Put, Reader, text};
use crate::flags::com;

/// Flag of a dump: end with EOF at the log's end instead of waiting for more.
pub const DUMP_NON_BLOCK: u16 = 1;
/// Flag of a dump from a MySQL client: heartbeats may be of version 2.
pub const DUMP_HEARTBEAT_V2: u16 = 1 << 1;

/// `COM_REGISTER_SLAVE`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegisterReplica {
    /// The replica's `server_id`.
    pub server_id: u32,
    /// As the replica wants to be listed; may be empty.
    pub host: String,
    /// As the replica wants to be listed.
    pub user: String,
    /// As the replica wants to be listed.
    pub port: u16,
}

impl RegisterReplica {
    /// Reads what follows the command byte.
    pub fn decode(body: &[u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(body);
        let server_id = reader.u32("server id")?;
        let host = text(reader.short_bytes("host")?);
        let user = text(reader.short_bytes("user")?);
        reader.short_bytes("password")?;
        let port = reader.u16("port")?;
        Ok(RegisterReplica { server_id, host, user, port })
    }

    /// Appends the command.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let short = |out: &mut Vec<u8>, text: &str| {
            let cut = &text.as_bytes()[..text.floor_char_boundary(255)];
            out.push(cut.len() as u8);
            out.extend_from_slice(cut);
        };
        out.push(com::REGISTER_REPLICA);
        out.put_u32(self.server_id);
        short(out, &self.host);
        short(out, &self.user);
        short(out, "");
        out.put_u16(self.port);
        out.put_u32(0);
        out.put_u32(0);
    }
}

/// `COM_BINLOG_DUMP` and `COM_BINLOG_DUMP_GTID`: stream your log to me.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BinlogDump {
    /// [`DUMP_NON_BLOCK`], [`DUMP_HEARTBEAT_V2`].
    pub flags: u16,
    /// The replica's `server_id`.
    pub server_id: u32,
    /// Begin in this file; empty for the first (or, with GTIDs, for the one that has the first missing transaction).
    pub file: String,
    /// Begin at this offset.
    pub position: u64,
    /// The transactions that the replica has, as `PREVIOUS_GTIDS` writes sets; `None` without GTIDs.
    pub gtid_set: Option<Vec<u8>>,
}

impl BinlogDump {
    /// Reads what follows the command byte of `COM_BINLOG_DUMP`.
    pub fn decode(body: &[u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(body);
        Ok(BinlogDump {
            position: u64::from(reader.u32("position")?),
            flags: reader.u16("flags")?,
            server_id: reader.u32("server id")?,
            file: text(reader.take_rest()).trim_end_matches('\0').to_owned(),
            gtid_set: None,
        })
    }

    /// Reads what follows the command byte of `COM_BINLOG_DUMP_GTID`.
    pub fn decode_gtid(body: &[u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(body);
        let flags = reader.u16("flags")?;
        let server_id = reader.u32("server id")?;
        let name_len = reader.u32("length of the file name")? as usize;
        let file = text(reader.bytes(name_len, "file name")?).trim_end_matches('\0').to_owned();
        let position = reader.u64("position")?;
        let set_len = reader.u32("length of the GTID set")? as usize;
        let gtid_set = Some(reader.bytes(set_len, "GTID set")?.to_vec());
        Ok(BinlogDump { flags, server_id, file, position, gtid_set })
    }

    /// Appends the command: with GTIDs if there is a set, else without.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match &self.gtid_set {
            Some(set) => {
                out.push(com::BINLOG_DUMP_GTID);
                out.put_u16(self.flags);
                out.put_u32(self.server_id);
                out.put_u32(self.file.len() as u32);
                out.extend_from_slice(self.file.as_bytes());
                out.put_u64(self.position);
                out.put_u32(set.len() as u32);
                out.extend_from_slice(set);
            }
            None => {
                out.push(com::BINLOG_DUMP);
                out.put_u32(self.position.min(u64::from(u32::MAX)) as u32);
                out.put_u16(self.flags);
                out.put_u32(self.server_id);
                out.extend_from_slice(self.file.as_bytes());
            }
        }
    }
}

/// First byte of a packet with an event.
pub const EVENT: u8 = 0x00;
/// Second byte of a packet with an event under semi-synchronous replication, and first byte of its acknowledgement.
pub const SEMI_SYNC: u8 = 0xef;

/// A packet of the stream, as a replica reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamPacket<'a> {
    /// One event.
    Event(&'a [u8]),
    /// The source has no more (only where the replica asked not to wait).
    End,
}

/// Reads what is in front of an event under semi-synchronous replication: whether it is to be acknowledged; then the event.
pub fn decode_semi_sync(packet: &[u8]) -> Result<(bool, &[u8]), WireError> {
    match packet {
        [SEMI_SYNC, asks @ (0 | 1), event @ ..] => Ok((*asks == 1, event)),
        _ => Err(WireError::Malformed("the header of an event under semi-synchronous replication")),
    }
}

/// A replica's acknowledgement: it has synced everything up to here.
///
/// ```text
/// 0xef | position: u64 | name of the file: the rest
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SemiSyncAck {
    /// Behind the event that asked for it; in full, although events give it modulo 4 GiB.
    pub position: u64,
    /// In the source's log.
    pub file: String,
}

impl SemiSyncAck {
    /// Reads the whole packet.
    pub fn decode(packet: &[u8]) -> Result<Self, WireError> {
        let malformed = || WireError::Malformed("an acknowledgement of semi-synchronous replication");
        let (magic, rest) = packet.split_first().ok_or_else(malformed)?;
        let (position, file) = rest.split_first_chunk::<8>().ok_or_else(malformed)?;
        if *magic != SEMI_SYNC || file.is_empty() {
            return Err(malformed());
        }
        let file = file.strip_suffix(&[0]).unwrap_or(file);
        Ok(SemiSyncAck { position: u64::from_le_bytes(*position), file: crate::codec::text(file) })
    }

    /// Appends the whole packet.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.push(SEMI_SYNC);
        out.extend_from_slice(&self.position.to_le_bytes());
        out.extend_from_slice(self.file.as_bytes());
    }
}

/// Reads a packet of the stream; the source's error becomes [`WireError::Refused`].
pub fn decode_stream(packet: &[u8]) -> Result<StreamPacket<'_>, WireError> {
    match packet.split_first() {
        Some((&EVENT, event)) => Ok(StreamPacket::Event(event)),
        Some((&crate::reply::EOF, rest)) if rest.len() < 8 => Ok(StreamPacket::End),
        Some((&crate::reply::ERR, _)) => Err(WireError::Refused(crate::reply::read_err(packet)?)),
        _ => Err(WireError::Malformed("a packet of a replication stream")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn register_round_trip() {
        let register = RegisterReplica { server_id: 7, host: "h".into(), user: "u".into(), port: 3307 };
        let mut packet = Vec::new();
        register.encode(&mut packet);
        assert_eq!(packet[0], com::REGISTER_REPLICA);
        assert_eq!(RegisterReplica::decode(&packet[1..]), Ok(register));
    }

    #[test]
    fn dump_round_trips() {
        let plain = BinlogDump { flags: 1, server_id: 7, file: "binlog.000002".into(), position: 4, gtid_set: None };
        let mut packet = Vec::new();
        plain.encode(&mut packet);
        assert_eq!(BinlogDump::decode(&packet[1..]), Ok(plain.clone()));
        let gtid = BinlogDump { gtid_set: Some(vec![0; 8]), ..plain };
        packet.clear();
        gtid.encode(&mut packet);
        assert_eq!(BinlogDump::decode_gtid(&packet[1..]), Ok(gtid));
    }

    #[test]
    fn acknowledgements() {
        let ack = SemiSyncAck { position: 1 << 33, file: "binlog.000002".into() };
        let mut packet = Vec::new();
        ack.encode(&mut packet);
        assert_eq!(SemiSyncAck::decode(&packet), Ok(ack));
        assert!(SemiSyncAck::decode(&packet[..9]).is_err());
        assert!(SemiSyncAck::decode(&[0; 20]).is_err());
        assert_eq!(decode_semi_sync(&[SEMI_SYNC, 1, 7]), Ok((true, &[7u8][..])));
        assert!(decode_semi_sync(&[SEMI_SYNC, 2, 7]).is_err());
    }

    #[test]
    fn a_set_that_is_only_announced() {
        let mut packet = Vec::new();
        BinlogDump { gtid_set: Some(Vec::new()), ..BinlogDump::default() }.encode(&mut packet);
        let len = packet.len();
        packet[len - 4..].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(BinlogDump::decode_gtid(&packet[1..]), Err(WireError::Truncated("GTID set")));
    }
}
