// SPDX-License-Identifier: MIT
//! `repscope etes`: document 004. How near are generated texts to the signals they were made from?

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};
use repscope_core::{Analysis, Decoding, EtesSpec, Results, Spec, System, etes};
use repscope_io::{Column, write_parquet, write_whole};
use repscope_render::{EtesSamples, EtesValues, Format, etes_samples, etes_table};

use super::analyses::{MOST_ROWS, metrics, spec, start_threads, watched};
use crate::args::Etes;
use crate::call;
use crate::decoding_inputs;
use crate::evaluation::folder_of;
use crate::outputs::{self, Delivery, advise};

pub fn run(options: &Etes) -> Result<ExitCode> {
    let spec = resolve(options)?;
    let form = options.samples.as_deref().map(Form::of).transpose()?;
    start_threads(&options.outputs.machine)?;
    let read = decoding_inputs::read(options)?;
    let results = watched(&options.outputs.machine, |driver| {
        Ok(etes(&read.decoding, &metrics(Analysis::Etes), &spec, driver)?)
    })?;
    let folder = folder_of(Analysis::Etes);
    let delivery = Delivery {
        command: Analysis::Etes.name(),
        folder,
        show: &show,
        extra: None,
    };
    let all = samples(&results, &read.decoding);
    if let (Some(path), Some(form)) = (&options.samples, form) {
        for own in &all {
            let path = of_system(path, own, all.len());
            form.write(&path, own)?;
            if !options.outputs.machine.quiet {
                advise(&format!("the scores of each sample are in {}", path.display()));
            }
        }
    }
    if !call::is_within() {
        write_with_texts(&all, &options.outputs.output_dir.join(folder))?;
    }
    delivery.deliver(&spec, read.sources, results, &options.outputs)?;
    Ok(ExitCode::SUCCESS)
}

pub fn resolve(options: &Etes) -> Result<Spec> {
    if let Some(k) = options.k.iter().find(|&&k| k == 0 || k > MOST_ROWS) {
        bail!("--k {k}: K counts the nearest texts, at least 1 and at most {MOST_ROWS}");
    }
    let mut k: Vec<usize> = Vec::new();
    options.k.iter().for_each(|own| {
        if !k.contains(own) {
            k.push(*own);
        }
    });
    let &[excellent, good, fair, weak] = &options.bands[..] else {
        bail!(
            "--bands takes four numbers, such as -0.8 -0.5 -0.2 0, but there are {}",
            options.bands.len()
        );
    };
    let spec = Spec {
        etes: EtesSpec {
            fluency_weight: options.fluency_weight,
            bands: [excellent, good, fair, weak],
            k,
            permutations: options.permutations,
        },
        ..spec(&options.outputs)?
    };
    spec.check()?;
    Ok(spec)
}

/// The scores as they are printed.
pub fn show(results: &Results, format: Format) -> String {
    etes_table(results, format, outputs::width(), outputs::color())
}

/// The scores of each sample of each system, with its texts.
pub fn samples(results: &Results, decoding: &Decoding) -> Vec<EtesSamples> {
    let references = decoding.references.as_deref();
    let of = |system: &System| etes_samples(results, &system.name, system.texts.as_deref(), references);
    decoding.systems.iter().map(of).collect()
}

/// Writes the scores of samples beside their texts, where there are texts.
pub fn write_with_texts(all: &[EtesSamples], folder: &Path) -> Result<()> {
    let has_texts = |own: &&EtesSamples| own.columns.iter().any(|column| column.name == "text");
    for own in all.iter().filter(has_texts) {
        let path = of_system(&folder.join("sample_scores.csv"), own, all.len());
        write_whole(&path, own.to_csv().as_bytes())?;
    }
    Ok(())
}

/// The path itself, or with the name of one of several systems before its extension.
fn of_system(path: &Path, own: &EtesSamples, systems: usize) -> PathBuf {
    if systems == 1 {
        return path.to_path_buf();
    }
    let part = |part: Option<&std::ffi::OsStr>| part.map(|p| p.to_string_lossy().into_owned()).unwrap_or_default();
    let plain = own
        .system
        .replace(|c: char| !c.is_alphanumeric() && !"-_".contains(c), "_");
    path.with_file_name(format!("{}_{plain}.{}", part(path.file_stem()), part(path.extension())))
}

/// How the scores of samples are written.
#[derive(Clone, Copy)]
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
            _ => bail!("--samples {}: name a .csv, .json or .parquet file", path.display()),
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
