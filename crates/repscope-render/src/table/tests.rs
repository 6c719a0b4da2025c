// SPDX-License-Identifier: MIT
use super::{Cell, Column, Document, Table};
use crate::testdata::{compared, difference, missing, score, two_models};
use crate::{Color, Format, render};
use repscope_core::{Better, Results, Score};

/// Two models, and which of them is better in what.
fn two_compared() -> Results {
    let winners = [
        ("trustworthiness@5", "encoder-decoder"),
        ("continuity@5", "encoder-decoder"),
        ("uniformity", "jepa"),
        ("silhouette", "encoder-decoder"),
    ];
    compared(two_models(), ["jepa", "encoder-decoder"], &winners)
}

mod terminal {
    use super::*;
    use crate::text::columns;

    fn table(results: &Results, width: usize) -> String {
        render(results, Format::Table, width, Color::No)
    }

    fn trustworthiness(model: &str, value: f64) -> Score {
        let interval = Some((value - 0.0031, value + 0.0031, "rows", "jackknife"));
        score(model, "trustworthiness@5", value, interval, Better::Higher)
    }

    #[test]
    fn two_models_stand_side_by_side() {
        let expected = "\
metric                                           jepa                 encoder-decoder  chance      n
────────────────────────────────────────────────────────────────────────────────────────────────────
smoothness.slope ¹  ↓  1.153e-4  [1.131e-4, 1.175e-4]  1.178e-4  [1.155e-4, 1.202e-4]          36000
smoothness.p        ·         0                        3.21e-12                                36000
trustworthiness@5   ↑    0.7821  [0.7790, 0.7852]        0.9581* [0.9570, 0.9592]               1797
continuity@5        ↑    0.7350  [0.7321, 0.7379]        0.9570* [0.9558, 0.9582]               1797
two_nn              ·     11.37  [10.98, 11.77]               —                                 1797
uniformity          ↓    -2.889* [-2.901, -2.877]       -1.4771  [-1.4857, -1.4685]             1797
silhouette ²        ↑    0.0381  [0.0347, 0.0415]        0.1671* [0.1637, 0.1705]               1797
nmi                 ↑         —                               —                                 1797
ami                 ↑         —                               —                                 1797
knn_accuracy@5      ↑     0.861  [0.849, 0.873]           0.864  [0.852, 0.876]           0.1   1797

↑ higher is better; ↓ lower is better; · neither; * better than every other model in the paired
comparison, adjusted for all of them
¹ an encoder that gives the same embedding for everything has the best value: no model is called
  best by it
² on k-means' own labels: circular
— two_nn for encoder-decoder: all rows are the same
— nmi, ami: needs labels; give --labels
95 % intervals: jackknife over episodes (smoothness.slope); jackknife over rows (trustworthiness@5,
continuity@5, uniformity, silhouette); chi-squared over rows (two_nn); Student t over splits
(knn_accuracy@5)
";
        assert_eq!(table(&two_compared(), 100), expected);
    }

    #[test]
    fn one_model_has_no_best_value_and_large_families_stand_apart() {
        let value = |metric, value| score("jepa", metric, value, None, Better::Higher);
        let results = Results {
            scores: vec![
                value("trustworthiness@5", 0.95),
                value("continuity@5", 0.94),
                value("trustworthiness@10", 0.9312),
                value("trustworthiness@15", 0.9),
                value("silhouette", 0.1234567),
            ],
            ..Results::default()
        };
        let expected = "\
metric                    jepa      n
─────────────────────────────────────
trustworthiness@5   ↑     0.95   1797
trustworthiness@10  ↑   0.9312   1797
trustworthiness@15  ↑      0.9   1797

continuity@5        ↑     0.94   1797
silhouette          ↑   0.1235   1797

↑ higher is better
";
        assert_eq!(table(&results, 80), expected);
    }

    #[test]
    fn twelve_models_with_long_names_have_a_row_each_within_the_width() {
        let names: Vec<String> = (0..12)
            .map(|i| format!("vit_large_patch14_dinov2.lvd142m-seed-{i}/模型"))
            .collect();
        let scores = names
            .iter()
            .enumerate()
            .map(|(i, name)| trustworthiness(name, 0.7 + 0.02 * i as f64))
            .collect();
        let text = table(
            &Results {
                scores,
                ..Results::default()
            },
            80,
        );
        assert!(text.lines().all(|line| columns(line) <= 80), "{text}");
        let rows = text.lines().filter(|line| line.starts_with("vit_large_patch14"));
        assert_eq!(rows.count(), 12, "{text}");
        assert!(
            text.contains("trustworthiness@5 ↑") && text.contains("0.9200 [0.9169, 0.9231]"),
            "{text}"
        );
    }

