// SPDX-License-Identifier: MIT
//! What the energies of a system say, in a few words that cannot mislead.
//!
//! A level alone says nothing: where all vectors lie in a narrow cone, every text fits every signal. So neither a level nor the
//! word of its band ("good") is named without that of shuffled pairs.

use super::{System, four, reason, written};
use crate::compare::probability::probability;
use crate::numbers::{number, percent};
use crate::text::{columns, join, printable};
use repscope_core::Score;

/// Matched pairs are called nearer up to this p-value, or from this many standard deviations where none was drawn.
const P: f64 = 0.05;
const Z: f64 = -1.645;
/// From this share on, a level is said to be that of shuffled pairs.
const MOSTLY: f64 = 0.5;

/// One or two sentences with a full stop each.
pub(crate) fn reading(system: &System) -> String {
    let sentences = [band(system), level(system), reference(system), centered(system)];
    printable(&join(
        sentences.into_iter().flatten().map(|sentence| sentence + "."),
        " ",
    ))
}

/// Whether matched pairs are nearer than shuffled ones; `None` where that is not known.
fn is_nearer(system: &System) -> Option<bool> {
    match system.value("p") {
        Some(p) => Some(p <= P),
        None => system.value("z").map(|z| z <= Z),
    }
}

/// What the bands of the specification call the level, and that of shuffled pairs.
fn band(system: &System) -> Option<String> {
    let matched = system.value("alignment")?;
    let own = format!("{}: {} alignment by the bands", four(matched), system.band_of(matched)?);
    let Some(shuffled) = system.value("shuffled") else {
        return Some(own);
    };
    let (other, level) = (system.band_of(shuffled)?, four(shuffled));
    Some(if system.band_of(matched).as_deref() == Some(&other) {
        format!("{own}, but shuffled pairs are {other} too ({level})")
    } else {
        format!("{own}; shuffled pairs are {other} ({level})")
    })
}

/// How the level compares with that of shuffled pairs.
fn level(system: &System) -> Option<String> {
    let Some(matched) = system.value("alignment") else {
        return Some(format!("There is no energy: {}", reason(system.score("alignment"))));
    };
    let Some(shuffled) = system.value("shuffled") else {
        let (level, why) = (four(matched), reason(system.score("shuffled")));
        return Some(format!(
            "The level {level} cannot be judged without shuffled pairs: {why}"
        ));
    };
    let levels = format!("{} against {}", four(matched), four(shuffled));
    let Some(is_nearer) = is_nearer(system) else {
        return Some(format!(
            "Matched pairs cannot be distinguished from shuffled ones ({levels}; {}): this score says nothing about the signal",
            reason(system.score("z"))
        ));
    };
    let z = system.value("z");
    if !is_nearer {
        let p = system.value("p").map(|p| format!("p = {}", probability(Some(p))));
        let how = p.or(z.map(|z| format!("z = {}", number(z)))).unwrap_or_default();
        return Some(if z.is_some_and(|z| z >= -Z) {
            format!(
                "Matched pairs are farther apart than shuffled ones ({levels}, {how}): check that the rows of signals and \
                 texts belong together"
            )
        } else {
            format!(
                "Matched pairs are no nearer than shuffled ones ({levels}, {how}): this score says nothing about the signal"
            )
        });
    }
    let own = four(matched - shuffled);
    let often = system.value("auc").map(|auc| 100.0 * auc);
    let often = often
        .map(|often| format!("; a matched pair is the nearer one in {often:.1} % of comparisons (50 % by chance)"));
    let often = often.unwrap_or_default();
    Some(if shuffled < 0.0 && shuffled / matched >= MOSTLY {
        format!(
            "The level {} is mostly the cone that all vectors lie in: shuffled pairs have {}, so {own} belongs to the \
             signal{often}",
            four(matched),
            four(shuffled)
        )
    } else {
        format!("Matched pairs are nearer than shuffled ones ({levels}), so {own} belongs to the signal{often}")
    })
}

/// How generated texts compare with the reference.
fn reference(system: &System) -> Option<String> {
    let gap = system.score("gap")?;
    let [low, high] = gap.interval?;
    let size = written(gap);
    Some(if low > 0.0 {
        format!("Reference texts lie nearer to the signals than generated ones (gap {size})")
    } else if high < 0.0 {
        format!(
            "Generated texts lie nearer to the signals than the references (gap {size}), which is circular if they were \
             chosen by this energy"
        )
    } else {
        format!("Generated and reference texts do not differ significantly (gap {size})")
    })
}

/// What centering shows where the energies as they are do not.
fn centered(system: &System) -> Option<String> {
    let (z, auc) = (system.value("centred.z")?, system.value("centred.auc")?);
    let is_found = is_nearer(system) == Some(false) && z <= 2.0 * Z;
    is_found.then(|| {
        format!(
            "After centering they are nearer (z = {}, AUC {})",
            number(z),
            number(auc)
        )
    })
}

