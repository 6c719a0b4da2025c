// SPDX-License-Identifier: MIT
//! What the results document of a whole run says of its options and inputs.

use repscope_core::{Analysis, Results, Spec};
use repscope_io::ResultsDocument;
use serde_json::{Map, Value};

use super::plan::Plan;
use super::request::Evaluate;
use crate::analysis::{self, Origin};
use crate::inputs::roles;
use crate::options::layers::object;
use crate::report::resolved;
use crate::search::distinct;

/// Options about files, which all analyses share.
const ROLES: [&str; 8] = [
    "states",
    "next_states",
    "labels",
    "episodes",
    "models",
    "replicates",
    "pool",
    "ids",
];

/// What the document of a run says of an analysis that was asked for and has no results.
const NOT_COMPUTED: &str = "not_computed";

/// The document of a run before it has results. Options that several analyses share stand at its top; what an analysis has
/// otherwise, or alone, is under its name in `analyses`.
pub fn of_run(plan: &Plan, options: &Evaluate) -> ResultsDocument {
    let mut joint = Spec::default();
    for planned in &plan.running {
        joint.seed = planned.spec.seed;
        joint.level = planned.spec.level;
        joint.memory = planned.spec.memory;
        (planned.request.declared().take)(&mut joint, &planned.spec);
    }
    let records = plan.running.iter().flat_map(|planned| &planned.sources.records);
    let inputs = distinct(records.cloned());
    let mut top = roles(&options.data);
    top.extend(object(resolved(&joint, Map::new())));
    let mut analyses = Map::new();
    for planned in &plan.running {
        let own = resolved(&planned.spec, planned.sources.options.clone());
        let is_shared = |key: &str| ROLES.contains(&key) && planned.request.declared().data == Origin::Study;
        let fields = own.as_object().into_iter().flatten();
        let differing = fields.filter(|(key, value)| !is_shared(key) && top.get(*key) != Some(value));
        let differing: Map<String, Value> = differing.map(|(key, value)| (key.clone(), value.clone())).collect();
        analyses.insert(planned.kind().name().to_string(), differing.into());
    }
    top.insert("analyses".to_string(), analyses.into());
    let mut top = Value::from(top);
    for (analysis, why) in &plan.unfit {
        note_failure(&mut top, *analysis, why);
    }
    ResultsDocument::new("evaluate", top, inputs, &Results::default())
}

/// Notes in the options of a run that an analysis was asked for, and why it has no results.
pub fn note_failure(spec: &mut Value, analysis: Analysis, why: &str) {
    if let Some(analyses) = spec.get_mut("analyses").and_then(Value::as_object_mut) {
        let own = analyses.entry(analysis.name()).or_insert_with(|| Map::new().into());
        own[NOT_COMPUTED] = why.into();
    }
}

/// The analyses that a run was asked for and that have no results.
pub fn failed(spec: &Value) -> Vec<Analysis> {
    let has_failed = |analysis: &Analysis| spec["analyses"][analysis.name()].get(NOT_COMPUTED).is_some();
    analysis::evaluated().map(|own| own.kind).filter(has_failed).collect()
}
