//! The seam to replication: a connection that becomes a stream of log events.
//!
//! What is streamed is decided by the [`DumpService`] (crate `repl`); the connection only lends it the stream.

use base::{SqlError, codes};
use io::BoxFuture;
use sql::account::Privilege;
use types::Value;
use wire::replication::{self, BinlogDump, RegisterReplica};
use wire::reply;

use crate::connection::{Connection, Next};
use crate::link::{Ended, Link};

/// Serves replicas.
pub trait DumpService: Send + Sync {
    /// A replica said who it is; `None` when its connection has ended.
    fn registered(&self, connection: base::ConnectionId, replica: Option<&RegisterReplica>);

    /// Streams the log until it ends (for those who do not want to wait), the client goes, or an error.
    fn dump<'a>(&'a self, request: DumpRequest, stream: &'a mut dyn EventStream)
    -> BoxFuture<'a, Result<(), SqlError>>;
}

/// What a replica asks for, and what it told about itself before.
#[derive(Clone, Debug, Default)]
pub struct DumpRequest {
    /// The connection's number.
    pub connection: base::ConnectionId,
    /// Where to begin.
    pub dump: BinlogDump,
    /// What it registered as.
    pub replica: Option<RegisterReplica>,
    /// Its session's user variables (`@source_binlog_checksum`, `@source_heartbeat_period`, `@replica_uuid`, …), names in lower case.
    pub variables: Vec<(String, Value)>,
}

impl DumpRequest {
    /// A user variable, by any of its names.
    pub fn variable(&self, names: &[&str]) -> Option<&Value> {
        self.variables.iter().find(|(name, _)| names.contains(&name.as_str())).map(|(_, value)| value)
    }
}

/// A replica's end of the stream.
pub trait EventStream: Send {
    /// Appends one event, given in pieces.
    fn event(&mut self, pieces: &[&[u8]]);

    /// Appends one event with the header of semi-synchronous replication: whether it is to be acknowledged.
    fn semi_sync_event(&mut self, event: &[u8], asks: bool);

    /// A packet that the client has sent; `None` if there is no whole one. Does not wait.
    fn said(&mut self) -> BoxFuture<'_, Result<Option<Vec<u8>>, SqlError>>;

    /// Bytes that wait to be sent.
    fn buffered(&self) -> usize;

    /// Sends what waits.
    fn flush(&mut self) -> BoxFuture<'_, Result<(), SqlError>>;

    /// Waits for `what`, or until the client says something: whether it was the first. An error if the client goes or is
    /// killed meanwhile.
    fn wait<'a>(&'a mut self, what: BoxFuture<'a, ()>) -> BoxFuture<'a, Result<bool, SqlError>>;
}

impl EventStream for Link {
    fn event(&mut self, pieces: &[&[u8]]) {
        self.writer.packet(|out| {
            out.push(replication::EVENT);
            pieces.iter().for_each(|piece| out.extend_from_slice(piece));
        });
    }

    fn semi_sync_event(&mut self, event: &[u8], asks: bool) {
        self.writer.packet(|out| {
            out.extend_from_slice(&[replication::EVENT, replication::SEMI_SYNC, asks.into()]);
            out.extend_from_slice(event);
        });
        if asks {
            // Both sides begin to count anew: 0 is the acknowledgement.
            self.writer.set_sequence(1);
        }
    }

    fn said(&mut self) -> BoxFuture<'_, Result<Option<Vec<u8>>, SqlError>> {
        Box::pin(async { self.said_meanwhile().await.map_err(SqlError::from) })
    }

    fn buffered(&self) -> usize {
        self.writer.len()
    }

    fn flush(&mut self) -> BoxFuture<'_, Result<(), SqlError>> {
        Box::pin(async { self.send().await.map_err(SqlError::from) })
    }

    fn wait<'a>(&'a mut self, what: BoxFuture<'a, ()>) -> BoxFuture<'a, Result<bool, SqlError>> {
        Box::pin(async { self.wait_for(what).await.map_err(SqlError::from) })
    }
}

impl Connection {
    pub(crate) fn register_replica(&mut self, replica: RegisterReplica) {
        if let Err(error) = self.may_replicate() {
            return self.write_err(&error);
        }
        match &self.shared.dump {
            Some(service) => {
                service.registered(self.entry.id, Some(&replica));
                self.replica = Some(replica);
                self.write_plain_ok();
            }
            None => self.write_err(&SqlError::not_supported("replicas")),
        }
    }

    fn may_replicate(&mut self) -> Result<(), SqlError> {
        if self.session.has_global_privilege(Privilege::ReplicationReplica) {
            return Ok(());
        }
        let text = "Access denied; you need (at least one of) the REPLICATION SLAVE privilege(s) for this operation";
        Err(SqlError::new(codes::SPECIFIC_ACCESS_DENIED_ERROR, text))
    }

    /// The connection is a stream from here on, and ends with it.
    pub(crate) async fn dump(&mut self, dump: BinlogDump) -> Result<Next, Ended> {
        if let Err(error) = self.may_replicate() {
            self.write_err(&error);
            return Ok(Next::Command);
        }
        let Some(service) = self.shared.dump.clone() else {
            self.write_err(&SqlError::not_supported("replicas"));
            return Ok(Next::Command);
        };
        let request = DumpRequest {
            connection: self.entry.id,
            dump,
            replica: self.replica.clone(),
            variables: self.session.user_variables(),
        };
        self.entry.becomes_stream();
        let result = service.dump(request, &mut self.link).await;
        service.registered(self.entry.id, None);
        match result {
            Ok(()) => reply::write_eof(&mut self.link.writer, 0, 0),
            Err(error) => self.write_err(&error),
        }
        self.link.send().await?;
        Ok(Next::Close)
    }
}
