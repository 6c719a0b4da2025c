// SPDX-License-Identifier: MIT
//! How near are generated texts to the signals they were made from? Signals, the texts of one or more systems as vectors or as texts
//! that are encoded, the true texts, and what samples are grouped by.

mod files;

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use clap::Args;
use repscope_core::{
    Analysis as Kind, Decoding, EtesSpec, Finding, Labels, Results, Space, Spec, System, Trouble, etes,
};
use repscope_io::Pool;
use serde::{Deserialize, Serialize};

use super::{Analysis, Origin, declare};
use crate::encoding::{Model, Seen, stored};
use crate::evaluation::plan::{Extra, Planned};
use crate::inputs::Inputs;
use crate::options::layers::{Layer, object};
use crate::options::{Data, MOST_ROWS, RuntimeOptions, Settings, TextEncoderOptions, choice, default_options};
use crate::reader::{Reader, Sources};
use crate::search::{distinct, list};
use crate::session::Session;
use crate::source::{Named, Place, Source, bind};

pub use files::EtesFiles;

const FLUENCIES: &[(&str, &str)] = &[
    ("log-perplexity", "Mean negative log-likelihood of the tokens"),
    ("perplexity", "Its exponential, at least 1"),
];

/// What fluencies are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FluencyKind {
    /// Mean negative log-likelihood of the tokens.
    LogPerplexity,
    /// Its exponential, at least 1.
    Perplexity,
}

const INPUTS: &str = "Signals and texts";

/// How near are generated texts to the signals they were made from?
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(default)]
pub struct Etes {
    /// Embeddings of the signals, one per row; NAME=PATH if a system has its own signals
    #[arg(long, num_args = 1.., required = true, value_name = "NAME=PATH|PATH", help_heading = INPUTS)]
    pub signal: Vec<Named>,
    /// Embeddings of the generated texts; several systems as NAME=PATH NAME=PATH
    #[arg(
        long,
        num_args = 1..,
        required_unless_present = "generated_text",
        value_name = "NAME=PATH|PATH",
        help_heading = INPUTS
    )]
    pub generated: Vec<Named>,
    /// Embeddings of the reference texts
    #[arg(long, num_args = 1.., value_name = "NAME=PATH|PATH", help_heading = INPUTS)]
    pub reference: Vec<Named>,
    /// The generated texts (.txt, file.jsonl#field, file.csv#column); encoded unless --generated is given
    #[arg(long, num_args = 1.., value_name = "NAME=PATH|PATH", help_heading = INPUTS)]
    pub generated_text: Vec<Named>,
    /// The reference texts; encoded unless --reference is given
    #[arg(long, value_name = "PATH", help_heading = INPUTS)]
    pub reference_text: Option<Source>,
    /// The text encoder: a Hugging Face model folder, or an .onnx file with tokenizer.json beside it
    #[arg(long, value_name = "PATH", help_heading = INPUTS)]
    pub text_encoder: Option<Source>,
    /// Trained model whose aligner is applied after the text encoder
    #[arg(long, value_name = "FILE", requires = "text_encoder", help_heading = INPUTS)]
    pub checkpoint: Option<Source>,
    /// Fluency of each generated text, which enters the total
    #[arg(long, num_args = 1.., value_name = "NAME=PATH|PATH", help_heading = INPUTS)]
    pub fluency: Vec<Named>,
    /// Kind of values in --fluency
    #[arg(long, value_parser = choice::<FluencyKind>(FLUENCIES), default_value = "log-perplexity", value_name = "KIND", help_heading = INPUTS)]
    pub fluency_kind: FluencyKind,
    /// A language model that says how fluent each generated text is: a Hugging Face folder of GPT-2 or T5, or an .onnx file with
    /// the output logits and tokenizer.json beside it
    #[arg(long, value_name = "PATH", conflicts_with = "fluency", help_heading = INPUTS)]
    pub fluency_model: Option<Source>,
    /// Also report the scores of each group: subject=PATH task=PATH
    #[arg(long, num_args = 1.., value_name = "NAME=PATH", help_heading = INPUTS)]
    pub group: Vec<Named>,
    /// The group of each sample (a subject, an episode), where samples of one group are not independent: intervals are then over groups
    #[arg(long, visible_alias = "episodes", value_name = "PATH", conflicts_with = "units", help_heading = INPUTS)]
    pub groups: Option<Source>,
    /// The same by name: intervals are over the values of this --group
    #[arg(long, value_name = "GROUP", help_heading = INPUTS)]
    pub units: Option<String>,
    /// Weight of the fluency (log-perplexity / 10) in the total
    #[arg(long, default_value_t = 0.1, value_name = "W", help_heading = "Scores")]
    pub fluency_weight: f64,
    /// Upper limits of the bands excellent, good, fair and weak; above them is poor
    #[arg(
        long,
        num_args = 4,
        allow_negative_numbers = true,
        default_values_t = [-0.8, -0.5, -0.2, 0.0],
        value_name = "E",
        help_heading = "Scores"
    )]
    pub bands: Vec<f64>,
    /// Report how often the own text of a signal is among its K nearest texts
    #[arg(
        long,
        num_args = 1..,
        value_delimiter = ',',
        default_values_t = [1, 5, 10],
        value_name = "K",
        help_heading = "Scores"
    )]
    pub k: Vec<usize>,
    /// Number of random pairings for the p-value; 0 omits it
    #[arg(long, default_value_t = 999, value_name = "N", help_heading = "Scores")]
    pub permutations: usize,
    /// Does nothing: the energy is what this command computes. For command lines of the original code
    #[arg(long, help_heading = "Scores")]
    pub use_energy: bool,
    /// Also write the scores of each sample to this .csv, .json or .parquet file
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    pub samples: Option<Source>,
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
  repscope etes --signal eeg.npy --generated beam.npy --reference true.npy
  repscope etes --signal eeg.npy --generated beam=b.npy nucleus=n.npy \\
      --reference true.npy --group subject=subjects.npy
  repscope etes --signal eeg.npy --generated-text beam.txt \\
      --reference-text true.txt --text-encoder flan-t5-large/ \\
      --checkpoint glim.ckpt --template 'To English: {}'

