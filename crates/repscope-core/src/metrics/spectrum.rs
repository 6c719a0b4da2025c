// SPDX-License-Identifier: MIT
//! The eigenvalue spectrum of the embeddings. See the page.

use super::{Analysis, Invariance, Metric, Output, Results, Takes, Work};
use crate::data::Study;
use crate::error::Result;
use crate::plan::{Need, Shared};
use crate::score::{Curve, Score};
use crate::spec::Spec;

pub(super) static METRIC: Metric = Metric {
    id: "spectrum",
    title: "Eigenvalue spectrum",
    analysis: Analysis::Manifold,
    outputs: &[
        Output::neither("spectrum.max", "0 and above")
            .about("largest eigenvalue of the covariance")
            .in_units_of_the_embeddings(),
        Output::neither("spectrum.min", "0 and above")
            .about("smallest of the min(N − 1, D) eigenvalues")
            .in_units_of_the_embeddings(),
    ],
    page: include_str!("spectrum.md"),
    invariances: &[Invariance::Rotation, Invariance::Shift, Invariance::RowOrder],
    takes: &[Takes::Codes],
    options: &[],
    work: Work::Study { needs, compute },
};

fn needs(_: &Spec, _: &Study) -> Result<Vec<Need>> {
    Ok(vec![Need::Spectrum])
}

fn compute(shared: &Shared) -> Result<Results> {
    let n = shared.study.embeddings.rows();
    // Centering takes one direction away: an eigenvalue beyond N − 1 is 0 whatever the data.
    let count = shared.study.embeddings.columns().min(n.saturating_sub(1));
    let eigenvalues = &shared.spectrum()?.eigenvalues[..count.min(shared.spectrum()?.eigenvalues.len())];
    let (Some(&max), Some(&min)) = (eigenvalues.first(), eigenvalues.last()) else {
        let undefined = |id| Score::undefined(id, "one row has no variance", n);
        return Ok(Results::from(vec![
            undefined("spectrum.max"),
            undefined("spectrum.min"),
        ]));
    };
    let scores = vec![
        Score::number("spectrum.max", max, n),
        Score::number("spectrum.min", min, n),
    ];
    Ok(Results {
        curves: vec![Curve {
            model: String::new(),
            metric: "spectrum".into(),
            x_label: "eigenvalue number".to_string(),
            y_label: "eigenvalue of the covariance".to_string(),
            x: (1..=eigenvalues.len()).map(|i| i as f64).collect(),
            y: eigenvalues.to_vec(),
        }],
        ..Results::from(scores)
    })
}
