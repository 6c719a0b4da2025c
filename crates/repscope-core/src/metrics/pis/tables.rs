// SPDX-License-Identifier: MIT
//! The scores as tables: one line for each head and set, and one for each class.

use super::Impact;
use super::mcnemar::p_value;
use crate::perturb::{Perturbed, Tally};
use crate::score::{Breakdown, NameColumn, NumberColumn};

/// All heads and sets.
pub(super) fn summary(impacts: &[Impact]) -> Breakdown {
    let names = |name: &str, of: &dyn Fn(&Impact) -> String| NameColumn {
        name: name.to_string(),
        values: impacts.iter().map(of).collect(),
    };
    let numbers = |name: &str, of: &dyn Fn(&Impact) -> Option<f64>| NumberColumn {
        name: name.to_string(),
        values: impacts.iter().map(|i| of(i).filter(|x| x.is_finite())).collect(),
    };
    let nominal = |i: &Impact| i.set.percent / 100.0;
    let end = |i: &Impact, which: usize| {
        let interval = i.tally.interval(i.level)?;
        Some([interval.low, interval.high][which] / nominal(i))
    };
    Breakdown {
        model: String::new(),
        metric: "pis".into(),
        keys: vec![
            names("head", &|i| i.judged.name.to_string()),
            names("family", &|i| i.set.family.clone()),
            names("set", &|i| i.set.name.clone()),
        ],
        columns: vec![
            numbers("percent", &|i| Some(i.set.percent)),
            numbers("masked_lit", &|i| i.set.masked_lit),
            numbers("masked_all", &|i| i.set.masked_all),
            numbers("samples", &|i| Some(i.tally.n as f64)),
            numbers("baseline", &|i| Some(i.tally.accuracy_before())),
            numbers("accuracy", &|i| Some(i.tally.accuracy_after())),
            numbers("lost", &|i| Some(i.tally.lost as f64)),
            numbers("gained", &|i| Some(i.tally.gained as f64)),
            numbers("drop", &|i| Some(i.tally.drop())),
            numbers("relative", &|i| Some(i.relative()?.0)),
            numbers("pis", &|i| Some(i.tally.drop() / nominal(i))),
            numbers("pis_low", &|i| end(i, 0)),
            numbers("pis_high", &|i| end(i, 1)),
            numbers("pis_lit", &|i| Some(i.tally.drop() / i.set.masked_lit?)),
            numbers("pis_all", &|i| Some(i.tally.drop() / i.set.masked_all?)),
            numbers("p", &|i| Some(p_value(i.tally.lost, i.tally.gained))),
        ],
    }
}

/// The samples of each class of each head by themselves.
pub(super) fn by_class(perturbed: &Perturbed, impact: &Impact, right: &[bool]) -> Breakdown {
    let mut keys = [Vec::new(), Vec::new()];
    let mut tallies: Vec<Tally> = Vec::new();
    for head in &perturbed.data.heads {
        let mut of_head = vec![Tally::default(); head.classes.len()];
        let pairs = impact.judged.baseline.iter().zip(right);
        for (&label, (&before, &after)) in head.labels.iter().zip(pairs) {
            of_head[label as usize].add(before, after);
        }
        keys[0].extend(std::iter::repeat_n(head.name.clone(), head.classes.len()));
        keys[1].extend(head.classes.iter().cloned());
        tallies.extend(of_head);
    }
    let share = impact.set.percent / 100.0;
    let column = |name: &str, of: &dyn Fn(&Tally) -> Option<f64>| NumberColumn {
        name: name.to_string(),
        values: tallies.iter().map(|t| of(t).filter(|x| x.is_finite())).collect(),
    };
    let [heads, classes] = keys;
    let key = |name: &str, values| NameColumn {
        name: name.to_string(),
        values,
    };
    let is_there = |t: &Tally| (t.n > 0).then_some(());
    Breakdown {
        model: String::new(),
        metric: impact.id("").into(),
        keys: vec![key("head", heads), key("class", classes)],
        columns: vec![
            column("samples", &|t| Some(t.n as f64)),
            column("baseline", &|t| is_there(t).map(|()| t.accuracy_before())),
            column("accuracy", &|t| is_there(t).map(|()| t.accuracy_after())),
            column("drop", &|t| is_there(t).map(|()| t.drop())),
            column("pis", &|t| is_there(t).map(|()| t.drop() / share)),
            column("pis_low", &|t| Some(t.interval(impact.level)?.low / share)),
            column("pis_high", &|t| Some(t.interval(impact.level)?.high / share)),
            column("p", &|t| is_there(t).map(|()| p_value(t.lost, t.gained))),
        ],
    }
}
