// SPDX-License-Identifier: MIT
//! Models that are layers of one: the arrays of one file, or models that are named so.

use anyhow::{Result, bail};
use glob::Pattern;
use repscope_core::ModelLayer;
use repscope_io::{ArrayInfo, Format, InputPath};

use crate::encoding::is_encoder;
use crate::models::Model;
use crate::search::{list, natural};
use crate::source::{IdSource, Place};

/// Models whose file holds several arrays become a model for each array, in the natural order of their names: all arrays where these are
/// embeddings of the same rows, or those that a pattern behind `#` matches. What a file holds otherwise is for the reader to say.
pub fn with_layers(models: Vec<Model>, ids: &[IdSource]) -> Result<Vec<Model>> {
    let column = ids.iter().filter_map(|id| id.0.text()).find(|text| !text.contains('='));
    let mut all = Vec::new();
    for model in models {
        match layers_of_file(&model, column)? {
            None => all.push(model),
            Some(keys) => all.extend(keys.iter().map(|key| Model {
                name: format!("{}/{key}", model.name),
                layer_of: Some(model.name.clone()),
                embeddings: model.embeddings.with_key(key),
                ..model.clone()
            })),
        }
    }
    let mut names: Vec<&str> = all.iter().map(|model| model.name.as_str()).collect();
    names.sort_unstable();
    if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        bail!(
            "two models are called `{}`; give each its own name with `model` NAME=PATH",
            pair[0]
        );
    }
    Ok(all)
}

/// The keys of the layers in the file of a model; none where it holds one array, or something else.
fn layers_of_file(model: &Model, id_column: Option<&str>) -> Result<Option<Vec<String>>> {
    let Place::File(path) = &model.embeddings else {
        return Ok(None);
    };
    let pattern = path.key.as_deref().filter(|key| key.contains('*'));
    let holds_several = matches!(
        Format::of_path(&path.path),
        Some(Format::Npz | Format::Safetensors | Format::Torch | Format::Hdf5)
    );
    let is_plain_file =
        path.path.is_file() && (holds_several || pattern.is_some()) && (path.key.is_none() || pattern.is_some());
    // What cannot be classified or listed is an error of the reader.
    if model.recipe.is_some() || !is_plain_file || is_encoder(&model.embeddings).unwrap_or(true) {
        return Ok(None);
    }
    let Ok(mut arrays) = model.embeddings.list() else {
        return Ok(None);
    };
    arrays.retain(|array| array.key.is_some() && array.key.as_deref() != id_column);
    if arrays
        .iter()
        .any(|array| array.key.as_deref() == pattern && pattern.is_some())
    {
        return Ok(None); // an array of that name
    }
    let known: Vec<String> = arrays.iter().filter_map(|array| array.key.clone()).collect();
    if let Some(text) = pattern {
        let pattern = Pattern::new(text).map_err(|error| anyhow::anyhow!("{path}: `{text}` is no pattern: {error}"))?;
        arrays.retain(|array| array.key.as_deref().is_some_and(|key| pattern.matches(key)));
        if arrays.is_empty() {
            let known = list(known.iter().map(String::as_str));
            bail!("{path}: no array is called so; the file holds {known}");
        }
        refuse_other_rows(path, &arrays)?;
    } else if arrays.len() < 2 || !are_embeddings_of_the_same_rows(&arrays) {
        return Ok(None);
    }
    let mut keys: Vec<String> = arrays.into_iter().filter_map(|array| array.key).collect();
    keys.sort_by(|a, b| natural(a, b));
    Ok(Some(keys))
}

fn are_embeddings_of_the_same_rows(arrays: &[ArrayInfo]) -> bool {
    let is_embedding = |array: &ArrayInfo| array.shape.len() >= 2 && array.dtype.contains('f');
    arrays
        .iter()
        .all(|array| is_embedding(array) && array.shape[0] == arrays[0].shape[0])
}

fn refuse_other_rows(path: &InputPath, arrays: &[ArrayInfo]) -> Result<()> {
    let rows = |array: &ArrayInfo| array.shape.first().copied().unwrap_or(0);
    let name = |array: &ArrayInfo| array.key.clone().unwrap_or_default();
    let first = &arrays[0];
    match arrays.iter().find(|array| rows(array) != rows(first)) {
        None => Ok(()),
        Some(other) => bail!(
            "{path}: layers of one model have the same rows, but `{}` has {} and `{}` has {}",
            name(first),
            rows(first),
            name(other),
            rows(other)
        ),
    }
}

/// The graph of a model and the pattern behind its `#`, where its outputs are layers: `vit.onnx#*`.
pub fn outputs(place: &Place) -> Result<Option<(Place, Pattern)>> {
    let Some(path) = place.file().filter(|_| place.has_extension("onnx")) else {
        return Ok(None);
    };
    let Some(key) = path.key.as_deref().filter(|key| key.contains('*')) else {
        return Ok(None);
    };
    let pattern = Pattern::new(key).map_err(|error| anyhow::anyhow!("{path}: `{key}` is no pattern: {error}"))?;
    Ok(Some((Place::File(InputPath::file(&path.path)), pattern)))
}

/// Marks models that are called `NAME/…` as layers of NAME.
pub fn name_layers(models: &mut [Model], names: &[String]) -> Result<()> {
    for name in names {
        let is_own = |model: &Model| {
            let rest = model.name.strip_prefix(name.as_str());
            rest.is_some_and(|rest| rest.starts_with('/')) && model.recipe.is_none()
        };
        let count = models.iter().filter(|model| is_own(model)).count();
        if count < 2 {
            let known = list(models.iter().map(|model| model.name.as_str()));
            bail!(
                "`layers` = {name}: {count} models are called `{name}/…`, and layers are at least 2; the models are called {known}"
            );
        }
        for model in models.iter_mut().filter(|model| is_own(model)) {
            model.layer_of = Some(name.clone());
        }
    }
    Ok(())
}

/// The layers among the models, with their depths.
pub fn layers(models: &[Model]) -> Vec<ModelLayer> {
    let mut layers: Vec<ModelLayer> = Vec::new();
    for model in models {
        if let Some(of) = &model.layer_of {
            layers.push(ModelLayer {
                model: model.name.clone(),
                of: of.clone(),
                depth: layers.iter().filter(|own| own.of == *of).count(),
            });
        }
    }
    layers
}