Energies are negative cosine similarities: lower is better. Row i of all files is the
same sample. NAME=PATH assigns a file to one system, a plain path to all of them.";

default_options!(Etes);
bind!(Etes: signal, generated, reference, generated_text, reference_text, text_encoder, checkpoint, fluency, fluency_model, group,
    groups, samples, runtime);
declare!(Etes {
    kind: Kind::Etes,
    about: "How well do generated texts match the signals they come from? (EEG–text energy)",
    examples: EXAMPLES,
    folder: "etes_analysis",
    reads: &[],
    data: Origin::Own,
    is_asked_for: false,
    stage: 4,
    sweeps: false,
    keeps_samples: false,
    classes: &[],
    take: |_, _| {},
});

impl Analysis for Etes {
    fn spec(&self, _data: &Data) -> Result<Spec> {
        if let Some(k) = self.k.iter().find(|&&k| k == 0 || k > MOST_ROWS) {
            bail!("`k` = {k}: K counts the nearest texts, at least 1 and at most {MOST_ROWS}");
        }
        let &[excellent, good, fair, weak] = &self.bands[..] else {
            let count = self.bands.len();
            bail!("bands are four numbers, such as -0.8 -0.5 -0.2 0, but there are {count}");
        };
        let spec = Spec {
            etes: EtesSpec {
                fluency_weight: self.fluency_weight,
                bands: [excellent, good, fair, weak],
                k: distinct(self.k.iter().copied()),
                permutations: self.permutations,
            },
            ..self.settings.spec()?
        };
        spec.check()?;
        Ok(spec)
    }

    fn prepare(&self, _data: &Data, _inputs: &Inputs, sources: &mut Sources, session: &Session) -> Result<Extra> {
        let files = EtesFiles::new(self.samples.as_ref())?;
        if self.use_energy {
            session.say("`use_energy` has no effect: the energy is what this command computes");
        }
        let (decoding, own) = read(self, session)?;
        *sources = own;
        Ok(Extra::Decoding(Box::new(decoding), files))
    }

    fn compute(&self, planned: &Planned, _inputs: &Inputs, session: &Session) -> Result<Results> {
        let Extra::Decoding(decoding, _) = &planned.extra else {
            bail!("internal error: generated texts without their data. Please report this");
        };
        Ok(etes(decoding, &planned.metrics, &planned.spec, &session.driver())?)
    }
}

