// SPDX-License-Identifier: MIT
//! The steps of CLID in words, and which of them differ from a preset.

use repscope_core::{ClidSpec, ClusterCount, IdNorm, UnitLength};

/// How CLID was computed.
pub(crate) fn sentence(preset: &str, start: &ClidSpec, now: &ClidSpec) -> String {
    let source = match start {
        _ if *start == ClidSpec::PAPER => " (Lu et al. 2023)",
        _ => "",
    };
    let changed: Vec<String> = options(now)
        .into_iter()
        .zip(options(start))
        .filter(|(now, start)| now != start)
        .map(|((option, now), (_, start))| format!("{option} {now} (not {start})"))
        .collect();
    let but = if changed.is_empty() {
        String::new()
    } else {
        format!(", but with {}", changed.join(", "))
    };
    format!("CLID by preset {preset}{source}{but}: {}", words(now))
}

/// The options that would give these steps.
fn options(steps: &ClidSpec) -> [(&'static str, String); 8] {
    let clusters = match steps.clusters {
        ClusterCount::Sqrt => "sqrt".to_string(),
        ClusterCount::Of(count) => count.to_string(),
    };
    let unit_length = match steps.unit_length {
        UnitLength::None => "none",
        UnitLength::Vote => "vote",
        UnitLength::All => "all",
    };
    let id_norm = match steps.id_norm {
        IdNorm::Dim => "dim",
        IdNorm::Pool => "pool",
    };
    [
        (
            "--standardize",
            if steps.standardize { "yes" } else { "no" }.to_string(),
        ),
        ("--unit-length", unit_length.to_string()),
        ("--clusters", clusters),
        ("--restarts", steps.restarts.to_string()),
        ("--splits", steps.splits.to_string()),
        ("--k", steps.k.to_string()),
        ("--repeats", steps.repeats.to_string()),
        ("--id-norm", id_norm.to_string()),
    ]
}

fn words(steps: &ClidSpec) -> String {
    let rows = match (steps.standardize, steps.unit_length) {
        (true, UnitLength::All) => "columns of mean 0 and variance 1, rows of length 1",
        (true, _) => "columns of mean 0 and variance 1",
        (false, UnitLength::All) => "rows of length 1",
        (false, _) => "embeddings as they are",
    };
    let clusters = match steps.clusters {
        ClusterCount::Sqrt => "√N k-means clusters".to_string(),
        ClusterCount::Of(count) => counted(count, "k-means cluster"),
    };
    let kept = match steps.restarts {
        1 => String::new(),
        restarts => format!(", the best of {restarts} restarts"),
    };
    let vote = match steps.unit_length {
        UnitLength::Vote => " on rows of length 1",
        UnitLength::None | UnitLength::All => "",
    };
    let dimension = match steps.unit_length {
        UnitLength::All => "of rows of length 1",
        UnitLength::None | UnitLength::Vote => "of the embeddings as they are",
    };
    let scale = match steps.id_norm {
        IdNorm::Dim => "ID divided by D, at most 1",
        IdNorm::Pool => "CL and ID standardized over the models",
    };
    format!(
        "{rows}; {clusters}{kept}; {}{vote}; {} with {} in halves each; TwoNN {dimension}; {scale}",
        counted(steps.k, "voter"),
        counted(steps.repeats, "clustering"),
        counted(steps.splits, "split"),
    )
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preset_is_told_in_its_steps() {
        assert_eq!(
            sentence("spec", &ClidSpec::SPEC, &ClidSpec::SPEC),
            "CLID by preset spec: columns of mean 0 and variance 1; 10 k-means clusters, the best of 10 \
             restarts; 5 voters on rows of length 1; 5 clusterings with 1 split in halves each; TwoNN of the embeddings as \
             they are; ID divided by D, at most 1"
        );
        assert_eq!(
            sentence("paper", &ClidSpec::PAPER, &ClidSpec::PAPER),
            "CLID by preset paper (Lu et al. 2023): rows of length 1; √N k-means clusters; 1 voter; 5 clusterings with \
             10 splits in halves each; TwoNN of rows of length 1; CL and ID standardized over the models"
        );
    }

    #[test]
    fn changed_steps_are_named_with_what_they_were() {
        let changed = ClidSpec {
            clusters: ClusterCount::Sqrt,
            k: 3,
            ..ClidSpec::SPEC
        };
        let text = sentence("spec", &ClidSpec::SPEC, &changed);
        assert!(
            text.starts_with("CLID by preset spec, but with --clusters sqrt (not 10), --k 3 (not 5): "),
            "{text}"
        );
        assert!(text.contains("; 3 voters on rows of length 1; "), "{text}");
    }
}
