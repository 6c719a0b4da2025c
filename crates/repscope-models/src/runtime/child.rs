// SPDX-License-Identifier: MIT
//! A graph that runs in a process of its own: what ends that process is an error here.

use std::ffi::OsString;
use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::thread::JoinHandle;

use repscope_io::{bytes_text, memory_limit};

use super::messages::{list, number, port, put_list, put_number, put_text, put_value, text, value};
use super::{Port, Session, Value};
use crate::error::{Error, Result, wrong};

/// How a process is started that runs a graph.
#[derive(Debug, Clone)]
pub struct Isolation {
    /// A program and its arguments; it must call [`serve`](super::serve) and print nothing.
    pub command: Vec<OsString>,
    /// How long one batch may take. A graph can loop without end.
    pub seconds: u64,
}

static ISOLATION: OnceLock<Isolation> = OnceLock::new();

/// Has graphs that come from files run in processes of their own from now on. A program says this once, when it starts.
pub fn isolate(isolation: Isolation) {
    // The first one counts.
    let _ = ISOLATION.set(isolation);
}

pub(super) fn isolation() -> Option<&'static Isolation> {
    ISOLATION.get()
}

/// What a child keeps of its last words.
const LAST_WORDS: u64 = 4096;

pub(super) struct ChildSession {
    model: String,
    process: Child,
    /// None once the child is told to end.
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    last_words: Option<JoinHandle<String>>,
    /// What it may take, in bytes.
    memory: u64,
    inputs: Vec<Port>,
    outputs: Vec<Port>,
    engine: String,
}

impl ChildSession {
    /// By the built-in runtime, or by the ONNX Runtime of this library.
    pub(super) fn load(path: PathBuf, library: Option<&Path>, threads: usize, isolation: &Isolation) -> Result<Self> {
        let model = path.display().to_string();
        let failed = |error: &dyn std::fmt::Display| wrong!("cannot start a process that runs {model}: {error}");
        let [program, arguments @ ..] = isolation.command.as_slice() else {
            return Err(failed(&"no program is given"));
        };
        let mut process = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| failed(&error))?;
        let (Some(to), Some(from), Some(words)) = (process.stdin.take(), process.stdout.take(), process.stderr.take())
        else {
            return Err(failed(&"it has no pipes"));
        };
        #[allow(clippy::disallowed_methods)] // it waits, and computes nothing
        let last_words = std::thread::spawn(move || {
            let mut words = words;
            let mut kept = Vec::new();
            let _ = (&mut words).take(LAST_WORDS).read_to_end(&mut kept);
            let _ = std::io::copy(&mut words, &mut std::io::sink());
            String::from_utf8_lossy(&kept).into_owned()
        });
        let mut session = ChildSession {
            memory: memory_limit(),
            model,
            process,
            to: Some(to),
            from: BufReader::with_capacity(1 << 16, from),
            last_words: Some(last_words),
            inputs: Vec::new(),
            outputs: Vec::new(),
            engine: String::new(),
        };
        let (threads, seconds) = (threads as u64, isolation.seconds);
        session.ask(|to, memory| {
            put_path(to, &path)?;
            put_path(to, library.unwrap_or(Path::new("")))?;
            [threads, memory, seconds]
                .iter()
                .try_for_each(|&number| put_number(to, number))
        })?;
        (session.inputs, session.outputs, session.engine) = session.answer(|from| {
            let (inputs, outputs) = (list(from, port)?, list(from, port)?);
            Ok((inputs, outputs, text(from)?))
        })?;
        Ok(session)
    }

    /// Sends something. A child that does not listen has ended, which its answer will show.
    fn ask(&mut self, put: impl FnOnce(&mut ChildStdin, u64) -> std::io::Result<()>) -> Result<()> {
        let memory = self.memory;
        let sent = self.to.as_mut().map(|to| put(to, memory).and_then(|()| to.flush()));
        match sent {
            Some(Ok(())) => Ok(()),
            _ => Err(self.ended()),
        }
    }

    /// What the child says: an answer, or what is wrong.
    fn answer<T>(&mut self, read: impl FnOnce(&mut BufReader<ChildStdout>) -> std::io::Result<T>) -> Result<T> {
        let from = &mut self.from;
        let said = number(from).and_then(|is_good| match is_good {
            0 => text(from).map(|problem| Err(Error::Model(problem))),
            2 => text(from).map(|problem| Err(Error::Unsupported(problem))),
            _ => read(from).map(Ok),
        });
        match said {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(problem)) => Err(problem),
            Err(_) => Err(self.ended()),
        }
    }

    /// Why there is no answer.
    fn ended(&mut self) -> Error {
        self.to = None;
        let status = self.process.wait();
        let words = self.last_words.take().and_then(|words| words.join().ok());
        let why = reason(&words.unwrap_or_default(), status.ok(), self.memory);
        wrong!("{} cannot be run: {why}", self.model)
    }
}

impl Session for ChildSession {
    fn inputs(&self) -> &[Port] {
        &self.inputs
    }

    fn outputs(&self) -> &[Port] {
        &self.outputs
    }

    fn engine(&self) -> String {
        self.engine.clone()
    }

    fn run(&mut self, inputs: Vec<(String, Value)>, outputs: &[String]) -> Result<Vec<Value>> {
        self.ask(|to, _| {
            put_list(to, outputs, |to, name| put_text(to, name))?;
            put_number(to, inputs.len() as u64)?;
            for (name, value) in &inputs {
                put_text(to, name)?;
                put_value(to, value)?;
            }
            Ok(())
        })?;
        drop(inputs);
        self.answer(|from| list(from, value))
    }
}

impl Drop for ChildSession {
    fn drop(&mut self) {
        // Nothing of it is needed any more, and it writes no files.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A path as the child reads it. Where it is not Unicode, its bytes cannot be told on every system.
fn put_path(to: &mut impl Write, path: &Path) -> std::io::Result<()> {
    match path.to_str() {
        Some(path) => put_text(to, path),
        None => Err(std::io::Error::other("the path is not Unicode")),
    }
}

/// What ended a child, by its last words and by how it ended.
fn reason(words: &str, status: Option<ExitStatus>, memory: u64) -> String {
    let asked = words.lines().find_map(|line| {
        let (_, rest) = line.split_once("memory allocation of ")?;
        rest.split(' ').next()?.parse::<u64>().ok()
    });
    if let Some(asked) = asked {
        return format!(
            "it asks for {} at once, and a model may take {}; feed fewer rows at once (`batch_size`), or raise `memory`",
            bytes_text(asked),
            bytes_text(memory)
        );
    }
    if words.contains("overflowed its stack") {
        return "its graph is longer or more deeply nested than can be followed; export it anew, or simplify it"
            .to_string();
    }
    if let Some(line) = words.lines().find_map(|line| line.strip_prefix("repscope: ")) {
        return line.to_string();
    }
    let how = status.map_or_else(|| "nothing is known of how".to_string(), |status| status.to_string());
    format!(
        "the process that ran it ended ({how}), as it does where memory runs out; a model may take {}",
        bytes_text(memory)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_words_of_a_process_say_why_it_ended() {
        let said = |words: &str| reason(words, None, 1 << 30);
        let memory = said("memory allocation of 4294967296 bytes failed\n");
        assert!(memory.contains("4.0 GiB") && memory.contains("1.0 GiB"), "{memory}");
        assert!(said("\nthread 'model' has overflowed its stack\nfatal").contains("nested"));
        assert_eq!(said("repscope: it takes long"), "it takes long");
        assert!(said("").contains("ended"));
    }
}
