// SPDX-License-Identifier: MIT
//! How many directions the embeddings fill, from their singular values: RankMe (as the CLID / RankMe analysis and as the paper
//! compute it), numerical and stable rank, Alpha-ReQ, condition number; and the spread of unit-length embeddings.

use super::participation_ratio::{FEWEST, NO_VARIANCE};
use super::{Analysis, Compute, Invariance, Metric, Output, Results, Takes, Work};
use crate::data::{Slice, Space, Study};
use crate::error::Result;
use crate::kernels::prepared::unit_factors;
use crate::kernels::singular::{Function, Values};
use crate::plan::{Need, Shared};
use crate::score::{Interval, Score};
use crate::spec::Spec;
use crate::stats::interval::{self, Units};

/// What the metrics of singular values share.
pub(super) const fn of_singular_values(compute: Compute) -> Metric {
    Metric {
        invariances: Invariance::SIMILARITY,
        ..Metric::of(Analysis::Rankme, &[Takes::Embeddings], Work::Study { needs, compute })
    }
}

fn needs(_: &Spec, _: &Study) -> Result<Vec<Need>> {
    Ok(vec![Need::Singular])
}

pub(super) static RANKME: Metric = Metric {
    id: "rankme",
    title: "RankMe",
    outputs: &[
        Output::neither("rankme(variant=spec)", "1 to min(N, D)")
            .about("the CLID / RankMe analysis: entropy of squared singular values of the centered embeddings")
            .column("RankMe_Spec"),
        Output::neither("rankme(variant=paper)", "1 to min(N, D)")
            .about("Garrido et al. 2023: entropy of singular values of the embeddings as they are")
            .column("RankMe_Paper")
            .by_bare_name(),
    ],
    page: include_str!("rankme.md"),
    options: &["eps"],
    // The paper's variant does not center, so a shift changes it.
    invariances: &[Invariance::Rotation, Invariance::Scale, Invariance::RowOrder],
    ..of_singular_values(rankme)
};

/// Added inside the logarithm, as the CLID / RankMe analysis does.
const SPEC_EPS: f64 = 1e-12;
/// Added to each share after normalizing, as the paper does.
const PAPER_EPS: f64 = 1e-7;

/// The CLID / RankMe analysis's.
pub(super) const SPEC: Function = ("rankme(variant=spec)", |singular| {
    let shares = shares(&singular.values.iter().map(|s| s * s).collect::<Vec<_>>())?;
    let eps = singular.eps.unwrap_or(SPEC_EPS);
    Some((-shares.iter().map(|p| p * logarithm(p + eps)).sum::<f64>()).exp())
});

/// The paper's.
pub(super) const PAPER: Function = ("rankme(variant=paper)", |singular| {
    let shares = shares(&singular.values)?;
    let eps = singular.eps.unwrap_or(PAPER_EPS);
    let shifted = shares.iter().map(|p| p + eps);
    Some((-shifted.map(|p| p * logarithm(p)).sum::<f64>()).exp())
});

/// Without an eps a share may be 0, and p · ln p is then 0.
fn logarithm(share: f64) -> f64 {
    if share > 0.0 { share.ln() } else { 0.0 }
}

fn rankme(shared: &Shared) -> Result<Results> {
    let singular = shared.singular()?;
    let spec = score(SPEC, &singular.centered, ranks(shared, 1), NO_VARIANCE, shared);
    let paper = score(
        PAPER,
        &singular.raw,
        ranks(shared, 0),
        "all embeddings are zero",
        shared,
    );
    let eps = shared.spec.rank.eps;
    let of_spec =
        "the CLID / RankMe analysis's RankMe: squared singular values, centered; the effective rank of the covariance";
    let of_spec = eps.map_or(of_spec.to_string(), |eps| format!("{of_spec}, eps = {eps:e}"));
    let of_paper = match eps {
        None => format!("the published RankMe: singular values, not centered, eps = {PAPER_EPS:e}"),
        Some(eps) => format!("the published RankMe, but eps = {eps:e}: singular values, not centered"),
    };
    let noted = |score, note: String| with_note(score, &format!("{note}; {}", bound(shared)));
    Ok(Results::from(vec![noted(spec, of_spec), noted(paper, of_paper)]))
}

/// A note beside a number.
fn with_note(score: Score, note: &str) -> Score {
    match score.value {
        Some(_) => score.with_note(note),
        None => score,
    }
}

/// On which scale errors vary least with the value.
#[derive(Clone, Copy)]
pub(super) enum Scale {
    Plain,
    /// That of the logarithm of the distance from the least value.
    FromLeast,
    /// ln(x / (1 − x)), x being where the value lies in its range.
    Between,
}

/// Where a value can be, and its scale there.
pub(super) type Range = (Scale, [f64; 2]);

