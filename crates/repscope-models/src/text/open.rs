// SPDX-License-Identifier: MIT
//! From a path and options to an encoder that is ready.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use repscope_io::{Watched, Weights};

use super::TextEncoder;
use super::body::Body;
use super::checkpoint::{self, Projector};
use super::folder::{After, ENCODER, Folder, Model};
use super::options::{Pooling, Projection as Wanted, TextOptions};
use super::steps::{Projection, Step};
use super::take::{Outputs, Take};
use super::tokens::Tokens;
use crate::architectures::text::{self, Family, TextGraph};
use crate::architectures::{Activation, WeightSource};
use crate::error::{Result, bail};
use crate::runtime::{ModelBytes, ModelFile, Session, load};

/// Cut texts where nothing says how long they may be: attention takes the square of that.
const LONGEST: usize = 512;

impl TextEncoder {
    /// Opens a folder of Hugging Face (`config.json`, weights, `tokenizer.json`) or of sentence-transformers, or an
    /// `.onnx` file with `tokenizer.json` beside it. Nothing is downloaded.
    pub fn open(path: &Path, options: TextOptions) -> Result<Self> {
        options.check()?;
        let folder = Folder::open(path, &ENCODER)?;
        // Opened before they are used. Who uses them says better what is wrong with them.
        let files = files(&folder, &options);
        let mut made = Vec::new();
        let projector = read_projector(path, &options, &mut made)?;
        let mut opened = open_model(&folder, &options)?;
        let (lower, around) = surroundings(&folder, &options, &mut made);
        let longest = longest(&folder, &options, &opened)?;
        let tokens = Tokens::open(&folder.tokenizer, longest, around, lower)?;
        let mut body = Body::new(opened.session, folder.config.clone(), tokens.pad())?;
        body.vocabulary = opened.vocabulary;
        let probe = tokens.encode("a", 0)?;
        let outputs = Outputs::find(&mut body, &probe)?;
        let about = About {
            folder: &folder,
            options: &options,
            is_graph: opened.is_graph,
            clip_projection: opened.clip_projection.take(),
        };
        let (take, steps) = about.arrange(&outputs, projector, &mut made)?;
        made.insert(0, opened.title.clone());
        made.extend(opened.notes);
        let files = files?;
        let mut encoder = TextEncoder {
            digest: digest(&files, &options, &body),
            files,
            tokens,
            body,
            take,
            steps,
            width: 0,
            batch: options.batch,
            title: opened.title,
            made,
            end: folder.config.as_ref().map(|config| config.end),
        };
        encoder.width = encoder.encode_rows(&[&probe])?.1;
        Ok(encoder)
    }
}

/// What decides how the outputs of a model become embeddings.
struct About<'a> {
    folder: &'a Folder,
    options: &'a TextOptions,
    is_graph: bool,
    clip_projection: Option<text::Head>,
}

impl About<'_> {
    fn load(&self, head: text::Head) -> Result<Projection> {
        Projection::load(head, &self.options.runtime, self.options.threads)
    }

    /// What is taken from the model, and what is done to it.
    fn arrange(
        mut self,
        outputs: &Outputs,
        projector: Option<Projector>,
        made: &mut Vec<String>,
    ) -> Result<(Take, Vec<Step>)> {
        let head = match projector {
            Some(Projector::Aligner(head)) => {
                let title = &head.title;
                made.push(format!(
                    "tokens are joined by the aligner of the checkpoint ({title}), side y"
                ));
                let take = outputs.for_aligner(self.options.pooling, self.load(head)?)?;
                return Ok((take, Vec::new()));
            }
            Some(Projector::Layers(head)) => Some(head),
            None => None,
        };
        let mut take = self.choose(outputs, made)?;
        if let (Take::Tokens(_, pooling @ Pooling::Eos), Some(_), None) = (&mut take, &head, self.options.pooling) {
            // Training programs take the pooled output of CLIP as it is.
            *pooling = Pooling::Pooler;
            made.push(
                "the projection of the checkpoint stands in for CLIP's own; pooling by eos applies both".to_string(),
            );
        }
        let mut steps = Vec::new();
        if let Take::Tokens(_, pooling) = &take {
            made.push(format!("tokens become one vector by {pooling}"));
            if let (Pooling::Eos, Some(clip)) = (pooling, self.clip_projection.take()) {
                made.push(format!("CLIP's text projection is applied: {}", clip.title));
                steps.push(Step::Head(self.load(clip)?));
            }
        }
        self.add_modules(&mut steps, made)?;
        if let Some(head) = head {
            let title = &head.title;
            made.push(format!(
                "the projection of the checkpoint is applied to unit vectors: {title}"
            ));
            steps.extend([Step::Normalize, Step::Head(self.load(head)?), Step::Normalize]);
        }
        Ok((take, steps))
    }

    fn choose(&self, outputs: &Outputs, made: &mut Vec<String>) -> Result<Take> {
        let said = self.folder.modules.as_ref().and_then(|modules| modules.pooling);
        let family = self.folder.config.as_ref().map(|config| config.family);
        let (take, note) = outputs.choose(self.options.pooling, said, family, self.is_graph)?;
        made.extend(note);
        Ok(take)
    }

    /// The modules of sentence-transformers after the pooling.
    fn add_modules(&self, steps: &mut Vec<Step>, made: &mut Vec<String>) -> Result<()> {
        for after in self.folder.modules.iter().flat_map(|modules| &modules.after) {
            match after {
                After::Normalize => {
                    made.push("vectors are brought to length one".to_string());
                    steps.push(Step::Normalize);
                }
                After::Dense(file, activation) => {
                    let weights = Shards::open(std::slice::from_ref(file))?;
                    let head = text::write_layers(&weights, &["linear".to_string()], Activation::Gelu, *activation)?;
                    made.push(format!("a dense layer of the folder is applied: {}", head.title));
                    steps.push(Step::Head(self.load(head)?));
                }
            }
        }
        Ok(())
    }
}

