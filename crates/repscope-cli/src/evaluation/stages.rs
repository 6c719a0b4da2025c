// SPDX-License-Identifier: MIT
//! Running the analyses: those that look at pairs of rows share their passes, and one that fails takes no other with it.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use anyhow::{Result, anyhow};
use repscope_core::run::{Driver, Progress};
use repscope_core::{Analysis, METRICS, Metric, Results, Spec, etes, evaluate, relate, retrieve};

use super::inputs::Inputs;
use super::parts::classes;
use super::plan::Planned;
use crate::call::Cancelled;
use crate::commands::clid;

/// What runs after what: the short analyses first, so that something is saved early.
pub const STAGES: [&[Analysis]; 5] = [
    &[Analysis::Smoothness, Analysis::Rankme],
    &SWEEPING,
    &[Analysis::Robustness],
    &[Analysis::Retrieval],
    &[Analysis::Etes],
];

/// The analyses that look at all pairs of rows.
const SWEEPING: [Analysis; 4] = [
    Analysis::Neighborhood,
    Analysis::Manifold,
    Analysis::Geometry,
    Analysis::Clid,
];

/// Metrics of CLID that read the sweeps of other analyses. Its companions share nothing with them, and some mean another
/// number of clusters.
const SHARED_OF_CLID: [&str; 2] = ["clid", "uniformity"];

/// Analyses that are computed in one run over the data.
pub struct Group {
    members: Vec<Planned>,
    spec: Spec,
}

/// The analyses of a stage in groups, each with one set of options.
pub fn groups(stage: Vec<Planned>) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for planned in stage {
        let joint = groups.iter().position(|group| group.joined(&planned).is_some());
        match joint {
            Some(at) => {
                groups[at].spec = groups[at].joined(&planned).unwrap_or_else(|| planned.spec.clone());
                groups[at].members.push(planned);
            }
            None => groups.push(Group {
                spec: planned.spec.clone(),
                members: vec![planned],
            }),
        }
    }
    groups
}

impl Group {
    /// The options of all together, where they do not contradict each other.
    fn joined(&self, other: &Planned) -> Option<Spec> {
        let all_sweep = self
            .members
            .iter()
            .chain([other])
            .all(|p| SWEEPING.contains(&p.analysis));
        let mut spec = self.spec.clone();
        take(&mut spec, &other.spec, other.analysis);
        let mut again = spec.clone();
        for member in &self.members {
            take(&mut again, &member.spec, member.analysis);
        }
        (all_sweep && again == spec).then_some(spec)
    }

    /// Computes all analyses of the group, each with its results or the reason why there are none.
    pub fn run(self, inputs: &Inputs, driver: &Driver) -> Vec<(Planned, Result<Results>)> {
        let mut metrics: Vec<&Metric> = self.members.iter().flat_map(shared).collect();
        metrics.sort_by_key(|metric| METRICS.iter().position(|other| other.id == metric.id));
        metrics.dedup_by_key(|metric| metric.id);
        let joint = match self.members.len() {
            1 => None,
            _ => guarded(|| Ok(evaluate(&inputs.studies, &metrics, &self.spec, driver)?)).ok(),
        };
        let finish = |planned: Planned| {
            let results = guarded(|| match &joint {
                Some(joint) => complete(&planned, joint, inputs, driver),
                // Alone, or because together one of them failed: now it fails alone.
                None => alone(&planned, inputs, driver),
            });
            (planned, results)
        };
        self.members.into_iter().map(finish).collect()
    }
}

/// Takes the options that an analysis reads from its own spec.
pub fn take(spec: &mut Spec, own: &Spec, analysis: Analysis) {
    match analysis {
        Analysis::Neighborhood => {
            spec.k.clone_from(&own.k);
            spec.distance = own.distance;
            spec.sample = own.sample;
        }
        Analysis::Manifold => {
            spec.discard = own.discard;
            spec.sample = own.sample;
        }
        Analysis::Geometry => {
            spec.clusters = own.clusters;
            spec.restarts = own.restarts;
            spec.knn_k = own.knn_k;
            spec.splits = own.splits;
            spec.t = own.t;
            spec.sample = own.sample;
        }
        Analysis::Clid => {
            spec.clid = own.clid.clone();
            spec.discard = own.discard;
            spec.t = own.t;
            spec.sample = own.sample;
        }
        _ => {}
    }
}

/// The metrics of an analysis that are computed together with those of others.
fn shared(planned: &Planned) -> Vec<&'static Metric> {
    let is_shared = |metric: &&&Metric| planned.analysis != Analysis::Clid || SHARED_OF_CLID.contains(&metric.id);
    planned.metrics.iter().filter(is_shared).copied().collect()
}

