//! Pages for people.

use std::fmt::Write;

use base::IndexId;
use bytes::Bytes;

use crate::page::form::{Compression, blocks_from};
use crate::page::leaf::Value;
use crate::page::{Expected, PAGE_BLOCKS, Page, PageKind, PageRef, get_u64};
use crate::superblock::Superblock;

/// A generation without the epoch that each opening begins.
pub(super) fn generation(number: u64) -> String {
    match number >> 20 {
        0 => number.to_string(),
        epoch => format!("{epoch}.{}", number & 0xF_FFFF),
    }
}

/// Bytes as text, long ones by their beginning.
pub(super) fn text(bytes: &[u8]) -> String {
    let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(12)]).into_owned();
    if bytes.len() > 12 { format!("{shown}… ({} bytes)", bytes.len()) } else { shown }
}

/// How a page is compressed.
fn form_of(bytes: &[u8]) -> Compression {
    [Compression::Lz4, Compression::Zstd].into_iter().find(|&form| form as u8 == bytes[56]).unwrap_or_default()
}

/// What a page says, from its bytes alone.
pub(super) fn describe(bytes: &[u8]) -> String {
    let kinds = [PageKind::Leaf, PageKind::Inner, PageKind::Overflow, PageKind::Manifest, PageKind::Superblock];
    let Some(&kind) = kinds.iter().find(|&&kind| kind as u8 == bytes[32]) else { return "not written\n".to_string() };
    let blocks = if kind == PageKind::Manifest { PAGE_BLOCKS } else { blocks_from(bytes) };
    let at = PageRef { blocks, ..PageRef::plain(get_u64(bytes, 8), get_u64(bytes, 24)) };
    let expected = Expected { at, index: IndexId(get_u64(bytes, 16)), kind, level: bytes[33] };
    let page = match Page::check(Bytes::copy_from_slice(&bytes[..at.bytes()]), &expected) {
        Ok(page) => page,
        Err(error) => return format!("wrong: {error}\n"),
    };
    let mut output = format!("{kind:?} {} of generation {}", at.number, generation(at.generation));
    if blocks < PAGE_BLOCKS {
        write!(output, ", {:?} in {blocks} blocks", form_of(bytes)).expect("a String takes everything");
    }
    if expected.index.0 > 0 {
        write!(output, ", index {}", expected.index).expect("a String takes everything");
    }
    output.push('\n');
    match kind {
        PageKind::Leaf => (0..page.count()).for_each(|row| output.push_str(&describe_row(&page, row))),
        PageKind::Inner => (0..page.count()).for_each(|child| output.push_str(&describe_child(&page, child))),
        PageKind::Superblock => output.push_str(&describe_superblock(at.number.0 / u64::from(PAGE_BLOCKS), bytes)),
        _ => writeln!(output, "  page {} of its value, {} bytes", page.rows(), page.used()).expect("as above"),
    }
    output
}

fn describe_row(page: &Page, row: usize) -> String {
    let value = match page.value(row) {
        Value::Inline(value) => text(&value),
        Value::Overflow(value) => {
            let runs: String = value.runs.iter().map(|run| format!(" {}+{}", run.start, run.len)).collect();
            format!("{} bytes in blocks{runs}", value.size)
        }
    };
    format!("  {} = {value}\n", text(page.key(row)))
}

fn describe_child(page: &Page, number: usize) -> String {
    let child = page.child(number);
    format!("  from \"{}\": page {} with {} rows\n", text(&child.lower), child.at.number, child.rows)
}

fn describe_superblock(slot: u64, bytes: &[u8]) -> String {
    let block = Superblock::decode(slot, Bytes::copy_from_slice(bytes)).expect("it was checked");
    format!(
        "  commit {} at {}, file of {} blocks, manifest of {} bytes in {} pages from {}\n",
        block.commit_number,
        block.log_position,
        block.file_blocks,
        block.manifest_size,
        block.manifest_pages,
        block.manifest_start
    )
}

/// A hex dump that leaves out lines of zeros.
pub(super) fn hex(bytes: &[u8]) -> String {
    let mut output = String::new();
    for (line, chunk) in bytes.chunks(16).enumerate().filter(|(_, chunk)| chunk.iter().any(|&byte| byte != 0)) {
        write!(output, "{:5} ", line * 16).expect("a String takes everything");
        for byte in chunk {
            write!(output, " {byte:02x}").expect("as above");
        }
        let printable = |&byte: &u8| if (32..127).contains(&byte) { byte as char } else { '.' };
        writeln!(output, "  {}", chunk.iter().map(printable).collect::<String>()).expect("as above");
    }
    output
}
