// SPDX-License-Identifier: MIT
//! The tables of a retrieval: precision of all directions in one, or where all is wanted, one per direction with a row per measure and
//! a column per K. The renderers are those of all other results; a direction or a K stands where they have a model.

use super::{Part, names, parts};
use crate::numbers::{number_with_margin, percent, rough};
use crate::scores::{grouped, models_as_rows, scores_with};
use crate::table::{Block, Cell, Document, NONE, Table, reason};
use crate::text::{join, printable};
use crate::{Color, Format, csv_files};
use repscope_core::{Results, Score};

/// The measures at K that are shown, by row. The others (macro of recall, say) are in the CSV and JSON files only: a
/// table that says everything is not read.
const ROWS: [(&str, &str); 12] = [
    (PRECISION, "precision"),
    ("label_precision.macro", "macro"),
    ("label_precision.weighted", "weighted"),
    (NORMALIZED, "normalized"),
    (CEILING, "ceiling"),
    ("label_precision.lift", "lift"),
    ("label_recall", "recall"),
    (HIT, "hit rate"),
    ("label_ndcg", "nDCG"),
    ("pair_recall", "pair recall"),
    ("hubness", "hubness"),
    ("hubness.never", "never found"),
];
const PRECISION: &str = "label_precision";
const NORMALIZED: &str = "label_precision.normalized";
const HIT: &str = "label_hit";
const CEILING: &str = "label_precision.ceiling";
/// Rows whose values come from targets, not from queries.
const OF_TARGETS: [&str; 2] = ["hubness", "never found"];
/// Rows with space before them.
const OPENING: [&str; 2] = ["recall", "hubness"];

/// The measures over the whole ranking, and of the spaces.
const WHOLE: [(&str, &str); 3] = [("r_precision", "R-precision"), ("map_at_r", "MAP@R"), ("mrr", "MRR")];
const GAP: (&str, &str) = ("modality_gap", "modality gap");

/// What the rows mean that do not say it themselves.
const MEANINGS: [(&str, &str); 9] = [
    ("precision", "share of the first K with the query's label"),
    ("macro", "mean over labels"),
    ("weighted", "mean over labels, weighted by their targets"),
    ("normalized", "hits over the most possible"),
    ("ceiling", "highest possible precision"),
    ("lift", "precision over chance"),
    ("pair recall", "own partner among the first K"),
    ("hubness", "skewness of how often targets are found"),
    ("never found", "share of targets no query finds"),
];

/// Writes the scores of a retrieval: those that answer in one table, or all with one per model, set of labels and direction. `width`
/// (terminal columns) and `color` matter to [`Format::Table`] only. [`Format::Csv`] is the long form of all scores.
pub fn retrieval_table(results: &Results, all: bool, format: Format, width: usize, color: Color) -> String {
    let parts = parts(results);
    if format == Format::Csv {
        return csv_files::long(results, Vec::new());
    }
    if parts.is_empty() {
        return crate::render(&Results::default(), format, width, color);
    }
    if !all {
        return Document::from(answers(&parts)).render(format, width, color);
    }
    let (tables, scores): (Vec<Table>, Vec<Results>) = parts.iter().map(|part| table(part, &parts)).unzip();
    // How to read the rows is said once, over all tables.
    let all: Results = scores.into_iter().flat_map(|results| results.scores).collect();
    let legend = meanings(&all).into_iter().chain(intervals(&all)).collect();
    let document = Document {
        blocks: tables.into_iter().map(Block::Table).collect(),
        legend: Some(legend),
    };
    document.render(format, width, color)
}

