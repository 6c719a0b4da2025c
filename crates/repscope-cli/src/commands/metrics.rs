// SPDX-License-Identifier: MIT
//! `repscope metrics`: the list of all metrics.

use std::process::ExitCode;

use anyhow::Result;
use repscope_core::{Better, METRICS};

use crate::args::Metrics;
use crate::outputs;

pub fn run(options: &Metrics) -> Result<ExitCode> {
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
