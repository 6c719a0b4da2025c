// SPDX-License-Identifier: MIT
//! The question of each analysis, and the one score that answers it.

use crate::metrics::Analysis;

/// The question of an analysis.
#[derive(Debug)]
pub struct Question {
    /// A heading.
    pub title: &'static str,
    /// The question itself.
    pub text: &'static str,
    /// Why the answer matters, in a sentence or two.
    pub why: &'static str,
    /// The quality of a good representation that it looks at.
    pub quality: Option<Quality>,
    /// What is said of the model that answers best, for each headline; the last one stands for those that follow.
    pub best: &'static [&'static str],
    /// The declared scores that answer, the most telling first: one that exists is taken. None of them is best for an encoder that
    /// gives the same embedding for everything.
    pub headlines: &'static [&'static str],
    /// The declared scores that its table shows where not all are asked for; of several K, the middle one.
    pub table: &'static [&'static str],
}

/// What a good representation is, in the order of the specification of the representation analysis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum Quality {
    Smooth,
    Robust,
    WellStructured,
    Efficient,
}

impl Quality {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Quality::Smooth => "Smooth",
            Quality::Robust => "Robust",
            Quality::WellStructured => "Well-structured",
            Quality::Efficient => "Efficient",
        }
    }

    /// What it means, after "a good representation is".
    pub fn means(self) -> &'static str {
        match self {
            Quality::Smooth => "small changes of the input make small changes of the embedding",
            Quality::Robust => "noise and perturbations hardly move the embedding",
            Quality::WellStructured => "neighbors stay neighbors, and classes are apart",
            Quality::Efficient => "few dimensions hold the essential features, and no direction is wasted",
        }
    }
}

impl Question {
    /// What is said of the model that is best by a declared score.
    pub fn best_by(&self, headline: &str) -> &'static str {
        let at = self.headlines.iter().position(|own| *own == headline).unwrap_or(0);
        self.best.get(at).or(self.best.last()).copied().unwrap_or_default()
    }
}

