// SPDX-License-Identifier: MIT
//! Graphs run by an installed ONNX Runtime.

use std::error::Error as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use half::f16;
use ort::LoadDynamicError;
use ort::environment::Environment;
use ort::ep::{CUDA, ExecutionProvider};
use ort::logging::LogLevel;
use ort::session::SessionInputValue;
use ort::session::builder::SessionBuilder;
use ort::value::{DynValue, Outlet, Tensor, TensorElementType, ValueType};
use repscope_io::catch_panic;

use super::{Data, Elem, ModelBytes, Port, Provider, Session, Value, port, to_bytes};
use crate::error::{Error, Result, bail, wrong};

pub(super) struct OnnxSession {
    session: ort::session::Session,
    inputs: Vec<Port>,
    outputs: Vec<Port>,
    /// The element types of the inputs.
    kinds: Vec<TensorElementType>,
}

impl OnnxSession {
    pub(super) fn load(source: &ModelBytes, library: &Path, provider: Provider, threads: usize) -> Result<Self> {
        let environment = environment(library)?;
        let session = catch_panic(|| {
            let mut builder = configure(&environment, threads)?;
            if provider == Provider::Cuda {
                if !matches!(CUDA::is_available(), Ok(true)) {
                    bail!(
                        "the ONNX Runtime in {} has no CUDA provider; `pip install onnxruntime-gpu` gets one that has",
                        library.display()
                    );
                }
                let started = CUDA::default().register(&mut builder);
                started.map_err(|e| wrong!("the CUDA provider of ONNX Runtime does not start: {e}"))?;
            }
            let committed = match source {
                ModelBytes::File(path) => builder.commit_from_file(path),
                ModelBytes::Memory(bytes) => builder.commit_from_memory(bytes),
            };
            committed.map_err(|e| wrong!("{source} cannot be used by ONNX Runtime: {e}"))
        });
        let session = session.unwrap_or_else(|| bail!("{source} cannot be used by ONNX Runtime"))?;
        let kind = |outlet: &Outlet| outlet.dtype().tensor_type().unwrap_or(TensorElementType::Undefined);
        Ok(OnnxSession {
            inputs: session.inputs().iter().map(describe).collect(),
            outputs: session.outputs().iter().map(describe).collect(),
            kinds: session.inputs().iter().map(kind).collect(),
            session,
        })
    }
}

impl Session for OnnxSession {
    fn inputs(&self) -> &[Port] {
        &self.inputs
    }

    fn outputs(&self) -> &[Port] {
        &self.outputs
    }

    fn engine(&self) -> String {
        format!("ONNX Runtime ({})", ort::info())
    }

