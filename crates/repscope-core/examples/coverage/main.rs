// SPDX-License-Identifier: MIT
//! The coverage study: `coverage [--replicates N] [--runs N] [--metrics ID,ID] [--write FOLDER]`.
//!
//! Draws data of known designs, evaluates every metric on each draw, and counts how often its 95 % interval holds the
//! expectation of the score, how often `compare` names a winner among equal models, and how often it finds a worse one. Prints what
//! is too low or too wide; with a folder, writes the tables that the documentation quotes. `--replicates` are the draws for intervals,
//! `--runs` those of two equal models (a quarter of the draws by default, half as many of a worse model); 0 leaves that part and its
//! tables as they are.

#![allow(clippy::print_stdout, missing_docs)]

mod comparisons;
mod designs;
mod intervals;

use std::path::Path;

use designs::DESIGNS;
use intervals::is_too_low;
use repscope_core::coverage::{Cell, Exception, exceptions};
use repscope_core::{METRICS, Metric};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (mut replicates, mut runs, mut metrics, mut folder) = (2000, None, METRICS.to_vec(), None);
    for pair in words.chunks(2) {
        match pair {
            [flag, value] if flag == "--replicates" => replicates = value.parse()?,
            [flag, value] if flag == "--runs" => runs = Some(value.parse()?),
            [flag, value] if flag == "--metrics" => metrics = named(value)?,
            [flag, value] if flag == "--write" => folder = Some(value),
            other => {
                return Err(format!(
                    "{other:?} is no option with a value; give --replicates, --runs, --metrics or --write"
                )
                .into());
            }
        }
    }
    let runs: usize = runs.unwrap_or(replicates / 4);
    let cells = if replicates > 0 {
        intervals::measure(&metrics, replicates)
    } else {
        Vec::new()
    };
    cells.iter().for_each(|cell| println!("{}", line(cell)));
    let share = |count: usize| 100.0 * count as f64 / cells.len() as f64;
    let is_near = |cell: &&Cell| (0.93..=0.97).contains(&cell.coverage());
    let near = cells.iter().filter(is_near).count();
    println!(
        "\n{near} of {} cells ({:.0} %) cover 93 to 97 %",
        cells.len(),
        share(near)
    );
    let winners = if runs > 0 {
        comparisons::false_winners(&metrics, runs)
    } else {
        Vec::new()
    };
    for found in &winners {
        println!(
            "{:20} {:4} of {} runs of equal models name a winner",
            found.design, found.false_winners, found.runs
        );
    }
    let mut power = Vec::new();
    for design in [DESIGNS[0], DESIGNS[4]] {
        power.extend(comparisons::power(&metrics, design, runs / 2));
    }
    for found in &power {
        let percent = |count: usize| 100.0 * count as f64 / found.runs as f64;
        let [own, t, truth] = [found.found, found.by_t, found.with_true_error].map(percent);
        println!(
            "{:28} {:16} power {own:3.0} %, plain t {t:3.0} %, true error {truth:3.0} %",
            found.score, found.design
        );
    }
    if let Some(folder) = folder {
        let write = |name: &str, lines: Vec<String>| {
            let text: String = lines.into_iter().map(|line| line + "\n").collect();
            match text.is_empty() {
                true => Ok(()),
                false => repscope_io::write_whole(&Path::new(folder).join(name), text.as_bytes()),
            }
        };
        write("intervals.tsv", cells.iter().map(ToString::to_string).collect())?;
        write("winners.tsv", winners.iter().map(ToString::to_string).collect())?;
        write("power.tsv", power.iter().map(ToString::to_string).collect())?;
    }
    Ok(())
}

/// The metrics of these names.
fn named(list: &str) -> Result<Vec<&'static Metric>, String> {
    let find = |id: &str| METRICS.iter().copied().find(|metric| metric.id == id);
    list.split(',')
        .map(|id| find(id).ok_or(format!("there is no metric `{id}`")))
        .collect()
}

fn line(cell: &Cell) -> String {
    let is_it = |e: &Exception| e.score == cell.score && e.design == cell.design;
    let remark = match (is_too_low(cell), exceptions().into_iter().find(is_it)) {
        (true, Some(exception)) => format!("TOO LOW, excepted: {}", exception.reason),
        (true, None) => "TOO LOW".to_string(),
        (false, _) if cell.coverage() > 0.97 => "wide".to_string(),
        (false, _) => String::new(),
    };
    let Cell {
        score,
        design,
        width_ratio,
        ..
    } = cell;
    format!(
        "{score:38} {design:18} {:5.1} % ({width_ratio:4.2})  {remark}",
        100.0 * cell.coverage()
    )
}
