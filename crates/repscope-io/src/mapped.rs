// SPDX-License-Identifier: MIT
//! Files seen as memory, so that a large array is used where it lies.

use std::marker::PhantomData;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use memmap2::Mmap;

use crate::array::Data;
use crate::element::{ByteOrder, Element};
use crate::error::{Error, Parsed, Problem, Result, bail};
use crate::regular::open_regular;

/// The bytes of a file. Clones share one mapping.
#[derive(Clone)]
pub(crate) struct MappedFile(Arc<Mmap>);

impl MappedFile {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let read = |source| Error::read(path, source);
        let file = open_regular(path).map_err(read)?;
        if file.metadata().map_err(read)?.is_dir() {
            return Err(Problem::new("is a folder; give a file").in_file(path.display()));
        }
        // Mapping is unsafe because another process could cut the file short or rewrite it while we
        // read. We accept what every reader of mapped arrays (NumPy's `mmap_mode` too) accepts: the
        // inputs of a run must not change during the run. All sizes are checked against this mapping,
        // and bytes become numbers only through bytemuck's checked casts.
        #[allow(unsafe_code)]
        let map = unsafe { Mmap::map(&file) };
        Ok(MappedFile(Arc::new(map.map_err(read)?)))
    }
}

impl Deref for MappedFile {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
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
