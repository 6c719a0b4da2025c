// SPDX-License-Identifier: MIT
//! The one place where texts become vectors. No text encoder can be run yet; when one can, only this function changes.

use std::path::Path;

use anyhow::{Result, bail};
use repscope_core::Space;

/// One row per text, in the order of the texts, by the text encoder of a checkpoint.
pub fn encode_texts(checkpoint: Option<&Path>, texts: &[String]) -> Result<Space> {
    let encoder = match checkpoint {
        Some(path) => format!("the text encoder of {} cannot be run by this version", path.display()),
        None => "no text encoder can be run by this version".to_string(),
    };
    bail!(
        "{encoder}, so the {} texts of the prototypes have no vectors. Write them with --prototype-texts texts.csv, \
         encode the column `text` with your own encoder, and pass the vectors: --prototype-embeddings vectors.npy \
         --prototype-labels texts.csv",
        texts.len()
    )
}
