//! A file that the client sends for LOAD DATA LOCAL.
//!
//! ```text
//!   server ── 0xfb, name ──> client        client ── packets of bytes, an empty packet ──> server ── OK or ERR ──> client
//! ```
//!
//! # Invariants
//! - One packet is in memory at a time; what the statement does not take yet stays with the client.
//! - The answer comes after the empty packet, whatever became of the statement: what it did not read is read here and forgotten.

use base::{SqlError, codes};
use bytes::Bytes;
use wire::reply;

use crate::link::{Ended, Link};

/// How far the file has come.
#[derive(Debug, Default)]
pub(crate) enum LocalFile {
    /// Nobody asked for one.
    #[default]
    None,
    /// The client sends.
    Coming,
    /// It has sent all of it.
    Complete,
    /// The connection has failed in the middle, and ends for this reason.
    Lost(Ended),
}

impl LocalFile {
    /// Asks for the file. `name` is in the client's character set.
    pub(crate) async fn ask(&mut self, link: &mut Link, name: &[u8]) -> Result<(), SqlError> {
        reply::write_local_infile(&mut link.writer, name);
        if let Err(ended) = link.send().await {
            return Err(self.lost(ended));
        }
        let sequence = link.writer.sequence();
        link.reader.set_sequence(sequence);
        *self = LocalFile::Coming;
        Ok(())
    }

    /// The next bytes; none at the end.
    pub(crate) async fn next(&mut self, link: &mut Link) -> Result<Bytes, SqlError> {
        if !matches!(self, LocalFile::Coming) {
            return Ok(Bytes::new());
        }
        match link.packet_for_statement(false).await {
            Ok(packet) => {
                let bytes = Bytes::copy_from_slice(&link.reader.buffer()[packet]);
                if bytes.is_empty() {
                    *self = LocalFile::Complete;
                }
                Ok(bytes)
            }
            // The client goes on sending.
            Err(Ended::Interrupted) => Err(Ended::Interrupted.into()),
            Err(ended) => Err(self.lost(ended)),
        }
    }

    fn lost(&mut self, ended: Ended) -> SqlError {
        let message = format!("Got an error reading communication packets ({ended})");
        *self = LocalFile::Lost(ended);
        SqlError::new(codes::NET_READ_ERROR, message)
    }

    /// Brings the connection to where the answer is expected.
    pub(crate) async fn finish(mut self, link: &mut Link) -> Result<(), Ended> {
        while let LocalFile::Coming = self {
            if link.packet_for_statement(true).await?.is_empty() {
                self = LocalFile::Complete;
            }
        }
        match self {
            LocalFile::Lost(ended) => Err(ended),
            LocalFile::Complete => {
                let sequence = link.reader.sequence();
                link.writer.set_sequence(sequence);
                Ok(())
            }
            LocalFile::None | LocalFile::Coming => Ok(()),
        }
    }
}
