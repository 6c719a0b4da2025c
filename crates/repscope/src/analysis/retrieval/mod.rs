// SPDX-License-Identifier: MIT
//! Do the targets nearest to a query have its label? Spaces, labels, prototypes and directions.
//!
//! `names` says what was given, and which array and which rows of a file are meant; `directions` what to search. Everything is then
//! read, joined by id where asked, and put together. `matching` changes the whole: it takes labels of different case as one, leaves rows
//! out, and compares the labels of the `prototypes` with those of the data. `split` separates held-out rows from those of training.

mod directions;
mod matching;
mod names;
mod prototypes;
mod split;
mod versions;

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use clap::Args;
use repscope_core::{
    Analysis as Kind, LabelSet, Labels, Metric, Results, Retrieval as Asked, SearchInterval, Similarity, Space, Spec,
    Versioned, retrieve,
};
use repscope_io::{Array, Pool};
use serde::{Deserialize, Serialize};

use super::{Analysis, Origin, declare};
use crate::evaluation::plan::{Extra, Planned};
use crate::inputs::Inputs;
use crate::options::layers::{Layer, object};
use crate::options::{
    Data, MOST_ROWS, RuntimeOptions, Settings, TextEncoderOptions, VersionOptions, Word, choice, default_options,
};
use crate::reader::{Orders, Part, Reader, Sources};
use crate::search::distinct;
use crate::session::Session;
use crate::source::{IdSource, Named, Place, Source, bind};
use names::{Captions, GroupFile, LabelFile, NamedSpace};

const INTERVALS: &[(&str, &str)] = &[
    ("population", "Other queries and other targets"),
    ("gallery", "Other queries in the same targets"),
];

/// The heading of options about rows that a model was trained on.
const TRAINING: &str = "Held-out and training rows";

/// What the prototypes are called as a space.
const PROTOTYPE: &str = "prototype";

