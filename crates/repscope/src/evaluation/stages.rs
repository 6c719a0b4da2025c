// SPDX-License-Identifier: MIT
//! Running the analyses: those that look at pairs of rows share their passes, and one that fails takes no other with it.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use anyhow::{Result, anyhow};
use repscope_core::run::Progress;
use repscope_core::{Results, Spec, Study, evaluate, pool};

use super::plan::{Planned, in_order};
use crate::analysis::Origin;
use crate::inputs::Inputs;
use crate::session::{Cancelled, Listener, Session};

/// Analyses that are computed in one run over the data.
pub struct Group {
    members: Vec<Planned>,
    spec: Spec,
}

/// The analyses in groups that run one after the other, each with one set of options; the short ones come first.
pub fn stages(mut planned: Vec<Planned>) -> Vec<Vec<Group>> {
    planned.sort_by_key(|own| own.request.declared().stage);
    let mut stages: Vec<Vec<Group>> = Vec::new();
    let mut last = None;
    for own in planned {
        let stage = own.request.declared().stage;
        if last != Some(stage) {
            stages.push(Vec::new());
            last = Some(stage);
        }
        let groups = stages.last_mut().expect("one was just begun");
        let joint = groups.iter().position(|group| group.joined(&own).is_some());
        match joint {
            Some(at) => {
                groups[at].spec = groups[at].joined(&own).unwrap_or_else(|| own.spec.clone());
                groups[at].members.push(own);
            }
            None => groups.push(Group {
                spec: own.spec.clone(),
                members: vec![own],
            }),
        }
    }
    stages
}

impl Group {
    /// The options of all together, where they do not contradict each other.
    fn joined(&self, other: &Planned) -> Option<Spec> {
        let mut members = self.members.iter().chain([other]);
        let all_sweep = members.all(|own| own.request.declared().sweeps);
        let mut spec = self.spec.clone();
        (other.request.declared().take)(&mut spec, &other.spec);
        let mut again = spec.clone();
        for member in &self.members {
            (member.request.declared().take)(&mut again, &member.spec);
        }
        (all_sweep && again == spec).then_some(spec)
    }

    /// Computes all analyses of the group, each with its results or the reason why there are none.
    pub fn run(self, inputs: &Inputs, session: &Session) -> Vec<(Planned, Result<Results>)> {
        let metrics = in_order(self.members.iter().flat_map(Planned::shared).collect());
        let joint = match self.members.len() {
            1 => None,
            _ => guarded(|| Ok(evaluate(&inputs.studies, &metrics, &self.spec, &session.driver())?)).ok(),
        };
        // The same of each version, in their order.
        let of_versions: Option<Vec<Results>> = joint.as_ref().and_then(|_| {
            let of = |studies: &[Study]| Ok(evaluate(studies, &metrics, &self.spec, &session.driver())?);
            guarded(|| inputs.versions.iter().map(|own| of(&own.studies)).collect()).ok()
        });
        let finish = |planned: Planned| {
            let results = guarded(|| match &joint {
                Some(joint) => complete(&planned, joint.clone(), of_versions.as_deref(), inputs, session),
                // Alone, or because together one of them failed: now it fails alone.
                None => alone(&planned, inputs, session),
            });
            (planned, results)
        };
        self.members.into_iter().map(finish).collect()
    }
}

/// An analysis by itself.
pub fn alone(planned: &Planned, inputs: &Inputs, session: &Session) -> Result<Results> {
    let results = planned.request.compute(planned, inputs, session)?;
    complete(planned, results, None, inputs, session)
}

/// An analysis in joint results of the whole embeddings and of their versions, and what it computes by itself.
fn complete(
    planned: &Planned,
    results: Results,
    of_versions: Option<&[Results]>,
    inputs: &Inputs,
    session: &Session,
) -> Result<Results> {
    let mut part = part(planned, results, &inputs.studies, inputs, session)?;
    planned.request.complete(&mut part, planned, inputs)?;
    let mut versions = planned.request.versions(planned, inputs, session)?;
    for own in &mut versions {
        pool(&mut own.results, &inputs.recipes, planned.spec.level);
    }
    part.versions.extend(versions);
    if planned.request.declared().data == Origin::Own && part.versions.is_empty() && !inputs.versions.is_empty() {
        let name = planned.kind().name();
        part.warnings.push(format!(
            "`prefix` and `quantize` are those of the models; {name} has inputs of its own and measures these whole"
        ));
    }
    if planned.request.declared().data == Origin::Study {
        for (i, own) in inputs.versions.iter().enumerate() {
            let Some(studies) = planned.request.of_version(own) else {
                if !planned.request.measures_versions() {
                    let name = planned.kind().name();
                    part.warnings.push(format!("{name} measures whole embeddings alone"));
                }
                break;
            };
            let found = match of_versions.and_then(|all| all.get(i)) {
                Some(joint) => joint.clone(),
                None => evaluate(studies, &planned.shared(), &planned.spec, &session.driver())?,
            };
            let found = self::part(planned, found, studies, inputs, session)?;
            part.versions.push(own.results(found));
        }
    }
    Ok(part)
}

