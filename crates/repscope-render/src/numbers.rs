// SPDX-License-Identifier: MIT
//! How many digits a number deserves.
//!
//! Alone, a number is rounded to four significant digits, and none are invented: 0.5 stays `0.5`. With a confidence
//! interval, two digits of the interval's half width decide: 0.93123 ± 0.0027 is `0.9312 [0.9285, 0.9339]`.
//! Below a thousandth and from a million on, numbers are scientific: `1.15e-4`.

/// Significant digits of a number without an interval.
const DIGITS: i32 = 4;
/// Most significant digits an interval, however narrow, can ask for.
const MOST_DIGITS: i32 = 6;

/// A number without an interval: `0.9312`, `64`, `1.15e-4`.
pub fn number(x: f64) -> String {
    to_digits(x, DIGITS)
}

/// A number that is only there to be compared with: `0.50`, `0.099`.
pub(crate) fn rough(x: f64) -> String {
    to_digits(x, 2)
}

fn to_digits(x: f64, most: i32) -> String {
    let shortest = format!("{x:e}");
    let own_digits = shortest
        .chars()
        .take_while(|&c| c != 'e')
        .filter(char::is_ascii_digit)
        .count() as i32;
    at_place(x, exponent(x) - own_digits.min(most) + 1, is_scientific(x))
}

/// A number and its interval, all three cut at the same decimal place: `("0.9312", "[0.9285, 0.9339]")`.
pub(crate) fn number_with_interval(value: f64, interval: [f64; 2]) -> (String, String) {
    number_to_paste(value, interval, 1)
}

/// The same with at least so many significant digits of the number, for text that stands without its interval.
pub(crate) fn number_to_paste(value: f64, [low, high]: [f64; 2], least: i32) -> (String, String) {
    let half_width = (high - low) / 2.0;
    let largest = [value, low, high].map(f64::abs).into_iter().fold(0.0, f64::max);
    if half_width <= 0.0 || !largest.is_finite() {
        return (number(value), format!("[{}, {}]", number(low), number(high)));
    }
    let place = (exponent(half_width) - 1).max(exponent(largest) - MOST_DIGITS + 1);
    let place = match least {
        ..=1 => place,
        least => place.min(exponent(value) - least + 1),
    };
    let cut = |x| at_place(x, place, is_scientific(largest));
    (cut(value), format!("[{}, {}]", cut(low), cut(high)))
}

/// A number with its interval, where it has one: `11.75 [11.51, 11.99]`.
pub fn written(value: f64, interval: Option<[f64; 2]>) -> String {
    let Some(interval) = interval else {
        return number(value);
    };
    let (value, interval) = number_with_interval(value, interval);
    format!("{value} {interval}")
}

/// A number and half the width of the interval around it: `("0.9312", "±0.0027")`. `None` for numbers that are written
/// as powers of ten.
pub(crate) fn number_with_margin(value: f64, half_width: f64) -> Option<(String, String)> {
    // What is left of equal values after a sum in floating point is no width.
    if half_width <= 1e-9 * value.abs() {
        return Some((number(value), "±0".to_string()));
    }
    let (text, _) = number_with_interval(value, [value - half_width, value + half_width]);
    if text.contains('e') || !half_width.is_finite() {
        return None;
    }
    let decimals = text.split_once('.').map_or(0, |(_, digits)| digits.len());
    Some((text, format!("±{half_width:.decimals$}")))
}

/// A confidence level in percent: `95 %`, `99.9 %`.
pub(crate) fn percent(level: f64) -> String {
    format!("{} %", number(level * 100.0))
}

/// The head of a column of intervals: `95 % interval`.
pub(crate) fn interval_head(level: Option<f64>) -> String {
    level.map_or("interval".to_string(), |level| format!("{} interval", percent(level)))
}

/// All digits, so that the number read back is the number written: `1.0`, `0.1`, `1e-300`. Nothing for NaN and infinities.
pub(crate) fn exact(x: f64) -> String {
    if x.is_finite() { format!("{x:?}") } else { String::new() }
}

/// Rounds `x` to a multiple of 10^`place`.
fn at_place(x: f64, place: i32, scientific: bool) -> String {
    if scientific && exponent(x) >= place && x != 0.0 {
        return format!("{x:.*e}", (exponent(x) - place) as usize);
    }
    let decimals = if scientific { 0 } else { (-place).max(0) };
    let text = format!("{x:.*}", decimals as usize);
    // What rounds to zero has no sign.
    match text.strip_prefix('-') {
        Some(digits) if digits.chars().all(|c| matches!(c, '0' | '.')) => digits.to_string(),
        _ => text,
    }
}

