// SPDX-License-Identifier: MIT
//! Embeddings from matrices of other crates, behind the features of their names.

use repscope_core::Values;

use crate::error::{Error, Result};
use crate::functions::Embeddings;

/// Copies a matrix row by row.
fn rows_of<T>(rows: usize, columns: usize, at: impl Fn(usize, usize) -> T) -> Result<Embeddings>
where
    Vec<T>: Into<Values>,
{
    let values: Vec<T> = (0..rows)
        .flat_map(|i| (0..columns).map(move |j| (i, j)))
        .map(|(i, j)| at(i, j))
        .collect();
    Embeddings::new(rows, columns, values)
}

/// Implements the conversions for both precisions.
macro_rules! convert {
    ($view:ty, $doc:literal, |$matrix:ident| $shape:expr) => {
        #[doc = $doc]
        impl TryFrom<$view> for Embeddings {
            type Error = Error;

            fn try_from($matrix: $view) -> Result<Self> {
                let (rows, columns) = $shape;
                rows_of(rows, columns, |i, j| $matrix[(i, j)])
            }
        }
    };
}

#[cfg(feature = "ndarray")]
mod of_ndarray {
    use super::*;

    convert!(
        ndarray::ArrayView2<'_, f64>,
        "One row per sample, whatever the strides.\n\n```\nuse ndarray::array;\nuse repscope::Embeddings;\n\nlet matrix = array![[1.0, 2.0, 3.0], [4.0, 5.0, 6.5]];\nlet embeddings = Embeddings::try_from(matrix.t())?;\nassert_eq!((embeddings.rows(), embeddings.columns()), (3, 2));\n# Ok::<(), repscope::Error>(())\n```",
        |matrix| matrix.dim()
    );
    convert!(
        ndarray::ArrayView2<'_, f32>,
        "One row per sample, whatever the strides.",
        |matrix| matrix.dim()
    );
}

#[cfg(feature = "faer")]
mod of_faer {
    use super::*;

    convert!(
        faer::MatRef<'_, f64>,
        "One row per sample, whatever the strides.\n\n```\nuse faer::mat;\nuse repscope::Embeddings;\n\nlet matrix = mat![[1.0, 2.0, 3.0], [4.0, 5.0, 6.5]];\nlet embeddings = Embeddings::try_from(matrix.as_ref())?;\nassert_eq!((embeddings.rows(), embeddings.columns()), (2, 3));\n# Ok::<(), repscope::Error>(())\n```",
        |matrix| (matrix.nrows(), matrix.ncols())
    );
    convert!(
        faer::MatRef<'_, f32>,
        "One row per sample, whatever the strides.",
        |matrix| (matrix.nrows(), matrix.ncols())
    );
}
