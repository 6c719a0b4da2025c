// SPDX-License-Identifier: MIT
//! Std collapse: the spread of the unit-length codes along each coordinate. See the page.

use super::{Analysis, Answer, Invariance, Metric, Output, Work};
use crate::data::{Space, Study};
use crate::error::Result;
use crate::passes::prepared::unit_factors;
use crate::plan::{Need, Shared};
use crate::score::{Better, Score};
use crate::spec::Spec;

pub(super) static METRIC: Metric = Metric {
    id: "std_collapse",
    title: "Std collapse",
    analysis: Analysis::Rankme,
    outputs: &[Output {
        id: "std_collapse",
        about: "mean standard deviation of the coordinates of unit-length codes",
        better: Better::Neither,
        range: "0 to about 1/√D",
    }],
    page: include_str!("std_collapse.md"),
    // A rotation moves spread between coordinates.
    invariances: &[Invariance::Scale, Invariance::RowOrder],
    work: Work::Study { needs, compute },
};

fn needs(_: &Spec, _: &Study) -> Result<Vec<Need>> {
    Ok(Vec::new())
}

fn compute(shared: &Shared) -> Result<Answer> {
    let codes = &shared.study.latent;
    let (n, d) = (codes.rows(), codes.columns());
    let undefined = |reason: String| Ok(Score::undefined("std_collapse", reason, n, Better::Neither).into());
    if n < 2 {
        return undefined("one row has no spread".to_string());
    }
    let factors = match unit_factors(codes) {
        Ok(factors) => factors,
        Err(error) => return undefined(error.to_string()),
    };
    let note = format!(
        "codes spread evenly over the sphere have about 1/√D = {:.4}",
        1.0 / (d as f64).sqrt()
    );
    Ok(
        Score::number("std_collapse", mean_deviation(codes, &factors), n, Better::Neither)
            .with_note(note)
            .into(),
    )
}

/// The mean over columns of the standard deviation (ddof 1) of the rows times their factors.
fn mean_deviation(codes: &Space, factors: &[f64]) -> f64 {
    let (n, d) = (codes.rows() as f64, codes.columns());
    let mut row = vec![0.0; d];
    let mut over_rows = |add: &mut dyn FnMut(usize, f64)| {
        for (i, factor) in factors.iter().enumerate() {
            codes.read_row(i, &mut row);
            row.iter().enumerate().for_each(|(c, x)| add(c, x * factor));
        }
    };
    let (mut means, mut squares) = (vec![0.0; d], vec![0.0; d]);
    over_rows(&mut |c, x| means[c] += x / n);
    over_rows(&mut |c, x| squares[c] += (x - means[c]).powi(2));
    squares.iter().map(|s: &f64| (s / (n - 1.0)).sqrt()).sum::<f64>() / d as f64
}
