// SPDX-License-Identifier: MIT
//! The study file and the command line together: an option that is typed wins.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};
use clap::parser::ValueSource;
use clap::{CommandFactory, Parser, ValueEnum};
use repscope_core::Analysis;

use super::problems::{Problems, did_you_mean};
use super::{ANALYSES, has_own_data};
use crate::args::{Cli, Command, Evaluate, one_line};
use crate::study_file::{self, Setting, StudyFile};

/// What a run is asked.
pub struct Options {
    pub evaluate: Evaluate,
    /// The study file, where there is one.
    pub file: Option<PathBuf>,
    /// What was said about each analysis.
    of_analyses: Vec<(Analysis, Vec<Setting>)>,
}

impl Options {
    /// Brings together what was typed and what the study file says; `words` is the whole command line.
    pub fn gather(typed: Evaluate, words: Vec<OsString>, problems: &mut Problems) -> Result<Self> {
        let is_study = |text: &&String| {
            Path::new(text)
                .extension()
                .is_some_and(|e| e.eq_ignore_ascii_case("toml"))
        };
        let (files, models): (Vec<&String>, Vec<&String>) = typed.inputs.iter().partition(is_study);
        if let [first, second, ..] = files[..] {
            return Err(anyhow!("{first} and {second} are two study files; give one"));
        }
        let path = files.first().map(PathBuf::from);
        let mut models: Vec<String> = models.into_iter().cloned().collect();
        let file = match &path {
            Some(path) => study_file::read(path, problems)?,
            None => StudyFile::default(),
        };
        let mut evaluate = match &path {
            None => typed,
            Some(path) => {
                let mut wrong = |problem: String| problems.add(format!("{}: {problem}", path.display()));
                with_file(words, &file.own, !models.is_empty(), &mut wrong).unwrap_or(typed)
            }
        };
        models.append(&mut evaluate.data.models);
        evaluate.data.models = models;

        let mut of_analyses: Vec<(Analysis, Vec<Setting>)> = Vec::new();
        for (analysis, _) in ANALYSES {
            let own = file.of_analyses.iter().find(|(name, _)| *name == analysis.name());
            of_analyses.push((analysis, own.map(|(_, settings)| settings.clone()).unwrap_or_default()));
        }
        let mut options = Options {
            evaluate,
            file: path,
            of_analyses,
        };
        options.add_typed();
        for text in options.evaluate.set.clone() {
            match set(&text) {
                Ok((analysis, setting)) => options.put(analysis, setting),
                Err(problem) => problems.add(format!("--set {text}: {problem}")),
            }
        }
        Ok(options)
    }

    /// Whether an option of an analysis was given.
    pub fn says(&self, analysis: Analysis, option: &str) -> bool {
        self.settings(analysis).iter().any(|setting| setting.option == option)
    }

    /// Whether anything was said about an analysis.
    pub fn mentions(&self, analysis: Analysis) -> bool {
        !self.settings(analysis).is_empty()
    }

    /// The options of an analysis as its own command would read them, or all that is wrong with them.
    pub fn of(&self, analysis: Analysis) -> std::result::Result<Command, Vec<String>> {
        let name = analysis.name();
        let shared = self.shared(analysis);
        let parse = |settings: &[&Setting]| {
            let own = settings.iter().flat_map(|setting| &setting.words);
            let words = ["repscope", name].into_iter().map(str::to_string);
            Cli::try_parse_from(words.chain(shared.iter().cloned()).chain(own.cloned()))
        };
        let settings: Vec<&Setting> = self.settings(analysis).iter().collect();
        let wrong = match parse(&settings) {
            Ok(cli) => return Ok(cli.command),
            Err(error) => one_line(&error),
        };
        // The whole stops at the first; each alone names every one, except those that only matter together.
        let each = settings.iter().filter_map(|setting| parse(&[setting]).err());
        let mut all: Vec<String> = each.map(|error| one_line(&error)).collect();
        if all.is_empty() {
            all.push(wrong);
        }
        Err(all.into_iter().map(|problem| format!("[{name}] {problem}")).collect())
    }

    fn settings(&self, analysis: Analysis) -> &[Setting] {
        let own = self.of_analyses.iter().find(|(other, _)| *other == analysis);
        own.map_or(&[], |(_, settings)| settings)
    }

