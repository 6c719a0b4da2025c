// SPDX-License-Identifier: MIT
//! What is asked, as plain data: the name of a command and its options, as keyword arguments and other programs spell them.

use std::path::Path;

use anyhow::{Result, anyhow, bail};
use clap::{Arg, Command};
use repscope_io::names::did_you_mean;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::analysis::{self, Analysis};
use crate::compare::{self, Compare};
use crate::encode::{Encode, Encoded, encode};
use crate::evaluation::problems::Problems;
use crate::evaluation::request::Evaluate;
use crate::evaluation::run;
use crate::options::Machine;
use crate::options::layers::{self, Layer};
use crate::report::Report;
use crate::session::Session;
use crate::source::{Bind, Source};
use crate::study_file;

/// A request.
pub enum Request {
    /// One analysis.
    Analysis(Box<dyn Analysis>),
    /// Several analyses in one report.
    Evaluate(Box<Evaluate>, Problems),
    /// Models against each other.
    Compare(Box<Compare>),
    /// An encoder over data.
    Encode(Box<Encode>),
}

/// What a request gives.
pub enum Answer {
    /// Results.
    Report(Box<Report>),
    /// The outputs of an encoder.
    Encoded(Encoded),
}

/// The options of a command, by its name.
pub fn command(name: &str) -> Option<Command> {
    declared(name).map(|(command, _)| command)
}

/// Reads one option into a layer.
type Put = fn(&mut Layer, &Arg, Value, &Path) -> Result<(), String>;

fn declared(name: &str) -> Option<(Command, Put)> {
    match name {
        "evaluate" => Some((layers::command::<Evaluate>(), layers::put::<Evaluate>)),
        "compare" => Some((layers::command::<Compare>(), layers::put::<Compare>)),
        "encode" => Some((layers::command::<Encode>(), layers::put::<Encode>)),
        name => analysis::named(name).map(|own| ((own.command)(), own.put)),
    }
}

impl Request {
    /// Reads a request. Where an option takes an array, its value may be `{"array": N}`, the number of one of `arrays`.
    pub fn read(name: &str, options: Layer, arrays: &[Source]) -> crate::Result<Self> {
        Ok(read(name, options, arrays)?)
    }

    /// Answers it.
    pub fn run(self, session: &Session) -> crate::Result<Answer> {
        self.machine().apply()?;
        Ok(match self {
            Request::Analysis(request) => Answer::Report(Box::new(run::run(request, session)?)),
            Request::Evaluate(request, problems) => {
                let done = run::evaluate(&request, None, session, problems)?;
                let mut report = done.report;
                for (kind, why) in done.failed {
                    report.results.warnings.push(format!("{} failed: {why}", kind.name()));
                }
                Answer::Report(Box::new(report))
            }
            Request::Compare(request) => Answer::Report(Box::new(compare::run(&request, session)?)),
            Request::Encode(request) => Answer::Encoded(encode(&request, session)?),
        })
    }

    fn machine(&self) -> &Machine {
        match self {
            Request::Analysis(request) => &request.settings().machine,
            Request::Evaluate(request, _) => &request.settings.machine,
            Request::Compare(request) => &request.settings.machine,
            Request::Encode(request) => &request.machine,
        }
    }
}

