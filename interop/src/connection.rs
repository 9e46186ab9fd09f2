//! A plain connection that shows everything the protocol says: rows, column definitions, counts, codes.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use wire::client::{ClientLogin, Credentials, ServerKey, Step};
use wire::codec::Reader;
use wire::column::OwnedColumn;
use wire::flags::{capability, com, status};
use wire::{PacketReader, PacketWriter, WireError, reply, row};

use crate::Result;

/// How long a statement may take before its connection counts as hung.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a connection goes over.
enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Stream {
    fn reader(&mut self) -> &mut dyn Read {
        match self {
            Stream::Tcp(stream) => stream,
            Stream::Unix(stream) => stream,
        }
    }

    fn writer(&mut self) -> &mut dyn Write {
        match self {
            Stream::Tcp(stream) => stream,
            Stream::Unix(stream) => stream,
        }
    }

    fn set_read_timeout(&self, timeout: Duration) -> Result<()> {
        let set = match self {
            Stream::Tcp(stream) => stream.set_read_timeout(Some(timeout)),
            Stream::Unix(stream) => stream.set_read_timeout(Some(timeout)),
        };
        set.map_err(|error| error.to_string())
    }
}

/// One client of a server on this machine.
pub struct Connection {
    stream: Stream,
    reader: PacketReader,
    writer: PacketWriter,
    has_more: bool,
}

/// What a server said to one statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// A result set.
    Rows {
        /// Its shape.
        columns: Vec<OwnedColumn>,
        /// Its rows: the values' bytes from the text protocol; one value, the row's packet, from the binary one.
        rows: Vec<Vec<Option<Vec<u8>>>>,
        /// Number of warnings.
        warnings: u16,
    },
    /// OK.
    Done(reply::Done),
    /// ERR: code and message.
    Failed(u16, String),
}

/// The answer to COM_STMT_PREPARE.
struct PreparedAnswer {
    id: u32,
    parameters: Vec<OwnedColumn>,
    columns: Vec<OwnedColumn>,
}

impl Connection {
    /// Connects as root and chooses a database.
    ///
    /// # Errors
    /// When the server refuses.
    pub fn open(port: u16, database: &str) -> Result<Connection> {
        Connection::open_as(port, "root", database)
    }

    /// Connects as an account without a password and chooses a database.
    ///
    /// # Errors
    /// When the server refuses.
    pub fn open_as(port: u16, user: &str, database: &str) -> Result<Connection> {
        let credentials = Credentials { user: user.into(), database: database.into(), ..Credentials::default() };
        Connection::open_with(port, credentials)
    }

    /// Connects as an account with a password; several statements in one text are allowed, as for those who run scripts.
    ///
    /// # Errors
    /// When the server refuses.
    pub fn open_for_scripts(port: u16, user: &str, password: &str, database: &str) -> Result<Connection> {
        Connection::open_with(
            port,
            Credentials {
                user: user.into(),
                password: password.into(),
                database: database.into(),
                capabilities: capability::MULTI_STATEMENTS,
                server_key: ServerKey::Ask,
                ..Credentials::default()
            },
        )
    }

    /// Connects over a local socket, where a password needs no further protection.
    ///
    /// # Errors
    /// When the server refuses.
    pub fn open_socket(path: &Path, credentials: Credentials) -> Result<Connection> {
        let stream = UnixStream::connect(path).map_err(|error| error.to_string())?;
        Connection::over(Stream::Unix(stream), credentials)
    }

    fn open_with(port: u16, credentials: Credentials) -> Result<Connection> {
        let stream = TcpStream::connect(("127.0.0.1", port)).map_err(|error| error.to_string())?;
        stream.set_nodelay(true).map_err(|error| error.to_string())?;
        Connection::over(Stream::Tcp(stream), credentials)
    }

    fn over(stream: Stream, credentials: Credentials) -> Result<Connection> {
        stream.set_read_timeout(PATIENCE)?;
        let is_protected = matches!(stream, Stream::Unix(_));
        let (reader, writer) = (PacketReader::new(64 << 20), PacketWriter::new());
        let mut connection = Connection { stream, reader, writer, has_more: false };
        let mut login = ClientLogin::new(credentials, is_protected);
        loop {
            let packet = connection.packet()?;
            connection.writer.set_sequence(connection.reader.sequence());
            let step = login.packet(&packet, &mut connection.writer).map_err(|error| error.to_string())?;
            connection.reader.set_sequence(connection.writer.sequence());
            connection.send()?;
            match step {
                Step::Continue => {}
                Step::Done => return Ok(connection),
                other => return Err(format!("the login wants {other:?}")),
            }
        }
    }

