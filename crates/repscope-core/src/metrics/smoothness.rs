// SPDX-License-Identifier: MIT
//! Smoothness: do small steps of the input make small steps of the embedding? See the page.

use super::{Analysis, Invariance, Metric, Output, Results, Takes, Work};
use crate::data::Study;
use crate::error::{Error, Result, refuse_if};
use crate::plan::{Need, PairDistances, Shared};
use crate::score::{Better, SampleTable, Score};
use crate::spec::Spec;
use crate::stats::interval::{self, Units};
use std::ops::Range;

macro_rules! outputs {
    ($($part:literal $(=> $column:literal)?, $about:literal, $better:ident, $range:literal;)*) => {
        &[
            $(Output {
                // Of embeddings as they are, only r, r2 and p do not change with their scale.
                is_comparable: matches!($part.as_bytes(), b"r" | b"r2" | b"p"),
                is_best_when_constant: is_of_steps(Better::$better),
                function_of: if is_r2($part) { Some("smoothness.r") } else { None },
                $(column: Some($column),)?
                ..Output::new(concat!("smoothness.", $part), $about, Better::$better, $range)
            },)*
            $(Output {
                is_best_when_constant: is_of_steps(Better::$better),
                function_of: if is_r2($part) { Some("smoothness.unit.r") } else { None },
                ..Output::new(
                    concat!("smoothness.unit.", $part),
                    concat!($about, ", on unit-length embeddings"),
                    Better::$better,
                    $range,
                )
            },)*
        ]
    };
}

/// Slopes and ratios, of which less is better: an encoder that never moves has none.
const fn is_of_steps(better: Better) -> bool {
    matches!(better, Better::Lower)
}

const fn is_r2(part: &str) -> bool {
    matches!(part.as_bytes(), b"r2")
}

pub(super) static METRIC: Metric = Metric {
    id: "smoothness",
    title: "Smoothness",
    analysis: Analysis::Smoothness,
    outputs: outputs! {
        "slope" => "Regression_Slope", "slope of embedding distance on input distance", Lower, "any";
        "intercept" => "Regression_Intercept", "intercept of that line", Neither, "any";
        "r" => "R_Value", "Pearson correlation of the two distances", Higher, "−1 to 1";
        "r2" => "R_Squared", "share of variance the line explains", Higher, "0 to 1";
        "p" => "P_Value", "two-sided p-value of the slope", Neither, "0 to 1";
        "stderr" => "Std_Error", "standard error of the slope", Neither, "0 and above";
        "ratio_mean" => "Mean_Smoothness_Ratio", "mean of embedding distance / input distance", Lower, "0 and above";
        "ratio_std" => "Std_Smoothness_Ratio", "standard deviation of the ratios", Lower, "0 and above";
        "ratio_median" => "Median_Smoothness_Ratio", "median of the ratios", Lower, "0 and above";
        "lipschitz_p90", "90 % quantile of the ratios", Lower, "0 and above";
        "lipschitz_p99", "99 % quantile of the ratios", Lower, "0 and above";
        "lipschitz_max", "largest ratio: the local Lipschitz constant seen", Lower, "0 and above";
    },
    page: include_str!("smoothness.md"),
    // Not a shift: it changes the directions of the embeddings, and with them the unit scores.
    invariances: &[Invariance::Rotation],
    takes: &[Takes::States, Takes::Embeddings],
    options: &[],
    work: Work::Study { needs, compute },
};

/// Input distances up to this have no ratio (the representation analysis's rule). Where all are small, up to this share of the largest:
/// the unit of the inputs does not matter.
const NO_STEP: f64 = 1e-6;

fn no_step(s: &[f64]) -> f64 {
    NO_STEP * s.iter().copied().fold(0.0, f64::max).min(1.0)
}

/// What pairs are resampled over: episodes, or the pairs themselves, which follow each other in time or have no order.
#[derive(Clone, Copy)]
enum Steps<'a> {
    Episodes(&'a [u32]),
    Pairs { are_ordered: bool },
}

fn needs(_: &Spec, study: &Study) -> Result<Vec<Need>> {
    let pairs = study.pairs.as_ref().ok_or_else(|| {
        Error::input("smoothness compares steps of inputs and of embeddings, but there are no inputs")
    })?;
    refuse_if(study.input.is_none() || pairs.rows.is_empty(), || {
        let (model, pairs) = (&study.model, pairs.rows.len());
        format!(
            "model `{model}` has {pairs} pairs of consecutive inputs; give inputs with at least two rows in an episode"
        )
    })?;
    Ok(vec![Need::PairDistances])
}