fn read(name: &str, mut options: Layer, arrays: &[Source]) -> Result<Request> {
    let (command, put) = declared(name).ok_or_else(|| anyhow!("there is no command `{name}`"))?;
    // What no option says: which metrics, and the options of single analyses.
    let metrics = options.remove("metrics");
    let analyses = options.remove("analyses");
    let inputs = options.remove("inputs");
    let mut layer = Layer::new();
    for (key, value) in options {
        let Some(arg) = layers::find(&command, &key) else {
            let known: Vec<String> = command.get_arguments().map(layers::key).collect();
            let similar = did_you_mean(&key, known.iter().map(String::as_str));
            bail!("{name} has no option `{key}`{similar}");
        };
        put(&mut layer, arg, value, Path::new("")).map_err(|problem| anyhow!("{key} {problem}"))?;
    }
    let said: Vec<String> = layer.keys().cloned().collect();
    layer.extend(metrics.map(|metrics| ("metrics".to_string(), metrics)));
    Ok(match name {
        "evaluate" => {
            let mut request: Box<Evaluate> = bound(layer, arrays)?;
            let inputs = inputs.and_then(|list| serde_json::from_value(list).ok());
            request.inputs = inputs.unwrap_or_default();
            if let Some(Value::Object(tables)) = analyses {
                for (name, options) in tables {
                    add_table(&mut request, &name, options)?;
                }
            }
            let mut problems = Problems::default();
            let request = request.gather(|field| said.iter().any(|own| own == field), &mut problems)?;
            Request::Evaluate(Box::new(request), problems)
        }
        "compare" => Request::Compare(bound(layer, arrays)?),
        "encode" => Request::Encode(bound(layer, arrays)?),
        name => {
            let declared = analysis::named(name).ok_or_else(|| anyhow!("there is no analysis `{name}`"))?;
            let mut request = (declared.read)(layer).map_err(anyhow::Error::msg)?;
            request.bind(arrays)?;
            Request::Analysis(request)
        }
    })
}

/// A request with the arrays of a program where it names them.
fn bound<T: DeserializeOwned + Bind>(layer: Layer, arrays: &[Source]) -> Result<Box<T>> {
    let mut request: T = layers::read(layer).map_err(anyhow::Error::msg)?;
    request.bind(arrays)?;
    Ok(Box::new(request))
}

/// The options of one analysis of an evaluation.
fn add_table(request: &mut Evaluate, name: &str, options: Value) -> Result<()> {
    let Some(declared) = analysis::evaluated().find(|own| own.kind.name() == name) else {
        let known = analysis::evaluated().map(|own| own.kind.name());
        bail!("there is no analysis `{name}`{}", did_you_mean(name, known));
    };
    let Value::Object(options) = options else {
        bail!("the options of `{name}` must be a table");
    };
    let layer = request.analyses.entry(name.to_string()).or_default();
    for (key, value) in options {
        study_file::put(layer, declared, &key, value, Path::new(""))
            .map_err(|problem| anyhow!("[{name}] `{key}` {problem}"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use repscope_io::Array;

    use super::*;

    fn options(text: &str) -> Layer {
        serde_json::from_str(text).expect("JSON")
    }

    #[test]
    fn arrays_of_a_program_stand_where_paths_would() {
        let line: Vec<f64> = (0..40).flat_map(|i| [f64::from(i), 2.0 * f64::from(i)]).collect();
        let array = Array::from_f64(vec![40, 2], line).expect("a shape that fits");
        let arrays = [Source::Array("Z".to_string(), array)];
        let asked = options(r#"{"models": [{"name": "line", "source": {"array": 0}}], "level": 0.9}"#);
        let request = Request::read("manifold", asked, &arrays).expect("a request");
        let Ok(Answer::Report(report)) = request.run(&Session::silent()) else {
            panic!("a report");
        };
        let ratio = report.results.score("line", "participation_ratio").expect("a score");
        assert!((ratio.value.expect("a number") - 1.0).abs() < 1e-12);
        assert_eq!(report.document.spec["models"], serde_json::json!(["line=Z"]));
        assert_eq!(report.document.spec["level"], 0.9);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let error = |name: &str, text: &str| match Request::read(name, options(text), &[]) {
            Ok(_) => panic!("{text} is accepted"),
            Err(error) => error.to_string(),
        };
        let text = error("geometry", r#"{"clustres": 3}"#);
        assert!(text.contains("did you mean `clusters`?"), "{text}");
        let text = error("geometry", r#"{"clusters": "many"}"#);
        assert!(
            text.starts_with("clusters must be an integer of at least 0, not string"),
            "{text}"
        );
    }
}
