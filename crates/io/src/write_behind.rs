//! [`WriteBehind`]: a long file goes to the disk while it is written, and not all at once with its sync.
//!
//! A sync of a gigabyte that lies in the system's memory takes all of the disk for as long as that takes, and the syncs of everybody else
//! wait for it.

use std::io::Result;
use std::ops::Range;

use crate::File;

/// Bytes that are moved at once; twice as many are in the system's memory at most.
const STEP: u64 = 8 << 20;

/// How far a file that grows at its end is on its way.
#[derive(Debug, Default)]
pub struct WriteBehind {
    /// Is on its way to the disk.
    begun: Range<u64>,
}

impl WriteBehind {
    /// Of a file that grows from here on.
    pub fn from(end: u64) -> Self {
        WriteBehind { begun: end..end }
    }

    /// The file has grown to here.
    ///
    /// # Errors
    /// As [`File::write_back`].
    pub async fn grown(&mut self, file: &dyn File, end: u64) -> Result<()> {
        if end < self.begun.end + STEP {
            return Ok(());
        }
        let begin = self.begun.end..end;
        let others = std::mem::replace(&mut self.begun, begin.clone());
        file.write_back(begin, others).await
    }

    /// What is behind this will be written again.
    pub fn cut(&mut self, end: u64) {
        self.begun = self.begun.start.min(end)..self.begun.end.min(end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::{Offload, environment};
    use crate::{IoBuf, OpenOptions};

    #[test]
    fn a_file_is_what_was_written_to_it() {
        let root = std::env::temp_dir().join(format!("commuter-write-behind-{}", std::process::id()));
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let env = environment(root.clone(), Offload::Threads(2), runtime.handle().clone()).unwrap();
        futures_lite::future::block_on(async {
            let how = OpenOptions { create: true, write: true, ..OpenOptions::default() };
            let file = env.disk.open("long", how).await.unwrap();
            let (mut behind, mut end) = (WriteBehind::default(), 0);
            for turn in 0..20 {
                let part = file.write_at(end, IoBuf::copy_of(&vec![turn; 3 << 20])).await.unwrap();
                end += part.len() as u64;
                behind.grown(&*file, end).await.unwrap();
                assert!(behind.begun.end <= end && end < behind.begun.end + STEP);
                if turn % 7 == 6 {
                    end -= 11 << 20;
                    behind.cut(end);
                }
            }
            let last = file.read_at(end - 1, IoBuf::zeroed(1)).await.unwrap();
            assert_eq!(last[0], 19);
        });
        std::fs::remove_dir_all(&root).unwrap();
    }
}
