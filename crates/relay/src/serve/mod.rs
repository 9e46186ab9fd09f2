//! A replica's or tool's connection: login, what is asked before a dump, the dump.
//!
//! One task for each connection. What it sends is taken from the blocks of the log that all share (`crate::store`), so fifty replicas
//! cost as many reads of the disk as one.

mod answer;
pub(crate) mod link;
pub(crate) mod login;
mod semi_sync;
mod start;
mod status;
mod stream;
mod variables;
mod words;

use std::sync::Arc;
use std::time::Duration;

use base::{ConnectionId, SqlError, codes};
use session::Transport;
use session::dump::DumpRequest;
use types::Value;
use types::charset::Charset;
use wire::codec::Put;
use wire::column::Column;
use wire::command::Command;
use wire::flags::{COLLATION_UTF8MB4_GENERAL_CI, column_type, status as flag};
use wire::replication::{BinlogDump, RegisterReplica};
use wire::reply;

use self::answer::{Answer, Rows, answer};
use self::link::{Ended, Link};
use self::stream::Failed;
use crate::relay::Relay;

/// A client that says nothing for so long is given up.
const IDLE_TIME: Duration = Duration::from_secs(28_800);
/// NULL in a row.
const NULL: u8 = 0xfb;
/// So many user variables one client may have.
const VARIABLES_MAX: usize = 100;

/// What a client has said so far.
pub(crate) struct Session {
    pub(crate) id: u32,
    pub(crate) host: String,
    variables: Vec<(String, Value)>,
    replica: Option<RegisterReplica>,
}

impl Session {
    pub(crate) fn variable(&self, name: &str) -> Option<&Value> {
        self.variables.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    pub(crate) fn set(&mut self, name: &str, value: Value) {
        self.variables.retain(|(known, _)| known != name);
        if !value.is_null() && self.variables.len() < VARIABLES_MAX {
            self.variables.push((name.to_owned(), value));
        }
    }
}

/// Serves one client until it goes or the relay ends.
pub(crate) async fn serve(relay: Arc<Relay>, transport: Box<dyn Transport>, id: u32, ending: Arc<link::Ending>) {
    let host = transport.peer().host.clone();
    let mut link = Link::new(transport, relay.store().env().clock.clone(), ending);
    let session = Session { id, host, variables: Vec::new(), replica: None };
    let ended = run(&relay, &mut link, session).await;
    relay.replicas().remove(ConnectionId(id));
    tracing::debug!(id, "connection: {ended}");
}

async fn run(relay: &Arc<Relay>, link: &mut Link, mut session: Session) -> Ended {
    let version = relay.version();
    match login::log_in(link, relay.door(), relay.store().env(), session.id, &version).await {
        Ok(true) => link.logged_in(),
        Ok(false) => return Ended::Quit,
        Err(ended) => return ended,
    }
    loop {
        match command(relay, link, &mut session).await {
            Ok(()) => {}
            Err(Ended::Wire(error)) => {
                link.writer.set_sequence(link.reader.sequence());
                link.write_err(&error.clone().into());
                let _ = link.send().await;
                return Ended::Wire(error);
            }
            Err(ended) => return ended,
        }
    }
}

async fn command(relay: &Arc<Relay>, link: &mut Link, session: &mut Session) -> Result<(), Ended> {
    let packet = link.command(IDLE_TIME).await?;
    let (buffer, packet) = link.reader.detach(packet);
    match Command::decode(&buffer[packet])? {
        Command::Quit => return Err(Ended::Quit),
        Command::Ping => link.write_ok(),
        Command::SetOption(_) => reply::write_eof(&mut link.writer, 0, flag::AUTOCOMMIT),
        Command::ResetConnection => {
            session.variables.clear();
            link.write_ok();
        }
        Command::Statistics => link.writer.payload(relay.statistics().as_bytes()),
        Command::Query(sql) => match answer(relay, session, &String::from_utf8_lossy(sql)).await {
            Ok(Answer::Ok) => link.write_ok(),
            Ok(Answer::Rows(rows)) => write_rows(link, &rows),
            Err(error) => link.write_err(&error),
        },
        Command::RegisterReplica(replica) => {
            relay.replicas().add(ConnectionId(session.id), &replica);
            session.replica = Some(replica);
            link.write_ok();
        }
        Command::BinlogDump(dump) => return self::dump(relay, link, session, dump).await,
        Command::Unknown(_) => link.write_err(&SqlError::new(codes::UNKNOWN_COM_ERROR, "Unknown command")),
        other => {
            let text = format!("A relay has a log and no data; it does not know the command '{}'", other.name());
            link.write_err(&SqlError::new(codes::NOT_SUPPORTED_YET, text));
        }
    }
    link.send().await
}

/// The connection is a stream from here on, and ends with it.
async fn dump(relay: &Arc<Relay>, link: &mut Link, session: &Session, dump: BinlogDump) -> Result<(), Ended> {
    let request = DumpRequest {
        connection: ConnectionId(session.id),
        dump,
        replica: session.replica.clone(),
        variables: session.variables.clone(),
    };
    relay.end_older(&request);
    match stream::run(relay, &request, link).await {
        Ok(()) => reply::write_eof(&mut link.writer, 0, 0),
        Err(Failed::Told(error)) => {
            tracing::info!("dump of connection {} ends: {error}", session.id);
            link.write_err(&error);
        }
        Err(Failed::Gone(ended)) => return Err(ended),
    }
    link.send().await?;
    Err(Ended::Quit)
}

/// A result set of texts.
fn write_rows(link: &mut Link, rows: &Rows) {
    link.writer.packet(|out| out.put_lenenc(rows.columns.len() as u64));
    for name in &rows.columns {
        let column = Column {
            name,
            collation: COLLATION_UTF8MB4_GENERAL_CI,
            length: 1 << 16,
            ty: column_type::VAR_STRING,
            decimals: 31,
            ..Column::default()
        };
        link.writer.packet(|out| column.encode(out, Charset::Utf8Mb4));
    }
    if !link.deprecates_eof() {
        reply::write_eof(&mut link.writer, 0, flag::AUTOCOMMIT);
    }
    for row in &rows.rows {
        link.writer.packet(|out| {
            for value in row {
                match value {
                    None => out.push(NULL),
                    Some(text) => out.put_lenenc_bytes(text.as_bytes()),
                }
            }
        });
    }
    let ok = reply::Ok { status: flag::AUTOCOMMIT, ..reply::Ok::default() };
    reply::write_end_of_rows(&mut link.writer, link.capabilities, &ok);
}
