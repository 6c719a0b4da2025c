// SPDX-License-Identifier: MIT
//! Limits and ticks of an axis with numbers.

use crate::figure::{Axis, Scale};
use crate::number::{exponent, fixed, power_of_ten, scientific};
use std::ops::RangeInclusive;

/// Beyond this size differences overflow; such numbers count as missing.
const LARGEST: f64 = 1e150;

/// The number, if it can be drawn on this scale.
pub(crate) fn drawable(x: f64, scale: Scale) -> bool {
    match scale {
        Scale::Linear => x.abs() <= LARGEST,
        Scale::Log => (1.0 / LARGEST..=LARGEST).contains(&x),
    }
}

/// From where to where an axis runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Range {
    pub low: f64,
    pub high: f64,
    pub scale: Scale,
}

/// An end of an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Low,
    High,
}

/// A mark of an axis.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tick {
    pub at: f64,
    pub label: String,
}

impl Range {
    /// Covers data and wished values. Padding, as shares of the length below and above, goes beyond data only: a wished end such as 0 or 1 is the end.
    pub fn new(axis: &Axis, data: impl Iterator<Item = f64>, [below, above]: [f64; 2]) -> Self {
        let scale = axis.scale;
        let unscaled = |x: f64| if scale == Scale::Log { x.log10() } else { x };
        let ends = |values: &mut dyn Iterator<Item = f64>| {
            let drawn = values
                .filter(|x| drawable(*x, scale))
                .map(|x| (unscaled(x), unscaled(x)));
            drawn.reduce(|(low, high), (x, _)| (low.min(x), high.max(x)))
        };
        let data = ends(&mut data.into_iter());
        let wished = ends(&mut axis.covers.iter().copied());
        let (mut low, mut high) = match (data, wished) {
            (Some(a), Some(b)) => (a.0.min(b.0), a.1.max(b.1)),
            (Some(ends), None) | (None, Some(ends)) => ends,
            (None, None) => (0.0, 1.0),
        };
        let length = high - low;
        if length <= low.abs().max(high.abs()) * 1e-12 {
            // All values are one: show it in the middle.
            let is_fixed = scale == Scale::Log || low == 0.0;
            let half = if is_fixed { 0.5 } else { low.abs() * 0.5 };
            (low, high) = (low - half, high + half);
        } else {
            if wished.is_none_or(|wished| low < wished.0) {
                low -= below * length;
            }
            if wished.is_none_or(|wished| high > wished.1) {
                high += above * length;
            }
        }
        match scale {
            Scale::Linear => Self { low, high, scale },
            Scale::Log => Self {
                low: 10f64.powf(low),
                high: 10f64.powf(high),
                scale,
            },
        }
    }

    /// The end beyond which zero lies, if the axis does not reach it.
    pub fn leaves_out_zero(&self) -> Option<End> {
        match self.scale {
            Scale::Log => None,
            Scale::Linear if self.low > 0.0 => Some(End::Low),
            Scale::Linear if self.high < 0.0 => Some(End::High),
            Scale::Linear => None,
        }
    }

    /// Where a number lies, 0 at the low end and 1 at the high end.
    pub fn share(&self, x: f64) -> f64 {
        match self.scale {
            Scale::Linear => (x - self.low) / (self.high - self.low),
            Scale::Log => (x / self.low).ln() / (self.high / self.low).ln(),
        }
    }

    /// About `most` labeled ticks: two more at most, where only one number would be left otherwise.
    pub fn ticks(&self, most: usize) -> Vec<Tick> {
        match self.scale {
            Scale::Linear => linear(self.low, self.high, most),
            Scale::Log => log(self.low, self.high, most),
        }
    }

    /// Small marks between the decades of a log axis, while they can be distinguished.
    pub fn minor(&self) -> Vec<f64> {
        let ratio = self.high / self.low;
        if self.scale == Scale::Linear || ratio > 1e30 {
            return Vec::new();
        }
        let decades = exponent(self.low)..=exponent(self.high);
        // Over many decades only the decades themselves are marked.
        let last = if ratio > 3e5 { 1 } else { 9 };
        decades
            .flat_map(|e| (1..=last).map(move |digit| f64::from(digit) * 10f64.powi(e)))
            .filter(|x| (self.low..=self.high).contains(x))
            .collect()
    }
}

