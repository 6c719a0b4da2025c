// SPDX-License-Identifier: MIT
//! For a paper: a table that fits one column, and the numbers as commands. Numbers that are pasted go stale; commands follow
//! the results by themselves.

use super::summary::{ratio, ratio_at};
use super::{Run, Set};
use crate::numbers::{number, number_to_paste, number_with_interval, percent};
use crate::table::latex::{escape, math};
use crate::table::reason;
use crate::text::{join, printable};
use repscope_core::{Results, Score};

/// Heads beside each other that fit one column of a journal.
const HEADS: usize = 3;

/// `pis_table.tex`, `pis_macros.tex` and `pis_sentences.tex`: names and contents. None where there are no scores.
pub fn perturb_latex(results: &Results, suffix: &str) -> Vec<(String, String)> {
    let Some(run) = Run::first(results) else {
        return Vec::new();
    };
    vec![
        ("pis_table.tex".to_string(), table(&run, suffix)),
        ("pis_macros.tex".to_string(), macros(&run, suffix)),
        ("pis_sentences.tex".to_string(), sentences(&run)),
    ]
}

fn table(run: &Run, suffix: &str) -> String {
    let tabulars: Vec<String> = run.heads.chunks(HEADS).map(|heads| tabular(run, heads)).collect();
    format!(
        "% needs \\usepackage{{booktabs}}\n\\begin{{table}}\n  \\centering\n  \\footnotesize\\setlength{{\\tabcolsep}}{{3pt}}\n  \
         \\caption{{{}}}\n  \\label{{tab:pis}}\n{}\\end{{table}}\n",
        caption(run, suffix),
        tabulars.join("  \\par\\medskip\n")
    )
}

fn caption(run: &Run, suffix: &str) -> String {
    let how = match suffix {
        "" => String::new(),
        _ => format!(" ({})", escape(suffix)),
    };
    let mut sentences = vec![format!(
        "Perturbation impact score (PIS: accuracy lost, divided by the share that is masked) and accuracy lost ($\\Delta$, in \
         points) of {}{how}.",
        escape(run.model)
    )];
    let baselines = run.heads.iter().filter_map(|head| {
        let value = in_percent(run.baseline(head)?)?.0;
        Some(format!("{} {} \\%", escape(head), math(&value)))
    });
    let baselines = join(baselines, ", ");
    if !baselines.is_empty() {
        sentences.push(format!("Accuracy without perturbation: {baselines}."));
    }
    let first = run.sets.first().and_then(|set| run.pis(run.leading(), "", &set.name));
    if let Some((score, level)) = first.and_then(|score| Some((score, score.level?))) {
        let known = |text: &Option<String>| escape(text.as_deref().unwrap_or("not recorded"));
        sentences.push(format!(
            "Brackets: {} intervals of PIS ({} over {} {}).",
            escape(&percent(level)),
            known(&score.method),
            score.n,
            known(&score.unit)
        ));
    }
    sentences.join(" ")
}

/// A line for each set, and below it the intervals.
fn tabular(run: &Run, heads: &[String]) -> String {
    let mut text = format!(
        "  \\begin{{tabular}}{{@{{}}l{}@{{}}}}\n    \\toprule\n",
        "r".repeat(heads.len())
    );
    let names: String = heads.iter().map(|head| format!(" & {}", escape(head))).collect();
    let columns = " & PIS {\\scriptsize ($\\Delta$)}".repeat(heads.len());
    text += &format!("   {names} \\\\\n    Masked{columns} \\\\\n    \\midrule\n");
    for (i, set) in run.sets.iter().enumerate() {
        if i > 0 && run.sets[i - 1].family != set.family {
            text += "    \\addlinespace\n";
        }
        text += &lines(run, heads, set);
    }
    text + "    \\bottomrule\n  \\end{tabular}\n"
}

