// SPDX-License-Identifier: MIT
//! Files in, results out.
//!
//! The way of an input: an [`InputPath`] as typed (`file.npz#key`) is read into an [`Array`] by
//! [`read_array`], and the array becomes a [`Space`](repscope_core::Space) or
//! [`Labels`](repscope_core::Labels). A folder of images is opened by [`Images`], which decodes them batch by batch,
//! texts are read by [`read_texts`], and the states of an agent by [`read_dataset`]. [`inspect`] looks at an array
//! that may not be fit for either.
//! The way of an output: a [`ResultsDocument`] becomes JSON, and [`write_whole`] puts it on disk.
//!
//! Files are not trusted. Every size a header states is compared with the size of the file and with the memory that may
//! be taken ([`limit_memory`]) before memory is taken for it, pickled objects are never executed, and a damaged file gives an [`Error`] that names the file, never a panic.

mod array;
mod catch_panic;
mod choose;
mod dataset;
mod digest;
mod element;
mod error;
mod format;
mod images;
mod inside;
mod inspect;
mod json_lines;
mod labels;
mod mapped;
mod memory;
mod metadata;
pub mod names;
mod npy;
mod npz;
mod parquet_file;
mod parquet_writer;
mod path;
mod pickle;
mod plain_text;
mod read;
mod regular;
mod results;
mod samples;
mod space;
mod table;
mod tensors;
mod torch;
mod weights;
mod write;

pub use array::{Array, ArrayInfo, Data, Object};
pub use catch_panic::catch_panic;
pub use dataset::{Dataset, read_dataset};
pub use digest::{InputRecord, digest, digest_of_array};
pub use error::{Error, Result};
pub use format::Format;
pub use images::{BadImages, Images};
pub use inside::{as_file_names, inside};
pub use inspect::{ClassCount, Inspection, LabelFacts, NumberFacts, inspect, inspect_all, inspect_array};
pub use labels::{IdJoin, join_rows};
pub use memory::{bytes_text, limit_memory, memory_limit};
pub use metadata::{PrototypeTexts, read_prototype_texts};
pub use parquet_writer::{Column, write_parquet};
pub use path::{InputPath, folder_of};
pub use read::{blank_lines, list_arrays, read_array, read_array_beside, read_ids, read_plain_text, read_texts, tree};
pub use regular::{open_regular, read_regular, read_text};
pub use results::ResultsDocument;
pub use samples::{read_samples, samples_to_npz};
pub use space::Pool;
pub use weights::Weights;
pub use write::{
    NpyRows, copy_whole, write_bytes, write_floats, write_gray_png, write_indices, write_integers, write_names,
    write_tensors, write_whole,
};
