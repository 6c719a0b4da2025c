// SPDX-License-Identifier: MIT
//! What does masking parts of its images cost a classifier? `classes` says which output is which class, `tree` reads labels off folders and says which images are looked at,
//! `pictures` masks them, `generate` writes them, `classify` runs a model on them, `stored` reads predictions, `kept` keeps them, and
//! `files` writes the summaries.

mod classes;
mod classify;
mod files;
mod generate;
mod groups;
mod kept;
mod pictures;
mod stored;
mod tree;

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use rayon::prelude::*;
use repscope_core::masking::{Fill, Kind as Shape, Masking, RandomFrom, Rule};
use repscope_core::run::Driver;
use repscope_core::{Analysis as Kind, Head, Perturbation, PerturbedSet, Results, Spec, perturb};
use repscope_io::{InputPath, InputRecord};
use serde::{Deserialize, Serialize};

use super::{Analysis, Origin, declare};
use crate::encoding::{bad_images, open_numbers};
use crate::evaluation::plan::{Extra, Planned};
use crate::inputs::Inputs;
use crate::options::layers::object;
use crate::options::{Data, NumberEncoderOptions, Settings, choice, default_options, words};
use crate::reader::{Reader, Sources};
use crate::search::distinct;
use crate::session::Session;
use crate::source::{Source, bind};
use classify::Classifier;
use kept::{Kept, Predicted};
use pictures::{InFiles, Picked, masked, refuse_color};
pub use stored::Predictions;
use stored::{BASELINE, Shelf, mean_shares};
use tree::Tree;

pub use files::Checks;
pub use generate::{Generated, PerturbGenerate, generate};

const SHAPES: &[(&str, &str)] = &[
    ("top", "The brightest"),
    ("bottom", "The dimmest"),
    ("random", "Random pixels"),
    ("patch", "A square"),
    ("ring", "A ring around the center"),
];
const FILLS: &[(&str, &str)] = &[
    ("black", "0"),
    ("mean", "The mean of the remaining lit pixels"),
    ("blur", "The blurred image"),
    ("inpaint", "Interpolated from the surrounding pixels"),
];
/// The images that the reference implementation feeds lie between 0 and 1.
const USUAL_SCALE: f32 = 255.0;

/// Which pixels are masked, and how.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(default)]
#[command(next_help_heading = "Masks")]
pub struct MaskOptions {
    /// Percentage of the lit (non-zero) pixels to mask
    #[arg(long, num_args = 1.., value_delimiter = ',', default_values_t = [1.0, 2.0, 3.0, 4.0, 5.0], value_name = "P")]
    pub percents: Vec<f64>,
    /// Which pixels to mask
    #[arg(long, value_parser = choice::<Shape>(SHAPES), num_args = 1.., value_delimiter = ',', default_values = ["top", "bottom", "random"])]
    pub kinds: Vec<Shape>,
    /// How pixels are selected: exactly the percentage, with random tie-breaking, or all beyond a percentile (the rule of
    /// the original scripts, which masks far more if pixels are tied)
    #[arg(long, value_parser = words::<Rule>("exact threshold"), default_value = "exact")]
    pub rule: Rule,
    /// Where random pixels are drawn from: lit pixels, or all pixels (as in the original scripts)
    #[arg(long, value_parser = words::<RandomFrom>("lit all"), default_value = "lit")]
    pub random_from: RandomFrom,
    /// Replacement of masked pixels
    #[arg(long, value_parser = choice::<Fill>(FILLS), default_value = "black")]
    pub fill: Fill,
}

