// SPDX-License-Identifier: MIT
//! The scores of perturbed inputs, sorted: each belongs to a model, a head and a set, which its printed identity says
//! (`pis.modulation.drop@top1`).

use crate::breakdowns::{self, cell, names};
use crate::scores::{distinct, grouped};
use repscope_core::{Breakdown, MetricId, Results, Score};

/// The name of all heads together, and of the inputs as they are.
const COMBINED: &str = "combined";
pub(super) const BASELINE: &str = "baseline";

/// The family whose strongest set shows which classes are sensitive.
const LEADING: &str = "top";

/// What the results hold of one model.
pub(crate) struct Run<'a> {
    pub(crate) results: &'a Results,
    pub(crate) model: &'a str,
    /// All together first, where there are several.
    pub(crate) heads: Vec<String>,
    /// Family by family in the order of the results, each by strength.
    pub(crate) sets: Vec<Set>,
}

/// The samples perturbed in one way.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Set {
    /// `top1`.
    pub(crate) name: String,
    /// `top`.
    pub(crate) family: String,
    /// How much was meant to be masked.
    pub(crate) percent: f64,
    /// The shares of lit and of all pixels that really were, where they are known.
    pub(crate) masked_lit: Option<f64>,
    pub(crate) masked_all: Option<f64>,
}

impl<'a> Run<'a> {
    /// The models that were perturbed.
    pub(crate) fn all(results: &'a Results) -> Vec<Self> {
        let known = results.scores.iter().filter(|score| is_of_perturbation(&score.metric));
        let run = |(model, ids): (&'a str, Vec<&MetricId>)| {
            let mut heads = distinct(ids.iter().filter_map(|id| id.head()));
            heads.sort_by_key(|head| *head != COMBINED);
            let of_sets = ids
                .iter()
                .filter(|id| id.part().is_empty() && id.at() != Some(BASELINE));
            Run {
                results,
                model,
                heads: heads.into_iter().map(str::to_string).collect(),
                sets: sets(results, model, &distinct(of_sets.filter_map(|id| id.at()))),
            }
        };
        let by_model = grouped(known.map(|score| (score.model.as_str(), &score.metric)));
        by_model.into_iter().map(run).collect()
    }

    /// The first of them: what a command that perturbs one model shows.
    pub(crate) fn first(results: &'a Results) -> Option<Self> {
        Run::all(results).into_iter().next()
    }

    /// The head that speaks for the model: all together, or the only one.
    pub(crate) fn leading(&self) -> &str {
        self.heads.first().map_or("", String::as_str)
    }

    pub(crate) fn accuracy(&self, head: &str, set: &str) -> Option<&'a Score> {
        self.results.score(self.model, &format!("accuracy.{head}@{set}"))
    }

    pub(crate) fn baseline(&self, head: &str) -> Option<&'a Score> {
        self.accuracy(head, BASELINE)
    }

    /// A score of a set or of a family; `part` is what stands behind the head: nothing, `(f=lit)`, `.drop`, `.mean`.
    pub(crate) fn pis(&self, head: &str, part: &str, at: &str) -> Option<&'a Score> {
        self.results.score(self.model, &format!("pis.{head}{part}@{at}"))
    }

    pub(crate) fn families(&self) -> Vec<&str> {
        distinct(self.sets.iter().map(|set| set.family.as_str()))
    }

    /// The sets of a family by strength.
    pub(crate) fn of_family(&self, family: &str) -> Vec<&Set> {
        self.sets.iter().filter(|set| set.family == family).collect()
    }

    pub(crate) fn at(&self, family: &str, percent: f64) -> Option<&Set> {
        let mut sets = self.sets.iter();
        sets.find(|set| set.family == family && set.percent == percent)
    }

    /// The set that shows which classes are sensitive: the strongest of `top`, or of the first family.
    pub(crate) fn strongest(&self) -> Option<&Set> {
        let of = |family: &str| self.of_family(family).last().copied();
        of(LEADING).or_else(|| of(self.families().first()?))
    }

    pub(crate) fn breakdown(&self, metric: &str) -> Option<&'a Breakdown> {
        breakdowns::find(self.results, self.model, metric)
    }

    /// The classes of a head, the most sensitive first; those without samples are left out.
    pub(crate) fn by_class(&self, head: &str, set: &str) -> Vec<ClassImpact<'a>> {
        let Some(table) = self.breakdown(&format!("pis.{head}@{set}")) else {
            return Vec::new();
        };
        let (heads, classes) = (names(table, "head"), names(table, "class"));
        let impact = |(line, class): (usize, &'a String)| {
            let value = |column: &str| cell(table, column, line);
            Some(ClassImpact {
                class,
                pis: value("pis").filter(|_| heads.get(line).is_some_and(|of| of == head))?,
                interval: value("pis_low").zip(value("pis_high")).map(|(low, high)| [low, high]),
                baseline: value("baseline"),
                accuracy: value("accuracy"),
                samples: value("samples"),
                p: value("p"),
            })
        };
        let mut impacts: Vec<ClassImpact> = classes.iter().enumerate().filter_map(impact).collect();
        impacts.sort_by(|a, b| b.pis.total_cmp(&a.pis));
        impacts
    }
}

