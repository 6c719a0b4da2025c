// SPDX-License-Identifier: MIT
//! Where the pickle and the blocks of numbers are in the file. Since PyTorch 1.6 it is a zip archive
//! of members that are not compressed; before, it was a chain of pickles with the blocks behind them.

use std::collections::HashMap;
use std::io::Cursor;
use std::ops::Range;

use zip::{CompressionMethod, ZipArchive};

use crate::element::ByteOrder;
use crate::error::{Parsed, Problem, bail, problem};
use crate::mapped::MappedFile;
use crate::names::cut;
use crate::pickle::{Pickled, Value, read_checkpoint};

/// The pickle of the number 0x1950a86a20f9469cfc6c, with which older files begin.
const OLD_MAGIC: &[u8] = b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.";

const ZIP_MAGIC: &[u8] = b"PK\x03\x04";

/// How many members of a foreign archive a message names.
const MEMBERS: usize = 5;

/// An open file.
pub(crate) struct Checkpoint {
    pub(crate) file: MappedFile,
    pub(crate) pickled: Pickled,
    pub(crate) order: ByteOrder,
    /// Where each block lies in the file.
    pub(crate) blocks: HashMap<String, Range<usize>>,
}

/// Whether the bytes can only be those of a checkpoint.
pub(crate) fn is_checkpoint(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(512)];
    let has_pickle = || start.windows(9).any(|name| name == b"/data.pkl");
    start.starts_with(OLD_MAGIC) || (start.starts_with(ZIP_MAGIC) && has_pickle())
}

impl Checkpoint {
    pub(crate) fn open(file: &MappedFile) -> Parsed<Checkpoint> {
        if file.starts_with(ZIP_MAGIC) {
            return open_zip(file);
        }
        if file.get(257..262) == Some(b"ustar") {
            bail!("is a tar archive, as PyTorch wrote before 2017; load it with an old PyTorch and save it again");
        }
        let (first, rest) = read_checkpoint(file)?;
        if file.starts_with(OLD_MAGIC) {
            return open_old(file, rest);
        }
        // A pickle that torch.save did not write: a dict of NumPy arrays, perhaps.
        Ok(Checkpoint {
            file: file.clone(),
            pickled: first,
            order: ByteOrder::Little,
            blocks: HashMap::new(),
        })
    }
}

/// `name/data.pkl`, `name/byteorder` and `name/data/KEY` for each block.
fn open_zip(file: &MappedFile) -> Parsed<Checkpoint> {
    let mut archive = ZipArchive::new(Cursor::new(&file[..])).map_err(|error| {
        problem!(
            "is not a readable PyTorch file ({error}); with its {} bytes it may have been cut off while copying",
            file.len()
        )
    })?;
    let name = |index| Some((index, archive.name_for_index(index)?.ok()?.into_owned()));
    let names: Vec<(usize, String)> = (0..archive.len()).filter_map(name).collect();
    let is_pickle = |name: &str| name == "data.pkl" || name.ends_with("/data.pkl");
    let Some((pickle, name)) = names.iter().find(|(_, name)| is_pickle(name)) else {
        return foreign(&names);
    };
    let folder = &name[..name.len() - "data.pkl".len()];
    let inside = |name: &str, part: &str| name.strip_prefix(folder).is_some_and(|rest| rest.starts_with(part));
    if names
        .iter()
        .any(|(_, n)| inside(n, "constants.pkl") || inside(n, "code/"))
    {
        bail!(
            "is a TorchScript program, not weights; save its state dict with \
             torch.save(torch.jit.load(path).state_dict(), …), or export the model as ONNX"
        );
    }
    let mut order = ByteOrder::Little;
    let mut blocks = HashMap::new();
    for (index, name) in &names {
        match name.strip_prefix(folder) {
            Some("byteorder") if &file[stored(&mut archive, file.len(), *index, name)?] == b"big" => {
                order = ByteOrder::Big
            }
            Some(rest) => {
                if let Some(key) = rest.strip_prefix("data/") {
                    blocks.insert(key.to_string(), stored(&mut archive, file.len(), *index, name)?);
                }
            }
            None => {}
        }
    }
    let range = stored(&mut archive, file.len(), *pickle, name)?;
    let (pickled, _) = read_checkpoint(&file[range])?;
    Ok(Checkpoint {
        file: file.clone(),
        pickled,
        order,
        blocks,
    })
}

