// SPDX-License-Identifier: MIT
//! The values that the CLID / RankMe specification's validation run prints.

use anyhow::Result;
use repscope_core::Spec;

use super::Group;
use super::claim::Evidence::{Construction, Printed, Proof};
use super::claim::{Claim, Got, RANKS, SPEC, Scores, clid, exactly, near};
use super::data::Examples;
use super::references::{CLID, DOCUMENT_002, SCIKIT_LEARN};

/// Half a unit of the third decimal, the last that is printed.
const PRINTED: f64 = 0.0005;

pub fn group(examples: &Examples) -> Result<Group> {
    let ranks = Scores::of(examples.matrix.clone(), RANKS, &Spec::default())?;
    let blobs = Scores::of(examples.blobs.clone(), &["clid"], &clid(3, 5))?;
    let columns = examples.blobs.columns() as f64;
    let matrix = "U·diag(10, 5, 2, 1, 16 times 0.1)·V of 100 × 50 in float32, from NumPy's RandomState(42).";
    let data = "scikit-learn's make_blobs(200, centers=3, n_features=10, cluster_std=1.0, random_state=42); 3 clusters, \
                k = 5.";
    let of_blobs = |name: &str, id: &str, value: f64| {
        let found = Claim::new(name).expect(near(value, PRINTED), blobs.got(id));
        found.since(Printed, &[DOCUMENT_002, SCIKIT_LEARN]).because(data)
    };
    let step = |name: &str, holds: Got, because: &str| {
        let found = Claim::new(name).expect(exactly(0.0), holds);
        found.since(Proof, &[DOCUMENT_002]).because(because)
    };
    let (cl, id) = (blobs.got("clid.cl"), blobs.got("clid.id"));
    Ok(Group {
        title: "The document's worked values",
        about: "As its validation run prints them, to half a unit of the last digit.",
        claims: vec![
            Claim::new("RankMe of the 100 × 50 matrix, as the document defines it")
                .expect(near(1.907, PRINTED), ranks.got(SPEC))
                .since(Printed, &[DOCUMENT_002])
                .because(matrix),
            Claim::new("threshold rank of the 100 × 50 matrix (numerical_rank)")
                .expect(exactly(9.0), ranks.got("numerical_rank"))
                .since(Printed, &[DOCUMENT_002])
                .because(matrix),
            of_blobs("cluster learnability CL of the blobs", "clid.cl", 1.0),
            of_blobs("intrinsic dimension ID of the blobs", "clid.id", 8.437),
            of_blobs("normalised dimension of the blobs", "clid.id_normalized", 0.844),
            of_blobs("CLID of the blobs", "clid", 1.844),
            step(
                "step 8: ID_normalized − min(ID / D, 1)",
                id.clone().with(blobs.got("clid.id_normalized"), |id, normalized| {
                    normalized - (id / columns).min(1.0)
                }),
                "Step 8 of the document's table, with the ID that is reported and D = 10.",
            ),
            step(
                "step 9: CLID − (CL + min(ID / D, 1))",
                cl.with(id, |cl, id| cl + (id / columns).min(1.0))
                    .with(blobs.got("clid"), |sum, clid| clid - sum),
                "Step 9 of the document's table, with the CL and the ID that are reported.",
            ),
            Claim::new("CL is the same for all five seeds (its standard deviation)")
                .expect(exactly(0.0), blobs.got("clid.cl_std"))
                .since(Construction, &[CLID])
                .because(
                    "The blobs are further apart than wide: k-means finds them from any seed, and all five \
                     voters of a row come from its own blob.",
                ),
        ],
    })
}
