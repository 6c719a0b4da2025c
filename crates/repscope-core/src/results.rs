// SPDX-License-Identifier: MIT
//! Everything a run answers, and how answers join.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::data::{Labels, Study, Version};
use crate::findings::{Finding, Trouble};
use crate::metrics::{Metric, MetricId};
use crate::score::{Breakdown, ClassColumn, Curve, Difference, SampleTable, Score};
use crate::stats::{adjust, adjust_changes};

/// Everything a run answers, or what one metric answers: then `model` is empty until `Results::of_model` fills it in.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Results {
    /// The numbers, model by model.
    pub scores: Vec<Score>,
    /// Lines to draw.
    pub curves: Vec<Curve>,
    /// Scores by label.
    pub breakdowns: Vec<Breakdown>,
    /// Models against each other.
    pub differences: Vec<Difference>,
    /// Per-sample values, for CSV files and figures.
    pub samples: Vec<SampleTable>,
    /// Classes of the samples, the same for all models.
    pub classes: Vec<ClassColumn>,
    /// What is wrong with the data or a model.
    pub findings: Vec<Finding>,
    /// What the user should know.
    pub warnings: Vec<String>,
    /// What shortened and quantized embeddings of the same models score.
    pub versions: Vec<Versioned>,
    /// The models that are layers of one, in the order of the data.
    pub layers: Vec<ModelLayer>,
}

/// A model of the results that is a layer of one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelLayer {
    /// Its name among the models: `vit/block_3`.
    pub model: String,
    /// The model that it is a layer of: `vit`.
    pub of: String,
    /// How many layers of that model come before it.
    pub depth: usize,
}

/// What one version of the embeddings scores.
#[derive(Debug, Clone, PartialEq)]
pub struct Versioned {
    /// What is kept of the embeddings.
    pub version: Version,
    /// How many columns the whole embeddings of each model have.
    pub columns: BTreeMap<String, usize>,
    /// Scores, differences between models, and models that have collapsed in this version. Models have the names of the whole.
    pub results: Results,
    /// What each score of this version has more than that of the whole embeddings. No model wins over itself.
    pub changes: Vec<Difference>,
}

impl Versioned {
    /// How many columns this version of a model has.
    pub fn columns_of(&self, model: &str) -> Option<usize> {
        self.version.columns.or_else(|| self.columns.get(model).copied())
    }

    /// How the score of a model changes.
    pub fn change(&self, model: &str, metric: &str) -> Option<&Difference> {
        self.changes.iter().find(|own| own.a == model && own.metric == metric)
    }
}

impl From<Score> for Results {
    fn from(score: Score) -> Self {
        Results::from(vec![score])
    }
}

impl From<Vec<Score>> for Results {
    fn from(scores: Vec<Score>) -> Self {
        Results {
            scores,
            ..Results::default()
        }
    }
}

impl FromIterator<Score> for Results {
    fn from_iter<I: IntoIterator<Item = Score>>(scores: I) -> Self {
        Results::from(Vec::from_iter(scores))
    }
}

impl Results {
    /// The score with this printed identity for this model.
    pub fn score(&self, model: &str, metric: &str) -> Option<&Score> {
        self.scores.iter().find(|s| s.model == model && s.metric == metric)
    }

    /// The models that have scores, in the order of their scores.
    pub fn models(&self) -> Vec<&str> {
        let mut models: Vec<&str> = Vec::new();
        for score in &self.scores {
            // Scores of one model mostly stand together.
            if models.last() != Some(&score.model.as_str()) && !models.contains(&score.model.as_str()) {
                models.push(&score.model);
            }
        }
        models
    }

    /// Adds everything that an answer holds; a column of classes whose name is known stays as it is.
    pub fn absorb(&mut self, answer: Results) {
        let Results {
            scores,
            curves,
            breakdowns,
            differences,
            samples,
            classes,
            findings,
            warnings,
            versions,
            layers,
        } = answer;
        self.scores.extend(scores);
        self.curves.extend(curves);
        self.breakdowns.extend(breakdowns);
        self.differences.extend(differences);
        self.samples.extend(samples);
        let is_known = |name: &str| self.classes.iter().any(|known| known.name == name);
        let new: Vec<ClassColumn> = classes.into_iter().filter(|column| !is_known(&column.name)).collect();
        self.classes.extend(new);
        self.findings.extend(findings);
        self.warnings.extend(warnings);
        self.versions.extend(versions);
        self.layers.extend(layers);
    }

