// SPDX-License-Identifier: MIT
//! Examples small enough for a sheet of paper. Each calculation stands beside its claim.

use std::sync::Arc;

use anyhow::Result;
use repscope_core::metrics::accuracy_of_split;
use repscope_core::{Labels, Mcr2Spec, Spec, Study};

use super::Group;
use super::claim::Evidence::Hand;
use super::claim::{Claim, Got, PAPER, RANKS, SPEC, Scores, clid, exactly, near};
use super::data::{space, with_eigenvalues};
use super::references::{
    CLID, CODING_RATE, EFFECTIVE_RANK, NEAREST_NEIGHBORS, PARTICIPATION_RATIO, RANK_ME, STABLE_RANK, TWO_NN, UNIFORMITY,
};

/// What a few roundings may change.
const ROUNDING: f64 = 1e-9;
/// The corners of a square, on the circle.
const CORNERS: [f64; 8] = [1.0, 0.0, 0.0, 1.0, -1.0, 0.0, 0.0, -1.0];

pub fn group() -> Result<Group> {
    let mut claims = two_directions()?;
    claims.extend(four_points()?);
    claims.extend(votes()?);
    claims.extend(cluster_votes()?);
    claims.extend(square()?);
    claims.extend(two_classes()?);
    Ok(Group {
        title: "Hand calculations",
        about: "Examples small enough for a sheet of paper, with the calculation.",
        claims,
    })
}

/// Four rows (±√2, 0), (0, ±1/√2): squared singular values 4 and 1, singular values 2 and 1.
fn two_directions() -> Result<Vec<Claim>> {
    let metrics = &[RANKS, &["condition_number"]].concat();
    let codes = space(2, with_eigenvalues(&[2.0, 0.5]))?;
    let scores = Scores::of(codes, metrics, &Spec::default())?;
    let three = space(3, with_eigenvalues(&[1.0, 0.0101f64.powi(2), 0.0099f64.powi(2)]))?;
    let three = Scores::of(three, RANKS, &Spec::default())?;
    Ok(vec![
        Claim::new("RankMe (document) of singular values 2 and 1")
            .expect(near(5.0 / 4f64.powf(0.8), ROUNDING), scores.got(SPEC))
            .since(Hand, &[EFFECTIVE_RANK])
            .because("Shares 4/5 and 1/5: exp(0.8·ln(5/4) + 0.2·ln 5) = 5 / 4^0.8"),
        Claim::new("RankMe (paper) of singular values 2 and 1")
            .expect(near(3.0 / 2f64.powf(2.0 / 3.0), 1e-5), scores.got(PAPER))
            .since(Hand, &[RANK_ME])
            .because(
                "Shares 2/3 and 1/3: exp(2/3·ln(3/2) + 1/3·ln 3) = 3 / 2^(2/3); the paper's 1e-7 changes the \
                 seventh decimal.",
            ),
        Claim::new("participation ratio of eigenvalues 4 and 1")
            .expect(near(25.0 / 17.0, ROUNDING), scores.got("participation_ratio"))
            .since(Hand, &[PARTICIPATION_RATIO])
            .because("(4 + 1)² / (4² + 1²) = 25/17"),
        Claim::new("stable rank of eigenvalues 4 and 1")
            .expect(near(1.25, ROUNDING), scores.got("stable_rank"))
            .since(Hand, &[STABLE_RANK])
            .because("(4 + 1) / 4"),
        Claim::new("condition number of singular values 2 and 1")
            .expect(near(2.0, ROUNDING), scores.got("condition_number"))
            .since(Hand, &[])
            .because("2 / 1"),
        Claim::new("numerical rank of singular values 1, 0.0101 and 0.0099")
            .expect(exactly(2.0), three.got("numerical_rank"))
            .since(Hand, &[])
            .because("Two are above 1 % of the largest."),
    ])
}

fn four_points() -> Result<Vec<Claim>> {
    // On a line at 0, 1, 3 and 7 the two smallest distances are (1, 3), (1, 2), (2, 3) and (4, 6), the ratios 3, 2, 3/2
    // and 3/2. Sorted and without the largest (int(0.9·4) = 3 are kept), the fit is of −ln(1 − i/4) on ln(3/2), ln(3/2)
    // and ln 2.
    let scores = Scores::of(space(1, vec![0.0, 1.0, 3.0, 7.0])?, &["two_nn"], &Spec::default())?;
    let [half, two]: [f64; 2] = [1.5f64.ln(), 2f64.ln()];
    let products = half * (4.0 / 3.0f64).ln() + half * two + two * 4f64.ln();
    Ok(vec![
        Claim::new("TwoNN (linear fit) of the points 0, 1, 3 and 7")
            .expect(
                near(products / (2.0 * half * half + two * two), ROUNDING),
                scores.got("two_nn"),
            )
            .since(Hand, &[TWO_NN])
            .because(
                "On a line, r2 / r1 = 3, 2, 3/2, 3/2; without the largest: Σ xy / Σ x² of x = ln(3/2), \
                 ln(3/2), ln 2 and y = ln(4/3), ln 2, ln 4",
            ),
        Claim::new("TwoNN (maximum likelihood) of the points 0, 1, 3 and 7")
            .expect(near(3.0 / 13.5f64.ln(), ROUNDING), scores.got("two_nn(fit=mle)"))
            .since(Hand, &[TWO_NN])
            .because("(4 − 1) / (ln 3 + ln 2 + 2·ln(3/2)) = 3 / ln 13.5"),
    ])
}

