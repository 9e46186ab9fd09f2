//! Scripts over the whole store that show every write and sync, and what is in the pages: `src/tests/scripts`.
//! `UPDATE_GOLDENFILES=1` rewrites what they print.

mod describe;
mod sample;
mod trace;

use std::error::Error;
use std::fmt::Write;
use std::sync::Arc;

use base::{CommitNumber, IndexId, LogPosition};
use bytes::Bytes;
use goldenscript::Command;
use io::sim::SimMachine;

use crate::{Change, Checkpoint, Compression, Direction, MergeOptions, Options, Roots, SortedChanges, Store};
use describe::{describe, hex};
use trace::Trace;

const PATH: &str = "data.ctr";

/// One machine and its store.
struct Stage {
    machine: SimMachine,
    trace: Arc<Trace>,
    store: Option<Arc<Store>>,
    pins: Vec<Roots>,
}

impl Stage {
    fn new() -> Self {
        Stage { machine: SimMachine::new(1), trace: Arc::default(), store: None, pins: Vec::new() }
    }

    fn store(&self) -> Arc<Store> {
        self.store.clone().expect("the script opens the store first")
    }

    fn open(&mut self) -> crate::Result<()> {
        self.store = None;
        let env = self.trace.env(self.machine.env());
        let opened = self.machine.run(Store::open(&env, PATH, Options { cache_bytes: 1 << 20, direct: true }));
        self.store = Some(opened.expect("no crash is armed")?);
        Ok(())
    }

    fn merge(&self, index: IndexId, compression: Compression, changes: Vec<Change>) -> crate::Result<()> {
        let store = self.store();
        let merged = self.machine.run(async {
            let mut merge = store.merge(&store.roots(), MergeOptions::default()).await?;
            merge.apply(index, compression, &mut SortedChanges(changes.into_iter())).await?;
            merge.finish().await.map(drop)
        });
        merged.expect("no crash is armed")
    }

    fn drop_tree(&self, index: IndexId) -> crate::Result<()> {
        let store = self.store();
        let dropped = self.machine.run(async {
            let mut merge = store.merge(&store.roots(), MergeOptions::default()).await?;
            merge.drop_tree(index).await?;
            merge.finish().await.map(drop)
        });
        dropped.expect("no crash is armed")
    }

    fn checkpoint(&self, number: u64, meta: &str) -> crate::Result<()> {
        let store = self.store();
        let meta = Bytes::copy_from_slice(meta.as_bytes());
        let log_position = LogPosition::new(1, number * 100);
        let checkpoint = Checkpoint { commit_number: CommitNumber(number), log_position, meta };
        self.machine.run(store.commit_checkpoint(&store.roots(), checkpoint)).expect("no crash is armed")
    }

    fn scan(&self, roots: &Roots, index: IndexId) -> crate::Result<String> {
        let all = (std::ops::Bound::Unbounded, std::ops::Bound::Unbounded);
        let mut cursor = roots.cursor(index, all.0, all.1, Direction::Forward);
        let mut entries = Vec::new();
        let scanned = self.machine.run(async {
            while cursor.next_batch(&mut entries, 100).await? {}
            Ok(())
        });
        scanned.expect("no crash is armed")?;
        let show = |bytes: &Bytes| describe::text(bytes);
        Ok(entries.iter().map(|entry| format!("{}={}\n", show(&entry.key), show(&entry.value))).collect())
    }

    fn space(&self) -> String {
        let store = self.store();
        let mut space = store.shared().space.lock();
        space.reclaim();
        let runs = |runs: &mut dyn Iterator<Item = crate::space::Run>| {
            runs.map(|run| format!(" {}+{}", run.start, run.len)).collect::<String>()
        };
        let mut output = format!("{} blocks, free:{}\n", space.file_blocks(), runs(&mut space.free().iter()));
        for ((created, freed), pages) in space.pending() {
            let pages = runs(&mut pages.iter().copied());
            writeln!(output, "pending [{}, {}):{pages}", describe::generation(*created), describe::generation(*freed))
                .expect("a String takes everything");
        }
        output
    }
}

