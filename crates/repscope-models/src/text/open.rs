// SPDX-License-Identifier: MIT
//! From a path and options to an encoder that is ready.

use std::path::Path;

use super::TextEncoder;
use super::body::Body;
use super::checkpoint::{self, Projector};
use super::folder::{After, Folder, Model};
use super::opened::{Opened, Shards, open_model};
use super::options::{Pooling, Projection as Wanted, TextOptions};
use super::steps::{Projection, Step};
use super::take::{Outputs, Take};
use super::tokens::Tokens;
use crate::architectures::{Activation, text};
use crate::error::{Result, bail};
use crate::runtime::ModelFile;

/// Cut texts where nothing says how long they may be: attention takes the square of that.
const LONGEST: usize = 512;

impl TextEncoder {
    /// Opens a folder of Hugging Face (`config.json`, weights, `tokenizer.json`) or of sentence-transformers, or an
    /// `.onnx` file with `tokenizer.json` beside it. Nothing is downloaded.
    pub fn open(path: &Path, options: TextOptions) -> Result<Self> {
        options.check()?;
        let folder = Folder::open(path)?;
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
        let mut encoder = TextEncoder {
            digest: digest(&folder, &options, &body)?,
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
fn longest(folder: &Folder, options: &TextOptions, opened: &Opened) -> Result<usize> {
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

/// The digest of all files that embeddings come from, of the options that change embeddings and of the runtime.
fn digest(folder: &Folder, options: &TextOptions, body: &Body) -> Result<String> {
    let mut files = folder.files.clone();
    if let Model::Graph(graph) = &folder.model {
        files.extend(ModelFile::read(graph)?.beside.into_iter().map(|(_, file)| file));
    }
    if let (Some((file, _)), Wanted::Required) = (&options.checkpoint, options.projection) {
        files.push(file.clone());
    }
    let mut identity = format!("repscope text encoder 1\n{}\n{}\n", options.identity(), body.engine());
    for file in files {
        identity += &format!("{}\n", repscope_io::digest(&file)?);
    }
    Ok(blake3::hash(identity.as_bytes()).to_hex().to_string())
}