/// What a set does to the samples of one class.
pub(crate) struct ClassImpact<'a> {
    pub(crate) class: &'a str,
    pub(crate) pis: f64,
    pub(crate) interval: Option<[f64; 2]>,
    pub(crate) baseline: Option<f64>,
    pub(crate) accuracy: Option<f64>,
    pub(crate) samples: Option<f64>,
    pub(crate) p: Option<f64>,
}

/// Whether it is a score of perturbed predictions: it has a head, and a set, a family or the inputs as they are.
fn is_of_perturbation(id: &MetricId) -> bool {
    id.head().is_some() && id.at().is_some()
}

/// Strength and family come from the table of all heads and sets, or from the name. A set of which neither has them has no
/// place among the others and is left out.
fn sets(results: &Results, model: &str, wanted: &[&str]) -> Vec<Set> {
    let table = breakdowns::find(results, model, "pis");
    let of = |name: &&str| {
        let line = table.and_then(|table| {
            let line = names(table, "set").iter().position(|set| set == name)?;
            Some((table, line))
        });
        let known = line.and_then(|(table, line)| {
            let family = names(table, "family").get(line)?.clone();
            Some((family, cell(table, "percent", line)?))
        });
        let (family, percent) = known.or_else(|| from_name(name))?;
        let share = |column: &str| line.and_then(|(table, line)| cell(table, column, line));
        Some(Set {
            name: name.to_string(),
            family,
            percent,
            masked_lit: share("masked_lit"),
            masked_all: share("masked_all"),
        })
    };
    let mut sets: Vec<Set> = wanted.iter().filter_map(of).collect();
    let families = distinct(sets.iter().map(|set| set.family.clone()));
    let place = |set: &Set| families.iter().position(|family| *family == set.family);
    sets.sort_by(|a, b| place(a).cmp(&place(b)).then(a.percent.total_cmp(&b.percent)));
    sets
}

/// `top0.5` is 0.5 % of `top`.
fn from_name(name: &str) -> Option<(String, f64)> {
    let family = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let percent: f64 = name[family.len()..].parse().ok()?;
    (percent > 0.0 && !family.is_empty()).then(|| (family.to_string(), percent))
}

#[cfg(test)]
mod tests {
    use super::super::testdata::{of_document, one_head};
    use super::*;

    #[test]
    fn heads_and_sets_are_sorted_and_know_their_strength() {
        let results = of_document();
        let run = Run::first(&results).unwrap();
        assert_eq!(run.heads, ["combined", "modulation", "snr"]);
        assert_eq!(run.families(), ["top", "bottom", "random"]);
        let names: Vec<&str> = run.sets.iter().map(|set| set.name.as_str()).collect();
        assert_eq!(names, ["top1", "top5", "bottom1", "bottom5", "random1", "random5"]);
        assert_eq!(run.strongest().unwrap().name, "top5");
        assert_eq!(run.at("bottom", 5.0).unwrap().masked_lit, Some(0.25));
        assert_eq!(Run::first(&one_head()).unwrap().leading(), "digit");
    }

    #[test]
    fn without_the_table_the_names_of_the_sets_tell_strength_and_family() {
        assert_eq!(from_name("top0.5"), Some(("top".to_string(), 0.5)));
        assert_eq!(from_name("ring-10"), Some(("ring-".to_string(), 10.0)));
        assert_eq!(
            [from_name("top"), from_name("5"), from_name("top1.2.3")],
            [None, None, None]
        );
        let mut results = of_document();
        results.breakdowns.clear();
        let run = Run::first(&results).unwrap();
        assert_eq!((run.sets.len(), run.at("random", 5.0).unwrap().masked_lit), (6, None));
    }

    #[test]
    fn other_scores_are_not_taken_for_perturbations() {
        for metric in ["knn_accuracy@5", "accuracy", "pis", "mrr.a2b", "accuracy.head"] {
            assert!(!is_of_perturbation(&metric.into()), "{metric}");
        }
        assert!(Run::all(&crate::testdata::two_models()).is_empty());
    }
}
