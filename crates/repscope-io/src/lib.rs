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
//! Nothing is trusted to stay as it is. An input is [`Watched`]: digested as it is opened, and verified before results are published. What a
//! later run relies on has a [`Seal`]. A folder that is written is a [`Claim`].
//!
//! Files are not trusted. Every size a header states is compared with the size of the file and with the memory that may be taken
//! ([`limit_memory`]) before memory is taken for it, pickled objects are never executed, and a damaged file gives an [`Error`] that names
//! the file, never a panic.

mod anndata;
mod array;
mod arrow;
mod catch_panic;
mod choose;
mod dataset;
mod digest;
mod element;
mod error;
mod faults;
mod format;
mod hdf5;
mod images;
mod inside;
mod inspect;
mod interrupt;
mod json_lines;
mod labels;
mod lock;
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
mod seal;
mod shards;
mod space;
mod stdout;
mod table;
mod temporary;
mod tensors;
mod torch;
mod vectors;
mod watched;
mod weights;
mod write;
mod zarr;
mod zstd;

pub use array::{Array, ArrayInfo, Data, Object};
pub use arrow::{ArrowColumn, write_arrow};
pub use catch_panic::catch_panic;
pub use dataset::{Dataset, read_dataset};
pub use digest::{Files, InputRecord, digest, digest_of_array};
pub use error::{Error, Result};
pub use faults::inject_fault;
pub use format::Format;
pub use images::{BadImages, Images};
pub use inside::{as_file_names, inside};
pub use inspect::{ClassCount, Inspection, LabelFacts, NumberFacts, inspect, inspect_all, inspect_array};
pub use interrupt::clean_up_on_signals;
pub use labels::{IdJoin, join_rows};
pub use lock::{Claim, Lock};
pub use mapped::{read_instead_of_mapping, was_truncated};
pub use memory::{bytes_text, limit_memory, memory_limit};
pub use metadata::{PrototypeTexts, read_prototype_texts};
pub use parquet_writer::{Column, write_parquet};
pub use path::{InputPath, folder_of};
pub use read::{blank_lines, list_arrays, read_array, read_array_beside, read_ids, read_plain_text, read_texts, tree};
pub use regular::{open_regular, read_regular, read_text};
pub use results::{ResultsDocument, StoredVersion};
pub use samples::{read_samples, samples_to_npz};
pub use seal::{Seal, sync_folder};
pub use shards::is_array_folder;
pub use space::Pool;
pub use stdout::stdout_was_closed;
pub use temporary::{PREFIX, TemporaryFolder};
pub use watched::Watched;
pub use weights::Weights;
pub use write::{
    NpyRows, check_writable, copy_whole, integers_to_npy, write_bytes, write_floats, write_gray_png, write_indices,
    write_integers, write_names, write_tensors, write_whole,
};