/// The power of ten of the first digit; 0 for zero.
fn exponent(x: f64) -> i32 {
    // Through the decimal text: log10 is off by one just below powers of ten.
    format!("{x:e}")
        .split_once('e')
        .and_then(|(_, e)| e.parse().ok())
        .unwrap_or(0)
}

fn is_scientific(x: f64) -> bool {
    x != 0.0 && !(1e-3..1e6).contains(&x.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_alone_has_four_digits_and_none_invented() {
        let cases = [
            (1.15e-4, "1.15e-4"),
            (1.153421e-4, "1.153e-4"),
            (0.99932, "0.9993"),
            (0.99996, "1.0000"),
            (12345678.9, "1.235e7"),
            (123456.7, "123457"),
            (-3.2, "-3.2"),
            (-2.88912, "-2.889"),
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1"),
            (64.0, "64"),
            (100000.0, "100000"),
            (0.001, "0.001"),
            (0.0012345, "0.001234"),
            (1e-300, "1e-300"),
            (f64::MAX, "1.798e308"),
            (f64::MIN_POSITIVE, "2.225e-308"),
        ];
        for (x, text) in cases {
            assert_eq!(number(x), text);
        }
    }

    #[test]
    fn the_interval_decides_the_digits() {
        let cases = [
            (0.93123, [0.92853, 0.93391], "0.9312 [0.9285, 0.9339]"),
            (0.999321, [0.999210, 0.999431], "0.99932 [0.99921, 0.99943]"),
            (0.9, [0.85, 0.95], "0.900 [0.850, 0.950]"),
            (1.153e-4, [0.981e-4, 1.19e-4], "1.15e-4 [9.8e-5, 1.19e-4]"),
            (2e-4, [1e-9, 4e-4], "2.0e-4 [0, 4.0e-4]"),
            (1.35e6, [1.3e6, 1.4e6], "1.350e6 [1.300e6, 1.400e6]"),
            (12.3, [-13.0, 37.0], "12 [-13, 37]"),
            (3.0, [-1000.0, 5000.0], "3 [-1000, 5000]"),
            (0.0, [-0.0001, 0.3], "0.00 [0.00, 0.30]"),
            (1.0, [1.0, 1.0], "1 [1, 1]"),
        ];
        for (value, interval, text) in cases {
            let (value, interval) = number_with_interval(value, interval);
            assert_eq!(format!("{value} {interval}"), text);
        }
    }

    #[test]
    fn a_number_to_paste_has_three_digits_at_least() {
        let cases = [
            (0.8, [0.6, 1.0], "0.800 [0.600, 1.000]"),
            (12.3, [-13.0, 37.0], "12.3 [-13.0, 37.0]"),
            (3.26, [3.06, 3.46], "3.26 [3.06, 3.46]"),
            (0.0, [-0.4, 0.4], "0.00 [-0.40, 0.40]"),
            (0.93123, [0.92853, 0.93391], "0.9312 [0.9285, 0.9339]"),
        ];
        for (value, interval, text) in cases {
            let (value, interval) = number_to_paste(value, interval, 3);
            assert_eq!(format!("{value} {interval}"), text);
        }
    }

    #[test]
    fn a_very_narrow_interval_cannot_ask_for_more_than_six_digits() {
        let (value, interval) = number_with_interval(0.123456789, [0.123456788, 0.123456790]);
        assert_eq!(
            (value.as_str(), interval.as_str()),
            ("0.123457", "[0.123457, 0.123457]")
        );
    }

    #[test]
    fn half_the_width_of_an_interval_is_a_margin() {
        let margin = |value, half_width| number_with_margin(value, half_width).map(|(value, half)| value + " " + &half);
        assert_eq!(margin(0.93123, 0.0027).as_deref(), Some("0.9312 ±0.0027"));
        assert_eq!(margin(1.0, 1e-17).as_deref(), Some("1 ±0"));
        assert_eq!(margin(25.0, 20.0).as_deref(), Some("25 ±20"));
        assert_eq!(margin(1.2e-4, 1e-5), None);
        assert_eq!(margin(0.5, f64::INFINITY), None);
    }

    #[test]
    fn levels_are_percentages() {
        assert_eq!(percent(0.95), "95 %");
        assert_eq!(percent(0.999), "99.9 %");
        assert_eq!(percent(0.9), "90 %");
    }

    #[test]
    fn exact_numbers_read_back_as_themselves() {
        for x in [0.1, 1.0, 1.0 / 3.0, 1e-300, 36343.0, f64::MAX] {
            assert_eq!(exact(x).parse(), Ok(x));
        }
        assert_eq!(exact(f64::NAN), "");
        assert_eq!(exact(f64::INFINITY), "");
    }
}
