// SPDX-License-Identifier: MIT
//! What a table of differences says, before it is set in any format.

use super::probability::marks;
use super::ranking::{Standing, ranking};
use super::words::{Words, words};
use crate::scores::{LEAD, distinct, scores};
use crate::table::Cell;
use crate::text::{columns, printable};
use repscope_core::{Better, Difference, Results};

/// Longer names of models are replaced by a letter or a number above a column.
const LONGEST_NAME: usize = 14;

/// Differences of models to a reference.
pub(super) struct Comparison<'a> {
    /// All names, as in the results.
    pub(super) models: Vec<String>,
    /// All models, best first.
    pub(super) standings: Vec<Standing>,
    /// The model that the others are compared with.
    pub(super) reference: usize,
    /// The others, best first.
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
    /// What tells each of the others from the reference.
    pub(super) lines: Vec<Option<Line<'a>>>,
}

/// A model less the reference.
pub(super) struct Line<'a> {
    pub(super) cell: Cell,
    pub(super) verdict: Verdict,
    pub(super) of: &'a Difference,
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
        let standings = ranking(results, &models);
        let reference = match reference {
            Some(name) => models.iter().position(|model| *model == name)?,
            // Of two, the first less the second: so they were typed.
            None if models.len() == 2 => 1,
            None => standings.first()?.model,
        };
        let others: Vec<usize> = standings.iter().map(|s| s.model).filter(|&m| m != reference).collect();
        let table = scores(results);
        let rows = table.rows.iter().filter_map(|row| {
            let of_metric: Vec<&Difference> = results
                .differences
                .iter()
                .filter(|d| printable(&d.metric) == row.cells[0].text)
                .collect();
            let line_to = |&model: &usize| line(models[model], models[reference], &of_metric);
            let lines: Vec<Option<Line>> = others.iter().map(line_to).collect();
            let first = lines.iter().flatten().next()?.of;
            Some(Row {
                metric: row.cells[0].text.clone(),
                better: first.better,
                opens_block: row.opens_block,
                is_unpaired: lines.iter().flatten().any(|l| l.of.p.is_some() && !l.of.is_paired),
                values: row.cells[LEAD..LEAD + models.len()]
                    .iter()
                    .map(|cell| cell.clone().alone())
                    .collect(),
                lines,
            })
        });
        let rows: Vec<Row> = rows.collect();
        Some(Comparison {
            words: words(results, &models, &standings, &table.undefined),
            models: models.iter().map(|model| printable(model)).collect(),
            standings,
            reference,
            others,
            rows,
            level,
        })
    }

    /// What stands above the column of a model: its name, or where names are long, A and B for two models and the place in
    /// the ranking for more.
    pub(super) fn heading(&self, model: usize) -> String {
        if !self.has_long_names() {
            return self.models[model].clone();
        }
        match self.only_other() {
            Some(other) if other == model => "A".to_string(),
            Some(_) => "B".to_string(),
            None => {
                let place = self.standings.iter().position(|standing| standing.model == model);
                format!("#{}", place.map_or(0, |place| place + 1))
            }
        }
    }

    pub(super) fn has_long_names(&self) -> bool {
        self.models.iter().any(|name| columns(name) > LONGEST_NAME)
    }

    /// What the table is about.
    pub(super) fn title(&self) -> String {
        let reference = &self.models[self.reference];
        let (own, is_long) = (self.heading(self.reference), self.has_long_names());
        match self.only_other() {
            Some(other) if is_long => format!("A = {} and B = {reference} on the same rows", self.models[other]),
            Some(other) => format!("{} and {reference} on the same rows", self.models[other]),
            None if is_long => format!("Values of {reference} ({own}), and differences of the others from it"),
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
    let is_between = |d: &&&Difference| (d.a == model && d.b == reference) || (d.a == reference && d.b == model);
    let of = *of_metric.iter().find(is_between)?;
    let (value, interval) = match (of.a == model, of.interval) {
        (true, interval) => (of.value, interval),
        (false, interval) => (-of.value, interval.map(|[low, high]| [-high, -low])),
    };
    let verdict = match of.winner.as_deref() {
        _ if of.better == Better::Neither => Verdict::Undirected,
        Some(winner) if winner == model => Verdict::Better,
        Some(_) => Verdict::Worse,
        None => Verdict::Open,
    };
    Some(Line {
        cell: Cell {
            marks: marks(of.p_adjusted),
            ..Cell::with_interval(value, interval)
        },
        verdict,
        of,
    })
}
