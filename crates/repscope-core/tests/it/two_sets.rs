// SPDX-License-Identifier: MIT
//! Two sets of rows and batches: how often the tests reject what is true, what intervals cover, and answers that are known.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::common::{Draw, MODEL, run, score, space, value};
use repscope_core::{Analysis, DriftSpec, Labels, MixingSpec, Reference, Spec, Study};

const COLUMNS: usize = 3;

/// Rows of groups of one size around a place of their own, which is as far as the groups are made different.
fn rows(draw: &mut Draw, groups: usize, size: usize, of_groups: f64, shift: f64) -> Vec<f64> {
    let mut values = Vec::new();
    for _ in 0..groups {
        let place = draw.normals(COLUMNS);
        for _ in 0..size {
            let row = place.iter().map(|p| of_groups * p + draw.normal());
            values.extend(row.enumerate().map(|(j, x)| if j == 0 { x + shift } else { x }));
        }
    }
    values
}

fn names(groups: usize, size: usize, first: &str) -> Labels {
    let name = |i: usize| format!("{first}{}", i / size);
    Labels::new(&(0..groups * size).map(name).collect::<Vec<String>>())
}

/// Two sets; the groups of one are not those of the other.
fn study(draw: &mut Draw, [new, old]: [usize; 2], size: usize, of_groups: f64, shift: f64, is_grouped: bool) -> Study {
    let (latent, reference) = (
        rows(draw, new, size, of_groups, shift),
        rows(draw, old, size, of_groups, 0.0),
    );
    let groups = |count, first| is_grouped.then(|| names(count, size, first));
    Study {
        episodes: groups(new, "new").map(Arc::new),
        reference: Some(Arc::new(Reference {
            embeddings: space("reference", COLUMNS, reference),
            groups: groups(old, "old"),
        })),
        ..Study::new(MODEL, space("latent", COLUMNS, latent))
    }
}

fn spec(permutations: usize) -> Spec {
    Spec {
        drift: DriftSpec {
            permutations,
            ..DriftSpec::default()
        },
        ..Spec::default()
    }
}

/// How often each p-value is at most 0.05 where both sets come from one distribution.
fn rejections(replicates: usize, size: usize, of_groups: f64, is_grouped: bool) -> BTreeMap<String, f64> {
    let mut counts: BTreeMap<String, f64> = BTreeMap::new();
    for replicate in 0..replicates {
        let mut draw = Draw::new(7000 + replicate as u64);
        let groups = if size == 1 { [14, 18] } else { [6, 6] };
        let study = study(&mut draw, groups, size, of_groups, 0.0, is_grouped);
        let own = Spec {
            seed: replicate as u64,
            ..spec(39)
        };
        for score in run(&study, &Analysis::Drift.metrics(), &own).scores {
            if score.metric.part() == "p" {
                let p = score.value.expect("a p-value");
                *counts.entry(score.metric.to_string()).or_default() += f64::from(u8::from(p <= 0.05 + 1e-9));
            }
        }
    }
    counts.values_mut().for_each(|count| *count /= replicates as f64);
    counts
}

#[test]
fn tests_of_one_distribution_reject_in_five_percent_of_all_draws() {
    // The exact rate is 2 / 40; of 1,000 draws, 0.0693 is 2.8 standard errors above it.
    for (size, of_groups, is_grouped) in [(1, 0.0, false), (3, 1.5, true)] {
        let found = rejections(1000, size, of_groups, is_grouped);
        assert_eq!(found.len(), 6);
        for (id, rate) in found {
            assert!(rate <= 0.06, "{id}: {rate} with groups of {size}");
        }
    }
    // Rows of a group that are taken to be independent look like drift.
    assert!(rejections(60, 3, 1.5, false)["energy_distance.p"] > 0.2);
}