fn lines(run: &Run, heads: &[String], set: &Set) -> String {
    let mut first = vec![format!("{} {}\\,\\%", escape(&set.family), set.percent)];
    let mut second = vec![String::new()];
    for head in heads {
        let (value, interval) = match run.pis(head, "", &set.name).and_then(with_interval) {
            Some((value, interval)) => (math(&value), interval.map(|ends| format!("{{\\tiny {}}}", math(&ends)))),
            None => ("---".to_string(), None),
        };
        let drop = run.pis(head, ".drop", &set.name).and_then(in_percent);
        let drop = drop.map(|(drop, _)| format!(" {{\\scriptsize ({})}}", math(&drop)));
        first.push(value + &drop.unwrap_or_default());
        second.push(interval.unwrap_or_default());
    }
    let (values, intervals) = (first.join(" & "), second.join(" & "));
    if second.iter().all(String::is_empty) {
        format!("    {values} \\\\\n")
    } else {
        // The brackets belong to the line above.
        format!("    {values} \\\\[-2pt]\n    {intervals} \\\\\n")
    }
}

/// A value, and its interval where it has one.
type Written = (String, Option<String>);

/// A value and its interval as they are written.
fn with_interval(score: &Score) -> Option<Written> {
    let Some(interval) = score.interval else {
        return Some((number(score.value?), None));
    };
    let (value, interval) = number_with_interval(score.value?, interval);
    Some((value, Some(interval)))
}

/// The same for a share, in percent.
fn in_percent(score: &Score) -> Option<Written> {
    with_interval(&hundredfold(score))
}

fn hundredfold(score: &Score) -> Score {
    Score {
        value: score.value.map(|x| 100.0 * x),
        interval: score.interval.map(|ends| ends.map(|end| 100.0 * end)),
        ..score.clone()
    }
}

/// Significant digits of a number that may be pasted without its interval.
const DIGITS: i32 = 3;

/// A value and its interval for text.
fn pasted(score: &Score) -> Option<Written> {
    let Some(interval) = score.interval else {
        return Some((number(score.value?), None));
    };
    let (value, interval) = number_to_paste(score.value?, interval, DIGITS);
    Some((value, Some(interval)))
}

/// The same for a share, in percent.
fn pasted_percent(score: &Score) -> Option<Written> {
    pasted(&hundredfold(score))
}

const ONES: [&str; 20] = [
    "Zero",
    "One",
    "Two",
    "Three",
    "Four",
    "Five",
    "Six",
    "Seven",
    "Eight",
    "Nine",
    "Ten",
    "Eleven",
    "Twelve",
    "Thirteen",
    "Fourteen",
    "Fifteen",
    "Sixteen",
    "Seventeen",
    "Eighteen",
    "Nineteen",
];
const TENS: [&str; 10] = [
    "", "", "Twenty", "Thirty", "Forty", "Fifty", "Sixty", "Seventy", "Eighty", "Ninety",
];

/// The contents of `pis_macros.tex`.
fn macros(run: &Run, suffix: &str) -> String {
    let mut commands = Commands {
        names: Vec::new(),
        text: format!(
            "% Scores of {} perturbed by {}. Read with \\input, then write \\PIS... where a number belongs.\n% Accuracy in percent, \
             Drop and Aopc in points. Range: smallest and largest PIS over all strengths.\n",
            printable(run.model),
            printable(if suffix.is_empty() { "masks" } else { suffix })
        ),
    };
    for head in &run.heads {
        let of = letters(head);
        commands.add(format!("PISBaseline{of}"), pasted_percent, run.baseline(head));
        for set in &run.sets {
            let name = format!("PIS{}{}{of}", letters(&set.family), spelled(set.percent));
            commands.add(name.clone(), pasted, run.pis(head, "", &set.name));
            commands.add(format!("{name}Drop"), pasted_percent, run.pis(head, ".drop", &set.name));
            commands.add(format!("{name}Accuracy"), pasted_percent, run.accuracy(head, &set.name));
        }
        for family in run.families() {
            let name = format!("PIS{}{of}", letters(family));
            commands.add(format!("{name}Mean"), pasted, run.pis(head, ".mean", family));
            commands.add(format!("{name}Aopc"), pasted_percent, run.pis(head, ".aopc", family));
            if let Some(range) = range(run, head, family) {
                commands.define(format!("{name}Range"), &range);
            }
        }
        for other in ["random", "bottom"] {
            let shared = run.of_family("top").into_iter().map(|set| set.percent);
            for percent in shared.filter(|percent| run.at(other, *percent).is_some()) {
                let name = format!("PISTopVersus{}{}{of}", letters(other), spelled(percent));
                commands.add_ratio(name, ratio_at(run, head, other, percent));
            }
        }
    }
    if let (Some(ratio), _) = ratio(run) {
        commands.define("PISTopVersusRandom".to_string(), &math(&number(ratio)));
    }
    commands.text
}