/// Columns of a name and its dots.
const NAME: usize = 50;
/// The lines: what the log calls them, the score, and how it reads.
const LINES: [(&str, &str, &str); 4] = [
    ("ETES Alignment", "alignment", "lower is better"),
    ("ETES Total", "total", "lower is better"),
    ("ETES Reference", "reference", "lower is better"),
    ("ETES Gap", "gap", "> 0: worse than the reference"),
];

/// `glim: 1662 samples, 95 % intervals`.
pub(super) fn heading(system: &System, level: f64) -> String {
    let n = system.count();
    let samples = if n == 1 { "sample" } else { "samples" };
    let level = percent(system.level().unwrap_or(level));
    let interval = |part: &str| system.score(part).and_then(|score| score.interval);
    let has_intervals = LINES.iter().any(|(_, part, _)| interval(part).is_some());
    let intervals = if has_intervals {
        format!(", {level} intervals")
    } else {
        String::new()
    };
    printable(&format!("{}: {n} {samples}{intervals}", system.name))
}

/// The four lines, with values and intervals below each other.
pub(super) fn lines(system: &System) -> String {
    let known = LINES.map(|(_, part, _)| system.score(part).filter(|score| score.value.is_some()));
    let written: Vec<[String; 2]> = known.iter().map(|score| fixed(*score)).collect();
    let [value_width, interval_width] =
        [0, 1].map(|i| written.iter().map(|cells| columns(&cells[i])).fold(0, usize::max));
    let mut text = String::new();
    for ((name, part, better), [value, interval]) in LINES.iter().zip(&written) {
        let dots = ".".repeat(NAME.saturating_sub(name.len()));
        let value = if value.is_empty() {
            format!("not available ({})", why(system, part))
        } else if interval_width == 0 {
            format!("{value:>value_width$}  {better}")
        } else {
            format!("{value:>value_width$}  {interval:<interval_width$}  {better}")
        };
        text += &format!("{name}{dots} {value}\n");
    }
    text
}

fn why(system: &System, part: &str) -> String {
    match (system.score(part), part) {
        (None, "reference" | "gap") => "no reference was given".to_string(),
        (None, _) => "it was not computed".to_string(),
        (score, _) => printable(&reason(score)),
    }
}

/// Value and interval to four decimals; both are empty where there is no value.
fn fixed(score: Option<&Score>) -> [String; 2] {
    let Some((value, interval)) = score.and_then(|score| Some((score.value?, score.interval))) else {
        return [String::new(), String::new()];
    };
    let interval = interval.map(|ends| format!("[{}]", ends.map(four).join(", ")));
    [four(value), interval.unwrap_or_default()]
}

#[cfg(test)]
mod tests_of_readings {
    use super::super::testdata::{change, drop_value, two_systems, without_reference};
    use super::*;
    use repscope_core::Results;

    /// What is said behind the band.
    fn said(results: &Results) -> String {
        let system = System::all(results)[0];
        let all = reading(&system);
        match band(&system) {
            Some(band) => all
                .strip_prefix(&format!("{band}. "))
                .expect("the band comes first")
                .to_string(),
            None => all,
        }
    }

    #[test]
    fn the_level_has_the_word_of_its_band_beside_that_of_shuffled_pairs() {
        let of = |results: &Results| band(&System::all(results)[0]).expect("a band");
        assert_eq!(
            of(&two_systems()),
            "-0.3985: fair alignment by the bands, but shuffled pairs are fair too (-0.3612)"
        );
        let mut results = two_systems();
        change(&mut results, "glim", "etes.alignment", -0.61, None);
        change(&mut results, "glim", "etes.shuffled", -0.01, None);
        assert_eq!(
            of(&results),
            "-0.6100: good alignment by the bands; shuffled pairs are weak (-0.0100)"
        );
        drop_value(&mut results, "glim", "etes.shuffled", "one sample cannot be shuffled");
        assert_eq!(of(&results), "-0.6100: good alignment by the bands");
    }

    #[test]
    fn a_level_that_shuffled_pairs_have_too_is_called_that_of_the_cone() {
        // -0.3985 less -0.3612 is -0.0373; -0.3612 is 91 % of the level.
        assert_eq!(
            said(&two_systems()),
            "The level -0.3985 is mostly the cone that all vectors lie in: shuffled pairs have -0.3612, so -0.0373 belongs to \
             the signal; a matched pair is the nearer one in 63.4 % of comparisons (50 % by chance). Reference texts lie \
             nearer to the signals than generated ones (gap 0.0207 [0.0107, 0.0307])."
        );
        let mut results = without_reference();
        change(&mut results, "glim", "etes.shuffled", -0.01, None);
        assert_eq!(
            said(&results),
            "Matched pairs are nearer than shuffled ones (-0.3985 against -0.0100), so -0.3885 belongs to the signal; a matched \
             pair is the nearer one in 63.4 % of comparisons (50 % by chance)."
        );
    }

