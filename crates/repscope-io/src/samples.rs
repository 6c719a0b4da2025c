// SPDX-License-Identifier: MIT
//! The numbers of single samples, as `samples.npz` beside `results.json`: what figures are drawn from.
//!
//! A column is the array `MODEL/METRIC/COLUMN` (f64, NaN where a sample has no value). Classes of the samples are
//! `NAME.codes` and `NAME.names`. NumPy reads all of it with `np.load`.

use std::io::{Cursor, Write};
use std::path::Path;

use repscope_core::{ClassColumn, Results, SampleTable};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::array::{Array, Data};
use crate::error::{Error, Parsed, Result, bail};
use crate::mapped::MappedFile;
use crate::npz;
use crate::write::header;

/// The bytes of `samples.npz`, the same for the same results.
pub fn samples_to_npz(results: &Results) -> Result<Vec<u8>> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    // The time of a member is that of the epoch of zip files: no clock in results.
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .last_modified_time(zip::DateTime::default());
    let mut add = |key: String, bytes: Vec<u8>| -> zip::result::ZipResult<()> {
        archive.start_file(format!("{key}.npy"), options)?;
        Ok(archive.write_all(&bytes)?)
    };
    let mut write_all = || -> zip::result::ZipResult<()> {
        for table in &results.samples {
            for (column, values) in &table.columns {
                let bytes = values
                    .iter()
                    .flat_map(|v| v.unwrap_or(f64::NAN).to_le_bytes())
                    .collect();
                let key = format!("{}/{}/{column}", table.model, table.metric);
                add(key, npy("<f8", values.len(), bytes))?;
            }
        }
        for class in &results.classes {
            let codes = class.codes.iter().flat_map(|c| c.to_le_bytes()).collect();
            add(format!("{}.codes", class.name), npy("<u4", class.codes.len(), codes))?;
            let width = class.names.iter().map(|n| n.chars().count()).max().unwrap_or(0).max(1);
            let padded = |name: &String| -> Vec<u8> {
                let letters = name.chars().map(|c| c as u32).chain(std::iter::repeat(0));
                letters.take(width).flat_map(u32::to_le_bytes).collect()
            };
            let names = class.names.iter().flat_map(padded).collect();
            let kind = format!("<U{width}");
            add(format!("{}.names", class.name), npy(&kind, class.names.len(), names))?;
        }
        Ok(())
    };
    let written = write_all();
    let failed = |e: zip::result::ZipError| Error::Input(format!("samples.npz cannot be packed: {e}"));
    written.map_err(failed)?;
    Ok(archive.finish().map_err(failed)?.into_inner())
}

/// Reads the `samples.npz` that [`samples_to_npz`] wrote.
pub fn read_samples(path: &Path) -> Result<(Vec<SampleTable>, Vec<ClassColumn>)> {
    let file = MappedFile::open(path)?;
    parse(&file).map_err(|p| p.in_file(path.display()))
}

fn parse(bytes: &[u8]) -> Parsed<(Vec<SampleTable>, Vec<ClassColumn>)> {
    let (mut tables, mut classes): (Vec<SampleTable>, Vec<ClassColumn>) = (Vec::new(), Vec::new());
    for key in npz::list(bytes)?.into_iter().filter_map(|info| info.key) {
        let mut parts = key.rsplitn(3, '/');
        let (Some(column), Some(metric), Some(model)) = (parts.next(), parts.next(), parts.next()) else {
            if let Some(name) = key.strip_suffix(".codes") {
                classes.push(class(bytes, name)?);
            }
            continue;
        };
        let values = numbers(npz::read(bytes, Some(&key))?, &key)?;
        let values = values.into_iter().map(|v| Some(v).filter(|v| v.is_finite())).collect();
        match tables.last_mut().filter(|t| t.model == model && t.metric == metric) {
            Some(table) => table.columns.push((column.to_string(), values)),
            None => tables.push(SampleTable {
                model: model.to_string(),
                metric: metric.into(),
                columns: vec![(column.to_string(), values)],
            }),
        }
    }
    for table in &tables {
        let lengths = || table.columns.iter().map(|c| c.1.len());
        if lengths().min() != lengths().max() {
            bail!("has columns of different lengths in {}/{}", table.model, table.metric);
        }
    }
    Ok((tables, classes))
}

fn class(bytes: &[u8], name: &str) -> Parsed<ClassColumn> {
    let key = format!("{name}.names");
    let names = match npz::read(bytes, Some(&key))?.data() {
        Data::Text(names) => names.clone(),
        _ => bail!("has {key} that are not text"),
    };
    let key = format!("{name}.codes");
    let codes: Vec<u32> = numbers(npz::read(bytes, Some(&key))?, &key)?
        .into_iter()
        .map(|c| c as u32)
        .collect();
    if let Some(code) = codes.iter().find(|&&c| c as usize >= names.len()) {
        bail!("names class {code} of `{name}`, but there are {} names", names.len());
    }
    Ok(ClassColumn {
        name: name.to_string(),
        names,
        codes,
    })
}

fn numbers(array: Array, key: &str) -> Parsed<Vec<f64>> {
    match array.data() {
        Data::F64(values) => Ok((**values).as_ref().to_vec()),
        Data::F32(values) => Ok((**values).as_ref().iter().map(|&x| f64::from(x)).collect()),
        Data::U8(values) => Ok((**values).as_ref().iter().map(|&x| f64::from(x)).collect()),
        _ => bail!("has {key} that are not numbers"),
    }
}

/// The bytes of a version 1 .npy file of one dimension.
fn npy(kind: &str, length: usize, values: Vec<u8>) -> Vec<u8> {
    let mut bytes = header(kind, &[length]);
    bytes.extend(values);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write_whole;

    fn results() -> Results {
        let table = |model: &str, metric: &str, values: Vec<Option<f64>>| SampleTable {
            model: model.to_string(),
            metric: metric.into(),
            columns: vec![
                ("x".to_string(), values.clone()),
                ("trustworthiness@10".to_string(), values),
            ],
        };
        Results {
            samples: vec![
                table("a/b c", "map", vec![Some(0.1), None, Some(-3e200)]),
                table("a/b c", "silhouette", vec![Some(1.0)]),
                table("模型", "map", Vec::new()),
            ],
            classes: vec![ClassColumn {
                name: "labels".to_string(),
                names: vec!["Käse".to_string(), "b".to_string()],
                codes: vec![1, 0, 1],
            }],
            ..Results::default()
        }
    }

    #[test]
    fn samples_come_back_as_they_were_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("samples.npz");
        let bytes = samples_to_npz(&results()).unwrap();
        assert_eq!(bytes, samples_to_npz(&results()).unwrap());
        write_whole(&path, &bytes).unwrap();
        let (samples, classes) = read_samples(&path).unwrap();
        assert_eq!((samples, classes), (results().samples, results().classes));
    }

    #[test]
    fn a_class_without_a_name_and_a_cut_file_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("samples.npz");
        let mut wrong = results();
        wrong.classes[0].codes[0] = 7;
        write_whole(&path, &samples_to_npz(&wrong).unwrap()).unwrap();
        assert!(read_samples(&path).unwrap_err().to_string().contains("class 7"));
        let bytes = samples_to_npz(&results()).unwrap();
        write_whole(&path, &bytes[..bytes.len() / 2]).unwrap();
        assert!(read_samples(&path).unwrap_err().to_string().contains("samples.npz"));
    }
}