    fn run(&mut self, inputs: Vec<(String, Value)>, outputs: &[String]) -> Result<Vec<Value>> {
        let mut fed: Vec<(String, SessionInputValue<'_>)> = Vec::with_capacity(inputs.len());
        for (name, value) in inputs {
            let port = port(&self.inputs, &name, "input")?;
            let kind = self.inputs.iter().position(|p| p.name == name).map(|i| self.kinds[i]);
            let tensor = tensor(port, kind.unwrap_or(TensorElementType::Undefined), value)?;
            fed.push((name, tensor.into()));
        }
        for name in outputs {
            port(&self.outputs, name, "output")?;
        }
        let ran = catch_panic(|| {
            let given = self
                .session
                .run(fed)
                .map_err(|e| wrong!("the model cannot be run: {e}"))?;
            outputs.iter().map(|name| value(given.get(name), name)).collect()
        });
        ran.unwrap_or_else(|| bail!("the model cannot be run by ONNX Runtime"))
    }
}

fn configure(environment: &ort::environment::Environment, threads: usize) -> Result<SessionBuilder> {
    let failed = |e: &dyn std::fmt::Display| wrong!("ONNX Runtime refuses its options: {e}");
    let builder = ort::session::Session::builder(environment).map_err(|e| failed(&e))?;
    let builder = builder.with_intra_threads(threads).map_err(|e| failed(&e))?;
    let builder = builder.with_log_level(LogLevel::Fatal).map_err(|e| failed(&e))?;
    builder.with_deterministic_compute(true).map_err(|e| failed(&e))
}

fn describe(outlet: &Outlet) -> Port {
    use TensorElementType as T;
    let (elem, dims) = match outlet.dtype() {
        ValueType::Tensor { ty, shape, .. } => {
            let elem = match ty {
                T::Float32 | T::Float64 | T::Float16 => Elem::F32,
                T::Int64 | T::Int32 | T::Bool => Elem::I64,
                T::Uint8 => Elem::U8,
                other => Elem::Other(other.to_string()),
            };
            (
                elem,
                shape
                    .iter()
                    .map(|&n| usize::try_from(n).ok().filter(|&n| n > 0))
                    .collect(),
            )
        }
        other => (Elem::Other(format!("{other:?}")), Vec::new()),
    };
    Port {
        name: outlet.name().to_string(),
        elem,
        dims,
    }
}

/// A tensor of the kind that the input takes.
fn tensor(port: &Port, kind: TensorElementType, value: Value) -> Result<DynValue> {
    use TensorElementType as T;
    let Value { shape, data } = value;
    let made = match (kind, data) {
        (T::Float32, Data::F32(v)) => Tensor::from_array((shape, v)).map(Tensor::into_dyn),
        (T::Float64, Data::F32(v)) => of(shape, &v, |&x| f64::from(x)),
        (T::Float16, Data::F32(v)) => of(shape, &v, |&x| f16::from_f32(x)),
        (T::Uint8, Data::F32(v)) => Tensor::from_array((shape, to_bytes(&v, &port.name)?)).map(Tensor::into_dyn),
        (T::Int64, Data::I64(v)) => Tensor::from_array((shape, v)).map(Tensor::into_dyn),
        (T::Bool, Data::I64(v)) => of(shape, &v, |&x| x != 0),
        (T::Int32, Data::I64(v)) => {
            let narrow: std::result::Result<Vec<i32>, _> = v.iter().map(|&x| i32::try_from(x)).collect();
            let narrow = narrow.map_err(|_| wrong!("a value for {port} does not fit into 32 bits"))?;
            Tensor::from_array((shape, narrow)).map(Tensor::into_dyn)
        }
        (kind, Data::F32(_)) => bail!("the input {port} takes {kind}, not numbers"),
        (kind, Data::I64(_)) => bail!("the input {port} takes {kind}, not integers"),
    };
    made.map_err(|e| wrong!("the values for {port} make no tensor: {e}"))
}

fn of<S, T>(shape: Vec<usize>, values: &[S], convert: impl Fn(&S) -> T) -> ort::Result<DynValue>
where
    T: ort::value::PrimitiveTensorElementType + std::fmt::Debug + Clone + 'static,
{
    Tensor::from_array((shape, values.iter().map(convert).collect::<Vec<T>>())).map(Tensor::into_dyn)
}

fn value(value: Option<&DynValue>, name: &str) -> Result<Value> {
    use TensorElementType as T;
    let missing = || wrong!("the output {name} was not computed");
    let value = value.ok_or_else(missing)?;
    let read = |e: ort::Error| wrong!("the output {name} cannot be read: {e}");
    macro_rules! take {
        ($kind:ty, $data:ident, $convert:expr) => {{
            let (shape, values) = value.try_extract_tensor::<$kind>().map_err(read)?;
            let shape = shape.iter().map(|&n| usize::try_from(n).unwrap_or(0)).collect();
            Value {
                shape,
                data: Data::$data(values.iter().map($convert).collect()),
            }
        }};
    }
    Ok(match value.dtype().tensor_type() {
        Some(T::Float32) => take!(f32, F32, |&x| x),
        Some(T::Float64) => take!(f64, F32, |&x| x as f32),
        Some(T::Float16) => take!(f16, F32, |&x| x.to_f32()),
        Some(T::Int64) => take!(i64, I64, |&x| x),
        Some(T::Int32) => take!(i32, I64, |&x| i64::from(x)),
        Some(T::Uint8) => take!(u8, I64, |&x| i64::from(x)),
        Some(T::Bool) => take!(bool, I64, |&x| i64::from(x)),
        Some(other) => bail!("the output {name} holds {other}, which cannot be read"),
        None => bail!("the output {name} is not a tensor"),
    })
}

static LOADED: Mutex<Option<(PathBuf, Environment)>> = Mutex::new(None);

/// The environment of the library at `path`. A process can hold one library: a second path is an error.
pub(super) fn environment(path: &Path) -> Result<Environment> {
    // The whole path: the loader would look for a relative one beside the program.
    let whole = std::fs::canonicalize(path)
        .map_err(|e| wrong!("cannot read the library of ONNX Runtime {}: {e}", path.display()))?;
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((before, environment)) = loaded.as_ref() {
        if *before == whole {
            return Ok(environment.clone());
        }
        let (before, whole) = (before.display(), whole.display());
        bail!(
            "ONNX Runtime was loaded from {before} and cannot be loaded from {whole} too; give one library for all models"
        );
    }
    let environment = catch_panic(|| open(&whole))
        .unwrap_or_else(|| bail!("{} is not a library of ONNX Runtime that can be used", whole.display()))?;
    *loaded = Some((whole, environment.clone()));
    Ok(environment)
}

fn open(path: &Path) -> Result<Environment> {
    let builder = ort::init_from(path).map_err(|error| {
        let shown = path.display();
        Error::Model(match error {
            LoadDynamicError::Dlopen { error, .. } => {
                // The reason is in the source: `dlopen failed` alone does not help.
                let reason = error.source().map_or_else(|| error.to_string(), ToString::to_string);
                format!(
                    "{shown} cannot be loaded as a library ({reason}); give the library of an ONNX Runtime for this machine"
                )
            }
            LoadDynamicError::MissingApi { .. } => format!("{shown} is a library, but not that of ONNX Runtime"),
            LoadDynamicError::BadVersion { version_str, .. } => format!(
                "{shown} is ONNX Runtime {version_str}, but 1.{} or newer is needed; `pip install --upgrade onnxruntime` gets it",
                ort::MINOR_VERSION
            ),
            LoadDynamicError::InvalidVersionString => format!("{shown} does not say which version of ONNX Runtime it is"),
        })
    })?;
    let built = builder.with_name("repscope").with_telemetry(false).build();
    let environment = built.map_err(|e| wrong!("ONNX Runtime in {} does not start: {e}", path.display()))?;
    // Its warnings speak to those who build models, not to those who measure them; errors come back to us.
    environment.set_log_level(ort::logging::LogLevel::Fatal);
    Ok(environment)
}
