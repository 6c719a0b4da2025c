// SPDX-License-Identifier: MIT
//! From a plan to a folder: the world, the trainings, and the files of every analysis.

use std::path::Path;

use repscope_core::random;
use repscope_core::run::Progress;
use repscope_io::{Result, write_whole};

use crate::files;
use crate::networks::{Encoder, encode};
use crate::plan::{Episodes, Plan};
use crate::text::{self, Described, Standard};
use crate::training::{self, CHANNELS, Curve, EMBEDDING_DIM, HEADS, Lessons, Loss, spread_out};
use crate::world::{Factors, Frame, World, said};

/// What was made.
#[derive(Debug, Clone)]
pub struct Made {
    /// Held-out frames that were written, and from how many episodes.
    pub states: usize,
    /// See `states`.
    pub episodes: usize,
    /// How each training went, in their order.
    pub trainings: Vec<Training>,
    /// The encoders, in their order.
    pub encoders: Vec<Encoded>,
    /// The share of frames that each head of the classifier is right about.
    pub accuracy: Vec<(String, f64)>,
}

/// An encoder, and how much the embeddings of held-out frames differ.
#[derive(Debug, Clone, PartialEq)]
pub struct Encoded {
    /// Its name.
    pub name: String,
    /// Standard deviation of a coordinate, the root of the mean over all of them.
    pub deviation: f64,
}

/// How a training went.
#[derive(Debug, Clone, PartialEq)]
pub struct Training {
    /// What was trained; its curve is `losses/NAME.csv`.
    pub name: String,
    /// The validation loss before the first step.
    pub first_loss: f64,
    /// The lowest validation loss, which is that of the weights that were kept.
    pub best_loss: f64,
    /// After which step.
    pub best_step: usize,
}

/// Makes everything in a folder. Same plan, same bytes, whatever the number of threads.
pub fn make(plan: &Plan, folder: &Path, progress: &dyn Progress) -> Result<Made> {
    let (seed, numbers) = (plan.seed, plan.size.numbers());
    progress.begin("World", 3);
    let world = |name: &str, episodes: Episodes| {
        let world = World::new(seed, name, episodes.count, episodes.length);
        progress.advance(1);
        world
    };
    let train = world("world/train", numbers.train);
    let validation = world("world/validation", numbers.validation);
    let test = world("world/test", numbers.test);
    files::write_data(folder, &test)?;

    let lessons = Lessons {
        train: &train,
        validation: &validation,
        seed,
    };
    let mut trainings = Vec::new();
    let mut note = |name: &str, curve: &Curve| {
        let (best_step, best_loss) = curve.best();
        trainings.push(Training {
            name: name.to_string(),
            first_loss: curve.first(),
            best_loss,
            best_step,
        });
        write_whole(&folder.join(format!("losses/{name}.csv")), curve.csv().as_bytes())
    };
    let start = Encoder::new(&CHANNELS, EMBEDDING_DIM, &mut random::stream(seed, "encoder", 0));
    progress.begin("JEPA", numbers.jepa.steps as u64);
    let (jepa, curve) = training::train_jepa(&start, &lessons, Loss::PredictionAndSpread, numbers.jepa, progress);
    note("jepa", &curve)?;
    progress.begin("Encoder-Decoder", numbers.encoder_decoder.steps as u64);
    let (encoder_decoder, curve) = training::train_encoder_decoder(&start, &lessons, numbers.encoder_decoder, progress);
    note("encoder_decoder", &curve)?;
    progress.begin("Collapsed control", numbers.collapsed.steps as u64);
    let (collapsed, curve) = training::train_jepa(&start, &lessons, Loss::Prediction, numbers.collapsed, progress);
    note("collapsed", &curve)?;
    let encoders = [
        ("jepa", &jepa),
        ("encoder_decoder", &encoder_decoder),
        ("random", &start),
        ("collapsed", &collapsed),
    ];
    for (name, encoder) in encoders {
        files::write_weights(
            &folder.join(format!("weights/{name}/best_encoder.safetensors")),
            encoder,
        )?;
    }

    progress.begin("Classifier", numbers.classifier.steps as u64);
    let (classifier, curve) = training::train_classifier(&lessons, numbers.classifier, progress);
    note("classifier", &curve)?;
    files::write_weights(
        &folder.join("weights/classifier/best_classifier.safetensors"),
        &classifier,
    )?;
    progress.begin("Masks", files::MASKS);
    let accuracy = files::write_predictions(folder, &classifier, &test, seed, progress)?;

    progress.begin("Embeddings", encoders.len() as u64);
    let seen = Frames::some(&train, numbers.described);
    let shown = Frames::some(&test, usize::MAX);
    let mut encoded = Vec::new();
    let mut jepa_embeddings = (Vec::new(), Vec::new());
    for (name, encoder) in encoders {
        let embeddings = encode(encoder, &shown.frames);
        encoded.push(Encoded {
            name: name.to_string(),
            deviation: deviation(&embeddings),
        });
        if name == "jepa" {
            jepa_embeddings = (encode(encoder, &seen.frames), embeddings);
        }
        progress.advance(1);
    }

    let standard = Standard::of(&jepa_embeddings.0, EMBEDDING_DIM);
    let train_texts = seen.described(standard.apply(jepa_embeddings.0));
    let test_texts = shown.described(standard.apply(jepa_embeddings.1));
    let held_out = Frames::some(&validation, usize::MAX);
    let held_out_texts = held_out.described(standard.apply(encode(&jepa, &held_out.frames)));
    progress.begin("Descriptions", numbers.aligned.steps as u64);
    let (aligned, curve) = text::train_aligned(&train_texts, &held_out_texts, seed, numbers.aligned, progress);
    note("descriptions", &curve)?;
    files::write_retrieval(folder, &aligned, &test_texts)?;
    progress.begin("Captions", numbers.captioner.steps as u64);
    let (captioner, curve) = text::train_captioner(&train_texts, &held_out_texts, seed, numbers.captioner, progress);
    note("captions", &curve)?;
    files::write_etes(folder, &aligned, &captioner, &train_texts, &test_texts)?;
    // Written last, so that a study file implies that all other files exist.
    files::write_study(folder, seed)?;
    Ok(Made {
        states: shown.frames.len(),
        episodes: test.episodes.len(),
        trainings,
        encoders: encoded,
        accuracy: HEADS.iter().map(ToString::to_string).zip(accuracy).collect(),
    })
}

/// The standard deviation of a coordinate, the root of the mean over all of them.
fn deviation(embeddings: &[f32]) -> f64 {
    let count = (embeddings.len() / EMBEDDING_DIM) as f64;
    let column = |at: usize| embeddings.iter().skip(at).step_by(EMBEDDING_DIM).map(|&z| f64::from(z));
    let variance = |at: usize| {
        let mean = column(at).sum::<f64>() / count;
        column(at).map(|z| (z - mean).powi(2)).sum::<f64>() / count
    };
    ((0..EMBEDDING_DIM).map(variance).sum::<f64>() / EMBEDDING_DIM as f64).sqrt()
}

/// Frames and what is true of them.
struct Frames<'a> {
    frames: Vec<&'a Frame>,
    factors: Vec<&'a Factors>,
}

impl<'a> Frames<'a> {
    /// At most so many of a world, evenly spread.
    fn some(world: &'a World, count: usize) -> Self {
        Frames {
            frames: spread_out(&world.frames(), count),
            factors: spread_out(&world.factors(), count),
        }
    }

    fn described(&self, embeddings: Vec<f32>) -> Described {
        Described {
            embeddings,
            said: self.factors.iter().map(|factors| said(factors)).collect(),
        }
    }
}
