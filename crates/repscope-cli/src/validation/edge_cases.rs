// SPDX-License-Identifier: MIT
//! Data that have no answer, or only a part of one.

use anyhow::Result;

use super::Group;
use super::claim::Evidence::{Construction, Formula, Proof};
use super::claim::{Claim, Expected, Got, PAPER, RANKS, SPEC, Scores, clid, exactly, near};
use super::data::space;
use super::references::{DOCUMENT_002, RANK_ME};

pub fn group() -> Result<Group> {
    let mut claims = constant_codes()?;
    claims.extend(lone_clusters()?);
    Ok(Group {
        title: "Edge cases",
        about: "Where there is no answer there is a reason, never NaN; rows that cannot take part are counted.",
        claims,
    })
}

fn constant_codes() -> Result<Vec<Claim>> {
    let of = |value: f64| -> Result<Scores> {
        let metrics = [RANKS, &["two_nn", "clid"]].concat();
        Scores::of(space(4, vec![value; 40 * 4])?, &metrics, &clid(3, 5))
    };
    let (constant, zeros) = (of(3.0)?, of(0.0)?);
    let mut claims = Vec::new();
    for (name, id) in [
        ("RankMe (document)", SPEC),
        ("numerical rank", "numerical_rank"),
        ("TwoNN", "two_nn"),
        ("CLID", "clid"),
    ] {
        claims.push(
            Claim::new(format!("{name} of equal codes"))
                .expect(Expected::Missing, constant.got(id))
                .since(Proof, &[])
                .because("0 / 0: there is no variance, no distance and no second cluster."),
        );
    }
    claims.extend([
        Claim::new("RankMe (paper) of equal codes")
            .expect(near(1.0, 1e-4), constant.got(PAPER))
            .since(Formula, &[RANK_ME])
            .because("Not centred, they are one direction; the 1e-7 adds less than 1e-4."),
        Claim::new("RankMe (paper) of codes that are zero")
            .expect(Expected::Missing, zeros.got(PAPER))
            .since(Proof, &[RANK_ME])
            .because("0 / 0: all singular values are 0."),
    ]);
    Ok(claims)
}

/// Twenty rows around 0, twenty around 10, and one row far out on either side: four clusters, two of them of one row.
fn lone_clusters() -> Result<Vec<Claim>> {
    let mut rows: Vec<f64> = (0..40).map(|i| 10.0 * f64::from(i % 2) + 0.01 * f64::from(i)).collect();
    rows.extend([-1000.0, 1010.0]);
    let scores = Scores::of(space(1, rows)?, &["clid"], &clid(4, 5))?;
    let note = scores.note("clid.cl");
    let said = "clusters of a single row, which is left out: up to 2";
    Ok(vec![
        Claim::new("CL where two of four clusters have a single row")
            .expect(exactly(1.0), scores.got("clid.cl"))
            .since(Construction, &[DOCUMENT_002])
            .because("A stratified split cannot cut one row; without these two, the other clusters are far apart."),
        Claim::new("rows tested where two of four clusters have a single row")
            .expect(exactly(20.0), scores.rows("clid.cl"))
            .since(Construction, &[])
            .because("Half of the two clusters of 20."),
        Claim::new("note where two of four clusters have a single row")
            .expect(
                Expected::Words(said),
                Got::Words(if note.contains(said) {
                    said.to_string()
                } else {
                    format!("the note says {note:?}")
                }),
            )
            .since(Construction, &[])
            .because("Two rows are far from all others."),
    ])
}
