// SPDX-License-Identifier: MIT
//! `repscope perturb`: document 003. Masks images, and measures what that does to a classifier.

use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result, anyhow, bail};
use rayon::prelude::*;
use repscope_core::run::Driver;
use repscope_core::{Analysis, Head, Masking, Perturbation, PerturbedSet, perturb};
use repscope_io::{BadImages, Images, InputPath, InputRecord, write_gray_png, write_integers, write_whole};

use super::analyses::{metrics, spec, start_threads, watched};
use crate::args::{MaskOptions, NumberEncoderOptions, Perturb, PerturbEvaluate, PerturbGenerate};
use crate::call::{self, Answer};
use crate::encoding::open_numbers;
use crate::outputs::{self, Finished};
use crate::perturbation::classify::Classifier;
use crate::perturbation::deliver::{self, Checks};
use crate::perturbation::pictures::{InFiles, InMemory, Picked, masked, masked_name, refuse_colour};
use crate::perturbation::split;
use crate::perturbation::stored::{self, BASELINE, LABELS, MASKED, mean_shares};
use crate::perturbation::tree::Tree;
use crate::reader::{Reader, Sources};

/// The images that the document's loader feeds lie between 0 and 1.
const USUAL_SCALE: f32 = 255.0;

pub fn run(options: &Perturb) -> Result<ExitCode> {
    match options {
        Perturb::Generate(options) => generate(options),
        Perturb::Evaluate(options) => evaluate(options),
    }
}

fn maskings(options: &MaskOptions, seed: u64) -> Result<Vec<Masking>> {
    let maskings = options.maskings(seed);
    maskings.iter().try_for_each(Masking::check)?;
    Ok(maskings)
}

/// What was asked about masks, for documents.
fn asked(options: &MaskOptions, seed: u64) -> serde_json::Map<String, serde_json::Value> {
    let names: Vec<String> = options.maskings(seed).iter().map(Masking::name).collect();
    let asked = [
        ("masks", serde_json::json!(names)),
        ("rule", serde_json::json!(format!("{:?}", options.rule).to_lowercase())),
        (
            "random_from",
            serde_json::json!(format!("{:?}", options.random_from).to_lowercase()),
        ),
        ("fill", serde_json::json!(format!("{:?}", options.fill).to_lowercase())),
        ("seed", serde_json::json!(seed)),
    ];
    asked.map(|(key, value)| (key.to_string(), value)).into_iter().collect()
}

