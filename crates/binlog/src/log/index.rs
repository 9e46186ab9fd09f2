//! Names of log files, and the index file that lists them.
//!
//! `binlog.index` has one name per line, as in MySQL (`./binlog.000001`). It is replaced as a whole: written beside,
//! synced, renamed. It is a list for people and tools; what was created after its last line is found by looking at the
//! files, so that a rotation need not wait for it. Nothing is removed on its word alone: a bit of a name may be another.

use io::Env;

use super::folder;
use crate::error::{BinlogError, Result};

/// Name of a log file.
pub(crate) fn file_name(basename: &str, number: u64) -> String {
    format!("{basename}.{number:06}")
}

/// The number in a log file's name.
pub(crate) fn file_number(basename: &str, name: &str) -> Option<u64> {
    let digits = name.strip_prefix(basename)?.strip_prefix('.')?;
    let good = digits.len() >= 6 && digits.bytes().all(|b| b.is_ascii_digit());
    good.then(|| digits.parse().ok()).flatten().filter(|&number| number > 0)
}

fn index_name(basename: &str) -> String {
    format!("{basename}.index")
}

/// The numbers in the index, one after the other; `None` if there is no index.
pub(crate) async fn read(env: &Env, basename: &str) -> Result<Option<Vec<u64>>> {
    let name = index_name(basename);
    let Some(bytes) = folder::read(env, &name).await? else { return Ok(None) };
    let mut numbers = Vec::new();
    let mut offset = 0;
    for line in bytes.split(|&b| b == b'\n') {
        let text = String::from_utf8_lossy(line);
        let entry = text.trim().trim_start_matches("./");
        if !entry.is_empty() {
            let number = file_number(basename, entry)
                .ok_or_else(|| BinlogError::corrupt(&name, offset, format!("'{entry}' is not a log file's name")))?;
            if let Some(before) = numbers.last().filter(|before| **before + 1 != number) {
                let before = file_name(basename, *before);
                return Err(BinlogError::corrupt(&name, offset, format!("'{entry}' does not follow {before}")));
            }
            numbers.push(number);
        }
        offset += line.len() as u64 + 1;
    }
    Ok(Some(numbers))
}

/// Replaces the index.
pub(crate) async fn write(env: &Env, basename: &str, numbers: &[u64]) -> Result<()> {
    let text: String = numbers.iter().map(|&number| format!("./{}\n", file_name(basename, number))).collect();
    folder::replace(env, &index_name(basename), text.as_bytes()).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        assert_eq!(file_name("binlog", 7), "binlog.000007");
        assert_eq!(file_name("binlog", 1_234_567), "binlog.1234567");
        assert_eq!(file_number("binlog", "binlog.1234567"), Some(1_234_567));
        for bad in ["binlog.7", "binlog.index", "binlog", "binlog.00000x", "mysql.000001", "binlog.000000"] {
            assert_eq!(file_number("binlog", bad), None, "{bad}");
        }
    }
}
