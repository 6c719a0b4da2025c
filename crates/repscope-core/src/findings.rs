// SPDX-License-Identifier: MIT
//! What is wrong with the data or with a model, and must be known before any of its numbers is read.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::blocks;
use crate::data::{Labels, Pairs, Slice, Space, Study};
use crate::error::Result;
use crate::leaks::equal_rows;
use crate::run::{Driver, Order};

/// What kind of trouble it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Trouble {
    /// The model gives nearly the same embedding for all inputs, or fills one direction only. It wins nothing.
    Collapsed,
    /// Many rows are copies of others.
    Duplicates,
    /// Embeddings of very different lengths.
    Scale,
    /// Labels from which nothing can be learned.
    Labels,
    /// Too few rows to conclude anything.
    Rows,
    /// Models of different numbers of columns, and scores that change with it: nobody wins by them.
    Columns,
    /// Rows whose order does not mean what an analysis takes it to mean.
    Order,
    /// Consecutive inputs that do not follow each other: smoothness says nothing about them, and nobody wins by it.
    Unordered,
    /// Embeddings that are compared with each other but may not lie in one space.
    Space,
}

/// Something that is wrong, in a sentence with its numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// What kind of trouble it is.
    pub trouble: Trouble,
    /// The model that it speaks of; none where it speaks of the data.
    pub model: Option<String>,
    /// The sentence, without the name of the model.
    pub text: String,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.model {
            Some(model) => write!(f, "{model} {}", self.text),
            None => f.write_str(&self.text),
        }
    }
}

/// What stands before the evidence.
pub(crate) const HAS_COLLAPSED: &str = "has collapsed: it ";
/// How many rows the spread of embeddings is taken from, evenly spaced.
const LOOKED_AT: usize = 500;
/// How many rows are searched for copies, from the first one on.
const SEARCHED: usize = 200_000;
/// Embeddings whose spread is below this share of their length are nearly one point.
const NEARLY_CONSTANT: f64 = 0.01;
/// Below this share they are one point, but for rounding.
const ROUNDING: f64 = 1e-12;
/// Embeddings with more than this share of their variance along one direction are nearly a line.
const NEARLY_A_LINE: f64 = 0.95;
/// From this share of copies on they are worth a word, and beyond the second one the model has collapsed.
const COPIES: [f64; 2] = [0.1, 0.9];
/// Fewer rows than this support no conclusion.
const FEW_ROWS: usize = 50;
/// Fewer rows than this do not show whether an encoder has collapsed.
const FEWEST_ROWS: usize = 10;
/// Embeddings whose lengths differ by more than this factor.
const SCALES: f64 = 10.0;
/// Consecutive inputs at more than this share of the distance between random ones have no order.
const UNORDERED: f64 = 0.9;

