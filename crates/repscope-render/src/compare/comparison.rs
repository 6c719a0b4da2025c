// SPDX-License-Identifier: MIT
//! What a table of differences says, before it is set in any format.

use super::probability::{marks, probability};
use crate::scores::{LEAD, distinct, grouped, is_between, less, name_metrics, scores};
use crate::table::Cell;
use crate::text::{columns, join, printable};
use repscope_core::{Better, Difference, MetricId, Results};

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

    fn has_long_names(&self) -> bool {
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
            marks: marks(of.p_adjusted),
            ..Cell::with_interval(value, interval)
        },
        verdict,
        of,
    })
}

/// How a model stands against the others.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Standing {
    /// Its number among the models of the results.
    pub(crate) model: usize,
    /// Differences with a p-value in which it is the better one, the worse one, and neither.
    pub(crate) wins: usize,
    pub(crate) losses: usize,
    pub(crate) ties: usize,
    /// Its mean rank by value, 1 is best, over the metrics that have a value for every model.
    pub(crate) mean_rank: Option<f64>,
}

/// The models, best first: by wins less losses, then by mean rank, then as given.
pub(crate) fn ranking(results: &Results, models: &[&str]) -> Vec<Standing> {
    let ranks = ranks(results, models);
    let stand = |(model, name): (usize, &&str)| {
        let tested = results
            .differences
            .iter()
            .filter(|d| is_tested(d) && (d.a == **name || d.b == **name));
        let won: Vec<Option<bool>> = tested
            .map(|d| d.winner.as_deref().map(|winner| winner == *name))
            .collect();
        let count = |how: Option<bool>| won.iter().filter(|won| **won == how).count();
        let sum: f64 = ranks.iter().map(|of_metric| of_metric[model]).sum();
        Standing {
            model,
            wins: count(Some(true)),
            losses: count(Some(false)),
            ties: count(None),
            mean_rank: (!ranks.is_empty()).then(|| sum / ranks.len() as f64),
        }
    };
    let mut standings: Vec<Standing> = models.iter().enumerate().map(stand).collect();
    let lead = |s: &Standing| s.wins as i64 - s.losses as i64;
    let rank = |s: &Standing| s.mean_rank.unwrap_or(f64::INFINITY);
    // Stable: of equals the first given stays first.
    standings.sort_by(|a, b| lead(b).cmp(&lead(a)).then(rank(a).total_cmp(&rank(b))));
    standings
}

/// Whether a difference could have had a winner.
fn is_tested(difference: &Difference) -> bool {
    difference.better != Better::Neither && difference.p_adjusted.is_some()
}

/// The metrics by which models can be ranked, with their direction.
fn directed(results: &Results) -> Vec<(&str, Better)> {
    let with_direction = results.differences.iter().filter(|d| d.better != Better::Neither);
    let groups = grouped(with_direction.map(|d| (d.metric.as_str(), d.better)));
    groups.into_iter().map(|(metric, ways)| (metric, ways[0])).collect()
}

/// The ranks of the models in each metric with a direction that has a value for all of them.
fn ranks(results: &Results, models: &[&str]) -> Vec<Vec<f64>> {
    let of_metric = |(metric, better): (&str, Better)| {
        let value = |model: &&str| results.score(model, metric)?.value;
        let values: Vec<f64> = models.iter().map(value).collect::<Option<_>>()?;
        let is_ahead = |a: f64, b: f64| if better == Better::Higher { a > b } else { a < b };
        // Equal values share the mean of their places.
        let rank = |&own: &f64| {
            let ahead = values.iter().filter(|&&other| is_ahead(other, own)).count() as f64;
            let equal = values.iter().filter(|&&other| other == own).count() as f64;
            ahead + (equal + 1.0) / 2.0
        };
        Some(values.iter().map(rank).collect())
    };
    directed(results).into_iter().filter_map(of_metric).collect()
}

pub(super) struct Words {
    /// Who is better in how many metrics.
    pub(super) outcome: String,
    /// How often units were compared, and the correction for it.
    pub(super) method: Vec<String>,
    /// What single metrics need to be said.
    pub(super) remarks: Vec<String>,
}

