// SPDX-License-Identifier: MIT
//! What a table of differences says, before it is set in any format.

use super::probability::{marks, marks_of_same};
use crate::numbers::number;
use crate::scores::{LEAD, distinct, grouped, is_between, less, name_metrics, scores};
use crate::table::Cell;
use crate::text::{columns, join, printable};
use crate::training::caution;
use repscope_core::{Better, Difference, MetricId, Results};

/// Longer names of models are replaced by a letter or a number above a column.
const LONGEST_NAME: usize = 14;

/// Differences of models to a reference.
pub(super) struct Comparison<'a> {
    /// All names, as in the results.
    pub(super) models: Vec<String>,
    /// The model that the others are compared with.
    pub(super) reference: usize,
    /// The others, in the order of the results.
    pub(super) others: Vec<usize>,
    pub(super) rows: Vec<Row<'a>>,
    pub(super) level: f64,
    pub(super) words: Words,
}

/// A metric.
pub(super) struct Row<'a> {
    pub(super) metric: String,
    pub(super) better: Better,
    pub(super) opens_block: bool,
    /// Whether no unit of one model could be matched with one of another.
    pub(super) is_unpaired: bool,
    /// The value of each model.
    pub(super) values: Vec<Cell>,
    /// How each of the others differs from the reference.
    pub(super) lines: Vec<Option<Line<'a>>>,
}

/// A model less the reference.
pub(super) struct Line<'a> {
    pub(super) cell: Cell,
    pub(super) verdict: Verdict,
    pub(super) of: &'a Difference,
    is_turned: bool,
}

impl Line<'_> {
    /// −1 where the stored difference was taken the other way round.
    pub(super) fn sign(&self) -> f64 {
        if self.is_turned { -1.0 } else { 1.0 }
    }
}

/// Whether a model is better than the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Better,
    Worse,
    /// The two are not apart.
    Open,
    /// The metric has no direction.
    Undirected,
}

impl<'a> Comparison<'a> {
    /// `None` where the results have no differences, or none to this reference.
    pub(super) fn new(results: &'a Results, reference: Option<&str>) -> Option<Self> {
        let level = results.differences.first()?.level;
        let models = distinct(results.scores.iter().map(|s| s.model.as_str()));
        let reference = match reference {
            Some(name) => models.iter().position(|model| *model == name)?,
            // Of two, the first less the second: so they were typed.
            None => usize::from(models.len() == 2),
        };
        let others: Vec<usize> = (0..models.len()).filter(|&model| model != reference).collect();
        let table = scores(results);
        let rows = table.rows.iter().filter_map(|row| {
            let own = results
                .differences
                .iter()
                .filter(|d| printable(&d.metric) == row.cells[0].text);
            let of_metric: Vec<&Difference> = own.collect();
            let line_to = |&model: &usize| line(models[model], models[reference], &of_metric);
            let lines: Vec<Option<Line>> = others.iter().map(line_to).collect();
            let first = lines.iter().flatten().next()?.of;
            let values = &row.cells[LEAD..LEAD + models.len()];
            Some(Row {
                metric: row.cells[0].text.clone(),
                better: first.better,
                opens_block: row.opens_block,
                is_unpaired: lines.iter().flatten().any(|l| l.of.p.is_some() && !l.of.is_paired),
                values: values.iter().map(|cell| cell.clone().alone()).collect(),
                lines,
            })
        });
        let rows: Vec<Row> = rows.collect();
        Some(Comparison {
            words: words(results, &table.undefined),
            models: models.iter().map(|model| printable(model)).collect(),
            reference,
            others,
            rows,
            level,
        })
    }

    /// What stands above the column of one of two models: its name, or where names are long, A or B.
    pub(super) fn heading(&self, model: usize) -> String {
        match self.has_long_names() {
            false => self.models[model].clone(),
            true if model == self.reference => "B".to_string(),
            true => "A".to_string(),
        }
    }

    fn has_long_names(&self) -> bool {
        self.models.iter().any(|name| columns(name) > LONGEST_NAME)
    }

    /// What the table is about.
    pub(super) fn title(&self) -> String {
        let reference = &self.models[self.reference];
        match self.only_other() {
            Some(other) if self.has_long_names() => {
                format!("A = {} and B = {reference} on the same rows", self.models[other])
            }
            Some(other) => format!("{} and {reference} on the same rows", self.models[other]),
            None => format!("Values of {reference}, and differences of the others from it"),
        }
    }