fn read_projector(path: &Path, options: &TextOptions, made: &mut Vec<String>) -> Result<Option<Projector>> {
    match (&options.checkpoint, options.projection) {
        (Some((file, key)), Wanted::Required) => {
            made.extend(checkpoint::other_model(file, path));
            checkpoint::read(file, key.as_deref(), options.aligner_heads).map(Some)
        }
        (Some(_), Wanted::None) => {
            made.push("the projection of the checkpoint is not applied".to_string());
            Ok(None)
        }
        (None, _) => Ok(None),
    }
}

/// Maximum number of tokens of a text: the requested one, that of the files, or the number of positions.
pub(super) fn longest(folder: &Folder, options: &TextOptions, opened: &Opened) -> Result<usize> {
    let ids = opened.session.inputs().iter().find(|port| port.name == "input_ids");
    let fixed = ids.and_then(|port| port.dims.get(1).copied().flatten());
    let limit = fixed.or(opened.longest);
    match (options.max_tokens, limit) {
        (Some(wanted), Some(limit)) if wanted > limit => {
            bail!("texts of up to {wanted} tokens were requested, but the model takes {limit}; request at most that")
        }
        (Some(wanted), _) => Ok(wanted),
        (None, limit) => Ok(folder
            .longest
            .or(limit)
            .unwrap_or(LONGEST)
            .min(limit.unwrap_or(usize::MAX))),
    }
}

/// Notes on lower-casing and on the template or prompt.
fn surroundings(folder: &Folder, options: &TextOptions, made: &mut Vec<String>) -> (bool, (String, String)) {
    let lower = folder.modules.as_ref().is_some_and(|modules| modules.is_lower_case);
    if let Some((before, after)) = options.template.as_ref().and_then(|template| template.split_once("{}")) {
        made.push(format!("texts stand in the template `{before}{{}}{after}`"));
        return (lower, (before.to_string(), after.to_string()));
    }
    let prompt = folder.modules.as_ref().and_then(|modules| modules.prompt.clone());
    if let Some(prompt) = &prompt {
        made.push(format!("the folder's prompt `{prompt}` stands before each text"));
    }
    (lower, (prompt.unwrap_or_default(), String::new()))
}

/// All files that embeddings come from, to be opened before they are used.
pub(super) fn files(folder: &Folder, options: &TextOptions) -> Result<Vec<Watched>> {
    let mut files = folder.files.clone();
    if let Model::Graph(graph) = &folder.model {
        files.extend(ModelFile::read(graph)?.beside.into_iter().map(|(_, file)| file));
    }
    if let (Some((file, _)), Wanted::Required) = (&options.checkpoint, options.projection) {
        files.push(file.clone());
    }
    files.iter().map(|file| Ok(Watched::open(file)?)).collect()
}

/// The digest of these files, of the options that change embeddings and of the runtime.
pub(super) fn digest(files: &[Watched], options: &TextOptions, body: &Body) -> String {
    let mut identity = format!("repscope text encoder 1\n{}\n{}\n", options.identity(), body.engine());
    for file in files {
        identity += &format!("{}\n", file.digest());
    }
    blake3::hash(identity.as_bytes()).to_hex().to_string()
}

