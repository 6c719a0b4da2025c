// SPDX-License-Identifier: MIT
//! NumPy's `.npz`: a zip archive whose members are `.npy` files. Members are matched by name and
//! decoded in memory; nothing is ever extracted to disk.

use std::io::{Cursor, Read};

use zip::ZipArchive;
use zip::read::ZipFile;

use crate::array::{Array, ArrayInfo};
use crate::choose::choose;
use crate::error::{Parsed, Problem, bail, problem};
use crate::npy::{self, Header};
use crate::read::Take;

/// A larger member is refused.
const MEMBER_LIMIT: u64 = 16 << 30;

/// Deflate makes at most 1032 bytes out of one; a member that claims more is lying.
const DEFLATE_RATIO: u64 = 1032;

type Archive<'a> = ZipArchive<Cursor<&'a [u8]>>;

/// The arrays in the archive.
pub(crate) fn list(bytes: &[u8]) -> Parsed<Vec<ArrayInfo>> {
    let mut archive = open(bytes)?;
    let mut infos = Vec::new();
    for (index, key) in members(&archive) {
        let header = Header::read(&mut member(&mut archive, index)?).map_err(|p| in_member(&key, p))?;
        infos.push(ArrayInfo::new(Some(key), &header.shape, header.content.name()));
    }
    Ok(infos)
}

/// Reads one array of the archive.
pub(crate) fn read(bytes: &[u8], key: Option<&str>) -> Parsed<Array> {
    let mut archive = open(bytes)?;
    let members = members(&archive);
    let named = |key| members.iter().position(|(_, name)| name == key);
    let at = match (key.and_then(named), members.len()) {
        (Some(at), _) => at,
        (None, 1) if key.is_none() => 0,
        // The list is needed for the message only.
        _ => choose(&list(bytes)?, key, "array")?,
    };
    let (index, key) = &members[at];
    read_member(&mut archive, *index).map_err(|p| in_member(key, p))
}

/// Reads every array of the archive, one after the other.
pub(crate) fn read_each(bytes: &[u8], take: Take) -> Parsed<()> {
    let mut archive = open(bytes)?;
    for (index, key) in members(&archive) {
        let array = read_member(&mut archive, index).map_err(|p| in_member(&key, p));
        take(Some(key), array)?;
    }
    Ok(())
}

fn read_member(archive: &mut Archive, index: usize) -> Parsed<Array> {
    let mut member = member(archive, index)?;
    let (declared, compressed) = (member.size(), member.compressed_size());
    let header = Header::read(&mut member)?;
    let available = declared.saturating_sub(header.bytes as u64);
    header.check_size(available)?;
    if let Some(needed) = header.value_bytes()?.filter(|&needed| needed < available) {
        bail!("is suspicious: the array needs {needed} bytes but the archive says there are {available}");
    }
    if declared > MEMBER_LIMIT || declared / DEFLATE_RATIO > compressed {
        bail!(
            "claims {declared} bytes out of {compressed} compressed ones; at most {MEMBER_LIMIT} bytes and a \
             ratio of {DEFLATE_RATIO} are believed"
        );
    }
    let array = npy::read_values(header, &mut member, available)?;
    // Reading to the end makes the archive compare its checksum.
    match member.read(&mut [0]) {
        Ok(0) => Ok(array),
        Ok(_) => bail!("holds more bytes than the archive says"),
        Err(error) => bail!("is damaged: {error}"),
    }
}

fn open(bytes: &[u8]) -> Parsed<Archive<'_>> {
    ZipArchive::new(Cursor::new(bytes)).map_err(|error| {
        problem!(
            "is not a readable .npz archive ({error}); with its {} bytes it may have been cut off while copying",
            bytes.len()
        )
    })
}

fn member<'a, 'b>(archive: &'a mut Archive<'b>, index: usize) -> Parsed<ZipFile<'a, Cursor<&'b [u8]>>> {
    archive
        .by_index(index)
        .map_err(|error| problem!("cannot be decoded: {error}; write it with np.savez or np.savez_compressed"))
}

/// Index and key of each `.npy` member.
fn members(archive: &Archive) -> Vec<(usize, String)> {
    let name = |index| {
        let name = archive.name_for_index(index)?.ok()?;
        Some((index, name.strip_suffix(".npy")?.to_string()))
    };
    (0..archive.len()).filter_map(name).collect()
}

fn in_member(key: &str, found: Problem) -> Problem {
    problem!("has a bad member `{key}`, which {found}")
}