/// What masking parts of its images costs a classifier: the perturbation impact score.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(default)]
pub struct Perturb {
    /// The classifier: weights of the two-head ResNet of the original scripts, or an .onnx file with one or more heads
    #[arg(
        long,
        alias = "model",
        value_name = "MODEL",
        requires = "images",
        conflicts_with = "predictions"
    )]
    pub checkpoint: Option<Source>,
    /// Its images: one folder per class, with one subfolder per class of the next head (BPSK/SNR_0/*.png)
    #[arg(long, value_name = "DIR", requires = "checkpoint")]
    pub images: Option<PathBuf>,
    /// Masked images written by `perturb generate` [default: masked in memory]
    #[arg(long, value_name = "DIR", requires = "images")]
    pub perturbation_dir: Option<PathBuf>,
    /// Stored labels and predictions, instead of a model
    #[arg(long, value_name = "DIR", required_unless_present_any = ["checkpoint", "replicates"])]
    pub predictions: Option<Predictions>,
    /// Which images: `test` (a tenth of every class, stratified over all heads, from the seed), `all`, or a file
    /// with one path per line (.txt) or with positions in the sorted list (.npy)
    #[arg(long, value_name = "test|all|FILE", default_value = "test")]
    pub split: String,
    /// The group of each sample (a recording, a patient), where samples of one group are not independent: intervals are then over
    /// groups. A file with one group per sample, in the order of the stored labels or of the sorted images (all of them, or those of
    /// --split); or `names`: images whose file names differ only in their last number are a group
    #[arg(long, visible_alias = "episodes", value_name = "PATH|names")]
    pub groups: Option<Source>,
    /// Names of the heads, in the order of the folders [default: the outputs of the model]
    #[arg(long = "head-names", num_args = 1.., value_delimiter = ',', value_name = "NAME")]
    pub head_names: Vec<String>,
    /// Names of the classes in the order of the outputs: a b c, or HEAD=a,b,c for each of several heads [default: classes.txt
    /// or classes/HEAD.txt beside the model or the images, or else the metadata of an .onnx file]
    #[arg(long, num_args = 1.., value_name = "NAME")]
    pub classes: Vec<String>,
    /// Skip the folders of these classes
    #[arg(long, num_args = 1.., value_delimiter = ',', value_name = "CLASS")]
    pub exclude: Vec<String>,
    /// Expected accuracy on the unmasked images, to four digits: combined=0.5126 modulation=0.7639
    #[arg(long, num_args = 1.., value_name = "HEAD=X")]
    pub expect_baseline: Vec<String>,
    /// Name of the model in the results
    #[arg(long, value_name = "MODEL")]
    pub name: Option<String>,
    /// Training runs of a recipe, which this analysis does not pool: refused with what to do instead
    #[arg(long, num_args = 1.., value_name = "NAME=PATTERN", hide = true)]
    pub replicates: Vec<String>,
    /// Which pixels to mask are masked.
    #[command(flatten)]
    #[serde(flatten)]
    pub masks: MaskOptions,
    /// How the classifier is run.
    #[command(flatten)]
    #[serde(flatten)]
    pub model: NumberEncoderOptions,
    /// What all analyses share.
    #[command(flatten)]
    #[serde(flatten)]
    pub settings: Settings,
    /// The folder in which predictions of a model are kept as they are finished; none keeps them for this run only.
    #[arg(skip)]
    pub keep: Option<PathBuf>,
}

impl MaskOptions {
    /// The requested masks, family by family, from weak to strong.
    pub fn maskings(&self, seed: u64) -> Vec<Masking> {
        let mut percents = self.percents.clone();
        percents.sort_by(f64::total_cmp);
        percents.dedup();
        let mut maskings = Vec::new();
        for kind in distinct(self.kinds.iter().copied()) {
            maskings.extend(percents.iter().map(|&percent| Masking {
                rule: self.rule,
                random_from: self.random_from,
                fill: self.fill,
                ..Masking::new(kind, percent, seed)
            }));
        }
        maskings
    }

    /// Suffix of the name of a set in the files of the perturbation impact analysis.
    pub fn suffix(&self) -> &'static str {
        match self.fill {
            Fill::Black => "blackout",
            other => other.name(),
        }
    }

    /// What was asked about masks, for documents.
    fn asked(&self, seed: u64) -> serde_json::Map<String, serde_json::Value> {
        let names: Vec<String> = self.maskings(seed).iter().map(Masking::name).collect();
        object(serde_json::json!({
            "masks": names, "rule": self.rule, "random_from": self.random_from, "fill": self.fill, "seed": seed,
        }))
    }

    /// The masks, checked.
    fn checked(&self, seed: u64) -> Result<Vec<Masking>> {
        let maskings = self.maskings(seed);
        maskings.iter().try_for_each(Masking::check)?;
        Ok(maskings)
    }
}

