// SPDX-License-Identifier: MIT
//! What the results document of a whole run says of its options and inputs.

use repscope_core::{Analysis, Results, Spec};
use repscope_io::{InputRecord, ResultsDocument};
use serde_json::{Map, Value};

use super::args::Evaluate;
use super::plan::Plan;
use super::stages::take;
use crate::outputs::resolved;

/// Options about files, which all analyses share.
const ROLES: [&str; 7] = ["states", "next_states", "labels", "episodes", "models", "pool", "ids"];

/// The document of a run before it has results. Options that several analyses share stand at its top; what an analysis has
/// otherwise, or alone, is under its name in `analyses`.
pub fn of_run(plan: &Plan, options: &Evaluate) -> ResultsDocument {
    let mut inputs: Vec<InputRecord> = Vec::new();
    let mut joint = Spec::default();
    for planned in &plan.running {
        joint.seed = planned.spec.seed;
        joint.level = planned.spec.level;
        joint.memory = planned.spec.memory;
        take(&mut joint, &planned.spec, planned.analysis);
        for record in &planned.sources.records {
            if !inputs.contains(record) {
                inputs.push(record.clone());
            }
        }
    }
    let mut top = plan.inputs.all_roles(options);
    if let Value::Object(joint) = resolved(&joint, Map::new()) {
        top.extend(joint);
    }
    let mut analyses = Map::new();
    for planned in &plan.running {
        let own = resolved(&planned.spec, planned.sources.options.clone());
        let is_shared = |key: &str| ROLES.contains(&key) && planned.analysis != Analysis::Retrieval;
        let fields = own.as_object().into_iter().flatten();
        let differing = fields.filter(|(key, value)| !is_shared(key) && top.get(*key) != Some(value));
        let differing: Map<String, Value> = differing.map(|(key, value)| (key.clone(), value.clone())).collect();
        analyses.insert(planned.analysis.name().to_string(), differing.into());
    }
    top.insert("analyses".to_string(), analyses.into());
    ResultsDocument::new("evaluate", top.into(), inputs, &Results::default())
}
