// SPDX-License-Identifier: MIT
//! `repscope perturb`: masks images and measures the effect on a classifier.

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
top1, bottom5, random2_blackout. Optional files: classes/HEAD.txt with one class name per line; ids.npy in
every folder, which joins the samples; and masked.npy in the folder of a perturbation with the fraction of
lit pixels and of all pixels that was masked in each sample.";

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Masks")]
pub struct MaskOptions {
    /// Percentage of the lit (non-zero) pixels to mask
    #[arg(long, num_args = 1.., value_delimiter = ',', default_values_t = [1.0, 2.0, 3.0, 4.0, 5.0], value_name = "P")]
    pub percents: Vec<f64>,
    /// Which pixels to mask
    #[arg(long, value_enum, num_args = 1.., value_delimiter = ',', default_values = ["top", "bottom", "random"])]
    pub kinds: Vec<MaskChoice>,
    /// How pixels are selected: exactly the percentage, with random tie-breaking, or all beyond a percentile (the rule of
    /// the original scripts, which masks far more if pixels are tied)
    #[arg(long, value_enum, default_value = "exact")]
    pub rule: RuleChoice,
    /// Where random pixels are drawn from: lit pixels, or all pixels (as in the original scripts)
    #[arg(long, value_enum, default_value = "lit")]
    pub random_from: RandomFromChoice,
    /// Replacement of masked pixels
    #[arg(long, value_enum, default_value = "black")]
    pub fill: FillChoice,
}

#[derive(Debug, Args)]
pub struct PerturbGenerate {
    /// Folder of gray images, including subfolders
    #[arg(long, value_name = "DIR", default_value = "constellation_diagrams")]
    pub source: PathBuf,
    /// Folder for the masked images, with the same subfolders
    #[arg(long, value_name = "DIR", default_value = "perturbed_constellations")]
    pub output: PathBuf,
    #[command(flatten)]
    pub masks: MaskOptions,
    /// Random seed
    #[arg(long, default_value_t = 42)]
    pub seed: u64,
    #[command(flatten)]
    pub machine: Machine,
}

#[derive(Debug, Args)]
pub struct PerturbEvaluate {
    /// The classifier: weights of the two-head ResNet of the original scripts, or an .onnx file with one or more heads
    #[arg(
        long,
        alias = "model",
        value_name = "MODEL",
        requires = "images",
        conflicts_with = "predictions"
    )]
    pub checkpoint: Option<String>,
    /// Its images: one folder per class, with one subfolder per class of the next head (BPSK/SNR_0/*.png)
    #[arg(long, value_name = "DIR", requires = "checkpoint")]
    pub images: Option<PathBuf>,
    /// Masked images written by `perturb generate` [default: masked in memory]
    #[arg(long, value_name = "DIR", requires = "images")]
    pub perturbation_dir: Option<PathBuf>,
    /// Stored labels and predictions, instead of a model
    #[arg(long, value_name = "DIR", required_unless_present = "checkpoint")]
    pub predictions: Option<PathBuf>,
    /// Which images: `test` (a tenth of every class, stratified over all heads, from the seed), `all`, or a file
    /// with one path per line (.txt) or with positions in the sorted list (.npy)
    #[arg(long, value_name = "test|all|FILE", default_value = "test")]
    pub split: String,
    /// Names of the heads, in the order of the folders [default: the outputs of the model]
    #[arg(long = "head-names", num_args = 1.., value_delimiter = ',', value_name = "NAME")]
    pub head_names: Vec<String>,
    /// Skip the folders of these classes
    #[arg(long, num_args = 1.., value_delimiter = ',', value_name = "CLASS")]
    pub exclude: Vec<String>,
    /// Expected accuracy on the unmasked images, to four digits: combined=0.5126 modulation=0.7639
    #[arg(long, num_args = 1.., value_name = "HEAD=X")]
    pub expect_baseline: Vec<String>,
    /// Name of the model in the results
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
    /// The requested masks, family by family, from weak to strong.
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

    /// Suffix of the name of a set in the files of the perturbation impact analysis.
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
    /// Random pixels
    Random,
    /// A square
    Patch,
    /// A ring around the center
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
    /// The mean of the remaining lit pixels
    Mean,
    /// The blurred image
    Blur,
    /// Interpolated from the surrounding pixels
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
