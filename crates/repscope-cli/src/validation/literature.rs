// SPDX-License-Identifier: MIT
//! Values of the literature's definitions, computed by other programs or from closed formulas.

use anyhow::Result;
use repscope_core::Spec;

use super::Group;
use super::claim::Evidence::{Computed, Formula};
use super::claim::{Claim, PAPER, RANKS, SPEC, Scores, near};
use super::data::{Examples, space, with_eigenvalues};
use super::references::Reference;
use super::references::{
    ALPHA_REQ, EFFECTIVE_RANK, NUM_PY, PARTICIPATION_RATIO, RANK_ME, SCIKIT_DIMENSION, STABLE_RANK, TWO_NN,
};

/// A spectrum λ_i = i^(−exponent), and what `make_examples.py` computes for it from the definitions.
struct PowerLaw {
    shown: &'static str,
    of_singular_values: &'static str,
    exponent: f64,
    directions: usize,
    paper: f64,
    spec: f64,
    participation_ratio: f64,
    stable_rank: f64,
}

const POWER_LAWS: [PowerLaw; 2] = [
    PowerLaw {
        shown: "1/i, D = 512",
        of_singular_values: "p_i = √λ_i / Σ √λ + 1e-7, exp(−Σ p ln p); without the 1e-7 it would be 409.55",
        exponent: 1.0,
        directions: 512,
        paper: 409.6678393499376,
        spec: 117.23118182398944,
        participation_ratio: 28.28081724871401,
        stable_rank: 6.816516534549723,
    },
    PowerLaw {
        shown: "i^−1.5, D = 256",
        of_singular_values: "p_i = √λ_i / Σ √λ + 1e-7, exp(−Σ p ln p); without the 1e-7 it would be 142.53",
        exponent: 1.5,
        directions: 256,
        paper: 142.55065452297012,
        spec: 15.09184853532964,
        participation_ratio: 5.147578221952809,
        stable_rank: 2.487497299788964,
    },
];

pub fn group(examples: &Examples) -> Result<Group> {
    let matrix = Scores::of(examples.matrix.clone(), RANKS, &Spec::default())?;
    let blobs = Scores::of(examples.blobs.clone(), &["two_nn"], &Spec::default())?;
    let mut claims = vec![
        Claim::new("RankMe of the 100 × 50 matrix, as the paper defines it")
            .expect(near(4.293075095390644, 1e-6), matrix.got(PAPER))
            .since(Computed("NumPy"), &[RANK_ME, NUM_PY])
            .because("s = svd(Z); p = s / sum(s) + 1e-7; exp(−sum(p·log(p))), in float64."),
        Claim::new("RankMe of the 100 × 50 matrix, as the document defines it (NumPy)")
            .expect(near(1.9071968157470607, 1e-6), matrix.got(SPEC))
            .since(Computed("NumPy"), &[NUM_PY])
            .because("s = svd(Z − mean(Z)); p = s² / sum(s²); exp(−sum(p·log(p + 1e-12))), in float64."),
        Claim::new("TwoNN (linear fit) of the blobs")
            .expect(near(8.436930702559378, 1e-9), blobs.got("two_nn"))
            .since(Computed("scikit-dimension"), &[TWO_NN, SCIKIT_DIMENSION])
            .because("skdim.id.TwoNN(discard_fraction=0.1).fit(blobs).dimension_"),
        Claim::new("TwoNN (maximum likelihood) of the blobs")
            .expect(near(8.052806679985615, 1e-9), blobs.got("two_nn(fit=mle)"))
            .since(Computed("NumPy"), &[TWO_NN, NUM_PY])
            .because("(N − 1) / sum(log(r2 / r1)) with all distances sorted."),
    ];
    for law in &POWER_LAWS {
        claims.extend(of_power_law(law)?);
    }
    Ok(Group {
        title: "The literature beside it",
        about: "Other programs on the same data, and spectra λ_i whose ranks follow from the definitions. The codes are \
                rows ±√λ_i along axis i, so centring changes nothing.",
        claims,
    })
}

fn of_power_law(law: &PowerLaw) -> Result<Vec<Claim>> {
    let eigenvalues: Vec<f64> = (1..=law.directions).map(|i| (i as f64).powf(-law.exponent)).collect();
    let codes = space(law.directions, with_eigenvalues(&eigenvalues))?;
    let scores = Scores::of(codes, &[RANKS, &["alpha_req"]].concat(), &Spec::default())?;
    let claim = |what: &str, id: &str, value: f64, because: &str, cites: &'static [Reference]| {
        Claim::new(format!("{what} of λ_i = {}", law.shown))
            .expect(near(value, 1e-6), scores.got(id))
            .since(Formula, cites)
            .because(because)
    };
    Ok(vec![
        claim(
            "RankMe (paper)",
            PAPER,
            law.paper,
            law.of_singular_values,
            &[RANK_ME, EFFECTIVE_RANK],
        ),
        claim(
            "RankMe (document)",
            SPEC,
            law.spec,
            "p_i = λ_i / Σ λ, exp(−Σ p ln(p + 1e-12))",
            &[EFFECTIVE_RANK],
        ),
        claim(
            "participation ratio",
            "participation_ratio",
            law.participation_ratio,
            "(Σ λ)² / Σ λ²",
            &[PARTICIPATION_RATIO],
        ),
        claim(
            "stable rank",
            "stable_rank",
            law.stable_rank,
            "Σ λ / λ_1",
            &[STABLE_RANK],
        ),
        claim(
            "exponent (alpha-ReQ)",
            "alpha_req",
            law.exponent,
            "ln λ_i is a straight line over ln i, so any weighted fit gives its slope.",
            &[ALPHA_REQ],
        ),
    ])
}