/// What is wrong with the studies of a run. All have the same rows.
///
/// Fails only where rows are elsewhere and cannot be read.
pub fn examine(studies: &[Study]) -> Result<Vec<Finding>> {
    let Some(first) = studies.first() else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    let mut say = |trouble, model: Option<&str>, text| {
        found.push(Finding {
            trouble,
            model: model.map(str::to_string),
            text,
        });
    };
    let looks: Vec<Look> = studies
        .iter()
        .map(|study| Look::at(&study.embeddings))
        .collect::<Result<_>>()?;
    for (study, look) in studies.iter().zip(&looks) {
        let (copies, rows) = (copies(&study.embeddings)?, study.embeddings.rows().min(SEARCHED));
        let share = copies as f64 / rows as f64;
        let look = Some(look).filter(|_| study.embeddings.rows() >= FEWEST_ROWS);
        let constant = look.and_then(Look::constant);
        let (is_constant, are_most) = (constant.is_some(), share > COPIES[1]);
        // Few distinct rows fill few directions: that they are copies says more.
        let repeated = || {
            let (percent, distinct) = (100.0 * share, rows - copies);
            let what = format!(
                "gives the same embedding again for {percent:.0} % of the rows: {distinct} of {rows} are distinct"
            );
            are_most.then_some(what)
        };
        let collapse = constant.or_else(repeated).or_else(|| look.and_then(Look::collapse));
        if let Some(text) = &collapse {
            let text = format!("{HAS_COLLAPSED}{text}");
            say(Trouble::Collapsed, Some(&study.model), text);
        }
        if let Some(reference) = study.reference.as_deref().filter(|_| !is_constant) {
            let equal = equal_rows(&study.embeddings, &reference.embeddings);
            let rows = study.embeddings.rows();
            if equal > 0 {
                let text = format!("has {equal} of {rows} rows that equal rows of the reference: these show no drift");
                say(Trouble::Duplicates, Some(&study.model), text);
            }
        }
        if share >= COPIES[0] && !is_constant && !are_most {
            let text = format!("has {copies} rows among {rows} that are exact copies of other rows");
            say(Trouble::Duplicates, Some(&study.model), text);
        }
    }
    let by_length = |a: &usize, b: &usize| looks[*a].length.total_cmp(&looks[*b].length);
    // Embeddings of length 0 have no scale.
    let scaled = || (0..studies.len()).filter(|&i| looks[i].length > 0.0);
    let (shortest, longest) = (
        scaled().min_by(by_length).unwrap_or(0),
        scaled().max_by(by_length).unwrap_or(0),
    );
    if looks[longest].length > SCALES * looks[shortest].length {
        let text = format!(
            "embeddings have different scales, from a typical length of {:.3} ({}) to {:.3} ({}): scores in their units are not \
             compared",
            looks[shortest].length, studies[shortest].model, looks[longest].length, studies[longest].model
        );
        say(Trouble::Scale, None, text);
    }
    let rows = first.embeddings.rows();
    if rows < FEW_ROWS {
        let what = if rows == 1 { "row" } else { "rows" };
        let text = format!("only {rows} {what}: with fewer than {FEW_ROWS} hardly any difference can be established");
        say(Trouble::Rows, None, text);
    }
    if let Some(text) = first.labels.as_deref().and_then(uninformative) {
        say(Trouble::Labels, None, text);
    }
    if let Some(text) = first.episodes.as_deref().and_then(interleaved) {
        say(Trouble::Order, None, text);
    }
    Ok(found)
}

/// What is wrong with the order of the inputs, where steps from one to the next are looked at.
pub fn examine_order(inputs: &Space, pairs: &Pairs) -> Vec<Finding> {
    let finding = |trouble, text| Finding {
        trouble,
        model: None,
        text,
    };
    let (rows, count) = (inputs.rows(), pairs.rows.len());
    let few = (2 * count < rows).then(|| {
        let text =
            format!("only {count} steps within episodes are left of {rows} rows: most episodes have a single row");
        finding(Trouble::Order, text)
    });
    let unordered = unordered(inputs, pairs).map(|text| finding(Trouble::Unordered, text));
    few.into_iter().chain(unordered).collect()
}

/// Why consecutive inputs do not follow each other.
fn unordered(inputs: &Space, pairs: &Pairs) -> Option<String> {
    let distance = |a: usize, b: usize| {
        let (mut x, mut y) = (vec![0.0; inputs.columns()], vec![0.0; inputs.columns()]);
        inputs.read_row(a, &mut x);
        inputs.read_row(b, &mut y);
        let squares = x.iter().zip(&y).map(|(x, y)| (x - y) * (x - y));
        squares.sum::<f64>().sqrt()
    };
    let looked_at: Vec<&(u32, u32)> = evenly(pairs.rows.len()).map(|i| &pairs.rows[i]).collect();
    let count = looked_at.len();
    if count < FEW_ROWS {
        return None;
    }
    let steps: f64 = looked_at.iter().map(|(a, b)| distance(*a as usize, *b as usize)).sum();
    // Each first row with a second row from half the data away.
    let partner = |i: usize| looked_at[(i + count / 2) % count].1 as usize;
    let far: f64 = (0..count).map(|i| distance(looked_at[i].0 as usize, partner(i))).sum();
    (steps > UNORDERED * far).then(|| {
        format!(
            "consecutive inputs are {:.0} % as far apart as inputs taken at random: rows without an order say nothing about \
             smoothness",
            100.0 * steps / far
        )
    })
}

