// SPDX-License-Identifier: MIT
//! The results document: everything a run found out, as `results.json`.

use std::collections::BTreeMap;
use std::path::Path;

use repscope_core::{BETWEEN, Breakdown, Curve, Difference, Finding, ModelLayer, Results, Score, Version, Versioned};
use serde::{Deserialize, Serialize};

use crate::digest::InputRecord;
use crate::error::{Error, Parsed, Result, bail, problem};

/// The request of a run, its inputs and its results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResultsDocument {
    /// The version of this layout.
    pub schema: u32,
    /// The version of repscope that wrote it.
    pub repscope: String,
    /// The command that was run.
    pub command: String,
    /// The resolved options.
    pub spec: serde_json::Value,
    /// The files that were read.
    pub inputs: Vec<InputRecord>,
    /// The numbers.
    pub scores: Vec<Score>,
    /// The lines to draw.
    pub curves: Vec<Curve>,
    /// The scores by label. Documents that older versions wrote have none.
    #[serde(default)]
    pub breakdowns: Vec<Breakdown>,
    /// Models against each other. Documents of one model, or that older versions wrote, have none.
    #[serde(default)]
    pub differences: Vec<Difference>,
    /// What is wrong with the data or a model. Documents that older versions wrote have none.
    #[serde(default)]
    pub findings: Vec<Finding>,
    /// What the user should know.
    pub warnings: Vec<String>,
    /// What shortened and quantized embeddings score; absent where none were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub versions: Vec<StoredVersion>,
    /// The models that are layers of one; absent where none is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layers: Vec<ModelLayer>,
    /// The command line that asks for the same again; empty where an older version wrote the document.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub command_line: String,
    /// Thumbnails of the inputs that are shown as the worst samples, by row: PNG files in base64. Empty where inputs are no
    /// pictures.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub pictures: BTreeMap<usize, String>,
}

/// What one version of the embeddings scores, as the document keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredVersion {
    /// What is kept of the embeddings.
    #[serde(flatten)]
    pub version: Version,
    /// How many columns the whole embeddings of each model have.
    pub columns_of: BTreeMap<String, usize>,
    /// The numbers, by the names of the models.
    pub scores: Vec<Score>,
    /// What each score has more than that of the whole embeddings; `a` and `b` are the same model.
    pub changes: Vec<Difference>,
    /// Models against each other in this version.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<Difference>,
    /// Models that have collapsed in this version.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
}

impl From<&Versioned> for StoredVersion {
    fn from(own: &Versioned) -> Self {
        StoredVersion {
            version: own.version,
            columns_of: own.columns.clone(),
            scores: own.results.scores.clone(),
            changes: own.changes.clone(),
            differences: own.results.differences.clone(),
            findings: own.results.findings.clone(),
        }
    }
}

impl From<StoredVersion> for Versioned {
    fn from(own: StoredVersion) -> Self {
        Versioned {
            version: own.version,
            columns: own.columns_of,
            changes: own.changes,
            results: Results {
                differences: own.differences,
                findings: own.findings,
                ..own.scores.into()
            },
        }
    }
}

impl ResultsDocument {
    /// The layout this version writes and reads.
    pub const SCHEMA: u32 = 1;

    /// The document of a finished run.
    pub fn new(command: &str, spec: serde_json::Value, inputs: Vec<InputRecord>, results: &Results) -> Self {
        ResultsDocument {
            schema: Self::SCHEMA,
            repscope: env!("CARGO_PKG_VERSION").to_string(),
            command: command.to_string(),
            spec,
            inputs,
            scores: results.scores.clone(),
            curves: results.curves.clone(),
            breakdowns: results.breakdowns.clone(),
            differences: results.differences.clone(),
            findings: results.findings.clone(),
            warnings: results.warnings.clone(),
            versions: results.versions.iter().map(StoredVersion::from).collect(),
            layers: results.layers.clone(),
            command_line: String::new(),
            pictures: BTreeMap::new(),
        }
    }

    /// Indented JSON that ends with a line feed. Numbers read back to the same bits; one that is not finite is written
    /// as a missing value with its reason, such points of a curve are left out, and in a breakdown it is null.
    pub fn to_json(&self) -> String {
        let mut document = self.clone();
        document.scores.iter_mut().for_each(remove_non_finite);
        let of_versions = document.versions.iter_mut().flat_map(|own| &mut own.scores);
        of_versions.for_each(remove_non_finite);
        document.scores.iter_mut().for_each(name_first);
        document.curves.iter_mut().for_each(remove_non_finite_points);
        document.breakdowns.iter_mut().for_each(remove_non_finite_numbers);
        let json = serde_json::to_string_pretty(&document).expect("plain structs with text keys are always JSON");
        json + "\n"
    }

