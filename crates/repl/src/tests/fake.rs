//! A source that is only a log: answers a receiver's questions over the simulated network, and serves dumps with the real
//! [`DumpServer`].

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use base::{ConnectionId, SqlError};
use binlog::BinaryLog;
use engine::commit::SemiSync;
use futures_lite::future;
use io::{BoxFuture, Env, Stream};
use session::Registry;
use session::dump::{DumpRequest, DumpService, EventStream};
use types::Value;
use types::charset::Charset;
use wire::command::Command;
use wire::flags::{capability, column_type};
use wire::handshake::Greeting;
use wire::replication::RegisterReplica;
use wire::row::Field;
use wire::{PacketReader, PacketWriter, reply, row};

use crate::DumpServer;

const CAPABILITIES: u32 = capability::CLIENT & !capability::DEPRECATE_EOF;

/// Serves a log on `port` until the machine stops.
pub(super) fn serve(env: &Env, log: &Arc<BinaryLog>, port: u16) -> Arc<DumpServer> {
    serve_semi_sync(env, log, port, SemiSync::new(env.clone()))
}

/// The same; `semi_sync` is told what replicas acknowledge.
pub(super) fn serve_semi_sync(env: &Env, log: &Arc<BinaryLog>, port: u16, semi_sync: Arc<SemiSync>) -> Arc<DumpServer> {
    let server = Arc::new(DumpServer::new(log.clone(), Registry::new(env.clock.clone()), semi_sync));
    let (env, dump, log) = (env.clone(), server.clone(), log.clone());
    let accept = {
        let env = env.clone();
        async move {
            let listener = env.network.listen(&format!("source:{port}")).await.unwrap();
            let count = AtomicU32::new(0);
            while let Ok((stream, _)) = listener.accept().await {
                let id = ConnectionId(count.fetch_add(1, Ordering::Relaxed) + 1);
                let connection = Connection::new(stream, id, dump.clone(), log.clone());
                env.spawner.spawn("connection", Box::pin(async move { drop(connection.run().await) }));
            }
        }
    };
    env.spawner.spawn("listener", Box::pin(accept));
    server
}

struct Connection {
    stream: Box<dyn Stream>,
    reader: PacketReader,
    writer: PacketWriter,
    id: ConnectionId,
    dump: Arc<DumpServer>,
    log: Arc<BinaryLog>,
    variables: Vec<(String, Value)>,
    replica: Option<RegisterReplica>,
}

impl Connection {
    fn new(stream: Box<dyn Stream>, id: ConnectionId, dump: Arc<DumpServer>, log: Arc<BinaryLog>) -> Self {
        let (reader, writer) = (PacketReader::new(1 << 24), PacketWriter::new());
        Connection { stream, reader, writer, id, dump, log, variables: Vec::new(), replica: None }
    }

    async fn packet(&mut self) -> std::io::Result<Vec<u8>> {
        loop {
            if let Some(range) = self.reader.next_packet().map_err(std::io::Error::other)? {
                return Ok(self.reader.buffer()[range].to_vec());
            }
            if self.stream.read(self.reader.buffer(), 1 << 16).await? == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
        }
    }

    async fn send(&mut self) -> std::io::Result<()> {
        self.stream.write_all(self.writer.bytes()).await?;
        self.reader.set_sequence(self.writer.sequence());
        self.writer.sent(0);
        Ok(())
    }

    async fn run(mut self) -> std::io::Result<()> {
        let greeting = Greeting {
            server_version: "8.4.0-commuter".into(),
            connection_id: self.id.0,
            nonce: b"abcdefghijklmnopqrst".to_vec(),
            capabilities: CAPABILITIES,
            collation: 255,
            status: 2,
            auth_plugin: wire::auth::NATIVE.into(),
        };
        self.writer.packet(|out| greeting.encode(out));
        self.send().await?;
        let login = self.packet().await?;
        self.writer.set_sequence(self.reader.sequence());
        assert!(!login.is_empty());
        reply::write_ok(&mut self.writer, CAPABILITIES, &reply::Ok::default());
        self.send().await?;
        loop {
            self.reader.set_sequence(0);
            let packet = self.packet().await?;
            self.writer.set_sequence(self.reader.sequence());
            match Command::decode(&packet).map_err(std::io::Error::other)? {
                Command::Query(text) => self.query(&String::from_utf8_lossy(text)),
                Command::RegisterReplica(replica) => {
                    self.dump.registered(self.id, Some(&replica));
                    self.replica = Some(replica);
                    reply::write_ok(&mut self.writer, CAPABILITIES, &reply::Ok::default());
                }
                Command::BinlogDump(dump) => {
                    let (connection, variables) = (self.id, self.variables.clone());
                    let request = DumpRequest { connection, dump, replica: self.replica.clone(), variables };
                    let server = self.dump.clone();
                    match server.dump(request, &mut self).await {
                        Ok(()) => reply::write_eof(&mut self.writer, 0, 0),
                        Err(error) => reply::write_err(&mut self.writer, CAPABILITIES, &error, Charset::Utf8Mb4),
                    }
                    return self.send().await;
                }
                _ => return Ok(()),
            }
            self.send().await?;
        }
    }