/// Do the targets nearest to a query have its label?
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(default)]
pub struct Retrieval {
    /// Embeddings of the sensor samples, one per row
    #[arg(long, value_name = "PATH", help_heading = "Embeddings and labels")]
    pub sensor_embeddings: Option<Source>,
    /// Embeddings of their texts, in the same row order
    #[arg(long, value_name = "PATH", help_heading = "Embeddings and labels")]
    pub text_embeddings: Option<Source>,
    /// Further spaces of queries and targets, in addition to or instead of sensor and text; names without the digit 2
    #[arg(long = "space", num_args = 1.., value_name = "NAME=PATH", help_heading = "Embeddings and labels")]
    pub spaces: Vec<Named>,
    /// A label per row, or several sets of labels as l1=PATH l2=PATH. If NAME is a space, the labels of that space only,
    /// which may then have a different number of rows
    #[arg(long, num_args = 1.., value_name = "PATH|NAME=PATH", help_heading = "Embeddings and labels")]
    pub labels: Vec<Named>,
    /// Array in the file of --sensor-embeddings, if it holds several [default: embeddings]
    #[arg(long, value_name = "KEY", help_heading = "Embeddings and labels")]
    pub sensor_key: Option<String>,
    /// Array in the file of --text-embeddings, if it holds several [default: embeddings]
    #[arg(long, value_name = "KEY", help_heading = "Embeddings and labels")]
    pub text_key: Option<String>,
    /// Array in the file of --labels, if it holds several [default: labels]
    #[arg(long, value_name = "KEY", help_heading = "Embeddings and labels")]
    pub labels_key: Option<String>,
    /// Join the rows by id instead of by position: the name of an id array in every file, or NAME=PATH for each space
    /// and each set of labels (`labels` if it has no name)
    #[arg(long, num_args = 1.., value_name = "COLUMN|NAME=PATH", help_heading = "Embeddings and labels")]
    pub ids: Vec<IdSource>,
    /// The group of each row (a subject, an episode, a document), where rows of one group are not independent: intervals are then over
    /// groups. NAME=PATH for the rows of one space; groups of the same name are the same in all spaces
    #[arg(long, visible_alias = "episodes", num_args = 1.., value_name = "PATH|NAME=PATH", help_heading = "Embeddings and labels")]
    pub groups: Vec<Named>,
    /// Which rows are held out: the word train or test for each row. Both are scored, each by itself; rows with other words are left
    /// out
    #[arg(long, value_name = "PATH", help_heading = TRAINING)]
    pub split: Option<Source>,
    /// Embeddings of the sensor samples that the model was trained on, scored beside the others, which are then held out
    #[arg(long, value_name = "PATH", conflicts_with = "split", requires = "train_labels", help_heading = TRAINING)]
    pub train_sensor_embeddings: Option<Source>,
    /// Embeddings of their texts
    #[arg(long, value_name = "PATH", conflicts_with = "split", requires = "train_labels", help_heading = TRAINING)]
    pub train_text_embeddings: Option<Source>,
    /// Their labels, as for --labels
    #[arg(long, num_args = 1.., value_name = "PATH|NAME=PATH", conflicts_with = "split", help_heading = TRAINING)]
    pub train_labels: Vec<Named>,
    /// Leave out the rows with these labels, for example noise classes
    #[arg(
        long,
        num_args = 1..,
        value_name = "LABEL",
        allow_negative_numbers = true,
        help_heading = "Embeddings and labels"
    )]
    pub exclude_labels: Vec<Word>,
    /// Ignore case in labels
    #[arg(long, help_heading = "Embeddings and labels")]
    pub ignore_case: bool,
    /// Name of these embeddings in the results
    #[arg(
        long,
        value_name = "MODEL",
        default_value = "embeddings",
        help_heading = "Embeddings and labels"
    )]
    pub name: String,
    /// Numbers K of first targets to score
    #[arg(
        long,
        num_args = 1..,
        value_delimiter = ',',
        default_values_t = [10, 50, 100],
        value_name = "K",
        help_heading = "Search"
    )]
    pub k_values: Vec<usize>,
    /// Skip R-precision, MAP@R and MRR, which need more than the first K targets: slightly faster
    #[arg(long, help_heading = "Search")]
    pub first_only: bool,
    /// text2sensor, sensor2text, sensor2sensor, text2text, both (text2sensor and sensor2text; with --use-prototypes
    /// prototype2sensor and prototype2text), prototype2NAME, or NAME2NAME of any spaces [default: both, or all pairs
    /// of the spaces given]
    #[arg(long, num_args = 1.., value_delimiter = ',', value_name = "DIRECTION", help_heading = "Search")]
    pub directions: Vec<String>,
    /// Cosine similarity (the default)
    #[arg(long, overrides_with = "no_normalize", help_heading = "Search")]
    pub normalize: bool,
    /// Inner product of the rows without normalization
    #[arg(long, overrides_with = "normalize", help_heading = "Search")]
    pub no_normalize: bool,
    /// What intervals speak about: other queries and other targets of the same kind, or other queries in the same gallery of targets
    #[arg(long, value_parser = choice::<SearchInterval>(INTERVALS), default_value = "population", value_name = "OF", help_heading = "Search")]
    pub interval: SearchInterval,
    /// Shorter and quantized embeddings.
    #[command(flatten)]
    #[serde(flatten)]
    pub versions: VersionOptions,
    /// Use prototypes as queries: one or more embeddings per label
    #[arg(long, help_heading = "Prototypes")]
    pub use_prototypes: bool,
    /// Stored prototypes, one per row; a label may have several
    #[arg(long, value_name = "PATH", help_heading = "Prototypes")]
    pub prototype_embeddings: Option<Source>,
    /// Labels of the stored prototypes [default: the array `labels` in the same file, or the labels of the metadata in file
    /// order]
    #[arg(
        long,
        value_name = "PATH",
        requires = "prototype_embeddings",
        help_heading = "Prototypes"
    )]
    pub prototype_labels: Option<Source>,
    /// JSON with texts for the labels of each dataset [default: metadata/casas_metadata.json]
    #[arg(long, value_name = "FILE", help_heading = "Prototypes")]
    pub metadata: Option<Source>,
    /// The dataset in the metadata
    #[arg(long, value_name = "NAME", default_value = "milan", help_heading = "Prototypes")]
    pub dataset_name: String,
    /// The style in the metadata: label_to_text_STYLE, or a field of label_to_text
    #[arg(long, value_name = "STYLE", default_value = "sourish", help_heading = "Prototypes")]
    pub caption_style: String,
    /// Text encoder of the prototypes: a Hugging Face model folder, an .onnx file with tokenizer.json beside it, or the name of a
    /// model in the Hugging Face cache of this machine [default: the one that the checkpoint was trained with]
    #[arg(long, value_name = "PATH", help_heading = "Prototypes")]
    pub text_encoder: Option<Source>,
    /// Trained model whose text projection is applied after the text encoder; it names the encoder in
    /// text_encoder_metadata.model_name
    #[arg(long, value_name = "FILE", help_heading = "Prototypes")]
    pub checkpoint: Option<Source>,
    /// Write the labels and texts of the metadata as CSV and stop, to encode them with your own encoder
    #[arg(long, value_name = "FILE", help_heading = "Prototypes")]
    pub prototype_texts: Option<PathBuf>,
    /// Also write the label precisions as a flat JSON file: {"text2sensor": {"10": 0.72, …}, …}
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    pub output: Option<Source>,
    /// What runs encoders.
    #[command(flatten)]
    #[serde(flatten)]
    pub runtime: RuntimeOptions,
    /// How texts become embeddings.
    #[command(flatten)]
    #[serde(flatten)]
    pub text: TextEncoderOptions,
    /// What all analyses share.
    #[command(flatten)]
    #[serde(flatten)]
    pub settings: Settings,
}

