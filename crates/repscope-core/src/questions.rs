// SPDX-License-Identifier: MIT
//! What each analysis asks, and the one score that answers it.

use crate::metrics::Analysis;

/// What an analysis asks.
#[derive(Debug)]
pub struct Question {
    /// A heading.
    pub title: &'static str,
    /// The question itself.
    pub asks: &'static str,
    /// What is said of the model that answers best.
    pub best: &'static str,
    /// The declared scores that answer, the most telling first: one that exists is taken. None of them is best for an encoder that
    /// gives the same embedding for everything.
    pub headlines: &'static [&'static str],
    /// The declared scores that its table shows where not all are asked for; of several K, the middle one.
    pub table: &'static [&'static str],
}

impl Analysis {
    /// What it asks.
    pub fn question(self) -> &'static Question {
        match self {
            Analysis::Smoothness => &Question {
                title: "Smoothness",
                asks: "Do small steps of the input make small steps of the embedding?",
                best: "moves most in step with its inputs",
                headlines: &["smoothness.r"],
                table: &[
                    "smoothness.r",
                    "smoothness.slope",
                    "smoothness.unit.slope",
                    "smoothness.ratio_mean",
                ],
            },
            Analysis::Robustness => &Question {
                title: "Robustness",
                asks: "How far does noise in the input move the embedding?",
                best: "is moved least by noise",
                headlines: &["robustness.scaled.auc"],
                table: &["robustness.scaled.auc", "robustness.unit.auc", "robustness.auc"],
            },
            Analysis::Neighborhood => &Question {
                title: "Neighborhood",
                asks: "Are neighbors of the input neighbors of the embedding, and the other way round?",
                best: "keeps the neighborhoods of the inputs best",
                headlines: &["trustworthiness@K"],
                table: &["trustworthiness@K", "continuity@K"],
            },
            Analysis::Manifold => &Question {
                title: "Manifold",
                asks: "How many dimensions do the embeddings use?",
                best: "",
                headlines: &["two_nn", "participation_ratio"],
                table: &["two_nn", "participation_ratio", "dimension_usage"],
            },
            Analysis::Geometry => &Question {
                title: "Geometry",
                asks: "How are the embeddings spread, and do they fall into classes?",
                best: "separates the classes best",
                headlines: &["knn_accuracy@K", "uniformity"],
                table: &["knn_accuracy@K", "silhouette", "nmi", "uniformity"],
            },
            Analysis::Rankme => &Question {
                title: "RankMe",
                asks: "How many directions do the embeddings really fill?",
                best: "",
                headlines: &["rankme(variant=paper)", "rankme(variant=spec)"],
                table: &["rankme(variant=paper)", "rankme(variant=spec)", "std_collapse"],
            },
            Analysis::Clid => &Question {
                title: "CLID",
                asks: "Are clusters of the embeddings easy to learn, and how many dimensions do the embeddings have?",
                best: "is predicted to do best without labels",
                headlines: &["clid", "clid.cl"],
                table: &["clid", "clid.cl", "clid.id", "mcr2.total", "alignment.total"],
            },
            Analysis::Retrieval => &Question {
                title: "Retrieval",
                asks: "Do the targets nearest to a query have its label?",
                best: "finds its labels best",
                headlines: &["label_precision.DIRECTION@K"],
                table: &[
                    "label_precision.DIRECTION@K",
                    "map_at_r.DIRECTION",
                    "pair_recall.DIRECTION@K",
                ],
            },
            Analysis::Perturb => &Question {
                title: "Perturbation",
                asks: "How much worse does a classifier do where parts of its images are masked?",
                best: "survives masks best",
                headlines: &["pis.HEAD.drop@SET"],
                table: &["accuracy.HEAD@SET", "pis.HEAD@SET"],
            },
            Analysis::Etes => &Question {
                title: "ETES",
                asks: "Do texts that were generated from signals fit the signals?",
                best: "fits its signals best",
                headlines: &["etes.alignment"],
                table: &["etes.alignment", "etes.gap", "etes.auc"],
            },
        }
    }
}
