// SPDX-License-Identifier: MIT
//! Zarr stores, version 2 and 3: `store.zarr#group/array`. Each folder in them says in a small file what it is; an array is a file for each
//! of its chunks. AnnData keeps columns of categories and sparse matrices in groups, as it does in HDF5; each is one array here.

#[cfg(feature = "zarr")]
mod blosc;
#[cfg(feature = "zarr")]
mod chunks;
#[cfg(feature = "zarr")]
mod codecs;
#[cfg(feature = "zarr")]
mod layout;
#[cfg(feature = "zarr")]
mod store;

use std::path::Path;

#[cfg(feature = "zarr")]
pub(crate) use store::{list, read, read_each};

/// What version 3 writes into the folder of every array and group.
const NODE: &str = "zarr.json";

/// What version 2 writes into the folder of an array.
const ARRAY: &str = ".zarray";

/// What version 2 writes into the folder of a group.
const GROUP: &str = ".zgroup";

/// Whether a folder is an array or a group of Zarr.
pub(crate) fn is_store(path: &Path) -> bool {
    [NODE, ARRAY, GROUP].iter().any(|name| path.join(name).is_file())
}

#[cfg(not(feature = "zarr"))]
mod without {
    use std::path::Path;

    use crate::array::{Array, ArrayInfo};
    use crate::error::{Error, Result, problem};
    use crate::path::InputPath;

    fn refuse(path: &Path) -> Error {
        problem!("is a Zarr store, which this build does not read; build it with the feature `zarr`")
            .in_file(path.display())
    }

    pub(crate) fn list(path: &Path) -> Result<Vec<ArrayInfo>> {
        Err(refuse(path))
    }

    pub(crate) fn read(input: &InputPath) -> Result<Array> {
        Err(refuse(&input.path))
    }

    pub(crate) fn read_each(path: &Path, _take: impl FnMut(InputPath, Array)) -> Result<()> {
        Err(refuse(path))
    }
}

#[cfg(not(feature = "zarr"))]
pub(crate) use without::{list, read, read_each};

#[cfg(all(test, not(feature = "zarr")))]
mod tests {
    #[test]
    fn a_build_without_the_feature_names_it() {
        let folder = tempfile::tempdir().unwrap();
        crate::write_whole(&folder.path().join(super::GROUP), b"{}").unwrap();
        let said = crate::list_arrays(folder.path()).unwrap_err().to_string();
        assert!(
            said.contains("is a Zarr store") && said.contains("feature `zarr`"),
            "{said}"
        );
    }
}