    #[test]
    fn numbers_are_not_cut_where_even_one_model_is_too_wide() {
        let results = Results {
            scores: vec![trustworthiness("jepa", 0.9)],
            ..Results::default()
        };
        assert!(table(&results, 10).contains("0.9000 [0.8969, 0.9031]"));
    }

    #[test]
    fn values_that_are_all_undefined_leave_their_reasons() {
        let reason = "needs the input space; give --states";
        let ids = ["smoothness.slope", "smoothness.r", "silhouette"];
        let results = Results {
            scores: ids.map(|id| missing("jepa", id, reason)).to_vec(),
            ..Results::default()
        };
        let expected = "\
metric                  jepa      n
───────────────────────────────────
smoothness.slope ¹  ↑      —   1797
smoothness.r        ↑      —   1797
silhouette          ↑      —   1797

↑ higher is better
¹ an encoder that gives the same embedding for everything has the best value: no
  model is called best by it
— smoothness, silhouette: needs the input space; give --states
";
        assert_eq!(table(&results, 80), expected);
    }

    #[test]
    fn a_metric_that_a_model_was_not_asked_for_is_blank_and_n_may_be_a_range() {
        let short = Score {
            n: 1000,
            ..trustworthiness("b", 0.9)
        };
        let only_a = score("a", "two_nn", 11.0, None, Better::Neither).with_note("a sample of 1000 rows");
        let mut noted = trustworthiness("a", 0.9);
        noted.note = Some("ties were broken by index".to_string());
        let results = Results {
            scores: vec![noted, only_a, short],
            ..Results::default()
        };
        let expected = "\
metric                                        a                         b           n
─────────────────────────────────────────────────────────────────────────────────────
trustworthiness@5  ↑   0.9000¹ [0.8969, 0.9031]   0.9000 [0.8969, 0.9031]   1000–1797
two_nn ²           ·       11                                                    1797
";
        let text = table(&results, 100);
        assert!(text.starts_with(expected), "{text}");
        assert!(
            text.contains("¹ ties were broken by index\n² a sample of 1000 rows\n"),
            "{text}"
        );
    }

    #[test]
    fn the_best_value_is_marked_only_where_the_comparison_says_so() {
        let marked = |winner| {
            let mut results = Results::from(vec![trustworthiness("a", 0.8), trustworthiness("b", 0.9)]);
            results.differences = vec![difference("trustworthiness@5", ["a", "b"], Better::Higher, winner)];
            table(&results, 100).contains('*')
        };
        assert!(marked(Some("b")));
        assert!(!marked(None));
    }

    #[test]
    fn a_value_in_the_units_of_the_codes_makes_no_model_the_best() {
        let unranked = |score: Score| Score {
            comparable: false,
            ..score
        };
        let scores = vec![
            unranked(trustworthiness("a", 0.90)),
            unranked(trustworthiness("b", 0.95)),
        ];
        let results = Results {
            scores,
            ..Results::default()
        };
        assert!(!table(&results, 100).contains('*'));
    }

    #[test]
    fn color_marks_the_best_value_in_bold() {
        let text = render(&two_compared(), Format::Table, 100, Color::Yes);
        assert!(
            text.contains("\x1b[1m0.9581\x1b[0m \x1b[2m[0.9570, 0.9592]\x1b[0m"),
            "{text}"
        );
        assert!(
            text.contains("bold better than every other") && !text.contains('*'),
            "{text}"
        );
    }

