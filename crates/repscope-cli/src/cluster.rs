// SPDX-License-Identifier: MIT
//! `repscope evaluate --cluster ADDRESS`: embeddings stay in shards that the machines of a cluster read. This crate cannot reach them:
//! the Python package, which can, says how before the command runs.

use std::path::Path;
use std::sync::OnceLock;

use anyhow::{Result, bail};
use repscope::options::Data;
use repscope::{Array, Evaluate, Named, Source};

/// What a cluster is asked for.
pub struct Asked<'a> {
    /// `auto`, or an address.
    pub address: &'a str,
    /// What a worker may use, in bytes.
    pub memory: Option<u64>,
    /// Where partials are kept.
    pub partials: Option<&'a Path>,
}

/// Opens the shards of a pattern under a name.
pub type Open = Box<dyn Fn(&str, &str) -> Result<Array>>;

/// Connects to a cluster.
pub type Connect = Box<dyn Fn(&Asked) -> Result<Open> + Send + Sync>;

static CONNECT: OnceLock<Connect> = OnceLock::new();

/// Says how clusters are reached; to be called once, before the command runs.
pub fn reach_clusters(connect: Connect) {
    CONNECT.set(connect).ok();
}

/// Has the embeddings and inputs of an evaluation stay where they are, where that is asked for.
pub fn bind(request: &mut Evaluate) -> Result<()> {
    let Some(address) = request.cluster.clone() else {
        if request.partials.is_some() {
            bail!("--partials keeps the work of a cluster; name one with --cluster auto or --cluster ADDRESS");
        }
        return Ok(());
    };
    let Some(connect) = CONNECT.get() else {
        bail!(
            "this program cannot reach a cluster; install the Python package, whose command can: pip install \"repscope[ray]\""
        );
    };
    let open = connect(&Asked {
        address: &address,
        memory: request.settings.machine.memory_bytes()?,
        partials: request.partials.as_deref(),
    })?;
    shards(&mut request.data, &open)
}

fn shards(data: &mut Data, open: &Open) -> Result<()> {
    for models in [&mut data.models, &mut data.replicates] {
        for model in models {
            let Named::Text(text) = &*model else { continue };
            let (name, path) = match text.split_once('=') {
                Some((name, path)) if !name.contains(['/', '.', ':']) => (name.to_string(), path),
                _ => (name_of(text), text.as_str()),
            };
            let source = Source::Array(name.clone(), open(&name, path)?);
            *model = Named::Source(name, source, None);
        }
    }
    if let Some(Source::File(path)) = &data.states {
        data.states = Some(Source::Array("states".to_string(), open("states", path)?));
    }
    Ok(())
}

/// What to call shards that have no name: `jepa` for `runs/jepa-*.npy`.
fn name_of(path: &str) -> String {
    let file = path.split('#').next().unwrap_or(path);
    let file = file.rsplit('/').next().unwrap_or(file);
    let stem = file.split(['*', '?', '[']).next().unwrap_or(file);
    let stem = stem.rsplit_once('.').map_or(stem, |(stem, _)| stem);
    let stem = stem.trim_end_matches(['-', '_', '.']);
    if stem.is_empty() {
        "model".to_string()
    } else {
        stem.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_without_a_name_go_by_what_their_files_have_in_common() {
        for (path, name) in [
            ("runs/jepa-*.npy", "jepa"),
            ("s3://bucket/pca.parquet#embedding", "pca"),
            ("*.npy", "model"),
            ("z.npy", "z"),
        ] {
            assert_eq!(name_of(path), name);
        }
    }

    #[test]
    fn the_plain_binary_says_what_to_install() {
        let mut request = Evaluate {
            cluster: Some("auto".to_string()),
            ..Evaluate::default()
        };
        let error = bind(&mut request).unwrap_err().to_string();
        assert!(error.contains("pip install \"repscope[ray]\""), "{error}");
    }
}
