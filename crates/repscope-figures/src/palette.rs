// SPDX-License-Identifier: MIT
//! Colors. Series start from the set of Okabe and Ito, which color-blind readers can tell apart, and go on to twelve.
//!
//! No color stands alone: the marker, the dash and, from the fifth series on, a hatch say the same, for gray print.

use crate::style::Theme;

/// Red, green, blue.
pub(crate) type Rgb = [u8; 3];

/// Series that differ in look. Later ones begin again.
pub(crate) const LOOKS: usize = 12;

const LIGHT: [u32; LOOKS] = [
    0x0072B2, 0xE69F00, 0x009E73, 0x882255, 0x56B4E9, 0xD55E00, 0x332288, 0xCC79A7, 0x8FCF7C, 0x7A3B10, 0x8C8C8C,
    0xB8A038,
];
const DARK: [u32; LOOKS] = [
    0x4FA8E8, 0xF0B429, 0x20C094, 0xD9588F, 0xA8DCFF, 0xF07030, 0x8F7FE8, 0xEDAFD0, 0xB6F09A, 0xC07838, 0xBDBDBD,
    0xE8DC7A,
];

/// Classes of a map that differ in color. Later ones begin again.
pub const CLASS_COLORS: usize = 20;

/// Classes of a map: more are needed than series, and they are dots only. The last ones are paler kin of the first.
const CLASSES: [u32; CLASS_COLORS] = [
    0x0072B2, 0xE69F00, 0x009E73, 0xCC79A7, 0xD55E00, 0x56B4E9, 0x882255, 0x8FCF7C, 0x332288, 0xB8A038, 0x7A3B10,
    0xF0A8B8, 0x44AA99, 0x9467BD, 0xDDCC77, 0x17657D, 0xFF7F6E, 0x6B7A1F, 0xB9B5E8, 0xC2185B,
];

/// Stops of the sequential map, from pale to deep, evenly spaced in lightness.
const DEEP: [u32; 7] = [0xF4F8FC, 0xD3E4F3, 0xA3CCE3, 0x68ABD3, 0x3A87BE, 0x1562A5, 0x08316B];
/// The same for dark paper: from near black to bright.
const BRIGHT: [u32; 7] = [0x1B2330, 0x1F3F63, 0x22608F, 0x2E86B5, 0x55AECB, 0x97D3D8, 0xE9F7EC];
/// Stops of the diverging map.
const DIVERGING: [u32; 7] = [0x2166AC, 0x67A9CF, 0xD1E5F0, 0xF7F7F7, 0xFDDBC7, 0xEF8A62, 0xB2182B];
/// Values of points: dark to bright without white, so that points stay visible on either paper.
const POINTS: [u32; 7] = [0x472D7B, 0x3B528B, 0x2C728E, 0x21918C, 0x28AE80, 0x7BC751, 0xE2C520];

/// Colors of paper and ink.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ink {
    pub paper: Rgb,
    pub text: Rgb,
    pub muted: Rgb,
    pub axis: Rgb,
    pub grid: Rgb,
    pub theme: Theme,
}

impl Ink {
    pub fn of(theme: Theme) -> Self {
        let [paper, text, muted, axis, grid] = match theme {
            Theme::Light => [0xFFFFFF, 0x1A1A1A, 0x5A5A5A, 0x3C3C3C, 0xE4E4E7],
            Theme::Dark => [0x15181D, 0xECEEF1, 0xA3A9B2, 0xA3A9B2, 0x2C323B],
        }
        .map(rgb);
        Self {
            paper,
            text,
            muted,
            axis,
            grid,
            theme,
        }
    }

    pub fn series(&self, index: usize) -> Rgb {
        rgb(match self.theme {
            Theme::Light => LIGHT[index % LOOKS],
            Theme::Dark => DARK[index % LOOKS],
        })
    }

    pub fn class(&self, index: usize) -> Rgb {
        self.dot(rgb(CLASSES[index % CLASS_COLORS]))
    }

    /// Dots on dark paper are paler.
    fn dot(&self, color: Rgb) -> Rgb {
        match self.theme {
            Theme::Light => color,
            Theme::Dark => mix(color, [255, 255, 255], 0.25),
        }
    }