fn compute(shared: &Shared) -> Result<Results> {
    let PairDistances {
        input,
        embeddings,
        unit,
    } = shared.pair_distances()?;
    let pairs = shared.study.pairs.as_deref();
    let is_chain = |rows: &[(u32, u32)]| rows.windows(2).any(|pair| pair[0].1 == pair[1].0);
    let steps = match pairs.and_then(|p| p.episode.as_deref()) {
        Some(codes) => Steps::Episodes(codes),
        None => Steps::Pairs {
            are_ordered: pairs.is_some_and(|pairs| is_chain(&pairs.rows)),
        },
    };
    let mut answer = Results::default();
    describe("smoothness", input, embeddings, steps, shared.spec.level, &mut answer);
    match unit {
        Ok(unit) => describe("smoothness.unit", input, unit, steps, shared.spec.level, &mut answer),
        Err(reason) => {
            let outputs = METRIC.outputs.iter().filter(|o| o.id.starts_with("smoothness.unit."));
            let undefined = |output| Score::undefined(output, reason.clone(), input.len());
            answer.scores.extend(outputs.map(undefined));
        }
    }
    let still = no_step(input);
    let ratio = |(s, z): (&f64, &f64)| (*s > still).then(|| z / s);
    let all = |values: &[f64]| values.iter().copied().map(Some).collect();
    let columns: [(&str, Vec<Option<f64>>); 3] = [
        ("input_distance", all(input)),
        ("latent_distance", all(embeddings)),
        ("ratio", input.iter().zip(embeddings).map(ratio).collect()),
    ];
    let columns = columns.map(|(name, values)| (name.to_string(), values));
    answer.samples.push(SampleTable::new("smoothness", columns.into()));
    Ok(answer)
}

/// All scores of one pairing of input distances `s` and embedding distances `z`.
fn describe(name: &str, s: &[f64], z: &[f64], steps: Steps, level: f64, answer: &mut Results) {
    regression(name, s, z, steps, level, answer);
    let still = no_step(s);
    let kept: Vec<usize> = (0..s.len()).filter(|&i| s[i] > still).collect();
    let ratios: Vec<f64> = kept.iter().map(|&i| z[i] / s[i]).collect();
    let codes: Vec<u32> = match steps {
        Steps::Episodes(codes) => kept.iter().map(|&i| codes[i]).collect(),
        Steps::Pairs { .. } => Vec::new(),
    };
    let of_mean = |values: &[f64]| match steps {
        Steps::Episodes(_) => interval::of_mean(values, Units::Groups(&codes, "episodes"), level),
        Steps::Pairs { are_ordered } => {
            let sums = Sums::of(values.iter().map(|&v| [1.0, v]));
            let mean = |[n, sum]: [f64; 2]| (n > 0.0).then(|| sum / n);
            let without = |window: Range<usize>| mean(sums.without(window));
            interval::of_sequence(
                interval::mean(values),
                values.len(),
                are_ordered,
                without,
                "pairs",
                level,
            )
        }
    };
    let of_spread = || match steps {
        Steps::Episodes(_) => interval::of_spread(&ratios, Units::Groups(&codes, "episodes"), level),
        Steps::Pairs { are_ordered } => {
            let center = interval::mean(&ratios);
            let sums = Sums::of(ratios.iter().map(|r| [1.0, r - center, (r - center).powi(2)]));
            let variance = |[n, a, aa]: [f64; 3]| (n > 0.0).then(|| (aa / n - (a / n).powi(2)).max(0.0));
            let without = |window: Range<usize>| variance(sums.without(window));
            let value = variance(sums.all())?;
            let found = interval::of_sequence(value, ratios.len(), are_ordered, without, "pairs", level)?;
            Some(found.with_skewness(value).of_root(value))
        }
    };
    let (pairs, still) = (s.len(), s.len() - ratios.len());
    let mut add = |score: Score| {
        answer.scores.push(match still {
            0 => score,
            _ => score.with_note(format!(
                "{still} of {pairs} pairs have no ratio: their input does not move"
            )),
        });
    };
    let n = ratios.len();
    if ratios.is_empty() {
        let reason = "no input moves between consecutive states";
        for part in "ratio_mean ratio_std ratio_median lipschitz_p90 lipschitz_p99 lipschitz_max".split(' ') {
            add(Score::undefined(format!("{name}.{part}"), reason, 0));
        }
        return;
    }
    let number = |part: &str, value: f64| Score::number(format!("{name}.{part}"), value, n);
    let mean = interval::mean(&ratios);
    let spread = (ratios.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / n as f64).sqrt();
    let mut sorted = ratios.clone();
    sorted.sort_unstable_by(f64::total_cmp);
    add(number("ratio_mean", mean).with_interval(of_mean(&ratios)));
    add(number("ratio_std", spread).with_interval(of_spread()));
    for (part, q) in [("ratio_median", 0.5), ("lipschitz_p90", 0.9), ("lipschitz_p99", 0.99)] {
        let interval = interval::of_quantile(&ratios, &sorted, q, of_mean);
        add(number(part, quantile(&sorted, q)).with_interval(interval));
    }
    add(number("lipschitz_max", sorted[n - 1]));
}