/// The smallest and the largest score of a family.
fn range(run: &Run, head: &str, family: &str) -> Option<String> {
    let scores = run.of_family(family).into_iter();
    let scores = scores.filter_map(|set| run.pis(head, "", &set.name).filter(|score| score.value.is_some()));
    let mut scores: Vec<&Score> = scores.collect();
    scores.sort_by(|a, b| a.value.unwrap_or(0.0).total_cmp(&b.value.unwrap_or(0.0)));
    let written = |score: &Score| Some(math(&pasted(score)?.0));
    let (least, most) = (written(scores.first()?)?, written(scores.last()?)?);
    Some(format!("{least} to {most}"))
}

/// The contents of `pis_sentences.tex`: what a paper says about each family, ready to be pasted.
fn sentences(run: &Run) -> String {
    let head = run.leading();
    let mut text = format!(
        "% Sentences to paste, of {}. Brackets are {} intervals. pis_macros.tex has the same numbers as commands.\n",
        printable(run.model),
        run.baseline(head)
            .and_then(|score| score.level)
            .map_or("confidence".to_string(), |level| percent(level).replace(" %", " \\%")),
    );
    for family in run.families() {
        let lines = run
            .of_family(family)
            .last()
            .and_then(|set| of_strongest(run, head, set));
        text += &format!("\n% {}\n", printable(family));
        text.extend(lines.map(|line| line + "\n"));
        let strengths: Vec<f64> = run.of_family(family).iter().map(|set| set.percent).collect();
        if let ([least, .., most], Some(range)) = (&strengths[..], range(run, head, family)) {
            text += &format!(
                "From {least} to {most}\\,\\% masked, the PIS of {} is {range}.\n",
                named(family)
            );
        }
    }
    if let (Some(ratio), remark) = ratio(run) {
        text += "\n% top against random\n";
        text.extend(remark.map(|remark| format!("% {}\n", printable(&remark))));
        text += &format!(
            "At 5\\,\\%, masking the brightest pixels has {} times the impact of masking random ones.\n",
            math(&number(ratio))
        );
    }
    text
}

/// What the strongest mask of a family does.
fn of_strongest(run: &Run, head: &str, set: &Set) -> Option<String> {
    let (drop, pis) = (run.pis(head, ".drop", &set.name)?, run.pis(head, "", &set.name)?);
    let [before, after] = [run.baseline(head)?, run.accuracy(head, &set.name)?].map(pasted_percent);
    let with = |(value, interval): Written| {
        let interval = interval.map(|ends| format!(" {}", math(&ends)));
        format!("{}{}", math(&value), interval.unwrap_or_default())
    };
    let is_clear = |[low, high]: [f64; 2]| low > 0.0 || high < 0.0;
    let is_clear = drop.interval.is_some_and(is_clear);
    let what = match drop.value? {
        drop if is_clear && drop > 0.0 => "lowers",
        _ if is_clear => "raises",
        _ => "does not clearly change",
    };
    Some(format!(
        "Masking {} {}\\,\\% {what} the {} accuracy: {}\\,\\% instead of {}\\,\\%, a loss of {} points and a PIS of {}.",
        the(&set.family),
        set.percent,
        escape(head),
        math(&after?.0),
        math(&before?.0),
        with(pasted_percent(drop)?),
        with(pasted(pis)?)
    ))
}

/// `the brightest`.
fn the(family: &str) -> String {
    match family {
        "top" => "the brightest".to_string(),
        "bottom" => "the dimmest".to_string(),
        "random" => "a random".to_string(),
        other => format!("({})", escape(other)),
    }
}

/// `the brightest pixels`.
fn named(family: &str) -> String {
    match family {
        "top" => "the brightest pixels".to_string(),
        "bottom" => "the dimmest pixels".to_string(),
        "random" => "random pixels".to_string(),
        other => escape(other),
    }
}

struct Commands {
    names: Vec<String>,
    text: String,
}

