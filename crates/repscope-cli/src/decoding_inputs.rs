// SPDX-License-Identifier: MIT
//! What `repscope etes` reads: signals, the texts of one or more systems as vectors or as texts that are encoded, the true
//! texts, and what samples are grouped by.

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use repscope_core::{Decoding, Labels, Space, System};
use repscope_io::{InputPath, Pool};

use crate::args::{Etes, FluencyKind};
use crate::encoding::{Model, Seen, stored};
use crate::reader::{Reader, Sources};
use crate::search::list;

/// What was read.
pub struct Read {
    pub decoding: Decoding,
    pub sources: Sources,
}

/// Reads everything, and runs the text encoder where texts have no vectors.
pub fn read(options: &Etes) -> Result<Read> {
    let mut reader = Reader::new(&[]);
    let names = names(options)?;
    let reference_texts = match &options.reference_text {
        Some(path) => Some(seen_texts(path, &mut reader)?),
        None => None,
    };
    let mut encoder = Encoder { options, model: None };
    let mut files = Files::default();
    let mut systems = Vec::new();
    let mut of_references: Option<Arc<Space>> = None;
    for name in &names {
        let (generated, texts) = (
            own_path(&options.generated, name, &names),
            own_path(&options.generated_text, name, &names),
        );
        let texts = match texts {
            Some(path) => Some(seen_texts(path, &mut reader)?),
            None => None,
        };
        let space = match (generated, &texts) {
            (Some(path), _) => files.space(path, name, &mut reader)?,
            (None, Some(texts)) => Arc::new(encoder.space(texts, name, &mut reader)?),
            (None, None) => bail!("system `{name}` has neither --generated nor --generated-text"),
        };
        let signal = shared_path(&options.signal, name, &names)?.with_context(|| {
            format!("system `{name}` has no signals; give --signal PATH for all, or --signal {name}=PATH")
        })?;
        let reference = match (shared_path(&options.reference, name, &names)?, &reference_texts) {
            (Some(path), _) => Some(files.space(path, "reference", &mut reader)?),
            (None, Some(texts)) => {
                if of_references.is_none() {
                    of_references = Some(Arc::new(encoder.space(texts, "reference", &mut reader)?));
                }
                of_references.clone()
            }
            (None, None) => None,
        };
        let fluency = match own_path(&options.fluency, name, &names) {
            Some(path) => Some(fluency(path, options.fluency_kind, &mut reader)?.into()),
            None => None,
        };
        systems.push(System {
            name: name.clone(),
            signal: files.space(signal, "signal", &mut reader)?,
            generated: space,
            reference,
            fluency,
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
    Ok(Read {
        decoding,
        sources: Sources {
            records: reader.records,
            warnings: reader.warnings,
            options: asked(options),
        },
    })
}

/// `NAME=PATH` or `PATH`. What looks like a path before `=` is none of a name.
fn split(text: &str) -> (Option<&str>, &str) {
    match text.split_once('=') {
        Some((name, path)) if !name.is_empty() && !name.contains(['/', '\\', '#', '.']) => (Some(name), path),
        _ => (None, text),
    }
}

fn name_of(text: &str) -> String {
    match split(text) {
        (Some(name), _) => name.to_string(),
        (None, path) => InputPath::parse(path).stem(),
    }
}

/// The systems, in the order in which they are named.
fn names(options: &Etes) -> Result<Vec<String>> {
    let mut names: Vec<String> = Vec::new();
    for list in [&options.generated, &options.generated_text] {
        let own: Vec<String> = list.iter().map(|text| name_of(text)).collect();
        if let Some(twice) = own.iter().enumerate().find(|(i, name)| own[..*i].contains(name)) {
            bail!("two systems are called `{}`; name them apart with NAME=PATH", twice.1);
        }
        // Vectors and texts of the only system need no name.
        if let ([text], [_]) = (&list[..], &names[..])
            && split(text).0.is_none()
        {
            continue;
        }
        names.extend(own.into_iter().filter(|name| !names.contains(name)).collect::<Vec<_>>());
    }
    Ok(names)
}

/// The path that an option gives to all systems, or to this one.
fn shared_path<'a>(texts: &'a [String], system: &str, systems: &[String]) -> Result<Option<&'a str>> {
    let (mut of_all, mut own) = (None, None);
    for text in texts {
        match split(text) {
            (Some(name), _) if !systems.iter().any(|known| known == name) => bail!(
                "{text} is for a system `{name}`, but the systems are {}",
                list(systems.iter().map(String::as_str))
            ),
            (Some(name), path) if name == system => own = Some(path),
            (Some(_), _) => {}
            (None, path) => {
                if let Some(other) = of_all.replace(path) {
                    bail!("{other} and {path} are both for all systems; write NAME=PATH for each");
                }
            }
        }
    }
    Ok(own.or(of_all))
}

/// The path that an option gives to this system by name. The only path belongs to the only system, whatever it is called.
fn own_path<'a>(texts: &'a [String], system: &str, systems: &[String]) -> Option<&'a str> {
    match (texts, systems) {
        ([only], [_]) => Some(split(only).1),
        _ => texts
            .iter()
            .find(|text| name_of(text) == system)
            .map(|text| split(text).1),
    }
}