impl Analysis {
    /// Its question.
    pub fn question(self) -> &'static Question {
        match self {
            Analysis::Smoothness => &Question {
                title: "Smoothness",
                text: "Do small steps of the input make small steps of the embedding?",
                why: "Where small variations of the input cause no large, unpredictable changes of the embedding, a model \
                      generalizes more easily to unseen data, and what is trained on the embeddings (a probe, a policy, a \
                      value function) has an easier task.",
                quality: Some(Quality::Smooth),
                best: &["moves most in step with its inputs"],
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
                text: "How far does noise in the input move the embedding?",
                why: "Real data are noisy, and an encoder that noise hardly moves is more reliable on them. It indicates \
                      how small, unexpected perturbations are handled, but it does not measure adversarial robustness.",
                quality: Some(Quality::Robust),
                best: &["is moved least by noise"],
                headlines: &["robustness.scaled.auc"],
                table: &[
                    "robustness.scaled.auc",
                    "robustness.unit.auc",
                    "robustness.auc",
                    "robustness.scaled.slope",
                ],
            },
            Analysis::Neighborhood => &Question {
                title: "Neighborhood",
                text: "Are neighbors of the input neighbors of the embedding, and the other way round?",
                why: "Clustering and nearest-neighbor search among the embeddings can only be as good as the neighborhoods \
                      that the embedding keeps. Keeping them indicates that the encoder has learned the manifold of the \
                      data.",
                quality: Some(Quality::WellStructured),
                best: &["keeps the neighborhoods of the inputs best"],
                headlines: &["trustworthiness@K"],
                table: &["trustworthiness@K", "continuity@K"],
            },
            Analysis::Manifold => &Question {
                title: "Manifold",
                text: "How many dimensions do the embeddings use?",
                why: "A low intrinsic dimension suggests that the encoder compresses the data into an efficient \
                      representation; a very high one may mean that it also captures noise. Many directions in use mean \
                      that the capacity of the embedding is used.",
                quality: Some(Quality::Efficient),
                best: &[""],
                headlines: &["two_nn", "participation_ratio"],
                table: &["two_nn", "participation_ratio", "dimension_usage"],
            },
            Analysis::Geometry => &Question {
                title: "Geometry",
                text: "How are the embeddings spread, and do they fall into classes?",
                why: "Embeddings that are spread over the sphere avoid artifacts of clustering and may generalize better. \
                      Classes that are apart show a structure of states or behaviors, coherent neighborhoods a meaningful \
                      space, and balanced clusters no bias toward a few patterns.",
                quality: Some(Quality::WellStructured),
                best: &["separates the classes best", "spreads its embeddings most evenly"],
                headlines: &["knn_accuracy@K", "uniformity"],
                table: &["knn_accuracy@K", "silhouette", "nmi", "uniformity"],
            },
            Analysis::Rankme => &Question {
                title: "RankMe",
                text: "How many directions do the embeddings really fill?",
                why: "Embeddings on a few directions have collapsed: what a task needs from the other directions is lost. \
                      Among models that were trained alike, a higher rank goes with better linear probes.",
                quality: Some(Quality::Efficient),
                best: &[""],
                headlines: &["rankme(variant=paper)", "rankme(variant=spec)"],
                table: &["rankme(variant=paper)", "rankme(variant=spec)", "std_collapse"],
            },
            Analysis::Clid => &Question {
                title: "CLID",
                text: "Are clusters of the embeddings easy to learn, and how many dimensions do the embeddings have?",
                why: "It ranks models before anybody has labeled data: clusters that neighbors can predict, and enough \
                      dimensions to tell inputs apart, went with better downstream performance where this was studied.",
                quality: None,
                best: &[
                    "is predicted to do best without labels",
                    "has the clusters that are easiest to learn",
                ],
                headlines: &["clid", "clid.cl"],
                table: &["clid", "clid.cl", "clid.id", "mcr2.total", "alignment.total"],
            },
            Analysis::Retrieval => &Question {
                title: "Retrieval",
                text: "Do the targets nearest to a query have its label?",
                why: "It shows whether the embeddings capture what labels mean across modalities, beyond whether the first \
                      answer is right: with descriptions as queries, also for labels that were never trained on.",
                quality: None,
                best: &["finds its labels best"],
                headlines: &["label_precision.DIRECTION@K"],
                table: &[
                    "label_precision.DIRECTION@K",
                    "map_at_r.DIRECTION",
                    "pair_recall.DIRECTION@K",
                ],
            },
            Analysis::Similarity => &Question {
                title: "Similarity",
                text: "Are the representations of two models the same thing?",
                why: "Models that represent data alike can stand in for each other, and a layer that is like the one before adds \
                      little. Raw similarity grows with width and falls with rows, so each value stands beside that of \
                      shuffled rows.",
                quality: None,
                best: &[""],
                headlines: &["cka(kernel=linear)", "mutual_knn@K", "rsa"],
                table: &["cka(kernel=linear)", "mutual_knn@K", "rsa", "svcca", "procrustes"],
            },
            Analysis::Probe => &Question {
                title: "Probes",
                text: "What can be read out of the embeddings by simple predictors?",
                why: "A linear map that finds a quantity in embeddings of rows that it was not trained on shows that the embeddings hold \
                      this quantity in a form that is easy to use. The same map of shuffled labels shows how much of that the probe \
                      itself could learn by heart.",
                quality: None,
                best: &[
                    "lets a linear map tell the labels best",
                    "lets a linear map tell the targets best",
                ],
                headlines: &["probe.linear.accuracy", "probe.linear.r2"],
                table: &[
                    "probe.linear.accuracy",
                    "probe.linear.selectivity",
                    "probe.knn.accuracy@K",
                    "probe.linear.r2",
                    "probe.linear.r2(target=NAME)",
                ],
            },
            Analysis::Drift => &Question {
                title: "Drift",
                text: "Do new rows come from the distribution of reference rows?",
                why: "What was trained and validated on the reference rows is known to hold for rows like them. Where new rows \
                      differ, numbers measured before may not hold any more. Rows that change their sets at random show what \
                      differs by chance.",
                quality: None,
                best: &[""],
                headlines: &["mmd(kernel=rbf)", "knn_two_sample@K", "energy_distance"],
                table: &[
                    "mmd(kernel=rbf)",
                    "mmd.p(kernel=rbf)",
                    "knn_two_sample.balanced@K",
                    "knn_two_sample.p@K",
                    "frechet_distance",
                    "frechet_distance.p",
                ],
            },
            Analysis::Mixing => &Question {
                title: "Mixing",
                text: "Do neighborhoods mix the batches that the data come from?",
                why: "Where rows lie by plate, device, site or subject and not by what they show, whatever is learned from the \
                      embeddings may rest on that. Batches that differ in what they hold are not to be mixed, so read it \
                      beside the classes.",
                quality: None,
                best: &[""],
                headlines: &["cilisi", "ilisi.scaled", "kbet@K"],
                table: &["ilisi", "ilisi.scaled", "cilisi", "kbet@K"],
            },
            Analysis::Perturb => &Question {
                title: "Perturbation",
                text: "How much worse does a classifier do where parts of its images are masked?",
                why: "A classifier that loses accuracy where a region is masked relies on that region, so the loss shows \
                      whether it looks at what carries the information.",
                quality: None,
                best: &["survives masks best"],
                headlines: &["pis.HEAD.drop@SET"],
                table: &["accuracy.HEAD@SET", "pis.HEAD@SET"],
            },
            Analysis::Etes => &Question {
                title: "ETES",
                text: "Do texts that were generated from signals fit the signals?",
                why: "A fluent text can have nothing to do with the signal. The energy shows whether the text fits its own \
                      signal better than the signals of others.",
                quality: None,
                best: &["fits its signals best"],
                headlines: &["etes.alignment"],
                table: &["etes.alignment", "etes.gap", "etes.auc"],
            },
        }
    }
}