/// The score of a function of singular values, with Student's t over what each row does to it, as far as the repulsion of eigenvalues
/// lets it happen, cut to where it can be.
pub(super) fn score(
    (id, of): Function,
    singular: &Values,
    (scale, [least, most]): Range,
    reason: &str,
    shared: &Shared,
) -> Score {
    let Some(value) = of(singular) else {
        return Score::undefined(id, reason, singular.n);
    };
    let effects = singular.effects(id).filter(|effects| effects.len() >= FEWEST);
    let interval = effects.and_then(|effects| {
        let of_units = interval::of_influence(value, effects, shared.row_units(), shared.spec.level)?;
        let of_rows = interval::of_influence(value, effects, Units::Single("rows"), shared.spec.level)?;
        let design = match of_rows.standard_error? {
            0.0 => 1.0,
            alone => (of_units.standard_error? / alone).powi(2),
        };
        Some(of_units.about(value, singular.left_by_repulsion(id, design)))
    });
    // Rounding may bring the value itself a last digit beyond its bound.
    let (least, most) = (least.min(value), most.max(value));
    let on_scale = |i: Interval| match scale {
        Scale::Plain => i,
        Scale::FromLeast => i.shifted(-least).on_log_scale(value - least).shifted(least),
        Scale::Between => i.on_logit_scale(value, [least, most]),
    };
    let interval = interval.map(|i| on_scale(i).within(least, most));
    Score::number(id, value, singular.n).with_interval(interval)
}

/// The ranks that are possible; centering takes one direction away. The eps inside the logarithms adds a millionth at most.
pub(super) fn ranks(shared: &Shared, taken: usize) -> Range {
    let (n, d) = (shared.study.embeddings.rows(), shared.study.embeddings.columns());
    (Scale::Between, [1.0, n.saturating_sub(taken).min(d).max(1) as f64])
}

/// How large a rank can be here, in words.
fn bound(shared: &Shared) -> String {
    let (n, d) = (shared.study.embeddings.rows(), shared.study.embeddings.columns());
    format!("at most min(N, D) = {}", n.min(d))
}

/// The values divided by their sum; none where all are 0.
fn shares(values: &[f64]) -> Option<Vec<f64>> {
    let sum: f64 = values.iter().sum();
    (sum > 0.0).then(|| values.iter().map(|v| v / sum).collect())
}

pub(super) static NUMERICAL_RANK: Metric = Metric {
    id: "numerical_rank",
    title: "Numerical rank",
    outputs: &[Output::neither("numerical_rank", "1 to min(N, D)")
        .about("singular values above a share of the largest, 1 %; the CLID / RankMe analysis's threshold version")
        .column("Numerical_Rank")],
    page: include_str!("numerical_rank.md"),
    options: &["threshold"],
    ..of_singular_values(numerical_rank)
};

fn numerical_rank(shared: &Shared) -> Result<Results> {
    let values = &shared.singular()?.centered.values;
    let n = shared.study.embeddings.rows();
    let largest = values.first().copied().unwrap_or(0.0);
    if largest == 0.0 {
        return Ok(NUMERICAL_RANK.undefined(NO_VARIANCE, n));
    }
    let threshold = shared.spec.rank.threshold;
    let rank = values.iter().filter(|&&s| s / largest > threshold).count();
    let bound = bound(shared);
    let note = format!("singular values above {threshold} of the largest, centered; {bound}");
    Ok(NUMERICAL_RANK.number(rank as f64, n).with_note(note).into())
}

pub(super) static STABLE_RANK: Metric = Metric {
    id: "stable_rank",
    title: "Stable rank",
    outputs: &[Output::neither("stable_rank", "1 to min(N, D)")
        .about("sum of the eigenvalues over the largest (NESum)")
        .column("Stable_Rank")],
    page: include_str!("stable_rank.md"),
    ..of_singular_values(|shared| {
        let singular = &shared.singular()?.centered;
        Ok(score(STABLE, singular, ranks(shared, 1), NO_VARIANCE, shared).into())
    })
};

/// Σ σ² over the largest.
pub(super) const STABLE: Function = ("stable_rank", |singular| {
    let largest = *singular.values.first().filter(|s| **s > 0.0)?;
    Some(singular.values.iter().map(|s| (s / largest).powi(2)).sum())
});

pub(super) static ALPHA_REQ: Metric = Metric {
    id: "alpha_req",
    title: "Alpha-ReQ",
    outputs: &[
        Output::neither("alpha_req", "any number; about 1 is often best")
            .about("exponent of the power law that the eigenvalues follow")
            .column("Alpha_ReQ"),
        Output::neither("alpha_req.r2", "0 to 1")
            .about("how well they follow it")
            .column("Alpha_ReQ_R2"),
    ],
    page: include_str!("alpha_req.md"),
    ..of_singular_values(alpha_req)
};