/// Precision at each K, the nearest target as the answer of a classifier, and MAP@R: a row for each direction.
fn answers(parts: &[Part<'_>]) -> Table {
    let mut scores = Vec::new();
    for part in parts {
        let ks = part.ks(|measure| measure == PRECISION);
        let precisions = ks.iter().map(|&k| (format!("precision@{k}"), part.at(PRECISION, k)));
        let first = part.at(HIT, 1).filter(|_| !ks.contains(&1));
        let others = [("top-1 classification", first), ("MAP@R", part.score("map_at_r", None))];
        let others = others.map(|(name, score)| (name.to_string(), score));
        for (name, score) in precisions.chain(others) {
            scores.extend(score.map(|score| Score {
                model: title(part, parts),
                metric: name.into(),
                comparable: false,
                ..for_reading(score)
            }));
        }
    }
    let results: Results = scores.into();
    let mut table = models_as_rows(scores_with(&results, None, [false; 2]));
    table.columns[0].head = Cell::text("direction");
    table.label = "repscope-retrieval".to_string();
    let meaning = "precision@K: share of the first K with the query's label; MAP@R: mean of the precision at each hit, over as many places as \
                   there are relevant targets; --all shows recall, nDCG, pairs, hubs and what is possible";
    table.legend.insert(0, meaning.to_string());
    table
}

/// The direction, with labels and model where there are several.
fn title(part: &Part<'_>, all: &[Part<'_>]) -> String {
    let [model, labels] = names(part, all);
    let mut title = part.title();
    title.extend(labels.map(|labels| format!(", labels {labels}")));
    title.extend(model.map(|model| format!(", {model}")));
    title
}

/// The table of a part, and the scores in it under the names of rows and columns.
fn table(part: &Part<'_>, all: &[Part<'_>]) -> (Table, Results) {
    let [model, labels] = names(part, all);
    let title = title(part, all);
    let label: Vec<&str> = [Some(part.direction), labels, model].into_iter().flatten().collect();
    let label = label.join("-").replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let results = by_k(part);
    let mut table = scores_with(&results, None, [false; 2]);
    table.title = printable(&format!("{title}: {}", counts(part)));
    table.label = format!("repscope-{label}");
    let rows = meanings(&results).map(|rows| format!("Rows: {rows}"));
    table.legend = rows.into_iter().chain(intervals(&results)).collect();
    table.remarks = remark(part).iter().map(|remark| printable(remark)).collect();
    for (i, row) in table.rows.iter_mut().enumerate() {
        row.opens_block = i > 0 && OPENING.contains(&row.cells[0].text.as_str());
        let name = row.cells[0].text.clone();
        let cells = table.columns.iter().zip(&mut row.cells);
        for (column, cell) in cells.filter(|(column, _)| column.is_split) {
            if let Some((value, margin)) = results.score(&column.head.text, &name).and_then(margin) {
                (cell.text, cell.interval) = (value, margin);
            }
        }
    }
    for (measure, name) in WHOLE.into_iter().chain([GAP]) {
        let undefined = part.score(measure, None).filter(|score| score.value.is_none());
        // Most often a row above lacks its value for the same reason.
        let is_said = |reason: &String| table.undefined.iter().any(|(_, said)| said == reason);
        if let Some(reason) = undefined.map(reason).filter(|reason| !is_said(reason)) {
            table.undefined.push((name.to_string(), reason));
        }
    }
    (table, results)
}

/// The scores at K as a table has them: K stands for the model, and no K is better than another.
fn by_k(part: &Part<'_>) -> Results {
    // The hit rate at 1 is always there, and no K of the others.
    let is_shown = |measure: &str| measure != HIT && ROWS.iter().any(|(shown, _)| measure == *shown);
    let mut ks = part.ks(is_shown);
    if ks.is_empty() {
        ks = part.ks(|measure| measure == HIT);
    }
    let ceiling = |k: &usize| part.at(CEILING, *k).and_then(|score| score.value);
    let is_one = |k: &usize| ceiling(k).is_some_and(|x| x > 1.0 - 1e-12);
    let is_free = !ks.is_empty() && ks.iter().all(is_one);
    let mut scores = Vec::new();
    for k in ks {
        let at_k = |measure| part.at(measure, k);
        let effective = ROWS.iter().filter_map(|(measure, _)| at_k(measure)?.effective_k).next();
        let column = match effective {
            Some(all) => format!("K = {k} (all {all})"),
            None => format!("K = {k}"),
        };
        for (measure, name) in ROWS {
            // With a ceiling of 1, normalized precision is precision.
            let is_shown = !is_free || ![NORMALIZED, CEILING].contains(&measure);
            if let Some(score) = at_k(measure).filter(|_| is_shown) {
                scores.push(Score {
                    model: column.clone(),
                    metric: name.into(),
                    comparable: false,
                    ..for_reading(score)
                });
            }
        }
    }
    // The heading says how many queries and targets there are; a column does where a row has others.
    let is_as_in_heading = |score: &Score| score.n == part.queries() || OF_TARGETS.contains(&score.metric.as_str());
    if scores.iter().all(is_as_in_heading) {
        scores.iter_mut().for_each(|score| score.n = 0);
    }
    scores.into()
}

