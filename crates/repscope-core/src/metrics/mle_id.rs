// SPDX-License-Identifier: MIT
//! Intrinsic dimension by maximum likelihood from K neighbors (Levina and Bickel), averaged as MacKay and Ghahramani do. See the page.

use super::near::{Near, TOGETHER};
use super::{Analysis, Invariance, Metric, Output, Results, Takes, Work};
use crate::data::Study;
use crate::error::Result;
use crate::kernels::neighbors::Neighbors;
use crate::plan::{Key, Need, Shared};
use crate::score::{SampleTable, Score};
use crate::spec::Spec;

const PLAIN: Output =
    Output::neither("mle_id@K", "above 0").about("intrinsic dimension by maximum likelihood from K neighbors");
const UNBIASED: Output = Output::neither("mle_id(normalizer=k-2)@K", "above 0")
    .about("the same over K − 2 instead of K − 1, which has no bias for one row");

pub(super) static METRIC: Metric = Metric {
    id: "mle_id",
    title: "MLE intrinsic dimension",
    outputs: &[PLAIN, UNBIASED],
    page: include_str!("mle_id.md"),
    invariances: Invariance::SIMILARITY,
    options: &["k", "sample"],
    ..Metric::of(Analysis::Manifold, &[Takes::Embeddings], Work::Study { needs, compute })
};

/// The neighborhood sizes that so many rows have.
fn sizes(spec: &Spec, rows: usize) -> impl Iterator<Item = usize> {
    spec.dimension.k.iter().copied().filter(move |k| *k < rows)
}

fn needs(spec: &Spec, study: &Study) -> Result<Vec<Need>> {
    let largest = sizes(spec, study.embeddings.rows()).max();
    let need = |k| Need::Neighbors { of: Key::RAW, k };
    Ok(largest.map(need).into_iter().collect())
}

fn compute(shared: &Shared) -> Result<Results> {
    let rows = shared.study.embeddings.rows();
    let queries = shared.anchors().count(rows);
    let (mut answer, mut columns) = (Results::default(), Vec::new());
    for &k in &shared.spec.dimension.k {
        if k >= rows {
            let reason = format!("k = {k} neighbors need at least {} rows, and there are {rows}", k + 1);
            answer.scores.extend(undefined(k, &reason, rows));
            continue;
        }
        let local = Local::new(shared.neighbors(Key::RAW, k)?, k, queries);
        answer.scores.extend(local.scores(shared));
        if !local.inverses.is_empty() {
            columns.push((format!("mle_id@{k}"), local.by_query()));
        }
    }
    if !columns.is_empty() {
        if queries < rows {
            let asked = |q| Some(shared.anchors().row(q) as f64);
            columns.insert(0, ("row".to_string(), (0..queries).map(asked).collect()));
        }
        answer.samples.push(SampleTable::new("mle_id", columns));
    }
    Ok(answer)
}

/// The identities of both scores at k.
fn ids(k: usize) -> [String; 2] {
    [PLAIN, UNBIASED].map(|output| output.id.replace("@K", &format!("@{k}")))
}

fn undefined(k: usize, reason: &str, n: usize) -> Vec<Score> {
    ids(k).map(|id| Score::undefined(id, reason, n)).to_vec()
}

/// One over the dimension around each row: the mean of ln(T_k / T_j) over the k − 1 nearer neighbors j.
struct Local {
    k: usize,
    inverses: Vec<f64>,
    /// The query of each.
    owners: Vec<usize>,
    near: Near,
    queries: usize,
}

impl Local {
    fn new(neighbors: &Neighbors, k: usize, queries: usize) -> Self {
        let mut local = Local {
            k,
            inverses: Vec::with_capacity(queries),
            owners: Vec::with_capacity(queries),
            near: Near::new(queries),
            queries,
        };
        for q in 0..queries {
            let distances = &neighbors.distances_of(q)[..k];
            if distances[0] > 0.0 {
                let logs = distances[..k - 1].iter().map(|near| (distances[k - 1] / near).ln());
                local.inverses.push(logs.sum::<f64>() / (k - 1) as f64);
                local.owners.push(q);
                local.near.add(q, neighbors, k.min(TOGETHER));
            }
        }
        local
    }

    fn scores(&self, shared: &Shared) -> Vec<Score> {
        let (k, n) = (self.k, self.inverses.len());
        if n < 3 {
            return undefined(
                k,
                "fewer than 3 rows are left without the rows that have a duplicate",
                n,
            );
        }
        let sum: f64 = self.inverses.iter().sum();
        if sum <= 0.0 {
            let reason = "all neighbors are equally far everywhere, so that no dimension is large enough";
            return undefined(k, reason, n);
        }
        let (count, value) = (n as f64, n as f64 / sum);
        // To first order a row moves 1/d by its own less the mean, over N.
        let effects: Vec<f64> = self
            .inverses
            .iter()
            .map(|own| -value * (own - sum / count) / sum)
            .collect();
        let of_variant = |(id, normalizer): (String, usize)| {
            if normalizer == 0 {
                return Score::undefined(id, "k = 2: the normalizer k − 2 is 0; use a larger k", n);
            }
            let factor = normalizer as f64 / (k - 1) as f64;
            let interval = self.near.interval(value, &effects, shared);
            Score::number(id, factor * value, n).with_interval(interval.map(|own| own.times(factor)))
        };
        let scores = ids(k).into_iter().zip([k - 1, k - 2]).map(of_variant);
        match self.near.note("first distance") {
            Some(note) => scores.map(|score| score.with_note(note.clone())).collect(),
            None => scores.collect(),
        }
    }

    /// The dimension around each query; none where it has a duplicate, or its neighbors are equally far.
    fn by_query(&self) -> Vec<Option<f64>> {
        let mut all = vec![None; self.queries];
        for (&query, inverse) in self.owners.iter().zip(&self.inverses) {
            all[query] = (*inverse > 0.0).then(|| inverse.recip());
        }
        all
    }
}
