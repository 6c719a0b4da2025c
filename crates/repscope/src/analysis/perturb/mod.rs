// SPDX-License-Identifier: MIT
//! What does masking parts of its images cost a classifier? `classes` says which output is which class, `tree` reads labels off folders and says which images are looked at,
//! `pictures` masks them, `generate` writes them, `classify` runs a model on them, `stored` reads predictions, `kept` keeps them,
//! `timing` looks at the clock, `examples` shows masks, and `files` writes the summaries.

mod classes;
mod classify;
mod examples;
mod files;
mod generate;
mod groups;
mod kept;
mod pictures;
mod stored;
mod timing;
mod tree;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Instant;

use anyhow::{Result, anyhow, bail};
use clap::Args;
use rayon::prelude::*;
use repscope_core::masking::{Fill, Kind as Shape, Masking, RandomFrom, Rule};
use repscope_core::{Analysis as Kind, Head, Perturbation, PerturbedSet, Results, Spec, perturb};
use repscope_io::{Files, InputPath, InputRecord, write_whole};
use repscope_models::Rows;
use repscope_render::number;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Analysis, Basics, Origin, declare};
use crate::encoding::{bad_images, open_numbers};
use crate::evaluation::plan::{Extra, Planned};
use crate::inputs::Inputs;
use crate::options::layers::{Layer, object};
use crate::options::{
    Data, FigureOptions, NumberEncoderOptions, RuntimeChoice, Settings, choice, default_options, words,
};
use crate::reader::{Reader, Sources};
use crate::search::distinct;
use crate::session::Session;
use crate::source::{Bind, Source};
use classify::Classifier;
use kept::{Kept, Predicted, Task};
use pictures::{InFiles, Picked, masked, refuse_color};
pub use stored::Predictions;
use stored::{BASELINE, Shelf, mean_shares};
use timing::{Ahead, Clock};
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
/// Where the images of the original scripts are.
const IMAGES: &str = "constellation_diagrams";
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
    #[arg(long, alias = "model", value_name = "MODEL", conflicts_with = "predictions")]
    pub checkpoint: Option<Source>,
    /// Its images: one folder per class, with one subfolder per class of the next head (BPSK/SNR_0/*.png) [default:
    /// constellation_diagrams]
    #[arg(long, value_name = "DIR", requires = "checkpoint")]
    pub images: Option<PathBuf>,
    /// Masked images written by `perturb generate` [default: masked in memory]
    #[arg(long, value_name = "DIR", requires = "checkpoint")]
    pub perturbation_dir: Option<PathBuf>,
    /// Stored labels and predictions, instead of a model
    #[arg(long, value_name = "DIR", required_unless_present_any = ["checkpoint", "replicates"])]
    pub predictions: Option<Predictions>,
    /// Which images: `test` (a tenth of every class, stratified over all heads, from the seed), `all`, or a file
    /// with one path per line (.txt) or with positions in the sorted list (.npy)
    #[arg(long, value_name = "test|all|FILE", default_value = "test")]
    pub split: String,
    /// Use only M random images of these, the same share of every class
    #[arg(long, value_name = "M", conflicts_with = "predictions")]
    pub sample: Option<usize>,
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
  repscope perturb evaluate --checkpoint checkpoints/best_model_resnet50_epoch_14.pth \\
      --perturbation-dir perturbed_constellations --batch-size 256 --seed 42
  repscope perturb evaluate --checkpoint model.onnx --images photos --split all --kinds top random patch --fill blur
  repscope perturb evaluate --checkpoint model.onnx --images photos --classes cat dog bird
  repscope perturb evaluate --predictions predictions --expect-baseline combined=0.5126
  repscope perturb generate --source constellation_diagrams --output perturbed_constellations";

default_options!(Perturb, MaskOptions);

impl Bind for Perturb {
    fn sources(&mut self, visit: &mut dyn FnMut(&mut Source)) {
        self.checkpoint.sources(visit);
        self.predictions.sources(visit);
        for folder in [&mut self.images, &mut self.perturbation_dir].into_iter().flatten() {
            visit_path(folder, visit);
        }
        // Words are no paths.
        if self.groups.as_ref().is_some_and(|source| !groups::is_names(source)) {
            self.groups.sources(visit);
        }
        if !tree::is_word(&self.split) {
            let mut file = PathBuf::from(&self.split);
            visit_path(&mut file, visit);
            self.split = file.to_string_lossy().into_owned();
        }
    }
}

