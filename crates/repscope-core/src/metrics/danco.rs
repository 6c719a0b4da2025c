// SPDX-License-Identifier: MIT
//! Intrinsic dimension by how distances and angles concentrate (DANCo). See the page.

use super::{Analysis, Invariance, Metric, Output, Results, Takes, Work};
use crate::data::Study;
use crate::error::Result;
use crate::kernels::danco::{LARGEST, Missing};
use crate::plan::{Need, Shared};
use crate::score::Score;
use crate::spec::Spec;

const DIMENSION: Output = Output::neither("danco", "1 to D")
    .about("dimension of the ball in which distances and angles concentrate most alike")
    .by_bare_name();
const FRACTIONAL: Output =
    Output::neither("danco(version=fractional)", "1 to D").about("the same between whole dimensions");
const DISTANCES: Output = Output::neither("danco.distances", "above 0")
    .about("dimension by the distances to neighbors 1 and K + 1 alone (MiND_ML)");
const NU: Output = Output::neither("danco.nu", "−1.5708 to 1.5708").about("mean angle between neighbors, in radians");
const TAU: Output =
    Output::neither("danco.tau", "0 and above").about("mean concentration of the angles between neighbors");

pub(super) static METRIC: Metric = Metric {
    id: "danco",
    title: "DANCo intrinsic dimension",
    outputs: &[DIMENSION, FRACTIONAL, DISTANCES, NU, TAU],
    page: include_str!("danco.md"),
    invariances: Invariance::SIMILARITY,
    options: &["danco-k", "danco-rows"],
    ..Metric::of(Analysis::Manifold, &[Takes::Embeddings], Work::Study { needs, compute })
};

fn needs(_spec: &Spec, _study: &Study) -> Result<Vec<Need>> {
    Ok(vec![Need::Danco])
}

fn compute(shared: &Shared) -> Result<Results> {
    let (found, k) = (shared.danco()?, shared.spec.dimension.danco_k);
    let (n, all) = (found.rows, shared.study.embeddings.rows());
    let answer = match &found.found {
        Ok(answer) => answer,
        Err(Missing::Rows) => {
            let needed = k + 2;
            let reason =
                format!("{k} neighbors and one more need at least {needed} rows that differ, and there are {n}");
            return Ok(METRIC.undefined(reason, n));
        }
        Err(Missing::Ratios) => {
            let reason = format!("neighbors 1 and {} are equally far everywhere, as on a grid", k + 1);
            return Ok(METRIC.undefined(reason, n));
        }
    };
    let mut notes = Vec::new();
    if found.distinct < all {
        let dropped = all - found.distinct;
        notes.push(format!("{dropped} of {all} rows dropped: they equal an earlier one"));
    }
    if n < found.distinct {
        notes.push(format!("of {n} random rows"));
    }
    let dimension = answer.dimension();
    let is_at_the_end = dimension == LARGEST && shared.study.embeddings.columns() > LARGEST;
    let score = |output: &Output, value: f64| {
        let score = Score::number(output, value, n);
        notes.iter().fold(score, |score, note| score.with_note(note.clone()))
    };
    let bounded = |score: Score| {
        if is_at_the_end {
            score.with_note(format!(
                "no ball of more than {LARGEST} dimensions is looked at: it may be more"
            ))
        } else {
            score
        }
    };
    Ok(Results::from(vec![
        bounded(score(&DIMENSION, dimension as f64)),
        bounded(score(&FRACTIONAL, answer.fractional())),
        score(&DISTANCES, answer.of_rows.distances),
        score(&NU, answer.of_rows.nu),
        score(&TAU, answer.of_rows.tau),
    ]))
}