/// Where a member's bytes are. PyTorch never compresses, so that nothing here can unpack to more than the file has.
fn stored(archive: &mut ZipArchive<Cursor<&[u8]>>, bytes: usize, index: usize, name: &str) -> Parsed<Range<usize>> {
    let member = archive
        .by_index_raw(index)
        .map_err(|error| problem!("has a bad member `{name}`: {error}"))?;
    let (size, compressed) = (member.size(), member.compressed_size());
    if member.compression() != CompressionMethod::Stored || member.encrypted() || size != compressed {
        bail!(
            "has the member `{name}` with {size} bytes packed into {compressed}; PyTorch packs nothing, so load the \
             file with torch.load and save it again"
        );
    }
    let start = member.data_start().and_then(|start| usize::try_from(start).ok());
    let end = start.and_then(|start| start.checked_add(usize::try_from(size).ok()?));
    match (start, end) {
        (Some(start), Some(end)) if end <= bytes => Ok(start..end),
        _ => bail!(
            "has the member `{name}` of {size} bytes, which ends behind the {bytes} bytes of the file; it may have \
             been cut off while copying"
        ),
    }
}

fn foreign<T>(names: &[(usize, String)]) -> Parsed<T> {
    if names.iter().any(|(_, name)| name.ends_with(".npy")) {
        bail!("is an archive of NumPy arrays; rename it to .npz");
    }
    bail!(
        "is a zip archive that torch.save did not write: it has no data.pkl but {}; unpack it if one of them is the \
         checkpoint",
        cut(names.iter().map(|(_, name)| format!("`{name}`")), MEMBERS)
    )
}

/// Behind the magic number: version, system, the object, the keys of the blocks; then each block as its
/// count of numbers and the numbers.
fn open_old(file: &MappedFile, rest: &[u8]) -> Parsed<Checkpoint> {
    let (_version, rest) = read_checkpoint(rest)?;
    let (system, rest) = read_checkpoint(rest)?;
    let (pickled, rest) = read_checkpoint(rest)?;
    let (keys, mut rest) = read_checkpoint(rest)?;
    let order = if is_big_endian(&system) {
        ByteOrder::Big
    } else {
        ByteOrder::Little
    };
    let sizes = number_sizes(&pickled);
    let mut blocks = HashMap::new();
    for &key in keys.parts(keys.root).unwrap_or_default() {
        let key = keys
            .text(key)
            .ok_or_else(|| Problem::new("has a damaged list of storages"))?;
        let Some(&size) = sizes.get(key) else {
            bail!("has the storage `{key}`, which no tensor uses: it is damaged");
        };
        let Some((count, after)) = rest.split_first_chunk::<8>() else {
            let count = rest.len();
            bail!("ends before its storage `{key}`, with {count} of 8 bytes; it may have been cut off while copying");
        };
        let count = match order {
            ByteOrder::Little => u64::from_le_bytes(*count),
            ByteOrder::Big => u64::from_be_bytes(*count),
        };
        let length = usize::try_from(count).ok().and_then(|count| count.checked_mul(size));
        let Some((_, behind)) = length.and_then(|length| after.split_at_checked(length)) else {
            bail!(
                "should have {count} numbers of {size} bytes in its storage `{key}` but has {} bytes left; it may \
                 have been cut off while copying",
                after.len()
            );
        };
        let start = file.len() - after.len();
        blocks.insert(key.to_string(), start..file.len() - behind.len());
        rest = behind;
    }
    Ok(Checkpoint {
        file: file.clone(),
        pickled,
        order,
        blocks,
    })
}

/// Bytes per number of each storage that the pickle mentions.
fn number_sizes(pickled: &Pickled) -> HashMap<&str, usize> {
    let storages = pickled.values().iter().filter_map(|value| match value {
        Value::Storage(storage) => Some((pickled.text(storage.key)?, storage.kind.bytes())),
        _ => None,
    });
    storages.collect()
}

fn is_big_endian(system: &Pickled) -> bool {
    let Value::Dict(entries) = system.get(system.root) else {
        return false;
    };
    entries.iter().any(|&(key, value)| {
        system.text(key) == Some("little_endian")
            && matches!(system.get(value), Value::Plain(crate::array::Object::Bool(false)))
    })
}