impl Stage {
    fn run_merge(&self, args: &mut goldenscript::ArgumentConsumer<'_>) -> Result<(), Box<dyn Error>> {
        let index = IndexId(args.next_pos().ok_or("an index")?.parse()?);
        let size = args.take_key("size").unwrap_or("0").parse()?;
        let rows = args.take_key("rows").unwrap_or("0").parse()?;
        let compression = match args.take_key("by") {
            None => Compression::None,
            Some("lz4") => Compression::Lz4,
            Some("zstd") => Compression::Zstd,
            Some(name) => return Err(format!("no compression {name}").into()),
        };
        let row = |n: usize| Change { key: format!("{n:03}").into(), value: Some(vec![b'x'; size].into()) };
        let mut changes: Vec<Change> = (0..rows).map(row).collect();
        while let Some((key, value)) = args.next_key() {
            let bytes = |text: &str| Bytes::copy_from_slice(text.as_bytes());
            let value = Some(bytes(value)).filter(|value| !value.is_empty());
            changes.push(Change { key: bytes(key), value });
        }
        Ok(self.merge(index, compression, changes)?)
    }
}

impl goldenscript::Runner for Stage {
    type Command = Command;

    /// ```text
    /// open | crash                     (crash: the power fails, then open)
    /// merge INDEX [rows=N] [size=N] [by=lz4|zstd] [KEY=VALUE ...]   an empty value removes; rows makes keys 000, 001, …
    /// drop INDEX
    /// checkpoint NUMBER [META]
    /// pin | unpin | scan INDEX [pin]
    /// page BLOCK | hex BLOCK | space | verify
    /// ```
    fn run(&mut self, command: &Command, _: &goldenscript::Context) -> Result<String, Box<dyn Error>> {
        let mut args = command.consume_args();
        let mut output = String::new();
        match command.name.as_str() {
            "open" => self.open()?,
            "crash" => {
                self.store = None;
                self.pins.clear();
                self.machine.crash();
                self.open()?;
            }
            "merge" => self.run_merge(&mut args)?,
            "drop" => self.drop_tree(IndexId(args.next_pos().ok_or("an index")?.parse()?))?,
            "checkpoint" => {
                let number = args.next_pos().ok_or("a number")?.parse()?;
                self.checkpoint(number, args.next_pos().unwrap_or_default())?;
            }
            "pin" => self.pins.push(self.store().roots()),
            "unpin" => self.pins.clear(),
            "scan" => {
                let index = IndexId(args.next_pos().ok_or("an index")?.parse()?);
                let pinned = args.next_pos().is_some();
                let roots = if pinned { self.pins[0].clone() } else { self.store().roots() };
                output = self.scan(&roots, index)?;
            }
            "count" => {
                let index = IndexId(args.next_pos().ok_or("an index")?.parse()?);
                writeln!(output, "{} rows", self.scan(&self.store().roots(), index)?.lines().count())?;
            }
            "page" | "hex" => {
                let number: usize = args.next_pos().ok_or("a page")?.parse()?;
                let contents = self.machine.contents(PATH).ok_or("no file")?;
                let rest = &contents[number * 4096..];
                let page = &rest[..rest.len().min(16384)];
                output = if command.name == "hex" { hex(page) } else { describe(page) };
            }
            "space" => output = self.space(),
            "verify" => {
                let store = self.store();
                let verified = self.machine.run(store.verify(&store.roots())).expect("no crash is armed")?;
                writeln!(output, "{verified:?}")?;
            }
            name => return Err(format!("unknown command {name}").into()),
        }
        args.reject_next()?;
        let operations = self.trace.take();
        Ok(operations + &output)
    }
}

#[test]
fn scripts() {
    for entry in ["checkpoint", "compressed", "pages", "space"] {
        goldenscript::run(&mut Stage::new(), format!("src/tests/scripts/{entry}")).expect(entry);
    }
}
