// SPDX-License-Identifier: MIT
//! Scores made-up texts of three systems for 300 signals of twelve subjects, and writes everything that is told of them, to
//! look at it:
//!
//!     cargo run -p repscope-render --example draw_etes -- OUT

use repscope_core::run::{Driver, Order};
use repscope_core::{Analysis, Decoding, Labels, Space, Spec, System, compare, etes};
use repscope_figures::{Style, Width, to_png, to_svg};
use repscope_io::write_whole;
use repscope_render::{
    Color, Format, NamedFigure, Page, document_files, etes_samples, etes_table, figures, report_html,
};
use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;

const SAMPLES: usize = 300;
const DIMENSION: usize = 64;
const SUBJECTS: usize = 12;
const WORDS: &str =
    "he was born in ohio and played the violin as a child before his first film won an award for its quiet music";

/// A name, how well texts fit their signals, and how narrow the cone is in which all vectors lie.
const SYSTEMS: [(&str, f64, f64); 3] = [
    ("GLIM, beam 2", 0.5, 0.7),
    ("gated GLIM", 0.7, 0.25),
    ("nucleus 0.95", 0.02, 0.5),
];

fn main() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(std::env::args().nth(1).ok_or("where to? give a folder")?);
    let subjects: Vec<String> = (0..SAMPLES).map(|row| format!("Z{:02}", subject(row))).collect();
    let tasks: Vec<&str> = (0..SAMPLES)
        .map(|row| if uniform(row + 9_000_000) < 0.5 { "NR" } else { "TSR" })
        .collect();
    let references: Vec<String> = (0..SAMPLES).map(|row| sentence(row, 1.0)).collect();
    let data = Decoding {
        systems: (0..SYSTEMS.len()).map(system).collect::<Result<_, _>>()?,
        references: Some(references.clone().into()),
        groups: vec![
            ("subject".to_string(), Arc::new(Labels::new(&subjects))),
            ("task".to_string(), Arc::new(Labels::new(&tasks))),
        ],
        units: None,
    };
    let spec = Spec::default();
    let mut results = etes(
        &data,
        &Analysis::Etes.metrics(),
        &spec,
        &Driver::silent(Order::Parallel),
    )?;
    compare(&mut results, &spec, &Driver::silent(Order::Parallel));

    let write = |name: &str, text: &str| write_whole(&out.join(name), text.as_bytes());
    for (name, format) in [
        ("table.txt", Format::Table),
        ("table.md", Format::Markdown),
        ("table.tex", Format::Latex),
    ] {
        write(name, &etes_table(&results, format, 100, Color::No))?;
    }
    for (path, contents) in document_files("etes", &results) {
        write(&path, &contents)?;
    }
    for (place, system) in data.systems.iter().enumerate() {
        let samples = etes_samples(&results, &system.name, system.texts.as_deref(), Some(&references));
        write(&format!("samples_{place}.json"), &samples.to_json())?;
        write(&format!("samples_{place}.csv"), &samples.to_csv())?;
    }
    let figures = figures(&results, "etes");
    for NamedFigure { path, figure } in &figures {
        for (ending, width) in [("", Width::TwoColumns), ("_narrow", Width::OneColumn)] {
            let style = Style {
                width,
                ..Style::default()
            };
            let file = |extension: &str| out.join(format!("{path}{ending}.{extension}"));
            write_whole(&file("svg"), to_svg(figure, &style).as_bytes())?;
            write_whole(&file("png"), &to_png(figure, &style)?)?;
        }
        write(&format!("{path}.txt"), &figure.description)?;
    }
    let page = Page {
        analysis: None,
        title: "Energies of generated texts",
        command: "repscope etes",
        version: env!("CARGO_PKG_VERSION"),
        spec: &serde_json::to_value(&spec)?,
        inputs: &[],
        results: &results,
        figures: &figures,
        pictures: &Default::default(),
    };
    write("report.html", &report_html(&page))?;
    Ok(())
}

/// Vectors that share a part with the signal and lie in a cone. Texts of later subjects fit better.
fn system(place: usize) -> Result<System, Box<dyn Error>> {
    let (name, quality, cone) = SYSTEMS[place];
    let space = |kind: usize, share: &dyn Fn(usize) -> f64| {
        let value = |i: usize| {
            let (row, axis) = (i / DIMENSION, i % DIMENSION);
            // All systems hear the same signals.
            let common = normal(i);
            let noise = normal(i + 100_000 * (1 + kind + 3 * place));
            let middle = normal(axis + 8_000_000) + 0.6 * normal(axis + 8_100_000 * usize::from(kind > 0));
            share(row) * common + noise + cone * middle
        };
        let values = (0..SAMPLES * DIMENSION).map(value).collect();
        Space::from_f64(name, SAMPLES, DIMENSION, values).map(Arc::new)
    };
    let skill = |row: usize| quality * (0.4 + 1.2 * subject(row) as f64 / SUBJECTS as f64);
    let texts: Vec<String> = (0..SAMPLES).map(|row| sentence(row, skill(row).min(0.9))).collect();
    Ok(System {
        name: name.to_string(),
        signal: space(0, &|_| 0.9)?,
        generated: space(1, &skill)?,
        reference: Some(space(2, &|_| 0.8)?),
        fluency: None,
        texts: Some(texts.into()),
    })
}

fn subject(row: usize) -> usize {
    (uniform(row + 7_000_000) * SUBJECTS as f64) as usize
}

/// The words of a row, each kept as often as this and else replaced.
fn sentence(row: usize, kept: f64) -> String {
    let words: Vec<&str> = WORDS.split(' ').collect();
    let pick = |i: usize| words[(uniform(i) * words.len() as f64) as usize];
    let word = |place: usize| {
        let own = 5_000_000 + 20 * row + place;
        let is_kept = uniform(own + 500_000) < kept;
        if is_kept { pick(own) } else { pick(own + 900_000) }
    };
    (0..10).map(word).collect::<Vec<_>>().join(" ")
}

/// Numbers between 0 and 1 that look random and are always the same.
fn uniform(i: usize) -> f64 {
    // The finalizer of SplitMix64.
    let mut x = (i as u64).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((x ^ (x >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

/// Normal numbers, after Box and Muller.
fn normal(i: usize) -> f64 {
    let (a, b) = (uniform(2 * i), uniform(2 * i + 1));
    (-2.0 * (1.0 - a).ln()).sqrt() * (std::f64::consts::TAU * b).cos()
}
