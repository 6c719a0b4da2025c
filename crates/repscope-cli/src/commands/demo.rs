// SPDX-License-Identifier: MIT
//! `repscope demo`: a world is generated, encoders are trained on it, and every analysis is run on them.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use repscope::analysis::{Perturb, Predictions};
use repscope::options::FigureOptions;
use repscope::{Evaluate, Problems, Report, Terminal};
use repscope_core::{Analysis, Results};
use repscope_demo::{Made, Plan, Size, make};
use repscope_render::Format;

use crate::args::Demo;
use crate::progress::Bars;
use crate::{outputs, session, start_threads};

/// What a demo puts into its folder.
const PARTS: &str = "data weights losses retrieval etes predictions study.toml evaluation_plots";
/// The gray values of the clouds.
const CLOUDS: &str = "data/factors/clouds.npy";
/// What probes say of positions and clouds, of all numbers together.
const EXPLAINED: &str = "probe.linear.r2(average=variance)";
/// Where results go, as the study says.
const PLOTS: &str = "evaluation_plots";

pub fn run(options: &Demo) -> Result<ExitCode> {
    let folder = &options.output_dir;
    clear(folder, options.overwrite)?;
    start_threads(&options.machine)?;
    let say = |text: &str| outputs::say(options.quiet, text);
    let plan = Plan {
        size: match (options.tiny, options.full) {
            (true, _) => Size::Tiny,
            (_, true) => Size::Full,
            _ => Size::Quick,
        },
        seed: options.seed,
    };
    say("generating a world and training on it");
    let bars = Bars::new(options.quiet);
    let made = make(&plan, folder, &bars)?;
    say("running every analysis");
    let study = folder.join("study.toml").display().to_string();
    let mut request = Evaluate {
        inputs: vec![study.clone()],
        ..Evaluate::default()
    };
    request.data.encoder.numbers.runtime.no_cache = true;
    let mut problems = Problems::default();
    let request = request.gather(|field| field == "no_cache", &mut problems)?;
    // The bars show how far it is; what the analyses have to say is in the page.
    let quiet = Bars::new(true);
    let listener = if options.quiet { &quiet } else { &bars };
    let evaluated = repscope::evaluate_with(&request, None, &session(listener), problems)?.report;
    // The same probes of what is behind the object.
    let mut clouds = Evaluate {
        inputs: vec![study.clone()],
        ..Evaluate::default()
    };
    clouds.data.targets = Some(folder.join(CLOUDS).display().to_string().as_str().into());
    clouds.data.encoder.numbers.runtime.no_cache = true;
    clouds.choice.only = vec![Analysis::Probe];
    let mut problems = Problems::default();
    let typed = ["targets", "labels", "no_cache", "only"];
    let clouds = clouds.gather(|field| typed.contains(&field), &mut problems)?;
    let clouds = repscope::evaluate_with(&clouds, None, &session(listener), problems)?.report;
    let perturb = Perturb {
        predictions: Some(Predictions::Folder(folder.join("predictions"))),
        name: Some("classifier".to_string()),
        ..Perturb::default()
    };
    let perturbed = repscope::run(Box::new(perturb), &session(listener))?;
    drop(bars);

    let plots = folder.join(PLOTS);
    let figures = FigureOptions {
        no_figures: options.no_figures,
        ..FigureOptions::default()
    };
    perturbed.write(&plots, &figures)?;
    evaluated.save(&plots, !options.no_figures)?;
    outputs::print(&summary(&made, &evaluated, &clouds.results, &perturbed.results))?;
    say(&format!(
        "{} has everything; {study} can be changed and run again",
        plots.join("report.html").display()
    ));
    Ok(ExitCode::SUCCESS)
}

/// Old and new files never mix. What an interrupted demo left behind is removed, a whole one only if that was asked for, and a folder
/// with something else in it is not written into.
fn clear(folder: &Path, overwrite: bool) -> Result<()> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names: Vec<_> = entries.map(|entry| entry.file_name()).collect();
    let shown = folder.display();
    if let Some(name) = names.iter().find(|name| !PARTS.split(' ').any(|own| *name == own)) {
        let name = name.to_string_lossy();
        bail!("{shown} holds {name}, which is not of a demo; choose another folder with --output-dir");
    }
    // It is written last.
    if names.iter().any(|name| name == "study.toml") && !overwrite {
        bail!(
            "{shown} holds a demo already; pass --overwrite to replace it, or choose another folder with --output-dir"
        );
    }
    for path in names.iter().map(|name| folder.join(name)) {
        let removed = if path.is_dir() && !path.is_symlink() {
            std::fs::remove_dir_all(&path)
        } else {
            std::fs::remove_file(&path)
        };
        removed.with_context(|| format!("cannot remove {}", path.display()))?;
    }
    Ok(())
}

