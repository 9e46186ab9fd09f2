//! A client that sends what it is told, right or wrong, and says what the server made of it.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use wire::flags::com;
use wire::reply;

use crate::{Connection, Result};

/// How long an answer may take before there is none.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long to wait for an answer to what should have none.
const SHORT_PATIENCE: Duration = Duration::from_millis(300);

/// A connection to a server on loopback, byte by byte.
pub struct Raw(TcpStream);

impl Raw {
    /// Connects, and no more.
    ///
    /// # Errors
    /// When nobody listens.
    pub fn open(port: u16) -> Result<Raw> {
        let stream = TcpStream::connect(("127.0.0.1", port)).map_err(|error| error.to_string())?;
        stream.set_nodelay(true).map_err(|error| error.to_string())?;
        stream.set_read_timeout(Some(PATIENCE)).map_err(|error| error.to_string())?;
        Ok(Raw(stream))
    }

    /// Logs in as root without a password.
    ///
    /// # Errors
    /// When the server refuses.
    pub fn logged_in(port: u16) -> Result<Raw> {
        Connection::open(port, "")?.into_stream().map(Raw).ok_or_else(|| "a socket of TCP".to_owned())
    }

    /// Sends bytes as they are; whether the server took them.
    pub fn send(&mut self, bytes: &[u8]) -> bool {
        self.0.write_all(bytes).is_ok()
    }

    /// Sends one frame.
    pub fn frame(&mut self, sequence: u8, payload: &[u8]) -> bool {
        let [a, b, c, _] = (payload.len() as u32).to_le_bytes();
        self.send(&[&[a, b, c, sequence], payload].concat())
    }

    /// Sends a command.
    pub fn command(&mut self, command: u8, body: &[u8]) -> bool {
        self.frame(0, &[&[command], body].concat())
    }

    /// The next packet; `None` if the server has closed the connection, or says nothing.
    pub fn packet(&mut self) -> Option<Vec<u8>> {
        let mut header = [0; 4];
        self.0.read_exact(&mut header).ok()?;
        let mut payload = vec![0; u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize];
        self.0.read_exact(&mut payload).ok()?;
        Some(payload)
    }

    /// Waits for the end of the connection; whether it came, rather than bytes or silence.
    pub fn is_closed(&mut self) -> bool {
        let mut byte = [0];
        match self.0.read(&mut byte) {
            Ok(0) => true,
            Ok(_) => false,
            Err(error) => !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
        }
    }

    /// What came back in words: an error's number, `OK`, `rows`, `closed`; and whether the connection can still be used.
    pub fn reaction(&mut self) -> String {
        let Some(packet) = self.packet() else { return "closed".into() };
        let said = match packet.first() {
            Some(&reply::ERR) => reply::read_err(&packet).map_or_else(|why| why.to_string(), |e| e.code.to_string()),
            Some(&reply::OK) => "OK".into(),
            Some(&reply::EOF) => "EOF".into(),
            _ => "rows".into(),
        };
        if said == "rows" { said } else { format!("{said}, {}", self.state()) }
    }

    /// Whether the connection can still be used.
    pub fn state(&mut self) -> &'static str {
        let answers = self.command(com::PING, b"") && self.packet().is_some_and(|packet| packet[0] == reply::OK);
        if answers { "open" } else { "closed" }
    }

    /// What a server says to that which has no answer: nothing, or the state of the connection.
    pub fn silence(&mut self) -> String {
        let _ = self.0.set_read_timeout(Some(SHORT_PATIENCE));
        let packet = self.packet();
        let _ = self.0.set_read_timeout(Some(PATIENCE));
        match packet {
            None => format!("silence, {}", self.state()),
            Some(_) => "an answer".into(),
        }
    }

    /// Goes away as a process does that ends: nothing more is sent, and nothing read.
    pub fn vanish(self) {
        let _ = self.0.shutdown(Shutdown::Both);
    }
}
