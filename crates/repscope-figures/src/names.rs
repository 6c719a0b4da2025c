// SPDX-License-Identifier: MIT
//! Names along an axis: side by side if they fit, else on several lines, else upright; every second one if need be.

use crate::content::Weight;
use crate::text::{LINE, clean, shorten, widest, width, wrap};

/// Names below a plot.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum NamesBelow {
    /// Lines of each name, side by side; each `every`-th of names that are numbers.
    Flat { names: Vec<Vec<String>>, every: usize },
    /// Upright, each `every`-th.
    Up { names: Vec<String>, every: usize },
    /// Left to the legend.
    Dropped,
}

impl NamesBelow {
    pub fn height(&self, em: f64) -> f64 {
        match self {
            Self::Flat { names, .. } => {
                let lines = names.iter().map(Vec::len).max().unwrap_or(0).max(1);
                (0.95 + LINE * (lines - 1) as f64) * em
            }
            Self::Up { names, every } => {
                let shown = names.iter().step_by(*every).map(String::as_str);
                widest(shown, em, Weight::Regular)
            }
            Self::Dropped => 0.0,
        }
    }
}

/// `slot` is the width each name has.
pub(crate) fn names_below(names: &[String], slot: f64, em: f64, may_drop: bool) -> NamesBelow {
    let names: Vec<String> = names.iter().map(|name| clean(name)).collect();
    let room = slot - 0.6 * em;
    let widest = widest(names.iter().map(String::as_str), em, Weight::Regular);
    if widest <= room || names.iter().all(|name| name.parse::<f64>().is_ok()) {
        let every = if widest <= room {
            1.0
        } else {
            (widest + 0.6 * em).max(slot) / slot
        };
        return NamesBelow::Flat {
            names: names.into_iter().map(|name| vec![name]).collect(),
            every: every.ceil() as usize,
        };
    }
    if room > 3.0 * em {
        let lines: Vec<Vec<String>> = names.iter().map(|name| wrap(name, room, em, Weight::Regular)).collect();
        let torn = names.iter().zip(&lines).any(|(name, lines)| is_torn(name, lines));
        if !torn && lines.iter().all(|lines| lines.len() <= 3) {
            return NamesBelow::Flat { names: lines, every: 1 };
        }
    }
    if may_drop {
        return NamesBelow::Dropped;
    }
    let every = (1.2 * em / slot).ceil().max(1.0) as usize;
    let names = names
        .iter()
        .map(|name| shorten(name, 11.0 * em, em, Weight::Regular))
        .collect();
    NamesBelow::Up { names, every }
}

/// Share of a cell that names left of a plot may take.
pub(crate) const NAMES: f64 = 0.42;

/// Height a name left of a plot needs: names too long for one line are broken into two.
pub(crate) fn slot_beside(names: &[String], most: f64, em: f64) -> f64 {
    let is_long = |name: &String| width(&clean(name), em, Weight::Regular) > most;
    if names.iter().any(is_long) {
        2.0 * LINE * em + 0.2 * em
    } else {
        0.0
    }
}

/// Lines of names left of a plot, each `every`-th; `None` if they are left to the legend.
pub(crate) fn names_beside(
    names: &[String],
    slot: f64,
    most: f64,
    em: f64,
    may_drop: bool,
) -> Option<(Vec<Vec<String>>, usize)> {
    let every = (1.2 * em / slot).ceil().max(1.0) as usize;
    let room = (slot / (LINE * em)) as usize;
    let lines = |name: &String| {
        let name = clean(name);
        let lines = wrap(&name, most, em, Weight::Regular);
        let whole = lines.len() <= room.clamp(1, 3) && !is_torn(&name, &lines);
        (
            if whole {
                lines
            } else {
                vec![shorten(&name, most, em, Weight::Regular)]
            },
            whole,
        )
    };
    let laid: Vec<(Vec<String>, bool)> = names.iter().map(lines).collect();
    // Shortened names are used while they stay distinct.
    let differ = |lines: &Vec<String>| laid.iter().filter(|(other, _)| other == lines).count() == 1;
    if may_drop && (every > 1 || laid.iter().any(|(lines, whole)| !whole && !differ(lines))) {
        return None;
    }
    Some((laid.into_iter().map(|(lines, _)| lines).collect(), every))
}

/// Whether a break is where a reader does not expect it: within a word.
fn is_torn(name: &str, lines: &[String]) -> bool {
    lines.windows(2).any(|pair| {
        let (end, start) = (pair[0].chars().last(), pair[1].chars().next());
        end.is_some_and(char::is_alphanumeric)
            && start.is_some_and(char::is_alphanumeric)
            && !name.contains(&format!("{} {}", pair[0], pair[1]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| name.to_string()).collect()
    }

    #[test]
    fn short_names_are_flat_and_long_ones_stand_up() {
        let short = names(&["JEPA", "MAE"]);
        assert_eq!(names_below(&short, 40.0, 7.0, false).height(7.0), 0.95 * 7.0);
        let long = names(&["convolutional", "transformational"]);
        assert!(matches!(
            names_below(&long, 20.0, 7.0, false),
            NamesBelow::Up { every: 1, .. }
        ));
        assert!(matches!(
            names_below(&long, 4.0, 7.0, false),
            NamesBelow::Up { every: 3, .. }
        ));
        assert_eq!(names_below(&long, 20.0, 7.0, true), NamesBelow::Dropped);
    }

    #[test]
    fn words_are_broken_at_blanks_but_not_torn() {
        let two = names(&["Encoder Decoder", "JEPA"]);
        let wanted = NamesBelow::Flat {
            names: vec![names(&["Encoder", "Decoder"]), names(&["JEPA"])],
            every: 1,
        };
        assert_eq!(names_below(&two, 40.0, 7.0, false), wanted);
    }

    #[test]
    fn numbers_are_thinned_rather_than_turned() {
        let numbers: Vec<String> = (100..150).map(|n| n.to_string()).collect();
        assert!(matches!(names_below(&numbers, 5.0, 7.0, false), NamesBelow::Flat { every, .. } if every > 1));
    }

    #[test]
    fn long_names_beside_a_plot_take_two_lines_or_are_shortened_while_they_differ() {
        let em = 7.0;
        let long = names(&["vit_base_patch16_pretrained", "jepa"]);
        let slot = slot_beside(&long, 60.0, em);
        let (lines, every) = names_beside(&long, slot, 60.0, em, true).unwrap();
        assert_eq!((lines[0].len(), lines[1].len(), every), (2, 1, 1));
        let (lines, _) = names_beside(&long, 1.5 * em, 60.0, em, true).unwrap();
        assert!(lines[0].len() == 1 && lines[0][0].contains('…'), "{lines:?}");
        // Two that differ in the middle alone would look the same.
        let alike = names(&[
            "convolutional_network_1_pretrained_on_images",
            "convolutional_network_2_pretrained_on_images",
        ]);
        assert_eq!(names_beside(&alike, 1.5 * em, 60.0, em, true), None);
    }
}
