//! Opening a data file, and making a new one.
//!
//! A new file is made under another name and renamed when it is complete and synced; so a file under the real name has
//! at least one valid superblock, or it was damaged.
//!
//! The manifest says what was free as of its checkpoint. What lies beyond the file's end as it was then is free too
//! (an unfinished merge made the file grow); what was cut off since was free then.

use std::io::{Error, ErrorKind};
use std::sync::Arc;

use base::{IndexId, PageNumber};
use bytes::{Bytes, BytesMut};
use io::{Env, File, IoBuf, IoMode};
use xxhash_rust::xxh3::xxh3_64;

use crate::file::DataFile;
use crate::manifest::{Manifest, Trees, decode};
use crate::page::{BLOCK_SIZE, Expected, PAGE_SIZE, PageKind, PageRef};
use crate::space::{FIRST_BLOCK, Run, Space, append};
use crate::superblock::{Superblock, number_of};
use crate::{Checkpoint, Options, Result, StoreError};

/// A file that was opened, as of its newest checkpoint.
pub(crate) struct Opened {
    pub(crate) file: DataFile,
    pub(crate) space: Space,
    pub(crate) trees: Trees,
    pub(crate) checkpoint: Checkpoint,
    pub(crate) superblock: Superblock,
    pub(crate) slot: usize,
    /// Blocks of the manifest.
    pub(crate) manifest: Vec<Run>,
}

/// Opens the file, or makes it.
pub(crate) async fn open(env: &Env, path: &str, options: &Options) -> Result<Opened> {
    if !env.disk.exists(path).await.map_err(|error| failed(path, "look-up", error))? {
        create(env, path, options).await?;
    }
    let file = DataFile::new(path, open_file(env, path, options, false).await?);
    let blocks = file.blocks().await?;
    let slots = [read_superblock(&file, 0, blocks).await?, read_superblock(&file, 1, blocks).await?];
    let (slot, superblock) = newest(&file, &slots)?;
    let (manifest, runs) = read_manifest(&file, &superblock).await?;
    let generations = slots.each_ref().map(|slot| slot.as_ref().ok().map(|block| block.generation));
    let space = open_space(blocks, &superblock, &manifest, generations);
    let Superblock { commit_number, log_position, .. } = superblock;
    let checkpoint = Checkpoint { commit_number, log_position, meta: manifest.engine };
    Ok(Opened { file, space, trees: manifest.trees, checkpoint, superblock, slot, manifest: runs })
}

async fn create(env: &Env, path: &str, options: &Options) -> Result<()> {
    let new = format!("{path}.new");
    let file = DataFile::new(&new, open_file(env, &new, options, true).await?);
    file.set_blocks(0).await?;
    file.set_blocks(FIRST_BLOCK).await?;
    let mut buf = IoBuf::zeroed(FIRST_BLOCK as usize * BLOCK_SIZE);
    let empty = Superblock { generation: 1, file_blocks: FIRST_BLOCK, ..Superblock::default() };
    empty.encode(0, &mut buf[..PAGE_SIZE]);
    file.write(0, 1, buf).await?;
    file.sync().await?;
    env.disk.rename(&new, path).await.map_err(|error| failed(path, "rename", error))?;
    let dir = path.rsplit_once('/').map_or("", |(dir, _)| dir);
    env.disk.sync_dir(dir).await.map_err(|error| failed(path, "sync of the directory", error))
}

async fn open_file(env: &Env, path: &str, options: &Options, create: bool) -> Result<Arc<dyn File>> {
    let how = io::OpenOptions {
        create,
        create_new: false,
        write: true,
        direct: options.direct,
        dsync: false,
        mode: IoMode::Offload,
    };
    env.disk.open(path, how).await.map_err(|error| failed(path, "open", error))
}

/// The superblock of a slot, or why there is none. An error of the device is an error: to go on with the other
/// superblock would be to go back in time.
async fn read_superblock(
    file: &DataFile,
    slot: u64,
    file_blocks: u64,
) -> Result<std::result::Result<Superblock, String>> {
    let run = PageRef::plain(number_of(slot), 0).run();
    if run.end() > file_blocks {
        return Ok(Err("the file ends before it".to_string()));
    }
    let bytes = file.read(run, None).await?;
    Ok(Superblock::decode(slot, bytes))
}

fn newest(file: &DataFile, slots: &[std::result::Result<Superblock, String>; 2]) -> Result<(usize, Superblock)> {
    let valid = slots.iter().enumerate().filter_map(|(slot, block)| Some((slot, *block.as_ref().ok()?)));
    valid.max_by_key(|(_, block)| block.generation).ok_or_else(|| {
        let [first, second] = slots.each_ref().map(|slot| slot.as_ref().err().map_or("", String::as_str));
        file.unusable(format!(
            "no superblock can be used: the one at offset 0: {first}; the one at offset {PAGE_SIZE}: {second}"
        ))
    })
}

async fn read_manifest(file: &DataFile, superblock: &Superblock) -> Result<(Manifest, Vec<Run>)> {
    let (mut bytes, mut runs) = (BytesMut::new(), Vec::new());
    let mut number = superblock.manifest_start;
    for place in 0..superblock.manifest_pages {
        let at = PageRef::plain(number, superblock.generation);
        let page = file.read_page(&Expected { at, index: IndexId(0), kind: PageKind::Manifest, level: 0 }).await?;
        if page.rows() != place {
            return Err(file.corrupt(at.number, None, format!("it is not page {place} of the manifest")));
        }
        bytes.extend_from_slice(&page.payload());
        append(&mut runs, at.run());
        number = page.next();
    }
    if superblock.manifest_pages == 0 {
        return Ok((Manifest::default(), runs));
    }
    let bytes: Bytes = bytes.freeze();
    let start = PageNumber(superblock.manifest_start);
    let wrong = |what: String| file.corrupt(start, None, format!("the manifest is wrong: {what}"));
    if bytes.len() as u64 != superblock.manifest_size || xxh3_64(&bytes) != superblock.manifest_hash {
        return Err(wrong("its length or hash is not the superblock's".to_string()));
    }
    Ok((decode(&bytes).map_err(wrong)?, runs))
}

fn open_space(blocks: u64, superblock: &Superblock, manifest: &Manifest, generations: [Option<u64>; 2]) -> Space {
    let blocks = blocks.max(FIRST_BLOCK);
    let clip =
        |run: &Run| Some(Run::new(run.start, run.end().min(blocks).checked_sub(run.start)?)).filter(|run| run.len > 0);
    let mut space = Space::open(blocks, generations);
    manifest.free.iter().filter_map(clip).for_each(|run| space.release(run));
    if blocks > superblock.file_blocks {
        space.release(Run::new(superblock.file_blocks, blocks - superblock.file_blocks));
    }
    for (interval, runs) in &manifest.pending {
        space.retire(*interval, runs.iter().filter_map(clip));
    }
    space.reclaim();
    space
}

fn failed(path: &str, operation: &'static str, error: Error) -> StoreError {
    let source = match error.kind() {
        ErrorKind::NotFound => Error::new(ErrorKind::NotFound, format!("{path} is missing")),
        _ => error,
    };
    StoreError::Io { file: path.into(), operation, offset: 0, source: Arc::new(source) }
}
