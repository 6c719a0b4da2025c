// SPDX-License-Identifier: MIT
//! `repscope clid`: document 002's CLID with its companions, and which score predicts how well models do.

use std::process::ExitCode;

use anyhow::{Result, bail};
use repscope_core::{
    Analysis, Breakdown, ClidSpec, ClusterCount, IdNorm, METRICS, Mcr2Spec, Metric, NameColumn, NumberColumn, Spec,
    Study, UnitLength, relate,
};
use repscope_render::{ClidRun, clid_table};

use super::analyses::{MOST_SPLITS, compute, different_shapes, spec, start_threads};
use crate::args::{Clid, IdNormChoice, PresetChoice, UnitLengthChoice, YesNo};
use crate::call;
use crate::inputs::{self, Paths};
use crate::outputs::{self, Delivery};
use crate::performance_file;

/// Clusters for MCR² without labels, unless a number is given.
pub const CLUSTERS: usize = 10;
/// Rank correlations, and the fit of weighted CLID, need this many models.
const FEWEST_MODELS: usize = 4;
/// Scores of other analyses that need no labels: whatever may predict performance is compared with it.
const LABEL_FREE: [&str; 4] = ["participation_ratio", "dimension_usage", "two_nn", "cluster_balance"];

/// Why scores of models of different shapes cannot be compared.
pub const SHAPES_MATTER: &str = "ID / D and MCR² change with the columns, and all scores with the rows; compare such \
                                 models by --preset paper, and with care";

pub fn run(options: &Clid) -> Result<ExitCode> {
    start_threads(&options.outputs.machine)?;
    let (preset, preset_steps) = preset(options);
    let spec = resolve(options, &preset_steps)?;
    let paths = Paths {
        states: options.seen.states.as_deref(),
        labels: options.labels.as_deref(),
        episodes: options.episodes.episodes.as_deref(),
        views: &options.views,
        ..Paths::default()
    };
    let mut inputs = inputs::read(&paths, &options.models, &options.outputs.machine)?;
    refuse_misfits(options, &inputs.studies)?;
    let performance = match &options.performance {
        None => None,
        Some(file) => {
            let (performance, record) = performance_file::read(file, &inputs.models)?;
            inputs.sources.records.push(record);
            Some(performance)
        }
    };
    inputs
        .sources
        .warnings
        .extend(different_shapes(&inputs.studies, SHAPES_MATTER));
    inputs.sources.options.extend(asked(options));

    let (of_studies, of_performance) = metrics(!options.views.is_empty(), options.performance.is_some());
    let of_studies = call::wanted(of_studies);
    let mut results = compute(&inputs.studies, &of_studies, &spec, &options.outputs.machine)?;
    if let Some(performance) = &performance {
        relate(&mut results, &of_performance, performance, &spec)?;
    }
    results.breakdowns.extend(inputs.studies.iter().map(shape));
    let run = ClidRun {
        spec: &spec,
        preset,
        preset_steps: &preset_steps,
        performance: performance.as_ref().map(|p| p.name.as_str()),
    };
    let delivery = Delivery {
        command: Analysis::Clid.name(),
        folder: "clid",
        show: &|results, format| clid_table(results, &run, format, outputs::width(), outputs::color()),
        extra: None,
    };
    delivery.deliver(&spec, inputs.sources, results, &options.outputs)?;
    Ok(ExitCode::SUCCESS)
}

/// The name of the preset, and its steps.
pub fn preset(options: &Clid) -> (&'static str, ClidSpec) {
    match options.preset {
        PresetChoice::Spec => ("spec", ClidSpec::SPEC),
        PresetChoice::Paper => ("paper", ClidSpec::PAPER),
    }
}

/// What was typed, beside what all analyses share.
pub fn asked(options: &Clid) -> serde_json::Map<String, serde_json::Value> {
    let asked = serde_json::json!({
        "preset": preset(options).0, "views": options.views, "performance": options.performance,
    });
    match asked {
        serde_json::Value::Object(map) => map,
        _ => serde_json::Map::new(),
    }
}

