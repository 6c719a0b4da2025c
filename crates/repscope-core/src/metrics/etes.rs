// SPDX-License-Identifier: MIT
//! EEG–text energy score: how well generated texts fit the signals they were generated from. See the page.

mod advice;
mod form;
mod groups;
mod measured;
mod others;
mod outputs;
mod ranks;
mod sampling;
mod scores;
mod tables;
mod with_texts;

use super::{Analysis, Invariance, Metric, Results, Takes, Work};
use crate::etes::Decoded;
use measured::Measured;

pub(super) static METRIC: Metric = Metric {
    id: "etes",
    title: "EEG–text energy score",
    analysis: Analysis::Etes,
    outputs: outputs::OUTPUTS,
    page: include_str!("etes.md"),
    invariances: Invariance::OF_ANGLES,
    takes: &[Takes::Signals, Takes::TextCodes],
    options: &["fluency-weight", "bands", "k", "permutations"],
    work: Work::Decoding { compute },
};

fn compute(decoded: &Decoded) -> Results {
    let measured = Measured::of_all(decoded);
    let mut answer = Results {
        scores: scores::all(&measured),
        curves: tables::histograms(&measured),
        breakdowns: vec![tables::bands(&measured)],
        samples: vec![tables::samples(&measured)],
        warnings: advice::warnings(&measured),
        ..Results::default()
    };
    answer.scores.extend(with_texts::correlations(&measured));
    for (factor, labels) in &decoded.data.groups {
        answer.breakdowns.push(groups::table(decoded, factor, labels));
    }
    answer
}
