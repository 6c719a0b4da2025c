// SPDX-License-Identifier: MIT
use crate::testdata::{missing, score};
use crate::{Color, Format, GateLine, comparison, document_files, gate_table};
use repscope_core::{Better, Difference, Equivalence, Results};

/// A paired difference over 60 rows; its winner is the better one where the adjusted p-value is at most 0.05.
fn difference(metric: &str, [a, b]: [&str; 2], value: f64, half_width: f64, p: f64, better: Better) -> Difference {
    let a_wins = match better {
        Better::Higher => value > 0.0,
        _ => value < 0.0,
    };
    let winner = if a_wins { a } else { b };
    Difference {
        interval: Some([value - half_width, value + half_width]),
        p: Some(p / 4.0),
        p_adjusted: Some(p),
        is_paired: true,
        unit: Some("rows".to_string()),
        units: 60,
        method: Some("paired over units, Student t".to_string()),
        winner: Some(winner.to_string()).filter(|_| better != Better::Neither && p <= 0.05),
        ..Difference::new(metric, [a, b], value, better, 0.95)
    }
}

/// Two models: better by a higher value, better by a lower one, not apart, without direction, not paired, undefined.
fn two() -> Results {
    use Better::{Higher, Lower, Neither};
    let models = ["jepa", "auto_encoder"];
    let values = [
        ("trustworthiness@10", 0.9612, 0.9012, Higher),
        ("uniformity", -2.5, -1.5, Lower),
        ("knn_accuracy@5", 0.861, 0.864, Higher),
        ("two_nn", 11.0, 8.0, Neither),
    ];
    let mut results = Results::default();
    for (model, pick) in [(models[0], 0), (models[1], 1)] {
        for (metric, a, b, better) in values {
            results.scores.push(score(model, metric, [a, b][pick], None, better));
        }
        results
            .scores
            .push(missing(model, "nmi", "needs labels; give --labels"));
    }
    let chi = Difference {
        is_paired: false,
        units: 0,
        method: Some("separate errors, normal".to_string()),
        note: Some("not paired: the units of the two models do not match, so the interval may be too wide".to_string()),
        ..difference("two_nn", models, 3.0, 1.0, 0.0004, Neither)
    };
    results.differences = vec![
        difference("trustworthiness@10", models, 0.06, 0.012, 0.0004, Higher),
        difference("uniformity", models, -1.0, 0.11, 0.004, Lower),
        Difference {
            unit: Some("splits".to_string()),
            units: 10,
            ..difference("knn_accuracy@5", models, -0.003, 0.0041, 0.8, Higher)
        },
        chi,
    ];
    results
}

/// Twelve models with long names; the later one is better, by 0.01 a step, and apart from those two steps away.
fn twelve() -> Results {
    let names: Vec<String> = (0..12).map(|i| format!("resnet50-imagenet-seed-{i}")).collect();
    let mut results = Results::default();
    for metric in ["trustworthiness@5", "trustworthiness@10", "uniformity"] {
        let (better, sign) = match metric {
            "uniformity" => (Better::Lower, -1.0),
            _ => (Better::Higher, 1.0),
        };
        for (i, name) in names.iter().enumerate() {
            let value = sign * (0.8 + 0.01 * i as f64);
            results.scores.push(score(name, metric, value, None, better));
        }
        for i in 0..12 {
            for j in i + 1..12 {
                let p = if j - i >= 2 { 0.0009 } else { 0.4 };
                let value = sign * 0.01 * (i as f64 - j as f64);
                let pair = [names[i].as_str(), names[j].as_str()];
                results
                    .differences
                    .push(difference(metric, pair, value, 0.012, p, better));
            }
        }
    }
    results
}

fn table(results: &Results, reference: Option<&str>, width: usize) -> String {
    comparison(results, reference, Format::Table, width, Color::No)
}

#[test]
fn two_models_stand_beside_each_other() {
    let expected = "\
jepa and auto_encoder on the same rows
metric                   jepa  auto_encoder  difference      95 % interval       p  adjusted p  better
──────────────────────────────────────────────────────────────────────────────────────────────────────
trustworthiness@10  ↑  0.9612        0.9012    0.060***     [0.048, 0.072]  0.0001      0.0004    jepa
uniformity          ↓    -2.5          -1.5    -1.00**      [-1.11, -0.89]  0.0010      0.0040    jepa
knn_accuracy@5      ↑   0.861         0.864  -0.0030     [-0.0071, 0.0011]   0.200       0.800       —
two_nn†             ·      11             8      3.0***         [2.0, 4.0]  0.0001      0.0004

↑ higher is better; ↓ lower is better; · neither
* adjusted p ≤ 0.05, ** ≤ 0.01, *** ≤ 0.001; better: adjusted p ≤ 0.05
Differences are taken unit by unit, over 60 rows (trustworthiness@10, uniformity); over 10 splits
(knn_accuracy@5)
p-values are two-sided (Student t; separate errors, normal); adjusted p-values are Holm's, over all
comparisons of the run in scores with a direction
Each model is one training run; another run may differ
† not paired: the units of the two models do not match, so the interval may be too wide: two_nn
No difference in nmi: needs labels; give --labels
";
    assert_eq!(table(&two(), None, 110), expected);
}