    /// Runs a statement by the text protocol.
    ///
    /// # Errors
    /// When the connection breaks, which no statement should do.
    pub fn query(&mut self, sql: &str) -> Result<Answer> {
        self.query_bytes(sql.as_bytes())
    }

    /// The same with bytes that need not be text.
    ///
    /// # Errors
    /// When the connection breaks, which no statement should do.
    pub fn query_bytes(&mut self, sql: &[u8]) -> Result<Answer> {
        self.ask_bytes(sql)?;
        self.text_answer()
    }

    /// How long a statement may take from now on before its connection counts as hung.
    ///
    /// # Errors
    /// When the socket does not take it.
    pub fn set_patience(&mut self, patience: Duration) -> Result<()> {
        self.stream.set_read_timeout(patience)
    }

    /// Sends a statement, whose answer [`Connection::text_answer`] reads.
    ///
    /// # Errors
    /// When the connection is broken.
    pub fn ask(&mut self, sql: &str) -> Result<()> {
        self.ask_bytes(sql.as_bytes())
    }

    fn ask_bytes(&mut self, sql: &[u8]) -> Result<()> {
        self.command(|out| {
            out.push(com::QUERY);
            out.extend_from_slice(sql);
        })
    }

    /// Whether the answer that was read last has another one behind it.
    pub fn has_more_answers(&self) -> bool {
        self.has_more
    }

    /// The answer to a statement that was sent, or the next one if it gives several.
    ///
    /// # Errors
    /// When the connection breaks.
    pub fn text_answer(&mut self) -> Result<Answer> {
        self.answer(|packet, columns| {
            let row = row::decode_text(packet, columns)?;
            Ok(row.into_iter().map(|value| value.map(<[u8]>::to_vec)).collect())
        })
    }

    /// The same; what the server refuses is an error too.
    ///
    /// # Errors
    /// As said, with code and message.
    pub fn succeed(&mut self, sql: &str) -> Result<Answer> {
        match self.query(sql)? {
            Answer::Failed(code, message) => {
                let shown: String = sql.chars().take(1000).collect();
                Err(format!("{shown}: {code} {message}"))
            }
            answer => Ok(answer),
        }
    }

    /// Rolls back the distributed transactions that are prepared on the server, whosever they were.
    ///
    /// # Errors
    /// When the connection breaks, or XA RECOVER does not say what it should.
    pub fn roll_back_prepared(&mut self) -> Result<()> {
        let Answer::Rows { rows, .. } = self.query("XA RECOVER")? else { return Ok(()) };
        for row in rows {
            // The format, the lengths of both parts of the name, and those.
            let [Some(format), Some(length), _, Some(name)] = &row[..] else {
                return Err(format!("XA RECOVER says {row:?}"));
            };
            let length: usize =
                String::from_utf8_lossy(length).parse().map_err(|_| format!("XA RECOVER says {row:?}"))?;
            let (global, branch) = name.split_at_checked(length).ok_or_else(|| format!("XA RECOVER says {row:?}"))?;
            let hex = |part: &[u8]| part.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
            let format = String::from_utf8_lossy(format);
            self.query(&format!("XA ROLLBACK x'{}', x'{}', {format}", hex(global), hex(branch)))?;
        }
        Ok(())
    }

    /// Prepares a statement without parameters and executes it: the columns that it had when it was prepared, and the
    /// answer, whose rows are raw packets of the binary protocol.
    ///
    /// # Errors
    /// When the connection breaks, which no statement should do.
    pub fn execute(&mut self, sql: &str) -> Result<(Vec<OwnedColumn>, Answer)> {
        let (id, prepared) = match self.prepare(sql)? {
            Ok(prepared) => (prepared.id, prepared.columns),
            Err(refused) => return Ok((Vec::new(), refused)),
        };
        self.command(|out| {
            out.push(com::STMT_EXECUTE);
            out.extend_from_slice(&id.to_le_bytes());
            out.extend_from_slice(&[0, 1, 0, 0, 0]);
        })?;
        let answer = self.answer(|packet, _| Ok(vec![Some(packet.to_vec())]));
        self.command(|out| {
            out.push(com::STMT_CLOSE);
            out.extend_from_slice(&id.to_le_bytes());
        })?;
        Ok((prepared, answer?))
    }

    /// What a server says of a statement's parameters when it prepares it.
    ///
    /// # Errors
    /// When the statement is refused or the connection breaks.
    pub fn parameters(&mut self, sql: &str) -> Result<Vec<OwnedColumn>> {
        let prepared = self.prepare(sql)?;
        prepared.map(|prepared| prepared.parameters).map_err(|refused| format!("{sql}: {refused:?}"))
    }

