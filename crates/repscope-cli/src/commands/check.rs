// SPDX-License-Identifier: MIT
//! `repscope check PATH…`: the input doctor. Exit code 1 where something would stop a metric.

use std::process::ExitCode;

use anyhow::Result;
use repscope_io::{
    Format, InputPath, Inspection, LabelFacts, NumberFacts, Weights, inspect, inspect_all, is_array_folder,
    list_arrays, tree,
};
use repscope_models::architectures::recognize;
use repscope_models::runtime::{ModelBytes, Port, Runtime, find_library, load};
use repscope_models::{TextEncoder, TextOptions};
use repscope_render::{Color, number};

use super::twins::Twins;
use crate::args::Check;
use crate::outputs;

/// One array, and what is to be said about it.
struct Finding {
    inspection: Inspection,
    /// What stops a metric.
    problems: Vec<String>,
    /// What may surprise.
    remarks: Vec<String>,
}

impl Finding {
    fn remark(&mut self, text: &str) {
        self.remarks.push(text.to_string());
    }
}

pub fn run(options: &Check) -> Result<ExitCode> {
    let mut findings = Vec::new();
    let mut unreadable = Vec::new();
    let mut trees = Vec::new();
    let mut models = Vec::new();
    for text in &options.paths {
        let path = InputPath::parse(text);
        if is_model(&path) {
            match model(&path) {
                Ok(text) => models.push((path, text)),
                Err(error) => unreadable.push(error),
            }
            continue;
        }
        if is_checkpoint(&path) {
            match tree(&path.path) {
                Ok(tree) => trees.push((path, tree)),
                Err(error) => unreadable.push(error.into()),
            }
            continue;
        }
        match look(text) {
            Ok(found) => findings.extend(found),
            Err(error) => unreadable.push(error),
        }
    }
    let mismatch = row_mismatch(&findings);
    if let Some(search) = Twins::new(options)? {
        for finding in &mut findings {
            let about = finding.inspection.numbers.as_ref();
            let is_finite = about.is_some_and(|numbers| numbers.nan + numbers.infinite == 0);
            if is_finite && finding.inspection.labels.is_none() && finding.inspection.rows > 0 {
                let said = search.of(&finding.inspection.path)?;
                finding.problems.extend(said.problems);
                finding.remarks.extend(said.remarks);
            }
        }
    }
    if findings.is_empty() && trees.is_empty() && models.is_empty() {
        // There are only errors.
    } else if options.json {
        let list: Vec<_> = findings
            .iter()
            .map(|f| serde_json::json!({"facts": f.inspection, "problems": f.problems, "remarks": f.remarks}))
            .collect();
        outputs::print(&serde_json::to_string_pretty(
            &serde_json::json!({"arrays": list, "checkpoints": tensors(&trees)?, "models": described(&models), "remarks": mismatch}),
        )?)?;
    } else {
        let mut text = String::new();
        for (path, about) in &models {
            text += &format!("{path}\n{about}");
        }
        for (path, tree) in &trees {
            text += &format!("{path}\n{}\n{}\n", tree.trim_end(), network(path));
        }
        for finding in &findings {
            text += &describe(finding);
        }
        for remark in &mismatch {
            text += &format!("! {remark}\n");
        }
        // Nothing here is colored, so no sequence is ours.
        outputs::print(&outputs::harmless(&text, Color::No))?;
    }
    if let Some(last) = unreadable.pop() {
        for error in unreadable {
            outputs::advise(&format!("error: {error:#}"));
        }
        return Err(last);
    }
    let is_sound = findings.iter().all(|f| f.problems.is_empty());
    Ok(if is_sound { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Whether a path names a model that is run: a graph, or the folder of a text model.
fn is_model(path: &InputPath) -> bool {
    let is_graph = path.path.extension().is_some_and(|e| e.eq_ignore_ascii_case("onnx"));
    let is_folder = path.path.is_dir() && !is_array_folder(&path.path);
    is_graph || (is_folder && path.path.join("tokenizer.json").is_file())
}

/// What goes into a model and what comes out of it.
fn model(path: &InputPath) -> Result<String> {
    if path.path.is_dir() {
        let encoder = TextEncoder::open(&path.path, TextOptions::default())?;
        let facts = encoder
            .about()
            .iter()
            .map(|fact| format!("  {fact}\n"))
            .collect::<String>();
        return Ok(format!(
            "  a text encoder; its embeddings have {} columns\n{facts}  ✓ run it with: repscope encode --encoder {path} --input \
             TEXTS.txt --output z.npy\n",
            encoder.width()
        ));
    }
    let library = find_library(&|name| std::env::var_os(name));
    let runtime = library.map_or(Runtime::Rten, |library| Runtime::Auto { library });
    let session = load(ModelBytes::File(path.path.clone()), &runtime, 1)?;
    let ports = |kind: &str, ports: &[Port]| {
        ports
            .iter()
            .map(|port| format!("  {kind}  {port}\n"))
            .collect::<String>()
    };
    let note = session.note().map(|note| format!("  {note}\n")).unwrap_or_default();
    Ok(format!(
        "{}{}{note}  ✓ run it with: repscope encode --encoder {path} --input ROWS.npy --output z.npy\n",
        ports("input", session.inputs()),
        ports("output", session.outputs())
    ))
}

/// Models, for programs.
fn described(models: &[(InputPath, String)]) -> Vec<serde_json::Value> {
    let of = |(path, about): &(InputPath, String)| {
        let lines: Vec<&str> = about.lines().map(str::trim).collect();
        serde_json::json!({"path": path.to_string(), "about": lines})
    };
    models.iter().map(of).collect()
}

/// Whether a path names a file of weights as a whole, which is shown as a tree.
fn is_checkpoint(path: &InputPath) -> bool {
    let is_torch = Format::of_path(&path.path) == Some(Format::Torch);
    is_torch && path.key.is_none() && list_arrays(&path.path).map_or(true, |arrays| arrays.len() > 1)
}

/// Which network the weights belong to, as far as it is known.
fn network(path: &InputPath) -> String {
    let found = Weights::open(&path.path, None).map(|weights| recognize(&weights).ok());
    match found {
        Ok(Some(network)) => format!(
            "  ✓ weights of a {}; run it with: repscope encode --encoder {path}",
            network.kind
        ),
        _ => "  not the weights of a network that can be run from weights alone".to_string(),
    }
}

/// The tensors of checkpoints, for programs.
fn tensors(trees: &[(InputPath, String)]) -> Result<Vec<serde_json::Value>> {
    let of_file = |(path, _): &(InputPath, String)| {
        Ok(serde_json::json!({"path": path.to_string(), "tensors": list_arrays(&path.path)?}))
    };
    trees.iter().map(of_file).collect()
}

fn look(text: &str) -> Result<Vec<Finding>> {
    let path = InputPath::parse(text);
    // The array that was named, or all arrays of a container without a key.
    let is_one = path.key.is_some() || list_arrays(&path.path)?.len() < 2 || is_table(&path);
    let found = if is_one {
        vec![inspect(&path)?]
    } else {
        inspect_all(&path.path)?
    };
    Ok(found.into_iter().map(judge).collect())
}

/// A table of numbers is one matrix, not a hundred columns; a mixed one is looked at column by column.
fn is_table(path: &InputPath) -> bool {
    let is_text = matches!(Format::of_path(&path.path), Some(Format::Csv | Format::Tsv));
    is_text && inspect(path).is_ok()
}

fn judge(inspection: Inspection) -> Finding {
    let mut finding = Finding {
        problems: Vec::new(),
        remarks: Vec::new(),
        inspection,
    };
    if finding.inspection.rows == 0 || finding.inspection.columns == 0 {
        finding.problems.push("is empty".to_string());
    }
    if let Some(labels) = finding.inspection.labels.clone() {
        judge_labels(&labels, &mut finding);
    }
    if let Some(numbers) = finding.inspection.numbers.clone() {
        let is_label_like = finding.inspection.labels.is_some();
        judge_numbers(&numbers, is_label_like, &mut finding);
    }
    finding
}

fn judge_labels(labels: &LabelFacts, finding: &mut Finding) {
    if labels.missing > 0 {
        let first = labels.first_missing.unwrap_or(0);
        let rows = counted(labels.missing, "row has", "rows have");
        finding
            .problems
            .push(format!("{rows} no label, the first is row {first}"));
    }
    if labels.classes.len() == 1 {
        finding.remark("all rows have the same label: label scores will be undefined");
    }
    if labels.singletons > 1 && labels.singletons == labels.classes.len() {
        finding.remark("every value occurs once: ids rather than labels");
    } else if labels.singletons > 0 {
        let classes = counted(labels.singletons, "class has", "classes have");
        finding.remark(&format!("{classes} a single row: never tested in k-NN accuracy"));
    }
    let folded: std::collections::BTreeSet<String> =
        labels.classes.iter().map(|c| c.name.trim().to_lowercase()).collect();
    if folded.len() < labels.classes.len() {
        finding.remark("some labels differ only in case or spaces");
    }
}

fn judge_numbers(numbers: &NumberFacts, is_label_like: bool, finding: &mut Finding) {
    let listed = |what: &str, count: usize, places: &[(usize, usize)]| {
        let list: Vec<String> = places.iter().map(|(r, c)| format!("row {r} column {c}")).collect();
        let more = if places.len() < count { " …" } else { "" };
        let subject = counted(count, "value is", "values are");
        format!("{subject} {what}: {}{more}", list.join(", "))
    };
    if numbers.nan > 0 {
        finding.problems.push(listed("NaN", numbers.nan, &numbers.nan_at));
    }
    if numbers.infinite > 0 {
        let text = listed("infinite", numbers.infinite, &numbers.infinite_at);
        finding.problems.push(text);
    }
    if is_label_like {
        return;
    }
    if let Some((first, second)) = numbers.first_duplicate {
        let rows = counted(numbers.duplicate_rows, "row equals", "rows equal");
        finding.remark(&format!("{rows} an earlier row (rows {first} and {second}, for one)"));
    }
    if let Some(first) = numbers.first_zero_row {
        let rows = counted(numbers.zero_rows, "row is", "rows are");
        finding.remark(&format!(
            "{rows} all zero, the first is row {first}: without a direction"
        ));
    }
    if !numbers.constant_columns.is_empty() {
        let all = &numbers.constant_columns;
        let first: Vec<String> = all.iter().take(5).map(ToString::to_string).collect();
        let more = if all.len() > 5 { " …" } else { "" };
        let columns = counted(all.len(), "column is", "columns are");
        finding.remark(&format!("{columns} constant: {}{more}", first.join(", ")));
    }
}

/// `1 row is`, `2 rows are`.
fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Arrays of one study must have the same number of rows.
fn row_mismatch(findings: &[Finding]) -> Vec<String> {
    let Some(first) = findings.first().map(|f| &f.inspection) else {
        return Vec::new();
    };
    let others = findings.iter().map(|f| &f.inspection).filter(|i| i.rows != first.rows);
    let (path, rows) = (&first.path, first.rows);
    let text = |i: &Inspection| {
        format!(
            "{} has {} rows but {path} has {rows}: they can only be joined by --ids",
            i.path, i.rows
        )
    };
    others.map(text).collect()
}

fn describe(finding: &Finding) -> String {
    let facts = &finding.inspection;
    let shape: Vec<String> = facts.shape.iter().map(ToString::to_string).collect();
    let mut text = format!("{}  {} {}\n", facts.path, shape.join(" × "), facts.dtype);
    if let Some(labels) = &facts.labels {
        let first = labels.classes.iter().take(8);
        let shown: Vec<String> = first.map(|c| format!("{} ({})", c.name, c.rows)).collect();
        let more = if labels.classes.len() > 8 { " …" } else { "" };
        let (count, shown) = (labels.classes.len(), shown.join(", "));
        text += &format!("  as labels: {count} classes: {shown}{more}\n");
    }
    if let Some(NumberFacts {
        minimum: Some(low),
        maximum: Some(high),
        mean_row_norm,
        ..
    }) = &facts.numbers
    {
        let norm = mean_row_norm.map_or(String::new(), |n| format!(", mean row length {}", number(n)));
        let (low, high) = (number(*low), number(*high));
        text += &format!("  values from {low} to {high}{norm}\n");
    }
    for problem in &finding.problems {
        text += &format!("  ✗ {problem}\n");
    }
    for remark in &finding.remarks {
        text += &format!("  ! {remark}\n");
    }
    if finding.problems.is_empty() && finding.remarks.is_empty() {
        text += "  ✓ nothing odd\n";
    }
    text
}
