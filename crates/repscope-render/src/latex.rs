// SPDX-License-Identifier: MIT
//! The table for a paper: `booktabs` rules in a `table` environment, nothing else needed.

use crate::summary::{Cell, Row, Summary};
use repscope_core::Better;
use std::ops::Range;

/// Models beside each other that fit on a page with the ends of their intervals, with margins (±), and without.
const MODELS_WITH_INTERVALS: usize = 2;
const MODELS_WITH_MARGINS: usize = 4;
const MODELS_WITHOUT_INTERVALS: usize = 6;

/// What stands around the numbers of a table.
pub(crate) struct Setting<'a> {
    /// The first words of the caption, without a full stop.
    pub(crate) title: &'a str,
    /// What follows `tab:` in the label.
    pub(crate) label: &'a str,
    /// Sentences of the caption after the legend.
    pub(crate) legend: &'a [String],
    /// Lines below the numbers.
    pub(crate) remarks: &'a [String],
}

/// Names longer than this take two lines over their column.
const LONGEST_HEAD: usize = 18;

/// Tables of more models than this fill the width of the page.
const MOST_NARROW: usize = 3;

pub(crate) fn render(summary: &Summary) -> String {
    render_with(summary, &[])
}

/// The table, with further lines below the numbers.
pub(crate) fn render_with(summary: &Summary, remarks: &[String]) -> String {
    let title = if summary.intervals.is_empty() {
        "Scores"
    } else {
        "Scores with confidence intervals"
    };
    let setting = Setting {
        title,
        label: "repscope",
        legend: &[],
        remarks,
    };
    render_in(summary, &setting)
}

/// A table with its own title and remarks.
pub(crate) fn render_in(summary: &Summary, setting: &Setting<'_>) -> String {
    if summary.rows.is_empty() {
        return "% No scores.\n".to_string();
    }
    let cells = || summary.rows.iter().flat_map(|row| row.cells.iter().flatten());
    let intervals = || cells().filter_map(|cell| cell.interval.as_deref());
    let most = if intervals().any(|interval| interval.starts_with('[')) {
        MODELS_WITH_INTERVALS
    } else if intervals().next().is_some() {
        MODELS_WITH_MARGINS
    } else {
        MODELS_WITHOUT_INTERVALS
    };
    let count = summary.models.len();
    // As many tables as needed, evenly filled.
    let each = count.div_ceil(count.div_ceil(most));
    let groups = (0..count).step_by(each).map(|start| start..count.min(start + each));

    let mut text = String::from(
        "% needs \\usepackage{booktabs}\n\\begin{table}\n  \\centering\n  \\footnotesize\\setlength{\\tabcolsep}{3pt}\n",
    );
    text.push_str(&format!(
        "  \\caption{{{}}}\n  \\label{{tab:{}}}\n",
        caption(summary, setting),
        setting.label
    ));
    let tabulars: Vec<String> = groups.map(|models| tabular(summary, models)).collect();
    text.push_str(&tabulars.join("  \\par\\medskip\n"));
    text.push_str(&remarks(summary, setting));
    text.push_str("\\end{table}\n");
    text
}

fn caption(summary: &Summary, setting: &Setting<'_>) -> String {
    let mut sentences = vec![format!("{}.", escape(setting.title))];
    if summary.has_direction(Better::Higher) {
        sentences.push("$\\uparrow$ higher is better.".to_string());
    }
    if summary.has_direction(Better::Lower) {
        sentences.push("$\\downarrow$ lower is better.".to_string());
    }
    if summary.has_best() {
        sentences.push("\\textbf{Bold}: best, its interval apart from all others.".to_string());
    }
    let rest = setting.legend.iter().chain(&summary.intervals);
    sentences.extend(rest.map(|sentence| format!("{}.", escape(sentence))));
    sentences.join(" ")
}

fn tabular(summary: &Summary, models: Range<usize>) -> String {
    let chance = if summary.has_chance() { "r" } else { "" };
    let n = if summary.has_n() { "r" } else { "" };
    let columns = format!("lc{}{chance}{n}", "r".repeat(models.len()));
    // Tables of many models are as wide as the page: the space between columns takes what long names leave.
    let (kind, begin) = match summary.models.len() {
        0..=MOST_NARROW => ("tabular", format!("{{@{{}}{columns}@{{}}}}")),
        _ => (
            "tabular*",
            format!("{{\\linewidth}}{{@{{\\extracolsep{{0pt plus 1fil minus 4pt}}}}{columns}@{{}}}}"),
        ),
    };
    let mut text = format!("  \\begin{{{kind}}}{begin}\n    \\toprule\n");
    let mut header = vec!["Metric".to_string(), String::new()];
    header.extend(summary.models[models.clone()].iter().map(|model| head(model)));
    header.extend(summary.has_chance().then(|| "Chance".to_string()));
    header.extend(summary.has_n().then(|| "$n$".to_string()));
    text.push_str(&format!("    {} \\\\\n    \\midrule\n", header.join(" & ")));
    for row in &summary.rows {
        if row.opens_block {
            text.push_str("    \\addlinespace\n");
        }
        let mut fields = vec![metric(row), arrow(row.better).to_string()];
        fields.extend(
            row.cells[models.clone()]
                .iter()
                .map(|c| c.as_ref().map(cell).unwrap_or_default()),
        );
        fields.extend(summary.has_chance().then(|| range(&row.chance(models.clone()))));
        fields.extend(summary.has_n().then(|| range(&row.n(models.clone()))));
        text.push_str(&format!("    {} \\\\\n", fields.join(" & ")));
    }
    text.push_str(&format!("    \\bottomrule\n  \\end{{{kind}}}\n"));
    text
}