fn linear(low: f64, high: f64, most: usize) -> Vec<Tick> {
    let most = most.max(2);
    let mut power = exponent((high - low) / most as f64);
    let mut finer = Vec::new();
    for step in 0..9 {
        let digit = [1, 2, 5][step % 3];
        if step > 0 && step % 3 == 0 {
            power += 1;
        }
        let multiples = multiples(low, high, digit, power);
        if multiples.len() <= most {
            // A single number shows no scale, two hardly do: better one or two more than requested.
            let spare = 3usize.saturating_sub(multiples.len());
            let alone = spare > 0 && (2..=most + spare).contains(&finer.len());
            let power_of_finer = if digit == 1 { power - 1 } else { power };
            let (shown, power) = if alone {
                (finer, power_of_finer)
            } else {
                (multiples, power)
            };
            return label_linear(shown, power);
        }
        finer = multiples;
    }
    Vec::new()
}

/// All n · digit · 10^power within the limits, computed without adding up errors.
fn multiples(low: f64, high: f64, digit: i64, power: i32) -> Vec<f64> {
    let scaled = |n: i64| match (n * digit) as f64 {
        whole if power >= 0 => whole * 10f64.powi(power),
        whole => whole / 10f64.powi(-power),
    };
    let step = scaled(1);
    let slack = 1e-9 * (high - low);
    let (first, last) = (((low - slack) / step).ceil(), ((high + slack) / step).floor());
    if !(first.abs() < 1e15 && last.abs() < 1e15 && last - first < 1000.0) {
        return vec![low; 1001];
    }
    (first as i64..=last as i64).map(scaled).collect()
}

/// Labels in one style: the same digits after the point, the same power of ten.
fn label_linear(values: Vec<f64>, power: i32) -> Vec<Tick> {
    let largest = values.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
    let top = exponent(largest);
    let label = |x: f64| {
        if x == 0.0 {
            "0".to_string()
        } else if !(1e-3..1e5).contains(&largest) {
            scientific_in(x, top, (top - power).clamp(0, 15) as usize)
        } else {
            fixed(x, (-power).clamp(0, 15) as usize)
        }
    };
    values.into_iter().map(|at| Tick { at, label: label(at) }).collect()
}

/// All ticks of an axis keep the exponent of the largest, so that mantissas can be compared.
fn scientific_in(x: f64, exponent: i32, decimals: usize) -> String {
    let mantissa = fixed(x / 10f64.powi(exponent), decimals);
    format!("{mantissa}×{}", power_of_ten(exponent))
}

fn log(low: f64, high: f64, most: usize) -> Vec<Tick> {
    let most = most.max(2);
    let (first, last) = (exponent(low), exponent(high));
    let within = |x: f64| (low * (1.0 - 1e-9)..=high * (1.0 + 1e-9)).contains(&x);
    let power = |e: i32| format!("1e{e}").parse::<f64>().unwrap_or(f64::NAN);
    let tick = |digit: i32, e: i32, plain: bool| Tick {
        at: f64::from(digit) * power(e),
        label: on_log(digit, e, plain),
    };
    let decades: Vec<i32> = (first..=last + 1).filter(|e| within(power(*e))).collect();
    if decades.len() >= 3 || (decades.len() == 2 && most < 4) {
        let every = decades.len().div_ceil(most).max(1) as i32;
        // Counted from 1 = 10⁰, so that figures of one page agree.
        let shown: Vec<i32> = decades.into_iter().filter(|e| e.rem_euclid(every) == 0).collect();
        let plain = shown.iter().all(|e| PLAIN.contains(e));
        return shown.into_iter().map(|e| tick(1, e, plain)).collect();
    }
    for (digits, fewest) in [
        (&[1, 2, 5][..], 3),
        (&[1, 2, 3, 5], 2),
        (&[1, 2, 5], 2),
        (&[1, 3], 2),
        (&[1], 2),
    ] {
        let at: Vec<(i32, i32)> = (first..=last + 1)
            .flat_map(|e| digits.iter().map(move |digit| (*digit, e)))
            .filter(|(digit, e)| within(f64::from(*digit) * power(*e)))
            .collect();
        if (fewest..=most).contains(&at.len()) {
            let plain = at.iter().all(|(_, e)| PLAIN.contains(e));
            return at.into_iter().map(|(digit, e)| tick(digit, e, plain)).collect();
        }
    }
    // Less than a factor of about two: steps are as good as factors.
    let steps = linear(low, high, most);
    if steps.len() >= 2 {
        return steps;
    }
    let at = (low * high).sqrt();
    let label = scientific(at, exponent(at), 1);
    vec![Tick { at, label }]
}