fn votes() -> Result<Vec<Claim>> {
    // 0 and 1 train as a, 6 and 11 as b; 2 and 5 are tested and are both a.
    let codes = space(1, vec![0.0, 1.0, 6.0, 11.0, 2.0, 5.0])?;
    let labels = Labels::new(&["a", "a", "b", "b", "a", "a"]);
    let trains = [true, true, true, true, false, false];
    let got = |k| accuracy_of_split(&codes, &labels, &trains, k).map(Got::Number);
    let points = "0 and 1 train as a, 6 and 11 as b; 2 and 5 are both a.";
    Ok(vec![
        Claim::new("k-NN accuracy of a split of six points, k = 1")
            .expect(exactly(0.5), got(1)?)
            .since(Hand, &[NEAREST_NEIGHBORS])
            .because(format!(
                "{points} The nearest to 2 is 1, an a; the nearest to 5 is 6, a b."
            )),
        Claim::new("k-NN accuracy of a split of six points, k = 3")
            .expect(exactly(1.0), got(3)?)
            .since(Hand, &[NEAREST_NEIGHBORS])
            .because(format!(
                "{points} 2 sees 1, 0 and 6, and 5 sees 6, 1 and 0: two votes for a each."
            )),
    ])
}

/// Six rows on one side and two on the other: k-means finds both, whatever the seed. Half of each trains.
fn cluster_votes() -> Result<Vec<Claim>> {
    let codes = space(1, vec![1.0, 1.1, 1.2, 1.3, 1.4, 1.5, -5.0, -5.1])?;
    let of = |k| Scores::of(codes.clone(), &["clid"], &clid(2, k));
    let halves = "Clusters of 6 and 2 rows: 3 and 1 train, 3 and 1 are tested.";
    Ok(vec![
        Claim::new("cluster learnability of clusters of 6 and 2 rows, k = 3")
            .expect(exactly(0.75), of(3)?.got("clid.cl"))
            .since(Hand, &[CLID])
            .because(format!(
                "{halves} The lone training row of the small cluster is outvoted 2 to 1: 3 of 4 are right."
            )),
        Claim::new("cluster learnability of clusters of 6 and 2 rows, k = 1")
            .expect(exactly(1.0), of(1)?.got("clid.cl"))
            .since(Hand, &[CLID])
            .because(format!(
                "{halves} The nearest training row is always of the same cluster."
            )),
    ])
}

fn square() -> Result<Vec<Claim>> {
    // Of the six pairs four are sides with d² = 2, and two are diagonals with d² = 4.
    let expected = ((4.0 * (-4f64).exp() + 2.0 * (-8f64).exp()) / 6.0).ln();
    let mut turned = CORNERS;
    turned.rotate_left(2);
    let study = Study {
        view: Some(Arc::new(space(2, turned.to_vec())?)),
        ..Study::new("square", space(2, CORNERS.to_vec())?)
    };
    let scores = Scores::of_study(study, &["uniformity", "alignment"], &Spec::default())?;
    let pairs = "4 sides with d² = 2 and 2 diagonals with d² = 4: ln((4·e^−4 + 2·e^−8) / 6)";
    Ok(vec![
        Claim::new("uniformity of the corners of a square (t = 2)")
            .expect(near(expected, ROUNDING), scores.got("uniformity"))
            .since(Hand, &[UNIFORMITY])
            .because(pairs),
        Claim::new("alignment of a square with itself turned by 90°")
            .expect(near(2.0, ROUNDING), scores.got("alignment"))
            .since(Hand, &[UNIFORMITY])
            .because("Each corner meets the next one, d² = 2."),
        Claim::new("alignment plus uniformity of both squares")
            .expect(near(2.0 + expected, ROUNDING), scores.got("alignment.total"))
            .since(Hand, &[UNIFORMITY])
            .because(pairs),
    ])
}

fn two_classes() -> Result<Vec<Claim>> {
    // Two rows (1, 0) of class a and two rows (0, 1) of class b: N = 4, D = 2, ZᵀZ = 2·I, and each class has one
    // eigenvalue 2. With eps = 0.5: D / (N·eps) = 1 and D / (n_j·eps) = 2.
    let spec = Spec {
        mcr2: Mcr2Spec {
            gamma1: 1.0,
            gamma2: 1.0,
            eps: 0.5,
        },
        ..Spec::default()
    };
    let study = Study {
        labels: Some(Arc::new(Labels::new(&["a", "a", "b", "b"]))),
        ..Study::new("classes", space(2, vec![1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0])?)
    };
    let scores = Scores::of_study(study, &["mcr2"], &spec)?;
    let claim = |name: &str, id: &str, value: f64, because: &str| {
        Claim::new(format!("MCR² of two orthogonal classes, {name}"))
            .expect(near(value, ROUNDING), scores.got(id))
            .since(Hand, &[CODING_RATE])
            .because(because)
    };
    let (whole, classes) = (3f64.ln(), 5f64.ln() / 2.0);
    Ok(vec![
        claim(
            "discriminative",
            "mcr2.discriminative",
            whole,
            "Two rows each of (1, 0) and (0, 1), eps = 0.5: ½·ln det(I + 2/(4·0.5)·2I) = ½·2·ln 3",
        ),
        claim(
            "compressive",
            "mcr2.compressive",
            classes,
            "2 · 2/(2·4) · ln(1 + 2/(2·0.5)·2) = ½·ln 5",
        ),
        claim("total", "mcr2.total", classes - whole, "½·ln 5 − ln 3"),
    ])
}