/// Without the last digits that only rounding makes: 0.09999999999999998 is 0.1, and a chance level of 0.9991 is 1.
fn for_reading(score: &Score) -> Score {
    let cut = |x: f64, digits: usize| format!("{x:.*e}", digits - 1).parse().unwrap_or(x);
    Score {
        value: score.value.map(|x| cut(x, 12)),
        chance: score.chance.map(|x| cut(x, 2)),
        ..score.clone()
    }
}

/// Value and half width. Student's intervals are even; where one is not, it was cut at the end of the scale.
fn margin(score: &Score) -> Option<(String, String)> {
    let (value, [low, high]) = (score.value?, score.interval?);
    let (below, above) = (value - low, high - value);
    let is_even = (above - below).abs() <= 1e-6 * above.max(below);
    let is_of_student = score.method.as_deref().is_some_and(|method| method.contains("Student"));
    (is_even || is_of_student).then(|| number_with_margin(value, above.max(below)))?
}

fn counts(part: &Part<'_>) -> String {
    let plural = |n: usize, one: &str, many: &str| format!("{n} {}", if n == 1 { one } else { many });
    let queries = plural(part.queries(), "query", "queries");
    match part.targets() {
        Some(n) => format!("{queries}, each against {}", plural(n, "target", "targets")),
        None => queries,
    }
}

/// The measures that have no K, and the nearest target as the answer of a classifier, in a line.
fn remark(part: &Part<'_>) -> Option<String> {
    let of = |(measure, name): &(&str, &str)| Some(format!("{name} {}", value(part.score(measure, None)?)));
    // A prototype that finds a target classifies nothing: the other way round it would.
    let of_first = match part.sides.0 {
        "prototype" => "nearest target has the label",
        _ => "top-1 classification",
    };
    let first = part.at(HIT, 1).map(|score| format!("{of_first}: {}", value(score)));
    let whole = Some(join(WHOLE.iter().filter_map(of), ", ")).filter(|values| !values.is_empty());
    let whole = whole.map(|values| format!("whole ranking: {values}"));
    Some(join(first.into_iter().chain(whole).chain(of(&GAP)), "; ")).filter(|remark| !remark.is_empty())
}

fn value(score: &Score) -> String {
    let score = &for_reading(score);
    let Some(x) = score.value else {
        return NONE.to_string();
    };
    let cell = Cell::with_interval(x, score.interval);
    let (value, interval) = margin(score).unwrap_or((cell.text, cell.interval));
    let mut text = format!("{value} {interval}").trim_end().to_string();
    text.extend(score.chance.map(|chance| format!(" (chance {})", rough(chance))));
    text
}