/// The spread of some rows.
struct Look {
    columns: usize,
    /// Length of the mean row, root mean squared distance from it, and root mean squared length.
    mean: f64,
    spread: f64,
    length: f64,
    /// (Σλ)²/Σλ² of the eigenvalues of the covariance.
    directions: f64,
}

impl Look {
    fn at(space: &Space) -> Result<Look> {
        let d = space.columns();
        let mut rows: Vec<usize> = evenly(space.rows()).collect();
        let brought = match space.elsewhere() {
            None => None,
            Some(matrix) => {
                let places: Vec<u32> = rows.iter().map(|row| *row as u32).collect();
                rows = (0..rows.len()).collect();
                Some(blocks::some_rows(matrix, space.name(), &places, &quiet())?)
            }
        };
        let space = brought.as_ref().unwrap_or(space);
        let n = rows.len() as f64;
        let mut values = vec![0.0; rows.len() * d];
        for (out, &row) in values.chunks_mut(d).zip(&rows) {
            space.read_row(row, out);
        }
        let mut mean = vec![0.0; d];
        for row in values.chunks(d) {
            mean.iter_mut().zip(row).for_each(|(m, v)| *m += v / n);
        }
        for row in values.chunks_mut(d) {
            row.iter_mut().zip(&mean).for_each(|(v, m)| *v -= m);
        }
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        // The Gram matrix of the rows has the eigenvalues of their covariance.
        let (mut trace, mut squares) = (0.0, 0.0);
        for (i, a) in values.chunks(d).enumerate() {
            trace += dot(a, a);
            for b in values.chunks(d).take(i) {
                squares += 2.0 * dot(a, b).powi(2);
            }
            squares += dot(a, a).powi(2);
        }
        let mean = dot(&mean, &mean).sqrt();
        Ok(Look {
            columns: d,
            mean,
            spread: (trace / n).sqrt(),
            length: (mean * mean + trace / n).sqrt(),
            directions: if squares > 0.0 { trace * trace / squares } else { 0.0 },
        })
    }

    /// Why these embeddings are those of an encoder that knows one point only.
    fn constant(&self) -> Option<String> {
        (self.spread <= ROUNDING * self.mean).then(|| "gives the same embedding for all rows".to_string())
    }

    /// Why these embeddings, which are not all the same, are those of a collapsed encoder.
    fn collapse(&self) -> Option<String> {
        if self.spread < NEARLY_CONSTANT * self.mean {
            let share = 100.0 * self.spread / self.mean;
            return Some(format!(
                "gives nearly the same embedding for all rows (they differ by {share:.2} % of their length)"
            ));
        }
        // With one direction of share s and the rest spread thinly, (Σλ)²/Σλ² is about 1/s².
        let share = 1.0 / self.directions.sqrt();
        (self.columns > 2 && share > NEARLY_A_LINE)
            .then(|| format!("uses one direction for {:.1} % of its variance", 100.0 * share))
    }
}

/// Up to [`LOOKED_AT`] places among `count`, evenly spaced.
fn evenly(count: usize) -> impl Iterator<Item = usize> {
    let taken = count.min(LOOKED_AT);
    (0..taken).map(move |i| i * count / taken)
}