/// Visits a path as a source.
fn visit_path(path: &mut PathBuf, visit: &mut dyn FnMut(&mut Source)) {
    let mut source = Source::File(path.to_string_lossy().into_owned());
    visit(&mut source);
    if let Source::File(text) = source {
        *path = text.into();
    }
}

declare!(Perturb {
    kind: Kind::Perturb,
    about: "What does masking parts of its images cost a classifier? (perturbation impact)",
    examples: EXAMPLES,
    folder: "perturbation_analysis",
    reads: &[],
    data: Origin::Own,
    is_asked_for: false,
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
    /// Images to show.
    examples: Vec<examples::Example>,
    /// All options of this analysis as they were resolved.
    config: Layer,
    clock: Clock,
}

impl Scored {
    /// Writes what is no result: options, times and images to show.
    pub(crate) fn write(&self, folder: &Path, figures: &FigureOptions) -> Result<()> {
        let config = serde_json::to_string_pretty(&self.config)? + "\n";
        write_whole(&folder.join("config.json"), config.as_bytes())?;
        write_whole(&folder.join("run.json"), self.clock.document().as_bytes())?;
        examples::write(&self.examples, folder, figures)
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
                 by itself, under a `name` and into a folder of its own, and report how far their scores spread"
            );
        }
        let expected = expected(&self.expect_baseline)?;
        let mut scored = match &self.predictions {
            Some(predictions) => from_predictions(predictions, self)?,
            None => from_model(self, session)?,
        };
        scored.config = self.config(&scored);
        let maskings = self.masks.maskings(self.settings.seed);
        let checks = Checks {
            suffix: scored.suffix.clone(),
            expected,
            wanted: maskings.iter().map(Masking::name).collect(),
        };
        *sources = std::mem::take(&mut scored.sources);
        sources
            .options
            .insert("checks".to_string(), serde_json::to_value(&checks)?);
        Ok(Extra::Perturbation(Box::new(scored)))
    }

    fn keep_in(&mut self, folder: &Path) {
        self.keep = Some(folder.join("predictions"));
    }

    fn compute(&self, planned: &Planned, _inputs: &Inputs, session: &Session) -> Result<Results> {
        let Extra::Perturbation(scored) = &planned.extra else {
            bail!("internal error: a perturbation without its data. Please report this");
        };
        let (driver, metrics, spec) = (session.driver(), &planned.metrics, &planned.spec);
        Ok(perturb(&scored.model, &scored.data, metrics, spec, &driver)?)
    }
}

impl Perturb {
    /// All options of this analysis, with what was chosen where nothing was said.
    fn config(&self, scored: &Scored) -> Layer {
        let mut config = self.said();
        // Where predictions are kept follows from the output folder.
        config.remove("keep");
        config.insert("name".to_string(), scored.model.clone().into());
        for (key, value) in &scored.sources.options {
            if config.get(key).is_none_or(Value::is_null) {
                config.insert(key.clone(), value.clone());
            }
        }
        config
    }

    /// The folder of images.
    fn folder(&self) -> Result<&Path> {
        let folder = self.images.as_deref().unwrap_or(Path::new(IMAGES));
        match &self.images {
            None if !folder.is_dir() => bail!(
                "there is no folder {IMAGES}, where images are expected if nothing else is said; name theirs (`images` FOLDER)"
            ),
            _ => Ok(folder),
        }
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
    let clock = Clock::start();
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
            layers: Vec::new(),
            findings: Vec::new(),
            records: reader.records,
            warnings: reader.warnings,
            options: object(serde_json::json!({ "predictions": typed, "groups": options.groups })),
        },
        examples: Vec::new(),
        config: Layer::new(),
        clock,
    })
}