/// How stored predictions are laid out.
pub const STORED_PREDICTIONS: &str = "\
A folder of predictions holds labels/HEAD.npy, baseline/HEAD.npy and PERTURBATION/HEAD.npy: a class per
sample (numbers or names), or a row of logits or probabilities. PERTURBATION is a name and a percentage:
top1, bottom5, random2_blackout. Optional files: classes/HEAD.txt with one class name per line; ids.npy in
every folder, which joins the samples; and masked.npy in the folder of a perturbation with the fraction of
lit pixels and of all pixels that was masked in each sample.";

const EXAMPLES: &str = "\
Examples:
  repscope perturb evaluate --checkpoint best_model_resnet50_epoch_14.pth --images constellation_diagrams
  repscope perturb evaluate --checkpoint model.onnx --images photos --split all --kinds top random patch --fill blur
  repscope perturb evaluate --checkpoint model.onnx --images photos --classes cat dog bird
  repscope perturb evaluate --predictions predictions --expect-baseline combined=0.5126
  repscope perturb generate --source constellation_diagrams --output perturbed_constellations";

default_options!(Perturb, MaskOptions);
bind!(Perturb: checkpoint, predictions, groups);
declare!(Perturb {
    kind: Kind::Perturb,
    about: "What does masking parts of its images cost a classifier? (perturbation impact)",
    examples: EXAMPLES,
    folder: "perturbation_analysis",
    reads: &[],
    data: Origin::Alone,
    stage: 5,
    sweeps: false,
    keeps_samples: false,
    classes: &[],
    take: |_, _| {},
});

/// What is scored, and where it comes from.
pub struct Scored {
    model: String,
    data: Perturbation,
    /// What stands behind the names of sets in files.
    suffix: String,
    sources: Sources,
    /// Images to show: name and pixels.
    examples: Vec<files::Example>,
}

impl Scored {
    /// Writes the images to show.
    pub(crate) fn write_examples(&self, folder: &Path) -> Result<()> {
        files::write_examples(&self.examples, folder)
    }
}

impl Analysis for Perturb {
    fn spec(&self, _data: &Data) -> Result<Spec> {
        self.settings.spec()
    }

    fn prepare(&self, _data: &Data, _inputs: &Inputs, sources: &mut Sources, session: &Session) -> Result<Extra> {
        if let Some(first) = self.replicates.first() {
            bail!(
                "`replicates` = {first}: `perturb` scores one classifier at a time and does not pool training runs; evaluate each run \
                 by itself, under a `name` and into a folder of its own, and compare the runs with `repscope compare RUN/results.json …`"
            );
        }
        let expected = expected(&self.expect_baseline)?;
        let mut scored = match &self.predictions {
            Some(predictions) => from_predictions(predictions, self)?,
            None => from_model(self, session)?,
        };
        let maskings = self.masks.maskings(self.settings.seed);
        let checks = Checks {
            suffix: scored.suffix.clone(),
            expected,
            wanted: match &self.predictions {
                Some(_) => scored.data.sets.iter().map(|set| set.name.clone()).collect(),
                None => maskings.iter().map(Masking::name).collect(),
            },
        };
        *sources = std::mem::take(&mut scored.sources);
        sources
            .options
            .insert("checks".to_string(), serde_json::to_value(&checks)?);
        Ok(Extra::Perturbation(Box::new(scored)))
    }

    fn compute(&self, planned: &Planned, _inputs: &Inputs, session: &Session) -> Result<Results> {
        let Extra::Perturbation(scored) = &planned.extra else {
            bail!("internal error: a perturbation without its data. Please report this");
        };
        let (driver, metrics, spec) = (session.driver(), &planned.metrics, &planned.spec);
        Ok(perturb(&scored.model, &scored.data, metrics, spec, &driver)?)
    }
}