/// How many of the rows searched are copies of an earlier one.
fn copies(space: &Space) -> Result<usize> {
    let rows = space.rows().min(SEARCHED);
    let distinct: HashSet<[u64; 2]> = match space.elsewhere() {
        None => digests(space, rows).collect(),
        Some(matrix) => blocks::digests(matrix, rows, &quiet())?.into_iter().collect(),
    };
    Ok(rows - distinct.len())
}

/// Digests of the first rows.
pub(crate) fn digests(space: &Space, rows: usize) -> impl Iterator<Item = [u64; 2]> {
    let d = space.columns();
    // Adding 0 turns −0 into 0.
    (0..rows).map(move |row| match space.slice() {
        Slice::F32(v) => digest(v[row * d..][..d].iter().map(|x| u64::from((x + 0.0).to_bits()))),
        Slice::F64(v) => digest(v[row * d..][..d].iter().map(|x| (x + 0.0).to_bits())),
    })
}

fn quiet() -> Driver<'static> {
    Driver::silent(Order::Parallel)
}

/// 128 bits that differ for rows that differ, but for an accident of one in 10³⁸.
pub(crate) fn digest(bits: impl Iterator<Item = u64>) -> [u64; 2] {
    let mix = |hash: u64, word: u64, factor: u64| {
        let product = u128::from(hash ^ word) * u128::from(factor);
        (product as u64) ^ ((product >> 64) as u64).rotate_left(23)
    };
    bits.fold([0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344], |[a, b], word| {
        [
            mix(a, word, 0x9e37_79b9_7f4a_7c15),
            mix(b, word ^ a, 0xd6e8_feb8_6659_fd93),
        ]
    })
}

/// Why these labels say nothing.
fn uninformative(labels: &Labels) -> Option<String> {
    let (rows, classes) = (
        labels.rows(),
        labels.counts().iter().filter(|count| **count > 0).count(),
    );
    match classes {
        0 | 1 => Some("all rows have the same label: there are no classes to tell apart".to_string()),
        _ if 2 * classes > rows => Some(format!(
            "there are {classes} labels for {rows} rows: most rows have a label of their own, so scores by label mean nothing"
        )),
        _ => None,
    }
}