/// The name of a model over its column: a long one is broken in two near its middle, behind `_ - . /` or a blank.
fn head(model: &str) -> String {
    let letters: Vec<char> = model.chars().collect();
    let is_break = |at: &usize| matches!(letters[at - 1], '_' | '-' | '.' | '/' | ' ');
    let middle = (1..letters.len())
        .filter(is_break)
        .min_by_key(|at| (2 * at).abs_diff(letters.len()));
    match middle.filter(|_| letters.len() > LONGEST_HEAD) {
        Some(at) => {
            let (first, second): (String, String) = (letters[..at].iter().collect(), letters[at..].iter().collect());
            format!("\\shortstack[r]{{{}\\\\{}}}", escape(first.trim_end()), escape(&second))
        }
        None => escape(model),
    }
}

/// Remarks, footnotes and reasons, below the tables.
fn remarks(summary: &Summary, setting: &Setting<'_>) -> String {
    let own = setting.remarks.iter().map(|remark| escape(remark));
    let notes = summary
        .notes
        .iter()
        .enumerate()
        .map(|(i, note)| format!("$^{{{}}}$ {}", i + 1, escape(note)));
    let undefined = summary
        .undefined
        .iter()
        .map(|(who, reason)| format!("--- {}: {}", escape(who), escape(reason)));
    let lines: Vec<String> = own.chain(notes).chain(undefined).collect();
    if lines.is_empty() {
        return String::new();
    }
    format!(
        "  \\par\\smallskip\n  {{\\footnotesize\n    {}\\par}}\n",
        lines.join("\\\\\n    ")
    )
}

fn metric(row: &Row) -> String {
    format!("{}{}", escape(&row.metric), mark(row.note))
}

fn cell(cell: &Cell) -> String {
    let Some(value) = &cell.value else {
        return format!("---{}", mark(cell.note));
    };
    let interval = cell.interval.as_deref().unwrap_or("");
    let (value, interval, power) = match common_exponent(value, interval) {
        Some(e) => (
            value.replace(&e, ""),
            interval.replace(&e, ""),
            format!(" ${}$", power_of_ten(&e[1..])),
        ),
        None => (value.clone(), interval.to_string(), String::new()),
    };
    let value = if cell.is_best {
        format!("\\textbf{{\\boldmath{}}}", math(&value))
    } else {
        math(&value)
    };
    let interval = if interval.is_empty() {
        interval
    } else {
        format!(" {{\\scriptsize {}}}", math(&interval))
    };
    format!("{value}{}{interval}{power}", mark(cell.note))
}

/// The exponent (`e-4`) that a value and both ends of its interval share; it is written once.
fn common_exponent(value: &str, interval: &str) -> Option<String> {
    let exponent = value.find('e').map(|at| &value[at..])?;
    let (low, high) = interval.strip_suffix(']')?.split_once(", ")?;
    (low.ends_with(exponent) && high.ends_with(exponent)).then(|| exponent.to_string())
}

fn mark(note: Option<usize>) -> String {
    note.map(|number| format!("$^{{{number}}}$")).unwrap_or_default()
}

/// Numbers in math mode, so that minus signs are minus signs: `1.15e-4` becomes `$1.15{\times}10^{-4}$`.
pub(crate) fn math(numbers: &str) -> String {
    let bare = numbers.trim_matches(['[', ']']);
    let written: Vec<String> = bare
        .split(", ")
        .map(|number| match number.split_once('e') {
            Some((digits, exponent)) => format!("{digits}{}", power_of_ten(exponent)),
            None => number.to_string(),
        })
        .collect();
    let written = written.join(", ").replace('±', "\\pm ");
    if bare == numbers {
        format!("${written}$")
    } else {
        format!("$[{written}]$")
    }
}

fn power_of_ten(exponent: &str) -> String {
    format!("{{\\times}}10^{{{exponent}}}")
}

fn range(text: &str) -> String {
    let ends: Vec<String> = text.split('–').filter(|end| !end.is_empty()).map(math).collect();
    ends.join("--")
}

pub(crate) fn arrow(better: Better) -> &'static str {
    match better {
        Better::Higher => "$\\uparrow$",
        Better::Lower => "$\\downarrow$",
        Better::Neither => "$\\cdot$",
    }
}