/// A model that is loaded, and what is known of it.
pub(super) struct Opened {
    pub(super) session: Box<dyn Session>,
    pub(super) title: String,
    pub(super) notes: Vec<String>,
    pub(super) is_graph: bool,
    pub(super) vocabulary: Option<usize>,
    pub(super) longest: Option<usize>,
    pub(super) clip_projection: Option<text::Head>,
}

pub(super) fn open_model(folder: &Folder, options: &TextOptions) -> Result<Opened> {
    let load = |model| load(model, &options.runtime, options.threads);
    match (&folder.model, &folder.config) {
        (Model::Weights(files), Some(config)) => {
            let weights = Shards::open(files)?;
            let graph = text::write(config, &weights)?;
            let clip = match config.family {
                Family::Clip => clip_projection(&weights)?,
                _ => None,
            };
            let notes = ignored(&graph, clip.is_some());
            Ok(Opened {
                session: load(ModelBytes::Memory(graph.onnx))?,
                title: graph.title,
                notes,
                is_graph: false,
                vocabulary: Some(graph.vocabulary),
                longest: graph.longest,
                clip_projection: clip,
            })
        }
        (Model::Graph(file), _) => Ok(Opened {
            session: load(ModelBytes::File(file.clone()))?,
            title: format!("text model {}", file.display()),
            notes: Vec::new(),
            is_graph: true,
            vocabulary: None,
            longest: None,
            clip_projection: None,
        }),
        (Model::Weights(_), None) => bail!("weights without a config.json"),
    }
}

/// The matrix that brings CLIP's texts to the space of its images.
fn clip_projection(weights: &Shards) -> Result<Option<text::Head>> {
    let name = weights.names().into_iter().find(|name| is_clip_projection(name));
    let Some(name) = name else { return Ok(None) };
    let layer = name.trim_end_matches(".weight").to_string();
    text::write_layers(weights, &[layer], Activation::Gelu, None).map(Some)
}

fn is_clip_projection(name: &str) -> bool {
    name == "text_projection.weight" || name.ends_with(".text_projection.weight")
}

/// The weights outside of the network, counted by the first part of their names.
fn ignored(graph: &TextGraph, has_clip_projection: bool) -> Vec<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for name in &graph.ignored {
        if !(has_clip_projection && is_clip_projection(name)) {
            *counts.entry(name.split('.').next().unwrap_or_default()).or_default() += 1;
        }
    }
    if counts.is_empty() {
        return Vec::new();
    }
    let parts: Vec<String> = counts.iter().map(|(part, count)| format!("{part} ({count})")).collect();
    vec![format!(
        "weights outside the network are not used: {}",
        parts.join(", ")
    )]
}

/// Weights by the names that the files have.
pub(super) struct Shards {
    files: Vec<Weights>,
    /// Which file has it, and what it is called there.
    places: BTreeMap<String, (usize, String)>,
}

impl Shards {
    pub(super) fn open(paths: &[PathBuf]) -> Result<Shards> {
        let mut shards = Shards {
            files: Vec::new(),
            places: BTreeMap::new(),
        };
        for (at, path) in paths.iter().enumerate() {
            let file = Weights::open(path, None)?;
            for name in file.names() {
                // A file may hold one part of the network only, so what all its names share is no prefix to be left
                // out.
                let full = format!("{}{name}", file.prefix());
                shards.places.insert(current(&full), (at, name.to_string()));
            }
            shards.files.push(file);
        }
        Ok(shards)
    }
}

/// Normalization had other names in old files.
fn current(name: &str) -> String {
    for (old, new) in [
        ("LayerNorm.gamma", "LayerNorm.weight"),
        ("LayerNorm.beta", "LayerNorm.bias"),
    ] {
        if let Some(before) = name.strip_suffix(old) {
            return format!("{before}{new}");
        }
    }
    name.to_string()
}

impl WeightSource for Shards {
    fn names(&self) -> Vec<String> {
        self.places.keys().cloned().collect()
    }

    fn shape(&self, name: &str) -> Option<Vec<usize>> {
        let (file, name) = self.places.get(name)?;
        self.files[*file].shape(name).ok().map(<[usize]>::to_vec)
    }

    fn values(&self, name: &str) -> Result<Vec<f32>> {
        match self.places.get(name) {
            Some((file, name)) => Ok(self.files[*file].values(name)?),
            None => bail!("there is no weight `{name}`"),
        }
    }
}