const EXAMPLES: &str = "\
Examples:
  repscope retrieval --sensor_embeddings sensor.npy --text_embeddings text.npy \\
      --labels l1=l1.npy l2=l2.npy --directions both sensor2sensor
  repscope retrieval --sensor_embeddings data.npz#sensor --labels data.npz \\
      --prototype_embeddings prototypes.npy --prototype_labels names.npy
  repscope retrieval --sensor_embeddings sensor.npy --labels labels.npy --use_prototypes --metadata metadata.json \\
      --text_encoder clip-vit-base-patch32/ --checkpoint best_model.pt
  repscope retrieval --sensor_embeddings test.npy --labels test_labels.npy \\
      --train_sensor_embeddings train.npy --train_labels train_labels.npy

A direction names the space of the queries and the space of the targets. In
sensor2sensor a row is never its own target. --quiet prints only the Label-Recall@K
summary. Options may be written with - or with _.";

default_options!(Retrieval);
bind!(Retrieval: sensor_embeddings, text_embeddings, spaces, labels, groups, ids, split, train_sensor_embeddings, train_text_embeddings,
    train_labels, prototype_embeddings, prototype_labels, metadata,
    text_encoder, checkpoint, output, runtime);
declare!(Retrieval {
    kind: Kind::Retrieval,
    about: "Do the targets nearest to a query have its label? (precision@K, prototypes)",
    examples: EXAMPLES,
    folder: "retrieval",
    reads: &[],
    data: Origin::Own,
    is_asked_for: false,
    stage: 3,
    sweeps: false,
    keeps_samples: false,
    classes: &[],
    take: |_, _| {},
});

impl Analysis for Retrieval {
    fn spec(&self, _data: &Data) -> Result<Spec> {
        if let Some(k) = self.k_values.iter().find(|&&k| k == 0 || k > MOST_ROWS) {
            bail!("`k_values` = {k}: K counts the first targets, at least 1 and at most {MOST_ROWS}");
        }
        Ok(Spec {
            retrieval_k: distinct(self.k_values.iter().copied()),
            // The last of --normalize and --no-normalize counts; clap clears the other.
            similarity: if self.no_normalize {
                Similarity::Dot
            } else {
                Similarity::Cosine
            },
            search_interval: self.interval,
            ..self.settings.spec()?
        })
    }

