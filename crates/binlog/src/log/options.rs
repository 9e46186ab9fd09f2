//! Settings of the log.

use base::{ServerId, Uuid};
use io::IoMode;

/// How a group is made durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SyncMethod {
    /// `fdatasync` after the write.
    #[default]
    Fdatasync,
    /// The write itself is (`O_DSYNC`).
    Dsync,
}

/// Settings of the log.
#[derive(Clone, Debug)]
pub struct LogOptions {
    /// Name of the files in front of the number.
    pub basename: String,
    /// In the headers of events that the log itself makes.
    pub server_id: ServerId,
    /// Of automatic GTIDs.
    pub server_uuid: Uuid,
    /// In FORMAT_DESCRIPTION.
    pub server_version: String,
    /// A file that has become so large (bytes) is the last one's predecessor: `max_binlog_size`.
    pub max_binlog_size: u64,
    /// So many bytes ahead of the end are zero-filled in the background.
    pub fill_ahead: u64,
    /// How groups are made durable.
    pub sync_method: SyncMethod,
    /// Where operations of the writer run that are not a group's write and sync.
    pub io_mode: IoMode,
    /// An event that claims to be longer (bytes) is taken for damage.
    pub max_event_size: u32,
    /// The same for a transaction.
    pub max_transaction_size: u64,
    /// So many bytes of a transaction that is not whole yet a follower keeps in memory. More than any source has in memory of a
    /// transaction: a longer one is a file by itself, with a sum.
    pub max_partial_bytes: usize,
    /// The most bytes that are ever written and not yet synced where each group is synced before it is acknowledged. Valid
    /// transactions farther behind a hole cannot come from lost writes: the hole is damage. (Where groups are left
    /// unsynced that is noted beside the log, and there is no such bound.)
    pub max_unsynced_window: u64,
}

impl Default for LogOptions {
    fn default() -> Self {
        LogOptions {
            basename: "binlog".to_owned(),
            server_id: ServerId(1),
            server_uuid: Uuid::default(),
            server_version: "8.4.0-commuter".to_owned(),
            max_binlog_size: 1 << 30,
            fill_ahead: 32 << 20,
            sync_method: SyncMethod::Fdatasync,
            io_mode: IoMode::Offload,
            max_event_size: 1 << 30,
            max_transaction_size: 2 << 30,
            max_partial_bytes: 17 << 20,
            // Four groups in flight, each with one transaction of the largest size at its end.
            max_unsynced_window: 4 * ((1 << 30) + (16 << 20)),
        }
    }
}

impl LogOptions {
    /// 8.4.0 as 80400; 999999 if the version is not understood.
    pub(crate) fn server_version_number(&self) -> u32 {
        let mut parts = self.server_version.split(|c: char| !c.is_ascii_digit()).map(|part| part.parse::<u32>().ok());
        match (parts.next().flatten(), parts.next().flatten(), parts.next().flatten()) {
            (Some(major), Some(minor), Some(patch)) if major < 100 && minor < 100 && patch < 100 => {
                major * 10_000 + minor * 100 + patch
            }
            _ => 999_999,
        }
    }
}
