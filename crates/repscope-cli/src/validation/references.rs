// SPDX-License-Identifier: MIT
//! What the claims cite, with the titles as they were published.

/// A publication, a program, or the document itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reference(pub &'static str);

pub const DOCUMENT_002: Reference =
    Reference("Specification \"Implementation Evidence: CLID and RankMe Metrics\", and its validation run.");
pub const RANK_ME: Reference = Reference(
    "Garrido, Balestriero, Najman and LeCun, \"RankMe: Assessing the Downstream Performance of Pretrained \
     Self-Supervised Representations by Their Rank\", ICML 2023, arXiv 2210.02885.",
);
pub const EFFECTIVE_RANK: Reference =
    Reference("Roy and Vetterli, \"The effective rank: a measure of effective dimensionality\", EUSIPCO 2007.");
pub const CLID: Reference = Reference(
    "Lu et al., \"Using Representation Expressiveness and Learnability to Evaluate Self-Supervised Learning \
     Methods\", TMLR 2023, arXiv 2206.01251.",
);
pub const TWO_NN: Reference = Reference(
    "Facco, d'Errico, Rodriguez and Laio, \"Estimating the intrinsic dimension of datasets by a minimal \
     neighborhood information\", Scientific Reports 7, 2017.",
);
pub const PARTICIPATION_RATIO: Reference = Reference(
    "Gao et al., \"A theory of multineuronal dimensionality, dynamics and measurement\", bioRxiv 214262, \
     2017.",
);
pub const STABLE_RANK: Reference = Reference(
    "Rudelson and Vershynin, \"Sampling from large matrices: an approach through geometric functional \
     analysis\", Journal of the ACM 54, 2007.",
);
pub const ALPHA_REQ: Reference = Reference(
    "Agrawal, Mondal, Ghosh and Richards, \"α-ReQ: Assessing representation quality in self-supervised \
     learning by measuring eigenspectrum decay\", NeurIPS 2022.",
);
pub const ENTROPIES: Reference = Reference(
    "Rényi, \"On measures of entropy and information\", Fourth Berkeley Symposium on Mathematical Statistics \
     and Probability, 1961.",
);
pub const UNIFORMITY: Reference = Reference(
    "Wang and Isola, \"Understanding contrastive representation learning through alignment and uniformity on \
     the hypersphere\", ICML 2020.",
);
pub const CODING_RATE: Reference = Reference(
    "Yu, Chan, You, Song and Ma, \"Learning diverse and discriminative representations via the principle of \
     maximal coding rate reduction\", NeurIPS 2020.",
);
pub const NEAREST_NEIGHBORS: Reference = Reference(
    "Cover and Hart, \"Nearest neighbor pattern classification\", IEEE Transactions on Information Theory 13, \
     1967.",
);
pub const NUM_PY: Reference =
    Reference("Harris et al., \"Array programming with NumPy\", Nature 585, 2020; version 2.4.6, by make_examples.py.");
pub const SCIKIT_LEARN: Reference = Reference(
    "Pedregosa et al., \"Scikit-learn: machine learning in Python\", Journal of Machine Learning Research 12, \
     2011; version 1.9.1, by make_examples.py.",
);
pub const SCIKIT_DIMENSION: Reference = Reference(
    "Bac, Mirkes, Gorban, Tyukin and Zinovyev, \"Scikit-dimension: a Python package for intrinsic dimension \
     estimation\", Entropy 23, 2021; version 0.5.0, by make_examples.py.",
);

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
