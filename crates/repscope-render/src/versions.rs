// SPDX-License-Identifier: MIT
//! Shorter and quantized embeddings beside the whole ones: a table, its lines in a file, and what they say in a sentence.

use crate::compare::probability::limit;
use crate::numbers::{number, percent};
use crate::scores::{distinct, only_scores};
use crate::table::{Cell, Column, Emphasis, Row, Table};
use crate::text::{join, printable};
use repscope_core::{Better, Difference, MetricId, Precision, Results, Score, Versioned};

/// What the table shows.
pub(crate) const TITLE: &str = "Shorter and quantized embeddings";
/// More models than this are not spoken of one by one.
const MOST_NAMED: usize = 3;

/// How a score of a version stands to that of the whole embeddings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// Within the margin that was given.
    Same,
    /// Better, or not found to be worse.
    NotWorse,
    Worse,
}

fn standing(change: &Difference) -> Option<Standing> {
    let is_worse = match change.better {
        Better::Higher => change.value < 0.0,
        Better::Lower => change.value > 0.0,
        Better::Neither => return None,
    };
    Some(match change.equivalent {
        Some(own) if own.holds => Standing::Same,
        _ if is_worse && is_significant(change) => Standing::Worse,
        _ => Standing::NotWorse,
    })
}

fn is_significant(change: &Difference) -> bool {
    change.p_adjusted.is_some_and(|p| p <= 1.0 - change.level)
}

/// The models that have versions, in the order of the scores.
fn models(results: &Results) -> Vec<&str> {
    let has_versions = |model: &&str| results.versions.iter().any(|own| own.columns.contains_key(*model));
    results.models().into_iter().filter(has_versions).collect()
}

/// The scores of each version and of the whole embeddings, those that are wanted; none where there is no version.
pub(crate) fn table(results: &Results, is_wanted: impl Fn(&MetricId) -> bool) -> Option<Table> {
    let measured = |id: &MetricId| {
        let mut versions = results.versions.iter();
        is_wanted(id) && versions.any(|own| own.results.scores.iter().any(|score| score.metric == *id))
    };
    let shown = only_scores(results, measured);
    let ids = distinct(shown.scores.iter().map(|score| &score.metric));
    let models = models(results);
    if ids.is_empty() || models.is_empty() {
        return None;
    }
    let level = results
        .versions
        .iter()
        .flat_map(|own| &own.changes)
        .map(|own| own.level);
    let level = level.reduce(f64::max).unwrap_or(0.95);
    let mut table = Table {
        emphasis: format!("better than the whole embeddings, adjusted p ≤ {}", limit(level)),
        ..Table::new(TITLE, "versions")
    };
    table.columns = vec![
        Column::text("model"),
        Column::number("columns"),
        Column::text("stored as"),
    ];
    table.columns.extend(ids.iter().map(|id| {
        let better = id.output().map_or(Better::Neither, |output| output.better);
        Column {
            is_split: true,
            ..Column::metric(id, better)
        }
    }));
    for (i, model) in models.iter().enumerate() {
        let whole: Vec<Cell> = ids.iter().map(|id| Cell::score(results.score(model, id))).collect();
        let all = results.versions.iter().find_map(|own| own.columns.get(*model));
        table
            .rows
            .push(row(model, all.copied(), Precision::Float, whole, i > 0));
        for own in results.versions.iter().filter(|own| own.columns.contains_key(*model)) {
            let cell = |id: &&MetricId| {
                let change = own.change(model, id);
                let standing = change.filter(|own| is_significant(own)).and_then(standing);
                let is_better = standing == Some(Standing::NotWorse);
                Cell::score(own.results.score(model, id))
                    .emphasized(Emphasis::Worse, standing == Some(Standing::Worse))
                    .emphasized(Emphasis::Better, is_better)
            };
            let cells = ids.iter().map(cell).collect();
            let (columns, precision) = (own.columns_of(model), own.version.precision);
            table.rows.push(row(model, columns, precision, cells, false));
        }
    }
    table.legend = vec![
        "Each version is compared with the whole embeddings row by row; p-values are adjusted for all of these comparisons".to_string(),
        "Columns: the first so many, at unit length where the whole rows have it; int8: the nearest of 256 levels between the smallest and \
         the largest value of each column; binary: signs"
            .to_string(),
    ];
    Some(table)
}