/// An analysis by itself.
fn alone(planned: &Planned, inputs: &Inputs, driver: &Driver) -> Result<Results> {
    if let Some(retrieval) = &planned.retrieval {
        return Ok(retrieve(
            std::slice::from_ref(retrieval),
            &planned.metrics,
            &planned.spec,
            driver,
        )?);
    }
    if let Some(decoding) = &planned.decoding {
        return Ok(etes(decoding, &planned.metrics, &planned.spec, driver)?);
    }
    let noisy;
    let studies = match (&inputs.steps, planned.analysis, &planned.robustness) {
        (Some(steps), Analysis::Smoothness, _) => steps,
        (_, Analysis::Robustness, Some(options)) => {
            noisy = inputs.with_noise(options, driver)?;
            &noisy
        }
        _ => &inputs.studies,
    };
    let results = evaluate(studies, &shared(planned), &planned.spec, driver)?;
    complete(planned, &results, inputs, driver)
}

/// The part of an analysis in joint results, and what it computes by itself.
fn complete(planned: &Planned, joint: &Results, inputs: &Inputs, driver: &Driver) -> Result<Results> {
    let mut results = joint.clone();
    let own: Vec<&Metric> = {
        let shared: Vec<&str> = shared(planned).iter().map(|metric| metric.id).collect();
        planned
            .metrics
            .iter()
            .filter(|m| !shared.contains(&m.id))
            .copied()
            .collect()
    };
    if !own.is_empty() {
        let others = evaluate(&inputs.studies, &own, &planned.spec, driver)?;
        // Another analysis may have computed one of them with options of its own.
        let is_own = |name: &str| others.scores.iter().any(|score| score.metric == name);
        results.scores.retain(|score| !is_own(&score.metric));
        results.absorb(others);
    }
    let mut part = results.pick(&planned.metrics, classes(planned.analysis));
    if planned.analysis == Analysis::Clid {
        if let Some((performance, metrics)) = &planned.performance {
            relate(&mut part, metrics, performance, &planned.spec)?;
        }
        part.breakdowns.extend(inputs.studies.iter().map(clid::shape));
    }
    Ok(part)
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
    pub watcher: &'a dyn Progress,
}

impl Progress for Stage<'_> {
    fn begin(&self, stage: &str, steps: u64) {
        self.watcher
            .begin(&format!("{}/{} {stage}", self.number, self.of), steps);
    }

    fn advance(&self, steps: u64) {
        self.watcher.advance(steps);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::Sources;

    fn planned(analysis: Analysis, change: impl Fn(&mut Spec)) -> Planned {
        let mut spec = Spec::default();
        change(&mut spec);
        Planned {
            analysis,
            spec,
            metrics: analysis.metrics(),
            sources: Sources::default(),
            performance: None,
            retrieval: None,
            decoding: None,
            flat: None,
            robustness: None,
        }
    }

    fn names(groups: &[Group]) -> Vec<Vec<&str>> {
        let of = |group: &Group| group.members.iter().map(|p| p.analysis.name()).collect();
        groups.iter().map(of).collect()
    }

    #[test]
    fn analyses_whose_options_agree_are_computed_together() {
        let all = SWEEPING.map(|analysis| {
            planned(analysis, |spec| match analysis {
                Analysis::Neighborhood => spec.k = vec![3],
                // CLID's own number of clusters is not that of geometry.
                Analysis::Clid => spec.clusters = 10,
                _ => {}
            })
        });
        let groups = groups(all.into());
        assert_eq!(names(&groups), [["neighborhood", "manifold", "geometry", "clid"]]);
        assert_eq!((groups[0].spec.k.clone(), groups[0].spec.clusters), (vec![3], 5));
    }

    #[test]
    fn analyses_whose_options_differ_are_computed_apart() {
        let all = SWEEPING.map(|analysis| {
            planned(analysis, |spec| match analysis {
                Analysis::Manifold => spec.sample = Some(10),
                Analysis::Clid => spec.t = 3.0,
                _ => {}
            })
        });
        let expected: [&[&str]; 3] = [&["neighborhood", "geometry"], &["manifold"], &["clid"]];
        assert_eq!(names(&groups(all.into())), expected);
    }

    #[test]
    fn a_panic_is_an_error_of_its_analysis() {
        let error = guarded::<()>(|| Err(anyhow!("plain"))).unwrap_err();
        assert_eq!(error.to_string(), "plain");
        let error = guarded::<()>(|| std::panic::resume_unwind(Box::new("odd"))).unwrap_err();
        assert!(error.to_string().starts_with("internal error: odd"), "{error}");
    }
}
