// SPDX-License-Identifier: MIT
//! Reading files that NumPy, PyTorch, pandas, pyarrow, h5py, zarr, Pillow and safetensors wrote, and damaged ones.

mod arrow;
mod checkpoints;
mod containers;
mod datasets;
mod fixtures;
mod hdf5;
mod hostile;
mod hostile_checkpoints;
mod images;
mod inspection;
mod numpy;
mod tables;
mod texts;
#[cfg(feature = "zarr")]
mod zarr;
