//! Which files the log consists of, and who needs them.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::LogPosition;
use parking_lot::Mutex;

use super::index::file_name;
use crate::gtid_set::GtidSet;

/// A line of `SHOW BINARY LOGS`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogFile {
    /// Its number.
    pub number: u64,
    /// Its name.
    pub name: String,
    /// Bytes, as far as they are durable.
    pub size: u64,
}

/// What is known of a file.
#[derive(Clone, Debug)]
pub(crate) struct FileInfo {
    /// Bytes of the files before it, from the first that was known when this one was begun; [`Files::insert`] counts them.
    pub(crate) bytes_before: u64,
    /// Its end, once the log went on to the next file.
    pub(crate) end: Option<u64>,
    /// Timestamp of its FORMAT_DESCRIPTION.
    pub(crate) created: u32,
    /// All GTIDs in the files before it, and those that were executed elsewhere.
    pub(crate) previous_gtids: GtidSet,
    /// Those of them that began to count with this file: they are in no file before it ([`super::LogWriter::add_purged`]).
    pub(crate) added_gtids: GtidSet,
}

impl FileInfo {
    /// A file that is begun.
    pub(crate) fn new(created: u32, previous_gtids: GtidSet, added_gtids: GtidSet) -> Self {
        FileInfo { bytes_before: 0, end: None, created, previous_gtids, added_gtids }
    }
}

/// The files by number.
#[derive(Debug, Default)]
pub(crate) struct Files {
    pub(crate) basename: String,
    pub(crate) by_number: BTreeMap<u64, FileInfo>,
}

impl Files {
    pub(crate) fn first(&self) -> Option<&FileInfo> {
        self.by_number.values().next()
    }

    /// All GTIDs that count as executed here and are in no file.
    pub(crate) fn purged_gtids(&self) -> GtidSet {
        let mut purged = self.first().map(|file| file.previous_gtids.clone()).unwrap_or_default();
        for file in self.by_number.values().skip(1) {
            purged.union(&file.added_gtids);
        }
        purged
    }

    pub(crate) fn insert(&mut self, number: u64, mut info: FileInfo) {
        let before = self.by_number.range(..number).next_back();
        info.bytes_before = before.map_or(0, |(_, before)| before.bytes_before + before.end.unwrap_or(0));
        self.by_number.insert(number, info);
    }

    /// Bytes of the log between two positions; what was before the first file does not count.
    pub(crate) fn bytes_between(&self, from: LogPosition, to: LogPosition) -> u64 {
        let place = |at: LogPosition| match self.by_number.get(&at.file) {
            Some(info) => info.bytes_before + at.offset,
            None => self.first().map_or(0, |info| info.bytes_before),
        };
        place(to).saturating_sub(place(from))
    }

    pub(crate) fn end(&mut self, at: LogPosition) {
        if let Some(info) = self.by_number.get_mut(&at.file) {
            info.end = Some(at.offset);
        }
    }

    /// The first file after this one.
    pub(crate) fn after(&self, number: u64) -> Option<u64> {
        self.by_number.range(number + 1..).next().map(|(&number, _)| number)
    }

    pub(crate) fn numbers(&self) -> Vec<u64> {
        self.by_number.keys().copied().collect()
    }

    pub(crate) fn list(&self, durable_end: LogPosition) -> Vec<LogFile> {
        let visible = self.by_number.range(..=durable_end.file);
        let line = |(&number, info): (&u64, &FileInfo)| LogFile {
            number,
            name: file_name(&self.basename, number),
            size: if number == durable_end.file { durable_end.offset } else { info.end.unwrap_or(0) },
        };
        visible.map(line).collect()
    }
}

/// Who needs which position, by the number of the pin.
#[derive(Debug, Default)]
pub(crate) struct Pins {
    next_id: u64,
    by_id: BTreeMap<u64, (String, LogPosition)>,
}

impl Pins {
    /// The pin that needs the oldest file.
    pub(crate) fn oldest(&self) -> Option<(&str, LogPosition)> {
        let oldest = self.by_id.values().min_by_key(|(_, position)| *position)?;
        Some((&oldest.0, oldest.1))
    }
}

/// Keeps files from being purged.
#[derive(Debug)]
pub struct Pin {
    pins: Arc<Mutex<Pins>>,
    id: u64,
}

impl Pin {
    pub(crate) fn new(pins: Arc<Mutex<Pins>>, by: &str, position: LogPosition) -> Self {
        let mut guard = pins.lock();
        guard.next_id += 1;
        let id = guard.next_id;
        guard.by_id.insert(id, (by.to_owned(), position));
        drop(guard);
        Pin { pins, id }
    }

    /// Moves it.
    pub fn set(&self, position: LogPosition) {
        if let Some((_, pinned)) = self.pins.lock().by_id.get_mut(&self.id) {
            *pinned = position;
        }
    }
}

impl Drop for Pin {
    fn drop(&mut self) {
        self.pins.lock().by_id.remove(&self.id);
    }
}
