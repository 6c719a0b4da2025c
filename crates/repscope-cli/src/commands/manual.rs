// SPDX-License-Identifier: MIT
//! `repscope manual`: completions, manual pages and documentation, all from what commands and metrics declare.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Command;
use repscope_core::{METRICS, Metric, coverage};
use repscope_io::write_whole;

use crate::args::{Manual, ManualPart, command};
use crate::outputs::{self, advise};

pub fn run(options: &Manual) -> Result<ExitCode> {
    match &options.part {
        ManualPart::Completions { shell } => {
            let mut text = Vec::new();
            clap_complete::generate(*shell, &mut command(), "repscope", &mut text);
            outputs::print(&String::from_utf8(text).context("completions are no text")?)?;
        }
        ManualPart::Man { folder } => {
            let mut all = command();
            all.build();
            let pages = man_pages(&all)?;
            for (name, page) in &pages {
                write_whole(&folder.join(name), page)?;
            }
            advise(&format!("{} manual pages are in {}", pages.len(), folder.display()));
        }
        ManualPart::Docs { folder, check } => {
            let pages = documentation();
            if *check {
                let stale: Vec<&str> = pages
                    .iter()
                    .filter(|page| !page.is_in(folder))
                    .map(|p| p.path.as_str())
                    .collect();
                if !stale.is_empty() {
                    advise(&format!(
                        "not current: {}; write them with `repscope manual docs {}`",
                        stale.join(", "),
                        folder.display()
                    ));
                    return Ok(ExitCode::FAILURE);
                }
                return Ok(ExitCode::SUCCESS);
            }
            for page in &pages {
                write_whole(&folder.join(&page.path), page.text.as_bytes())?;
            }
            advise(&format!("{} pages are in {}", pages.len(), folder.display()));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// One page for the command and one for each subcommand that users see.
fn man_pages(all: &Command) -> Result<Vec<(String, Vec<u8>)>> {
    let mut pages = Vec::new();
    let mut waiting = vec![("repscope".to_string(), all)];
    while let Some((name, command)) = waiting.pop() {
        let mut page = Vec::new();
        clap_mangen::Man::new(command.clone()).render(&mut page)?;
        pages.push((format!("{name}.1"), page));
        let own = command.get_subcommands().filter(|own| is_shown(own));
        waiting.extend(own.map(|own| (format!("{name}-{}", own.get_name()), own)));
    }
    pages.sort();
    Ok(pages)
}

fn is_shown(command: &Command) -> bool {
    !command.is_hide_set() && command.get_name() != "help"
}

/// A page and where it belongs.
struct Page {
    path: String,
    text: String,
}

impl Page {
    fn is_in(&self, folder: &Path) -> bool {
        std::fs::read_to_string(folder.join(&self.path)).is_ok_and(|there| there == self.text)
    }
}

fn documentation() -> Vec<Page> {
    let coverage = Page {
        path: "coverage.md".to_string(),
        text: coverage::page(),
    };
    let mut pages = vec![index(), commands(), coverage];
    pages.extend(METRICS.iter().map(|metric| of_metric(metric)));
    pages
}

fn index() -> Page {
    let mut text = "# Metrics\n\nWritten by `repscope manual docs` from what the metrics declare.\n".to_string();
    let mut analysis = None;
    for metric in METRICS {
        if analysis != Some(metric.analysis) {
            text += &format!("\n## `repscope {}`\n\n", metric.analysis.name());
            analysis = Some(metric.analysis);
        }
        text += &format!("- [{}]({}.md): {}\n", metric.title, metric.id, metric.outputs[0].about);
    }
    Page {
        path: "metrics/README.md".to_string(),
        text,
    }
}

fn of_metric(metric: &Metric) -> Page {
    let mut text = format!(
        "{}\n\n## Scores\n\n| score | is | better | range |\n|---|---|---|---|\n",
        metric.definition().trim_end()
    );
    for output in metric.outputs {
        let better = output.better.name();
        text += &format!("| `{}` | {} | {better} | {} |\n", output.id, output.about, output.range);
    }
    text += &format!(
        "\nComputed by `repscope {}`, in Python by `repscope.{}`.\n",
        metric.analysis.name(),
        metric.id
    );
    Page {
        path: format!("metrics/{}.md", metric.id),
        text,
    }
}

/// The help of every command, as it is printed.
fn commands() -> Page {
    let mut text =
        "# Commands\n\nWritten by `repscope manual docs`: what `repscope COMMAND --help` prints.\n".to_string();
    let mut all = command().term_width(110);
    all.build();
    let mut waiting: Vec<&mut Command> = all.get_subcommands_mut().filter(|own| is_shown(own)).collect();
    waiting.reverse();
    while let Some(command) = waiting.pop() {
        let name = command.get_bin_name().unwrap_or(command.get_name()).to_string();
        let help = command.render_help().to_string();
        let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
        text += &format!("\n## {name}\n\n```text\n{}\n```\n", lines.join("\n").trim_end());
        let mut own: Vec<&mut Command> = command.get_subcommands_mut().filter(|own| is_shown(own)).collect();
        own.reverse();
        waiting.extend(own);
    }
    Page {
        path: "commands.md".to_string(),
        text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_manual_page_and_a_place_among_the_commands() {
        let mut all = command();
        all.build();
        let pages = man_pages(&all).expect("pages");
        let text = commands().text;
        for command in all.get_subcommands().filter(|own| is_shown(own)) {
            let name = format!("repscope-{}.1", command.get_name());
            assert!(pages.iter().any(|(page, _)| *page == name), "{name}");
            assert!(
                text.contains(&format!("## repscope {}\n", command.get_name())),
                "{name}"
            );
        }
        assert!(!text.contains("## repscope bench"));
    }

    #[test]
    fn every_metric_has_a_page_with_its_scores() {
        let pages = documentation();
        for metric in METRICS {
            let path = format!("metrics/{}.md", metric.id);
            let page = pages.iter().find(|page| page.path == path).expect("a page");
            assert!(
                metric.outputs.iter().all(|output| page.text.contains(output.id)),
                "{path}"
            );
        }
    }
}