/// `combined=0.5126`, also as a percentage.
fn expected(texts: &[String]) -> Result<Vec<(String, f64)>> {
    let parse = |text: &String| {
        let wrong = || anyhow!("expected baseline {text}: write HEAD=ACCURACY, such as combined=0.5126");
        let (head, value) = text.split_once('=').ok_or_else(wrong)?;
        let value = match value.strip_suffix('%') {
            Some(percent) => percent.parse::<f64>().map(|p| p / 100.0),
            None => value.parse::<f64>(),
        };
        let value = value.map_err(|_| wrong())?;
        if !(0.0..=1.0).contains(&value) {
            bail!("expected baseline {text}: an accuracy is from 0 to 1; write 0.5126, or 51.26%");
        }
        Ok((head.to_string(), value))
    };
    texts.iter().map(parse).collect()
}

fn from_predictions(predictions: &Predictions, options: &Perturb) -> Result<Scored> {
    let shelf = Shelf::open(predictions)?;
    let mut reader = Reader::new(&[]);
    let groups = options
        .groups
        .as_ref()
        .map(|source| groups::stored(source, &mut reader))
        .transpose()?;
    let (data, suffix) = stored::read(&shelf, &options.classes, groups, &mut reader)?;
    if data.sets.is_empty() {
        reader.warnings.push(format!(
            "{shelf} holds no perturbation, so there are accuracies only; add folders such as top1"
        ));
    }
    let name = match predictions {
        Predictions::Folder(folder) => folder.file_name().map(|name| name.to_string_lossy().into_owned()),
        Predictions::Arrays(_) => None,
    };
    let typed = serde_json::json!(predictions);
    Ok(Scored {
        model: options.name.clone().or(name).unwrap_or_else(|| "model".to_string()),
        data,
        suffix,
        sources: Sources {
            findings: Vec::new(),
            records: reader.records,
            warnings: reader.warnings,
            options: object(serde_json::json!({ "predictions": typed, "groups": options.groups })),
        },
        examples: Vec::new(),
    })
}

