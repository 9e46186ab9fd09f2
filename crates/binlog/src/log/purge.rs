//! Removing files from the front of the log.
//!
//! The index loses its lines before the files go. A crash in between leaves files that are part of the log again after the next
//! start: to remove them because they are not in the index would make the index the one file in which a flipped bit costs others.
//! Where the disk is so full that the index cannot be written beside the old one, the oldest of them makes room for it: it gets the name
//! of a purged file first, by which the next start knows that the index may still name it.
//! The file that holds the durable end, and files that somebody has pinned, are never removed.

use std::collections::BTreeMap;

use base::{ErrorClass, LogPosition, UnixMicros};
use io::{Env, OpenOptions};

use super::files::FileInfo;
use super::{BinaryLog, LogOptions, folder, index};
use crate::error::{BinlogError, Result};

/// Names of purged files that are too large to be removed at once.
pub(super) fn purged_prefix(options: &LogOptions) -> String {
    format!("{}.purged-", options.basename)
}

fn aside_of(options: &LogOptions, number: u64) -> String {
    format!("{}{number:06}", purged_prefix(options))
}

/// Removes a file that the index does not name any more; its name.
pub(super) async fn remove_purged(env: &Env, options: &LogOptions, number: u64) -> Result<String> {
    let name = index::file_name(&options.basename, number);
    let aside = aside_of(options, number);
    env.remove_aside(&name, aside).await.map_err(|error| BinlogError::io("remove", &name, &error))?;
    Ok(name)
}

/// Numbers of the files that have the names of purged ones.
pub(super) async fn set_aside(env: &Env, options: &LogOptions) -> Result<Vec<u64>> {
    let prefix = purged_prefix(options);
    let number = |name: &String| {
        let rest = name.strip_prefix(&prefix)?;
        rest[..rest.bytes().take_while(u8::is_ascii_digit).count()].parse().ok()
    };
    Ok(folder::names(env).await?.iter().filter_map(number).collect())
}

/// What a purge did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Purged {
    /// Names of the removed files, oldest first.
    pub removed: Vec<String>,
    /// Who kept more from being removed.
    pub held_by: Option<String>,
}

impl BinaryLog {
    /// `PURGE BINARY LOGS TO name`: removes all files before this one.
    #[io::boxed]
    pub async fn purge_to(&self, name: &str) -> Result<Purged> {
        let number = self.file_number(name).ok_or_else(|| BinlogError::NoSuchFile(name.to_owned()))?;
        if !self.files.lock().by_number.contains_key(&number) {
            return Err(BinlogError::NoSuchFile(name.to_owned()));
        }
        self.purge_before_file(number).await
    }

    /// `PURGE BINARY LOGS BEFORE time`: removes the files that were last written before it, which is when the file
    /// after them began.
    #[io::boxed]
    pub async fn purge_before(&self, time: UnixMicros) -> Result<Purged> {
        let seconds = time.0 / 1_000_000;
        let first_kept = {
            let files = self.files.lock();
            let began_later = |(_, info): &(&u64, &FileInfo)| u64::from(info.created) >= seconds;
            let mut before = None;
            for (&number, _) in files.by_number.iter().take_while(|entry| !began_later(entry)) {
                before = Some(number);
            }
            before
        };
        match first_kept {
            Some(number) => self.purge_before_file(number).await,
            None => Ok(Purged::default()),
        }
    }

    /// Removes the oldest files while all together are larger than `bytes`.
    #[io::boxed]
    pub async fn purge_to_size(&self, bytes: u64) -> Result<Purged> {
        let files = self.files();
        let mut total: u64 = files.iter().map(|file| file.size).sum();
        let mut first_kept = None;
        for file in &files {
            first_kept = Some(file.number);
            if total <= bytes {
                break;
            }
            total -= file.size;
        }
        match first_kept {
            Some(number) => self.purge_before_file(number).await,
            None => Ok(Purged::default()),
        }
    }

    /// What purging up to `number` may remove, given the pins.
    fn purgeable(&self, number: u64) -> (Vec<u64>, Option<String>) {
        let mut limit = number.min(self.durable_end().file);
        let mut held_by = None;
        if let Some((by, LogPosition { file, .. })) = self.pins.lock().oldest()
            && file < limit
        {
            limit = file;
            held_by = Some(by.to_owned());
        }
        let numbers = self.files.lock().by_number.range(..limit).map(|(&number, _)| number).collect();
        (numbers, held_by)
    }

    /// Removes the files before `number`, as far as nobody needs them.
    #[io::boxed]
    pub async fn purge_before_file(&self, number: u64) -> Result<Purged> {
        self.check()?;
        let (numbers, held_by) = self.purgeable(number);
        let mut purged = Purged { removed: Vec::new(), held_by };
        if numbers.is_empty() {
            return Ok(purged);
        }
        let mut gone: BTreeMap<u64, FileInfo> = {
            let mut files = self.files.lock();
            numbers.iter().filter_map(|number| files.by_number.remove_entry(number)).collect()
        };
        let mut written = self.keeper.write_index(self).await;
        if matches!(&written, Err(error) if error.class() == ErrorClass::Full) {
            written = self.set_aside(numbers[0]).await;
            if written.is_ok() {
                gone.remove(&numbers[0]);
                written = self.empty_aside(numbers[0]).await;
            }
            if written.is_ok() {
                written = self.keeper.write_index(self).await;
            }
        }
        if let Err(error) = written {
            // They are still there, and can be purged when there is room for an index.
            self.files.lock().by_number.extend(gone);
            return Err(error);
        }
        for number in numbers {
            let removed = match gone.contains_key(&number) {
                true => remove_purged(&self.env, &self.options, number).await?,
                false => self.remove_emptied(number).await?,
            };
            purged.removed.push(removed);
        }
        tracing::info!("purged {} binary log files", purged.removed.len());
        Ok(purged)
    }

    /// Gives a file, which the index still names, the name of a purged one.
    async fn set_aside(&self, number: u64) -> Result<()> {
        let name = index::file_name(&self.options.basename, number);
        let renamed = self.env.disk.rename(&name, &aside_of(&self.options, number)).await;
        renamed.map_err(|error| BinlogError::io("rename", &name, &error))
    }

    /// Makes room of it.
    async fn empty_aside(&self, number: u64) -> Result<()> {
        // Before it is empty: under its own name a file without its bytes would be damage.
        folder::sync(&self.env).await?;
        let name = aside_of(&self.options, number);
        let failed = |operation, error| BinlogError::io(operation, &name, &error);
        let how = OpenOptions { write: true, ..OpenOptions::default() };
        let file = self.env.disk.open(&name, how).await.map_err(|error| failed("open", error))?;
        file.set_len(0).await.map_err(|error| failed("truncate", error))?;
        file.sync().await.map_err(|error| failed("sync", error))
    }

    /// Removes what is left of it, when the index does not name it any more; the name that it had.
    async fn remove_emptied(&self, number: u64) -> Result<String> {
        folder::remove(&self.env, &aside_of(&self.options, number)).await?;
        Ok(index::file_name(&self.options.basename, number))
    }
}
