// SPDX-License-Identifier: MIT
//! For a paper: a table that fits one column, and the numbers as commands. Document 003 wants to paste them; commands follow the
//! results by themselves.

use super::macros::macros;
use super::{Run, Set};
use crate::numbers::{number, number_with_interval, percent};
use crate::table::latex::{escape, math};
use repscope_core::{Results, Score};

/// Heads beside each other that fit one column of a journal.
const HEADS: usize = 3;

/// `pis_table.tex` and `pis_macros.tex`: names and contents. None where there are no scores.
pub fn perturb_latex(results: &Results, suffix: &str) -> Vec<(String, String)> {
    let Some(run) = Run::first(results) else {
        return Vec::new();
    };
    vec![
        ("pis_table.tex".to_string(), table(&run, suffix)),
        ("pis_macros.tex".to_string(), macros(&run, suffix)),
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
    let baselines: Vec<String> = baselines.collect();
    if !baselines.is_empty() {
        sentences.push(format!("Accuracy without perturbation: {}.", baselines.join(", ")));
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
    match second.iter().all(String::is_empty) {
        true => format!("    {} \\\\\n", first.join(" & ")),
        // The brackets belong to the line above.
        false => format!(
            "    {} \\\\[-2pt]\n    {} \\\\\n",
            first.join(" & "),
            second.join(" & ")
        ),
    }
}

/// A value and its interval as they are written.
pub(super) fn with_interval(score: &Score) -> Option<(String, Option<String>)> {
    Some(match (score.value?, score.interval) {
        (value, Some(interval)) => {
            let (value, interval) = number_with_interval(value, interval);
            (value, Some(interval))
        }
        (value, None) => (number(value), None),
    })
}

/// The same for a share, in percent.
pub(super) fn in_percent(score: &Score) -> Option<(String, Option<String>)> {
    let hundred = Score {
        value: score.value.map(|x| 100.0 * x),
        interval: score.interval.map(|ends| ends.map(|end| 100.0 * end)),
        ..score.clone()
    };
    with_interval(&hundred)
}

#[cfg(test)]
mod tests {
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
