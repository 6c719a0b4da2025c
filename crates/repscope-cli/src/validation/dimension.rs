// SPDX-License-Identifier: MIT
//! Codes on a sheet of known dimension, and what TwoNN does with duplicates.

use anyhow::Result;
use repscope_core::Spec;

use super::Group;
use super::claim::Evidence::{Computed, Construction, Proof};
use super::claim::{Claim, Expected, Got, Scores, between, exactly, near};
use super::data::{Draw, Examples, numbers, product, space};
use super::references::{NUM_PY, TWO_NN};

const ROWS: usize = 2000;
const COLUMNS: usize = 20;

pub fn group(examples: &Examples) -> Result<Group> {
    let mut claims = Vec::new();
    // The ratios of 2,000 rows tell d to about 2 % (one standard error), and the edges of a cube take a few percent
    // in high dimensions: hence 10 %.
    for d in [1usize, 2, 5] {
        let mut draw = Draw(710 + d as u64);
        let cube: Vec<f64> = (0..ROWS * d).map(|_| draw.uniform()).collect();
        let codes = space(COLUMNS, product(&cube, d, &draw.directions(d, COLUMNS)))?;
        let scores = Scores::of(codes, &["two_nn"], &Spec::default())?;
        let truth = d as f64;
        for (fit, id) in [("linear fit", "two_nn"), ("maximum likelihood", "two_nn(fit=mle)")] {
            claims.push(
                Claim::new(format!(
                    "TwoNN ({fit}) of {d} dimension{} in 20",
                    if d == 1 { "" } else { "s" }
                ))
                .expect(between(0.9 * truth, 1.1 * truth), scores.got(id))
                .since(Construction, &[TWO_NN])
                .because(format!(
                    "2,000 rows, uniform over a cube of {d} dimensions that is turned into 20; within 10 %, since one \
                     standard error is 2 % and the edges of the cube take some more."
                )),
            );
        }
    }
    claims.extend(duplicates(examples)?);
    Ok(Group {
        title: "Known dimension",
        about: "TwoNN of points that were drawn in a known number of dimensions, and of data with duplicates.",
        claims,
    })
}

/// The blobs with their first 20 rows again: these 40 rows have a first distance of 0.
fn duplicates(examples: &Examples) -> Result<Vec<Claim>> {
    let columns = examples.blobs.columns();
    let mut values = numbers(&examples.blobs);
    values.extend_from_within(..20 * columns);
    let scores = Scores::of(space(columns, values)?, &["two_nn"], &Spec::default())?;
    let note = scores.note("two_nn");
    let counted = if note.starts_with("40 of 220 rows dropped") {
        "40 of 220 rows dropped".to_string()
    } else {
        format!("the note says {note:?}")
    };
    let because = "The 40 rows that have a copy have no ratio r2 / r1. NumPy computes the fit of the others, with their \
                   neighbours among all 220.";
    Ok(vec![
        Claim::new("TwoNN (linear fit) of the blobs with 20 rows twice")
            .expect(near(9.21740233734281, 1e-9), scores.got("two_nn"))
            .since(Computed("NumPy"), &[TWO_NN, NUM_PY])
            .because(because),
        Claim::new("TwoNN (maximum likelihood) of the blobs with 20 rows twice")
            .expect(near(9.233142468724983, 1e-9), scores.got("two_nn(fit=mle)"))
            .since(Computed("NumPy"), &[TWO_NN, NUM_PY])
            .because(because),
        Claim::new("rows with a ratio, of the blobs with 20 rows twice")
            .expect(exactly(180.0), scores.rows("two_nn"))
            .since(Proof, &[])
            .because("220 − 40"),
        Claim::new("note on the blobs with 20 rows twice")
            .expect(Expected::Words("40 of 220 rows dropped"), Got::Words(counted))
            .since(Proof, &[])
            .because("20 rows and their 20 copies"),
    ])
}
