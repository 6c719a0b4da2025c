// SPDX-License-Identifier: MIT
//! Our answers, by the function that fits what a case holds.

use std::collections::BTreeMap;

use repscope_core::metrics::{self, accuracy_of_split, agreement};
use repscope_core::run::{Driver, Order};
use repscope_core::{AlikeSpec, Error, Metric, Results, Spec, evaluate, similarity};

use super::case::Case;
use super::document::{Part, Place};
use super::{embeddings, models, perturbed, retrieval};

/// What our side says of one metric.
pub enum Answer {
    Number(f64),
    Curve(Vec<f64>),
    /// No value, and why.
    None(String),
}

/// The answers to one case. What one run gives is computed once.
pub struct Answers<'a> {
    case: &'a Case,
    /// Of everything that is asked, where one run answers it all.
    whole: Option<Results>,
    /// By metric and k, or why the run was refused.
    runs: BTreeMap<(&'static str, Option<usize>), Result<Results, String>>,
}

impl<'a> Answers<'a> {
    pub fn new(case: &'a Case) -> Self {
        let options = &case.document.options;
        let whole = match (&options.directions, &options.scores, &options.perturbation) {
            (Some(directions), ..) => Some(retrieval::retrieved(case, directions)),
            (None, Some(scores), _) => Some(models::related(case, scores)),
            (None, None, Some(perturbation)) => Some(perturbed::perturbed(&case.document.case, perturbation)),
            (None, None, None) => None,
        };
        Answers {
            case,
            whole,
            runs: BTreeMap::new(),
        }
    }

    pub fn to(&mut self, place: &Place) -> Answer {
        let case = self.case;
        if let Some(results) = &self.whole {
            return read(results, place, case);
        }
        if case.has("a") {
            return match agreement(&case.labels("a"), &case.labels("b")) {
                Some((nmi, _)) if place.metric == "nmi" => Answer::Number(nmi),
                Some((_, ami)) => Answer::Number(ami),
                None => Answer::None("a labeling has a single class".to_string()),
            };
        }
        if case.has("train") {
            let k = case.document.options.knn_k.expect("a k-NN case says its k");
            let split = accuracy_of_split(&case.space("latent"), &case.labels("labels"), &case.train(), k);
            return Answer::Number(split.expect("a valid split"));
        }
        match self.run(&place.metric) {
            Ok(results) => read(results, place, case),
            Err(reason) => Answer::None(reason.clone()),
        }
    }

    /// One k at a time: a case may list some that must be refused before any work.
    fn run(&mut self, metric: &str) -> &Result<Results, String> {
        let case = self.case;
        let (asked, _) = metrics::find(metric).expect("a metric of ours");
        if let Some(known) = &case.document.options.similarity_k {
            let k = metric
                .split_once('@')
                .map_or(known[0], |(_, k)| k.parse().expect("a whole number"));
            let alike = || compared(case, asked, k);
            return self.runs.entry((asked.id, Some(k))).or_insert_with(alike);
        }
        // Behind the @ of robustness stands a level of noise, and all levels are in one run.
        let at = metric.split_once('@').filter(|_| asked.id != "robustness");
        let k = at.map(|(_, k)| k.parse().expect("a whole number"));
        self.runs.entry((asked.id, k)).or_insert_with(|| {
            let driver = Driver::silent(Order::Parallel);
            match evaluate(
                &embeddings::studies(case),
                &[asked],
                &embeddings::spec(case, k),
                &driver,
            ) {
                Ok(results) => Ok(results),
                Err(error @ Error::Internal(_)) => panic!("{}: {error}", case.document.case),
                Err(error) => Err(error.to_string()),
            }
        })
    }
}

/// The models of a case against each other.
fn compared(case: &Case, metric: &'static Metric, k: usize) -> Result<Results, String> {
    let spec = Spec {
        alike: AlikeSpec {
            k,
            ..AlikeSpec::default()
        },
        ..Spec::default()
    };
    let driver = Driver::silent(Order::Parallel);
    similarity(&embeddings::studies(case), &[metric], &spec, &driver).map_err(|error| error.to_string())
}

/// A score, or what stands beside it.
fn read(results: &Results, place: &Place, case: &Case) -> Answer {
    let name = &case.document.case;
    if let Some(Part::Cell) = place.part {
        return cell(results, place, name);
    }
    if place.metric == "spectrum" {
        let curve = &results.curves[0].y;
        let end = |id: &str| results.score("golden", id).expect("a declared output").value;
        assert_eq!(end("spectrum.max"), curve.first().copied());
        assert_eq!(end("spectrum.min"), curve.last().copied());
        return Answer::Curve(curve.clone());
    }
    if place.metric == "r_nx" {
        return Answer::Curve(results.curves[0].y.clone());
    }
    let score = results.score(place.model(), &place.metric);
    let score = score.unwrap_or_else(|| panic!("{name}: nothing answers {place}"));
    let number = match place.part {
        None => score.value,
        Some(Part::Chance) => score.chance,
        Some(Part::EffectiveK) => score.effective_k.map(|k| k as f64),
        Some(Part::StandardError) => score.standard_error,
        Some(Part::N | Part::Cell) => Some(score.n as f64),
    };
    match number {
        Some(number) => Answer::Number(number),
        None => Answer::None(score.reason.clone().unwrap_or_default()),
    }
}

/// A number of a breakdown. The line and the column must be there; the cell may be empty.
fn cell(results: &Results, place: &Place, case: &str) -> Answer {
    let missing = |what: &str| -> ! { panic!("{case}: no {what} for {place}") };
    let is_of_model = |model: &str| place.model.as_deref().is_none_or(|wanted| wanted == model);
    let mut tables = results.breakdowns.iter();
    let table = tables.find(|b| b.metric == place.metric && is_of_model(&b.model));
    let table = table.unwrap_or_else(|| missing("breakdown"));
    let wanted = place.row.as_deref().unwrap_or_else(|| missing("row"));
    let lines = table.keys.first().map_or(0, |key| key.values.len());
    let line = (0..lines).find(|&line| table.keys.iter().map(|k| &k.values[line]).eq(wanted));
    let line = line.unwrap_or_else(|| missing("line"));
    let column = table.columns.iter().find(|c| Some(&c.name) == place.column.as_ref());
    match column.unwrap_or_else(|| missing("column")).values[line] {
        Some(number) => Answer::Number(number),
        None => Answer::None("an empty cell".to_string()),
    }
}
