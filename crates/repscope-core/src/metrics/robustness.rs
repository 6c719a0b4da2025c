// SPDX-License-Identifier: MIT
//! Robustness: how far noise in what the model sees moves its embeddings. See the page.

use std::collections::BTreeMap;

use super::{Analysis, Invariance, Metric, Output, Results, Takes, Work};
use crate::data::{NoiseLevel, Space};
use crate::error::Result;
use crate::plan::Shared;
use crate::score::{Breakdown, Interval, SampleTable, Score};
use crate::stats::interval::{self, Units};

pub(super) static METRIC: Metric = Metric {
    id: "robustness",
    title: "Robustness",
    outputs: &[
        Output::lower("robustness@SIGMA", "0 and above")
            .about("mean distance between embeddings of clean and noisy inputs")
            .in_units_of_the_embeddings()
            .best_when_constant(),
        Output::lower("robustness.auc", "0 and above")
            .about("area under that distance from no noise to the strongest level, divided by that level")
            .in_units_of_the_embeddings()
            .best_when_constant(),
        Output::lower("robustness.unit@SIGMA", "0 to 2")
            .about("the same on unit-length embeddings")
            .best_when_constant()
            .column("Unit_Mean_Distance"),
        Output::lower("robustness.unit.auc", "0 to 2")
            .about("area under that distance from no noise to the strongest level, divided by that level")
            .best_when_constant(),
        Output::lower("robustness.scaled@SIGMA", "0 and above")
            .about("distance divided by the typical distance between two clean embeddings")
            .column("Scaled_Mean_Distance"),
        Output::lower("robustness.scaled.auc", "0 and above")
            .about("area under that distance from no noise to the strongest level, divided by that level"),
    ],
    page: include_str!("robustness.md"),
    invariances: &[Invariance::Rotation, Invariance::RowOrder],
    options: &["kind", "noise", "draws", "clamp"],
    ..Metric::of(
        Analysis::Robustness,
        &[Takes::States, Takes::Encoder],
        Work::Study {
            needs: |_, _| Ok(Vec::new()),
            compute,
        },
    )
};

/// The distances of all samples at one level, or why there are none.
type Distances = std::result::Result<Vec<f64>, String>;

/// Embeddings whose typical distance is below this share of their typical length are nearly one point.
const COLLAPSED: f64 = 0.01;

fn compute(shared: &Shared) -> Result<Results> {
    let study = shared.study;
    let levels = study.noise.as_ref().map_or(&[][..], |noise| &noise.levels);
    let mut answer = Results::default();
    if levels.is_empty() {
        let reason = "needs embeddings of noisy inputs, or an encoder and its inputs";
        let ids = METRIC.outputs.iter().map(|output| output.id.trim_end_matches("@SIGMA"));
        let undefined = |id| Score::undefined(id, reason, study.embeddings.rows());
        answer.scores.extend(ids.map(undefined));
        return Ok(answer);
    }
    let spread = Spread::of(&study.embeddings, shared.row_units());
    let (typical, length) = (spread.distance, spread.length);
    let no_scale = "the embeddings have no variance: a model that gives everything one embedding is perfectly robust";
    let scaled = |level: &NoiseLevel| {
        let moves = || level.moves.raw.iter().map(|d| d / typical).collect();
        (typical > 0.0).then(moves).ok_or_else(|| no_scale.to_string())
    };
    let families: [(&str, Vec<Distances>); 3] = [
        ("robustness", levels.iter().map(|l| Ok(l.moves.raw.clone())).collect()),
        ("robustness.unit", levels.iter().map(of_unit_length).collect()),
        ("robustness.scaled", levels.iter().map(scaled).collect()),
    ];
    for (family, of_levels) in &families {
        // Another sample has another typical distance, too.
        let scale = (*family == "robustness.scaled").then_some(&spread);
        for (level, distances) in levels.iter().zip(of_levels) {
            let score = mean_score(&format!("{family}@{}", level.name), distances, scale, shared);
            answer.scores.push(score);
        }
        let score = mean_score(&format!("{family}.auc"), &areas(levels, of_levels), scale, shared);
        answer.scores.push(score);
    }
    answer.breakdowns.push(summary(levels, &families));
    let columns = levels.iter().flat_map(|level| {
        let raw = level.moves.raw.iter().copied().map(Some).collect();
        let unit = (format!("robustness.unit@{}", level.name), level.moves.unit.clone());
        [(format!("robustness@{}", level.name), raw), unit]
    });
    answer.samples.push(SampleTable::new("robustness", columns.collect()));
    if typical <= COLLAPSED * length {
        answer.warnings.push(format!(
            "{}: two codes are typically {typical:.2e} apart and {length:.2e} long: nearly one point for all inputs, which \
             noise cannot move; small distances do not mean robustness here",
            study.model
        ));
    }
    Ok(answer)
}

