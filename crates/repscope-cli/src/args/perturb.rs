// SPDX-License-Identifier: MIT
//! `repscope perturb`: masks images, and measures what that does to a classifier.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use repscope_core::masking::{Fill, Kind, Masking, RandomFrom, Rule};

use super::{Machine, NumberEncoderOptions, Outputs};

pub const PERTURB_EXAMPLES: &str = "\
Examples:
  repscope perturb evaluate --checkpoint best_model_resnet50_epoch_14.pth --images constellation_diagrams
  repscope perturb evaluate --checkpoint model.onnx --images photos --split all --kinds top random patch --fill blur
  repscope perturb evaluate --predictions predictions --expect-baseline combined=0.5126
  repscope perturb generate --source constellation_diagrams --output perturbed_constellations";

#[derive(Debug, Subcommand)]
pub enum Perturb {
    /// Writes masked images: <name>_top1_blackout.png and so on
    Generate(PerturbGenerate),
    /// Measures the perturbation impact score, from a model or from stored predictions
    #[command(after_help = EVALUATE_HELP)]
    Evaluate(Box<PerturbEvaluate>),
}

const EVALUATE_HELP: &str = "\
A folder of predictions holds labels/HEAD.npy, baseline/HEAD.npy and PERTURBATION/HEAD.npy: a class per
sample (numbers or names), or a row of logits or probabilities. PERTURBATION is a name and a percentage:
top1, bottom5, random2_blackout. Beside them may stand classes/HEAD.txt with the names of the classes, a
line each; ids.npy in every folder, by which the samples are joined; and masked.npy in the folder of a
perturbation: for each sample the share of lit pixels and of all pixels that was masked.";

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Masks")]
pub struct MaskOptions {
    /// How much is masked, in percent of the lit (non-zero) pixels
    #[arg(long, num_args = 1.., value_delimiter = ',', default_values_t = [1.0, 2.0, 3.0, 4.0, 5.0], value_name = "P")]
    pub percents: Vec<f64>,
    /// Which pixels
    #[arg(long, value_enum, num_args = 1.., value_delimiter = ',', default_values = ["top", "bottom", "random"])]
    pub kinds: Vec<MaskChoice>,
    /// How pixels are counted: exactly the percentage with ties drawn by lot, or all beyond a percentile (as the document's
    /// script does, which under ties masks far more)
    #[arg(long, value_enum, default_value = "exact")]
    pub rule: RuleChoice,
    /// What random pixels are drawn from: lit pixels, or all of them (as the document's script does)
    #[arg(long, value_enum, default_value = "lit")]
    pub random_from: RandomFromChoice,
    /// What is put in the place of masked pixels
    #[arg(long, value_enum, default_value = "black")]
    pub fill: FillChoice,
}

#[derive(Debug, Args)]
pub struct PerturbGenerate {
    /// The folder of grey images, in any folders within it
    #[arg(long, value_name = "DIR", default_value = "constellation_diagrams")]
    pub source: PathBuf,
    /// Where the masked images go, in the same folders
    #[arg(long, value_name = "DIR", default_value = "perturbed_constellations")]
    pub output: PathBuf,
    #[command(flatten)]
    pub masks: MaskOptions,
    /// The seed of every random choice
    #[arg(long, default_value_t = 42)]
    pub seed: u64,
    #[command(flatten)]
    pub machine: Machine,
}

