// SPDX-License-Identifier: MIT
//! What document 002 says of its metrics that is not so, and what these claims do not show.

/// One paragraph each.
pub const DIFFERENCES: &[&str] = &[
    "The document says that its RankMe \"strictly follows\" the paper. It does not: the document squares the singular values \
     of the centred codes and adds 1e-12 inside the logarithm; the paper takes the singular values themselves, of codes that \
     are not centred, and adds 1e-7 to each share. For the document's own matrix that is 1.907 against 4.293. Numbers in \
     the literature are rankme(variant=paper).",
    "The document calls its threshold rank the paper's simple version. The paper has none, and argues against thresholds; \
     here it is numerical_rank.",
    "The paper that the document cites for CLID, \"CLID: A Novel Method for Evaluating Self-Supervised Learning \
     Representations\", does not exist; CLID is by Lu et al. The title of the RankMe paper has \"Self-Supervised\" before \
     \"Representations\".",
    "The document's CLID is not that of Lu et al. either: columns are standardised, rows have length 1 for the vote only, the \
     number of clusters is fixed, there is one split, and ID is divided by D. The paper brings CL and ID to a common scale \
     over the models that are compared. Preset paper follows the settings that are reported for it (cosine geometry, √N \
     clusters, one neighbour, several splits); no published CLID value is reproduced here.",
    "CL = 1 for blobs so far apart says little: k-means finds its clusters on all rows before they are split. The claims \
     with clusters of 6 and 2 rows show that CL can be wrong about a row. Random choices are not scikit-learn's, so for \
     clusters that touch CL agrees with scikit-learn's on average only.",
    "That ranges hold over six random data sets is an example. The proofs named beside them are the reason.",
];