/// Powers of ten that are read at a glance, as in [`number`](crate::number()).
const PLAIN: RangeInclusive<i32> = -3..=4;

/// `digit` · 10^e, written out or as a power. On an axis of powers 1 and 10 are still read faster than 10⁰ and 10¹.
fn on_log(digit: i32, e: i32, plain: bool) -> String {
    match (digit, e) {
        (_, _) if plain => fixed(f64::from(digit) * 10f64.powi(e), (-e).max(0) as usize),
        (1, 0) => "1".to_string(),
        (1, 1) => "10".to_string(),
        (1, _) => power_of_ten(e),
        (_, _) => format!("{digit}×{}", power_of_ten(e)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(low: f64, high: f64, scale: Scale, most: usize) -> Vec<String> {
        Range { low, high, scale }
            .ticks(most)
            .into_iter()
            .map(|tick| tick.label)
            .collect()
    }

    #[test]
    fn linear_ticks_are_round_and_of_one_style() {
        assert_eq!(
            labels(0.0, 1.05, Scale::Linear, 6),
            ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]
        );
        assert_eq!(labels(0.0, 2.3e-4, Scale::Linear, 4), ["0", "1×10⁻⁴", "2×10⁻⁴"]);
        assert_eq!(labels(-3.2, 3.2, Scale::Linear, 4), ["−2", "0", "2"]);
        assert_eq!(labels(0.0, 1.35e6, Scale::Linear, 4), ["0", "0.5×10⁶", "1.0×10⁶"]);
    }

    #[test]
    fn log_ticks_are_decades_of_one_style() {
        assert_eq!(labels(0.9, 110.0, Scale::Log, 6), ["1", "10", "100"]);
        assert_eq!(labels(0.05, 300.0, Scale::Log, 6), ["0.1", "1", "10", "100"]);
        assert_eq!(labels(5e-4, 2e4, Scale::Log, 4), ["0.01", "1", "100", "10,000"]);
        assert_eq!(labels(1.0, 1e6, Scale::Log, 7)[4..], ["10⁴", "10⁵", "10⁶"]);
        assert_eq!(labels(1e-7, 10.0, Scale::Log, 5), ["10⁻⁶", "10⁻⁴", "10⁻²", "1"]);
        assert_eq!(labels(0.15, 2.5, Scale::Log, 6), ["0.2", "0.5", "1", "2"]);
    }

    #[test]
    fn every_range_has_ticks_and_hardly_more_than_asked() {
        for e in -140..140 {
            for (low, high) in [(1.0, 1.0001), (1.0, 1.3), (0.97, 3.0), (1.0, 9.9), (2.0, 4e6)] {
                let scale = 10f64.powi(e);
                for (low, high) in [(low * scale, high * scale), (-high * scale, low * scale)] {
                    for most in 2..9 {
                        let linear = Range {
                            low,
                            high,
                            scale: Scale::Linear,
                        }
                        .ticks(most);
                        assert!(
                            (2..=most + 2).contains(&linear.len()),
                            "{low} {high} {most}: {linear:?}"
                        );
                        if low > 0.0 {
                            let log = Range {
                                low,
                                high,
                                scale: Scale::Log,
                            }
                            .ticks(most);
                            assert!((2..=most + 2).contains(&log.len()), "log {low} {high} {most}: {log:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_range_of_one_value_or_none_has_a_length() {
        for axis in [Axis::linear("x"), Axis::log("x")] {
            for data in [vec![], vec![3.0], vec![0.0], vec![7e-120], vec![1e200]] {
                let range = Range::new(&axis, data.into_iter(), [0.05, 0.05]);
                assert!(range.high > range.low, "{range:?}");
            }
        }
    }

    #[test]
    fn a_wished_end_is_the_end_unless_data_go_beyond() {
        let axis = Axis::linear("score").covering(&[0.0, 1.0]);
        let padding = [0.05, 0.05];
        let inside = Range::new(&axis, [0.2, 0.9].into_iter(), padding);
        assert_eq!((inside.low, inside.high), (0.0, 1.0));
        let beyond = Range::new(&axis, [-0.5, 0.9].into_iter(), padding);
        assert!(beyond.low < -0.5 && beyond.high == 1.0);
    }
}