/// Keeps characters that LaTeX would take as its own.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '\\' => escaped.push_str("\\textbackslash{}"),
            '~' => escaped.push_str("\\textasciitilde{}"),
            '^' => escaped.push_str("\\textasciicircum{}"),
            '<' => escaped.push_str("$<$"),
            '>' => escaped.push_str("$>$"),
            '|' => escaped.push_str("$|$"),
            '#' | '$' | '%' | '&' | '_' | '{' | '}' => {
                escaped.push('\\');
                escaped.push(c);
            }
            '—' => escaped.push_str("---"),
            '–' => escaped.push_str("--"),
            '±' => escaped.push_str("$\\pm$"),
            '→' => escaped.push_str("$\\to$"),
            '√' => escaped.push_str("$\\surd$"),
            '≈' => escaped.push_str("$\\approx$"),
            '·' => escaped.push_str("$\\cdot$"),
            // Two hyphens are a dash to LaTeX, but part of an option's name to us.
            '-' if escaped.ends_with('-') => escaped.push_str("{}-"),
            _ => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testdata::{missing, score};
    use crate::{Color, Format};
    use repscope_core::Results;

    fn latex(results: &Results) -> String {
        crate::render(results, Format::Latex, 80, Color::No)
    }

    #[test]
    fn a_table_is_ready_for_a_paper() {
        let value = |model: &str, metric: &str, x: f64, e: f64| {
            score(
                model,
                metric,
                x,
                Some((x - e, x + e, "rows", "jackknife")),
                Better::Lower,
            )
        };
        let results = Results {
            scores: vec![
                value("jepa", "smoothness.slope", 1.153e-4, 2.2e-6),
                value("jepa", "uniformity", -2.889, 0.0123),
                missing("jepa", "nmi", "needs labels; give --labels").with_note("100 % of rows"),
                value("auto_encoder", "smoothness.slope", 1.178e-4, 2.2e-5),
                value("auto_encoder", "uniformity", -1.477, 0.0123),
            ],
            ..Results::default()
        };
        let expected = r"% needs \usepackage{booktabs}
\begin{table}
  \centering
  \footnotesize\setlength{\tabcolsep}{3pt}
  \caption{Scores with confidence intervals. $\uparrow$ higher is better. $\downarrow$ lower is better. \textbf{Bold}: best, its interval apart from all others. 95 \% intervals: jackknife over rows.}
  \label{tab:repscope}
  \begin{tabular}{@{}lcrrr@{}}
    \toprule
    Metric &  & jepa & auto\_encoder & $n$ \\
    \midrule
    smoothness.slope & $\downarrow$ & $1.153$ {\scriptsize $[1.131, 1.175]$} ${\times}10^{-4}$ & $1.18{\times}10^{-4}$ {\scriptsize $[9.6{\times}10^{-5}, 1.40{\times}10^{-4}]$} & $1797$ \\
    uniformity & $\downarrow$ & \textbf{\boldmath$-2.889$} {\scriptsize $[-2.901, -2.877]$} & $-1.477$ {\scriptsize $[-1.489, -1.465]$} & $1797$ \\
    nmi$^{1}$ & $\uparrow$ & --- &  & $1797$ \\
    \bottomrule
  \end{tabular}
  \par\smallskip
  {\footnotesize
    $^{1}$ 100 \% of rows\\
    --- nmi for jepa: needs labels; give -{}-labels\par}
\end{table}
";
        assert_eq!(latex(&results), expected);
    }

    #[test]
    fn characters_of_latex_are_escaped() {
        assert_eq!(
            escape("a_b & 50 % #1 $x {y} ~^"),
            r"a\_b \& 50 \% \#1 \$x \{y\} \textasciitilde{}\textasciicircum{}"
        );
        assert_eq!(escape(r"C:\models"), r"C:\textbackslash{}models");
        assert_eq!(escape("a ≈ √N · b"), r"a $\approx$ $\surd$N $\cdot$ b");
    }

    #[test]
    fn many_models_go_into_tables_below_each_other() {
        let interval = Some((0.4, 0.6, "rows", "jackknife"));
        let scores = (0..5)
            .map(|i| score(&format!("model{i}"), "r", 0.5, interval, Better::Higher))
            .collect();
        let text = latex(&Results {
            scores,
            ..Results::default()
        });
        assert!(text.contains("Metric &  & model0 & model1 & $n$"), "{text}");
        assert!(text.contains("Metric &  & model2 & model3 & $n$"), "{text}");
        assert_eq!(text.matches("\\begin{table}").count(), 1);
    }

    #[test]
    fn a_long_name_stands_in_two_lines_and_many_models_fill_the_page() {
        assert_eq!(head("resnet50"), "resnet50");
        assert_eq!(
            head("vit_base_patch16_dino_v2"),
            r"\shortstack[r]{vit\_base\_\\patch16\_dino\_v2}"
        );
        assert_eq!(head("nobreakinthisverylongname"), "nobreakinthisverylongname");
        let of = |model: &str| score(model, "nmi", 0.5, None, Better::Higher);
        let four = Results {
            scores: ["a", "b", "c", "d"].map(of).to_vec(),
            ..Results::default()
        };
        let text = render(&Summary::new(&four));
        assert!(
            text.contains(r"\begin{tabular*}{\linewidth}{@{\extracolsep{0pt plus 1fil minus 4pt}}lcrrrr"),
            "{text}"
        );
        assert!(text.contains(r"\end{tabular*}"));
    }
}
