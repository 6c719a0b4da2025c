// SPDX-License-Identifier: MIT
//! Which array of a file is meant, and what to say when that is not clear.

use crate::array::{ArrayInfo, Shape};
use crate::error::{Parsed, bail};
use crate::names::{cut, guess, likeness};

/// More names than this are not listed in a message.
const LISTED: usize = 30;

/// Of more names than this, those nearest to a misspelt one are listed.
const NEAREST: usize = 20;

/// The position of the array that `key` names. `kind` is what the file calls it: "array", "column".
pub(crate) fn choose(infos: &[ArrayInfo], key: Option<&str>, kind: &str) -> Parsed<usize> {
    let Some(key) = key else {
        return match infos.len() {
            0 => bail!("holds no {kind}"),
            1 => Ok(0),
            n => bail!("holds {n} {kind}s; pick one with #{kind}: {}", list(infos)),
        };
    };
    if let Some(at) = infos.iter().position(|i| i.key.as_deref() == Some(key)) {
        return Ok(at);
    }
    if infos.is_empty() {
        bail!("holds no {kind}");
    }
    let guess = guess(key, infos.iter().filter_map(|info| info.key.as_deref()));
    if infos.len() <= NEAREST {
        bail!("has no {kind} `{key}`{guess} It holds {}", list(infos));
    }
    let mut nearest: Vec<(f64, &ArrayInfo)> = infos.iter().map(|info| (similarity(info, key), info)).collect();
    nearest.sort_by(|a, b| b.0.total_cmp(&a.0));
    let nearest: Vec<ArrayInfo> = nearest
        .into_iter()
        .take(NEAREST)
        .map(|(_, info)| info.clone())
        .collect();
    bail!(
        "has no {kind} `{key}`{guess} The nearest of its {} are {}, and there are {} more",
        infos.len(),
        list(&nearest),
        infos.len() - NEAREST
    )
}

fn similarity(info: &ArrayInfo, key: &str) -> f64 {
    likeness(info.key.as_deref().unwrap_or_default(), key)
}

fn list(infos: &[ArrayInfo]) -> String {
    let described = |i: &ArrayInfo| format!("`{}` {} {}", i.key.as_deref().unwrap_or(""), Shape(&i.shape), i.dtype);
    cut(infos.iter().map(described), LISTED)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn infos(keys: &[&str]) -> Vec<ArrayInfo> {
        let info = |key: &&str| ArrayInfo {
            key: Some((*key).to_string()),
            shape: vec![10, 2],
            dtype: "f32".to_string(),
        };
        keys.iter().map(info).collect()
    }

    #[test]
    fn one_array_needs_no_key() {
        assert_eq!(choose(&infos(&["z"]), None, "array").unwrap(), 0);
    }

    #[test]
    fn several_arrays_are_listed_with_shape_and_type() {
        let error = choose(&infos(&["a", "b"]), None, "array").unwrap_err();
        assert_eq!(
            error.to_string(),
            "holds 2 arrays; pick one with #array: `a` (10, 2) f32, `b` (10, 2) f32"
        );
    }

    #[test]
    fn a_misspelt_key_gets_a_suggestion() {
        let error = choose(&infos(&["latent", "labels"]), Some("latnet"), "array").unwrap_err();
        assert!(error.to_string().contains("did you mean `latent`?"), "{error}");
    }
}