/// The first and last eigenvalue of the fit, counted from 1, and the fewest that it needs.
const FIRST: usize = 11;
const LAST: usize = 100;
const FEWEST_EIGENVALUES: usize = 10;

/// The exponent.
pub(super) const EXPONENT: Function = ("alpha_req", |singular| Some(-fit(singular).ok()?.0));
/// How well the line fits.
pub(super) const R2: Function = ("alpha_req.r2", |singular| fit(singular).ok()?.1);

fn alpha_req(shared: &Shared) -> Result<Results> {
    let singular = &shared.singular()?.centered;
    let equal = || "the eigenvalues of the fit are all equal".to_string();
    let reason = fit(singular).err().unwrap_or_else(equal);
    let note = format!("fit over eigenvalues {FIRST} to {}, weights 1/j", last(singular));
    let parts = [(EXPONENT, [f64::MIN, f64::MAX]), (R2, [0.0, 1.0])];
    let rounding = storage_rounding(shared, last(singular))?;
    let note = rounding.map_or(note.clone(), |rounding| format!("{note}; {rounding}"));
    let score = |(function, range)| with_note(score(function, singular, (Scale::Plain, range), &reason, shared), &note);
    Ok(parts.into_iter().map(score).collect())
}

/// The last eigenvalue of the fit. Centering takes one direction away.
fn last(singular: &Values) -> usize {
    LAST.min(singular.d.min(singular.n.saturating_sub(1)))
}

/// Slope and R² of ln λ_j on ln j, or why there are none.
fn fit(singular: &Values) -> std::result::Result<(f64, Option<f64>), String> {
    let last = last(singular);
    let largest = singular.values.first().copied().unwrap_or(0.0);
    if largest == 0.0 {
        return Err(NO_VARIANCE.to_string());
    }
    if last + 1 < FIRST + FEWEST_EIGENVALUES {
        return Err(format!(
            "the fit takes eigenvalues {FIRST} to {LAST}, at least {FEWEST_EIGENVALUES} of them, and there are {last}"
        ));
    }
    let tail = &singular.values[FIRST - 1..last];
    if tail.iter().any(|&s| singular.is_rounding(s)) {
        return Err(format!(
            "the embeddings fill fewer than {last} dimensions: eigenvalues in the range of the fit are 0"
        ));
    }
    let points = (FIRST..).zip(tail).map(|(j, s)| (j as f64, 2.0 * (s / largest).ln()));
    Ok(weighted_fit(points.map(|(j, y)| (j.ln(), y, 1.0 / j)).collect()))
}

/// Slope and R² of a least-squares line through (x, y, weight); no R² where all y are equal.
fn weighted_fit(points: Vec<(f64, f64, f64)>) -> (f64, Option<f64>) {
    let total: f64 = points.iter().map(|p| p.2).sum();
    let mean = |of: fn(&(f64, f64, f64)) -> f64| points.iter().map(|p| p.2 * of(p)).sum::<f64>() / total;
    let (mx, my) = (mean(|p| p.0), mean(|p| p.1));
    let sum = |of: &dyn Fn(f64, f64) -> f64| points.iter().map(|p| p.2 * of(p.0 - mx, p.1 - my)).sum::<f64>();
    let (xx, xy, yy) = (sum(&|x, _| x * x), sum(&|x, y| x * y), sum(&|_, y| y * y));
    // Equal eigenvalues differ by rounding alone: there is no spread that a line could explain.
    let r2 = (yy > total * 1e-24).then(|| xy * xy / (xx * yy));
    (xy / xx, r2)
}

pub(super) static CONDITION_NUMBER: Metric = Metric {
    id: "condition_number",
    title: "Condition number",
    outputs: &[Output::neither("condition_number", "1 and above")
        .about("largest over smallest singular value of the centered embeddings")
        .column("Condition_Number")],
    page: include_str!("condition_number.md"),
    ..of_singular_values(condition_number)
};

/// The largest over the smallest; none where the smallest is 0.
pub(super) const RATIO: Function = ("condition_number", |singular| {
    // Centering takes one direction away: a singular value beyond N − 1 is 0 whatever the data.
    let count = singular.d.min(singular.n.saturating_sub(1));
    let (largest, smallest) = (singular.values.first()?, singular.values[..count].last()?);
    (!singular.is_rounding(*smallest)).then(|| largest / smallest)
});

fn condition_number(shared: &Shared) -> Result<Results> {
    let singular = &shared.singular()?.centered;
    let reason = match singular.values.first() {
        Some(&largest) if largest > 0.0 => {
            "the embeddings do not fill min(N − 1, D) dimensions: the smallest singular value is 0"
        }
        _ => NO_VARIANCE,
    };
    let score = score(RATIO, singular, (Scale::FromLeast, [1.0, f64::MAX]), reason, shared);
    let rounding = storage_rounding(shared, singular.d.min(singular.n.saturating_sub(1)))?;
    Ok(rounding
        .map_or(score.clone(), |rounding| with_note(score, &rounding))
        .into())
}