#[derive(Debug, Args)]
pub struct PerturbEvaluate {
    /// The classifier: weights of the two-head ResNet of document 003, or an .onnx file with a head or several
    #[arg(
        long,
        alias = "model",
        value_name = "MODEL",
        requires = "images",
        conflicts_with = "predictions"
    )]
    pub checkpoint: Option<String>,
    /// The images it sees: a folder per class, within it a folder per class of the next head (BPSK/SNR_0/*.png)
    #[arg(long, value_name = "DIR", requires = "checkpoint")]
    pub images: Option<PathBuf>,
    /// Masked images, as `perturb generate` writes them [default: masked in memory]
    #[arg(long, value_name = "DIR", requires = "images")]
    pub perturbation_dir: Option<PathBuf>,
    /// Stored labels and predictions, instead of a model
    #[arg(long, value_name = "DIR", required_unless_present = "checkpoint")]
    pub predictions: Option<PathBuf>,
    /// Which images: `test` is a tenth of every class (stratified over all heads, by the seed), `all` are all, or a file
    /// with a path per line (.txt) or with positions in the sorted list (.npy)
    #[arg(long, value_name = "test|all|FILE", default_value = "test")]
    pub split: String,
    /// What the heads are called, in the order of the folders [default: the outputs of the model]
    #[arg(long = "head-names", num_args = 1.., value_delimiter = ',', value_name = "NAME")]
    pub head_names: Vec<String>,
    /// Leave out the folders of these classes
    #[arg(long, num_args = 1.., value_delimiter = ',', value_name = "CLASS")]
    pub exclude: Vec<String>,
    /// The accuracy that the images as they are should have, to four digits: combined=0.5126 modulation=0.7639
    #[arg(long, num_args = 1.., value_name = "HEAD=X")]
    pub expect_baseline: Vec<String>,
    /// What the results call the model
    #[arg(long, value_name = "MODEL")]
    pub name: Option<String>,
    #[command(flatten)]
    pub masks: MaskOptions,
    #[command(flatten)]
    pub model: NumberEncoderOptions,
    #[command(flatten, next_help_heading = "Results")]
    pub outputs: Outputs,
}

impl MaskOptions {
    /// The masks that are asked for, a family after the other, from weak to strong.
    pub fn maskings(&self, seed: u64) -> Vec<Masking> {
        let mut percents = self.percents.clone();
        percents.sort_by(f64::total_cmp);
        percents.dedup();
        let mut kinds: Vec<MaskChoice> = Vec::new();
        for kind in &self.kinds {
            if !kinds.contains(kind) {
                kinds.push(*kind);
            }
        }
        let mut maskings = Vec::new();
        for kind in kinds {
            maskings.extend(percents.iter().map(|&percent| Masking {
                rule: match self.rule {
                    RuleChoice::Exact => Rule::Exact,
                    RuleChoice::Threshold => Rule::Threshold,
                },
                random_from: match self.random_from {
                    RandomFromChoice::Lit => RandomFrom::Lit,
                    RandomFromChoice::All => RandomFrom::All,
                },
                fill: self.fill.fill(),
                ..Masking::new(kind.kind(), percent, seed)
            }));
        }
        maskings
    }

    /// What stands behind the name of a set in the document's files.
    pub fn suffix(&self) -> &'static str {
        match self.fill {
            FillChoice::Black => "blackout",
            other => other.fill().name(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MaskChoice {
    /// The brightest
    Top,
    /// The dimmest
    Bottom,
    /// By lot
    Random,
    /// A square
    Patch,
    /// A ring around the centre
    Ring,
}

impl MaskChoice {
    fn kind(self) -> Kind {
        match self {
            MaskChoice::Top => Kind::Top,
            MaskChoice::Bottom => Kind::Bottom,
            MaskChoice::Random => Kind::Random,
            MaskChoice::Patch => Kind::Patch,
            MaskChoice::Ring => Kind::Ring,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RuleChoice {
    Exact,
    Threshold,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RandomFromChoice {
    Lit,
    All,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FillChoice {
    /// 0
    Black,
    /// The mean of the lit pixels that are left
    Mean,
    /// The blurred image
    Blur,
    /// What the pixels around lead to expect
    Inpaint,
}

impl FillChoice {
    fn fill(self) -> Fill {
        match self {
            FillChoice::Black => Fill::Black,
            FillChoice::Mean => Fill::Mean,
            FillChoice::Blur => Fill::Blur,
            FillChoice::Inpaint => Fill::Inpaint,
        }
    }
}