fn from_model(options: &Perturb, session: &Session) -> Result<Scored> {
    let mut clock = Clock::start();
    let seed = options.settings.seed;
    let maskings = options.masks.checked(seed)?;
    let suffix = options.masks.suffix();
    if options.checkpoint.is_none() {
        bail!(
            "there is nothing to score: give a classifier (`checkpoint` FILE), or stored predictions (`predictions` = DIR)"
        );
    }
    let folder = options.folder()?;
    let mut tree = Tree::open(folder, &options.exclude, bad_images(options.model.skip_bad))?;
    refuse_color(&tree.images)?;
    let mut warnings: Vec<String> = tree.images.notes().to_vec();
    let split = tree::apply(&mut tree, &options.split, seed)?;
    warnings.push(format!("{}: {split}", folder.display()));
    if let Some(count) = options.sample {
        let text = tree::sample(&mut tree, count, seed)?;
        warnings.push(format!("{}: {text}", folder.display()));
    }
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
    let masked = files.as_ref().map(InFiles::digest).transpose()?;
    let names: Vec<String> = maskings.iter().map(|m| format!("{}_{suffix}", m.name())).collect();
    let task = Task {
        classifier: &classifier,
        tree: &tree,
        options,
        images: &images,
        masked: masked.as_deref(),
        sets: &names,
    };
    let kept = Kept::open(&task, session)?;
    let heads = classifier.heads();
    let orders = std::mem::take(&mut classifier.named);
    let from =
        |order: &Option<classes::Named>| order.as_ref().map_or("folders".to_string(), |order| order.from.clone());
    let class_order: Vec<String> = orders.iter().map(from).collect();

    let is_waiting = |set: &&str| !kept.has(set);
    let waiting = std::iter::once(BASELINE).chain(names.iter().map(String::as_str));
    let mut ahead = Some(waiting.filter(is_waiting).count());
    let images_of_set = tree.rows.len();
    // Every image is verified as it is read.
    let inputs: Files = classifier.files().iter().cloned().collect();
    let mut predict = |set: &str, of: &mut dyn FnMut(&mut Run) -> Result<Predicted>| -> Result<Predicted> {
        let since = Instant::now();
        if let Some(there) = kept.read(set, &heads, session) {
            clock.finished(set, images_of_set, since, true);
            return Ok(there);
        }
        let mut run = Run {
            classifier: &mut classifier,
            session,
            on_batch: &mut |batch| {
                let Some(sets) = ahead.take() else { return };
                let cost = Ahead {
                    batch,
                    seconds: since.elapsed().as_secs_f64(),
                    images: images_of_set,
                    sets,
                    is_builtin: options.model.runtime.runtime != RuntimeChoice::Onnxruntime,
                    is_kept: options.keep.is_some(),
                }
                .cost();
                if let Some(cost) = cost {
                    session.say(&cost);
                }
            },
        };
        let predicted = of(&mut run)?;
        inputs.verify()?;
        kept.write(set, &heads, &predicted)?;
        clock.finished(set, images_of_set, since, false);
        Ok(predicted)
    };
    let plain = Picked::new(&tree.images, &tree.rows);
    let baseline = predict(BASELINE, &mut |run| {
        let said = run.predict(&plain, "images as they are")?;
        Ok(Predicted { said, shares: None })
    })?;
    let standing = Standing::new(&heads, &tree, &baseline.said);
    session.say(&standing.baseline());
    let named = orders.iter().zip(heads.iter().zip(&tree.levels)).zip(&baseline.said);
    for ((order, (head, level)), said) in named {
        if order.is_none() {
            warnings.push(classes::guessed(head, &level.classes, &level.labels, said));
        }
    }
    let mut sets = Vec::new();
    for (number, (masking, set)) in maskings.iter().zip(&names).enumerate() {
        let predicted = predict(set, &mut |run| match &files {
            Some(files) => {
                let said = run.predict(&files.of_set(&tree, masking), set)?;
                let shares = Some(files.shares(&tree, masking)?);
                Ok(Predicted { said, shares })
            }
            None => {
                let shares = Mutex::default();
                let said = run.predict(&plain.masked(masking, &shares), set)?;
                let shares = Some(shares.into_inner().unwrap_or_default());
                Ok(Predicted { said, shares })
            }
        })?;
        let place = format!("{} of {}", number + 1, maskings.len());
        session.say(&standing.of_set(set, &place, masking.percent, &predicted.said));
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
        "groups": options.groups, "sample": options.sample,
    })));
    let shape = [&[tree.images.count()], tree.images.shape()].concat();
    Ok(Scored {
        model: options.name.clone().unwrap_or_else(|| path.stem()),
        examples: examples::choose(&tree, &maskings, suffix)?,
        config: Layer::new(),
        clock,
        data,
        suffix: suffix.to_string(),
        sources: Sources {
            layers: Vec::new(),
            findings: Vec::new(),
            records: [
                InputRecord {
                    about: classifier.about().to_vec(),
                    files: inputs,
                    ..InputRecord::new(&path, &[], "classifier", classifier.digest().to_string())
                },
                InputRecord::of_images(folder.display(), &shape, "images", &tree.images)?,
            ]
            .into_iter()
            .chain(reader.records)
            .collect(),
            warnings,
            options: asked,
        },
    })
}