    /// COM_STMT_PREPARE; the inner error is the server's.
    fn prepare(&mut self, sql: &str) -> Result<std::result::Result<PreparedAnswer, Answer>> {
        self.command(|out| {
            out.push(com::STMT_PREPARE);
            out.extend_from_slice(sql.as_bytes());
        })?;
        let packet = self.packet()?;
        if packet.first() == Some(&reply::ERR) {
            return Ok(Err(failed(&packet)?));
        }
        let mut reader = Reader::new(&packet[1..]);
        let id = reader.u32("statement's id").map_err(|error| error.to_string())?;
        let columns = reader.u16("number of columns").map_err(|error| error.to_string())?;
        let parameters = reader.u16("number of parameters").map_err(|error| error.to_string())?;
        let parameters = self.columns(parameters.into())?;
        let columns = self.columns(columns.into())?;
        Ok(Ok(PreparedAnswer { id, parameters, columns }))
    }

    /// COM_RESET_CONNECTION
    ///
    /// # Errors
    /// When the server refuses.
    pub fn reset(&mut self) -> Result<()> {
        self.command(|out| out.push(com::RESET_CONNECTION))?;
        match self.answer(|_, _| Ok(Vec::new()))? {
            Answer::Done { .. } => Ok(()),
            other => Err(format!("COM_RESET_CONNECTION: {other:?}")),
        }
    }

    fn columns(&mut self, count: usize) -> Result<Vec<OwnedColumn>> {
        (0..count).map(|_| OwnedColumn::decode(&self.packet()?).map_err(|error| error.to_string())).collect()
    }

    /// The bare stream, between two commands; none over a local socket.
    pub fn into_stream(self) -> Option<TcpStream> {
        match self.stream {
            Stream::Tcp(stream) => Some(stream),
            Stream::Unix(_) => None,
        }
    }

    fn answer(
        &mut self,
        decode: impl Fn(&[u8], usize) -> std::result::Result<Vec<Option<Vec<u8>>>, WireError>,
    ) -> Result<Answer> {
        self.has_more = false;
        let first = self.packet()?;
        match first.first() {
            Some(&reply::ERR) => return failed(&first),
            Some(&reply::OK) => return self.done(&first).map(Answer::Done),
            _ => {}
        }
        let count = Reader::new(&first).lenenc("number of columns").map_err(|error| error.to_string())? as usize;
        let columns = self.columns(count)?;
        let mut rows = Vec::new();
        loop {
            let packet = self.packet()?;
            if packet.first() == Some(&reply::ERR) {
                return failed(&packet);
            }
            if reply::is_end_of_rows(&packet) {
                let done = self.done(&packet)?;
                return Ok(Answer::Rows { columns, rows, warnings: done.warnings });
            }
            rows.push(decode(&packet, count).map_err(|error| error.to_string())?);
        }
    }

    fn done(&mut self, packet: &[u8]) -> Result<reply::Done> {
        let done = reply::read_done(packet).map_err(|error| error.to_string())?;
        self.has_more = done.status & status::MORE_RESULTS_EXISTS != 0;
        Ok(done)
    }

    fn command(&mut self, fill: impl FnOnce(&mut Vec<u8>)) -> Result<()> {
        self.writer.set_sequence(0);
        self.reader.set_sequence(0);
        self.writer.packet(fill);
        // The answer's first packet has number 1.
        self.reader.set_sequence(self.writer.sequence());
        self.send()
    }

    fn send(&mut self) -> Result<()> {
        self.stream.writer().write_all(self.writer.bytes()).map_err(|error| error.to_string())?;
        self.writer.sent(1 << 20);
        Ok(())
    }

    fn packet(&mut self) -> Result<Vec<u8>> {
        loop {
            if let Some(range) = self.reader.next_packet().map_err(|error| error.to_string())? {
                let packet = self.reader.buffer()[range].to_vec();
                self.reader.release(1 << 20);
                return Ok(packet);
            }
            let mut bytes = [0; 16 << 10];
            let read = self.stream.reader().read(&mut bytes).map_err(|error| error.to_string())?;
            if read == 0 {
                return Err("the server closed the connection".into());
            }
            self.reader.buffer().extend_from_slice(&bytes[..read]);
        }
    }
}

fn failed(packet: &[u8]) -> Result<Answer> {
    let error = reply::read_err(packet).map_err(|error| error.to_string())?;
    Ok(Answer::Failed(error.code, error.message))
}