    #[test]
    fn matched_pairs_that_are_no_nearer_say_nothing_about_the_signal() {
        let mut results = without_reference();
        change(&mut results, "glim", "etes.p", 0.4212, None);
        change(&mut results, "glim", "etes.z", -0.2, None);
        change(&mut results, "glim", "etes.centred.z", -1.0, None);
        assert_eq!(
            said(&results),
            "Matched pairs are no nearer than shuffled ones (-0.3985 against -0.3612, p = 0.421): this score says nothing \
             about the signal."
        );
        change(&mut results, "glim", "etes.centred.z", -8.0, None);
        assert!(said(&results).ends_with("After centering they are nearer (z = -8, AUC 0.7001)."));
        change(&mut results, "glim", "etes.z", 4.0, None);
        assert!(
            said(&results).contains("farther apart than shuffled ones"),
            "{}",
            said(&results)
        );
        // Without permutations the standard deviations decide.
        results.scores.retain(|score| score.metric != "etes.p");
        change(&mut results, "glim", "etes.z", -1.6, None);
        assert!(said(&results).contains("no nearer than shuffled ones (-0.3985 against -0.3612, z = -1.6)"));
        change(&mut results, "glim", "etes.z", -1.7, None);
        assert!(said(&results).starts_with("The level -0.3985 is mostly the cone"));
    }

    #[test]
    fn what_cannot_be_judged_is_not_judged() {
        let mut results = without_reference();
        for metric in ["etes.z", "etes.p"] {
            drop_value(&mut results, "glim", metric, "all texts are the same");
        }
        assert_eq!(
            said(&results),
            "Matched pairs cannot be distinguished from shuffled ones (-0.3985 against -0.3612; all texts are the same): this score \
             says nothing about the signal."
        );
        drop_value(&mut results, "glim", "etes.shuffled", "one sample cannot be shuffled");
        assert_eq!(
            said(&results),
            "The level -0.3985 cannot be judged without shuffled pairs: one sample cannot be shuffled."
        );
        drop_value(&mut results, "glim", "etes.alignment", "every signal is zero");
        assert_eq!(said(&results), "There is no energy: every signal is zero.");
    }

    #[test]
    fn the_gap_is_read_by_its_interval() {
        let mut results = two_systems();
        change(&mut results, "glim", "etes.gap", 0.002, Some([-0.008, 0.012]));
        assert!(said(&results).ends_with("do not differ significantly (gap 0.002 [-0.008, 0.012])."));
        change(&mut results, "glim", "etes.gap", -0.02, Some([-0.03, -0.01]));
        assert!(said(&results).ends_with("which is circular if they were chosen by this energy."));
    }
}

#[cfg(test)]
mod tests_of_log {
    use super::super::testdata::{change, two_systems, without_reference};
    use super::*;
    use repscope_core::Results;

    /// The lines of each system.
    fn log(results: &Results) -> String {
        let block = |system: &System| format!("{}\n{}", heading(system, 0.95), lines(system));
        join(System::all(results).iter().map(block), "\n")
    }

    #[test]
    fn the_log_has_the_lines_of_the_document_with_interval_and_direction() {
        let expected = "\
glim: 300 samples, 95 % intervals
ETES Alignment.................................... -0.3985  [-0.4085, -0.3885]  lower is better
ETES Total........................................ -0.3485  [-0.3585, -0.3385]  lower is better
ETES Reference.................................... -0.4192  [-0.4292, -0.4092]  lower is better
ETES Gap..........................................  0.0207  [0.0107, 0.0307]    > 0: worse than the reference

nucleus 0.95: 300 samples, 95 % intervals
";
        let text = log(&two_systems());
        assert!(text.starts_with(expected), "{text}");
        // The numbers of the log start right behind column 50.
        for line in text.lines().filter(|line| line.starts_with("ETES")) {
            assert_eq!(line.find(' ').map(|_| &line[49..51]), Some(". "), "{line}");
        }
    }

    #[test]
    fn what_was_not_given_is_not_available_and_never_zero() {
        let expected = "\
ETES Reference.................................... not available (no reference was given)
ETES Gap.......................................... not available (no reference was given)
";
        let mut results = without_reference();
        assert!(log(&results).ends_with(expected));
        results
            .scores
            .retain(|score| !["etes.reference", "etes.gap"].contains(&score.metric.as_str()));
        assert!(log(&results).ends_with(expected));
        results.scores.retain(|score| score.metric != "etes.total");
        assert!(log(&results).contains(". not available (it was not computed)\n"));
    }

    #[test]
    fn zero_has_no_sign_and_one_sample_no_interval() {
        let mut results = without_reference();
        change(&mut results, "glim", "etes.alignment", -0.00001, None);
        change(&mut results, "glim", "etes.total", 1.0, None);
        results.scores.iter_mut().for_each(|score| score.n = 1);
        let expected = "\
glim: 1 sample
ETES Alignment.................................... 0.0000  lower is better
ETES Total........................................ 1.0000  lower is better
";
        let text = log(&results);
        assert!(text.starts_with(expected), "{text}");
        assert_eq!(log(&Results::default()), "");
    }
}