/// The part of an analysis in joint results of some studies, and what it computes by itself.
fn part(
    planned: &Planned,
    mut results: Results,
    studies: &[Study],
    inputs: &Inputs,
    session: &Session,
) -> Result<Results> {
    let own = planned.alone();
    if !own.is_empty() {
        let others = evaluate(studies, &own, &planned.spec, &session.driver())?;
        // Another analysis may have computed one of them with options of its own.
        let is_own = |name: &str| others.scores.iter().any(|score| score.metric == name);
        results.scores.retain(|score| !is_own(&score.metric));
        results.absorb(others);
    }
    let declared = planned.request.declared();
    if declared.data == Origin::Own {
        return Ok(results);
    }
    let mut picked = results.pick(&planned.metrics, declared.classes);
    pool(&mut picked, &inputs.recipes, planned.spec.level);
    Ok(picked)
}

/// A panic is an error of the analysis in which it happened.
fn guarded<T>(run: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        if panic.is::<Cancelled>() {
            resume_unwind(panic);
        }
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("no reason");
        Err(anyhow!(
            "internal error: {text}. Please report this; it is a bug in repscope"
        ))
    })
}

/// Progress that names the stage.
pub struct Stage<'a> {
    pub number: usize,
    pub of: usize,
    pub listener: &'a dyn Listener,
}

impl Progress for Stage<'_> {
    fn begin(&self, stage: &str, steps: u64) {
        self.listener
            .begin(&format!("{}/{} {stage}", self.number, self.of), steps);
    }

    fn advance(&self, steps: u64) {
        self.listener.advance(steps);
    }
}

impl Listener for Stage<'_> {
    fn say(&self, text: &str) {
        self.listener.say(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{Analysis, Clid, Geometry, Manifold, Neighborhood};
    use crate::options::Data;
    use crate::reader::Sources;

    fn planned(request: impl Analysis + 'static) -> Planned {
        let data = Data::default();
        Planned {
            spec: request.spec(&data).expect("options that fit"),
            metrics: request.metrics(&data),
            data,
            sources: Sources::default(),
            extra: super::super::plan::Extra::Nothing,
            request: Box::new(request),
        }
    }

    fn names(stages: &[Vec<Group>]) -> Vec<Vec<&str>> {
        let of = |group: &Group| group.members.iter().map(|p| p.kind().name()).collect();
        stages.iter().flatten().map(of).collect()
    }

    #[test]
    fn analyses_whose_options_agree_are_computed_together() {
        let neighborhood = Neighborhood {
            k: vec![3],
            ..Neighborhood::default()
        };
        // CLID's own number of clusters is not that of geometry.
        let all = vec![
            planned(neighborhood),
            planned(Manifold::default()),
            planned(Geometry::default()),
            planned(Clid::default()),
        ];
        let stages = stages(all);
        assert_eq!(names(&stages), [["neighborhood", "manifold", "geometry", "clid"]]);
        let spec = &stages[0][0].spec;
        assert_eq!((spec.k.clone(), spec.clusters), (vec![3], 5));
    }

    #[test]
    fn analyses_whose_options_differ_are_computed_apart() {
        let all = vec![
            planned(Neighborhood::default()),
            planned(Manifold {
                sample: Some(10),
                ..Manifold::default()
            }),
            planned(Geometry::default()),
            planned(Clid {
                t: 3.0,
                ..Clid::default()
            }),
        ];
        let expected: [&[&str]; 3] = [&["neighborhood", "geometry"], &["manifold"], &["clid"]];
        assert_eq!(names(&stages(all)), expected);
    }

    #[test]
    fn a_panic_is_an_error_of_its_analysis() {
        let error = guarded::<()>(|| Err(anyhow!("plain"))).unwrap_err();
        assert_eq!(error.to_string(), "plain");
        let error = guarded::<()>(|| std::panic::resume_unwind(Box::new("odd"))).unwrap_err();
        assert!(error.to_string().starts_with("internal error: odd"), "{error}");
    }
}