    /// The answer of a metric under the name of its model.
    pub(crate) fn of_model(mut self, model: &str) -> Self {
        for score in &self.scores {
            let is_allowed = |value: f64| score.metric.output().is_none_or(|output| output.allows(value));
            debug_assert!(
                score.value.is_none_or(is_allowed),
                "{score:?} is outside its declared range"
            );
        }
        let names = self.scores.iter_mut().map(|score| &mut score.model);
        let names = names.chain(self.curves.iter_mut().map(|curve| &mut curve.model));
        let names = names.chain(self.breakdowns.iter_mut().map(|table| &mut table.model));
        let names = names.chain(self.samples.iter_mut().map(|table| &mut table.model));
        names.for_each(|name| *name = model.to_string());
        self
    }

    /// The answer with the name of its model before each warning, where there are several models.
    pub(crate) fn with_named_warnings(mut self, model: &str, are_several: bool) -> Self {
        for warning in self.warnings.iter_mut().filter(|_| are_several) {
            *warning = format!("{model}: {warning}");
        }
        self
    }

    /// Results of several analyses: what two computed is taken from the first, and p-values are adjusted together.
    pub fn join(parts: &[&Results]) -> Results {
        let mut all = Results::default();
        for part in parts {
            // Scores of one part may be alike, so only those of earlier parts are looked at.
            extend(&mut all.scores, &part.scores, |s| (&s.model, &s.metric));
            extend(&mut all.differences, &part.differences, |d| ("", &d.metric));
            extend(&mut all.curves, &part.curves, |c| (&c.model, &c.metric));
            extend(&mut all.breakdowns, &part.breakdowns, |b| (&b.model, &b.metric));
            extend(&mut all.samples, &part.samples, |t| (&t.model, &t.metric));
            extend(&mut all.classes, &part.classes, |c| ("", &c.name));
            extend(&mut all.findings, &part.findings, |finding| {
                (finding.model.as_deref().unwrap_or(""), &finding.text)
            });
            extend(&mut all.layers, &part.layers, |layer| (&layer.of, &layer.model));
            extend(&mut all.warnings, &part.warnings, |warning| ("", warning));
        }
        let models: Vec<String> = all.models().into_iter().map(str::to_string).collect();
        all.scores
            .sort_by_key(|score| models.iter().position(|model| *model == score.model));
        adjust(&mut all);
        all.withhold_wins();
        all.versions = join_versions(parts);
        adjust_changes(&mut all);
        all
    }

    /// What the results say of some metrics: by model, then in the order of the metrics, with the columns of classes of these
    /// names and all warnings. What speaks of no single model comes last.
    pub fn pick(&self, metrics: &[&Metric], classes: &[&str]) -> Results {
        let models = self.models();
        let place = |id: &MetricId| {
            let owner = id.metric()?;
            metrics.iter().position(|metric| metric.id == owner.id)
        };
        let is_kept = |column: &&ClassColumn| classes.contains(&column.name.as_str());
        let differences = self.differences.iter().filter(|d| place(&d.metric).is_some());
        Results {
            scores: picked(&self.scores, &models, place, |s| (&s.model, &s.metric)),
            curves: picked(&self.curves, &models, place, |c| (&c.model, &c.metric)),
            breakdowns: picked(&self.breakdowns, &models, place, |b| (&b.model, &b.metric)),
            samples: picked(&self.samples, &models, place, |t| (&t.model, &t.metric)),
            differences: differences.cloned().collect(),
            classes: self.classes.iter().filter(is_kept).cloned().collect(),
            findings: self.findings.clone(),
            warnings: self.warnings.clone(),
            versions: self.versions.iter().filter_map(|own| own.pick(metrics)).collect(),
            layers: self.layers.clone(),
        }
    }

    /// What shortened and quantized embeddings score, where that was asked for.
    pub fn version(&self, version: &Version) -> Option<&Versioned> {
        self.versions.iter().find(|own| own.version == *version)
    }

    /// Whether a model has collapsed.
    pub fn has_collapsed(&self, model: &str) -> bool {
        let is_it =
            |finding: &Finding| finding.trouble == Trouble::Collapsed && finding.model.as_deref() == Some(model);
        self.findings.iter().any(is_it)
    }
}

impl ClassColumn {
    /// The classes of the rows under a name.
    pub fn new(name: &str, labels: &Labels) -> Self {
        ClassColumn {
            name: name.to_string(),
            names: labels.names().to_vec(),
            codes: labels.codes().to_vec(),
        }
    }

    /// The labels and episodes of a study, as far as they are known.
    pub fn of_study(study: &Study) -> Vec<Self> {
        let known = [("labels", &study.labels), ("episodes", &study.episodes)];
        let column = |(name, labels): (&str, &Option<_>)| Some(ClassColumn::new(name, Option::as_deref(labels)?));
        known.into_iter().filter_map(column).collect()
    }
}