/// Writes masked images. Those that are there already stay, so that an interrupted run goes on.
fn generate(options: &PerturbGenerate) -> Result<ExitCode> {
    start_threads(&options.machine)?;
    let maskings = maskings(&options.masks, options.seed)?;
    let images = Images::open(&options.source, BadImages::Refuse)?;
    refuse_colour(&images)?;
    let settings = options.output.join("perturbation.json");
    let wanted = serde_json::to_string_pretty(&serde_json::json!({
        "images": images.digest()?, "suffix": options.masks.suffix(), "asked": asked(&options.masks, options.seed),
    }))? + "\n";
    match std::fs::read_to_string(&settings) {
        Ok(there) if there != wanted => bail!(
            "{} says that the images in this folder were made from other images or with other options; choose another --output, \
             or remove the folder",
            settings.display()
        ),
        Ok(_) => {}
        Err(_) => write_whole(&settings, wanted.as_bytes())?,
    }
    let size = (images.shape()[0], images.shape()[1]);
    let (written, dark) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let of_image = |row: usize, driver: &Driver| -> Result<String> {
        let (_, masked) = masked(&images, row, &maskings)?;
        let name = &images.names()[row];
        let mut lines = String::new();
        for (masking, masked) in maskings.iter().zip(&masked) {
            let to = options
                .output
                .join(masked_name(name, &masking.name(), options.masks.suffix()));
            if !to.is_file() {
                write_gray_png(&to, size, &masked.pixels)?;
                written.fetch_add(1, Ordering::Relaxed);
            }
            let line = [masked.lit, masked.masked_lit, masked.masked].map(|n| n.to_string());
            lines += &format!(
                "\"{}\",{},{}\n",
                name.replace('"', "\"\""),
                masking.name(),
                line.join(",")
            );
        }
        dark.fetch_add(
            usize::from(masked.first().is_some_and(|m| m.lit == 0)),
            Ordering::Relaxed,
        );
        driver.progress().advance(1);
        Ok(lines)
    };
    let lines = watched(&options.machine, |driver| {
        driver.progress().begin("masking", images.count() as u64);
        let rows = (0..images.count()).into_par_iter();
        rows.map(|row| of_image(row, driver)).collect::<Result<Vec<String>>>()
    })?;
    let table = format!("image,mask,lit,masked_lit,masked\n{}", lines.concat());
    write_whole(&options.output.join("masks.csv"), table.as_bytes())?;
    let dark = dark.into_inner();
    if dark > 0 && !options.machine.quiet {
        outputs::advise(&format!(
            "warning: {dark} of {} images have no lit pixel and are unchanged",
            images.count()
        ));
    }
    let (written, all) = (written.into_inner(), images.count() * maskings.len());
    outputs::print(&format!(
        "{written} images written, {} were there; masks.csv says what was masked: {}\n",
        all - written,
        options.output.display()
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// What is scored, and where it comes from.
struct Scored {
    model: String,
    data: Perturbation,
    /// What stands behind the names of sets in the document's files.
    suffix: String,
    sources: Sources,
    /// Images to show: name and pixels.
    examples: Vec<deliver::Example>,
}

fn evaluate(options: &PerturbEvaluate) -> Result<ExitCode> {
    start_threads(&options.outputs.machine)?;
    let spec = spec(&options.outputs)?;
    let expected = expected(&options.expect_baseline)?;
    let scored = match &options.predictions {
        Some(folder) => from_predictions(folder, options)?,
        None => from_model(options)?,
    };
    let wanted: Vec<String> = match &options.predictions {
        Some(_) => scored.data.sets.iter().map(|set| set.name.clone()).collect(),
        None => options
            .masks
            .maskings(options.outputs.seed)
            .iter()
            .map(Masking::name)
            .collect(),
    };
    let results = watched(&options.outputs.machine, |driver| {
        Ok(perturb(
            &scored.model,
            &scored.data,
            &metrics(Analysis::Perturb),
            &spec,
            driver,
        )?)
    })?;
    let checks = Checks {
        suffix: scored.suffix,
        expected,
        wanted,
    };
    let mut sources = scored.sources;
    sources
        .options
        .insert("checks".to_string(), serde_json::to_value(&checks)?);
    let finished = Finished::new(Analysis::Perturb.name(), &spec, sources, results)?;
    if call::is_within() {
        call::hand_over(Answer::Results(Box::new(finished)))?;
        return Ok(ExitCode::SUCCESS);
    }
    deliver::deliver(&finished, &checks, &scored.examples, &options.outputs)?;
    Ok(ExitCode::SUCCESS)
}

/// `combined=0.5126`, also as a percentage.
fn expected(texts: &[String]) -> Result<Vec<(String, f64)>> {
    let parse = |text: &String| {
        let wrong = || anyhow!("--expect-baseline {text}: write HEAD=ACCURACY, such as combined=0.5126");
        let (head, value) = text.split_once('=').ok_or_else(wrong)?;
        let value = match value.strip_suffix('%') {
            Some(percent) => percent.parse::<f64>().map(|p| p / 100.0),
            None => value.parse::<f64>(),
        };
        let value = value.map_err(|_| wrong())?;
        if !(0.0..=1.0).contains(&value) {
            bail!("--expect-baseline {text}: an accuracy is from 0 to 1; write 0.5126, or 51.26%");
        }
        Ok((head.to_string(), value))
    };
    texts.iter().map(parse).collect()
}

fn from_predictions(folder: &Path, options: &PerturbEvaluate) -> Result<Scored> {
    if !folder.is_dir() {
        bail!("--predictions {}: there is no such folder", folder.display());
    }
    let mut reader = Reader::new(&[]);
    let (data, suffix) = stored::read(folder, &mut reader)?;
    if data.sets.is_empty() {
        reader.warnings.push(format!(
            "{} holds no perturbation, so there are accuracies only; add folders such as top1",
            folder.display()
        ));
    }
    let name = folder.file_name().map(|name| name.to_string_lossy().into_owned());
    let typed = serde_json::Value::String(folder.display().to_string());
    Ok(Scored {
        model: options.name.clone().or(name).unwrap_or_else(|| "model".to_string()),
        data,
        suffix,
        sources: Sources {
            records: reader.records,
            warnings: reader.warnings,
            options: std::iter::once(("predictions".to_string(), typed)).collect(),
        },
        examples: Vec::new(),
    })
}

fn from_model(options: &PerturbEvaluate) -> Result<Scored> {
    let (outputs, seed) = (&options.outputs, options.outputs.seed);
    let maskings = maskings(&options.masks, seed)?;
    let suffix = options.masks.suffix();
    let folder = options.images.as_deref().context("--checkpoint needs --images")?;
    let bad = if options.model.skip_bad {
        BadImages::LeaveOut
    } else {
        BadImages::Refuse
    };
    let mut tree = Tree::open(folder, &options.exclude, bad)?;
    refuse_colour(&tree.images)?;
    let mut warnings: Vec<String> = tree.images.notes().to_vec();
    let split = split::apply(&mut tree, &options.split, seed)?;
    warnings.push(format!("{}: {split}", folder.display()));
    // Everything that will be needed is looked for before anything is computed.
    let files = match &options.perturbation_dir {
        None => None,
        Some(folder) => Some(InFiles::open(folder, suffix, &tree, &maskings)?),
    };
    let path = InputPath::parse(options.checkpoint.as_deref().unwrap_or_default());
    if !path.path.is_file() {
        bail!("--checkpoint {path}: there is no such file");
    }
    let model = NumberEncoderOptions {
        scale: Some(options.model.scale.unwrap_or(USUAL_SCALE)),
        ..options.model.clone()
    };
    let encoder = open_numbers(&path, &model, &outputs.machine)?;
    let mut classifier = Classifier::new(encoder, &tree, &options.head_names)?;
    warnings.extend(classifier.notes.iter().cloned());
    let images = tree.images.digest()?;
    let kept = Kept::open(
        &outputs.output_dir.join("predictions"),
        &classifier,
        &images,
        &tree,
        options,
    )?;
    let heads = classifier.heads();

    let mut predict =
        |set: &str, of: &mut dyn FnMut(&mut Classifier, &Driver) -> Result<Predicted>| -> Result<Predicted> {
            if let Some(there) = kept.read(set, &heads)? {
                return Ok(there);
            }
            let predicted = watched(&outputs.machine, |driver| of(&mut classifier, driver))?;
            kept.write(set, &heads, &predicted)?;
            Ok(predicted)
        };
    let baseline = predict(BASELINE, &mut |classifier, driver| {
        let rows = Picked::new(&tree.images, &tree.rows);
        let said = classifier.predict(&rows, "images as they are", driver)?;
        Ok(Predicted { said, shares: None })
    })?;
    let mut sets = Vec::new();
    for masking in &maskings {
        let set = format!("{}_{suffix}", masking.name());
        let predicted = predict(&set, &mut |classifier, driver| match &files {
            Some(files) => {
                let said = classifier.predict(&files.of_set(&tree, masking), &set, driver)?;
                let shares = Some(files.shares(&tree, masking)?);
                Ok(Predicted { said, shares })
            }
            None => {
                let rows = InMemory::new(Picked::new(&tree.images, &tree.rows), masking);
                let said = classifier.predict(&rows, &set, driver)?;
                let shares = Some(rows.shares());
                Ok(Predicted { said, shares })
            }
        })?;
        let [masked_lit, masked_all] = mean_shares(predicted.shares.as_deref().unwrap_or_default());
        sets.push(PerturbedSet {
            name: masking.name(),
            family: masking.shape.name().to_string(),
            percent: masking.percent,
            predictions: predicted.said,
            masked_lit,
            masked_all,
        });
    }
    warnings.extend(dark(&tree)?);
    let of_head = |((name, level), baseline): ((String, &crate::perturbation::tree::Level), Vec<u32>)| Head {
        name,
        classes: level.classes.clone(),
        labels: level.labels.clone(),
        baseline,
    };
    let data = Perturbation {
        heads: heads
            .into_iter()
            .zip(&tree.levels)
            .zip(baseline.said)
            .map(of_head)
            .collect(),
        sets,
    };
    let mut asked = asked(&options.masks, seed);
    asked.extend([
        ("images".to_string(), serde_json::json!(folder.display().to_string())),
        ("checkpoint".to_string(), serde_json::json!(path.to_string())),
        ("split".to_string(), serde_json::json!(options.split)),
        ("exclude".to_string(), serde_json::json!(options.exclude)),
        (
            "perturbation_dir".to_string(),
            serde_json::json!(options.perturbation_dir),
        ),
        ("scale".to_string(), serde_json::json!(model.scale)),
    ]);
    let record = |path: String, shape: Vec<usize>, dtype: &str, digest: &str| InputRecord {
        path,
        shape,
        dtype: dtype.to_string(),
        digest: digest.to_string(),
        about: Vec::new(),
    };
    let shape = std::iter::once(tree.images.count())
        .chain(tree.images.shape().iter().copied())
        .collect();
    Ok(Scored {
        model: options.name.clone().unwrap_or_else(|| path.stem()),
        examples: deliver::examples(&tree, &maskings, suffix)?,
        data,
        suffix: suffix.to_string(),
        sources: Sources {
            records: vec![
                InputRecord {
                    about: classifier.about().to_vec(),
                    ..record(path.to_string(), Vec::new(), "classifier", classifier.digest())
                },
                record(folder.display().to_string(), shape, "images", &images),
            ],
            warnings,
            options: asked,
        },
    })
}

/// A warning where images have nothing that could be masked.
fn dark(tree: &Tree) -> Result<Option<String>> {
    let is_dark = |&row: &usize| masked(&tree.images, row, &[]).map(|(bytes, _)| bytes.iter().all(|&byte| byte == 0));
    let dark = tree.rows.par_iter().map(is_dark).collect::<Result<Vec<bool>>>()?;
    let count = dark.iter().filter(|is_dark| **is_dark).count();
    Ok((count > 0).then(|| {
        format!(
            "{count} of {} images have no lit pixel; no mask changes them",
            tree.rows.len()
        )
    }))
}

/// The classes of all images, for each head, and what was masked.
struct Predicted {
    said: Vec<Vec<u32>>,
    shares: Option<Vec<Option<[f32; 2]>>>,
}

/// Predictions that are kept as they are finished.
struct Kept {
    folder: std::path::PathBuf,
    samples: usize,
}

impl Kept {
    /// Goes on with a folder that was made from the same model, images and options; begins another anew.
    fn open(
        folder: &Path,
        classifier: &Classifier,
        images: &str,
        tree: &Tree,
        options: &PerturbEvaluate,
    ) -> Result<Self> {
        let about = serde_json::to_string_pretty(&serde_json::json!({
            "classifier": classifier.digest(), "images": images, "asked": asked(&options.masks, options.outputs.seed),
            "split": options.split, "exclude": options.exclude, "heads": classifier.heads(),
            "perturbation_dir": options.perturbation_dir, "samples": tree.rows.len(),
        }))? + "\n";
        let file = folder.join("about.json");
        let is_same = std::fs::read_to_string(&file).is_ok_and(|there| there == about);
        if !is_same {
            if folder.exists() {
                if !file.is_file() {
                    bail!(
                        "{} is there and was not made by this command; choose another --output-dir",
                        folder.display()
                    );
                }
                std::fs::remove_dir_all(folder).with_context(|| format!("cannot remove {}", folder.display()))?;
            }
            for (head, level) in classifier.heads().iter().zip(&tree.levels) {
                let labels: Vec<i64> = level.labels.iter().map(|&label| i64::from(label)).collect();
                write_integers(&folder.join(LABELS).join(format!("{head}.npy")), &labels)?;
                let names = level.classes.join("\n") + "\n";
                write_whole(&folder.join("classes").join(format!("{head}.txt")), names.as_bytes())?;
            }
            write_whole(&folder.join("images.txt"), (tree.names().join("\n") + "\n").as_bytes())?;
            write_whole(&file, about.as_bytes())?;
        }
        Ok(Kept {
            folder: folder.to_path_buf(),
            samples: tree.rows.len(),
        })
    }

    fn read(&self, set: &str, heads: &[String]) -> Result<Option<Predicted>> {
        let folder = self.folder.join(set);
        if !folder.is_dir() {
            return Ok(None);
        }
        let mut reader = Reader::new(&[]);
        let said = heads
            .iter()
            .map(|head| stored::codes_of(&folder.join(format!("{head}.npy")), &mut reader))
            .collect::<Result<Vec<_>>>()?;
        let shares = stored::shares_of(&folder.join(MASKED), &mut reader)?;
        if said.iter().any(|said| said.len() != self.samples) {
            bail!("{} is damaged; remove it", folder.display());
        }
        Ok(Some(Predicted { said, shares }))
    }

    /// Writes a set into a folder beside its place, then puts it there.
    fn write(&self, set: &str, heads: &[String], predicted: &Predicted) -> Result<()> {
        let (whole, part) = (self.folder.join(set), self.folder.join(format!("{set}.part")));
        if part.exists() {
            std::fs::remove_dir_all(&part)?;
        }
        for (head, said) in heads.iter().zip(&predicted.said) {
            let said: Vec<i64> = said.iter().map(|&class| i64::from(class)).collect();
            write_integers(&part.join(format!("{head}.npy")), &said)?;
        }
        if let Some(shares) = &predicted.shares {
            let mut file = repscope_io::NpyRows::open(&part.join(MASKED), &[shares.len(), 2])?;
            let values: Vec<f32> = shares.iter().flat_map(|share| share.unwrap_or([f32::NAN; 2])).collect();
            file.push(&values)?;
            file.finish()?;
        }
        std::fs::rename(&part, &whole).with_context(|| whole.display().to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expected_accuracies_are_read_as_shares_and_percentages() {
        let texts = ["combined=0.5126".to_string(), "snr=68.71%".to_string()];
        let read = expected(&texts).unwrap();
        assert_eq!(read[0], ("combined".to_string(), 0.5126));
        assert!((read[1].1 - 0.6871).abs() < 1e-12);
        for text in ["combined", "combined=x", "combined=51.26"] {
            assert!(expected(&[text.to_string()]).is_err(), "{text}");
        }
    }
}
