// SPDX-License-Identifier: MIT
//! Numbers for readers: a true minus, powers of ten with superscripts, a comma between thousands.

/// Three significant digits: `0.934`, `12,345`, `−2.31`, `1.15×10⁻⁴`. An integer has no point: `64`. A number that is
/// not finite is a dash.
pub fn number(x: f64) -> String {
    if !x.is_finite() {
        return "–".to_string();
    }
    // Rounded first: 0.9999 has the digits of 1.00.
    let rounded: f64 = format!("{x:.2e}").parse().unwrap_or(x);
    let (size, exponent) = (rounded.abs(), exponent(rounded));
    if size != 0.0 && !(1e-3..1e5).contains(&size) {
        return scientific(x, exponent, 2);
    }
    if x.fract() == 0.0 {
        // A count of 64 is not a measured 64.0.
        fixed(x, 0)
    } else {
        fixed(x, (2 - exponent).max(0) as usize)
    }
}

/// How the numbers of one panel are written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Alike {
    /// Each with three significant digits.
    Significant,
    /// All with so many digits after the point.
    Decimals(usize),
}

impl Alike {
    /// On an axis with equal steps all numbers have the digits of the largest, and one at least: 0.977 and 0.090 are
    /// read faster together than 0.977 and 0.0900. Counts stay whole, and numbers that need powers of ten are each for
    /// itself.
    pub fn of(values: impl Iterator<Item = f64> + Clone) -> Self {
        let rounded = |x: f64| format!("{x:.2e}").parse().unwrap_or(x);
        let largest = values.clone().map(f64::abs).fold(0.0, f64::max);
        let largest: f64 = rounded(largest);
        if values.clone().all(|x| x.fract() == 0.0) || !(1e-3..1e5).contains(&largest) {
            return Self::Significant;
        }
        Self::Decimals((2 - exponent(largest)).max(1) as usize)
    }

    pub fn text(self, x: f64) -> String {
        match self {
            Self::Significant => number(x),
            Self::Decimals(decimals) => fixed(x, decimals),
        }
    }
}

/// With so many digits after the point.
pub(crate) fn fixed(x: f64, decimals: usize) -> String {
    let digits = format!("{:.decimals$}", x.abs());
    let negative = x < 0.0 && digits.bytes().any(|b| (b'1'..=b'9').contains(&b));
    let (whole, fraction) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    let mut text = String::from(if negative { "−" } else { "" });
    for (at, digit) in whole.chars().enumerate() {
        // Four digits are read at a glance; from five on they are grouped.
        if at > 0 && whole.len() > 4 && (whole.len() - at) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text + fraction
}

/// x as mantissa × 10^exponent, so many digits after the mantissa's point.
pub(crate) fn scientific(x: f64, exponent: i32, decimals: usize) -> String {
    let mut mantissa = x / 10f64.powi(exponent);
    let mut exponent = exponent;
    // Rounding may carry: 9.999 with two decimals is 10.00, better 1.00 of the next power.
    if format!("{:.decimals$}", mantissa.abs()).starts_with("10") {
        mantissa /= 10.0;
        exponent += 1;
    }
    format!("{}×{}", fixed(mantissa, decimals), power_of_ten(exponent))
}

/// `10⁻³`.
pub(crate) fn power_of_ten(exponent: i32) -> String {
    let plain = exponent.to_string();
    let digits = plain.chars().map(|c| match c {
        '-' => '⁻',
        '0' => '⁰',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        digit => char::from_u32(0x2070 + digit as u32 - '0' as u32).unwrap_or(digit),
    });
    format!("10{}", digits.collect::<String>())
}

/// The power of ten at or below |x|; 0 for zero. Read off the printed form, because `log10` may miss exact powers.
pub(crate) fn exponent(x: f64) -> i32 {
    if x == 0.0 || !x.is_finite() {
        return 0;
    }
    format!("{x:e}")
        .split_once('e')
        .and_then(|(_, e)| e.parse().ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_significant_digits_and_true_signs() {
        let cases = [
            (0.0, "0"),
            (0.9341, "0.934"),
            (-2.307, "−2.31"),
            (12345.0, "12,345"),
            (1.15e-4, "1.15×10⁻⁴"),
            (6.41e6, "6.41×10⁶"),
            (9.999e-4, "0.00100"),
            (-0.99999, "−1.00"),
            (0.001, "0.00100"),
            (1000.0, "1000"),
            (64.0, "64"),
            (-1.0, "−1"),
            (-0.0, "0"),
            (63.96, "64.0"),
            (f64::NAN, "–"),
        ];
        for (x, text) in cases {
            assert_eq!(number(x), text);
        }
    }

    #[test]
    fn a_negative_number_that_rounds_to_zero_has_no_sign() {
        assert_eq!(fixed(-0.001, 2), "0.00");
    }

    #[test]
    fn exponents_of_exact_powers_are_exact() {
        for e in -300..=300 {
            assert_eq!(exponent(format!("1e{e}").parse().expect("a number")), e);
        }
    }

    #[test]
    fn numbers_of_a_panel_have_the_digits_of_the_largest() {
        let texts = |values: &[f64]| -> Vec<String> {
            let written = Alike::of(values.iter().copied());
            values.iter().map(|x| written.text(*x)).collect()
        };
        assert_eq!(texts(&[0.977, 0.09, -0.0004]), ["0.977", "0.090", "0.000"]);
        assert_eq!(texts(&[120.0, 4.31]), ["120.0", "4.3"]);
        assert_eq!(texts(&[64.0, 8.0]), ["64", "8"]);
        assert_eq!(texts(&[2.5e6, 1.0]), ["2.50×10⁶", "1"]);
    }
}
