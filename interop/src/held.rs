//! What a server holds for its clients: after whatever they did it has to be what it was.

use std::time::{Duration, Instant};

use crate::{Result, Server};

const PATIENCE: Duration = Duration::from_secs(30);

/// See the module.
#[derive(Debug)]
pub struct Held {
    /// `Threads_connected`
    pub connections: i64,
    /// `Locks_held`
    pub locks: i64,
    /// `Read_views`
    pub views: i64,
    /// `Prepared_stmt_count`
    pub statements: i64,
    /// Open files and sockets.
    pub descriptors: usize,
}

impl Held {
    /// By a server, now.
    ///
    /// # Errors
    /// When it does not answer.
    pub fn by(server: &Server) -> Result<Held> {
        let client = server.client();
        let files = std::fs::read_dir(format!("/proc/{}/fd", server.pid())).map_err(|error| error.to_string())?;
        Ok(Held {
            connections: client.status("Threads_connected")?,
            locks: client.status("Locks_held")?,
            views: client.status("Read_views")?,
            statements: client.status("Prepared_stmt_count")?,
            descriptors: files.count(),
        })
    }

    /// Whether it is no more than before. What was open for a moment then (the socket of a client that was just gone) need not be
    /// open again.
    fn is_within(&self, before: &Held) -> bool {
        let counted = |held: &Held| (held.connections, held.locks, held.views, held.statements);
        counted(self) == counted(before) && self.descriptors <= before.descriptors
    }

    /// Waits until a server holds that again, and still works.
    ///
    /// # Errors
    /// When it does not within half a minute; with both, and its log.
    pub fn until_again(&self, server: &Server) -> Result<()> {
        let start = Instant::now();
        loop {
            let now = Held::by(server)?;
            if now.is_within(self) {
                return server.client().query("SELECT 1").map(drop);
            }
            if start.elapsed() > PATIENCE {
                let running = server.client().query("SHOW FULL PROCESSLIST").unwrap_or_default();
                return Err(format!("before: {self:?}, after: {now:?}\n{running}\n{}", server.log()));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}
