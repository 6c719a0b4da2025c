// SPDX-License-Identifier: MIT
//! An open `.parquet` file, and the pages of its columns. Those that are compressed with zstd are unpacked here: the decoder knows zstd
//! by a library in C alone, so it hands them on as they are.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::column::reader::{ColumnReaderImpl, get_column_reader, get_typed_column_reader};
use parquet::data_type::DataType;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::FileReader;
use parquet::file::serialized_reader::{SerializedFileReader, SerializedPageReader};

use super::claims;
use crate::error::{Parsed, problem};
use crate::mapped::MappedFile;
use crate::zstd;

pub(super) struct Opened {
    reader: SerializedFileReader<File>,
    file: Arc<File>,
}

impl Opened {
    pub(super) fn open(file: &MappedFile, path: &Path) -> Parsed<Self> {
        claims::check_footer(file)?;
        let file = File::open(path)?;
        let bytes = file.metadata()?.len();
        let reader = SerializedFileReader::new(file.try_clone()?).map_err(|error| {
            problem!(
                "is not a readable .parquet file ({error}); with its {bytes} bytes it may have been cut off while copying"
            )
        })?;
        let file = Arc::new(file);
        Ok(Opened { reader, file })
    }

    pub(super) fn metadata(&self) -> &ParquetMetaData {
        self.reader.metadata()
    }

    pub(super) fn groups(&self) -> usize {
        self.reader.num_row_groups()
    }

    /// The values of a column in one group of rows. `most` is how many bytes the largest page is said to have.
    pub(super) fn values<T: DataType>(&self, group: usize, leaf: usize, most: u64) -> Result<ColumnReaderImpl<T>> {
        let group = self.reader.get_row_group(group)?;
        let chunk = group.metadata().column(leaf);
        let pages: Box<dyn PageReader> = if matches!(chunk.compression(), Compression::ZSTD(_)) {
            let as_they_are = chunk.clone().into_builder();
            let as_they_are = as_they_are.set_compression(Compression::UNCOMPRESSED).build()?;
            let rows = usize::try_from(group.metadata().num_rows())?;
            let packed = SerializedPageReader::new(self.file.clone(), &as_they_are, rows, None)?;
            Box::new(Unpacked { packed, most })
        } else {
            group.get_column_page_reader(leaf)?
        };
        let description = group.metadata().schema_descr().column(leaf);
        Ok(get_typed_column_reader::<T>(get_column_reader(description, pages)))
    }
}

struct Unpacked {
    packed: SerializedPageReader<File>,
    most: u64,
}

impl Iterator for Unpacked {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for Unpacked {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let Some(mut page) = self.packed.get_next_page()? else {
            return Ok(None);
        };
        // Levels stand before the values as they are in pages of version 2, which may also be left uncompressed.
        let levels = match &page {
            Page::DataPageV2 {
                is_compressed: false, ..
            } => return Ok(Some(page)),
            Page::DataPageV2 {
                def_levels_byte_len: definition,
                rep_levels_byte_len: repetition,
                ..
            } => (*definition as usize).saturating_add(*repetition as usize),
            Page::DataPage { .. } | Page::DictionaryPage { .. } => 0,
        };
        let (Page::DataPage { buf, .. } | Page::DataPageV2 { buf, .. } | Page::DictionaryPage { buf, .. }) = &mut page;
        let damaged = |problem: String| ParquetError::General(format!("a page {problem}"));
        let Some((levels, values)) = buf.split_at_checked(levels) else {
            return Err(damaged("is shorter than its levels".to_string()));
        };
        let unpacked = zstd::unpack(values, self.most).map_err(|problem| damaged(problem.to_string()))?;
        *buf = [levels, &unpacked].concat().into();
        Ok(Some(page))
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.packed.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.packed.skip_next_page()
    }
}
