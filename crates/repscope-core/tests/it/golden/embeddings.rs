// SPDX-License-Identifier: MIT
//! Cases that hold codes: studies and options.

use std::sync::Arc;

use repscope_core::{
    ClidSpec, ClusterCount, DimensionSpec, Distance, DriftSpec, IdNorm, Mcr2Spec, MixingSpec, Moves, Noise, NoiseLevel,
    Pairs, ProbeSpec, Reference, Space, Spec, Study, Targets, UnitLength,
};

use super::case::Case;
use super::document::{ClidOptions, Options};

pub fn spec(case: &Case, k: Option<usize>) -> Spec {
    let (options, default) = (&case.document.options, Spec::default());
    if let (Some(k), Some(listed)) = (&k, &options.k) {
        assert!(listed.contains(k), "{}: {k} is not among its k", case.document.case);
    }
    Spec {
        k: k.map_or(default.k, |k| vec![k]),
        dimension: k
            .or(options.local_k)
            .or(options.danco_k)
            .map_or(default.dimension, dimension),
        clusters: options.clusters.unwrap_or(default.clusters),
        t: options.t.unwrap_or(default.t),
        alpha: options.alpha.unwrap_or(default.alpha),
        distance: match options.distance.as_deref() {
            Some("cosine") => Distance::Cosine,
            None => Distance::Euclidean,
            Some(other) => panic!("{}: unknown distance {other}", case.document.case),
        },
        clid: options.clid.as_ref().map_or(default.clid, steps),
        drift: DriftSpec {
            k: k.unwrap_or(default.drift.k),
            ..default.drift
        },
        mixing: MixingSpec {
            k: k.filter(|k| *k > 1).unwrap_or(default.mixing.k),
            ..default.mixing
        },
        mcr2: constants(options, default.mcr2),
        probe: ProbeSpec {
            k: options.probe_k.map_or(default.probe.k, |k| vec![k]),
            ..default.probe
        },
        ..Spec::default()
    }
}

/// The k of a case is that of whatever it asks for.
fn dimension(k: usize) -> DimensionSpec {
    DimensionSpec {
        k: vec![k.max(2)],
        gride_k: k.max(2),
        local_k: k.max(2),
        danco_k: k.clamp(3, 30),
        ..DimensionSpec::default()
    }
}

fn steps(options: &ClidOptions) -> ClidSpec {
    let preset = match options.preset.as_str() {
        "robust" => ClidSpec::ROBUST,
        "paper" => ClidSpec::PAPER,
        other => panic!("unknown preset {other}"),
    };
    ClidSpec {
        standardize: options.standardize.unwrap_or(preset.standardize),
        unit_length: match options.unit_length.as_deref() {
            None => preset.unit_length,
            Some("none") => UnitLength::None,
            Some("vote") => UnitLength::Vote,
            Some("all") => UnitLength::All,
            Some(other) => panic!("unknown unit_length {other}"),
        },
        clusters: options.clusters.map_or(preset.clusters, ClusterCount::Of),
        restarts: options.restarts.unwrap_or(preset.restarts),
        k: options.k.unwrap_or(preset.k),
        splits: options.splits.unwrap_or(preset.splits),
        repeats: options.repeats.unwrap_or(preset.repeats),
        id_norm: match options.id_norm.as_deref() {
            None => preset.id_norm,
            Some("dim") => IdNorm::Dim,
            Some("pool") => IdNorm::Pool,
            Some(other) => panic!("unknown id_norm {other}"),
        },
    }
}

fn constants(options: &Options, default: Mcr2Spec) -> Mcr2Spec {
    let Some(changed) = &options.mcr2 else { return default };
    Mcr2Spec {
        gamma1: changed.gamma1.unwrap_or(default.gamma1),
        gamma2: changed.gamma2.unwrap_or(default.gamma2),
        eps: changed.eps.unwrap_or(default.eps),
    }
}

/// One model named `golden`, or one for each array `latent_NAME`.
pub fn studies(case: &Case) -> Vec<Study> {
    if case.has("latent") {
        return vec![study(case)];
    }
    let models = case
        .keys
        .iter()
        .filter_map(|key| Some((key, key.strip_prefix("latent_")?)));
    models.map(|(key, model)| Study::new(model, case.space(key))).collect()
}

fn study(case: &Case) -> Study {
    if case.has("next_input") {
        let latent = stack(&case.space("latent"), &case.space("next_latent"));
        let input = stack(&case.space("input"), &case.space("next_input"));
        let pairs = Pairs::stacked(latent.rows() / 2, None);
        return Study {
            input: Some(Arc::new(input)),
            pairs: Some(Arc::new(pairs)),
            ..Study::new("golden", latent)
        };
    }
    let latent = case.space("latent");
    let episodes = case.has("episodes").then(|| case.episodes());
    let has_input = case.has("input");
    Study {
        noise: noise(case, &latent).map(Arc::new),
        reference: case.has("reference").then(|| {
            Arc::new(Reference {
                embeddings: case.space("reference"),
                groups: None,
            })
        }),
        batches: case.has("batches").then(|| Arc::new(case.labels("batches"))),
        view: case.has("view").then(|| Arc::new(case.space("view"))),
        more_views: (3..)
            .map(|i| format!("view{i}"))
            .take_while(|name| case.has(name))
            .map(|name| Arc::new(case.space(&name)))
            .collect(),
        input: has_input.then(|| Arc::new(case.space("input"))),
        labels: case.has("labels").then(|| Arc::new(case.labels("labels"))),
        targets: case
            .has("targets")
            .then(|| Arc::new(Targets::numbered(case.space("targets")))),
        pairs: has_input.then(|| Arc::new(Pairs::consecutive(latent.rows(), episodes.as_ref()))),
        episodes: episodes.map(Arc::new),
        ..Study::new("golden", latent)
    }
}

/// Arrays `noisy_LEVEL_DRAW`.
fn noise(case: &Case, clean: &Space) -> Option<Noise> {
    let named = case.keys.iter().filter_map(|key| {
        let (level, _) = key.strip_prefix("noisy_")?.rsplit_once('_')?;
        Some((level, case.space(key)))
    });
    let mut levels: Vec<(&str, Vec<Space>)> = Vec::new();
    for (level, space) in named {
        match levels.iter_mut().find(|(known, _)| *known == level) {
            Some((_, draws)) => draws.push(space),
            None => levels.push((level, vec![space])),
        }
    }
    let level = |(name, draws): (&str, Vec<Space>)| NoiseLevel {
        name: name.to_string(),
        strength: name.parse().expect("a level is a number"),
        moves: Moves::between(clean, &draws).expect("codes of one shape"),
    };
    let levels: Vec<NoiseLevel> = levels.into_iter().map(level).collect();
    (!levels.is_empty()).then_some(Noise { levels, unit: None })
}

/// The rows of one space above those of another.
fn stack(above: &Space, below: &Space) -> Space {
    let columns = above.columns();
    let mut values = vec![0.0; (above.rows() + below.rows()) * columns];
    let (first, second) = values.split_at_mut(above.rows() * columns);
    for (space, part) in [(above, first), (below, second)] {
        for (i, row) in part.chunks_exact_mut(columns).enumerate() {
            space.read_row(i, row);
        }
    }
    Space::from_f64(above.name(), above.rows() + below.rows(), columns, values).expect("finite numbers")
}