    #[test]
    fn facts_stand_only_in_the_parts_that_have_them() {
        let mut scores = Vec::new();
        for model in ["one", "two", "three"] {
            for metric in ["uniformity", "two_nn", "rankme"] {
                scores.push(score(model, metric, 1.0, None, Better::Higher));
            }
            let mut last = score(model, "knn_accuracy@5", 0.5, None, Better::Higher);
            last.chance = Some(0.1);
            scores.push(last);
        }
        let results = Results {
            scores,
            ..Results::default()
        };
        let wide = table(&results, 200);
        assert_eq!(wide.matches("\nchance").count(), 1, "{wide}");
        let narrow = table(&results, 24);
        // A table in parts: n in each of them, the chance level where there is one.
        assert!(narrow.matches("\nn ").count() > 1, "{narrow}");
        assert_eq!(narrow.matches("\nchance").count(), 1, "{narrow}");
    }

    #[test]
    fn no_scores_are_said_to_be_none() {
        assert_eq!(table(&Results::default(), 80), "No scores.\n");
    }
}

mod markdown {
    use super::*;

    #[test]
    fn the_table_says_what_the_terminal_says() {
        let expected = r"| metric |  | jepa | encoder-decoder | chance | n |
|:--|:-:|--:|--:|--:|--:|
| `smoothness.slope`<sup>1</sup> | ↓ | 1.153e-4 [1.131e-4, 1.175e-4] | 1.178e-4 [1.155e-4, 1.202e-4] |  | 36000 |
| `smoothness.p` | · | 0 | 3.21e-12 |  | 36000 |
| `trustworthiness@5` | ↑ | 0.7821 [0.7790, 0.7852] | **0.9581** [0.9570, 0.9592] |  | 1797 |
| `continuity@5` | ↑ | 0.7350 [0.7321, 0.7379] | **0.9570** [0.9558, 0.9582] |  | 1797 |
| `two_nn` | · | 11.37 [10.98, 11.77] | — |  | 1797 |
| `uniformity` | ↓ | **-2.889** [-2.901, -2.877] | -1.4771 [-1.4857, -1.4685] |  | 1797 |
| `silhouette`<sup>2</sup> | ↑ | 0.0381 [0.0347, 0.0415] | **0.1671** [0.1637, 0.1705] |  | 1797 |
| `nmi` | ↑ | — | — |  | 1797 |
| `ami` | ↑ | — | — |  | 1797 |
| `knn_accuracy@5` | ↑ | 0.861 [0.849, 0.873] | 0.864 [0.852, 0.876] | 0.1 | 1797 |

- ↑ higher is better; ↓ lower is better; · neither; **bold** better than every other model in the paired comparison, adjusted for all of them
- <sup>1</sup> an encoder that gives the same embedding for everything has the best value: no model is called best by it
- <sup>2</sup> on k-means' own labels: circular
- — two\_nn for encoder-decoder: all rows are the same
- — nmi, ami: needs labels; give --labels
- 95 % intervals: jackknife over episodes (smoothness.slope); jackknife over rows (trustworthiness@5, continuity@5, uniformity, silhouette); chi-squared over rows (two\_nn); Student t over splits (knn\_accuracy@5)
";
        assert_eq!(render(&two_compared(), Format::Markdown, 80, Color::No), expected);
    }

    #[test]
    fn names_cannot_break_the_table() {
        let results = Results {
            scores: vec![score("a|b_c*", "r", 1.0, None, Better::Higher)],
            ..Results::default()
        };
        let text = render(&results, Format::Markdown, 80, Color::No);
        assert!(text.starts_with("| metric |  | a\\|b\\_c\\* | n |\n"), "{text}");
    }
}

