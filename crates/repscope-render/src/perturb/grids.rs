// SPDX-License-Identifier: MIT
//! The tables of perturbed inputs: sets, families, classes.

use super::{NONE, Run, Set, written};
use crate::Format;
use crate::compare::probability::probability;
use crate::grid::Grid;
use crate::numbers::{number, number_with_interval, percent, rough};
use crate::text::printable;
use repscope_core::Score;

/// So many classes of each head are shown.
const CLASSES: usize = 3;
/// The column that is left out where there is no room.
const ACCURACY_INTERVAL: usize = 2;

/// Every set of a head.
pub(super) fn of_head(run: &Run, head: &str, format: Format) -> Grid {
    let baseline = run.baseline(head);
    let mut title = printable(head);
    if let Some(value) = baseline.and_then(|score| Some(written(score.value?, score.interval))) {
        title += &format!(": accuracy {value} without perturbation");
    }
    if let Some(score) = baseline {
        let chance = score.chance.map(|chance| format!("chance {}, ", rough(chance)));
        title += &format!(", {}{} samples", chance.unwrap_or_default(), score.n);
    }
    let level = baseline.and_then(|score| score.level);
    let interval = level.map_or("interval".to_string(), |level| format!("{} interval", percent(level)));
    let mut header = vec!["set", "accuracy", &interval, "drop", "PIS", &interval];
    let has_lit = has_lit(run);
    header.extend(has_lit.then_some("PIS (lit)"));
    header.push("p");
    let row = |set: &Set| {
        let pis = |part: &str| run.pis(head, part, &set.name);
        let [accuracy, ends] = cells(run.accuracy(head, &set.name));
        let [value, between] = cells(pis(""));
        let mut row = vec![
            printable(&set.name),
            accuracy,
            ends,
            cells(pis(".drop"))[0].clone(),
            value,
            between,
        ];
        row.extend(has_lit.then(|| cells(pis("(f=lit)"))[0].clone()));
        row.push(probability(pis(".p").and_then(|score| score.value)));
        row
    };
    let mut rows: Vec<Vec<String>> = Vec::new();
    for (i, set) in run.sets.iter().enumerate() {
        if i > 0 && run.sets[i - 1].family != set.family && format == Format::Table {
            rows.push(vec![String::new(); header.len()]);
        }
        rows.push(row(set));
    }
    let mut header: Vec<String> = header.into_iter().map(str::to_string).collect();
    // The interval of the accuracy says the least, that of the score being of the same samples; a page has no room for it.
    if format == Format::Latex {
        for cells in rows.iter_mut().chain([&mut header]) {
            cells.remove(ACCURACY_INTERVAL);
        }
    }
    Grid {
        title,
        label: "perturb",
        header,
        rows,
        spare: ACCURACY_INTERVAL..ACCURACY_INTERVAL + 1,
        remarks: Vec::new(),
    }
}

/// One number for all strengths of a family; nothing where a family has but one.
pub(super) fn families(run: &Run) -> Option<Grid> {
    let families = run.families();
    let has_several = families.iter().any(|family| run.of_family(family).len() > 1);
    let mut rows = Vec::new();
    for head in run.heads.iter().filter(|_| has_several) {
        for family in &families {
            let of = |part: &str| cells(run.pis(head, part, family));
            let [mean, between] = of(".mean");
            let [aopc, _] = of(".aopc");
            let [deletion, _] = of(".deletion");
            rows.push(vec![
                printable(&format!("{head}, {family}")),
                mean,
                between,
                aopc,
                deletion,
            ]);
        }
    }
    let header = ["head, family", "mean PIS", "interval", "AOPC", "deletion"];
    (!rows.is_empty()).then(|| Grid {
        title: "All strengths together".to_string(),
        label: "perturb",
        header: header.map(str::to_string).to_vec(),
        rows,
        spare: 0..0,
        remarks: Vec::new(),
    })
}

/// The classes of each head that lose most at the strongest set.
pub(super) fn classes(run: &Run) -> Option<Grid> {
    let set = run.strongest()?;
    let mut rows = Vec::new();
    for head in &run.heads {
        for impact in run.by_class(head, &set.name).iter().take(CLASSES) {
            let share = |x: Option<f64>| x.map_or(NONE.to_string(), number);
            let (pis, between) = match impact.interval {
                Some(interval) => number_with_interval(impact.pis, interval),
                None => (number(impact.pis), NONE.to_string()),
            };
            rows.push(vec![
                printable(&format!("{head}: {}", impact.class)),
                pis,
                between,
                share(impact.baseline),
                share(impact.accuracy),
                share(impact.samples),
                probability(impact.p),
            ]);
        }
    }
    let header = ["class", "PIS", "interval", "before", "after", "samples", "p"];
    (!rows.is_empty()).then(|| Grid {
        title: format!("Most sensitive classes at {}", printable(&set.name)),
        label: "perturb",
        header: header.map(str::to_string).to_vec(),
        rows,
        spare: 5..6,
        remarks: Vec::new(),
    })
}

fn has_lit(run: &Run) -> bool {
    let known = |set: &Set| {
        run.pis(run.leading(), "(f=lit)", &set.name)
            .is_some_and(|score| score.value.is_some())
    };
    run.sets.iter().any(known)
}

/// Value and interval as they are written.
fn cells(score: Option<&Score>) -> [String; 2] {
    match score.and_then(|score| Some((score.value?, score.interval))) {
        Some((value, Some(interval))) => {
            let (value, interval) = number_with_interval(value, interval);
            [value, interval]
        }
        Some((value, None)) => [number(value), NONE.to_string()],
        None => [NONE.to_string(), NONE.to_string()],
    }
}