/// The preset with the steps that were changed, and the options of the companions.
pub fn resolve(options: &Clid, preset: &ClidSpec) -> Result<Spec> {
    let steps = ClidSpec {
        standardize: options
            .standardize
            .map_or(preset.standardize, |choice| choice == YesNo::Yes),
        unit_length: match options.unit_length {
            None => preset.unit_length,
            Some(UnitLengthChoice::None) => UnitLength::None,
            Some(UnitLengthChoice::Vote) => UnitLength::Vote,
            Some(UnitLengthChoice::All) => UnitLength::All,
        },
        clusters: options.clusters.unwrap_or(preset.clusters),
        restarts: options.restarts.unwrap_or(preset.restarts),
        k: options.k.unwrap_or(preset.k),
        splits: options.splits.unwrap_or(preset.splits),
        repeats: options.repeats.unwrap_or(preset.repeats),
        id_norm: match options.id_norm {
            None => preset.id_norm,
            Some(IdNormChoice::Dim) => IdNorm::Dim,
            Some(IdNormChoice::Pool) => IdNorm::Pool,
        },
    };
    if let ClusterCount::Of(clusters @ ..2) = steps.clusters {
        bail!("--clusters {clusters}: which of {clusters} clusters a row is in is no question; use at least 2");
    }
    for (option, count) in [
        ("--restarts", steps.restarts),
        ("--k", steps.k),
        ("--splits", steps.splits),
        ("--repeats", steps.repeats),
    ] {
        if count == 0 {
            bail!("{option} 0 must be at least 1");
        }
    }
    if steps.repeats.saturating_mul(steps.splits) > MOST_SPLITS {
        bail!(
            "--repeats {} times --splits {} must be at most {MOST_SPLITS} in all (5 and 10 are usual)",
            steps.repeats,
            steps.splits
        );
    }
    for (option, value, usual) in [
        ("--alpha", options.alpha, "2"),
        ("--t", options.t, "2"),
        ("--eps", options.eps, "0.01"),
        ("--gam1", options.gam1, "1"),
        ("--gam2", options.gam2, "1"),
    ] {
        if !(value > 0.0 && value.is_finite()) {
            bail!("{option} {value} must be above 0 and finite ({usual} is usual)");
        }
    }
    let defaults = spec(&options.outputs)?;
    Ok(Spec {
        clusters: match options.clusters {
            Some(ClusterCount::Of(count)) => count,
            _ => CLUSTERS,
        },
        restarts: options.restarts.unwrap_or(defaults.restarts),
        alpha: options.alpha,
        t: options.t,
        mcr2: Mcr2Spec {
            gamma1: options.gam1,
            gamma2: options.gam2,
            eps: options.eps,
        },
        clid: steps,
        ..defaults
    })
}

/// A default that does not fit the data leaves a score undefined; an explicit wish is refused.
pub fn refuse_misfits(options: &Clid, studies: &[Study]) -> Result<()> {
    for study in studies {
        let (rows, model) = (study.latent.rows(), &study.model);
        if let Some(k) = options.k.filter(|&k| k > rows / 2) {
            bail!(
                "--k {k} voters must be among one half of the rows, but model `{model}` has {rows}; use at most {}",
                rows / 2
            );
        }
        match options.clusters {
            Some(ClusterCount::Of(count)) if count >= rows => bail!(
                "--clusters {count} needs more than {count} rows, but model `{model}` has {rows}; use a smaller number"
            ),
            Some(ClusterCount::Sqrt) if rows < 4 => {
                bail!("--clusters sqrt needs at least 4 rows for 2 clusters, but model `{model}` has {rows}")
            }
            _ => {}
        }
    }
    let models = studies.len();
    if options.id_norm == Some(IdNormChoice::Pool) && models < 2 {
        bail!("--id-norm pool needs at least 2 models, but {models} is given; add models, or use --id-norm dim");
    }
    if options.performance.is_some() && models < FEWEST_MODELS {
        bail!(
            "--performance compares scores over models: at least {FEWEST_MODELS} are needed, but {models} {} given",
            if models == 1 { "is" } else { "are" }
        );
    }
    Ok(())
}

/// What is computed of each model, and of all of them with their performance.
pub fn metrics(has_views: bool, has_performance: bool) -> (Vec<&'static Metric>, Vec<&'static Metric>) {
    let (mut of_studies, of_performance): (Vec<&Metric>, Vec<&Metric>) =
        Analysis::Clid.metrics().into_iter().partition(|m| m.is_of_studies());
    of_studies.retain(|m| m.id != "alignment" || has_views);
    let is_companion = |m: &&&Metric| {
        let is_label_free = m.analysis == Analysis::Rankme || LABEL_FREE.contains(&m.id);
        m.id == "uniformity" || (has_performance && is_label_free)
    };
    of_studies.extend(METRICS.iter().filter(is_companion));
    (of_studies, call::wanted(of_performance))
}

/// The size of a model's codes, which scores alone do not tell.
pub fn shape(study: &Study) -> Breakdown {
    let column = |name: &str, size: usize| NumberColumn {
        name: name.to_string(),
        values: vec![Some(size as f64)],
    };
    Breakdown {
        model: study.model.clone(),
        metric: "shape".into(),
        keys: vec![NameColumn {
            name: "model".to_string(),
            values: vec![study.model.clone()],
        }],
        columns: vec![
            column("rows", study.latent.rows()),
            column("columns", study.latent.columns()),
        ],
    }
}