    fn metrics(&self, _data: &Data) -> Vec<&'static Metric> {
        let mut metrics = self.settings.wanted(Kind::Retrieval.metrics());
        metrics.retain(|m| !(self.first_only && m.reads_whole_ranking()));
        metrics
    }

    fn prepare(&self, _data: &Data, _inputs: &Inputs, sources: &mut Sources, session: &Session) -> Result<Extra> {
        let flat = self.output.as_ref().map(|output| PathBuf::from(output.to_string()));
        if let Some(output) = flat.as_ref().filter(|path| path.is_dir()) {
            bail!("`output` = {} is a folder; name a file for the JSON", output.display());
        }
        let (retrievals, own) = split::read(self, session)?;
        versions::refuse_too_long(&self.versions.all()?, &retrievals)?;
        *sources = own;
        Ok(Extra::Retrieval(retrievals, flat))
    }

    /// Writes the texts of the prototypes, to be encoded elsewhere.
    fn instead(&self) -> Result<Option<Vec<String>>> {
        let Some(to) = &self.prototype_texts else {
            return Ok(None);
        };
        let written = prototypes::write_texts(self, to)?;
        let (count, source) = (written.texts.len(), written.source);
        let done = format!("{count} texts of {source} are written to {}", to.display());
        let warnings = written.warnings.iter().map(|warning| format!("warning: {warning}"));
        Ok(Some(warnings.chain([done]).collect()))
    }

    fn compute(&self, planned: &Planned, _inputs: &Inputs, session: &Session) -> Result<Results> {
        let Extra::Retrieval(asked, _) = &planned.extra else {
            bail!("internal error: a retrieval without its data. Please report this");
        };
        Ok(retrieve(asked, &planned.metrics, &planned.spec, &session.driver())?)
    }

    fn versions(&self, planned: &Planned, _inputs: &Inputs, session: &Session) -> Result<Vec<Versioned>> {
        let Extra::Retrieval(asked, _) = &planned.extra else {
            return Ok(Vec::new());
        };
        let of = |version| versions::measured(version, asked, planned, session);
        self.versions.all()?.into_iter().map(of).collect()
    }

    /// Held-out rows and those of training are no rivals.
    fn has_rivals(&self) -> bool {
        !split::is_asked(self)
    }
}

/// A retrieval as it was read, and what it was read from.
struct Whole {
    retrieval: Asked,
    reader: Reader,
    /// For each row of the aligned spaces, whether it is held out.
    split: Option<Labels>,
}

/// Reads everything.
fn read(options: &Retrieval, session: &Session) -> Result<Whole> {
    let mut spaces = names::spaces(options)?;
    let mut labels = names::labels(options, &spaces)?;
    let space_names: Vec<&str> = spaces.iter().map(|s| s.name.as_str()).collect();
    let directions = directions::resolve(&options.directions, &space_names, prototypes::are_wanted(options))?;

    let mut reader = Reader::new(&options.ids);
    let id_column = reader.id_column().map(str::to_string);
    for space in &mut spaces {
        space.place = names::resolve_key(&space.place, &space.key, id_column.as_deref(), &mut reader.warnings)?;
    }
    for file in &mut labels {
        file.place = names::resolve_key(&file.place, &file.key, id_column.as_deref(), &mut reader.warnings)?;
    }
    let captions = Captions::of(&spaces, !options.ids.is_empty(), &mut reader.warnings)?;
    let group_files = names::groups(options, &spaces)?;
    let split = options.split.as_ref().map(Source::place).transpose()?;
    let orders = reader.join(parts(&spaces, &labels, &group_files, split, &captions, &options.ids)?)?;

    let mut read = Vec::new();
    for space in &spaces {
        read.push(read_space(&mut reader, space, &orders)?);
    }
    let mut label_sets = read_labels(&mut reader, &labels, &spaces, &orders)?;
    let mut groups = read_groups(&mut reader, &group_files, &spaces, &labels, &orders)?;
    let mut is_aligned: Vec<bool> = spaces.iter().map(|s| !has_own_labels(&labels, &s.name)).collect();
    if let Some(found) = prototypes::read(options, &mut reader, session)? {
        read.push(Arc::new(found.space));
        is_aligned.push(false);
        if !groups.is_empty() {
            let own = group_files.iter().find(|file| file.space.as_deref() == Some(PROTOTYPE));
            let own = own.map(|file| reader.labels(&file.place)).transpose()?;
            groups.push(own.map(Arc::new));
        }
        let names = Arc::new(found.labels);
        label_sets.iter_mut().for_each(|set| set.of_space.push(names.clone()));
    }
    let split = match &options.split {
        Some(source) => Some(orders.labels(SPLIT, reader.labels(&source.place()?)?)?),
        None => None,
    };
    let retrieval = Asked {
        model: options.name.clone(),
        spaces: read,
        is_aligned,
        label_sets,
        groups,
        directions,
    };
    retrieval.check()?;
    Ok(Whole {
        retrieval,
        reader,
        split,
    })
}