    /// What the run answered; samples are not part of the document.
    pub fn into_results(self) -> Results {
        Results {
            scores: self.scores,
            curves: self.curves,
            breakdowns: self.breakdowns,
            differences: self.differences,
            findings: self.findings,
            warnings: self.warnings,
            versions: self.versions.into_iter().map(Versioned::from).collect(),
            layers: self.layers,
            ..Results::default()
        }
    }

    /// Refuses inputs that are not what they were when they were opened: nothing that was computed from them may be published.
    pub fn verify_inputs(&self) -> Result<()> {
        self.inputs.iter().try_for_each(|input| input.files.verify())
    }

    /// Reads the JSON that [`Self::to_json`] wrote.
    pub fn from_json(text: &str) -> Result<Self> {
        Self::parse(text).map_err(|p| Error::Input(format!("the text {p}")))
    }

    /// Reads a `results.json` file.
    pub fn read(path: &Path) -> Result<Self> {
        let text = crate::regular::read_text(path).map_err(|source| Error::read(path, source))?;
        Self::parse(&text).map_err(|p| p.in_file(path.display()))
    }

    fn parse(text: &str) -> Parsed<Self> {
        #[derive(Deserialize)]
        struct Layout {
            schema: u32,
        }
        let unreadable = |e: serde_json::Error| problem!("is not a results document: {e}");
        let layout: Layout = serde_json::from_str(text).map_err(unreadable)?;
        if layout.schema != Self::SCHEMA {
            bail!(
                "has schema {} but this repscope reads schema {}; use the repscope that wrote it",
                layout.schema,
                Self::SCHEMA
            );
        }
        let mut document: Self = serde_json::from_str(text).map_err(unreadable)?;
        document.scores.iter_mut().for_each(name_both);
        document.check()?;
        Ok(document)
    }

    /// What is drawn and tabled takes for granted that columns are equally long.
    fn check(&self) -> Parsed<()> {
        for Curve { metric, x, y, .. } in &self.curves {
            if x.len() != y.len() {
                bail!("is damaged: the curve {metric} has {} x but {} y", x.len(), y.len());
            }
        }
        for table in &self.breakdowns {
            let keys = table.keys.iter().map(|column| (&column.name, column.values.len()));
            let numbers = table.columns.iter().map(|column| (&column.name, column.values.len()));
            let mut columns = keys.chain(numbers);
            let Some((first, lines)) = columns.next() else { continue };
            if let Some((name, own)) = columns.find(|(_, own)| *own != lines) {
                let metric = &table.metric;
                bail!("is damaged: in the breakdown of {metric}, `{first}` has {lines} lines but `{name}` has {own}");
            }
        }
        Ok(())
    }
}

fn remove_non_finite(score: &mut Score) {
    if let Some(value) = score.value.filter(|v| !v.is_finite()) {
        score.value = None;
        score.reason = Some(format!("the formula gives {value} for these data"));
    }
    let finite = |x: &f64| x.is_finite();
    score.interval = score.interval.filter(|i| i.iter().all(finite));
    score.level = score.level.filter(finite);
    score.chance = score.chance.filter(finite);
    score.standard_error = score.standard_error.filter(finite);
}

fn remove_non_finite_points(curve: &mut Curve) {
    let points = curve
        .x
        .iter()
        .zip(&curve.y)
        .filter(|(x, y)| x.is_finite() && y.is_finite());
    (curve.x, curve.y) = points.map(|(x, y)| (*x, *y)).unzip();
}

fn remove_non_finite_numbers(breakdown: &mut Breakdown) {
    for value in breakdown.columns.iter_mut().flat_map(|column| &mut column.values) {
        *value = value.filter(|x| x.is_finite());
    }
}

/// In a document a score of two models names one under `model` and one under `other`.
fn name_first(score: &mut Score) {
    if let Some(other) = &score.other {
        let first = score.model.strip_suffix(other.as_str());
        let first = first.and_then(|name| name.strip_suffix(BETWEEN)).map(str::to_string);
        score.model = first.unwrap_or_else(|| score.model.clone());
    }
}