fn refuse_strangers(fluency: &[String], systems: &[String]) -> Result<()> {
    let is_known = |text: &&String| (fluency.len() == 1 && systems.len() == 1) || systems.contains(&name_of(text));
    match fluency.iter().find(|text| !is_known(text)) {
        Some(text) => bail!(
            "--fluency {text} is for a system `{}`, but the systems are {}; write NAME=PATH for each",
            name_of(text),
            list(systems.iter().map(String::as_str))
        ),
        None => Ok(()),
    }
}

fn seen_texts(text: &str, reader: &mut Reader) -> Result<Seen> {
    let path = InputPath::parse(text);
    let seen = Seen::open(&path, false, reader)?;
    if seen.texts().is_none() {
        bail!("{path} holds numbers, and texts are needed; give a .txt file, or a column or field of text with #name");
    }
    Ok(seen)
}

fn shared(seen: &Seen) -> Option<Arc<[String]>> {
    seen.texts().map(Into::into)
}

/// Vectors, each file read once.
#[derive(Default)]
struct Files {
    known: Vec<(String, Arc<Space>)>,
}

impl Files {
    fn space(&mut self, text: &str, name: &str, reader: &mut Reader) -> Result<Arc<Space>> {
        if let Some((_, space)) = self.known.iter().find(|(known, _)| known == text) {
            return Ok(space.clone());
        }
        let array = reader.array(&InputPath::parse(text))?;
        let space = array
            .into_space(name, Pool::Flatten)
            .with_context(|| text.to_string())?;
        let space = Arc::new(space);
        self.known.push((text.to_string(), space.clone()));
        Ok(space)
    }
}

/// The text encoder, opened when it is first needed.
struct Encoder<'a> {
    options: &'a Etes,
    model: Option<Model>,
}

impl Encoder<'_> {
    fn space(&mut self, texts: &Seen, name: &str, reader: &mut Reader) -> Result<Space> {
        let options = self.options;
        let Some(path) = options.text_encoder.as_deref().map(InputPath::parse) else {
            let vectors = if name == "reference" {
                "--reference"
            } else {
                "--generated"
            };
            bail!(
                "{texts} holds {} texts, and nothing to encode them with; name the text encoder with --text-encoder FOLDER, or \
                 give their vectors with {vectors}",
                texts.rows()
            );
        };
        let machine = &options.outputs.machine;
        let model = match &mut self.model {
            Some(model) => model,
            None => {
                if !path.path.exists() {
                    bail!("--text-encoder {path}: there is no such folder or file");
                }
                let checkpoint = options.checkpoint.as_deref();
                let model = Model::open_text(&path, checkpoint, &options.text, &options.runtime, machine)
                    .with_context(|| format!("--text-encoder {path}"))?;
                reader.records.push(model.record(&path));
                self.model.insert(model)
            }
        };
        let stored = stored(model, name, texts, None, options.runtime.no_cache, machine)?;
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
            (Some(path), None) => bail!(
                "--text-encoder {path} has nothing to do: all texts come as vectors; leave it out, or leave out --generated"
            ),
            _ => Ok(()),
        }
    }
}

