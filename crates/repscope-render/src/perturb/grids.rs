// SPDX-License-Identifier: MIT
//! The tables of perturbed inputs: sets, families, classes.

use super::{Run, Set, written};
use crate::compare::probability::probability;
use crate::numbers::{number, percent, rough};
use crate::table::{Cell, Column, Row, Table};
use crate::text::printable;

/// So many classes of each head are shown.
const CLASSES: usize = 3;

/// Every set of a head.
pub(super) fn of_head(run: &Run, head: &str) -> Table {
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
    let has_lit = has_lit(run);
    let mut table = Table::new(title, label(head));
    // The interval of the accuracy says the least, that of the score being of the same samples.
    table.columns = vec![
        Column::text("set"),
        Column::number("accuracy").with_interval(&interval).spare_interval(0),
        Column::number("drop"),
        Column::number("PIS").with_interval(&interval),
    ];
    table.columns.extend(has_lit.then(|| Column::number("PIS (lit)")));
    table.columns.push(Column::number("p"));
    for (i, set) in run.sets.iter().enumerate() {
        let pis = |part: &str| run.pis(head, part, &set.name);
        let p = pis(".p").and_then(|score| score.value);
        let mut cells = vec![
            Cell::text(&set.name),
            known(run.accuracy(head, &set.name)),
            known(pis(".drop")).alone(),
            known(pis("")),
        ];
        cells.extend(has_lit.then(|| known(pis("(f=lit)")).alone()));
        cells.push(Cell::written(probability(p), p));
        table.rows.push(Row {
            cells,
            opens_block: i > 0 && run.sets[i - 1].family != set.family,
            models: Vec::new(),
        });
    }
    table
}

/// One number for all strengths of a family; nothing where a family has but one.
pub(super) fn families(run: &Run) -> Option<Table> {
    let families = run.families();
    let has_several = families.iter().any(|family| run.of_family(family).len() > 1);
    let mut table = Table::new("All strengths together", label("families"));
    table.columns = vec![
        Column::text("head, family"),
        Column::number("mean PIS").with_interval("interval"),
        Column::number("AOPC"),
        Column::number("deletion"),
    ];
    for head in run.heads.iter().filter(|_| has_several) {
        for family in &families {
            let of = |part: &str| known(run.pis(head, part, family));
            let name = Cell::text(format!("{head}, {family}"));
            table.push(vec![name, of(".mean"), of(".aopc").alone(), of(".deletion").alone()]);
        }
    }
    Some(table).filter(|table| !table.rows.is_empty())
}

/// The classes of each head that lose most at the strongest set.
pub(super) fn classes(run: &Run) -> Option<Table> {
    let set = run.strongest()?;
    let mut table = Table::new(
        format!("Most sensitive classes at {}", printable(&set.name)),
        label("classes"),
    );
    table.columns = vec![
        Column::text("class"),
        Column::number("PIS").with_interval("interval"),
        Column::number("before"),
        Column::number("after"),
        Column::number("samples").spare(0),
        Column::number("p"),
    ];
    for head in &run.heads {
        for impact in run.by_class(head, &set.name).iter().take(CLASSES) {
            let share = |x: Option<f64>| Cell::optional(x, number);
            table.push(vec![
                Cell::text(format!("{head}: {}", impact.class)),
                Cell::with_interval(impact.pis, impact.interval),
                share(impact.baseline),
                share(impact.accuracy),
                share(impact.samples),
                Cell::written(probability(impact.p), impact.p),
            ]);
        }
    }
    Some(table).filter(|table| !table.rows.is_empty())
}

/// Several tables of one run need labels of their own.
fn label(name: &str) -> String {
    format!("perturb-{}", name.replace(|c: char| !c.is_ascii_alphanumeric(), "-"))
}

fn has_lit(run: &Run) -> bool {
    let known = |set: &Set| {
        run.pis(run.leading(), "(f=lit)", &set.name)
            .is_some_and(|score| score.value.is_some())
    };
    run.sets.iter().any(known)
}

/// The value of a score; a dash where it was not computed either.
fn known(score: Option<&repscope_core::Score>) -> Cell {
    match score {
        Some(score) => Cell::score(Some(score)),
        None => Cell::optional(None, number),
    }
}
