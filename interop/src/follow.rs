//! Our servers as source and follower.

use std::process::Command;

use crate::{Client, Result, Server, ServerOptions, commuter_binary};

/// All GTIDs that a server has executed.
///
/// # Errors
/// When it does not answer.
pub fn gtid_executed(client: &Client) -> Result<String> {
    Ok(client.query("SELECT @@global.gtid_executed")?.trim().replace("\\n", ""))
}

impl Server {
    /// How it is reached, as root over TCP.
    pub fn url(&self) -> String {
        format!("mysql://root@127.0.0.1:{}", self.port())
    }

    /// Starts a follower of this server.
    ///
    /// # Errors
    /// When it does not come up.
    pub fn start_follower(&self, name: &str) -> Result<Server> {
        let arguments = vec!["--follow".to_owned(), self.url()];
        Server::start(name, ServerOptions { arguments, ..ServerOptions::default() })
    }

    /// Waits until another server has executed all that this one has.
    ///
    /// # Errors
    /// When it has not within a minute; with what the other says of itself.
    pub fn wait_until_in_step(&self, follower: &Server) -> Result<()> {
        let executed = gtid_executed(&self.client())?;
        let waited = follower.client().query(&format!("SELECT WAIT_FOR_EXECUTED_GTID_SET('{executed}', 60)"))?;
        if waited.trim() == "0" {
            return Ok(());
        }
        let status = follower.client().query("SHOW REPLICA STATUS").unwrap_or_default();
        Err(format!("{status}\n{}", follower.log()))
    }

    /// Whether `commuter checksum` finds the same in both, by their sums and by their rows, and what it prints.
    ///
    /// # Errors
    /// When it cannot be run.
    pub fn has_rows_of(&self, other: &Server) -> Result<(bool, String)> {
        let (mut same, mut text) = (true, String::new());
        for option in [None, Some("--all-rows")] {
            let mut command = Command::new(commuter_binary()?);
            command.arg("checksum").args(option).args([&other.url(), &self.url()]);
            let output = command.output().map_err(|error| error.to_string())?;
            same &= output.status.success();
            text += &String::from_utf8_lossy(&output.stdout);
        }
        Ok((same, text))
    }
}
