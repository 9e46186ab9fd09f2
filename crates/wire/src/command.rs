//! What a client asks: the first packet of each exchange after the login.

use crate::WireError;
use crate::codec::{Put, Reader};
use crate::flags::com;
use crate::replication::{BinlogDump, RegisterReplica};

/// A command. Texts are bytes in the connection's character set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command<'a> {
    /// Good bye.
    Quit,
    /// Change the default database.
    InitDb(&'a [u8]),
    /// Execute statements, answer in text.
    Query(&'a [u8]),
    /// The columns of a table that match a pattern.
    FieldList {
        /// Of the default database.
        table: &'a [u8],
        /// As LIKE takes it; empty for all.
        wildcard: &'a [u8],
    },
    /// `CREATE DATABASE`.
    CreateDb(&'a [u8]),
    /// `DROP DATABASE`.
    DropDb(&'a [u8]),
    /// `FLUSH`, of what the bits say.
    Refresh(u8),
    /// A line about the server.
    Statistics,
    /// `SHOW PROCESSLIST`.
    ProcessInfo,
    /// `KILL`.
    ProcessKill(u32),
    /// Write something to the server's log.
    Debug,
    /// Are you there?
    Ping,
    /// Log in anew: the body, for [`crate::handshake::Login::decode_change_user`].
    ChangeUser(&'a [u8]),
    /// Forget the session's state, keep the login.
    ResetConnection,
    /// Multi-statements on (0) or off (1).
    SetOption(u16),
    /// Prepare a statement.
    StmtPrepare(&'a [u8]),
    /// Execute a prepared statement.
    StmtExecute(StmtExecute<'a>),
    /// A piece of a parameter's value. Has no answer.
    StmtSendLongData {
        /// The statement.
        id: u32,
        /// Which parameter, from 0.
        param: u16,
        /// The piece.
        data: &'a [u8],
    },
    /// Forget a prepared statement. Has no answer.
    StmtClose(u32),
    /// Forget what was sent ahead for a prepared statement, and its cursor.
    StmtReset(u32),
    /// Rows from a cursor.
    StmtFetch {
        /// The statement.
        id: u32,
        /// At most so many.
        rows: u32,
    },
    /// I am a replica.
    RegisterReplica(RegisterReplica),
    /// Stream your log to me.
    BinlogDump(BinlogDump),
    /// A command that is not known here; its first byte.
    Unknown(u8),
}

/// `COM_STMT_EXECUTE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StmtExecute<'a> {
    /// The statement.
    pub id: u32,
    /// What cursor the client wants; 0 for none.
    pub cursor: u8,
    /// The parameters, for [`crate::params::decode_params`].
    pub params: &'a [u8],
}

impl<'a> Command<'a> {
    /// Reads the packet.
    pub fn decode(packet: &'a [u8]) -> Result<Self, WireError> {
        // As in MySQL, a packet without anything in it is the command that nobody sends.
        let (&first, _) = packet.split_first().unwrap_or((&com::SLEEP, &[]));
        let mut reader = Reader::new(packet.get(1..).unwrap_or_default());
        Ok(match first {
            com::QUIT => Command::Quit,
            com::INIT_DB => Command::InitDb(reader.take_rest()),
            com::QUERY => Command::Query(reader.take_rest()),
            com::FIELD_LIST => Command::FieldList { table: reader.nul_or_rest(), wildcard: reader.take_rest() },
            com::CREATE_DB => Command::CreateDb(reader.take_rest()),
            com::DROP_DB => Command::DropDb(reader.take_rest()),
            com::REFRESH => Command::Refresh(reader.u8("what to refresh")?),
            com::STATISTICS => Command::Statistics,
            com::PROCESS_INFO => Command::ProcessInfo,
            com::PROCESS_KILL => Command::ProcessKill(reader.u32("connection id")?),
            com::DEBUG => Command::Debug,
            com::PING => Command::Ping,
            com::CHANGE_USER => Command::ChangeUser(reader.take_rest()),
            com::RESET_CONNECTION => Command::ResetConnection,
            com::SET_OPTION => Command::SetOption(reader.u16("option")?),
            com::STMT_PREPARE => Command::StmtPrepare(reader.take_rest()),
            com::STMT_EXECUTE => {
                let id = reader.u32("statement id")?;
                let cursor = reader.u8("cursor flags")?;
                reader.u32("iteration count")?;
                Command::StmtExecute(StmtExecute { id, cursor, params: reader.take_rest() })
            }
            com::STMT_SEND_LONG_DATA => Command::StmtSendLongData {
                id: reader.u32("statement id")?,
                param: reader.u16("parameter number")?,
                data: reader.take_rest(),
            },
            com::STMT_CLOSE => Command::StmtClose(reader.u32("statement id")?),
            com::STMT_RESET => Command::StmtReset(reader.u32("statement id")?),
            com::STMT_FETCH => {
                Command::StmtFetch { id: reader.u32("statement id")?, rows: reader.u32("number of rows")? }
            }
            com::REGISTER_REPLICA => Command::RegisterReplica(RegisterReplica::decode(reader.take_rest())?),
            com::BINLOG_DUMP => Command::BinlogDump(BinlogDump::decode(reader.take_rest())?),
            com::BINLOG_DUMP_GTID => Command::BinlogDump(BinlogDump::decode_gtid(reader.take_rest())?),
            unknown => Command::Unknown(unknown),
        })
    }

    /// MySQL's name of the command, as SHOW PROCESSLIST has it.
    pub fn name(&self) -> &'static str {
        match self {
            Command::Quit => "Quit",
            Command::InitDb(_) => "Init DB",
            Command::Query(_) => "Query",
            Command::FieldList { .. } => "Field List",
            Command::CreateDb(_) => "Create DB",
            Command::DropDb(_) => "Drop DB",
            Command::Refresh(_) => "Refresh",
            Command::Statistics => "Statistics",
            Command::ProcessInfo => "Processlist",
            Command::ProcessKill(_) => "Kill",
            Command::Debug => "Debug",
            Command::Ping => "Ping",
            Command::ChangeUser(_) => "Change user",
            Command::ResetConnection => "Reset Connection",
            Command::SetOption(_) => "Set option",
            Command::StmtPrepare(_) => "Prepare",
            Command::StmtExecute(_) => "Execute",
            Command::StmtSendLongData { .. } => "Long Data",
            Command::StmtClose(_) => "Close stmt",
            Command::StmtReset(_) => "Reset stmt",
            Command::StmtFetch { .. } => "Fetch",
            Command::RegisterReplica(_) => "Register Replica",
            Command::BinlogDump(dump) if dump.gtid_set.is_some() => "Binlog Dump GTID",
            Command::BinlogDump(_) => "Binlog Dump",
            Command::Unknown(_) => "Error",
        }
    }
}

/// Appends `COM_QUERY`.
pub fn encode_query(out: &mut Vec<u8>, text: &str) {
    out.push(com::QUERY);
    out.extend_from_slice(text.as_bytes());
}

/// What a server answers to `COM_STMT_PREPARE`, before the definitions of parameters and columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrepareOk {
    /// The statement's number on this connection.
    pub id: u32,
    /// Columns of its result set.
    pub columns: u16,
    /// Its parameters.
    pub params: u16,
    /// Number of warnings.
    pub warnings: u16,
}

impl PrepareOk {
    /// Appends the packet's payload.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.push(crate::reply::OK);
        out.put_u32(self.id);
        out.put_u16(self.columns);
        out.put_u16(self.params);
        out.push(0);
        out.put_u16(self.warnings);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands() {
        assert_eq!(Command::decode(b"\x03SELECT 1"), Ok(Command::Query(b"SELECT 1")));
        assert_eq!(Command::decode(b"\x04t\0%a"), Ok(Command::FieldList { table: b"t", wildcard: b"%a" }));
        assert_eq!(
            Command::decode(&[0x17, 1, 0, 0, 0, 0, 1, 0, 0, 0, 9]),
            Ok(Command::StmtExecute(StmtExecute { id: 1, cursor: 0, params: &[9] }))
        );
        assert_eq!(Command::decode(b"\xfa"), Ok(Command::Unknown(0xfa)));
        assert_eq!(Command::decode(b""), Ok(Command::Unknown(com::SLEEP)));
        assert_eq!(Command::decode(b"\x17\x01"), Err(WireError::Truncated("statement id")));
    }
}
