// SPDX-License-Identifier: MIT
//! Names that come as a series: `epoch-1`, `epoch-2`, `epoch-10`, or `layer_00` to `layer_11`.

use crate::text::printable;

/// Fewer names than this are no series.
const FEWEST: usize = 3;
/// Numbers behind these words count what has no order.
const UNORDERED: [&str; 12] = [
    "seed",
    "run",
    "fold",
    "split",
    "trial",
    "repeat",
    "replicate",
    "rep",
    "init",
    "model",
    "encoder",
    "net",
];

/// What the names count, and the number of each.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Series {
    pub(super) label: String,
    pub(super) at: Vec<f64>,
}

impl Series {
    /// The series that these names are: the same words around one number that differs. `None` where they are none, or where the number
    /// has no order, as a seed has none.
    pub(super) fn of(names: &[&str]) -> Option<Series> {
        let parts: Vec<Vec<&str>> = names.iter().map(|name| pieces(name)).collect();
        let first = parts.first().filter(|_| names.len() >= FEWEST)?;
        let is_alike = |other: &Vec<&str>| {
            let mut both = other.iter().zip(first);
            other.len() == first.len() && both.all(|(a, b)| a == b || (is_number(a) && is_number(b)))
        };
        if !parts.iter().all(is_alike) {
            return None;
        }
        let differs = |at: &usize| {
            parts
                .iter()
                .any(|own| own[*at].parse::<f64>().ok() != first[*at].parse::<f64>().ok())
        };
        let differing: Vec<usize> = (0..first.len()).filter(differs).collect();
        let [place] = differing[..] else { return None };
        let at: Vec<f64> = parts.iter().filter_map(|own| own[place].parse().ok()).collect();
        let mut sorted = at.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.dedup();
        let label = label(first, place);
        let is_ordered = !UNORDERED.contains(&label.to_lowercase().trim_end_matches('s'));
        (sorted.len() == names.len() && is_ordered).then(|| Series {
            label: printable(&label),
            at,
        })
    }
}

/// The word before the number, or else behind it.
fn label(pieces: &[&str], place: usize) -> String {
    let word = |piece: Option<&&str>, is_last: bool| {
        let mut words = piece?
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty());
        let word = if is_last { words.next_back() } else { words.next() };
        word.map(str::to_string)
    };
    let before = place.checked_sub(1).and_then(|at| word(pieces.get(at), true));
    before
        .or_else(|| word(pieces.get(place + 1), false))
        .unwrap_or_else(|| "number".to_string())
}

fn is_number(piece: &str) -> bool {
    piece.starts_with(|c: char| c.is_ascii_digit())
}

/// The name cut before and behind each number.
fn pieces(name: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let is_digit = is_number(rest);
        let end = rest
            .find(|c: char| c.is_ascii_digit() != is_digit)
            .unwrap_or(rest.len());
        pieces.push(&rest[..end]);
        rest = &rest[end..];
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(names: &[&str]) -> Option<(String, Vec<f64>)> {
        Series::of(names).map(|series| (series.label, series.at))
    }

    #[test]
    fn a_stem_and_a_number_are_a_series() {
        assert_eq!(
            of(&["epoch-1", "epoch-2", "epoch-10"]),
            Some(("epoch".to_string(), vec![1.0, 2.0, 10.0]))
        );
        assert_eq!(
            of(&["vit16.layer_02", "vit16.layer_00", "vit16.layer_11"]),
            Some(("layer".to_string(), vec![2.0, 0.0, 11.0]))
        );
        assert_eq!(
            of(&["1k steps", "5k steps", "20k steps"]),
            Some(("k".to_string(), vec![1.0, 5.0, 20.0]))
        );
        assert_eq!(
            of(&["10", "20", "30"]),
            Some(("number".to_string(), vec![10.0, 20.0, 30.0]))
        );
    }

    #[test]
    fn other_names_are_none() {
        for names in [
            &["epoch-1", "epoch-2"][..],
            &["pca16", "tanh16", "noise16"],
            &["epoch1-seed1", "epoch2-seed2", "epoch3-seed3"],
            &["a1", "a01", "a2"],
            &["seed-1", "seed-2", "seed-3"],
            &["jepa", "mae", "dino"],
        ] {
            assert_eq!(of(names), None, "{names:?}");
        }
    }
}
