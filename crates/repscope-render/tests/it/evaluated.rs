// SPDX-License-Identifier: MIT
//! A report of real scores for the tests: three models of a hundred samples, two with names that try to be markup.

use repscope_core::run::{Driver, Order};
use repscope_core::{Labels, METRICS, Pairs, Results, Space, Spec, Study, compare, draw_maps, evaluate};
use repscope_render::{InputLine, Page, figures, report_html, worst_samples};
use std::collections::BTreeMap;
use std::sync::Arc;

const ROWS: usize = 100;
/// Names of the models.
pub const MODELS: [&str; 3] = ["plain", "<script>window.broken = 1</script>", "a & \"b\" 'c'"];

/// One gray pixel as a PNG file in base64.
pub const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==";

/// Numbers between 0 and 1 that look random and are always the same.
pub fn number(i: usize) -> f64 {
    ((i as f64 + 1.0) * 12.9898)
        .sin()
        .mul_add(43758.5453, 0.0)
        .rem_euclid(1.0)
}

/// Inputs in three groups; the embeddings of each model are parts of them with more and more noise.
pub fn results() -> Results {
    let group = |row: usize| row % 3;
    let input: Vec<f64> = (0..ROWS * 8)
        .map(|i| number(i) + 2.0 * f64::from(u8::from(group(i / 8) == i % 3)))
        .collect();
    let names = ["<b>cat</b>", "dog", "hen"];
    let labels = Labels::new(&(0..ROWS).map(|row| names[group(row)]).collect::<Vec<_>>());
    let labels = Arc::new(labels);
    let space = Arc::new(Space::from_f64("states", ROWS, 8, input.clone()).expect("finite numbers"));
    let pairs = Arc::new(Pairs::consecutive(ROWS, None));
    let studies: Vec<Study> = MODELS
        .iter()
        .enumerate()
        .map(|(m, model)| {
            let code = |i: usize| input[i / 4 * 8 + i % 4] + 1.5 * m as f64 * number(i + 5000 * m);
            let codes = Space::from_f64("codes", ROWS, 4, (0..ROWS * 4).map(code).collect()).expect("finite numbers");
            Study {
                input: Some(space.clone()),
                labels: Some(labels.clone()),
                pairs: Some(pairs.clone()),
                ..Study::new(model, codes)
            }
        })
        .collect();
    let driver = Driver::silent(Order::Serial);
    let metrics: Vec<_> = METRICS
        .iter()
        .copied()
        .filter(|m| m.is_of_studies() && !["alignment", "robustness"].contains(&m.id))
        .collect();
    let mut results = evaluate(&studies, &metrics, &Spec::default(), &driver).expect("plain studies");
    compare(&mut results, &Spec::default(), &Driver::silent(Order::Parallel));
    draw_maps(&mut results, &studies, &driver);
    results.warnings.push("watch <out> & about".to_string());
    results
}

/// The page of these results, with a picture of each sample that it lists.
pub fn page_of(results: &Results) -> String {
    page_with(
        results,
        &worst_samples(results)
            .into_iter()
            .map(|row| (row, PIXEL.to_string()))
            .collect(),
    )
}

/// The page of these results with these pictures.
pub fn page_with(results: &Results, pictures: &BTreeMap<usize, String>) -> String {
    let spec = serde_json::to_value(Spec::default()).expect("a plain struct");
    report_html(&Page {
        analysis: None,
        title: "Test of <pages>",
        command: "repscope evaluate --name '<x>'",
        version: "1.2.3",
        spec: &spec,
        inputs: &[InputLine {
            path: "a<b>.npy".to_string(),
            shape: "100 × 8".to_string(),
            dtype: "f64".to_string(),
            digest: "0123abcd".to_string(),
            about: String::new(),
        }],
        results,
        figures: &figures(results, "evaluate"),
        pictures,
    })
}
