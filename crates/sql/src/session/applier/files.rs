//! Files of LOAD DATA that come in another server's log, block by block in front of their statement.

use std::collections::HashMap;

use base::{SqlError, codes};

use super::Applier;
use crate::load::{KeptFile, LoadFrom};

/// Files by their numbers in the log.
pub(super) type KeptFiles = HashMap<u32, KeptFile>;

impl Applier {
    /// The first bytes of a file of another server's log. One of the same number that was not read is forgotten.
    ///
    /// # Errors
    /// It cannot be written.
    #[io::boxed]
    pub async fn begin_kept_file(&mut self, number: u32, block: &[u8]) -> Result<(), SqlError> {
        self.files.remove(&number);
        let mut file = KeptFile::create(&self.session.shared.env).await?;
        file.append(block).await?;
        self.files.insert(number, file);
        Ok(())
    }

    /// The next bytes of a file of another server's log.
    ///
    /// # Errors
    /// It was not begun, or cannot be written.
    #[io::boxed]
    pub async fn append_kept_file(&mut self, number: u32, block: &[u8]) -> Result<(), SqlError> {
        match self.files.get_mut(&number) {
            Some(file) => file.append(block).await,
            None => Err(no_such_file(number)),
        }
    }

    /// Nothing reads the file any more.
    pub fn forget_kept_file(&mut self, number: u32) {
        self.files.remove(&number);
        self.session.load_from = None;
    }

    /// The next LOAD DATA reads this file, whatever it names.
    ///
    /// # Errors
    /// There is no such file.
    pub fn next_load_reads(&mut self, number: u32) -> Result<(), SqlError> {
        let file = self.files.get(&number).ok_or_else(|| no_such_file(number))?;
        self.session.load_from = Some(LoadFrom::Kept(file.path().to_owned()));
        Ok(())
    }

    /// Nothing reads the files of another server's log any more.
    pub(super) fn forget_kept_files(&mut self) {
        self.files.clear();
        self.session.load_from = None;
    }
}

fn no_such_file(number: u32) -> SqlError {
    let message = format!("Relay log read failure: file {number} of a LOAD DATA was not begun");
    SqlError::new(codes::REPLICA_RELAY_LOG_READ_FAILURE, message)
}