fn row(model: &str, columns: Option<usize>, precision: Precision, cells: Vec<Cell>, opens_block: bool) -> Row {
    let columns = columns.map(Cell::count).unwrap_or_default();
    let lead = [Cell::model(model), columns, Cell::text(precision.name())];
    Row {
        cells: lead.into_iter().chain(cells).collect(),
        models: vec![model.to_string()],
        opens_block,
        ..Row::default()
    }
}

/// What the versions say of a score: the shortest prefix that is not worse, and what quantization costs. Empty where there are none, or
/// where no direction is better.
pub(crate) fn sentence(results: &Results, metric: &MetricId) -> String {
    let models = models(results);
    let of_model = |model: &&str| {
        let score = results.score(model, metric).filter(|score| score.comparable)?;
        let parts = [prefixes(results, score), quantized(results, score)];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        let name = if results.models().len() > 1 {
            format!("{model}: ")
        } else {
            String::new()
        };
        (!parts.is_empty()).then(|| format!("; {name}{}", parts.join(", ")))
    };
    if models.len() > MOST_NAMED {
        return String::new();
    }
    models.iter().filter_map(of_model).collect()
}

/// A version of a model, its value, and how it stands to the whole.
type Measured<'a> = (&'a Versioned, f64, Standing, Option<f64>);

fn measured<'a>(own: &'a Versioned, whole: &Score) -> Option<Measured<'a>> {
    let value = own.results.score(&whole.model, &whole.metric)?.value?;
    let change = own.change(&whole.model, &whole.metric)?;
    let within = change.equivalent.filter(|own| own.holds).map(|own| own.within);
    Some((own, value, standing(change)?, within))
}

/// The shortest prefix from which on none is worse.
fn prefixes(results: &Results, whole: &Score) -> Option<String> {
    let is_prefix = |own: &&Versioned| own.version.columns.is_some() && own.version.precision == Precision::Float;
    let mut known: Vec<Measured> = results
        .versions
        .iter()
        .filter(is_prefix)
        .filter_map(|own| measured(own, whole))
        .collect();
    known.sort_by_key(|own| own.0.version.columns);
    let is_tested = known.iter().any(|own| own.2 == Standing::Same);
    let fits = |own: &&Measured| own.2 == Standing::Same || (!is_tested && own.2 == Standing::NotWorse);
    let full = number(whole.value?);
    let of = |own: &Measured| {
        let columns = own.0.version.columns.unwrap_or_default();
        let all = own.0.columns.get(&whole.model).copied().unwrap_or_default();
        (columns, all, number(own.1))
    };
    match known.iter().rev().take_while(fits).last() {
        Some(own) => {
            let (columns, all, value) = of(own);
            let how = match own.3 {
                Some(within) => format!("the same within {}", number(within)),
                None => "not significantly worse".to_string(),
            };
            Some(format!(
                "the first {columns} of {all} columns are {how} ({value} against {full})"
            ))
        }
        None => {
            let (columns, all, value) = of(known.last()?);
            Some(format!(
                "no prefix is as good ({value} with {columns} of {all} columns against {full})"
            ))
        }
    }
}

/// What fewer bits cost with all columns.
fn quantized(results: &Results, whole: &Score) -> Option<String> {
    let of = |own: &Versioned| {
        let (_, value, standing, within) = measured(own, whole)?;
        let how = match (standing, within) {
            (Standing::Same, Some(within)) => format!("is the same within {}", number(within)),
            (Standing::Worse, _) => "is worse".to_string(),
            _ => "is not significantly worse".to_string(),
        };
        Some(format!("{} {how} ({})", own.version.precision.name(), number(value)))
    };
    let all = results.versions.iter().filter(|own| own.version.columns.is_none());
    let all: Vec<String> = all.filter_map(of).collect();
    (!all.is_empty()).then(|| printable(&join(all, ", ")))
}

/// What the intervals of a figure of versions are.
pub(crate) fn interval_note(results: &Results) -> Option<String> {
    let mut scores = results.versions.iter().flat_map(|own| &own.results.scores);
    let level = scores.find_map(|score| score.level)?;
    Some(format!("Bands and bars: {} intervals.", percent(level)))
}
