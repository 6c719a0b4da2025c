// SPDX-License-Identifier: MIT
//! `repscope explain ID`: the definition card of a metric; `repscope metrics`: the list of all.

use std::process::ExitCode;

use anyhow::{Result, bail};
use repscope_core::metrics::find;
use repscope_core::{Better, METRICS};
use repscope_io::names::guess;
use repscope_render::definition_card;

use crate::args::{Explain, Metrics};
use crate::outputs;

pub fn run(options: &Explain) -> Result<ExitCode> {
    for id in &options.ids {
        let Some((metric, output)) = find(id) else {
            bail!(
                "there is no metric `{id}`{} `repscope metrics` lists them all",
                suggestion(id)
            );
        };
        let width = outputs::width().min(100);
        outputs::print(&definition_card(metric, output, width, outputs::color()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The metric with the most similar name.
fn suggestion(id: &str) -> String {
    let name = |id: &'static str| id.split(['@', '(']).next().unwrap_or(id);
    let asked = id.split(['@', '(']).next().unwrap_or(id);
    let ids = METRICS
        .iter()
        .flat_map(|m| std::iter::once(m.id).chain(m.outputs.iter().map(|o| name(o.id))));
    guess(asked, ids)
}

pub fn list(options: &Metrics) -> Result<ExitCode> {
    if options.json {
        let outputs = METRICS.iter().flat_map(|m| m.outputs.iter().map(move |o| (m, o)));
        let list: Vec<serde_json::Value> = outputs
            .map(|(metric, output)| {
                serde_json::json!({
                    "id": output.id, "command": metric.analysis.name(), "title": metric.title,
                    "about": output.about, "better": output.better, "range": output.range,
                })
            })
            .collect();
        outputs::print(&serde_json::to_string_pretty(&list)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let longest = METRICS
        .iter()
        .flat_map(|m| m.outputs)
        .map(|o| o.id.chars().count())
        .max()
        .unwrap_or(0);
    let mut text = String::new();
    let mut analysis = None;
    for metric in METRICS {
        if analysis != Some(metric.analysis) {
            let gap = if analysis.is_some() { "\n" } else { "" };
            text += &format!("{gap}repscope {}\n", metric.analysis.name());
            analysis = Some(metric.analysis);
        }
        for output in metric.outputs {
            let arrow = match output.better {
                Better::Higher => "↑",
                Better::Lower => "↓",
                Better::Neither => "·",
            };
            text += &format!("  {:<longest$} {arrow} {}\n", output.id, output.about);
        }
    }
    text += "\n↑ higher is better, ↓ lower is better, · neither. `repscope explain ID` shows the definition.\n";
    outputs::print(&text)?;
    Ok(ExitCode::SUCCESS)
}
