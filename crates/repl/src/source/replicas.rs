//! Who is connected: the lines of `SHOW REPLICAS`, and at most one dump per replica.

use std::collections::BTreeMap;

use base::{ConnectionId, ServerId};
use event_listener::Event;
use parking_lot::Mutex;
use session::dump::DumpRequest;
use sql::services::ReplicaHost;
use wire::replication::RegisterReplica;

#[derive(Clone, Debug, Default)]
struct Connected {
    registered: Option<RegisterReplica>,
    server_id: u32,
    uuid: String,
    is_dumping: bool,
    /// Another one of the same name has begun a dump.
    is_superseded: bool,
}

/// Replicas by connection.
#[derive(Default)]
pub struct Replicas {
    connected: Mutex<BTreeMap<ConnectionId, Connected>>,
    superseded: Event,
}

impl Replicas {
    /// A replica has said who it is.
    pub fn add(&self, connection: ConnectionId, replica: &RegisterReplica) {
        let mut all = self.connected.lock();
        let entry = all.entry(connection).or_default();
        entry.server_id = replica.server_id;
        entry.registered = Some(replica.clone());
    }

    /// Its connection has ended.
    pub fn remove(&self, connection: ConnectionId) {
        self.connected.lock().remove(&connection);
    }

    /// Whether another replica of the same name has begun a dump.
    pub fn is_superseded(&self, connection: ConnectionId) -> bool {
        self.connected.lock().get(&connection).is_some_and(|replica| replica.is_superseded)
    }

    /// Ready once that is so.
    pub async fn superseded(&self, connection: ConnectionId) {
        loop {
            let listener = self.superseded.listen();
            if self.is_superseded(connection) {
                return;
            }
            listener.await;
        }
    }

    /// Which of some connections have a dump.
    pub fn dumping(&self, mut of: Vec<ConnectionId>) -> Vec<ConnectionId> {
        let all = self.connected.lock();
        of.retain(|id| all.get(id).is_some_and(|replica| replica.is_dumping));
        of
    }

    /// Notes a dump; the connections with an older one of the same replica, known by its uuid, or by its server id if
    /// neither has a uuid, are superseded. Tools that read with id 0 are nobody's replica.
    pub fn begin_dump(&self, request: &DumpRequest, uuid: &str) -> Vec<ConnectionId> {
        let mut all = self.connected.lock();
        let server_id = request.dump.server_id;
        let is_same = |other: &Connected| match (uuid, other.uuid.as_str()) {
            ("", "") => server_id != 0 && other.server_id == server_id,
            ("", _) | (_, "") => false,
            (uuid, other) => uuid.eq_ignore_ascii_case(other),
        };
        let mut older = Vec::new();
        for (&id, other) in
            all.iter_mut().filter(|(id, other)| **id != request.connection && other.is_dumping && is_same(other))
        {
            other.is_superseded = true;
            older.push(id);
        }
        self.superseded.notify(usize::MAX);
        let entry = all.entry(request.connection).or_default();
        let registered = entry.registered.take();
        *entry = Connected { registered, server_id, uuid: uuid.to_owned(), is_dumping: true, is_superseded: false };
        older
    }

    /// The lines of `SHOW REPLICAS`, of the server with this id.
    pub fn list(&self, source_id: ServerId) -> Vec<ReplicaHost> {
        let all = self.connected.lock();
        let line = |replica: &Connected| {
            let registered = replica.registered.as_ref()?;
            Some(ReplicaHost {
                server_id: registered.server_id,
                host: registered.host.clone(),
                port: registered.port,
                source_id: source_id.0,
                replica_uuid: replica.uuid.clone(),
            })
        };
        all.values().filter_map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(connection: u32, server_id: u32) -> DumpRequest {
        let mut request = DumpRequest { connection: ConnectionId(connection), ..DumpRequest::default() };
        request.dump.server_id = server_id;
        request
    }

    #[test]
    fn a_new_dump_ends_the_older_one_of_the_same_replica() {
        let replicas = Replicas::default();
        assert!(replicas.begin_dump(&request(1, 7), "a").is_empty());
        assert!(replicas.begin_dump(&request(2, 7), "b").is_empty(), "another uuid is another replica");
        assert_eq!(replicas.begin_dump(&request(3, 8), "A"), [ConnectionId(1)]);
        assert!(replicas.is_superseded(ConnectionId(1)) && !replicas.is_superseded(ConnectionId(2)));
        assert!(replicas.begin_dump(&request(4, 0), "").is_empty());
        assert!(replicas.begin_dump(&request(5, 0), "").is_empty(), "tools do not end each other");
        assert!(replicas.begin_dump(&request(6, 9), "").is_empty());
        assert_eq!(replicas.begin_dump(&request(7, 9), ""), [ConnectionId(6)]);
    }
}
