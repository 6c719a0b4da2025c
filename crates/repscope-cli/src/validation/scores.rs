// SPDX-License-Identifier: MIT
//! The shortest way from codes to the scores that claims speak of.

use anyhow::{Result, bail};
use repscope_core::metrics::find;
use repscope_core::run::{Driver, Order};
use repscope_core::{ClidSpec, ClusterCount, Results, Score, Space, Spec, Study, evaluate};

use super::claim::Got;

/// The model that all studies here speak of.
const MODEL: &str = "example";

/// Document 002's RankMe.
pub const SPEC: &str = "rankme(variant=spec)";
/// The paper's RankMe.
pub const PAPER: &str = "rankme(variant=paper)";
/// The metrics of a spectrum.
pub const RANKS: &[&str] = &["rankme", "numerical_rank", "participation_ratio", "stable_rank"];

/// What the metrics answered for one model.
pub struct Scores(Results);

impl Scores {
    /// The metrics with these names, of codes alone.
    pub fn of(codes: Space, metrics: &[&str], spec: &Spec) -> Result<Self> {
        Scores::of_study(Study::new(MODEL, codes), metrics, spec)
    }

    pub fn of_study(study: Study, metrics: &[&str], spec: &Spec) -> Result<Self> {
        Ok(Scores(run(&[study], metrics, spec, Order::Parallel)?))
    }

    pub fn got(&self, id: &str) -> Got {
        match self.score(id) {
            Some(score) => Got::from(score),
            None => Got::Missing(format!("there is no score {id}")),
        }
    }

    /// The number of rows that a score speaks of.
    pub fn rows(&self, id: &str) -> Got {
        match self.score(id) {
            Some(score) => Got::Number(score.n as f64),
            None => Got::Missing(format!("there is no score {id}")),
        }
    }

    /// What is said beside the number.
    pub fn note(&self, id: &str) -> String {
        self.score(id).and_then(|s| s.note.clone()).unwrap_or_default()
    }

    fn score(&self, id: &str) -> Option<&Score> {
        self.0.scores.iter().find(|s| s.metric == id)
    }
}

/// The metrics with these names, of several models in any order of work.
pub fn run(studies: &[Study], metrics: &[&str], spec: &Spec, order: Order) -> Result<Results> {
    let mut found = Vec::new();
    for name in metrics {
        let Some((metric, _)) = find(name) else {
            bail!("there is no metric `{name}`");
        };
        found.push(metric);
    }
    Ok(evaluate(studies, &found, spec, &Driver::silent(order))?)
}

/// Document 002's CLID with this many clusters and voters.
pub fn clid(clusters: usize, k: usize) -> Spec {
    Spec {
        clid: ClidSpec {
            clusters: ClusterCount::Of(clusters),
            k,
            ..ClidSpec::SPEC
        },
        ..Spec::default()
    }
}

/// The metrics with these names, of each of several data sets.
pub fn of_each(sets: &[Space], metrics: &[&str], spec: &Spec) -> Result<Vec<Scores>> {
    sets.iter().map(|set| Scores::of(set.clone(), metrics, spec)).collect()
}