    /// Color of part `index` of `count` ordered parts.
    pub fn part(&self, index: usize, count: usize) -> Rgb {
        let t = if count < 2 {
            0.5
        } else {
            index as f64 / (count - 1) as f64
        };
        match self.theme {
            Theme::Light => ramp(&DEEP, 0.9 - 0.72 * t),
            Theme::Dark => ramp(&BRIGHT, 0.85 - 0.65 * t),
        }
    }

    /// Color of a cell, `t` from 0 to 1.
    pub fn sequential(&self, t: f64) -> Rgb {
        match self.theme {
            Theme::Light => ramp(&DEEP, t),
            Theme::Dark => ramp(&BRIGHT, t),
        }
    }

    pub fn diverging(&self, t: f64) -> Rgb {
        ramp(&DIVERGING, t)
    }

    pub fn point(&self, t: f64) -> Rgb {
        self.dot(ramp(&POINTS, t))
    }
}

/// The color of a series as `#rrggbb`, the same as in the figures.
pub fn series_color(index: usize, theme: Theme) -> String {
    hex(Ink::of(theme).series(index))
}

/// The color of a class of a map as `#rrggbb`.
pub fn class_color(index: usize, theme: Theme) -> String {
    hex(Ink::of(theme).class(index))
}

/// The color of a value of a map as `#rrggbb`, `t` from 0 (lowest) to 1 (highest).
pub fn value_color(t: f64, theme: Theme) -> String {
    hex(Ink::of(theme).point(t))
}

pub(crate) fn hex([r, g, b]: Rgb) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// `t` of the way from one color to another.
pub(crate) fn mix(from: Rgb, to: Rgb, t: f64) -> Rgb {
    let channel = |i: usize| (f64::from(from[i]) + t * (f64::from(to[i]) - f64::from(from[i]))).round() as u8;
    [channel(0), channel(1), channel(2)]
}

/// Black or white, whichever has the greater contrast ratio (WCAG 2) on this color.
pub(crate) fn text_on(color: Rgb) -> Rgb {
    let luminance = luminance(color);
    if (luminance + 0.05) / 0.05 > 1.05 / (luminance + 0.05) {
        [20, 20, 20]
    } else {
        [255, 255, 255]
    }
}

pub(crate) fn luminance(color: Rgb) -> f64 {
    let linear = |c: u8| {
        let c = f64::from(c) / 255.0;
        if c <= 0.04045 {
            c / 12.92
        } else {
            ((c + 0.055) / 1.055).powf(2.4)
        }
    };
    0.2126 * linear(color[0]) + 0.7152 * linear(color[1]) + 0.0722 * linear(color[2])
}

fn rgb(hex: u32) -> Rgb {
    [(hex >> 16) as u8, (hex >> 8) as u8, hex as u8]
}

fn ramp(stops: &[u32], t: f64) -> Rgb {
    let place = t.clamp(0.0, 1.0) * (stops.len() - 1) as f64;
    let left = (place as usize).min(stops.len() - 2);
    mix(rgb(stops[left]), rgb(stops[left + 1]), place - left as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// L* of CIELAB, from 0 (black) to 100.
    fn lightness(color: Rgb) -> f64 {
        let y = luminance(color);
        if y > 0.008856 {
            116.0 * y.cbrt() - 16.0
        } else {
            903.3 * y
        }
    }

    #[test]
    fn the_first_four_series_differ_in_gray_without_a_hatch() {
        let ink = Ink::of(Theme::Light);
        for (a, b) in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)] {
            let difference = (lightness(ink.series(a)) - lightness(ink.series(b))).abs();
            assert!(
                difference > 10.0,
                "series {a} and {b} differ by {difference} in lightness"
            );
        }
    }

    #[test]
    fn cell_numbers_have_contrast_on_every_cell_color() {
        for theme in [Theme::Light, Theme::Dark] {
            let ink = Ink::of(theme);
            for step in 0..=100 {
                for cell in [
                    ink.sequential(f64::from(step) / 100.0),
                    ink.diverging(f64::from(step) / 100.0),
                ] {
                    let (a, b) = (luminance(cell), luminance(text_on(cell)));
                    let ratio = (a.max(b) + 0.05) / (a.min(b) + 0.05);
                    assert!(ratio > 4.0, "contrast {ratio} on {}", hex(cell));
                }
            }
        }
    }

    #[test]
    fn a_ramp_of_colors_starts_and_ends_at_its_stops() {
        assert_eq!(hex(ramp(&DEEP, 0.0)), "#f4f8fc");
        assert_eq!(hex(ramp(&DEEP, 1.0)), "#08316b");
    }
}