/// Why rows of one episode are not a sequence.
fn interleaved(episodes: &Labels) -> Option<String> {
    let runs = episodes.codes().chunk_by(|a, b| a == b).count();
    let count = episodes.counts().iter().filter(|rows| **rows > 0).count();
    (runs > count).then(|| {
        format!("rows of one episode do not stand together: {count} episodes come in {runs} pieces, and a step is taken within a piece only")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn study(model: &str, rows: usize, d: usize, value: impl Fn(usize, usize) -> f64) -> Study {
        let values = (0..rows * d).map(|i| value(i / d, i % d)).collect();
        Study::new(model, Space::from_f64(model, rows, d, values).expect("finite numbers"))
    }

    /// Numbers without a pattern.
    fn noise(row: usize, column: usize) -> f64 {
        let mut mixed = (row * 1_000_003 + column * 7919 + 13) as u64;
        for factor in [0x9e37_79b9_7f4a_7c15, 0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb] {
            mixed = (mixed ^ (mixed >> 31)).wrapping_mul(factor);
        }
        mixed ^= mixed >> 29;
        (mixed >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    }

    fn troubles(studies: &[Study]) -> Vec<Trouble> {
        examine(studies)
            .unwrap()
            .iter()
            .map(|finding| finding.trouble)
            .collect()
    }

    #[test]
    fn nothing_is_wrong_with_plain_embeddings() {
        assert_eq!(
            examine(&[study("a", 300, 8, noise), study("b", 300, 16, noise)]),
            Ok(vec![])
        );
    }

    #[test]
    fn a_collapsed_encoder_is_found_however_it_collapsed() {
        let constant = study("a", 100, 4, |_, c| c as f64);
        let nearly = study("a", 100, 4, |r, c| 1.0 + 1e-4 * noise(r, c));
        let line = study("a", 100, 8, |r, c| noise(r, 0) * (c + 1) as f64 + 0.01 * noise(r, c));
        let repeated = study("a", 300, 8, |r, c| noise(r % 20, c));
        let two = study("a", 60, 8, |r, c| noise(r % 2, c));
        for (study, word) in [
            (constant, "the same embedding for all rows"),
            (nearly, "nearly the same embedding"),
            (line, "one direction"),
            (repeated, "again for 93 % of the rows: 20 of 300 are distinct"),
            (two, "again for 97 % of the rows: 2 of 60 are distinct"),
        ] {
            let found = examine(&[study]).unwrap();
            assert_eq!(found.len(), 1, "{found:?}");
            assert_eq!(found[0].trouble, Trouble::Collapsed);
            assert!(
                found[0].to_string().starts_with("a has collapsed: it ") && found[0].text.contains(word),
                "{found:?}"
            );
        }
    }

    #[test]
    fn a_few_rows_do_not_tell_whether_an_encoder_has_collapsed() {
        for rows in [1, 2, 5] {
            let found = examine(&[study("a", rows, 4, noise)]).unwrap();
            assert!(found.len() == 1 && found[0].trouble == Trouble::Rows, "{found:?}");
        }
        let nothing = study("a", 60, 4, |_, _| 0.0);
        assert_eq!(troubles(&[nothing, study("b", 60, 4, noise)]), [Trouble::Collapsed]);
    }

    #[test]
    fn copies_are_counted() {
        let some = study("a", 100, 4, |r, c| noise(r.max(30), c));
        let found = examine(&[some]).unwrap();
        assert_eq!(found[0].trouble, Trouble::Duplicates);
        assert!(found[0].text.contains("30 rows among 100"), "{found:?}");
    }

    #[test]
    fn copies_on_a_line_are_named_beside_the_line() {
        let line = study("a", 100, 4, |r, c| noise(r.max(30), 0) * (c + 1) as f64);
        assert_eq!(troubles(&[line]), [Trouble::Collapsed, Trouble::Duplicates]);
    }

    #[test]
    fn scales_and_few_rows_are_reported_with_their_numbers() {
        let small = study("a", 30, 4, noise);
        let large = study("b", 30, 4, |r, c| 50.0 * noise(r, c));
        assert_eq!(troubles(&[small, large]), [Trouble::Scale, Trouble::Rows]);
    }

    #[test]
    fn labels_without_classes_and_interleaved_episodes_are_reported() {
        let mut own = study("a", 60, 4, noise);
        own.labels = Some(std::sync::Arc::new(Labels::from_codes((0..60).collect(), 60)));
        own.episodes = Some(std::sync::Arc::new(Labels::from_codes(
            (0..60).map(|i| i % 3).collect(),
            3,
        )));
        assert_eq!(troubles(&[own.clone()]), [Trouble::Labels, Trouble::Order]);
        own.labels = Some(std::sync::Arc::new(Labels::from_codes(vec![0; 60], 1)));
        own.episodes = None;
        assert_eq!(troubles(&[own]), [Trouble::Labels]);
    }

    #[test]
    fn rows_in_random_order_have_no_steps() {
        let walk = study("a", 200, 4, |r, c| 0.05 * r as f64 + 0.01 * noise(r, c));
        let shuffled = study("a", 200, 4, noise);
        let pairs = Pairs::consecutive(200, None);
        assert_eq!(examine_order(&walk.embeddings, &pairs), []);
        let found = examine_order(&shuffled.embeddings, &pairs);
        assert!(found.len() == 1 && found[0].text.contains("at random"), "{found:?}");
        let short = Pairs::consecutive(
            200,
            Some(&Labels::from_codes((0..200).map(|i| i * 2 / 3).collect(), 134)),
        );
        let found = examine_order(&walk.embeddings, &short);
        assert!(found.len() == 1 && found[0].text.contains("only 67 steps"), "{found:?}");
    }
}