/// The distances on unit-length embeddings, or why there are none.
fn of_unit_length(level: &NoiseLevel) -> Distances {
    let all = level.moves.unit.len();
    let known: Vec<f64> = level.moves.unit.iter().copied().flatten().collect();
    match all - known.len() {
        0 => Ok(known),
        without => Err(format!(
            "{without} of {all} embeddings (clean or noisy) have length zero, which has no direction"
        )),
    }
}

/// The mean distance. Where distances are divided by the typical one, rows that this depends on count for that as well.
fn mean_score(id: &str, distances: &Distances, scale: Option<&Spread>, shared: &Shared) -> Score {
    match distances {
        Ok(distances) => {
            let (mean, units, level) = (interval::mean(distances), shared.row_units(), shared.spec.level);
            let interval = match scale {
                None => interval::of_mean(distances, units, level),
                Some(spread) => of_ratio(mean, distances, spread, units, level),
            };
            Score::number(id, mean, distances.len()).with_interval(interval)
        }
        Err(reason) => Score::undefined(id, reason, shared.study.embeddings.rows()),
    }
}

/// The jackknife of the logarithm of a mean distance that is divided by the typical distance of all embeddings: without the rows of a
/// unit, both change.
fn of_ratio(mean: f64, distances: &[f64], spread: &Spread, units: Units, level: f64) -> Option<Interval> {
    let n = distances.len() as f64;
    let total: f64 = spread.squares.iter().sum();
    let of_units = units.sums(distances).into_iter().zip(units.sums(&spread.squares));
    let without = of_units
        .zip(&spread.squared_sums)
        .map(|(((sum, count), (squares, _)), together)| {
            let left = n - count;
            let squares = total - squares - together / left;
            let ratio = (total / (n - 1.0)) / (squares / (left - 1.0));
            ((mean * n - sum) / left).ln() + 0.5 * ratio.ln()
        });
    let without: Vec<f64> = without.collect();
    // One unit alone moves, or varies: then it is known no better than the mean.
    if mean <= 0.0 || without.iter().any(|log| !log.is_finite()) {
        return interval::of_mean(distances, units, level);
    }
    Some(interval::jackknife(mean.ln(), &without, units.name(), level)?.of_exp(mean))
}

/// The area under each sample's distances from strength 0, where they are 0, to the strongest, divided by that strength.
fn areas(levels: &[NoiseLevel], of_levels: &[Distances]) -> Distances {
    let mut places: Vec<usize> = (0..levels.len()).collect();
    places.sort_by(|&a, &b| levels[a].strength.total_cmp(&levels[b].strength));
    let Some(strongest) = places.last().map(|&p| levels[p].strength).filter(|s| *s > 0.0) else {
        return Err("the levels of noise are not above 0".to_string());
    };
    let mut areas: Vec<f64> = Vec::new();
    let (mut from, mut lower): (f64, &[f64]) = (0.0, &[]);
    for place in places {
        let strength = levels[place].strength;
        let distances = of_levels[place].as_ref().map_err(String::clone)?;
        areas.resize(distances.len(), 0.0);
        for (i, area) in areas.iter_mut().enumerate() {
            let start = lower.get(i).copied().unwrap_or(0.0);
            *area += (strength - from) * f64::midpoint(start, distances[i]) / strongest;
        }
        (from, lower) = (strength, distances);
    }
    Ok(areas)
}

