// SPDX-License-Identifier: MIT
//! What can be typed. The options of analyses are those of the library; here are the list of commands and the commands that are no
//! analyses. Parsing only validates; nothing is opened here.

mod bench;
mod others;

use std::ffi::OsString;

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches, Subcommand};
use repscope::analysis::perturb::STORED_PREDICTIONS;
use repscope::analysis::{self, Analysis, Declared, Kind, Perturb, PerturbGenerate};
use repscope::options::Outputs;
use repscope::{Compare, Encode, Evaluate};

pub use bench::{Bench, BenchJob, Comparisons, Encode as BenchEncode, Knn, Masks, Metric, Retrieval};
pub use others::{Check, Demo, Explain, Manual, ManualPart, Metrics, Report, Validate};

use others::{DEMO_EXAMPLES, MANUAL_EXAMPLES};

const EXAMPLES: &str = "\
Examples:
  repscope demo --quick
  repscope evaluate z.npy --labels labels.npy
  repscope evaluate --states frames.npy --model jepa=jepa.onnx autoencoder=best_encoder.pth
  repscope compare --model jepa=z_jepa.npy --model autoencoder=z_ae.npy --labels labels.npy
  repscope explain two_nn

`repscope COMMAND --help` shows the options and examples of a command. Paths: file.npy,
file.npz#key, file.safetensors#tensor, file.parquet#column, file.csv#column,
file.jsonl#field, file.pth#path.to.tensor, a folder of images.";

const EVALUATE_EXAMPLES: &str = "\
Examples:
  repscope evaluate z.npy --labels labels.npy
  repscope evaluate --states frames.npy --labels labels.npy --model jepa=z_jepa.npy ae=z_ae.npy
  repscope evaluate z_jepa.npy z_ae.npy --only manifold,rankme
  repscope evaluate --states frames.npy --model jepa=jepa.onnx autoencoder=autoencoder.onnx
  repscope evaluate --init study.toml
  repscope evaluate study.toml --resume