/// Says how the intervals were made: the most common way, and of which rows another.
fn intervals(results: &Results) -> Option<String> {
    let known = |part: &Option<String>| part.clone().unwrap_or_else(|| "not recorded".to_string());
    let way = |score: &Score| format!("{} over {}", known(&score.method), known(&score.unit));
    let with_interval = results.scores.iter().filter(|score| score.interval.is_some());
    let mut ways = grouped(with_interval.map(|score| (way(score), score.metric.as_str())));
    ways.sort_by_key(|(_, rows)| std::cmp::Reverse(rows.len()));
    let level = results.scores.iter().find_map(|score| score.level);
    let level = level.map_or("the".to_string(), percent);
    let ways = join(
        ways.iter().enumerate().map(|(i, (way, rows))| match i {
            0 => way.clone(),
            _ => format!("{way} for {}", rows.join(", ")),
        }),
        "; ",
    );
    (!ways.is_empty()).then(|| printable(&format!("± half of the {level} interval: {ways}")))
}

/// What the rows mean that do not say it themselves.
fn meanings(results: &Results) -> Option<String> {
    let is_shown = |name: &str| results.scores.iter().any(|score| score.metric == name);
    let shown = MEANINGS.iter().filter(|(name, _)| is_shown(name));
    let meanings = join(shown.map(|(name, meaning)| format!("{name}: {meaning}")), "; ");
    Some(meanings).filter(|meanings| !meanings.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testdata::{direction, missing, two_models};

    fn results(scores: Vec<Score>) -> Results {
        Results {
            scores,
            ..Results::default()
        }
    }

    fn table(results: &Results, width: usize) -> String {
        retrieval_table(results, true, Format::Table, width, Color::No)
    }

    #[test]
    fn a_direction_has_a_row_per_measure_and_a_column_per_k() {
        let expected = "\
Text → Sensor: 900 queries, each against 900 targets
metric                   K = 10          K = 100       chance
─────────────────────────────────────────────────────────────
precision    ↑    0.723 ±0.013     0.612 ±0.013           0.1
macro        ↑    0.713 ±0.013     0.602 ±0.013           0.1
normalized   ↑    0.723 ±0.013     0.680 ±0.013      0.1–0.11
ceiling      ·        1              0.9
lift         ↑     7.23 ±0.13       6.12 ±0.13              1

recall       ↑   0.0804 ±0.0015   0.6803 ±0.0015   0.011–0.11

hubness      ·      0.4              0.4
never found  ·        0                0

whole ranking: MRR 0.881 ±0.018 (chance 0.27); modality gap 0.82

↑ higher is better; · neither
precision: share of the first K with the query's label; macro: mean over labels;
normalized: hits over the most possible; ceiling: highest possible precision;
lift: precision over chance; hubness: skewness of how often targets are found;
never found: share of targets no query finds
± half of the 95 % interval: Student t over queries
";
        assert_eq!(table(&results(direction("text2sensor")), 80), expected);
    }

    #[test]
    fn a_ceiling_of_one_needs_no_rows() {
        let mut scores = direction("text2sensor");
        scores.retain(|score| !score.metric.ends_with("@100"));
        let text = table(&results(scores), 80);
        assert!(!text.contains("ceiling") && !text.contains("normalized"), "{text}");
    }

    #[test]
    fn a_k_beyond_the_targets_says_how_many_there_are() {
        let mut scores = direction("text2sensor");
        for score in scores.iter_mut().filter(|score| score.metric.ends_with("@100")) {
            score.effective_k = Some(37);
        }
        assert!(table(&results(scores), 80).contains("K = 100 (all 37)"));
    }

    #[test]
    fn models_and_sets_of_labels_are_named_where_there_are_several() {
        let mut other = direction("a2b");
        for score in &mut other {
            score.model = "clip_2".to_string();
        }
        let mut scores = direction("a2b");
        scores.extend(other);
        let both = results(scores);
        assert!(table(&both, 80).contains("\nA → B, clip_2: 900 queries"));
        let latex = retrieval_table(&both, true, Format::Latex, 80, Color::No);
        assert!(latex.contains("\\caption{A $\\to$ B, clip\\_2: 900 queries"), "{latex}");
        assert!(latex.contains("\\label{tab:repscope-a2b-clip-2}"), "{latex}");

        let in_set = |set: &str| {
            let mut score = direction("a2b").swap_remove(0);
            score.metric = format!("label_precision.a2b(labels={set})@10").into();
            score
        };
        let text = table(&results(vec![in_set("l1"), in_set("l2")]), 80);
        assert!(text.contains("A → B, labels l2: 900 queries\n"), "{text}");
    }

    #[test]
    fn a_reason_is_said_once() {
        let reason = "no query has a relevant target";
        let ids = [
            "label_precision.a2b@10",
            "label_recall.a2b@10",
            "mrr.a2b",
            "map_at_r.a2b",
        ];
        let expected = "\
A → B: 1797 queries
metric         K = 10
─────────────────────
precision  ↑        —

recall     ↑        —

— precision, recall: no query has a relevant target
whole ranking: MAP@R —, MRR —

↑ higher is better
precision: share of the first K with the query's label
";
        let missing = ids.map(|id| missing("m", id, reason)).to_vec();
        assert_eq!(table(&results(missing), 80), expected);
    }

    #[test]
    fn rows_with_other_numbers_of_queries_bring_their_column() {
        let mut scores = direction("a2b");
        scores.push(Score {
            n: 903,
            ..direction("a2b").swap_remove(0)
        });
        scores.last_mut().expect("just pushed").metric = "pair_recall.a2b@10".into();
        let text = table(&results(scores), 80);
        let row = text.lines().find(|line| line.starts_with("pair recall"));
        assert!(row.is_some_and(|row| row.ends_with(" 903")), "{text}");
    }

    #[test]
    fn markdown_has_the_same_numbers() {
        let mut scores = direction("text2sensor");
        scores.retain(|score| {
            score.metric.starts_with("label_precision.text2sensor@") || score.metric.starts_with("mrr")
        });
        let expected = "\
**Text → Sensor: 900 queries**

| metric |  | K = 10 | K = 100 | chance |
|:--|:-:|--:|--:|--:|
| `precision` | ↑ | 0.723 ±0.013 | 0.612 ±0.013 | 0.1 |

- whole ranking: MRR 0.881 ±0.018 (chance 0.27)

<!-- -->

- ↑ higher is better
- precision: share of the first K with the query's label
- ± half of the 95 % interval: Student t over queries
";
        let text = retrieval_table(&results(scores), true, Format::Markdown, 80, Color::No);
        assert_eq!(text, expected);
    }

    #[test]
    fn latex_has_a_table_per_direction_that_explains_itself() {
        let mut scores = direction("text2sensor");
        scores.retain(|score| {
            score.metric.starts_with("label_precision.text2sensor@") || score.metric.starts_with("mrr")
        });
        let expected = r"% needs \usepackage{booktabs}
\begin{table}
  \centering
  \footnotesize\setlength{\tabcolsep}{3pt}
  \caption{Text $\to$ Sensor: 900 queries. $\uparrow$ higher is better. Rows: precision: share of the first K with the query's label. $\pm$ half of the 95 \% interval: Student t over queries.}
  \label{tab:repscope-text2sensor}
  \begin{tabular}{@{}lcrrr@{}}
    \toprule
    Metric &  & K = 10 & K = 100 & Chance \\
    \midrule
    precision & $\uparrow$ & $0.723$ {\scriptsize $\pm 0.013$} & $0.612$ {\scriptsize $\pm 0.013$} & $0.1$ \\
    \bottomrule
  \end{tabular}
  \par\smallskip
  {\raggedright\footnotesize
    whole ranking: MRR 0.881 $\pm$0.018 (chance 0.27)\par}
\end{table}
";
        let text = retrieval_table(&results(scores), true, Format::Latex, 80, Color::No);
        assert_eq!(text, expected);
    }

    #[test]
    fn csv_is_the_long_form_and_no_scores_are_said_to_be_none() {
        let results = two_models();
        assert_eq!(
            retrieval_table(&results, true, Format::Csv, 80, Color::No),
            crate::render(&results, Format::Csv, 80, Color::No)
        );
        assert_eq!(table(&Results::default(), 80), "No scores.\n");
    }
}