#[test]
fn effect_sizes_and_margins_have_columns_of_their_own() {
    let mut results = two();
    for d in &mut results.differences {
        d.effect_size = Some(0.1234);
    }
    let within = |p: f64| Equivalence {
        within: 0.01,
        p,
        p_adjusted: p,
        holds: p <= 0.05,
    };
    results.differences[0].equivalent = Some(within(0.9));
    results.differences[2].equivalent = Some(within(0.003));
    let text = table(&results, None, 150);
    let line = |name: &str| text.lines().find(|line| line.starts_with(name)).expect("a row");
    let header = line("metric");
    assert!(
        header.contains(" effect size ") && header.ends_with(" the same"),
        "{text}"
    );
    assert!(
        line("knn").contains("-0.0030≈") && line("knn").ends_with("0.12  within 0.01 (p = 0.0030)"),
        "{text}"
    );
    assert!(line("trust").ends_with("not shown (p = 0.900)"), "{text}");
    let legend = "≈ the same within 0.01: two one-sided tests, p-values adjusted by Holm's method over all 2 of them";
    assert!(text.contains(legend), "{text}");
    // The other way round the effect turns, too.
    let turned = table(&results, Some("jepa"), 150);
    assert!(turned.contains("-0.12  within 0.01"), "{turned}");
    assert!(!table(&results, None, 110).contains("effect size"));
}

#[test]
fn a_narrow_terminal_shows_the_adjusted_p_value_only() {
    let text = table(&two(), None, 101);
    assert!(text.contains("interval  adjusted p"), "{text}");
}

#[test]
fn the_other_way_round_the_signs_turn() {
    let text = table(&two(), Some("jepa"), 110);
    assert!(text.starts_with("auto_encoder and jepa on the same rows"), "{text}");
    let line = text.lines().find(|line| line.starts_with("trust")).unwrap();
    assert!(
        line.contains("-0.060***") && line.contains("[-0.072, -0.048]"),
        "{line}"
    );
    assert!(line.ends_with("jepa"), "{line}");
}

#[test]
fn long_names_become_letters() {
    let mut results = two();
    for name in results
        .scores
        .iter_mut()
        .map(|s| &mut s.model)
        .chain(results.differences.iter_mut().flat_map(|d| [&mut d.a, &mut d.b]))
        .filter(|name| *name == "jepa")
    {
        *name = "joint-embedding-predictive".to_string();
    }
    for d in &mut results.differences {
        d.winner = d.winner.take().map(|_| "joint-embedding-predictive".to_string());
    }
    let text = table(&results, None, 110);
    assert!(
        text.starts_with("A = joint-embedding-predictive and B = auto_encoder on"),
        "{text}"
    );
    let line = text.lines().find(|line| line.starts_with("trust")).unwrap();
    assert!(line.ends_with(" A"), "{line}");
}