/// Least squares of `z` on `s`.
fn regression(name: &str, s: &[f64], z: &[f64], steps: Steps, level: f64, answer: &mut Results) {
    let n = s.len();
    let mut add = |part: &str, value: std::result::Result<f64, &str>, interval| {
        let id = format!("{name}.{part}");
        answer.scores.push(match value {
            Ok(value) => Score::number(id, value, n).with_interval(interval),
            Err(reason) => Score::undefined(id, reason, n),
        });
    };
    let all = Line::of(s, z);
    let Some(slope) = all.slope() else {
        let reason = "all inputs move by the same distance, so there is no slope";
        for part in ["slope", "intercept", "r", "r2", "p", "stderr"] {
            add(part, Err(reason), None);
        }
        return;
    };
    let intercept = all.mean_z - slope * all.mean_s;
    let r = all.correlation();
    let freedom = n as f64 - 2.0;
    let error = (freedom > 0.0).then(|| (all.residual() / freedom / all.ss).sqrt());
    let sums = Sums::of(s.iter().zip(z).map(|(a, b)| all.moments(*a, *b)));
    let interval = |value: f64, of: &dyn Fn(&Line) -> Option<f64>| match steps {
        Steps::Episodes(codes) => {
            let lines = all.without_each(s, z, codes);
            let replicates: Option<Vec<f64>> = lines.iter().map(of).collect();
            interval::jackknife(value, &replicates?, "episodes", level)
        }
        Steps::Pairs { are_ordered } => {
            let without = |window: Range<usize>| of(&all.about(sums.without(window)));
            interval::of_sequence(value, n, are_ordered, without, "pairs", level)
        }
    };
    let few = "at least three pairs are needed";
    let still = "all embeddings move by the same distance, so there is no correlation";
    let slope_interval = interval(slope, &|line| line.slope());
    let of_intercept = |line: &Line| Some(line.mean_z - line.slope()? * line.mean_s);
    let intercept_interval = interval(intercept, &of_intercept);
    // On Fisher's scale, where the error depends little on r and no interval leaves the range.
    let of_z = |line: &Line| line.correlation().map(interval::fisher_z);
    let r_interval = r.and_then(|r| Some(interval(interval::fisher_z(r), &of_z)?.of_tanh(r)));
    let r2_interval = r_interval.clone().map(|i| {
        let (low, high) = (i.low.powi(2).min(i.high.powi(2)), i.low.powi(2).max(i.high.powi(2)));
        let crosses = i.low <= 0.0 && i.high >= 0.0;
        crate::score::Interval {
            low: if crosses { 0.0 } else { low },
            high,
            standard_error: None,
            ..i.with_effects_times(2.0 * r.unwrap_or(0.0))
        }
    });
    add("slope", Ok(slope), slope_interval);
    add("intercept", Ok(intercept), intercept_interval);
    add("r", r.ok_or(still), r_interval);
    add("r2", r.map(|r| r * r).ok_or(still), r2_interval);
    let p = match (error, r) {
        (Some(_), Some(r)) => {
            let t = r * (freedom / ((1.0 - r) * (1.0 + r))).sqrt();
            let is_perfect = r.abs() >= 1.0;
            Ok(if is_perfect {
                0.0
            } else {
                interval::t_two_sided(t, freedom)
            })
        }
        (None, _) => Err(few),
        (_, None) => Err(still),
    };
    add("p", p, None);
    add("stderr", error.ok_or(few), None);
    for score in answer
        .scores
        .iter_mut()
        .filter(|s| s.metric.ends_with(".r") || s.metric.ends_with(".r2"))
    {
        // A correlation is bounded, but a few pairs far from the others decide it.
        let tails = score.effects.as_ref().zip(score.unit.as_ref());
        score.note = tails.and_then(|(effects, unit)| interval::heavy_tails(effects, unit));
    }
    let are_dependent = match steps {
        Steps::Episodes(codes) => codes.windows(2).any(|w| w[0] == w[1]),
        Steps::Pairs { .. } => true,
    };
    if are_dependent {
        let is_tested = |s: &&mut Score| s.metric.ends_with(".p") || s.metric.ends_with(".stderr");
        for score in answer.scores.iter_mut().filter(is_tested) {
            score.note = Some("supposes independent pairs; steps of one episode are not".to_string());
        }
    }
}

/// Sums over a sequence, and over all of it but a window.
struct Sums<const K: usize>(Vec<[f64; K]>);

impl<const K: usize> Sums<K> {
    fn of(values: impl Iterator<Item = [f64; K]>) -> Self {
        let mut sums = vec![[0.0; K]];
        for value in values {
            let last = sums[sums.len() - 1];
            sums.push(std::array::from_fn(|k| last[k] + value[k]));
        }
        Sums(sums)
    }

