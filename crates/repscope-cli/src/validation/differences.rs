// SPDX-License-Identifier: MIT
//! What the CLID / RankMe specification says of its metrics that is not so, and what these claims do not show.

/// One paragraph each.
pub const DIFFERENCES: &[&str] = &[
    "The specification says that its RankMe \"strictly follows\" the paper. It does not: the specification squares the singular values \
     of the centered embeddings and adds 1e-12 inside the logarithm; the paper takes the singular values themselves, of embeddings that \
     are not centered, and adds 1e-7 to each share. For the specification's own matrix that is 1.907 against 4.293. Numbers in \
     the literature are rankme(variant=paper).",
    "The specification calls its threshold rank the paper's simple version. The paper has none, and argues against thresholds; \
     here it is numerical_rank.",
    "The paper that the specification cites for CLID, \"CLID: A Novel Method for Evaluating Self-Supervised Learning \
     Representations\", does not exist; CLID is by Lu et al. The title of the RankMe paper has \"Self-Supervised\" before \
     \"Representations\".",
    "The specification's CLID is not that of Lu et al. either: columns are standardized, rows have length 1 for the vote only, the \
     number of clusters is fixed, there is one split, and ID is divided by D. The paper brings CL and ID to a common scale \
     over the models that are compared. Preset paper follows the settings that are reported for it (cosine geometry, √N \
     clusters, one neighbor, several splits); no published CLID value is reproduced here.",
    "CL = 1 for blobs so far apart says little: k-means finds its clusters on all rows before they are split. The claims \
     with clusters of 6 and 2 rows show that CL can be wrong about a row. Random choices are not scikit-learn's, so for \
     clusters that touch CL agrees with scikit-learn's on average only.",
    "That ranges hold over six random data sets is an example. The proofs named beside them are the reason.",
];
