// SPDX-License-Identifier: MIT
//! What the claims cite, with the titles as they were published.

/// A publication, a program, or the document itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reference {
    Document002,
    RankMe,
    EffectiveRank,
    Clid,
    TwoNn,
    ParticipationRatio,
    StableRank,
    AlphaReq,
    Entropies,
    Uniformity,
    CodingRate,
    NearestNeighbors,
    NumPy,
    ScikitLearn,
    ScikitDimension,
}

impl Reference {
    pub fn text(self) -> &'static str {
        match self {
            Reference::Document002 => {
                "Specification \"Implementation Evidence: CLID and RankMe Metrics\", and its validation run."
            }
            Reference::RankMe => {
                "Garrido, Balestriero, Najman and LeCun, \"RankMe: Assessing the Downstream Performance of Pretrained \
                 Self-Supervised Representations by Their Rank\", ICML 2023, arXiv 2210.02885."
            }
            Reference::EffectiveRank => {
                "Roy and Vetterli, \"The effective rank: a measure of effective dimensionality\", EUSIPCO 2007."
            }
            Reference::Clid => {
                "Lu et al., \"Using Representation Expressiveness and Learnability to Evaluate Self-Supervised Learning \
                 Methods\", TMLR 2023, arXiv 2206.01251."
            }
            Reference::TwoNn => {
                "Facco, d'Errico, Rodriguez and Laio, \"Estimating the intrinsic dimension of datasets by a minimal \
                 neighborhood information\", Scientific Reports 7, 2017."
            }
            Reference::ParticipationRatio => {
                "Gao et al., \"A theory of multineuronal dimensionality, dynamics and measurement\", bioRxiv 214262, \
                 2017."
            }
            Reference::StableRank => {
                "Rudelson and Vershynin, \"Sampling from large matrices: an approach through geometric functional \
                 analysis\", Journal of the ACM 54, 2007."
            }
            Reference::AlphaReq => {
                "Agrawal, Mondal, Ghosh and Richards, \"α-ReQ: Assessing representation quality in self-supervised \
                 learning by measuring eigenspectrum decay\", NeurIPS 2022."
            }
            Reference::Entropies => {
                "Rényi, \"On measures of entropy and information\", Fourth Berkeley Symposium on Mathematical Statistics \
                 and Probability, 1961."
            }
            Reference::Uniformity => {
                "Wang and Isola, \"Understanding contrastive representation learning through alignment and uniformity on \
                 the hypersphere\", ICML 2020."
            }
            Reference::CodingRate => {
                "Yu, Chan, You, Song and Ma, \"Learning diverse and discriminative representations via the principle of \
                 maximal coding rate reduction\", NeurIPS 2020."
            }
            Reference::NearestNeighbors => {
                "Cover and Hart, \"Nearest neighbor pattern classification\", IEEE Transactions on Information Theory \
                 13, 1967."
            }
            Reference::NumPy => {
                "Harris et al., \"Array programming with NumPy\", Nature 585, 2020; version 2.4.6, by make_examples.py."
            }
            Reference::ScikitLearn => {
                "Pedregosa et al., \"Scikit-learn: machine learning in Python\", Journal of Machine Learning Research \
                 12, 2011; version 1.9.1, by make_examples.py."
            }
            Reference::ScikitDimension => {
                "Bac, Mirkes, Gorban, Tyukin and Zinovyev, \"Scikit-dimension: a Python package for intrinsic dimension \
                 estimation\", Entropy 23, 2021; version 0.5.0, by make_examples.py."
            }
        }
    }
}
