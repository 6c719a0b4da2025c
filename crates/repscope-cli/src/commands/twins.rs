// SPDX-License-Identifier: MIT
//! `repscope check --against`, `--splits`, `--labels`: rows that occur twice where they should not.

use anyhow::{Context, Result, bail};
use repscope_core::run::{Driver, Order};
use repscope_core::{Labels, Leaks, Space, Twin, leaks, repeats};
use repscope_io::{InputPath, Pool, read_array};
use repscope_render::number;

use crate::args::Check;

/// The usual share of the distance to the nearest neighbor below which rows are near copies.
const NEAR: f64 = 0.1;
/// Pairs that are listed.
const LISTED: usize = 5;
/// More splits than this are no splits.
const MOST_SPLITS: usize = 20;

/// What is looked for.
pub struct Twins {
    against: Option<Space>,
    splits: Option<Labels>,
    labels: Option<Labels>,
    near: f64,
    /// Whether near copies within a file are worth a word.
    within: bool,
}

/// What is said of one array.
#[derive(Default)]
pub struct Said {
    pub problems: Vec<String>,
    pub remarks: Vec<String>,
}

impl Twins {
    /// None where nothing of this kind was asked for.
    pub fn new(options: &Check) -> Result<Option<Self>> {
        let Check {
            against,
            splits,
            labels,
            near,
            ..
        } = options;
        if against.is_none() && splits.is_none() && labels.is_none() && near.is_none() {
            return Ok(None);
        }
        let codes = |path: &Option<String>| path.as_ref().map(|path| read_labels(path)).transpose();
        let splits = codes(splits)?;
        if let Some(count) = splits
            .as_ref()
            .map(Labels::classes)
            .filter(|count| !(2..=MOST_SPLITS).contains(count))
        {
            bail!("--splits has {count} splits; give from 2 to {MOST_SPLITS}, such as train and test");
        }
        Ok(Some(Twins {
            against: against.as_ref().map(|path| read_space(path)).transpose()?,
            splits,
            labels: codes(labels)?,
            near: near.unwrap_or(NEAR),
            within: near.is_some(),
        }))
    }

    /// What there is to be said of an array.
    pub fn of(&self, path: &str) -> Result<Said> {
        let (space, driver) = (read_space(path)?, Driver::silent(Order::Parallel));
        let mut said = Said::default();
        if let Some(reference) = &self.against {
            let found = leaks(&space, reference, self.near, &driver)?;
            said.problems
                .extend(leaked(&found, space.rows(), reference.name(), |row| row, |row| row));
            if found.exact.is_empty() && found.near.is_empty() {
                let near = found.threshold.map_or(String::new(), |threshold| {
                    format!(", and none is closer to one than {}", number(threshold))
                });
                said.remarks
                    .push(format!("no row occurs in {}{near}", reference.name()));
            }
        }
        if let Some(splits) = &self.splits {
            self.between_splits(&space, splits, &mut said, &driver)?;
        }
        if let Some(labels) = &self.labels {
            same_rows(labels, &space, "--labels")?;
            let found = repeats(&space, self.near, &driver)?;
            let name = |row: usize| &labels.names()[labels.codes()[row] as usize];
            let is_mixed = |twin: &&Twin| name(twin.row) != name(twin.of);
            for (twins, what) in [(&found.exact, "equal"), (&found.near, "are near")] {
                let mixed: Vec<Twin> = twins.iter().filter(is_mixed).copied().collect();
                if !mixed.is_empty() {
                    let rows = counted(mixed.len());
                    let pairs = listed(&mixed, |row| format!("{row} ({})", name(row)));
                    said.remarks
                        .push(format!("{rows} that {what} a row with another label: {pairs}"));
                }
            }
        }
        if self.within && self.labels.is_none() {
            let found = repeats(&space, self.near, &driver)?;
            if let (Some(threshold), false) = (found.threshold, found.near.is_empty()) {
                let pairs = listed(&found.near, |row| row.to_string());
                let (rows, threshold) = (counted(found.near.len()), number(threshold));
                said.remarks
                    .push(format!("{rows} closer than {threshold} to another row: {pairs}"));
            }
        }
        Ok(said)
    }

