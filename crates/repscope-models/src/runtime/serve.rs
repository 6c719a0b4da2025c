// SPDX-License-Identifier: MIT
//! The other side of a graph in a process of its own: reads which one, says what it takes, and runs it batch by batch, within limits.

use std::io::{BufReader, Read, Result, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::deep::STACK;
use super::messages::{list, number, put_list, put_number, put_port, put_text, put_value, text, value};
use super::rten_session::RtenSession;
use super::{ModelBytes, ModelFile, Session, instead};

/// What threads of the runtime take beside tensors, each.
const PER_THREAD: u64 = 16 << 20;

/// Weights are held as the file has them and again as the kernels like them, with room for a third copy on the way.
const COPIES: u64 = 3;

/// How often the watch looks.
const LOOK: Duration = Duration::from_millis(200);

/// Runs one graph for the process at the other end of two pipes, until that has no more batches.
pub fn serve(from: impl Read + Send + 'static, to: impl Write + Send + 'static) -> Result<()> {
    let work = std::thread::Builder::new()
        .name("model".to_string())
        .stack_size(STACK)
        .spawn(move || work(&mut BufReader::with_capacity(1 << 16, from), to))?;
    work.join().unwrap_or(Ok(()))
}

fn work(from: &mut impl Read, mut to: impl Write) -> Result<()> {
    let path = PathBuf::from(text(from)?);
    let library = Some(text(from)?).filter(|library| !library.is_empty());
    let (threads, memory, seconds) = (number(from)?, number(from)?, number(from)?);
    let watch = Watch::start(seconds);
    repscope_io::limit_memory(Some(memory));
    let file = match ModelFile::read(&path) {
        Ok(file) => file,
        Err(error) => return refuse(&mut to, &error),
    };
    let beside = file.beside.iter().filter_map(|(_, path)| std::fs::metadata(path).ok());
    let weights = file.bytes.len() as u64 + beside.map(|file| file.len()).sum::<u64>();
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    let extra = (cores + threads.max(cores)) * PER_THREAD + weights.saturating_mul(COPIES);
    limits::set(memory.saturating_add(extra));
    let threads = threads as usize;
    let loaded = watch.time(|| match library {
        Some(library) => instead::here(&ModelBytes::File(path), Path::new(&library), threads),
        None => RtenSession::of_file(&path, file, threads).map(|session| Box::new(session) as Box<dyn Session>),
    });
    let mut session = match loaded {
        Ok(session) => session,
        Err(error) => return refuse(&mut to, &error),
    };
    put_number(&mut to, 1)?;
    put_list(&mut to, session.inputs(), put_port)?;
    put_list(&mut to, session.outputs(), put_port)?;
    put_text(&mut to, &session.engine())?;
    to.flush()?;
    // Where nothing more comes, the other process has what it wants or is gone.
    while let Ok(outputs) = list(from, text) {
        let inputs = list(from, |from| Ok((text(from)?, value(from)?)))?;
        match watch.time(|| session.run(inputs, &outputs)) {
            Ok(values) => {
                put_number(&mut to, 1)?;
                put_number(&mut to, values.len() as u64)?;
                values.iter().try_for_each(|value| put_value(&mut to, value))?;
                to.flush()?;
            }
            Err(error) => refuse(&mut to, &error)?,
        }
    }
    Ok(())
}

fn refuse(to: &mut impl Write, error: &crate::Error) -> Result<()> {
    put_number(
        to,
        if matches!(error, crate::Error::Unsupported(_)) {
            2
        } else {
            0
        },
    )?;
    put_text(to, &error.to_string())?;
    to.flush()
}

/// Ends the process when a batch takes too long, or when there is nobody left to run it for.
#[derive(Clone)]
struct Watch {
    begun: Instant,
    /// Milliseconds since the beginning at which the batch started, and one more; 0 where none runs.
    since: Arc<AtomicU64>,
}

impl Watch {
    fn start(seconds: u64) -> Self {
        let watch = Watch {
            begun: Instant::now(),
            since: Arc::new(AtomicU64::new(0)),
        };
        let own = watch.clone();
        let parent = limits::parent();
        #[allow(clippy::disallowed_methods)] // it waits, and computes nothing
        std::thread::spawn(move || {
            loop {
                std::thread::sleep(LOOK);
                let since = own.since.load(Ordering::Relaxed);
                let is_late = since > 0 && own.now().saturating_sub(since) > seconds.saturating_mul(1000);
                if is_late {
                    let _ = writeln!(
                        std::io::stderr(),
                        "repscope: one batch takes longer than {seconds} seconds: its graph may loop without end; feed fewer rows at \
                         once (`batch_size`), or set REPSCOPE_BATCH_SECONDS"
                    );
                }
                if is_late || limits::parent() != parent {
                    #[allow(clippy::exit)] // the graph cannot be interrupted
                    std::process::exit(2);
                }
            }
        });
        watch
    }

    fn now(&self) -> u64 {
        1 + u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX - 1)
    }

    fn time<T>(&self, work: impl FnOnce() -> T) -> T {
        self.since.store(self.now(), Ordering::Relaxed);
        let done = work();
        self.since.store(0, Ordering::Relaxed);
        done
    }
}

/// What the system is asked for. Elsewhere than on Linux, an address space has no limit that counts.
#[cfg(target_os = "linux")]
mod limits {
    use rustix::process::{Resource, Rlimit, getppid, setrlimit};

    /// Allocations beyond so many bytes, beside those there are, fail from now on; and no core is dumped.
    pub(super) fn set(bytes: u64) {
        let limit = |own| Rlimit {
            current: Some(own),
            maximum: Some(own),
        };
        let there = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let there = there.lines().find_map(|line| {
            let size = line.strip_prefix("VmData:")?.trim().strip_suffix("kB")?;
            size.trim().parse::<u64>().ok()
        });
        // What cannot be limited is not: the process is apart in any case.
        let _ = setrlimit(Resource::Core, limit(0));
        let _ = setrlimit(Resource::Data, limit(bytes.saturating_add(there.unwrap_or(0) << 10)));
    }

    /// The process that started this one; another one once that has gone.
    pub(super) fn parent() -> Option<i32> {
        getppid().map(|id| id.as_raw_nonzero().get())
    }
}

#[cfg(not(target_os = "linux"))]
mod limits {
    pub(super) fn set(_bytes: u64) {}

    pub(super) fn parent() -> Option<i32> {
        None
    }
}