/// Reads everything, and runs the text encoder where texts have no vectors.
fn read(options: &Etes, session: &Session) -> Result<(Decoding, Sources)> {
    let mut reader = Reader::new(&[]);
    let names = names(options)?;
    let place = options.reference_text.as_ref().map(Source::place).transpose()?;
    let reference_texts = place.map(|place| seen_texts(&place, &mut reader)).transpose()?;
    let mut encoder = Encoder {
        options,
        session,
        model: None,
        language: None,
    };
    let mut files = Vec::new();
    let mut systems = Vec::new();
    let mut of_references: Option<Arc<Space>> = None;
    for name in &names {
        let generated = own_place(&options.generated, name, &names)?;
        let texts = own_place(&options.generated_text, name, &names)?;
        let texts = texts.map(|place| seen_texts(&place, &mut reader)).transpose()?;
        let generated = match (generated, &texts) {
            (Some(place), _) => space(&mut files, &place, name, &mut reader)?,
            (None, Some(texts)) => Arc::new(encoder.space(texts, name, &mut reader)?),
            (None, None) => bail!("system `{name}` has neither embeddings of its texts nor the texts"),
        };
        let signal = shared_place(&options.signal, name, &names)?
            .with_context(|| format!("system `{name}` has no signals; give a path for all, or {name}=PATH"))?;
        let reference = match (shared_place(&options.reference, name, &names)?, &reference_texts) {
            (Some(place), _) => Some(space(&mut files, &place, "reference", &mut reader)?),
            (None, Some(texts)) => {
                if of_references.is_none() {
                    of_references = Some(Arc::new(encoder.space(texts, "reference", &mut reader)?));
                }
                of_references.clone()
            }
            (None, None) => None,
        };
        let place = own_place(&options.fluency, name, &names)?;
        let fluency = match (place, &options.fluency_model) {
            (Some(place), None) => Some(fluency(&place, options.fluency_kind, &mut reader)?),
            (None, None) => None,
            (None, Some(source)) => {
                let Some(texts) = &texts else {
                    bail!(
                        "`fluency_model` = {source} scores texts, but system `{name}` has embeddings only; give its texts, too \
                         (`generated_text`)"
                    );
                };
                Some(encoder.fluency(source, texts, name, &mut reader)?)
            }
            (Some(place), Some(source)) => {
                bail!("`fluency_model` = {source} and fluencies from {place} are two sources of one number; give one")
            }
        };
        systems.push(System {
            name: name.clone(),
            signal: space(&mut files, &signal, "signal", &mut reader)?,
            generated,
            reference,
            fluency: fluency.map(Into::into),
            texts: texts.as_ref().and_then(shared),
        });
    }
    encoder.refuse_idle()?;
    refuse_strangers(&options.fluency, &names)?;
    let (groups, units) = groups(options, &mut reader)?;
    let decoding = Decoding {
        systems,
        references: reference_texts.as_ref().and_then(shared),
        groups,
        units,
    };
    decoding.check()?;
    reader.warnings.extend(empty_texts(&decoding));
    let findings: Vec<Finding> = without_aligner(options).into_iter().collect();
    reader
        .warnings
        .extend(findings.iter().map(|finding| finding.text.clone()));
    let sources = Sources {
        layers: Vec::new(),
        findings,
        records: reader.records,
        warnings: reader.warnings,
        options: asked(options),
    };
    Ok((decoding, sources))
}

/// `NAME=PATH` or `PATH`. What looks like a path before `=` is no name.
fn split(given: &Named) -> Result<(Option<&str>, Place)> {
    given.split(|name| !name.is_empty() && !name.contains(['/', '\\', '#', '.']))
}

fn name_of(given: &Named) -> Result<String> {
    let (name, place) = split(given)?;
    Ok(name.map_or_else(|| place.stem(), str::to_string))
}

/// The systems, in the order in which they are named.
fn names(options: &Etes) -> Result<Vec<String>> {
    let mut names: Vec<String> = Vec::new();
    for list in [&options.generated, &options.generated_text] {
        let own = list.iter().map(name_of).collect::<Result<Vec<String>>>()?;
        if let Some(twice) = own.iter().enumerate().find(|(i, name)| own[..*i].contains(name)) {
            bail!("two systems are called `{}`; name them apart with NAME=PATH", twice.1);
        }
        // Vectors and texts of the only system need no name.
        if let ([given], [_]) = (&list[..], &names[..])
            && split(given)?.0.is_none()
        {
            continue;
        }
        names.extend(own.into_iter().filter(|name| !names.contains(name)).collect::<Vec<_>>());
    }
    Ok(names)
}

/// What an option gives to all systems, or to this one.
fn shared_place(given: &[Named], system: &str, systems: &[String]) -> Result<Option<Place>> {
    let (mut of_all, mut own) = (None, None);
    for given in given {
        match split(given)? {
            (Some(name), _) if !systems.iter().any(|known| known == name) => bail!(
                "{given} is for a system `{name}`, but the systems are {}",
                list(systems.iter().map(String::as_str))
            ),
            (Some(name), place) if name == system => own = Some(place),
            (Some(_), _) => {}
            (None, place) => {
                let text = place.to_string();
                if let Some(other) = of_all.replace(place) {
                    bail!("{other} and {text} are both for all systems; write NAME=PATH for each");
                }
            }
        }
    }
    Ok(own.or(of_all))
}

