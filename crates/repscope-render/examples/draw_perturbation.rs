// SPDX-License-Identifier: MIT
//! Perturbs a made-up classifier of 17 modulations and 16 noise levels and writes everything that is told of it, to look at it:
//!
//!     cargo run -p repscope-render --example draw_perturbation -- OUT

use repscope_core::random::{permutation, stream};
use repscope_core::run::{Driver, Order};
use repscope_core::{Analysis, Head, Perturbation, PerturbedSet, Spec, perturb};
use repscope_figures::{Style, Width, to_png, to_svg};
use repscope_io::write_whole;
use repscope_render::{
    Color, Format, NamedFigure, figures, perturb_details, perturb_findings, perturb_latex, perturb_summary,
    perturb_table,
};
use std::error::Error;
use std::path::PathBuf;

const SAMPLES: usize = 20_000;
const PERCENTS: [f64; 5] = [1.0, 2.0, 3.0, 4.0, 5.0];
/// Accuracy lost at each percent, by family: of the modulation and of the noise level.
const LOST: [(&str, [[f64; 5]; 2]); 3] = [
    (
        "top",
        [[0.0435, 0.06, 0.075, 0.09, 0.1035], [0.1065, 0.125, 0.14, 0.152, 0.19]],
    ),
    (
        "bottom",
        [[0.01, 0.014, 0.02, 0.024, 0.03], [0.004, 0.004, 0.006, 0.008, 0.01]],
    ),
    (
        "random",
        [[-0.012, -0.006, 0.0, 0.006, 0.012], [-0.02, -0.012, 0.0, 0.009, 0.018]],
    ),
];

/// One head: what is asked, how many classes, and how often it is right.
struct Question {
    name: &'static str,
    classes: Vec<String>,
    accuracy: f64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(std::env::args().nth(1).ok_or("where to? give a folder")?);
    let modulations =
        "BPSK QPSK 8PSK 16PSK 32PSK 16APSK 32APSK 64APSK 128APSK 16QAM 32QAM 64QAM 128QAM 256QAM OOK 4ASK 8ASK";
    let questions = [
        Question {
            name: "modulation",
            classes: modulations.split(' ').map(str::to_string).collect(),
            accuracy: 0.7639,
        },
        Question {
            name: "snr",
            classes: (0..16).map(|level| format!("{} dB", 2 * level)).collect(),
            accuracy: 0.6871,
        },
    ];
    let heads: Vec<Head> = questions
        .iter()
        .enumerate()
        .map(|(place, question)| head(place, question))
        .collect();
    let mut sets = Vec::new();
    for (family, lost) in LOST {
        for (step, percent) in PERCENTS.into_iter().enumerate() {
            let name = format!("{family}{percent}");
            let said = |place: usize| {
                let question = &questions[place];
                said(
                    &heads[place].labels,
                    question,
                    &name,
                    question.accuracy - lost[place][step],
                )
            };
            sets.push(PerturbedSet {
                predictions: vec![said(0), said(1)],
                name,
                family: family.to_string(),
                percent,
                masked_lit: Some(percent / 100.0),
                masked_all: Some(percent / 700.0),
            });
        }
    }
    let data = Perturbation {
        heads,
        sets,
        groups: None,
    };
    let driver = Driver::silent(Order::Parallel);
    let results = perturb(
        "resnet50",
        &data,
        &Analysis::Perturb.metrics(),
        &Spec::default(),
        &driver,
    )?;

    let asked: Vec<String> = data.sets.iter().map(|set| set.name.clone()).collect();
    let stated = [("modulation".to_string(), 0.7639), ("snr".to_string(), 0.687)];
    let findings = perturb_findings(&results, &stated, &asked);
    let write = |name: &str, text: &str| write_whole(&out.join(name), text.as_bytes());
    write("pis_summary.json", &perturb_summary(&results, "blackout", &findings))?;
    let config = serde_json::json!({"samples": SAMPLES, "fill": "black"});
    write("detailed_results.json", &perturb_details(&results, "blackout", &config))?;
    for (name, text) in perturb_latex(&results, "blackout") {
        write(&name, &text)?;
    }
    for (name, format) in [
        ("table.txt", Format::Table),
        ("table.md", Format::Markdown),
        ("table.tex", Format::Latex),
    ] {
        write(name, &perturb_table(&results, &findings, format, 100, Color::No))?;
    }
    for NamedFigure { path, figure } in figures(&results, "perturb") {
        for (ending, width) in [("", Width::TwoColumns), ("_narrow", Width::OneColumn)] {
            let style = Style {
                width,
                ..Style::default()
            };
            let file = |extension: &str| out.join(format!("{path}{ending}.{extension}"));
            write_whole(&file("svg"), to_svg(&figure, &style).as_bytes())?;
            write_whole(&file("png"), &to_png(&figure, &style)?)?;
        }
        write(&format!("{path}.txt"), &figure.description)?;
    }
    Ok(())
}

fn head(place: usize, question: &Question) -> Head {
    let classes = question.classes.len() as u32;
    let labels = permutation(SAMPLES, &mut stream(7, "labels", place as u64));
    let labels: Vec<u32> = labels.into_iter().map(|i| i % classes).collect();
    Head {
        name: question.name.to_string(),
        baseline: said(&labels, question, "baseline", question.accuracy),
        classes: question.classes.clone(),
        labels,
    }
}

/// Right for the easiest samples, up to this accuracy. Later classes are harder, the more so the more is lost.
fn said(labels: &[u32], question: &Question, set: &str, accuracy: f64) -> Vec<u32> {
    let classes = question.classes.len() as u32;
    let own = permutation(SAMPLES, &mut stream(7, question.name, 0));
    let noise = permutation(SAMPLES, &mut stream(7, set, 1));
    let lost = (question.accuracy - accuracy).max(0.0);
    let difficulty = |i: &u32| {
        let i = *i as usize;
        let class = f64::from(labels[i]) / f64::from(classes);
        f64::from(own[i]) + 0.08 * f64::from(noise[i]) + (0.2 + 2.0 * lost) * class * SAMPLES as f64
    };
    let mut order: Vec<u32> = (0..SAMPLES as u32).collect();
    order.sort_by(|a, b| difficulty(a).total_cmp(&difficulty(b)));
    let mut said: Vec<u32> = labels.iter().map(|label| (label + 1) % classes).collect();
    for &i in &order[..(accuracy * SAMPLES as f64).round() as usize] {
        said[i as usize] = labels[i as usize];
    }
    said
}
