// SPDX-License-Identifier: MIT
//! `repscope explain ID`: the definition card of a metric.

use std::process::ExitCode;

use anyhow::{Result, bail};
use repscope_core::METRICS;
use repscope_core::metrics::find;
use repscope_render::{Card, Entry, definition_card};

use crate::args::Explain;
use crate::outputs;

pub fn run(options: &Explain) -> Result<ExitCode> {
    for id in &options.ids {
        let Some((metric, output)) = find(id) else {
            let suggestion = suggestion(id);
            bail!("there is no metric `{id}`; {suggestion}`repscope metrics` lists them all");
        };
        let entries: Vec<Entry> = metric
            .outputs
            .iter()
            .filter(|o| output.is_none_or(|wanted| wanted.id == o.id))
            .map(|o| Entry {
                id: o.id,
                about: o.about,
                better: o.better,
                range: o.range,
            })
            .collect();
        let card = Card {
            title: metric.title,
            entries: &entries,
            page: metric.page,
        };
        outputs::print(&definition_card(&card, outputs::width().min(100), outputs::color()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// `did you mean …? ` where some metric has a similar name.
fn suggestion(id: &str) -> String {
    let name = id.split(['@', '(']).next().unwrap_or(id);
    let known = METRICS
        .iter()
        .flat_map(|m| std::iter::once(m.id).chain(m.outputs.iter().map(|o| o.id)));
    let closeness = |known: &str| strsim::jaro_winkler(name, known.split(['@', '(']).next().unwrap_or(known));
    // Of equals the last wins: going backwards, that is the metric rather than one of its outputs.
    let best = known.rev().max_by(|a, b| closeness(a).total_cmp(&closeness(b)));
    match best.filter(|b| closeness(b) > 0.8) {
        Some(best) => format!("did you mean `{best}`? "),
        None => String::new(),
    }
}