    fn put(&mut self, analysis: Analysis, setting: Setting) {
        for (_, settings) in self.of_analyses.iter_mut().filter(|(other, _)| *other == analysis) {
            settings.retain(|other| other.option != setting.option);
            settings.push(setting.clone());
        }
    }

    /// Options of single analyses that `evaluate` has too.
    fn add_typed(&mut self) {
        let words = |option: &str, values: Vec<String>| Setting {
            option: option.to_string(),
            words: values.iter().map(|value| format!("--{option}={value}")).collect(),
        };
        let own = &self.evaluate;
        let mut typed = Vec::new();
        if !own.choice.k.is_empty() {
            let k = own.choice.k.iter().map(ToString::to_string).collect();
            typed.push((Analysis::Neighborhood, words("k", k)));
        }
        if let Some(k) = own.choice.knn_k {
            typed.push((Analysis::Geometry, words("k", vec![k.to_string()])));
        }
        if let Some(clusters) = own.clusters {
            typed.push((Analysis::Geometry, words("clusters", vec![clusters.to_string()])));
        }
        if let Some(preset) = own.preset.and_then(|preset| preset.to_possible_value()) {
            typed.push((Analysis::Clid, words("preset", vec![preset.get_name().to_string()])));
        }
        if let Some(file) = &own.performance {
            typed.push((Analysis::Clid, words("performance", vec![file.clone()])));
        }
        if let Some(sample) = own.choice.sample {
            for analysis in [Analysis::Neighborhood, Analysis::Manifold, Analysis::Geometry] {
                typed.push((analysis, words("sample", vec![sample.to_string()])));
            }
        }
        typed
            .into_iter()
            .for_each(|(analysis, setting)| self.put(analysis, setting));
    }

    /// The words that every analysis is asked with.
    fn shared(&self, analysis: Analysis) -> Vec<String> {
        let own = &self.evaluate;
        let outputs = &own.outputs;
        let mut words = vec![format!("--seed={}", outputs.seed), format!("--level={}", outputs.level)];
        words.extend(
            outputs
                .machine
                .memory
                .as_ref()
                .map(|memory| format!("--memory={memory}")),
        );
        if has_own_data(analysis) {
            return words;
        }
        words.extend(own.data.models.iter().map(|model| format!("--model={model}")));
        if own.data.models.is_empty() {
            // Missing models are told once, not by each analysis.
            words.push("--model=missing".to_string());
        }
        if matches!(
            analysis,
            Analysis::Smoothness | Analysis::Neighborhood | Analysis::Robustness
        ) {
            words.extend(own.data.states.as_ref().map(|path| format!("--states={path}")));
        }
        if analysis == Analysis::Clid {
            words.extend(own.data.views.iter().map(|view| format!("--views={view}")));
        }
        words
    }
}

/// Parses the command line again with what the file says and the user did not. What is wrong is left out and told.
fn with_file(
    mut words: Vec<OsString>,
    settings: &[Setting],
    has_models: bool,
    wrong: &mut dyn FnMut(String),
) -> Option<Evaluate> {
    let mut cli = Cli::command();
    let given = cli.try_get_matches_from_mut(&words).ok()?;
    let is_given = |option: &str| {
        let own = cli.find_subcommand("evaluate");
        let arg = own.and_then(|c| c.get_arguments().find(|arg| arg.get_long() == Some(option)));
        let source = arg.and_then(|arg| given.subcommand()?.1.value_source(arg.get_id().as_str()));
        source == Some(ValueSource::CommandLine)
    };
    // Second views belong to the models beside them.
    let has_models = has_models || is_given("model");
    let is_replaced = |setting: &&Setting| {
        is_given(&setting.option) || (has_models && ["model", "views"].contains(&setting.option.as_str()))
    };
    let is_sound = |setting: &&Setting| {
        let words = ["repscope", "evaluate"].into_iter().map(str::to_string);
        let alone = Cli::try_parse_from(words.chain(setting.words.iter().cloned()));
        alone.map_err(|error| wrong(one_line(&error))).is_ok()
    };
    let kept: Vec<&Setting> = settings.iter().filter(|s| !is_replaced(s)).filter(is_sound).collect();
    // Behind the command, so that what the user typed behind `--` stays there.
    let at = words.len().min(2);
    words.splice(
        at..at,
        kept.iter().flat_map(|setting| &setting.words).map(OsString::from),
    );
    match Cli::try_parse_from(words).map(|cli| cli.command) {
        Ok(Command::Evaluate(evaluate)) => Some(*evaluate),
        Ok(_) => None,
        Err(error) => {
            wrong(one_line(&error));
            None
        }
    }
}