/// How far embeddings are apart.
struct Spread {
    /// The root mean squared distance between two embeddings, √(2 Σ variance).
    distance: f64,
    /// The root mean squared length.
    length: f64,
    /// The squared distance of each embedding from the mean.
    squares: Vec<f64>,
    /// The squared length of the sum of the distances from the mean, as vectors, of each unit.
    squared_sums: Vec<f64>,
}

impl Spread {
    fn of(codes: &Space, units: Units) -> Self {
        let (n, d) = (codes.rows() as f64, codes.columns());
        let mut row = vec![0.0; d];
        let mut origin = vec![0.0; d];
        codes.read_row(0, &mut origin);
        // From the first row, so that a large offset costs no digits.
        let (mut mean, mut lengths) = (vec![0.0; d], 0.0);
        for i in 0..codes.rows() {
            codes.read_row(i, &mut row);
            lengths += row.iter().map(|x| x * x).sum::<f64>();
            let parts = row.iter().zip(&origin).zip(&mut mean);
            parts.for_each(|((x, o), mean)| *mean += (x - o) / n);
        }
        let mut sums: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        let squares = (0..codes.rows()).map(|i| {
            codes.read_row(i, &mut row);
            let parts = row.iter_mut().zip(&origin).zip(&mean);
            parts.for_each(|((x, o), mean)| *x -= o + mean);
            if let Units::Groups(groups, _) = units {
                let sum = sums.entry(groups[i]).or_insert_with(|| vec![0.0; d]);
                sum.iter_mut().zip(&row).for_each(|(sum, x)| *sum += x);
            }
            row.iter().map(|x| x * x).sum::<f64>()
        });
        let squares: Vec<f64> = squares.collect();
        let squared_sums = match units {
            Units::Single(_) => squares.clone(),
            Units::Groups(..) => sums.values().map(|sum| sum.iter().map(|x| x * x).sum()).collect(),
        };
        // Two different rows: N − 1 in the denominator.
        let variance = if n > 1.0 {
            squares.iter().sum::<f64>() / (n - 1.0)
        } else {
            0.0
        };
        Spread {
            distance: (2.0 * variance).sqrt(),
            length: (lengths / n).sqrt(),
            squares,
            squared_sums,
        }
    }
}

/// Mean, standard error, standard deviation (ddof 0, as in the document's summary), extremes and median of each level.
fn summary(levels: &[NoiseLevel], families: &[(&str, Vec<Distances>)]) -> Breakdown {
    const COLUMNS: [&str; 7] = ["mean", "standard_error", "std", "min", "max", "median", "samples"];
    let mut lines = Vec::new();
    for (family, of_levels) in families {
        for (level, distances) in levels.iter().zip(of_levels) {
            lines.push((*family, level, distances.as_ref().ok().map(|d| describe(d))));
        }
    }
    let mut table = Breakdown::of("robustness", &lines)
        .key("distance", |(family, ..)| family.to_string())
        .key("level", |(_, level, _)| level.name.clone());
    for (at, name) in COLUMNS.iter().enumerate() {
        table = table.column(name, |(.., numbers)| numbers.map(|numbers| numbers[at]));
    }
    table.table
}