/// How often the interval of each score holds the mean of all draws.
fn coverage(replicates: usize, of_draw: impl Fn(u64) -> (Study, Spec), analysis: Analysis) -> BTreeMap<String, f64> {
    let mut seen: BTreeMap<String, Vec<(f64, [f64; 2])>> = BTreeMap::new();
    for replicate in 0..replicates as u64 {
        let (study, spec) = of_draw(replicate);
        for score in run(&study, &analysis.metrics(), &spec).scores {
            if let (Some(value), Some(interval)) = (score.value, score.interval) {
                seen.entry(score.metric.to_string())
                    .or_default()
                    .push((value, interval));
            }
        }
    }
    let share = |all: &Vec<(f64, [f64; 2])>| {
        let mean = all.iter().map(|own| own.0).sum::<f64>() / all.len() as f64;
        all.iter()
            .filter(|(_, [low, high])| (*low..=*high).contains(&mean))
            .count() as f64
            / all.len() as f64
    };
    seen.iter().map(|(id, all)| (id.clone(), share(all))).collect()
}

#[test]
fn intervals_of_two_sets_cover() {
    for is_grouped in [false, true] {
        let of_draw = |replicate: u64| {
            let mut draw = Draw::new(9000 + replicate);
            let study = if is_grouped {
                study(&mut draw, [14, 16], 4, 0.5, 0.8, true)
            } else {
                study(&mut draw, [70, 90], 1, 0.0, 0.6, false)
            };
            (study, spec(0))
        };
        let found = coverage(200, of_draw, Analysis::Drift);
        assert_eq!(found.len(), 7);
        for (id, share) in found {
            // Of a binomial distribution of 200 draws at 0.9, 169 or fewer have a probability below 1 %.
            assert!(share >= 0.85, "{id}: {share}, grouped: {is_grouped}");
        }
    }
}

#[test]
fn intervals_of_mixing_cover() {
    for is_grouped in [false, true] {
        let of_draw = |replicate: u64| {
            let mut draw = Draw::new(9500 + replicate);
            let (groups, size) = if is_grouped { (30, 5) } else { (150, 1) };
            let latent = rows(&mut draw, groups, size, if is_grouped { 0.7 } else { 0.0 }, 0.0);
            // Rows with a large first coordinate are more often of the second batch.
            let batches = (0..150)
                .map(|i| u32::from(latent[i * COLUMNS] + 1.5 * draw.normal() > 0.0))
                .collect();
            let study = Study {
                labels: Some(Arc::new(Labels::from_codes((0..150).map(|i| i % 2).collect(), 2))),
                batches: Some(Arc::new(Labels::from_codes(batches, 2))),
                episodes: is_grouped.then(|| Arc::new(names(groups, size, "g"))),
                ..Study::new(MODEL, space("latent", COLUMNS, latent))
            };
            let mixing = MixingSpec {
                k: 15,
                perplexity: 10.0,
                permutations: 0,
                ..MixingSpec::default()
            };
            (
                study,
                Spec {
                    mixing,
                    ..Spec::default()
                },
            )
        };
        let found = coverage(200, of_draw, Analysis::Mixing);
        assert_eq!(found.len(), 4);
        for (id, share) in found {
            assert!(share >= 0.85, "{id}: {share}, grouped: {is_grouped}");
        }
    }
}

#[test]
fn a_set_far_away_is_found_by_every_test() {
    let study = study(&mut Draw::new(1), [30, 40], 1, 0.0, 50.0, false);
    for id in [
        "mmd.p(kernel=rbf)",
        "mmd.p(kernel=multi)",
        "mmd.p(kernel=polynomial)",
        "energy_distance.p",
        "frechet_distance.p",
        "knn_two_sample.p@5",
    ] {
        assert_eq!(value(&study, id, &spec(99)), 0.01, "{id}");
    }
    assert_eq!(value(&study, "knn_two_sample@5", &spec(0)), 1.0);
    assert_eq!(value(&study, "knn_two_sample.balanced@5", &spec(0)), 1.0);
    let moved = value(&study, "frechet_distance.means", &spec(0));
    assert!((moved - 2500.0).abs() < 100.0, "{moved}");
}

