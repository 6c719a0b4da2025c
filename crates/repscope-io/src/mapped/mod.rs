// SPDX-License-Identifier: MIT
//! Files seen as memory, so that a large array is used where it lies.
//!
//! Another program may write to a mapped file or cut it off. What was written is found when the run ends: every input is a
//! [`Watched`](crate::Watched) file. What is cut off reads as zeros instead of ending the process (`truncated`), and is found in the
//! same way. [`read_instead_of_mapping`] has files read into memory, which no other program can change.

#[cfg(unix)]
mod truncated;

use std::fs::File;
use std::io::Read;
use std::marker::PhantomData;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use memmap2::Mmap;

use crate::array::Data;
use crate::element::{ByteOrder, Element};
use crate::error::{Error, Parsed, Problem, Result, bail};
use crate::faults::operation;
use crate::regular::open_regular;
use crate::watched::Stamp;

#[cfg(unix)]
use truncated::Guard;

/// Whether files are read instead of mapped.
static READ: AtomicBool = AtomicBool::new(false);

/// From now on files are read into memory where `wanted`, and mapped otherwise. It holds for the whole process, as the number of
/// threads does.
pub fn read_instead_of_mapping(wanted: bool) {
    READ.store(wanted, Ordering::Relaxed);
}

/// Whether a file was cut off while it was mapped, so that zeros were read instead of what it held.
pub fn was_truncated() -> bool {
    #[cfg(unix)]
    return truncated::happened();
    #[cfg(not(unix))]
    return false;
}

/// The bytes of a file. Clones share one mapping.
#[derive(Clone)]
pub(crate) struct MappedFile(Arc<Opened>);

struct Opened {
    bytes: Bytes,
    stamp: Stamp,
}

enum Bytes {
    /// The guard goes before the mapping, whose place may then be taken by something else.
    #[cfg(unix)]
    Mapped(#[allow(dead_code)] Guard, Mmap),
    #[cfg(not(unix))]
    Mapped(Mmap),
    /// Whole words, so that numbers are aligned as in a mapping, and how many bytes of them the file has.
    Read(Vec<u64>, usize),
}

impl MappedFile {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let read = |source| Error::read(path, source);
        operation("opening a file").map_err(read)?;
        let mut file = open_regular(path).map_err(read)?;
        let metadata = file.metadata().map_err(read)?;
        if metadata.is_dir() {
            return Err(Problem::new("is a folder; give a file").in_file(path.display()));
        }
        let stamp = Stamp::of(&metadata);
        let mapped = if READ.load(Ordering::Relaxed) {
            None
        } else {
            map(&file).map_err(read)?
        };
        let bytes = match mapped {
            Some(mapped) => mapped,
            None => read_all(&mut file, metadata.len()).map_err(read)?,
        };
        Ok(MappedFile(Arc::new(Opened { bytes, stamp })))
    }

    /// The file as it was when it was opened.
    pub(crate) fn stamp(&self) -> Stamp {
        self.0.stamp
    }

    /// The BLAKE3 digest of the bytes, in hexadecimal.
    pub(crate) fn digest(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update_rayon(self);
        hasher.finalize().to_hex().to_string()
    }
}

impl std::fmt::Debug for MappedFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "MappedFile({} bytes)", self.len())
    }
}

/// The bytes where they are; `None` where too many files are mapped to guard another one.
fn map(file: &File) -> std::io::Result<Option<Bytes>> {
    // Mapping is unsafe because another process could cut the file short or rewrite it while we read. Neither can do more than
    // change numbers: what is cut off is replaced by zeros, all sizes are checked against this mapping, and bytes become
    // numbers only through bytemuck's checked casts. That they changed is found at the end of the run.
    #[allow(unsafe_code)]
    let map = unsafe { Mmap::map(file)? };
    #[cfg(unix)]
    return Ok(Guard::new(&map).map(|guard| Bytes::Mapped(guard, map)));
    #[cfg(not(unix))]
    return Ok(Some(Bytes::Mapped(map)));
}

fn read_all(file: &mut File, size: u64) -> std::io::Result<Bytes> {
    let too_large = || std::io::Error::new(std::io::ErrorKind::OutOfMemory, "it is larger than the memory");
    let size = usize::try_from(size).map_err(|_| too_large())?;
    let mut words: Vec<u64> = Vec::new();
    words.try_reserve_exact(size.div_ceil(8)).map_err(|_| too_large())?;
    words.resize(size.div_ceil(8), 0);
    file.read_exact(&mut bytemuck::cast_slice_mut(&mut words)[..size])?;
    Ok(Bytes::Read(words, size))
}

impl Deref for MappedFile {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0.bytes {
            #[cfg(unix)]
            Bytes::Mapped(_, map) => map,
            #[cfg(not(unix))]
            Bytes::Mapped(map) => map,
            Bytes::Read(words, size) => &bytemuck::cast_slice(words)[..*size],
        }
    }
}

/// Numbers that lie in C order from byte `start`, where they are in the file; `None` where they have to be
/// converted first.
pub(crate) fn mapped_data(
    file: &MappedFile,
    element: Element,
    order: ByteOrder,
    start: usize,
    count: usize,
) -> Parsed<Option<Data>> {
    Ok(match (element, order) {
        (Element::F32, ByteOrder::Little) => {
            MappedNumbers::<f32>::new(file, start, count)?.map(|v| Data::F32(Arc::new(v)))
        }
        (Element::F64, ByteOrder::Little) => {
            MappedNumbers::<f64>::new(file, start, count)?.map(|v| Data::F64(Arc::new(v)))
        }
        (Element::U8, _) => MappedNumbers::<u8>::new(file, start, count)?.map(|v| Data::U8(Arc::new(v))),
        _ => None,
    })
}

/// Numbers of type `T` inside a mapped file.
struct MappedNumbers<T> {
    file: MappedFile,
    start: usize,
    end: usize,
    number: PhantomData<T>,
}

impl<T: bytemuck::Pod> MappedNumbers<T> {
    /// `None` where the numbers would not be aligned, or this machine orders bytes differently.
    fn new(file: &MappedFile, start: usize, count: usize) -> Parsed<Option<Self>> {
        let end = count.checked_mul(size_of::<T>()).and_then(|b| b.checked_add(start));
        let bytes = end.and_then(|end| file.get(start..end));
        let (Some(bytes), Some(end)) = (bytes, end) else {
            bail!("ends before its data");
        };
        let usable = cfg!(target_endian = "little") && bytemuck::try_cast_slice::<u8, T>(bytes).is_ok();
        Ok(usable.then(|| MappedNumbers {
            file: file.clone(),
            start,
            end,
            number: PhantomData,
        }))
    }
}

impl<T: bytemuck::Pod> AsRef<[T]> for MappedNumbers<T> {
    fn as_ref(&self) -> &[T] {
        bytemuck::cast_slice(&self.file[self.start..self.end])
    }
}