fn from_model(options: &Perturb, session: &Session) -> Result<Scored> {
    let seed = options.settings.seed;
    let maskings = options.masks.checked(seed)?;
    let suffix = options.masks.suffix();
    let folder = options
        .images
        .as_deref()
        .context("a checkpoint needs images to classify")?;
    let mut tree = Tree::open(folder, &options.exclude, bad_images(options.model.skip_bad))?;
    refuse_color(&tree.images)?;
    let mut warnings: Vec<String> = tree.images.notes().to_vec();
    let split = tree::apply(&mut tree, &options.split, seed)?;
    warnings.push(format!("{}: {split}", folder.display()));
    // Everything that will be needed is looked for before anything is computed.
    let mut reader = Reader::new(&[]);
    let groups = options.groups.as_ref();
    let groups = groups
        .map(|source| groups::of_images(source, &tree, &mut reader))
        .transpose()?;
    let files = match &options.perturbation_dir {
        None => None,
        Some(folder) => Some(InFiles::open(folder, suffix, &tree, &maskings)?),
    };
    let checkpoint = options.checkpoint.as_ref().map(ToString::to_string);
    let path = InputPath::parse(&checkpoint.unwrap_or_default());
    if !path.path.is_file() {
        bail!("checkpoint {path}: there is no such file");
    }
    let model = NumberEncoderOptions {
        scale: Some(options.model.scale.unwrap_or(USUAL_SCALE)),
        ..options.model.clone()
    };
    let encoder = open_numbers(&path, &model, &options.settings.machine)?;
    let mut classifier = Classifier::new(
        encoder,
        &mut tree,
        &options.head_names,
        &classes::Sources {
            said: &options.classes,
            model: &path.path,
            images: folder,
        },
    )?;
    warnings.extend(classifier.notes.iter().cloned());
    let images = tree.images.digest()?;
    let kept = Kept::open(&classifier, &images, &tree, options)?;
    let heads = classifier.heads();
    let orders = std::mem::take(&mut classifier.named);
    let from =
        |order: &Option<classes::Named>| order.as_ref().map_or("folders".to_string(), |order| order.from.clone());
    let class_order: Vec<String> = orders.iter().map(from).collect();

    let mut predict =
        |set: &str, of: &mut dyn FnMut(&mut Classifier, &Driver) -> Result<Predicted>| -> Result<Predicted> {
            if let Some(there) = kept.read(set, &heads)? {
                return Ok(there);
            }
            let predicted = of(&mut classifier, &session.driver())?;
            kept.write(set, &heads, &predicted)?;
            Ok(predicted)
        };
    let plain = Picked::new(&tree.images, &tree.rows);
    let baseline = predict(BASELINE, &mut |classifier, driver| {
        let said = classifier.predict(&plain, "images as they are", driver)?;
        Ok(Predicted { said, shares: None })
    })?;
    let named = orders.iter().zip(heads.iter().zip(&tree.levels)).zip(&baseline.said);
    for ((order, (head, level)), said) in named {
        if order.is_none() {
            warnings.push(classes::guessed(head, &level.classes, &level.labels, said));
        }
    }
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
                let shares = Mutex::default();
                let said = classifier.predict(&plain.masked(masking, &shares), &set, driver)?;
                let shares = Some(shares.into_inner().unwrap_or_default());
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
    let of_head = |((name, level), baseline): ((String, &tree::Level), Vec<u32>)| Head {
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
        groups,
    };
    let mut asked = options.masks.asked(seed);
    asked.extend(object(serde_json::json!({
        "images": folder.display().to_string(), "checkpoint": path.to_string(), "split": options.split,
        "exclude": options.exclude, "perturbation_dir": options.perturbation_dir, "class_order": class_order, "scale": model.scale,
        "groups": options.groups,
    })));
    let shape = [&[tree.images.count()], tree.images.shape()].concat();
    Ok(Scored {
        model: options.name.clone().unwrap_or_else(|| path.stem()),
        examples: files::examples(&tree, &maskings, suffix)?,
        data,
        suffix: suffix.to_string(),
        sources: Sources {
            findings: Vec::new(),
            records: [
                InputRecord {
                    about: classifier.about().to_vec(),
                    ..InputRecord::new(&path, &[], "classifier", classifier.digest().to_string())
                },
                InputRecord::new(folder.display(), &shape, "images", images),
            ]
            .into_iter()
            .chain(reader.records)
            .collect(),
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

#[cfg(test)]
mod tests {
    use super::*;
    use repscope_io::{write_gray_png, write_whole};
    use repscope_models::graph::{Dim, Element, GraphBuilder};

    const CLASSES: [&str; 3] = ["ant", "mole", "zebra"];

    /// Images whose lit column is their class, and a model that sees it. Its outputs are zebra, ant, mole.
    fn animals(metadata: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (column, class) in CLASSES.iter().enumerate() {
            for sample in 0..4 {
                let lit = |pixel: usize| u8::from(pixel % 4 == column) * (100 + sample);
                let pixels: Vec<u8> = (0..16).map(lit).collect();
                let file = folder.path().join(format!("images/{class}/{sample}.png"));
                write_gray_png(&file, (4, 4), &pixels).unwrap();
            }
        }
        let mut graph = GraphBuilder::new("animals");
        let dims = [Dim::named("batch"), Dim::Fixed(1), Dim::Fixed(4), Dim::Fixed(4)];
        let x = graph.input("x", Element::Float, &dims);
        let flat = graph.node("Flatten", &[&x], &[]);
        let weight = |i: usize| f32::from(u8::from((i / 3) % 4 == [2, 0, 1][i % 3]));
        let weights: Vec<f32> = (0..48).map(weight).collect();
        let weights = graph.weight("w", &[16, 3], &weights).unwrap();
        let logits = graph.node("MatMul", &[&flat, &weights], &[]);
        graph.output(&logits, "out", Element::Float, &[Dim::named("batch"), Dim::Fixed(3)]);
        let mut bytes = graph.finish().unwrap();
        // Entries of the metadata: field 14 of a model, with key and value as fields 1 and 2.
        for (key, value) in metadata {
            let text = |field: u8, text: &str| [&[field << 3 | 2, text.len() as u8], text.as_bytes()].concat();
            let entry = [text(1, key), text(2, value)].concat();
            bytes.extend([14 << 3 | 2, entry.len() as u8]);
            bytes.extend(entry);
        }
        write_whole(&folder.path().join("model/animals.onnx"), &bytes).unwrap();
        folder
    }

    /// The accuracy without masks, and what was warned of.
    fn measured(folder: &Path, classes: &[&str]) -> Result<(f64, String)> {
        let options = Perturb {
            checkpoint: Some(Source::from(&*folder.join("model/animals.onnx").to_string_lossy())),
            images: Some(folder.join("images")),
            split: "all".to_string(),
            classes: classes.iter().map(ToString::to_string).collect(),
            masks: MaskOptions {
                percents: vec![50.0],
                kinds: vec![Shape::Top],
                ..MaskOptions::default()
            },
            ..Perturb::default()
        };
        let scored = from_model(&options, &Session::silent())?;
        let head = &scored.data.heads[0];
        let right = head
            .labels
            .iter()
            .zip(&head.baseline)
            .filter(|(label, said)| label == said);
        Ok((right.count() as f64 / 12.0, scored.sources.warnings.join("\n")))
    }

    #[test]
    fn the_order_of_classes_is_told_found_or_guessed_aloud() {
        let folder = animals(&[]);
        let (accuracy, warnings) = measured(folder.path(), &[]).unwrap();
        assert!(accuracy.abs() < 1e-12);
        for words in [
            "accuracy of 0.0000",
            "probably wrong",
            "as zebra, ant, mole the accuracy would be 1.0000",
        ] {
            assert!(warnings.contains(words), "{words}: {warnings}");
        }
        let is_right = |folder: &Path, classes: &[&str]| {
            let (accuracy, warnings) = measured(folder, classes).unwrap();
            assert!((accuracy - 1.0).abs() < 1e-12, "{accuracy}");
            assert!(!warnings.contains("order of the folders"), "{warnings}");
        };
        is_right(folder.path(), &["zebra", "ant", "mole"]);
        is_right(folder.path(), &["out=zebra,ant,mole"]);
        for place in ["model", "images", "."] {
            let file = folder.path().join(place).join("classes.txt");
            write_whole(&file, b"zebra\r\nant\r\nmole\r\n").unwrap();
            is_right(folder.path(), &[]);
            // What was said goes before a file.
            assert!(measured(folder.path(), &CLASSES).unwrap().0.abs() < 1e-12);
            std::fs::remove_file(file).unwrap();
        }
        let error = measured(folder.path(), &["zebra", "ant", "moles"])
            .err()
            .unwrap()
            .to_string();
        assert!(error.contains("folder mole") && error.contains("moles"), "{error}");
        let error = measured(folder.path(), &["zebra", "ant"]).err().unwrap().to_string();
        assert!(error.contains("2 names") && error.contains("3 classes"), "{error}");
    }

    #[test]
    fn the_metadata_of_a_model_says_the_order_of_its_classes() {
        for (key, value) in [
            ("names", "{0: 'zebra', 1: 'ant', 2: 'mole'}"),
            ("classes", "[\"zebra\", \"ant\", \"mole\"]"),
            ("Labels", "zebra,ant,mole"),
            ("out_classes", "('zebra', 'ant', 'mole')"),
        ] {
            let folder = animals(&[("stride", "32"), (key, value)]);
            let (accuracy, warnings) = measured(folder.path(), &[]).unwrap();
            assert!((accuracy - 1.0).abs() < 1e-12, "{key}: {accuracy} {warnings}");
        }
        let folder = animals(&[("names", "[__import__('os')]")]);
        let error = measured(folder.path(), &[]).err().unwrap().to_string();
        assert!(error.contains("`names`") && error.contains("`classes`"), "{error}");
    }

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
