//! After images that say of JSON documents only what changed (PARTIAL_UPDATE_ROWS): made whole with the row that was found.

use base::{SqlError, codes};
use binlog::event::{JsonDiff, column_type};
use types::Json;
use types::json::{Diff, Path, binary};

use super::convert::JSON_LENGTH_BYTES;
use super::image::{Slot, bit};
use super::mapping::MappedTable;
use super::{corrupt, damaged_json};

/// The image with whole documents instead of diffs; `slots` are its slots then. `diffs` says which JSON columns of the log's table
/// are diffs, `old` is the row that was found, taken apart.
pub(super) fn resolve(
    mapped: &MappedTable,
    image: &[u8],
    slots: &mut [Slot],
    diffs: &[u8],
    old: (&[u8], &[Slot]),
) -> Result<Vec<u8>, SqlError> {
    let first = slots.iter().find_map(|slot| if let Slot::At(start, _) = slot { Some(*start) } else { None });
    let mut out = image[..first.unwrap_or(image.len())].to_vec();
    let mut json = 0;
    for (source, column) in mapped.map.columns.iter().enumerate() {
        let is_json = column.type_code == column_type::JSON;
        let is_diff = is_json && bit(diffs, json);
        json += usize::from(is_json);
        let Slot::At(start, end) = slots[source] else { continue };
        let begin = out.len();
        if is_diff {
            let list = JsonDiff::decode_all(&image[start + JSON_LENGTH_BYTES..end]).map_err(corrupt)?;
            let ours = mapped.columns.iter().position(|column| column.source == Some(source));
            let document = ours.map(|ours| apply(&list, old, ours)).transpose()?.unwrap_or_default();
            out.extend_from_slice(&(document.len() as u32).to_le_bytes());
            out.extend_from_slice(&document);
        } else {
            out.extend_from_slice(&image[start..end]);
        }
        slots[source] = Slot::At(begin, out.len());
    }
    Ok(out)
}

/// The document of a column of a row, changed.
fn apply(diffs: &[JsonDiff<'_>], (row, slots): (&[u8], &[Slot]), column: usize) -> Result<Vec<u8>, SqlError> {
    let refused = || {
        let message = "Could not apply JSON diff in table or column";
        SqlError::new(codes::COULD_NOT_APPLY_JSON_DIFF, message)
    };
    let Slot::At(start, end) = slots[column] else { return Err(refused()) };
    let mut document = binary::decode(&row[start + JSON_LENGTH_BYTES..end]).map_err(damaged_json)?;
    for diff in diffs {
        let (kind, path, value) = match diff {
            JsonDiff::Replace { path, value } => (Diff::Replace, path, Some(value)),
            JsonDiff::Insert { path, value } => (Diff::Insert, path, Some(value)),
            JsonDiff::Remove { path } => (Diff::Remove, path, None),
        };
        let path = std::str::from_utf8(path).ok().and_then(|path| Path::parse(path).ok());
        let path = path.ok_or_else(|| corrupt("a JSON diff whose path is none"))?;
        let value = value.map(|value| binary::decode(value)).transpose().map_err(damaged_json)?;
        document.apply_diff(kind, &path, value.unwrap_or(Json::Null)).ok_or_else(refused)?;
    }
    binary::encode(&document).map_err(damaged_json)
}
