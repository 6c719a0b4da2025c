// SPDX-License-Identifier: MIT
//! Encodes texts with a model in a folder: `encode_texts FOLDER TEXTS.json EMBEDDINGS [rten|onnxruntime] [batch]
//! [threads]`. TEXTS.json is a list of texts; EMBEDDINGS becomes the bare f32 values, text after text. Prints the
//! notes, and how many texts were encoded in a second.

#![allow(clippy::print_stdout)]

use std::path::Path;
use std::time::Instant;

use repscope_models::runtime::{Provider, Runtime};
use repscope_models::{TextEncoder, TextOptions};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [folder, texts, embeddings, more @ ..] = &words[..] else {
        return Err("give a folder, a file of texts and a file for the embeddings".into());
    };
    let number = |at: usize, usual: usize| more.get(at).map_or(Ok(usual), |word| word.parse());
    let runtime = match more.first().map(String::as_str) {
        Some("onnxruntime") => Runtime::OnnxRuntime {
            library: Some(repscope_models::runtime::find_library(&|name| std::env::var_os(name))?),
            provider: Provider::Cpu,
        },
        _ => Runtime::Rten,
    };
    let options = TextOptions {
        batch: number(1, 32)?,
        threads: number(2, 0)?,
        runtime,
        ..TextOptions::default()
    };
    let texts: Vec<String> = serde_json::from_slice(&std::fs::read(texts)?)?;
    let mut encoder = TextEncoder::open(Path::new(folder), options)?;
    let start = Instant::now();
    let (values, notes) = encoder.encode_all(&texts)?;
    let seconds = start.elapsed().as_secs_f64();
    let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
    repscope_io::write_whole(Path::new(embeddings), &bytes)?;
    notes.iter().for_each(|note| println!("{note}"));
    println!("{:.1} texts per second", texts.len() as f64 / seconds);
    Ok(())
}
