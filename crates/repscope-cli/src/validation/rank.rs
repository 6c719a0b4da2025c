// SPDX-License-Identifier: MIT
//! Codes that fill a known number of directions.

use anyhow::Result;
use repscope_core::Spec;

use super::Group;
use super::claim::Evidence::{Construction, Formula, Proof};
use super::claim::{Claim, PAPER, RANKS, SPEC, Scores, between, exactly, near};
use super::data::{Draw, product, space};
use super::references::{EFFECTIVE_RANK, RANK_ME};

const COLUMNS: usize = 20;

pub fn group() -> Result<Group> {
    let mut claims = equal_directions()?;
    claims.extend(one_direction()?);
    claims.extend(far_mean()?);
    claims.extend(deficient_product()?);
    Ok(Group {
        title: "Known rank",
        about: "Codes built to fill a known number of directions of 20 or 30, turned at random.",
        claims,
    })
}

/// Four rows of length 1 on each of seven directions, two forward and two back, so that their mean is 0. An eighth
/// direction is `mean` away from 0.
fn seven_directions(mean: f64) -> Result<Scores> {
    let directions = Draw(701).directions(8, COLUMNS);
    let mut coordinates = Vec::new();
    for axis in 0..7 {
        for sign in [1.0, -1.0, 1.0, -1.0] {
            let mut row = [0.0; 8];
            row[axis] = sign;
            row[7] = mean;
            coordinates.extend(row);
        }
    }
    Scores::of(
        space(COLUMNS, product(&coordinates, 8, &directions))?,
        RANKS,
        &Spec::default(),
    )
}

fn equal_directions() -> Result<Vec<Claim>> {
    let scores = seven_directions(0.0)?;
    let equal = "7 equal shares have the entropy ln 7; all other shares are 0.";
    let mut claims = vec![
        Claim::new("RankMe (document) of 7 equal directions")
            .expect(near(7.0, 1e-9), scores.got(SPEC))
            .since(Proof, &[EFFECTIVE_RANK])
            .because(equal),
        Claim::new("RankMe (paper) of 7 equal directions")
            .expect(near(7.000151311263781, 1e-9), scores.got(PAPER))
            .since(Formula, &[RANK_ME])
            .because("7 but for the paper's 1e-7: each of the 13 empty directions adds −1e-7·ln(1e-7) to the entropy."),
        Claim::new("numerical rank of 7 equal directions")
            .expect(exactly(7.0), scores.got("numerical_rank"))
            .since(Construction, &[])
            .because("7 singular values are equal, 13 are rounding."),
    ];
    for (name, id) in [
        ("participation ratio", "participation_ratio"),
        ("stable rank", "stable_rank"),
    ] {
        claims.push(
            Claim::new(format!("{name} of 7 equal directions"))
                .expect(near(7.0, 1e-9), scores.got(id))
                .since(Proof, &[])
                .because("(7λ)² / 7λ² = 7λ / λ = 7"),
        );
    }
    Ok(claims)
}

fn one_direction() -> Result<Vec<Claim>> {
    let direction = Draw(702).directions(1, COLUMNS);
    // 30 rows, so that min(N, D) is 20.
    let along: Vec<f64> = (0..30).map(|i| f64::from(i) - 14.5).collect();
    let scores = Scores::of(space(COLUMNS, product(&along, 1, &direction))?, RANKS, &Spec::default())?;
    let claim = |name: &str, id: &str, value: f64, because: &str| {
        let found = Claim::new(format!("{name} of codes on one line")).expect(near(value, 1e-9), scores.got(id));
        found.since(Proof, &[EFFECTIVE_RANK]).because(because)
    };
    let one = "One share is 1, the others are 0: the entropy is 0.";
    Ok(vec![
        claim("RankMe (document)", SPEC, 1.0, one),
        claim(
            "RankMe (paper)",
            PAPER,
            1.0000305248476054,
            "1 but for the paper's 1e-7 in the 19 empty directions.",
        ),
        claim("participation ratio", "participation_ratio", 1.0, "λ² / λ² = 1"),
        claim("numerical rank", "numerical_rank", 1.0, "One singular value is not 0."),
    ])
}

fn far_mean() -> Result<Vec<Claim>> {
    let scores = seven_directions(1000.0)?;
    Ok(vec![
        Claim::new("RankMe (document) of 7 equal directions and a mean 1000 away")
            .expect(near(7.0, 1e-6), scores.got(SPEC))
            .since(Proof, &[EFFECTIVE_RANK])
            .because("Centring takes the mean away; rounding at 1000 leaves 1e-13 of it."),
        Claim::new("RankMe (paper) of 7 equal directions and a mean 1000 away")
            .expect(near(1.0237390887926618, 1e-9), scores.got(PAPER))
            .since(Formula, &[RANK_ME])
            .because("Singular values 1000·√28 (the mean), seven times 2, twelve times 0: nearly one direction."),
    ])
}

fn deficient_product() -> Result<Vec<Claim>> {
    let mut draw = Draw(703);
    let (left, right) = (draw.normals(60 * 5), draw.normals(5 * 30));
    let scores = Scores::of(space(30, product(&left, 5, &right))?, RANKS, &Spec::default())?;
    let because = "A product of 60 × 5 and 5 × 30 normal numbers has rank 5, and no rank can exceed it.";
    Ok(vec![
        Claim::new("numerical rank of a 60 × 30 product of rank 5")
            .expect(exactly(5.0), scores.got("numerical_rank"))
            .since(Construction, &[])
            .because(because),
        Claim::new("RankMe (document) of the product of rank 5")
            .expect(between(1.0, 5.0), scores.got(SPEC))
            .since(Proof, &[EFFECTIVE_RANK])
            .because(because),
        Claim::new("participation ratio of the product of rank 5")
            .expect(between(1.0, 5.0), scores.got("participation_ratio"))
            .since(Proof, &[])
            .because(because),
    ])
}