/// A remark where the singular value of this number, counted from 1, is what the rounding of 32-bit numbers leaves of none at all.
///
/// Entries that are rounded by 2⁻²⁴ of their size add a matrix of noise, whose largest singular value is at most about 2⁻²⁴ · (√N + √D)
/// times the root mean square of the entries.
fn storage_rounding(shared: &Shared, number: usize) -> Result<Option<String>> {
    let (space, singular) = (&shared.study.embeddings, shared.singular()?);
    let (n, d) = (space.rows() as f64, space.columns() as f64);
    let squares: f64 = singular.raw.values.iter().map(|s| s * s).sum();
    let noise = f64::from(f32::EPSILON) / 2.0 * (n.sqrt() + d.sqrt()) * (squares / (n * d)).sqrt();
    let values = &singular.centered.values;
    let at = number.checked_sub(1).and_then(|place| values.get(place).copied());
    let is_lost = matches!(space.slice(), Slice::F32(_)) && at.is_some_and(|value| value <= noise);
    Ok(is_lost.then(|| {
        let above = values.iter().filter(|value| **value > noise).count();
        format!(
            "singular value {number} is what the rounding of 32-bit numbers makes of 0: only {above} dimensions stand out from it"
        )
    }))
}

pub(super) static STD_COLLAPSE: Metric = Metric {
    id: "std_collapse",
    title: "Std collapse",
    outputs: &[Output::neither("std_collapse", "0 to about 1/√D")
        .about("mean standard deviation of the coordinates of unit-length embeddings")
        .column("Std_Collapse")],
    page: include_str!("std_collapse.md"),
    // A rotation moves spread between coordinates.
    invariances: &[Invariance::Scale, Invariance::RowOrder],
    work: Work::Study {
        needs: |_, _| Ok(Vec::new()),
        compute: std_collapse,
    },
    ..of_singular_values(std_collapse)
};

fn std_collapse(shared: &Shared) -> Result<Results> {
    let embeddings = &shared.study.embeddings;
    let (n, d) = (embeddings.rows(), embeddings.columns());
    if n < 2 {
        return Ok(STD_COLLAPSE.undefined("one row has no spread", n));
    }
    let factors = match unit_factors(embeddings) {
        Ok(factors) => factors,
        Err(error) => return Ok(STD_COLLAPSE.undefined(error.to_string(), n)),
    };
    let expected = 1.0 / (d as f64).sqrt();
    let note = format!("embeddings spread evenly over the sphere have about 1/√D = {expected:.4}");
    let (value, effects) = mean_deviation(embeddings, &factors);
    let interval = interval::of_influence(value, &effects, shared.row_units(), shared.spec.level);
    let interval = interval.filter(|_| n >= FEWEST);
    let score = STD_COLLAPSE.number(value, n).with_interval(interval);
    Ok(score.with_note(note).into())
}

/// The mean over columns of the standard deviation s (ddof 1) of the rows times their factors, and what each row does to
/// it: the mean over columns of ((x − mean)² − s²) / (2 N s).
fn mean_deviation(embeddings: &Space, factors: &[f64]) -> (f64, Vec<f64>) {
    let (n, d) = (embeddings.rows() as f64, embeddings.columns());
    let mut row = vec![0.0; d];
    let mut over_rows = |add: &mut dyn FnMut(usize, &[f64])| {
        for (i, factor) in factors.iter().enumerate() {
            embeddings.read_row(i, &mut row);
            row.iter_mut().for_each(|x| *x *= factor);
            add(i, &row);
        }
    };
    let (mut means, mut squares) = (vec![0.0; d], vec![0.0; d]);
    over_rows(&mut |_, row| means.iter_mut().zip(row).for_each(|(mean, x)| *mean += x / n));
    over_rows(&mut |_, row| {
        let parts = squares.iter_mut().zip(row).zip(&means);
        parts.for_each(|((square, x), mean)| *square += (x - mean).powi(2));
    });
    let deviations: Vec<f64> = squares.iter().map(|s: &f64| (s / (n - 1.0)).sqrt()).collect();
    let mut effects = vec![0.0; factors.len()];
    over_rows(&mut |i, row| {
        let parts = row.iter().zip(&means).zip(&deviations).filter(|(_, s)| **s > 0.0);
        let sum: f64 = parts.map(|((x, mean), s)| ((x - mean).powi(2) - s * s) / s).sum();
        effects[i] = sum / (2.0 * n * d as f64);
    });
    (deviations.iter().sum::<f64>() / d as f64, effects)
}