/// `geometry.splits=20`.
fn set(text: &str) -> std::result::Result<(Analysis, Setting), String> {
    let (key, value) = text.split_once('=').ok_or("write ANALYSIS.OPTION=VALUE")?;
    let (name, option) = key.split_once('.').ok_or("write ANALYSIS.OPTION=VALUE")?;
    let Some((analysis, _)) = ANALYSES.iter().find(|(analysis, _)| analysis.name() == name) else {
        let known = ANALYSES.iter().map(|(analysis, _)| analysis.name());
        return Err(format!("there is no analysis `{name}`{}", did_you_mean(name, known)));
    };
    let value = match value.parse::<bool>() {
        Ok(yes) => toml::Value::Boolean(yes),
        Err(_) => toml::Value::String(value.to_string()),
    };
    let setting = study_file::setting_of(name, option, &value, Path::new(""));
    setting
        .map(|setting| (*analysis, setting))
        .map_err(|problem| format!("`{option}` {problem}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(line: &str) -> (Evaluate, Vec<OsString>) {
        let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        match Cli::try_parse_from(&words).expect("a command line").command {
            Command::Evaluate(evaluate) => (*evaluate, words),
            other => panic!("{other:?}"),
        }
    }

    fn gathered(file: &str, line: &str) -> (Options, String) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("s.toml");
        repscope_io::write_whole(&path, file.as_bytes()).expect("the file can be written");
        let (evaluate, words) = typed(&format!("repscope evaluate {} {line}", path.display()));
        let mut problems = Problems::default();
        let options = Options::gather(evaluate, words, &mut problems).expect("options");
        (
            options,
            problems.refuse().map_or_else(|e| e.to_string(), |()| String::new()),
        )
    }

    #[test]
    fn what_is_typed_wins_over_the_file() {
        let file = "seed = 1\nlevel = 0.9\n[models]\na = \"/a.npy\"\n[neighborhood]\nk = [3]\nsample = 9\n";
        let (options, problems) = gathered(file, "--seed 2 --k 4 5");
        assert_eq!(problems, "");
        let outputs = &options.evaluate.outputs;
        assert_eq!((outputs.seed, outputs.level), (2, 0.9));
        assert_eq!(options.evaluate.data.models, ["a=/a.npy"]);
        let settings = options.settings(Analysis::Neighborhood);
        assert_eq!(settings[0].words, ["--sample=9"]);
        assert_eq!(settings[1].words, ["--k=4", "--k=5"]);
    }

    #[test]
    fn typed_models_stand_instead_of_those_of_the_file() {
        let file = "[models]\na = \"/a.npy\"\n[views]\na = \"/v.npy\"\n";
        let (options, _) = gathered(file, "b=/b.npy");
        assert_eq!(options.evaluate.data.models, ["b=/b.npy"]);
        assert!(options.evaluate.data.views.is_empty());
    }

    #[test]
    fn every_wrong_value_of_the_file_is_named() {
        let (_, problems) = gathered("seed = \"x\"\nlevel = \"y\"\nonly = [\"geometri\"]\n", "");
        for word in ["--seed", "--level", "'geometri'", "a similar value exists: 'geometry'"] {
            assert!(problems.contains(word), "{word}\n{problems}");
        }
        assert!(problems.starts_with("3 problems"), "{problems}");
    }

    #[test]
    fn options_of_an_analysis_can_be_set() {
        let (options, problems) = gathered("", "--set geometry.splits=20 clid.standardize=false --model z.npy");
        assert_eq!(problems, "");
        let Ok(Command::Geometry(geometry)) = options.of(Analysis::Geometry) else {
            panic!("geometry can be asked");
        };
        assert_eq!(geometry.splits, 20);
        let (_, problems) = gathered("", "--set geometri.k=3 geometry.kk=3 geometry");
        assert!(
            problems.contains("did you mean `geometry`?") && problems.contains("write ANALYSIS"),
            "{problems}"
        );
    }
}