impl Commands {
    /// A command for the value, and one for its interval.
    fn add(&mut self, name: String, write: fn(&Score) -> Option<Written>, score: Option<&Score>) {
        let Some(score) = score else { return };
        match write(score) {
            Some((value, interval)) => {
                self.define(name.clone(), &math(&value));
                if let Some(interval) = interval {
                    self.define(format!("{name}Interval"), &math(&interval));
                }
            }
            None => {
                self.text += &format!("% {}: {}\n", printable(&score.metric), printable(&reason(score)));
                self.define(name, "---");
            }
        }
    }

    /// A command for a ratio; a comment says what a reader must know of it.
    fn add_ratio(&mut self, name: String, (ratio, remark): (Option<f64>, Option<String>)) {
        self.text
            .extend(remark.map(|remark| format!("% {}\n", printable(&remark))));
        let ratio = ratio.map_or("---".to_string(), |ratio| math(&number(ratio)));
        self.define(name, &ratio);
    }

    /// Names that are equal in letters get one more word.
    fn define(&mut self, mut name: String, content: &str) {
        while self.names.contains(&name) {
            name += "Again";
        }
        // Good in text and in formulas alike.
        let inner = content.strip_prefix('$').and_then(|text| text.strip_suffix('$'));
        let content = match inner.filter(|text| !text.contains('$')) {
            Some(formula) => format!("\\ensuremath{{{formula}}}"),
            None => content.to_string(),
        };
        self.text += &format!("\\newcommand{{\\{name}}}{{{content}}}\n");
        self.names.push(name);
    }
}

/// `left_half2` is `LeftHalfTwo`. Letters that LaTeX does not take in a command are left out.
fn letters(name: &str) -> String {
    let mut text = String::new();
    let mut opens = true;
    for c in name.chars() {
        match c {
            'a'..='z' if opens => text.push(c.to_ascii_uppercase()),
            'a'..='z' | 'A'..='Z' => text.push(c),
            '0'..='9' => text.push_str(ONES[c as usize - '0' as usize]),
            _ => {}
        }
        opens = !c.is_ascii_alphabetic();
    }
    text
}