Without a model, the encoders weights/NAME/best_encoder.* are evaluated on datasets/*.pth,
and the output says so.

  analysis       needs
  smoothness     --states; --next-states or --episodes if available
  robustness     --states, and models that are encoders
  neighborhood   --states
  manifold       embeddings
  geometry       embeddings; more with --labels
  rankme         embeddings
  clid           embeddings; more with --labels, --views and --performance
  retrieval      a table [retrieval] in the study file
  etes           a table [etes] in the study file
  perturb        a table [perturb] in the study file

A study file holds the same settings as the options; options override it.";

const COMPARE_EXAMPLES: &str = "\
Examples:
  repscope compare --model jepa=z_jepa.npy --model autoencoder=z_ae.npy --labels labels.npy
  repscope compare --model 'runs/*.npy' --labels labels.npy --reference first
  repscope compare --replicates jepa='runs/jepa-*.npy' --replicates autoencoder='runs/ae-*.npy' --labels labels.npy
  repscope compare --model jepa=z_jepa.npy --model autoencoder=z_ae.npy --equivalent trustworthiness@10=0.01
  repscope compare --model jepa=z.npy --states frames.npy --gate 'trustworthiness@10>=0.95'
  repscope compare evaluation_plots/results.json --baseline main.json --max-drop 2%

Differences are paired by row, or by episode with --episodes, so all models need the same
rows. A model is called better if the adjusted p-value is at most 1 − --level. A model is one
training run; --replicates compares recipes, by several runs of each. Files go to the folder
compare in --output-dir. Exit codes: 0 success, 1 a gate failed, 2 error.";

const ENCODE_EXAMPLES: &str = "\
Examples:
  repscope encode --encoder model.onnx --input frames.npy --output z.npy
  repscope encode --encoder best_encoder.pth --input frames.npy --output z.npy
  repscope encode --encoder resnet50.pth --input photos/ --scale 255 --mean 0.485,0.456,0.406 --std 0.229,0.224,0.225 \\
                  --output z.safetensors
  repscope encode --encoder all-MiniLM-L6-v2/ --input captions.txt --output text.npy
  repscope encode --encoder clip/ --checkpoint best_model.pt --input data.jsonl#caption --output text.npy

Embeddings are cached by content hash (model, data, options), so no analysis encodes twice and an interrupted run
resumes. The cache is the folder REPSCOPE_CACHE if set, otherwise the user's cache folder.";

/// Commands that come before the analyses in the list.
#[derive(Debug, Subcommand)]
pub enum First {
    /// Trains a JEPA and an Encoder-Decoder on a small world, and evaluates both
    #[command(after_help = DEMO_EXAMPLES)]
    Demo(Demo),
    /// Runs every analysis whose inputs are given, with one report
    #[command(after_help = EVALUATE_EXAMPLES)]
    Evaluate(Box<Evaluate>),
    /// Which model is better, and is the difference significant? (p-values; gates for CI)
    #[command(after_help = COMPARE_EXAMPLES)]
    Compare(Box<Compare>),
    /// Redraws tables, figures and the page of a results.json without computing
    #[command(
        after_help = "Examples:\n  repscope report evaluation_plots/results.json\n  repscope report evaluation_plots --output-dir paper --figure-width one --figure-format pdf"
    )]
    Report(Report),
}

/// Commands that come after the analyses in the list.
#[derive(Debug, Subcommand)]
pub enum Last {
    /// How much accuracy does a classifier lose on masked images? (perturbation impact)
    #[command(subcommand)]
    Perturb(PerturbCommand),
    /// Runs an encoder over arrays, images or texts and writes the embeddings
    #[command(after_help = ENCODE_EXAMPLES)]
    Encode(Box<Quietly<Encode>>),
    /// Checks input files: shapes, NaN, duplicates, constant columns, class sizes
    #[command(after_help = "Examples:\n  repscope check z.npy labels.npy")]
    Check(Check),
    /// Validates CLID and RankMe on examples with known answers
    #[command(after_help = "Examples:\n  repscope validate --output evidence.md")]
    Validate(Validate),
    /// Lists every metric
    #[command(after_help = "Examples:\n  repscope metrics --json")]
    Metrics(Metrics),
    /// Shows the definition of a metric
    #[command(after_help = "Examples:\n  repscope explain trustworthiness@10 two_nn")]
    Explain(Explain),
    /// Shell completions, manual pages, documentation
    #[command(after_help = MANUAL_EXAMPLES)]
    Manual(Manual),
    /// Timings for the benchmark scripts
    #[command(hide = true)]
    Bench(Box<Bench>),
    /// Runs a graph for another process of this program
    #[command(hide = true)]
    RunModel,
}

/// `repscope perturb`.
#[derive(Debug, Subcommand)]
pub enum PerturbCommand {
    /// Writes masked images: <name>_top1_blackout.png and so on
    Generate(Box<Quietly<PerturbGenerate>>),
    /// Measures the perturbation impact score, from a model or from stored predictions
    #[command(after_help = STORED_PREDICTIONS)]
    Evaluate(Box<Shown<Perturb>>),
}

/// A request whose results are shown.
#[derive(Debug, Args)]
pub struct Shown<T: Args> {
    #[command(flatten)]
    pub request: T,
    #[command(flatten, next_help_heading = "Results")]
    pub outputs: Outputs,
}

/// A request that has no table to show.
#[derive(Debug, Args)]
pub struct Quietly<T: Args> {
    #[command(flatten)]
    pub request: T,
    /// No progress bars and no advice on stderr
    #[arg(long)]
    pub quiet: bool,
}

/// A command line.
pub enum Typed {
    First(Box<First>),
    Last(Box<Last>),
    Analysis(Box<dyn Analysis>, Box<Outputs>),
    /// `evaluate`, and which of its options were typed.
    Evaluate(Box<Evaluate>, Box<ArgMatches>),
}

/// The whole command line: the list of commands.
pub fn command() -> Command {
    let command = First::augment_subcommands(Command::new("repscope"));
    let command = analyses().fold(command, |command, own| command.subcommand(of_analysis(own)));
    let perturb = analysis::declared(Kind::Perturb);
    Last::augment_subcommands(command)
        .mut_subcommand("perturb", |own| own.after_help(perturb.examples))
        .version(env!("CARGO_PKG_VERSION"))
        .about("Measures how good learned representations are")
        .after_help(EXAMPLES)
        .max_term_width(110)
        .subcommand_required(true)
        .arg_required_else_help(true)
}

/// The analyses that are commands by themselves; `perturb` has subcommands.
fn analyses() -> impl Iterator<Item = &'static Declared> {
    analysis::evaluated().filter(|own| own.kind != Kind::Perturb)
}

fn of_analysis(declared: &'static Declared) -> Command {
    Outputs::augment_args((declared.command)().next_help_heading(Some("Results")))
        .name(declared.kind.name())
        .about(declared.about)
        .after_help(declared.examples)
        .aliases(declared.aliases())
        .allow_negative_numbers(true)
}

/// Reads a command line; what is wrong with it is clap's to say.
pub fn parse(words: &[OsString]) -> Result<Typed, clap::Error> {
    let matches = command().try_get_matches_from(words)?;
    let Some((name, own)) = matches.subcommand() else {
        return Err(command().error(clap::error::ErrorKind::MissingSubcommand, "a command is needed"));
    };
    if let Some(declared) = analyses().find(|declared| declared.kind.name() == name) {
        let outputs = Outputs::from_arg_matches(own)?;
        return Ok(Typed::Analysis((declared.parse)(own)?, Box::new(outputs)));
    }
    if First::has_subcommand(name) {
        return Ok(match First::from_arg_matches(&matches)? {
            First::Evaluate(evaluate) => Typed::Evaluate(evaluate, Box::new(own.clone())),
            first => Typed::First(Box::new(first)),
        });
    }
    Ok(Typed::Last(Box::new(Last::from_arg_matches(&matches)?)))
}

/// Whether an option was typed, by its field.
pub fn is_typed(matches: &ArgMatches, field: &str) -> bool {
    let is_known = matches.ids().any(|id| id.as_str() == field);
    is_known && matches.value_source(field) == Some(ValueSource::CommandLine)
}

/// Accepts options with underscores, as in the original scripts: `--output_dir`.
pub fn with_dashes(arguments: impl Iterator<Item = std::ffi::OsString>) -> Vec<std::ffi::OsString> {
    let mut options_ended = false;
    arguments
        .map(|argument| {
            options_ended |= argument == "--";
            let Some(text) = argument.to_str().filter(|t| t.starts_with("--") && !options_ended) else {
                return argument;
            };
            let (name, value) = text.split_at(text.find('=').unwrap_or(text.len()));
            format!("{}{value}", name.replace('_', "-")).into()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_may_be_written_with_underscores() {
        let given = ["repscope", "--output_dir=a_b", "--next_states", "x_y", "--", "--z_z"];
        let got = with_dashes(given.iter().map(Into::into));
        assert_eq!(
            got,
            ["repscope", "--output-dir=a_b", "--next-states", "x_y", "--", "--z_z"]
        );
    }

    #[test]
    fn the_command_line_is_well_formed() {
        command().debug_assert();
    }

    /// Words as a shell splits them: quotes hold words together, and what is sent elsewhere with `>` is no argument.
    fn words(line: &str) -> Vec<String> {
        let mut words = Vec::new();
        for (i, part) in line.split('\'').enumerate() {
            match i % 2 {
                0 => words.extend(part.split_whitespace().map(str::to_string)),
                _ => words.push(part.to_string()),
            }
        }
        words.into_iter().take_while(|word| word != ">").collect()
    }

    #[test]
    fn every_command_that_the_pages_show_is_a_command_line() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut pages = vec![root.join("README.md"), root.join("docs/tutorial.md")];
        for folder in ["docs/guides", "docs/questions", "docs/how-to", "examples"] {
            for entry in std::fs::read_dir(root.join(folder)).expect("a folder").flatten() {
                let path = entry.path();
                pages.push(if path.is_dir() { path.join("README.md") } else { path });
            }
        }
        let mut parsed = 0;
        for page in pages.iter().filter(|page| page.extension().is_some_and(|e| e == "md")) {
            let text = std::fs::read_to_string(page).unwrap_or_default().replace("\\\n", " ");
            let shown = text.lines().filter_map(|line| {
                let line = line.strip_prefix("$ ")?;
                line.strip_prefix("repscope ")
                    .or(line.strip_prefix("cargo run --release -- "))
            });
            for line in shown {
                let line = format!(
                    "repscope {}",
                    line.split(" # ").next().unwrap_or(line).replace('"', "'")
                );
                if let Err(error) = parse(&with_dashes(words(&line).into_iter().map(Into::into))) {
                    panic!("{}: {line}\n{error}", page.display());
                }
                parsed += 1;
            }
        }
        assert!(parsed > 40, "{parsed} commands");
    }

    #[test]
    fn every_example_of_every_help_is_a_command_line() {
        let mut all = command();
        all.build();
        let helps = std::iter::once(&all).chain(all.get_subcommands());
        let mut parsed = 0;
        for command in helps.filter(|command| !command.is_hide_set()) {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            for line in help
                .replace("\\\n", " ")
                .lines()
                .filter(|line| line.starts_with("  repscope "))
            {
                let words = with_dashes(words(line).into_iter().map(Into::into));
                if let Err(error) = parse(&words) {
                    panic!("{line}\n{error}");
                }
                parsed += 1;
            }
        }
        assert!(parsed > 40, "{parsed} examples");
    }
}