/// In memory the name of the pair is that of the score.
fn name_both(score: &mut Score) {
    if let Some(other) = &score.other {
        score.model = format!("{}{BETWEEN}{other}", score.model);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use repscope_core::{Better, NameColumn, NumberColumn};

    fn document() -> ResultsDocument {
        let mut results = Results::default();
        // Numbers whose shortest decimal form is easy to get wrong.
        for value in [0.1 + 0.2, 1.0 / 3.0, 5e-324, f64::MAX, -0.0, 2.0_f64.powi(60) + 512.0] {
            results.scores.push(Score {
                better: Better::Higher,
                ..Score::number("m@1", value, 3)
            });
        }
        results.scores.push(Score {
            better: Better::Lower,
            ..Score::undefined("m@2", "no rows", 0)
        });
        results.curves.push(Curve {
            model: "a".into(),
            metric: "spectrum".into(),
            x_label: "x".into(),
            y_label: "y".into(),
            x: vec![0.0, 1.0],
            y: vec![0.7, 1e-17],
        });
        results.breakdowns.push(Breakdown {
            model: "a".into(),
            metric: "label_precision.a2b@10".into(),
            keys: vec![NameColumn {
                name: "label".into(),
                values: vec!["\"x\"".into(), "y".into()],
            }],
            columns: vec![NumberColumn {
                name: "precision".into(),
                values: vec![Some(2.0 / 3.0), None],
            }],
        });
        ResultsDocument::new("manifold", serde_json::json!({"seed": 42}), Vec::new(), &results)
    }

    #[test]
    fn columns_of_unequal_length_are_refused_by_name() {
        let refused = |change: &dyn Fn(&mut ResultsDocument)| {
            let mut document = document();
            change(&mut document);
            ResultsDocument::from_json(&document.to_json()).unwrap_err().to_string()
        };
        let error = refused(&|document| document.breakdowns[0].columns[0].values.push(Some(1.0)));
        assert!(error.contains("`label` has 2 lines but `precision` has 3"), "{error}");
        // Points that are not finite are left out of both, so a longer list is cut when it is written.
        let text = document().to_json().replacen("0.7,\n", "0.7, 0.8,\n", 1);
        let error = ResultsDocument::from_json(&text).unwrap_err().to_string();
        assert!(error.contains("2 x but 3 y"), "{error}");
    }

    #[test]
    fn a_document_reads_back_to_the_same_bits() {
        let written = document();
        let read = ResultsDocument::from_json(&written.to_json()).unwrap();
        assert_eq!(read, written);
        let bits = |d: &ResultsDocument| d.scores.iter().map(|s| s.value.map(f64::to_bits)).collect::<Vec<_>>();
        assert_eq!(bits(&read), bits(&written));
        assert_eq!(read.breakdowns[0].columns[0].values, [Some(2.0 / 3.0), None]);
    }

    #[test]
    fn numbers_that_are_not_finite_become_missing_with_a_reason() {
        let mut document = document();
        document.scores[0].value = Some(f64::NAN);
        document.curves[0].y[0] = f64::INFINITY;
        document.breakdowns[0].columns[0].values[0] = Some(f64::NAN);
        let read = ResultsDocument::from_json(&document.to_json()).unwrap();
        assert_eq!(read.scores[0].value, None);
        assert!(read.scores[0].reason.as_deref().unwrap().contains("NaN"));
        assert_eq!(read.curves[0].x, [1.0]);
        assert_eq!(read.breakdowns[0].columns[0].values, [None, None]);
    }

    #[test]
    fn a_document_without_breakdowns_is_read() {
        let mut json: serde_json::Value = serde_json::from_str(&document().to_json()).unwrap();
        json.as_object_mut().unwrap().remove("breakdowns");
        let read = ResultsDocument::from_json(&json.to_string()).unwrap();
        assert_eq!(read.breakdowns, []);
    }

    #[test]
    fn another_schema_is_refused_with_both_numbers() {
        let json = document().to_json().replace("\"schema\": 1", "\"schema\": 9");
        let error = ResultsDocument::from_json(&json).unwrap_err().to_string();
        assert!(error.contains("schema 9") && error.contains("schema 1"), "{error}");
    }

    #[test]
    fn the_keys_are_those_of_the_interface() {
        let json: serde_json::Value = serde_json::from_str(&document().to_json()).unwrap();
        let keys: Vec<&str> = json.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(
            keys,
            [
                "breakdowns",
                "command",
                "curves",
                "differences",
                "findings",
                "inputs",
                "repscope",
                "schema",
                "scores",
                "spec",
                "warnings"
            ]
        );
        assert!(json["scores"][6]["value"].is_null());
        assert_eq!(json["scores"][6]["reason"], "no rows");
    }
}