mod latex {
    use super::super::latex::{escape, two_lines as head};
    use super::*;

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
        let results = compared(results, ["auto_encoder", "jepa"], &[("uniformity", "jepa")]);
        let expected = r"% needs \usepackage{booktabs}
\begin{table}
  \centering
  \footnotesize\setlength{\tabcolsep}{3pt}
  \caption{Scores with confidence intervals. $\uparrow$ higher is better. $\downarrow$ lower is better. \textbf{Bold}: better than every other model in the paired comparison, adjusted for all of them. 95 \% intervals: jackknife over rows.}
  \label{tab:repscope}
  \begin{tabular}{@{}lcrrr@{}}
    \toprule
    Metric &  & jepa & auto\_encoder & $n$ \\
    \midrule
    smoothness.slope$^{1}$ & $\downarrow$ & $1.153$ {\scriptsize $[1.131, 1.175]$} ${\times}10^{-4}$ & $1.18{\times}10^{-4}$ {\scriptsize $[9.6{\times}10^{-5}, 1.40{\times}10^{-4}]$} & $1797$ \\
    uniformity & $\downarrow$ & \textbf{\boldmath$-2.889$} {\scriptsize $[-2.901, -2.877]$} & $-1.477$ {\scriptsize $[-1.489, -1.465]$} & $1797$ \\
    nmi$^{2}$ & $\uparrow$ & --- &  & $1797$ \\
    \bottomrule
  \end{tabular}
  \par\smallskip
  {\raggedright\footnotesize
    $^{1}$ an encoder that gives the same embedding for everything has the best value: no model is called best by it\\
    $^{2}$ 100 \% of rows\\
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
    fn many_models_have_a_row_each() {
        let interval = Some((0.4, 0.6, "rows", "jackknife"));
        let of = |i| score(&format!("model{i}"), "nmi", 0.5, interval, Better::Higher);
        let text = latex(&(0..7).map(of).collect());
        assert!(text.contains("Model & nmi $\\uparrow$ \\\\"), "{text}");
        assert!(
            text.contains("model6 & $0.500$ {\\scriptsize $[0.400, 0.600]$} \\\\"),
            "{text}"
        );
        assert_eq!(text.matches("\\begin{table}").count(), 1);
    }

    #[test]
    fn a_long_name_stands_in_two_lines() {
        assert_eq!(head("resnet50"), "resnet50");
        assert_eq!(
            head("vit_base_patch16_dino_v2"),
            r"\shortstack[r]{vit\_base\_\\patch16\_dino\_v2}"
        );
        assert_eq!(head("nobreakinthisverylongname"), "nobreakinthisverylongname");
    }
}

mod words {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new("Which score?", "which");
        table.columns = vec![
            Column::text("score"),
            Column::number("rho"),
            Column::number("tau").spare(0),
            Column::number("n"),
        ];
        let row = |cells: [&str; 4]| cells.map(|text| Cell::written(text, None)).to_vec();
        table.push(row(["clid.cl", "0.94", "0.87", "6"]));
        table.push(row(["two_nn", "-0.12", "-1", "6"]));
        table
            .rows
            .iter_mut()
            .for_each(|row| row.cells[0].kind = super::super::Kind::Text);
        table.remarks = vec!["rho is Spearman's".to_string()];
        table
    }

    fn in_width(width: usize) -> String {
        Document::from(table()).render(Format::Table, width, Color::No)
    }

    #[test]
    fn a_narrow_terminal_does_without_spare_columns() {
        let wide = "\
Which score?
score      rho   tau  n
───────────────────────
clid.cl   0.94  0.87  6
two_nn   -0.12    -1  6

rho is Spearman's
";
        let narrow = "\
Which score?
score      rho  n
─────────────────
clid.cl   0.94  6
two_nn   -0.12  6

rho is Spearman's
";
        assert_eq!(in_width(23), wide);
        assert_eq!(in_width(22), narrow);
    }

    #[test]
    fn markdown_and_latex_hold_the_same_cells() {
        let expected = "\
**Which score?**

| score | rho | tau | n |
|:--|--:|--:|--:|
| clid.cl | 0.94 | 0.87 | 6 |
| two\\_nn | -0.12 | -1 | 6 |

- rho is Spearman's
";
        assert_eq!(
            Document::from(table()).render(Format::Markdown, 80, Color::No),
            expected
        );
        let latex = Document::from(table()).render(Format::Latex, 80, Color::No);
        assert!(latex.contains("\\caption{Which score?}"), "{latex}");
        assert!(latex.contains("    rho is Spearman's\\par}"), "{latex}");
        assert!(latex.contains("    two\\_nn & $-0.12$ & $-1$ & $6$ \\\\\n"), "{latex}");
        assert!(latex.contains("\\begin{tabular}{@{}lrrr@{}}"), "{latex}");
    }

    #[test]
    fn text_is_broken_where_it_may_be() {
        let mut table = Table::default();
        table
            .columns
            .extend([Column::text("claim").wrapping(), Column::text("verdict")]);
        table.push(vec![Cell::text("one two three four"), Cell::text("holds")]);
        let text = Document::from(table).render(Format::Table, 17, Color::No);
        assert_eq!(
            text,
            "claim     verdict\n─────────────────\none two   holds\nthree\nfour\n"
        );
    }
}