/// What an option gives to this system by name. The only one belongs to the only system, whatever it is called.
fn own_place(given: &[Named], system: &str, systems: &[String]) -> Result<Option<Place>> {
    if let ([only], [_]) = (given, systems) {
        return Ok(Some(split(only)?.1));
    }
    for given in given {
        if name_of(given)? == system {
            return Ok(Some(split(given)?.1));
        }
    }
    Ok(None)
}

fn refuse_strangers(fluency: &[Named], systems: &[String]) -> Result<()> {
    for given in fluency.iter().filter(|_| fluency.len() > 1 || systems.len() > 1) {
        let name = name_of(given)?;
        if !systems.contains(&name) {
            let known = list(systems.iter().map(String::as_str));
            bail!("fluency {given} is for a system `{name}`, but the systems are {known}; write NAME=PATH for each");
        }
    }
    Ok(())
}

fn seen_texts(place: &Place, reader: &mut Reader) -> Result<Seen> {
    let seen = Seen::open(place, false, reader)?;
    if seen.texts().is_none() {
        bail!("{place} holds numbers, and texts are needed; give a .txt file, or a column or field of text with #name");
    }
    Ok(seen)
}

fn shared(seen: &Seen) -> Option<Arc<[String]>> {
    seen.texts().map(Into::into)
}

/// Vectors, each file read once.
fn space(known: &mut Files, place: &Place, name: &str, reader: &mut Reader) -> Result<Arc<Space>> {
    let text = place.to_string();
    if let Some((_, space)) = known.iter().find(|(known, _)| *known == text) {
        return Ok(space.clone());
    }
    let array = reader.array(place)?;
    let space = Arc::new(array.into_space(name, Pool::Flatten).with_context(|| text.clone())?);
    known.push((text, space.clone()));
    Ok(space)
}

type Files = Vec<(String, Arc<Space>)>;

/// The text encoder, opened when it is first needed.
struct Encoder<'a> {
    options: &'a Etes,
    session: &'a Session<'a>,
    model: Option<Model>,
    /// The language model.
    language: Option<Model>,
}

impl Encoder<'_> {
    /// The log-perplexity of each text.
    fn fluency(&mut self, source: &Source, texts: &Seen, name: &str, reader: &mut Reader) -> Result<Vec<f64>> {
        let options = self.options;
        let model = match &mut self.language {
            Some(model) => model,
            none => {
                let machine = &options.settings.machine;
                none.insert(Model::language_model(source, &options.runtime, machine, reader)?)
            }
        };
        let stored = stored(model, name, texts, None, options.runtime.no_cache, self.session)?;
        let notes = model.to_be_known(&stored.notes);
        reader
            .warnings
            .extend(notes.map(|note| format!("fluency of `{name}`: {note}")));
        let space = stored.only()?.into_space("fluency", Pool::Flatten)?;
        let mut value = [0.0];
        let number = |row: usize| {
            space.read_row(row, &mut value);
            value[0]
        };
        Ok((0..space.rows()).map(number).collect())
    }

    fn space(&mut self, texts: &Seen, name: &str, reader: &mut Reader) -> Result<Space> {
        let options = self.options;
        let Some(source) = &options.text_encoder else {
            let vectors = if name == "reference" { "reference" } else { "generated" };
            bail!(
                "{texts} holds {} texts, and nothing to encode them with; name a text encoder (`text_encoder` FOLDER), or \
                 give their embeddings (`{vectors}`)",
                texts.rows()
            );
        };
        let model = match &mut self.model {
            Some(model) => model,
            none => {
                let (checkpoint, machine) = (options.checkpoint.as_ref(), &options.settings.machine);
                let opened = Model::text_encoder(source, checkpoint, &options.text, &options.runtime, machine, reader)?;
                none.insert(opened)
            }
        };
        let stored = stored(model, name, texts, None, options.runtime.no_cache, self.session)?;
        let notes = model
            .to_be_known(&stored.notes)
            .map(|note| format!("texts of `{name}`: {note}"));
        reader.warnings.extend(notes);
        stored
            .only()?
            .into_space(name, Pool::Flatten)
            .with_context(|| name.to_string())
    }

    fn refuse_idle(&self) -> Result<()> {
        match (&self.options.text_encoder, &self.model) {
            (Some(path), None) => {
                bail!("text encoder {path} has nothing to do: all texts come as embeddings; leave out one of the two")
            }
            _ => Ok(()),
        }
    }
}