/// Log-perplexities, one per sample.
fn fluency(text: &str, kind: FluencyKind, reader: &mut Reader) -> Result<Vec<f64>> {
    let space = reader
        .array(&InputPath::parse(text))?
        .into_space("fluency", Pool::Flatten)?;
    if space.columns() != 1 {
        bail!(
            "{text} has {} numbers per sample; the fluency of a text is one number",
            space.columns()
        );
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
                "{text} has {} at row {i} (counted from 0); a perplexity is at least 1. Log-perplexities need no \
                 --fluency-kind",
                value[0]
            ),
            FluencyKind::LogPerplexity => Ok(value[0]),
            FluencyKind::Perplexity => Ok(value[0].ln()),
        }
    };
    (0..space.rows()).map(number).collect()
}

type Groups = Vec<(String, Arc<Labels>)>;

/// What samples are grouped by, and the group whose values are the units of intervals.
fn groups(options: &Etes, reader: &mut Reader) -> Result<(Groups, Option<Arc<Labels>>)> {
    let mut groups: Groups = Vec::new();
    for text in &options.group {
        let name = name_of(text);
        if groups.iter().any(|(other, _)| *other == name) {
            bail!("two groups are called `{name}`; name them apart with NAME=PATH");
        }
        groups.push((name, Arc::new(reader.labels(split(text).1)?)));
    }
    let units = match &options.units {
        None => None,
        Some(name) => match groups.iter().find(|(other, _)| other == name) {
            Some((_, labels)) => Some(labels.clone()),
            None => bail!(
                "--units {name} names no --group; there are {}. Add --group {name}=PATH",
                list(groups.iter().map(|(name, _)| name.as_str()))
            ),
        },
    };
    Ok((groups, units))
}

/// Empty texts are scored as any other, so somebody must say how many there are.
fn empty_texts(decoding: &Decoding) -> Vec<String> {
    let count = |texts: &[String]| texts.iter().filter(|text| text.trim().is_empty()).count();
    let told = |whose: String, texts: &Arc<[String]>| {
        let empty = count(texts);
        (empty > 0).then(|| {
            format!(
                "{empty} of {} {whose} are empty; they are scored like any other",
                texts.len()
            )
        })
    };
    let own = decoding
        .systems
        .iter()
        .filter_map(|system| told(format!("texts of `{}`", system.name), system.texts.as_ref()?));
    let references = decoding.references.as_ref();
    own.chain(references.and_then(|texts| told("reference texts".to_string(), texts)))
        .collect()
}

/// What was asked, for the results document.
fn asked(options: &Etes) -> serde_json::Map<String, serde_json::Value> {
    let asked = serde_json::json!({
        "signal": options.signal, "generated": options.generated, "reference": options.reference,
        "generated_text": options.generated_text, "reference_text": options.reference_text,
        "text_encoder": options.text_encoder, "checkpoint": options.checkpoint, "template": options.text.template,
        "max_tokens": options.text.max_tokens, "fluency": options.fluency, "group": options.group, "units": options.units,
    });
    let serde_json::Value::Object(mut asked) = asked else {
        return serde_json::Map::new();
    };
    let is_said = |value: &serde_json::Value| !value.is_null() && value.as_array().is_none_or(|list| !list.is_empty());
    asked.retain(|_, value| is_said(value));
    if !options.fluency.is_empty() && options.fluency_kind == FluencyKind::Perplexity {
        asked.insert("fluency_kind".to_string(), "perplexity".into());
    }
    asked
}