    /// The other model, where there are only two.
    pub(super) fn only_other(&self) -> Option<usize> {
        match self.others[..] {
            [other] => Some(other),
            _ => None,
        }
    }
}

/// The difference of a model to the reference, whichever way round it was taken.
fn line<'a>(model: &str, reference: &str, of_metric: &[&'a Difference]) -> Option<Line<'a>> {
    let of = *of_metric.iter().find(|d| is_between(d, model, reference))?;
    let (value, interval) = less(of, model);
    let verdict = match of.winner.as_deref() {
        _ if of.better == Better::Neither => Verdict::Undirected,
        Some(winner) if winner == model => Verdict::Better,
        Some(_) => Verdict::Worse,
        None => Verdict::Open,
    };
    Some(Line {
        cell: Cell {
            marks: if of.equivalent.is_some_and(|own| own.holds) {
                marks_of_same(marks(of.p_adjusted))
            } else {
                marks(of.p_adjusted)
            },
            ..Cell::with_interval(value, interval)
        },
        verdict,
        of,
        is_turned: of.a != model,
    })
}

pub(super) struct Words {
    /// How often units were compared, and the correction for it.
    pub(super) method: Vec<String>,
    /// What single metrics need to be said.
    pub(super) remarks: Vec<String>,
}

fn words(results: &Results, undefined: &[(String, String)]) -> Words {
    let metrics = distinct(results.differences.iter().map(|d| &d.metric));
    let undefined = undefined
        .iter()
        .map(|(who, reason)| format!("No difference in {who}: {reason}"));
    let remarks = notes(results, &metrics).into_iter().chain(undefined);
    let method = [
        paired(results),
        corrected(results),
        equivalence(results),
        caution(results),
    ]
    .into_iter()
    .filter(|sentence| !sentence.is_empty());
    Words {
        method: method.map(|sentence| printable(&sentence)).collect(),
        remarks: remarks.map(|remark| printable(&remark)).collect(),
    }
}

/// Over what units the differences were taken.
fn paired(results: &Results) -> String {
    let paired = results.differences.iter().filter(|d| d.is_paired);
    let all = distinct(paired.clone().map(|d| &d.metric));
    let groups = grouped(paired.map(|d| ((d.units, d.unit.as_deref().unwrap_or("units")), &d.metric)));
    let ways = groups.iter().map(|((units, unit), ids)| match groups.len() {
        1 => format!("{units} {unit}"),
        _ => format!("{units} {unit} ({})", name_metrics(ids, &all)),
    });
    match join(ways, "; over ").as_str() {
        "" => String::new(),
        ways => format!("Differences are taken unit by unit, over {ways}"),
    }
}

/// How the p-values were made and adjusted.
fn corrected(results: &Results) -> String {
    let tested = || results.differences.iter().filter(|d| d.p.is_some());
    if tested().next().is_none() {
        return "No score has an interval, so there are no p-values".to_string();
    }
    // Without what the sentence before it says already.
    let short = |method: &str| method.strip_prefix("paired over units, ").unwrap_or(method).to_string();
    let methods = distinct(tested().filter_map(|d| d.method.as_deref()).map(short));
    format!(
        "p-values are two-sided ({}); adjusted p-values are Holm's, over all comparisons of the run in scores with a direction",
        methods.join("; ")
    )
}

/// How equivalence was tested.
fn equivalence(results: &Results) -> String {
    let tested: Vec<f64> = results
        .differences
        .iter()
        .filter_map(|d| Some(d.equivalent?.within))
        .collect();
    if tested.is_empty() {
        return String::new();
    }
    let margins = distinct(tested.iter().map(|&within| number(within)));
    let margin = match &margins[..] {
        [one] => one.clone(),
        _ => "their margins".to_string(),
    };
    format!(
        "≈ the same within {margin}: two one-sided tests, p-values adjusted by Holm's method over all {} of them",
        tested.len()
    )
}

/// Notes of the differences, each with its metrics.
fn notes(results: &Results, metrics: &[&MetricId]) -> Vec<String> {
    let notes = results.differences.iter().flat_map(|d| {
        let notes = d.note.iter().flat_map(|note| note.split("; "));
        notes.map(move |note| (note, &d.metric))
    });
    let sentence = |(note, ids): &(&str, Vec<&MetricId>)| {
        let mark = if note.starts_with("not paired") { "† " } else { "" };
        format!("{mark}{note}: {}", name_metrics(ids, metrics))
    };
    grouped(notes).iter().map(sentence).collect()
}