#[test]
fn two_groups_against_two_have_no_small_p_value_and_a_note_says_why() {
    let study = study(&mut Draw::new(2), [2, 2], 10, 0.0, 50.0, true);
    let p = score(&study, "energy_distance.p", &spec(999));
    // 6 assignments, of which that of the data and its mirror image are as far apart.
    assert!(p.value.is_some_and(|p| p > 0.3 && p < 0.37), "{p:?}");
    assert!(p.note.is_some_and(|note| note.contains("6 ways only")));
}

#[test]
fn a_group_in_both_sets_is_one_group() {
    let mut study = study(&mut Draw::new(3), [10, 10], 4, 5.0, 0.0, true);
    let shared = names(10, 4, "both");
    study.episodes = Some(Arc::new(shared.clone()));
    let reference = study.reference.take().expect("a reference");
    study.reference = Some(Arc::new(Reference {
        groups: Some(shared),
        ..(*reference).clone()
    }));
    let found = score(&study, "energy_distance", &spec(99));
    assert_eq!(found.effects.expect("effects").len(), 10);
}

#[test]
fn groups_of_one_set_alone_are_refused() {
    let mut study = study(&mut Draw::new(4), [4, 4], 5, 0.0, 0.0, true);
    study.episodes = None;
    let error = study.check().expect_err("groups of the reference alone").to_string();
    assert!(error.contains("give both, or none"), "{error}");
}

#[test]
fn batches_that_are_apart_are_one_in_each_neighborhood() {
    let mut draw = Draw::new(5);
    let latent: Vec<f64> = (0..200)
        .flat_map(|i| [100.0 * f64::from(i % 2) + draw.normal(), draw.normal()])
        .collect();
    let study = Study {
        batches: Some(Arc::new(Labels::from_codes((0..200).map(|i| i % 2).collect(), 2))),
        ..Study::new(MODEL, space("latent", 2, latent))
    };
    assert!((value(&study, "ilisi", &Spec::default()) - 1.0).abs() < 1e-9);
    assert_eq!(value(&study, "kbet@50", &Spec::default()), 0.0);
    let chance = score(&study, "ilisi", &Spec::default()).chance.expect("a chance level");
    assert!(chance > 1.9 && chance <= 2.0, "{chance}");
}

#[test]
fn batches_that_are_groups_cannot_be_told_from_them() {
    let mut draw = Draw::new(6);
    let groups = Arc::new(names(6, 10, "g"));
    let study = Study {
        batches: Some(groups.clone()),
        episodes: Some(groups),
        ..Study::new(MODEL, space("latent", COLUMNS, rows(&mut draw, 6, 10, 2.0, 0.0)))
    };
    let found = score(&study, "ilisi", &Spec::default());
    assert!((found.chance.expect("a chance level") - found.value.expect("a value")).abs() < 1e-12);
    assert!(found.note.is_some_and(|note| note.contains("every batch is one group")));
}

#[test]
fn moments_that_one_row_decides_have_no_interval() {
    let mut draw = Draw::new(91);
    let mut latent = draw.normals(60 * COLUMNS);
    latent[0] = 1e4;
    let study = Study {
        reference: Some(Arc::new(Reference {
            embeddings: space("reference", COLUMNS, draw.normals(50 * COLUMNS)),
            groups: None,
        })),
        ..Study::new(MODEL, space("latent", COLUMNS, latent))
    };
    for id in ["mmd(kernel=polynomial)", "frechet_distance"] {
        let found = score(&study, id, &spec(39));
        assert!(found.value.is_some() && found.interval.is_none(), "{found:?}");
        let note = found.note.expect("a reason");
        assert!(
            note.contains("no interval: heavy tails: one of 110 rows makes up"),
            "{note}"
        );
    }
    // What a row does to a bounded kernel is bounded.
    assert!(score(&study, "mmd(kernel=rbf)", &spec(39)).interval.is_some());
}