/// Takes labels of different case as one and leaves rows out, as asked, and checks that the rest fits together.
fn matched(retrieval: &mut Asked, options: &Retrieval, warnings: &mut Vec<String>) -> Result<()> {
    if options.ignore_case {
        matching::ignore_case(retrieval, warnings);
    }
    let excluded: Vec<String> = options.exclude_labels.iter().map(|label| label.0.clone()).collect();
    matching::exclude(retrieval, &excluded, options.ignore_case, warnings)?;
    matching::compare(retrieval, warnings)?;
    Ok(retrieval.check()?)
}

fn has_own_labels(labels: &[LabelFile], space: &str) -> bool {
    labels.iter().any(|file| file.space.as_deref() == Some(space))
}

/// The arrays whose rows belong together. A space with labels of its own stands alone.
fn parts(
    spaces: &[NamedSpace],
    labels: &[LabelFile],
    groups: &[GroupFile],
    split: Option<Place>,
    captions: &Captions,
    ids: &[IdSource],
) -> Result<Vec<Part>> {
    let mut parts = Vec::new();
    for space in spaces {
        parts.push(Part {
            name: space.name.clone(),
            place: space.place.clone(),
            chosen: captions.rows_of(&space.place)?,
        });
    }
    for file in labels {
        parts.push(Part {
            name: file.part(),
            place: file.place.clone(),
            chosen: captions.rows_of(&file.place)?,
        });
    }
    for file in groups.iter().filter(|file| file.space.is_none()) {
        parts.push(Part {
            name: GROUPS.to_string(),
            place: file.place.clone(),
            chosen: captions.rows_of(&file.place)?,
        });
    }
    if let Some(place) = split {
        parts.push(Part {
            name: SPLIT.to_string(),
            chosen: captions.rows_of(&place)?,
            place,
        });
    }
    if ids.is_empty() {
        return Ok(parts);
    }
    if let Some(space) = labels.iter().find_map(|file| file.space.as_ref()) {
        bail!(
            "ids join the rows of spaces that share their labels, but `{space}` has its own; leave out the ids, or put \
             the rows into one order first"
        );
    }
    for name in ids.iter().filter_map(|id| id.0.name()) {
        if !parts.iter().any(|p| p.name == name) {
            let known: Vec<&str> = parts.iter().map(|p| p.name.as_str()).collect();
            bail!("`ids` names `{name}`, but the arrays here are {}", names::list(&known));
        }
    }
    Ok(parts)
}

fn read_space(reader: &mut Reader, named: &NamedSpace, orders: &Orders) -> Result<Arc<Space>> {
    let array = reader.array(&named.place)?;
    let space = rows_of_numbers(array, &named.name, &named.place)?;
    Ok(Arc::new(orders.space(&named.name, space)?))
}

