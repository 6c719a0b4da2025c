// SPDX-License-Identifier: MIT
//! Runs one graph by the built-in runtime: `run_graph MODEL FOLDER NAME=IN.npy …` writes each output as `FOLDER/N.npy`.
//! `benches/onnx_coverage.py` compares them with those of ONNX Runtime.

use std::path::{Path, PathBuf};

use repscope_io::{Array, Data, InputPath, read_array, write_floats, write_integers};
use repscope_models::runtime::{self, Elem, ModelBytes, Runtime, Value};

fn main() {
    #[allow(clippy::disallowed_methods)] // a tool with words of its own
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let Err(error) = run(&words) {
        // Failing is what this program reports.
        #[allow(clippy::print_stderr)]
        {
            eprintln!("{error}");
        }
        #[allow(clippy::exit)]
        std::process::exit(2);
    }
}

fn run(words: &[String]) -> Result<(), Box<dyn std::error::Error>> {
    let [model, folder, inputs @ ..] = words else {
        return Err("run_graph MODEL FOLDER NAME=IN.npy …".into());
    };
    let mut session = runtime::load(ModelBytes::File(PathBuf::from(model)), &Runtime::Rten, 2)?;
    let mut fed = Vec::new();
    for input in inputs {
        let (name, path) = input.split_once('=').ok_or("an input is NAME=IN.npy")?;
        let port = session.inputs().iter().find(|port| port.name == name);
        let port = port.ok_or_else(|| format!("no input named {name}: {:?}", session.inputs()))?;
        fed.push((
            name.to_string(),
            value(&read_array(&InputPath::file(path))?, &port.elem)?,
        ));
    }
    let outputs: Vec<String> = session.outputs().iter().map(|port| port.name.clone()).collect();
    for (at, value) in session.run(fed, &outputs)?.into_iter().enumerate() {
        let path = Path::new(folder).join(format!("{at}.npy"));
        match value.data {
            runtime::Data::F32(values) => write_floats(&path, &value.shape, &values)?,
            runtime::Data::I64(values) => write_integers(&path, &values)?,
        }
    }
    Ok(())
}

fn value(array: &Array, elem: &Elem) -> Result<Value, String> {
    let numbers: Vec<f64> = match array.data() {
        Data::F32(v) => (**v).as_ref().iter().map(|&x| f64::from(x)).collect(),
        Data::F64(v) => (**v).as_ref().to_vec(),
        Data::U8(v) => (**v).as_ref().iter().map(|&x| f64::from(x)).collect(),
        Data::I64(v) => v.iter().map(|&x| x as f64).collect(),
        Data::Bool(v) => v.iter().map(|&x| f64::from(u8::from(x))).collect(),
        _ => return Err("the input holds no numbers".to_string()),
    };
    let shape = array.shape().to_vec();
    Ok(match elem {
        Elem::I64 => Value::ints(shape, numbers.iter().map(|&x| x as i64).collect()),
        _ => Value::floats(shape, numbers.iter().map(|&x| x as f32).collect()),
    })
}