/// Log-perplexities, one per sample.
fn fluency(text: &Place, kind: FluencyKind, reader: &mut Reader) -> Result<Vec<f64>> {
    let space = reader.array(text)?.into_space("fluency", Pool::Flatten)?;
    if space.columns() != 1 {
        let columns = space.columns();
        bail!("{text} has {columns} numbers per sample; the fluency of a text is one number");
    }
    let mut value = [0.0];
    let number = |i: usize| {
        space.read_row(i, &mut value);
        match kind {
            FluencyKind::LogPerplexity if value[0] < 0.0 => bail!(
                "{text} has {} at row {i} (counted from 0); a log-perplexity is at least 0",
                value[0]
            ),
            FluencyKind::Perplexity if value[0] < 1.0 => bail!(
                "{text} has {} at row {i} (counted from 0); a perplexity is at least 1. Log-perplexities are of the \
                 kind log-perplexity",
                value[0]
            ),
            FluencyKind::LogPerplexity => Ok(value[0]),
            FluencyKind::Perplexity => Ok(value[0].ln()),
        }
    };
    (0..space.rows()).map(number).collect()
}

/// What is wrong with energies in the space of a text encoder alone.
fn without_aligner(options: &Etes) -> Option<Finding> {
    let encoder = options.text_encoder.as_ref()?;
    let is_aligned = options.checkpoint.is_some() && !options.text.no_projection;
    (!is_aligned).then(|| Finding {
        trouble: Trouble::Space,
        model: None,
        text: format!(
            "texts are embedded by {encoder} alone, without the aligner of a trained model (checkpoint): energies mean something \
             only if the signals were trained into the space of this encoder"
        ),
    })
}

type Groups = Vec<(String, Arc<Labels>)>;

/// What samples are grouped by, and the group whose values are the units of intervals.
fn groups(options: &Etes, reader: &mut Reader) -> Result<(Groups, Option<Arc<Labels>>)> {
    let mut groups: Groups = Vec::new();
    for given in &options.group {
        let name = name_of(given)?;
        if groups.iter().any(|(other, _)| *other == name) {
            bail!("two groups are called `{name}`; name them apart with NAME=PATH");
        }
        groups.push((name, Arc::new(reader.labels(&split(given)?.1)?)));
    }
    let units = match (&options.units, &options.groups) {
        (None, None) => None,
        (None, Some(source)) => Some(Arc::new(reader.labels(&source.place()?)?)),
        (Some(_), Some(source)) => {
            bail!("`units` and `groups` = {source} both say what intervals are over; give one of them")
        }
        (Some(name), None) => match groups.iter().find(|(other, _)| other == name) {
            Some((_, labels)) => Some(labels.clone()),
            None => bail!(
                "`units` = {name} names no group; there are {}. Add the group {name}=PATH",
                list(groups.iter().map(|(name, _)| name.as_str()))
            ),
        },
    };
    Ok((groups, units))
}

/// Empty texts are scored as any other, so somebody must say how many there are.
fn empty_texts(decoding: &Decoding) -> Vec<String> {
    let count = |texts: &[String]| texts.iter().filter(|text| text.trim().is_empty()).count();
    let said = |whose: String, texts: &Arc<[String]>| {
        let empty = count(texts);
        (empty > 0).then(|| {
            let count = texts.len();
            format!("{empty} of {count} {whose} are empty; they are scored like any other")
        })
    };
    let own = decoding
        .systems
        .iter()
        .filter_map(|system| said(format!("texts of `{}`", system.name), system.texts.as_ref()?));
    let references = decoding.references.as_ref();
    own.chain(references.and_then(|texts| said("reference texts".to_string(), texts)))
        .collect()
}

/// What was asked, for the results document.
fn asked(options: &Etes) -> Layer {
    let asked = serde_json::json!({
        "signal": options.signal, "generated": options.generated, "reference": options.reference,
        "generated_text": options.generated_text, "reference_text": options.reference_text,
        "text_encoder": options.text_encoder, "checkpoint": options.checkpoint, "template": options.text.template,
        "max_tokens": options.text.max_tokens, "fluency": options.fluency, "fluency_model": options.fluency_model, "group": options.group, "groups": options.groups,
        "units": options.units,
    });
    let mut asked = object(asked);
    asked.retain(|_, value| !value.is_null() && value.as_array().is_none_or(|list| !list.is_empty()));
    if !options.fluency.is_empty() && options.fluency_kind == FluencyKind::Perplexity {
        asked.insert("fluency_kind".to_string(), "perplexity".into());
    }
    asked
}