    fn all(&self) -> [f64; K] {
        self.0[self.0.len() - 1]
    }

    fn without(&self, window: Range<usize>) -> [f64; K] {
        let (all, from, to) = (self.all(), self.0[window.start], self.0[window.end]);
        std::array::from_fn(|k| all[k] - (to[k] - from[k]))
    }
}

/// Sums of squares about the means: all that a line needs.
struct Line {
    n: f64,
    mean_s: f64,
    mean_z: f64,
    ss: f64,
    sz: f64,
    zz: f64,
}

impl Line {
    fn of(s: &[f64], z: &[f64]) -> Self {
        let (mean_s, mean_z) = (interval::mean(s), interval::mean(z));
        let mut line = Line {
            n: s.len() as f64,
            mean_s,
            mean_z,
            ss: 0.0,
            sz: 0.0,
            zz: 0.0,
        };
        for (a, b) in s.iter().zip(z) {
            line.ss += (a - mean_s) * (a - mean_s);
            line.sz += (a - mean_s) * (b - mean_z);
            line.zz += (b - mean_z) * (b - mean_z);
        }
        line
    }

    /// A pair about the means of this line: 1, a, b, a², ab, b².
    fn moments(&self, s: f64, z: f64) -> [f64; 6] {
        let (a, b) = (s - self.mean_s, z - self.mean_z);
        [1.0, a, b, a * a, a * b, b * b]
    }

    /// The line of pairs whose moments about the means of this one add up to these.
    fn about(&self, sums: [f64; 6]) -> Line {
        let [n, a, b, aa, ab, bb] = sums;
        let (a, b) = (a / n, b / n);
        Line {
            n,
            mean_s: self.mean_s + a,
            mean_z: self.mean_z + b,
            ss: aa - n * a * a,
            sz: ab - n * a * b,
            zz: bb - n * b * b,
        }
    }

    /// The line with one episode left out, for each episode.
    fn without_each(&self, s: &[f64], z: &[f64], codes: &[u32]) -> Vec<Line> {
        let count = codes.iter().max().map_or(0, |&m| m as usize + 1);
        let (mut sums, mut all) = (vec![[0.0f64; 6]; count], [0.0f64; 6]);
        for ((a, b), &c) in s.iter().zip(z).zip(codes) {
            for (k, x) in self.moments(*a, *b).into_iter().enumerate() {
                sums[c as usize][k] += x;
                all[k] += x;
            }
        }
        sums.retain(|e| e[0] > 0.0 && e[0] < self.n);
        let without = |e: &[f64; 6]| self.about(std::array::from_fn(|k| all[k] - e[k]));
        sums.iter().map(without).collect()
    }

    /// None where the input distances do not differ by more than rounding.
    fn slope(&self) -> Option<f64> {
        (self.ss > self.n * (4.0 * f64::EPSILON * self.mean_s).powi(2)).then(|| self.sz / self.ss)
    }

    /// None where either side does not differ by more than rounding.
    fn correlation(&self) -> Option<f64> {
        let moves = self.zz > self.n * (4.0 * f64::EPSILON * self.mean_z).powi(2);
        let r = || (self.sz / (self.ss * self.zz).sqrt()).clamp(-1.0, 1.0);
        self.slope().filter(|_| moves).map(|_| r())
    }

    /// Σ of the squared residuals.
    fn residual(&self) -> f64 {
        (self.zz - self.sz * self.sz / self.ss).max(0.0)
    }
}

/// The `q` quantile of sorted values, interpolated linearly between order statistics.
pub(super) fn quantile(sorted: &[f64], q: f64) -> f64 {
    let place = q * (sorted.len() - 1) as f64;
    let (low, high) = (place.floor() as usize, place.ceil() as usize);
    sorted[low] + (place - low as f64) * (sorted[high] - sorted[low])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaving_out_an_episode_equals_computing_without_it() {
        let s = [1.0, 2.0, 3.0, 4.0, 7.0, 5.0];
        let z = [2.0, 2.5, 3.0, 5.0, 4.0, 1.0];
        let lines = Line::of(&s, &z).without_each(&s, &z, &[0, 0, 1, 1, 1, 2]);
        let direct = Line::of(&s[2..], &z[2..]);
        assert!((lines[0].slope().unwrap() - direct.slope().unwrap()).abs() < 1e-14);
        assert!((lines[0].correlation().unwrap() - direct.correlation().unwrap()).abs() < 1e-14);
        assert_eq!(lines.len(), 3);
    }

    #[test]
    fn quantiles_interpolate() {
        assert_eq!(quantile(&[1.0, 2.0, 4.0], 0.75), 3.0);
        assert_eq!(quantile(&[5.0], 0.99), 5.0);
    }
}