/// A classifier at work.
struct Run<'a> {
    classifier: &'a mut Classifier,
    session: &'a Session<'a>,
    /// Hears how many images each batch has.
    on_batch: &'a mut dyn FnMut(usize),
}

impl Run<'_> {
    fn predict(&mut self, rows: &dyn Rows, stage: &str) -> Result<Vec<Vec<u32>>> {
        self.classifier
            .predict(rows, stage, &self.session.driver(), self.on_batch)
    }
}

/// How right the classifier is without perturbation, to be compared with each set as it finishes.
struct Standing<'a> {
    heads: &'a [String],
    labels: Vec<&'a [u32]>,
    /// Right answers of each head; of several heads together first.
    right: Vec<usize>,
}

impl<'a> Standing<'a> {
    fn new(heads: &'a [String], tree: &'a Tree, said: &[Vec<u32>]) -> Self {
        let labels = tree.levels.iter().map(|level| level.labels.as_slice()).collect();
        let mut standing = Standing {
            heads,
            labels,
            right: Vec::new(),
        };
        standing.right = standing.count(said);
        standing
    }

    fn count(&self, said: &[Vec<u32>]) -> Vec<usize> {
        let images = 0..self.samples();
        let is_right = |head: usize, image: usize| self.labels[head][image] == said[head][image];
        let heads = 0..self.heads.len();
        let of_head = |head: usize| images.clone().filter(|&image| is_right(head, image)).count();
        let own = heads.clone().map(of_head);
        let together = images
            .clone()
            .filter(|&image| heads.clone().all(|head| is_right(head, image)));
        match self.heads.len() {
            1 => own.collect(),
            _ => std::iter::once(together.count()).chain(own).collect(),
        }
    }

    fn samples(&self) -> usize {
        self.labels.first().map_or(0, |labels| labels.len())
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        let combined = (self.heads.len() > 1).then_some("combined");
        combined.into_iter().chain(self.heads.iter().map(String::as_str))
    }

    /// `images as they are: accuracy combined 0.5126, modulation 0.7639, snr 0.6871`.
    fn baseline(&self) -> String {
        let share = |right: &usize| *right as f64 / self.samples() as f64;
        let heads = self.names().zip(&self.right);
        let heads: Vec<String> = heads
            .map(|(head, right)| format!("{head} {:.4}", share(right)))
            .collect();
        format!("images as they are: accuracy {}", heads.join(", "))
    }

    /// `top1_blackout (1 of 15): combined accuracy 0.4800, drop 0.0326, PIS 3.26; modulation …`.
    fn of_set(&self, set: &str, place: &str, percent: f64, said: &[Vec<u32>]) -> String {
        let samples = self.samples() as f64;
        let of_head = |((head, before), after): ((&str, &usize), usize)| {
            let drop = (*before as f64 - after as f64) / samples;
            let (accuracy, pis) = (after as f64 / samples, number(drop / (percent / 100.0)));
            format!("{head} accuracy {accuracy:.4}, drop {drop:.4}, PIS {pis}")
        };
        let heads = self.names().zip(&self.right).zip(self.count(said)).map(of_head);
        format!("{set} ({place}): {}", heads.collect::<Vec<String>>().join("; "))
    }
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
    use repscope_io::write_gray_png;
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
        assert!(error.contains("2 names") && error.contains("3 outputs"), "{error}");
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