    /// Every two splits of one array.
    fn between_splits(&self, space: &Space, splits: &Labels, said: &mut Said, driver: &Driver) -> Result<()> {
        same_rows(splits, space, "--splits")?;
        let rows_of = |code: usize| -> Vec<usize> {
            let codes = splits.codes().iter().enumerate();
            codes
                .filter(|(_, own)| **own as usize == code)
                .map(|(row, _)| row)
                .collect()
        };
        // The largest split is the one that others leak from.
        let mut order: Vec<usize> = (0..splits.classes()).collect();
        order.sort_by_key(|&code| std::cmp::Reverse(splits.counts()[code]));
        for (place, &first) in order.iter().enumerate() {
            for &second in &order[place + 1..] {
                let [from, into] = [first, second].map(rows_of);
                let found = leaks(&space.select(&into)?, &space.select(&from)?, self.near, driver)?;
                let [from_name, into_name] = [first, second].map(|code| &splits.names()[code]);
                let texts = leaked(&found, into.len(), from_name, |row| into[row], |row| from[row]);
                said.problems
                    .extend(texts.into_iter().map(|text| format!("split {into_name}: {text}")));
            }
        }
        Ok(())
    }
}

/// What is said of leaked rows, with their numbers in the file.
fn leaked(
    found: &Leaks,
    rows: usize,
    reference: &str,
    row: impl Fn(usize) -> usize,
    of: impl Fn(usize) -> usize,
) -> Vec<String> {
    let named = |twins: &[Twin]| {
        let twins: Vec<Twin> = twins
            .iter()
            .map(|twin| Twin {
                row: row(twin.row),
                of: of(twin.of),
                ..*twin
            })
            .collect();
        listed(&twins, |row| row.to_string())
    };
    let share = |count: usize| format!("{} of {rows} rows ({:.2} %)", count, 100.0 * count as f64 / rows as f64);
    let mut texts = Vec::new();
    if !found.exact.is_empty() {
        let (share, pairs) = (share(found.exact.len()), named(&found.exact));
        texts.push(format!("{share} occur in {reference}: {pairs}"));
    }
    if let (Some((threshold, typical)), false) = (found.threshold.zip(found.typical), found.near.is_empty()) {
        let (share, pairs) = (share(found.near.len()), named(&found.near));
        texts.push(format!(
            "{share} are near copies of rows of {reference}, closer than {} (neighbors there are usually {} apart, and {:.2} % as near as \
             this): {pairs}",
            number(threshold),
            number(typical),
            100.0 * found.usual
        ));
    }
    texts
}

/// The first pairs: `row 3 is row 17`.
fn listed(twins: &[Twin], name: impl Fn(usize) -> String) -> String {
    let pair = |twin: &Twin| match twin.distance {
        0.0 => format!("row {} is row {}", name(twin.row), name(twin.of)),
        distance => format!(
            "row {} is {} from row {}",
            name(twin.row),
            number(distance),
            name(twin.of)
        ),
    };
    let more = if twins.len() > LISTED { " …" } else { "" };
    twins.iter().take(LISTED).map(pair).collect::<Vec<_>>().join(", ") + more
}

fn counted(rows: usize) -> String {
    format!("{rows} {}", if rows == 1 { "row" } else { "rows" })
}

fn same_rows(labels: &Labels, space: &Space, option: &str) -> Result<()> {
    let (given, rows) = (labels.rows(), space.rows());
    if given != rows {
        bail!(
            "{option} has {given} rows but {} has {rows}; give one per row",
            space.name()
        );
    }
    Ok(())
}

fn read_space(path: &str) -> Result<Space> {
    let array = read_array(&InputPath::parse(path))?;
    array.into_space(path, Pool::Last).with_context(|| path.to_string())
}

fn read_labels(path: &str) -> Result<Labels> {
    Ok(read_array(&InputPath::parse(path))?.into_labels(path)?)
}