    fn query(&mut self, sql: &str) {
        let end = self.log.durable_end();
        let row: Vec<Value> = match sql {
            "SELECT UNIX_TIMESTAMP()" => vec![Value::Int(1)],
            "SELECT @@GLOBAL.SERVER_ID" => vec![Value::UInt(self.log.options().server_id.0.into())],
            "SELECT @source_binlog_checksum" => vec![Value::str("CRC32")],
            "SELECT @@GLOBAL.GTID_MODE" => vec![Value::str("ON")],
            "SELECT @@GLOBAL.SERVER_UUID" => vec![Value::str(self.log.options().server_uuid.to_string())],
            "SELECT @@version_comment" => vec![Value::str("MySQL Community Server - GPL")],
            "SHOW BINARY LOG STATUS" => vec![
                Value::str(self.log.file_name(end.file)),
                Value::UInt(end.offset),
                Value::Null,
                Value::Null,
                Value::str(self.log.gtid_executed().to_string()),
            ],
            _ => {
                self.set(sql);
                return reply::write_ok(&mut self.writer, CAPABILITIES, &reply::Ok::default());
            }
        };
        self.writer.packet(|out| out.push(row.len() as u8));
        for _ in &row {
            let column = wire::column::Column {
                schema: "",
                table: "",
                org_table: "",
                name: "x",
                org_name: "",
                collation: 255,
                length: 100,
                ty: column_type::VAR_STRING,
                flags: 0,
                decimals: 0,
            };
            self.writer.packet(|out| column.encode(out, Charset::Utf8Mb4));
        }
        reply::write_eof(&mut self.writer, 0, 2);
        let fields = vec![Field { ty: column_type::VAR_STRING, decimals: 0, length: 100, zerofill: false }; row.len()];
        self.writer.packet(|out| row::encode_text(out, &fields, &row));
        reply::write_eof(&mut self.writer, 0, 2);
    }

    /// `SET @a = 1, @b = 'x'`
    fn set(&mut self, sql: &str) {
        for assignment in sql.trim_start_matches("SET ").split(", ") {
            let Some((name, value)) = assignment.split_once(" = ") else { continue };
            let value = match value {
                "@@global.binlog_checksum" => "CRC32",
                value => value.trim_matches('\''),
            };
            self.variables.push((name.trim_start_matches('@').to_lowercase(), Value::str(value)));
        }
    }
}

impl EventStream for Connection {
    fn event(&mut self, pieces: &[&[u8]]) {
        self.writer.packet(|out| {
            out.push(0);
            pieces.iter().for_each(|piece| out.extend_from_slice(piece));
        });
    }

    fn semi_sync_event(&mut self, event: &[u8], asks: bool) {
        self.writer.packet(|out| {
            out.extend_from_slice(&[0, 0xef, asks.into()]);
            out.extend_from_slice(event);
        });
        if asks {
            self.writer.set_sequence(1);
        }
    }

    fn said(&mut self) -> BoxFuture<'_, Result<Option<Vec<u8>>, SqlError>> {
        Box::pin(async {
            if !self.reader.has_packet() {
                let _ = future::poll_once(self.stream.read(self.reader.buffer(), 1 << 16)).await;
            }
            self.reader.set_sequence(0);
            let packet = self.reader.next_packet().map_err(SqlError::unknown)?;
            Ok(packet.map(|range| self.reader.buffer()[range].to_vec()))
        })
    }

    fn buffered(&self) -> usize {
        self.writer.len()
    }

    fn flush(&mut self) -> BoxFuture<'_, Result<(), SqlError>> {
        Box::pin(async {
            self.stream.write_all(self.writer.bytes()).await.map_err(SqlError::unknown)?;
            self.writer.sent(0);
            Ok(())
        })
    }

    fn wait<'a>(&'a mut self, what: BoxFuture<'a, ()>) -> BoxFuture<'a, Result<bool, SqlError>> {
        let said = async {
            match self.stream.read(self.reader.buffer(), 1 << 16).await {
                Ok(len) if len > 0 => Ok(false),
                _ => Err(SqlError::unknown("the client has gone")),
            }
        };
        let what = async {
            what.await;
            Ok(true)
        };
        Box::pin(future::or(what, said))
    }
}