#[test]
fn a_paper_gets_marks_and_bold_winners() {
    let expected = r"% needs \usepackage{booktabs}
\begin{table}
  \centering
  \footnotesize\setlength{\tabcolsep}{3pt}
  \caption{jepa and auto\_encoder on the same rows. $\uparrow$ higher is better. $\downarrow$ lower is better. $\cdot$ neither. \textbf{Bold}: the better model, adjusted p $\le$ 0.05. * adjusted p $\le$ 0.05, ** $\le$ 0.01, *** $\le$ 0.001; better: adjusted p $\le$ 0.05. Differences are taken unit by unit, over 60 rows (trustworthiness@10, uniformity); over 10 splits (knn\_accuracy@5). p-values are two-sided (Student t; separate errors, normal); adjusted p-values are Holm's, over all comparisons of the run in scores with a direction. Each model is one training run; another run may differ.}
  \label{tab:compare}
  \begin{tabular}{@{}lcrrr@{}lrrrr@{}}
    \toprule
    Metric &  & jepa & auto\_encoder & \multicolumn{2}{c}{Difference} & 95 \% interval & $p$ & Adjusted p & Better \\
    \midrule
    trustworthiness@10 & $\uparrow$ & \textbf{\boldmath$0.9612$} & $0.9012$ & $0.060$ & $^{***}$ & {\scriptsize $[0.048, 0.072]$} & $0.0001$ & $0.0004$ & jepa \\
    uniformity & $\downarrow$ & \textbf{\boldmath$-2.5$} & $-1.5$ & $-1.00$ & $^{**}$ & {\scriptsize $[-1.11, -0.89]$} & $0.0010$ & $0.0040$ & jepa \\
    knn\_accuracy@5 & $\uparrow$ & $0.861$ & $0.864$ & $-0.0030$ &  & {\scriptsize $[-0.0071, 0.0011]$} & $0.200$ & $0.800$ & --- \\
    two\_nn$^{\dagger}$ & $\cdot$ & $11$ & $8$ & $3.0$ & $^{***}$ & {\scriptsize $[2.0, 4.0]$} & $0.0001$ & $0.0004$ &  \\
    \bottomrule
  \end{tabular}
  \par\smallskip
  {\raggedright\footnotesize
    $\dagger$ not paired: the units of the two models do not match, so the interval may be too wide: two\_nn\\
    No difference in nmi: needs labels; give -{}-labels\par}
\end{table}
";
    assert_eq!(comparison(&two(), None, Format::Latex, 80, Color::No), expected);
}

#[test]
fn a_common_exponent_is_written_once() {
    let mut results = two();
    results.differences[0].interval = Some([1.1e6, 1.3e6]);
    let text = comparison(&results, None, Format::Latex, 80, Color::No);
    assert!(text.contains("{\\scriptsize $[1.10, 1.30]{\\times}10^{6}$}"), "{text}");
}

#[test]
fn markdown_has_the_same_rows() {
    let text = comparison(&two(), None, Format::Markdown, 80, Color::No);
    let rows = "\
**jepa and auto\\_encoder on the same rows**

| metric |  | jepa | auto\\_encoder | difference | 95 % interval | p | adjusted p | better |
|:--|:-:|--:|--:|--:|--:|--:|--:|--:|
| `trustworthiness@10` | ↑ | **0.9612** | 0.9012 | 0.060\\*\\*\\* | [0.048, 0.072] | 0.0001 | 0.0004 | jepa |
";
    assert!(text.starts_with(rows), "{text}");
}

#[test]
fn twelve_models_have_a_row_each_with_their_differences_to_the_first() {
    let text = table(&twelve(), None, 110);
    assert!(
        text.starts_with("Values of resnet50-imagenet-seed-0, and differences of the others from it"),
        "{text}"
    );
    assert!(text.lines().all(|line| line.chars().count() <= 110), "{text}");
    let line = |name: &str| {
        text.lines()
            .find(|line| line.starts_with(name))
            .expect("a row of each model")
    };
    // 0.81 against 0.8 is not apart; the next is better, in uniformity by a lower value.
    assert!(!line("resnet50-imagenet-seed-1 ").contains('▲'), "{text}");
    assert!(line("resnet50-imagenet-seed-2 ").matches("▲").count() > 0, "{text}");
}

#[test]
fn another_reference_can_be_asked_for() {
    let text = table(&twelve(), Some("resnet50-imagenet-seed-5"), 110);
    let line = |name: &str| {
        text.lines()
            .find(|line| line.starts_with(name))
            .expect("a row of each model")
    };
    assert!(line("resnet50-imagenet-seed-5 ").contains("0.85"), "{text}");
    assert!(line("resnet50-imagenet-seed-11").contains("▲ 0.060***"), "{text}");
    assert!(line("resnet50-imagenet-seed-0 ").contains("▼ -0.050***"), "{text}");
}

#[test]
fn twelve_models_fit_into_one_table_of_a_paper() {
    let text = comparison(&twelve(), None, Format::Latex, 80, Color::No);
    assert_eq!(text.matches("\\begin{table}").count(), 1, "{text}");
    assert!(text.contains("resnet50-imagenet-seed-11 &"), "{text}");
}

#[test]
fn the_files_hold_all_pairs() {
    let files = document_files("compare", &twelve());
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["compare/differences.csv"]);
    // 12 · 11 / 2 pairs in three metrics, and the header.
    assert_eq!(files[0].1.lines().count(), 1 + 3 * 66);
    let csv = comparison(&two(), None, Format::Csv, 80, Color::No);
    assert_eq!(
        csv.lines().nth(2),
        Some(
            "uniformity,jepa,auto_encoder,-2.5,-1.5,-1.0,-1.11,-0.89,0.95,0.001,0.004,lower,jepa,yes,rows,60,\"paired over \
             units, Student t\",,,,,1,1,,,,"
        )
    );
}

#[test]
fn results_without_differences_say_so() {
    let results = Results::default();
    assert_eq!(table(&results, None, 80), "No differences.\n");
    assert_eq!(
        comparison(&results, None, Format::Latex, 80, Color::No),
        "% No differences.\n"
    );
}

#[test]
fn a_failed_gate_says_why() {
    let lines = [
        GateLine::new("trustworthiness@10 >= 0.95", "jepa", "0.9612", true),
        GateLine::failed("nmi >= 0.5", "jepa", "—", "needs labels; give --labels"),
    ];
    let expected = "\
Gates: 1 of 2 failed
gate                        model     got  verdict
──────────────────────────────────────────────────
trustworthiness@10 >= 0.95   jepa  0.9612     pass
nmi >= 0.5                   jepa       —     FAIL

jepa, nmi >= 0.5: needs labels; give --labels
";
    assert_eq!(gate_table(&lines, 80, Color::No), expected);
}