fn describe(distances: &[f64]) -> [f64; 7] {
    let n = distances.len() as f64;
    let mean = interval::mean(distances);
    let std = (distances.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / n).sqrt();
    let mut sorted = distances.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    let median = match sorted.len() % 2 {
        0 => f64::midpoint(sorted[middle - 1], sorted[middle]),
        _ => sorted[middle],
    };
    let (least, most) = (sorted[0], sorted[sorted.len() - 1]);
    [mean, std / n.sqrt(), std, least, most, median, n]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Moves;

    fn level(strength: f64, raw: &[f64]) -> NoiseLevel {
        NoiseLevel {
            name: strength.to_string(),
            strength,
            moves: Moves {
                raw: raw.to_vec(),
                unit: raw.iter().copied().map(Some).collect(),
            },
        }
    }

    #[test]
    fn the_area_starts_at_no_noise_and_takes_levels_in_order() {
        let levels = [level(0.2, &[3.0]), level(0.1, &[1.0])];
        let of_levels = [Ok(vec![3.0]), Ok(vec![1.0])];
        // 0.1 · (0 + 1)/2 + 0.1 · (1 + 3)/2 = 0.25, over 0.2.
        assert!((areas(&levels, &of_levels).unwrap()[0] - 1.25).abs() < 1e-12);
    }

    #[test]
    fn the_typical_distance_is_the_root_mean_square_over_all_pairs() {
        // 0, 1, 5: squared distances 1, 25, 16, mean 14.
        let codes = Space::from_f64("z", 3, 1, vec![0.0, 1.0, 5.0]).unwrap();
        let Spread {
            distance,
            length,
            squares,
            squared_sums,
        } = Spread::of(&codes, Units::Groups(&[4, 2, 4], "episodes"));
        // Deviations −2, −1, 3; by group, in the order of their codes, −1 and 1.
        assert!((squared_sums[0] - 1.0).abs() < 1e-12 && (squared_sums[1] - 1.0).abs() < 1e-12);
        assert!((distance - 14f64.sqrt()).abs() < 1e-12 && (length - (26.0f64 / 3.0).sqrt()).abs() < 1e-12);
        assert!((squares[2] - 9.0).abs() < 1e-12);
    }

    #[test]
    fn the_interval_of_a_scaled_distance_is_the_jackknife_of_its_logarithm() {
        let (values, moves) = ([0.0, 1.0, 5.0, 2.0, 9.0, 4.0], [0.3, 0.5, 0.2, 0.9, 0.1, 0.4]);
        // Divided by √(2 · variance) of the embeddings that are left.
        let scaled = |rows: &[usize]| {
            let of = |list: &[f64]| rows.iter().map(|&i| list[i]).collect::<Vec<f64>>();
            let (kept, moved) = (of(&values), of(&moves));
            let center = interval::mean(&kept);
            let variance = kept.iter().map(|x| (x - center).powi(2)).sum::<f64>() / (rows.len() as f64 - 1.0);
            interval::mean(&moved) / (2.0 * variance).sqrt()
        };
        let all: Vec<usize> = (0..6).collect();
        for units in [Units::Single("rows"), Units::Groups(&[7, 3, 3, 7, 3, 5], "episodes")] {
            let members = match units {
                Units::Single(_) => all.iter().map(|&i| vec![i]).collect(),
                Units::Groups(..) => vec![vec![1, 2, 4], vec![5], vec![0, 3]],
            };
            let left = |out: &Vec<usize>| scaled(&all.iter().copied().filter(|i| !out.contains(i)).collect::<Vec<_>>());
            let without: Vec<f64> = members.iter().map(|out| left(out).ln()).collect();
            let value = scaled(&all);
            let expected = interval::jackknife(value.ln(), &without, "rows", 0.95).unwrap();
            let spread = Spread::of(&Space::from_f64("z", 6, 1, values.to_vec()).unwrap(), units);
            let distances: Vec<f64> = moves.iter().map(|d| d / spread.distance).collect();
            let found = of_ratio(value, &distances, &spread, units, 0.95).unwrap();
            assert!((found.low.ln() - expected.low).abs() < 1e-12 && (found.high.ln() - expected.high).abs() < 1e-12);
        }
    }

    #[test]
    fn the_summary_of_four_distances_is_numpys() {
        // numpy 2.3: mean, std / sqrt(n), std (ddof 0), min, max, median of 1, 2, 3, 6.
        let found = describe(&[3.0, 1.0, 6.0, 2.0]);
        let expected = [
            3.0,
            0.935_414_346_693_485_3,
            1.870_828_693_386_970_7,
            1.0,
            6.0,
            2.5,
            4.0,
        ];
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
    }
}