/// The verdict, and what is known to be true of this world.
fn summary(made: &Made, report: &Report, clouds: &Results, perturbed: &Results) -> String {
    let evaluated = &report.results;
    let terminal = Terminal {
        width: outputs::width(),
        color: outputs::color(),
        ..Terminal::default()
    };
    let mut lines = vec![
        report.table(Format::Table, terminal).trim_end().to_string(),
        String::new(),
    ];
    lines.push(known(made, evaluated, clouds));
    let score = |results: &Results, model: &str, metric: &str| results.score(model, metric).and_then(|s| s.value);
    let searched = evaluated
        .scores
        .iter()
        .find(|s| s.metric == "label_precision.text2sensor@10");
    if let Some((value, chance)) = searched.and_then(|s| Some((s.value?, s.chance?))) {
        lines.push(format!(
            "- of the 10 frames nearest to a description a share of {value:.2} has its label, by chance {chance:.2}"
        ));
    }
    let auc = |system: &str| score(evaluated, system, "etes.auc");
    if let (Some(captioner), Some(constant)) = (auc("captioner"), auc("constant")) {
        lines.push(format!(
            "- captions made from the JEPA's embeddings are nearer to their own frame than to another with probability {captioner:.2}; \
             those of a system that always says the same, {constant:.2}"
        ));
    }
    let impact = |family: &str| score(perturbed, "classifier", &format!("pis.combined.mean@{family}"));
    if let (Some(top), Some(random)) = (impact("top"), impact("random")) {
        lines.push(format!(
            "- perturbation impact on a classifier of shape and quadrant: {top:.2} by the brightest pixels, {random:.2} by random ones"
        ));
    }
    lines.join("\n") + "\n"
}

/// What linear probes of the embeddings predict of the world.
fn known(made: &Made, evaluated: &Results, clouds: &Results) -> String {
    let mut lines = vec![
        "Known of this world: a bright object moves before clouds that change with every frame. R² of linear probes"
            .to_string(),
        format!(
            "of {} frames of {} episodes that no encoder was trained on (each episode predicted by a probe of others,",
            made.states, made.episodes
        ),
        "95 % intervals over episodes), and the standard deviation of the embeddings:".to_string(),
        String::new(),
    ];
    let row = |cells: [&str; 5]| {
        let [name, position, clouds, deviation, note] = cells;
        let row = format!("{name:<17}{position:<24}{clouds:<22}{deviation:<20}{note}");
        row.trim_end().to_string()
    };
    lines.push(row([
        "encoder",
        "position of the object",
        "clouds",
        "standard deviation",
        "",
    ]));
    lines.extend(made.encoders.iter().map(|encoder| {
        let collapsed = evaluated.has_collapsed(&encoder.name);
        row([
            &encoder.name,
            &explained(evaluated, &encoder.name),
            &explained(clouds, &encoder.name),
            &repscope_render::number(encoder.deviation),
            if collapsed { "collapsed" } else { "" },
        ])
    }));
    lines.push(String::new());
    lines.push(
        "The clouds have more than half of the variance of the pixels. Smoothness and Neighborhood compare\n\
         embeddings with pixels, so they reward an encoder that keeps the clouds. The classes of Geometry are the\n\
         quadrants of the object.\n"
            .to_string(),
    );
    lines.join("\n")
}

/// R² and its interval.
fn explained(results: &Results, encoder: &str) -> String {
    let score = results.score(encoder, EXPLAINED);
    match score.and_then(|score| Some((score.value?, score.interval?))) {
        Some((value, ends)) => {
            // Adding 0 turns −0 into 0.
            let [value, low, high] = [value, ends[0], ends[1]].map(|x| (x * 100.0).round() / 100.0 + 0.0);
            format!("{value:.2} [{low:.2}, {high:.2}]")
        }
        None => "none".to_string(),
    }
}
