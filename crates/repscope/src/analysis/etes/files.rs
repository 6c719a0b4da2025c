// SPDX-License-Identifier: MIT
//! The scores of each sample of each system, with its texts, as files.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use repscope_core::{Decoding, Results, System};
use repscope_io::{Column, as_file_names, write_parquet, write_whole};
use repscope_render::{EtesSamples, EtesValues, etes_samples};

use crate::source::Source;

/// Where the scores of samples go beside the folder of the analysis.
#[derive(Debug, Clone, Default)]
pub struct EtesFiles(Option<(PathBuf, Form)>);

impl EtesFiles {
    /// A .csv, .json or .parquet file.
    pub(super) fn new(source: Option<&Source>) -> Result<Self> {
        let Some(source) = source else {
            return Ok(EtesFiles(None));
        };
        let path = PathBuf::from(source.to_string());
        let form = Form::of(&path)?;
        Ok(EtesFiles(Some((path, form))))
    }

    /// The file that was asked for; several systems have one each beside it.
    pub(crate) fn asked(&self) -> Option<&Path> {
        self.0.as_ref().map(|(path, _)| path.as_path())
    }

    /// Writes the scores of samples: beside their texts into the folder of the analysis, and where they were asked for.
    pub(crate) fn write(&self, results: &Results, decoding: &Decoding, folder: &Path) -> Result<()> {
        let all = samples(results, decoding);
        let has_texts = |own: &EtesSamples| own.columns.iter().any(|column| column.name == "text");
        let paths = of_systems(&folder.join("sample_scores.csv"), &all)?;
        for (own, path) in all.iter().zip(paths).filter(|(own, _)| has_texts(own)) {
            write_whole(&path, own.to_csv().as_bytes())?;
        }
        if let Some((path, form)) = &self.0 {
            for (own, path) in all.iter().zip(of_systems(path, &all)?) {
                form.write(&path, own)?;
            }
        }
        Ok(())
    }

    /// The files that were asked for.
    pub(crate) fn named(&self, results: &Results, decoding: &Decoding) -> Vec<PathBuf> {
        let all = samples(results, decoding);
        let of = |(path, _): &(PathBuf, Form)| of_systems(path, &all).unwrap_or_default();
        self.0.as_ref().map(of).unwrap_or_default()
    }
}

/// The scores of each sample of each system, with its texts.
fn samples(results: &Results, decoding: &Decoding) -> Vec<EtesSamples> {
    let references = decoding.references.as_deref();
    let of = |system: &System| etes_samples(results, &system.name, system.texts.as_deref(), references);
    decoding.systems.iter().map(of).collect()
}

/// The path itself, or with the name of each of several systems before its extension.
fn of_systems(path: &Path, all: &[EtesSamples]) -> Result<Vec<PathBuf>> {
    if all.len() == 1 {
        return Ok(vec![path.to_path_buf()]);
    }
    let part = |part: Option<&std::ffi::OsStr>| part.map(|p| p.to_string_lossy().into_owned()).unwrap_or_default();
    let (stem, extension) = (part(path.file_stem()), part(path.extension()));
    let names = as_file_names(all.iter().map(|own| own.system.as_str()))?;
    let of = |name: &String| path.with_file_name(format!("{stem}_{name}.{extension}"));
    Ok(names.iter().map(of).collect())
}

/// How the scores of samples are written.
#[derive(Debug, Clone, Copy)]
enum Form {
    Csv,
    Json,
    Parquet,
}

impl Form {
    fn of(path: &Path) -> Result<Self> {
        let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
        match extension.as_deref() {
            Some("csv") => Ok(Form::Csv),
            Some("json") => Ok(Form::Json),
            Some("parquet") => Ok(Form::Parquet),
            _ => bail!(
                "{}: scores of samples are written as .csv, .json or .parquet; name the file so",
                path.display()
            ),
        }
    }

    fn write(self, path: &Path, samples: &EtesSamples) -> Result<()> {
        match self {
            Form::Csv => write_whole(path, samples.to_csv().as_bytes())?,
            Form::Json => write_whole(path, samples.to_json().as_bytes())?,
            Form::Parquet => {
                let columns = samples.columns.iter().map(|column| {
                    let values = match &column.values {
                        EtesValues::Integers(values) => Column::Integers(values.clone()),
                        EtesValues::Numbers(values) => Column::Numbers(values.clone()),
                        EtesValues::Texts(values) => Column::Texts(values.clone()),
                        _ => bail!("column `{}` cannot be written", column.name),
                    };
                    Ok((column.name.clone(), values))
                });
                write_parquet(path, &columns.collect::<Result<Vec<_>>>()?)?;
            }
        }
        Ok(())
    }
}