/// `0.5` is `ZeroPointFive`, `25` is `TwentyFive`.
fn spelled(percent: f64) -> String {
    let digits = percent.to_string();
    let (whole, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
    let mut text = match whole.parse::<usize>() {
        Ok(n @ 0..20) => ONES[n].to_string(),
        Ok(n @ 20..100) => format!("{}{}", TENS[n / 10], if n % 10 == 0 { "" } else { ONES[n % 10] }),
        Ok(100) => "Hundred".to_string(),
        _ => letters(whole),
    };
    if !fraction.is_empty() {
        text += &format!("Point{}", letters(fraction));
    }
    text
}

#[cfg(test)]
mod tests_of_latex {
    use super::super::testdata::{of_document, one_head};
    use super::*;

    #[test]
    fn a_table_has_each_head_with_score_loss_and_interval() {
        let files = perturb_latex(&of_document(), "blackout");
        let (name, text) = &files[0];
        assert_eq!(name, "pis_table.tex");
        let rows = r"    top 1\,\% & $3.26$ {\scriptsize ($3.26$)} & $4.39$ {\scriptsize ($4.39$)} & $3.71$ {\scriptsize ($3.71$)} \\[-2pt]
     & {\tiny $[3.06, 3.46]$} & {\tiny $[4.19, 4.59]$} & {\tiny $[3.51, 3.91]$} \\
    top 5\,\% & $7.200$ {\scriptsize ($36.00$)} &";
        assert!(text.contains(rows), "{text}");
        let caption = "in points) of resnet50 (blackout). Accuracy without perturbation: combined $51.26$ \\%, modulation \
                       $76.39$ \\%, snr $68.71$ \\%. Brackets: 95 \\% intervals of PIS (Bonett-Price over 1797 samples).}";
        assert!(text.contains(caption), "{text}");
        assert!(text.contains("    & combined & modulation & snr \\\\\n"), "{text}");
    }

    #[test]
    fn many_heads_go_into_tables_below_each_other() {
        let mut results = one_head();
        for other in ["b_1", "c", "d"] {
            for score in one_head().scores {
                let metric = score.metric.replace("digit", other);
                results.scores.push(Score {
                    metric: metric.into(),
                    ..score
                });
            }
        }
        let text = &perturb_latex(&results, "")[0].1;
        assert_eq!(text.matches("\\begin{tabular}").count(), 2);
        assert!(text.contains("& b\\_1"), "{text}");
    }

    #[test]
    fn without_scores_there_is_nothing_to_print() {
        assert_eq!(perturb_latex(&Results::default(), "blackout"), []);
    }
}

#[cfg(test)]
mod tests_of_macros {
    use super::super::testdata::{of_document, one_head};
    use super::*;

    fn lines(results: &repscope_core::Results) -> Vec<String> {
        let text = macros(&Run::first(results).unwrap(), "blackout");
        text.lines().map(str::to_string).collect()
    }

    #[test]
    fn numbers_are_commands_with_spelled_names() {
        let lines = lines(&of_document());
        for line in [
            r"\newcommand{\PISBaselineCombined}{\ensuremath{51.26}}",
            r"\newcommand{\PISTopOneCombined}{\ensuremath{3.26}}",
            r"\newcommand{\PISTopOneCombinedInterval}{\ensuremath{[3.06, 3.46]}}",
            r"\newcommand{\PISTopFiveCombinedDrop}{\ensuremath{36.00}}",
            r"\newcommand{\PISBottomFiveSnrAccuracy}{\ensuremath{68.21}}",
            r"\newcommand{\PISTopModulationMean}{\ensuremath{5.20}}",
            // Three digits where the interval alone would leave two.
            r"\newcommand{\PISBottomOneCombined}{\ensuremath{0.800}}",
            r"\newcommand{\PISTopCombinedRange}{$3.26$ to $7.200$}",
            r"\newcommand{\PISBottomCombinedRange}{$0.300$ to $0.800$}",
            // 3.26 / 2 and 7.2 / 0.3.
            r"\newcommand{\PISTopVersusRandomOneCombined}{\ensuremath{1.63}}",
            r"\newcommand{\PISTopVersusBottomFiveCombined}{\ensuremath{24}}",
            r"\newcommand{\PISTopVersusRandom}{\ensuremath{5.581}}",
        ] {
            assert!(lines.iter().any(|own| own == line), "{line} in {lines:#?}");
        }
    }

    #[test]
    fn sentences_can_be_pasted() {
        let text = sentences(&Run::first(&of_document()).unwrap());
        for line in [
            r"Masking the brightest 5\,\% lowers the combined accuracy: $15.26$\,\% instead of $51.26$\,\%, a loss of $36.00$ $[35.80, 36.20]$ points and a PIS of $7.200$ $[7.160, 7.240]$.",
            r"From 1 to 5\,\% masked, the PIS of the dimmest pixels is $0.300$ to $0.800$.",
            r"At 5\,\%, masking the brightest pixels has $5.581$ times the impact of masking random ones.",
        ] {
            assert!(text.lines().any(|own| own == line), "{line}\n{text}");
        }
        let mut results = of_document();
        super::super::testdata::change(&mut results, "pis.combined.drop@bottom5", 0.0, Some([-0.01, 0.01]));
        let text = sentences(&Run::first(&results).unwrap());
        assert!(
            text.contains("the dimmest 5\\,\\% does not clearly change the combined"),
            "{text}"
        );
    }

    #[test]
    fn names_hold_letters_only_and_are_told_apart() {
        assert_eq!(
            [0.5, 1.0, 12.0, 20.0, 25.0, 100.0].map(spelled),
            ["ZeroPointFive", "One", "Twelve", "Twenty", "TwentyFive", "Hundred"]
        );
        assert_eq!(["snr", "left_half2", "β-x"].map(letters), ["Snr", "LeftHalfTwo", "X"]);
        let mut results = one_head();
        for score in one_head().scores {
            let metric = score.metric.replace("digit", "digit_");
            results.scores.push(Score {
                metric: metric.into(),
                ..score
            });
        }
        let lines = lines(&results);
        assert!(
            lines.iter().any(|line| line.contains(r"{\PISTopOneDigitAgain}")),
            "{lines:#?}"
        );
    }

    #[test]
    fn a_value_that_does_not_exist_is_a_dash_with_its_reason() {
        let mut results = one_head();
        results.scores[2].value = None;
        results.scores[2].reason = Some("nothing was masked".to_string());
        let lines = lines(&results);
        let at = lines
            .iter()
            .position(|line| line == r"\newcommand{\PISTopOneDigit}{---}")
            .unwrap();
        assert_eq!(lines[at - 1], "% pis.digit@top1: nothing was masked");
    }
}