pub(super) fn words(
    results: &Results,
    models: &[&str],
    standings: &[Standing],
    undefined: &[(String, String)],
) -> Words {
    let metrics = distinct(results.differences.iter().map(|d| &d.metric));
    let undefined = undefined
        .iter()
        .map(|(who, reason)| format!("No difference in {who}: {reason}"));
    let remarks = notes(results, &metrics)
        .into_iter()
        .chain(few_units(results, &metrics))
        .chain(undefined);
    let method = [paired(results), corrected(results)]
        .into_iter()
        .filter(|sentence| !sentence.is_empty());
    Words {
        outcome: printable(&outcome(results, models, standings)),
        method: method.map(|sentence| printable(&sentence)).collect(),
        remarks: remarks.map(|remark| printable(&remark)).collect(),
    }
}

/// Of two models, who is better in what; of more, what was counted.
fn outcome(results: &Results, models: &[&str], standings: &[Standing]) -> String {
    let tested = results.differences.iter().filter(|d| is_tested(d));
    let metrics = distinct(tested.map(|d| d.metric.as_str())).len();
    if metrics == 0 {
        return "No metric with a direction has a p-value, so no model is called better".to_string();
    }
    let count = |count: usize| format!("{count} metric{}", if count == 1 { "" } else { "s" });
    match standings {
        [first, second] => format!(
            "Of {} with a direction and a p-value, {} is better in {}, {} in {}, and {} {} them apart",
            count(metrics),
            models[first.model],
            first.wins,
            models[second.model],
            second.wins,
            first.ties,
            if first.ties == 1 {
                "does not tell"
            } else {
                "do not tell"
            }
        ),
        _ => format!(
            "Wins, losses and ties are counted over {} with a direction and a p-value and all other models; the mean \
             rank is by value over {} with a direction, 1 is best. Related metrics each count, so look at the \
             differences too",
            count(metrics),
            count(directed(results).len()),
        ),
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
    let count = tested().count();
    if count == 0 {
        return "No score has an interval, so there are no p-values".to_string();
    }
    // Without what the sentence before it says already.
    let short = |method: &str| method.strip_prefix("paired over units, ").unwrap_or(method).to_string();
    let methods = distinct(tested().filter_map(|d| d.method.as_deref()).map(short));
    let mut text = format!(
        "p-values are two-sided ({}) and adjusted by Holm's method over all {count} comparisons",
        methods.join("; ")
    );
    let smallest = tested().filter_map(|d| d.p).fold(1.0, f64::min);
    if results.differences.iter().all(|d| d.winner.is_none()) && tested().any(|d| d.better != Better::Neither) {
        text += &format!(
            ". No model is called better: the smallest p-value, {}, times {count} is {}",
            probability(Some(smallest)),
            probability(Some((smallest * count as f64).min(1.0)))
        );
    }
    text
}

/// Where a p-value is as small as so few units can make it (all signs of n give 2ⁿ sums), and that was not enough.
fn few_units(results: &Results, metrics: &[&MetricId]) -> Vec<String> {
    let count = results.differences.iter().filter(|d| d.p.is_some()).count();
    let is_at_limit = |d: &&Difference| {
        let is_open = d.better != Better::Neither && d.winner.is_none();
        let is_of_all_signs = d.method.as_deref().is_some_and(|method| method.ends_with("all signs"));
        let smallest = 0.5f64.powi(d.units as i32 - 1);
        is_open && is_of_all_signs && d.p.is_some_and(|p| p <= smallest)
    };
    let start = |d: &Difference| {
        let (units, unit) = (d.units, d.unit.as_deref().unwrap_or("units"));
        format!("{units} {unit} can give no smaller p-value, and over {count} comparisons it is too large")
    };
    let limited = results.differences.iter().filter(is_at_limit);
    let groups = grouped(limited.map(|d| (start(d), &d.metric)));
    groups
        .iter()
        .map(|(start, ids)| format!("{start}: {}", name_metrics(ids, metrics)))
        .collect()
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