/// One row per sample. Dimensions of size 1 do not count: (N, 1, D) is N × D.
fn rows_of_numbers(array: Array, name: &str, path: &Place) -> Result<Space> {
    let shape = array.shape().to_vec();
    if shape.iter().skip(1).filter(|&&size| size > 1).count() > 1 {
        bail!("{path} has shape {shape:?}; embeddings are one row per sample, N × D: pool or flatten them first");
    }
    array.into_space(name, Pool::Flatten).with_context(|| path.to_string())
}

/// One set of labels per name; each covers every space, with shared labels or the space's own.
fn read_labels(
    reader: &mut Reader,
    files: &[LabelFile],
    spaces: &[NamedSpace],
    orders: &Orders,
) -> Result<Vec<LabelSet>> {
    let mut read = Vec::new();
    for file in files {
        let labels = reader.array(&file.place)?.into_labels(&file.place.to_string())?;
        read.push(Arc::new(orders.labels(&file.part(), labels)?));
    }
    let labels_of = |set: &Option<String>, space: &str| -> Result<Arc<Labels>> {
        let own = has_own_labels(files, space).then_some(space);
        let at = files.iter().position(|f| f.set == *set && f.space.as_deref() == own);
        let at = at.with_context(|| names::missing_labels(space, set.as_deref(), own.is_some()))?;
        Ok(read[at].clone())
    };
    let mut label_sets = Vec::new();
    for set in distinct(files.iter().map(|file| file.set.clone())) {
        let of_space = spaces.iter().map(|s| labels_of(&set, &s.name)).collect::<Result<_>>()?;
        label_sets.push(LabelSet { name: set, of_space });
    }
    Ok(label_sets)
}

/// What ids call the groups of all rows.
const GROUPS: &str = "groups";
/// And what says which rows are held out.
const SPLIT: &str = "split";

/// The groups of the rows of each space: its own, or those of all spaces that share their labels. Without any, nothing.
fn read_groups(
    reader: &mut Reader,
    files: &[GroupFile],
    spaces: &[NamedSpace],
    labels: &[LabelFile],
    orders: &Orders,
) -> Result<Vec<Option<Arc<Labels>>>> {
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let shared = files.iter().find(|file| file.space.is_none());
    let shared = shared
        .map(|file| orders.labels(GROUPS, reader.labels(&file.place)?))
        .transpose()?;
    let shared = shared.map(Arc::new);
    let mut groups = Vec::new();
    for space in spaces {
        let own = files
            .iter()
            .find(|file| file.space.as_deref() == Some(space.name.as_str()));
        groups.push(match own {
            Some(file) => Some(Arc::new(orders.labels(&space.name, reader.labels(&file.place)?)?)),
            None if has_own_labels(labels, &space.name) => None,
            None => shared.clone(),
        });
    }
    Ok(groups)
}

/// What was said about the inputs, and what it came to.
fn roles(options: &Retrieval, retrieval: &Asked) -> Layer {
    let directions = retrieval.directions.iter();
    let directions: Vec<String> = directions.map(|d| retrieval.direction_name(*d)).collect();
    let mut roles = object(serde_json::json!({
        "sensor_embeddings": options.sensor_embeddings, "sensor_key": options.sensor_key,
        "text_embeddings": options.text_embeddings, "text_key": options.text_key,
        "spaces": options.spaces, "labels": options.labels, "labels_key": options.labels_key, "groups": options.groups,
        "ids": options.ids,
        "directions": directions, "exclude_labels": options.exclude_labels, "ignore_case": options.ignore_case,
        "use_prototypes": prototypes::are_wanted(options), "prototype_embeddings": options.prototype_embeddings,
        "prototype_labels": options.prototype_labels, "metadata": options.metadata,
        "dataset_name": options.dataset_name, "caption_style": options.caption_style,
        "checkpoint": options.checkpoint, "name": options.name,
        "split": options.split, "train_sensor_embeddings": options.train_sensor_embeddings,
        "train_text_embeddings": options.train_text_embeddings, "train_labels": options.train_labels,
    }));
    roles.extend(options.versions.asked());
    roles
}