impl Versioned {
    /// What it says of some metrics; nothing where it says nothing.
    fn pick(&self, metrics: &[&Metric]) -> Option<Versioned> {
        let is_kept = |id: &MetricId| {
            id.metric()
                .is_some_and(|own| metrics.iter().any(|metric| metric.id == own.id))
        };
        let results = self.results.pick(metrics, &[]);
        (!results.scores.is_empty()).then(|| Versioned {
            results,
            changes: self
                .changes
                .iter()
                .filter(|own| is_kept(&own.metric))
                .cloned()
                .collect(),
            ..self.clone()
        })
    }
}

/// What several analyses say of each version.
fn join_versions(parts: &[&Results]) -> Vec<Versioned> {
    let mut all: Vec<Versioned> = Vec::new();
    for own in parts.iter().flat_map(|part| &part.versions) {
        if !all.iter().any(|known| known.version == own.version) {
            let of_version = || parts.iter().filter_map(|part| part.version(&own.version));
            let mut changes: Vec<Difference> = Vec::new();
            of_version().for_each(|part| extend(&mut changes, &part.changes, |d| (&d.a, &d.metric)));
            let results: Vec<&Results> = of_version().map(|part| &part.results).collect();
            all.push(Versioned {
                version: own.version,
                columns: of_version().flat_map(|part| part.columns.clone()).collect(),
                results: Results::join(&results),
                changes,
            });
        }
    }
    all
}

fn picked<T: Clone>(
    items: &[T],
    models: &[&str],
    place: impl Fn(&MetricId) -> Option<usize>,
    names: impl Fn(&T) -> (&String, &MetricId),
) -> Vec<T> {
    let mut ranked: Vec<((usize, usize), &T)> = Vec::new();
    for item in items {
        let (model, metric) = names(item);
        let model = models.iter().position(|name| name == model).unwrap_or(models.len());
        if let Some(metric) = place(metric) {
            ranked.push(((model, metric), item));
        }
    }
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().map(|(_, item)| item.clone()).collect()
}

/// Adds what is not there yet by its model and name; items of one part may be alike.
fn extend<T: Clone>(all: &mut Vec<T>, part: &[T], key: fn(&T) -> (&str, &str)) {
    let known = all.len();
    for item in part {
        if !all[..known].iter().any(|other| key(other) == key(item)) {
            all.push(item.clone());
        }
    }
}

/// An answer with a curve, samples and a warning, which must not get lost.
#[cfg(test)]
pub(crate) fn probe() -> Results {
    Results {
        curves: vec![Curve {
            model: String::new(),
            metric: "line".into(),
            x_label: String::new(),
            y_label: String::new(),
            x: vec![1.0],
            y: vec![2.0],
        }],
        samples: vec![SampleTable {
            model: String::new(),
            metric: "table".into(),
            columns: vec![("x".to_string(), vec![Some(1.0)])],
        }],
        warnings: vec!["look here".to_string()],
        ..Results::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(model: &str, metric: &str, value: f64) -> Score {
        Score {
            model: model.to_string(),
            ..Score::number(metric, value, 1)
        }
    }

    #[test]
    fn what_two_parts_computed_is_taken_from_the_first() {
        let first = Results::from(vec![score("a", "ami", 0.1), score("b", "ami", 0.2)]);
        let second = Results::from(vec![score("a", "ami", 0.9), score("a", "nmi", 0.3)]);
        let all = Results::join(&[&first, &second]);
        let found: Vec<(&str, &str, Option<f64>)> = all
            .scores
            .iter()
            .map(|s| (s.model.as_str(), s.metric.as_str(), s.value))
            .collect();
        let expected = [
            ("a", "ami", Some(0.1)),
            ("a", "nmi", Some(0.3)),
            ("b", "ami", Some(0.2)),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn what_is_picked_stands_by_model_and_in_the_order_of_the_metrics() {
        let all = Results::from(vec![
            score("a", "ami", 0.1),
            score("a", "two_nn(fit=mle)", 2.0),
            score("b", "nmi", 0.2),
            score("b", "two_nn", 3.0),
        ]);
        let metrics: Vec<&Metric> = ["two_nn", "ami"]
            .iter()
            .filter_map(|id| MetricId::from(*id).metric())
            .collect();
        let picked = all.pick(&metrics, &[]);
        let ids: Vec<&str> = picked.scores.iter().map(|s| s.metric.as_str()).collect();
        assert_eq!(ids, ["two_nn(fit=mle)", "ami", "two_nn"]);
    }
}
