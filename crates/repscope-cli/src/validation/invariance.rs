// SPDX-License-Identifier: MIT
//! What must not change an answer: turning, scaling and shifting the codes, another run, another number of threads.

use anyhow::Result;
use repscope_core::run::Order;
use repscope_core::{ClidSpec, Results, Space, Spec, Study};

use super::Group;
use super::claim::Evidence::Proof;
use super::claim::{Claim, Expected, Got, PAPER, RANKS, SPEC, Scores, between, clid, of_each, run};
use super::data::{Draw, numbers, product, random_sets, space};
use super::references::{DOCUMENT_002, EFFECTIVE_RANK, RANK_ME, TWO_NN};

/// What turning and scaling in floating point may change, as a share.
const ROUNDING: f64 = 1e-9;
/// The same for a large shift, which rounds the codes.
const SHIFTED: f64 = 1e-6;

pub fn group() -> Result<Group> {
    let sets = random_sets()?;
    let mut claims = invariances(&sets)?;
    claims.extend(repeats(&sets)?);
    Ok(Group {
        title: "Invariance and repeatability",
        about: "Smallest and largest change over the same data sets, as a share of the value.",
        claims,
    })
}

fn invariances(sets: &[Space]) -> Result<Vec<Claim>> {
    let metrics = [RANKS, &["two_nn"]].concat();
    let before: Vec<Scores> = of_each(sets, &metrics, &Spec::default())?;
    let changed = |change: &mut dyn FnMut(&Space) -> Vec<f64>| -> Result<Vec<Scores>> {
        let sets: Result<Vec<Space>> = sets.iter().map(|set| space(set.columns(), change(set))).collect();
        of_each(&sets?, &metrics, &Spec::default())
    };
    let mut draw = Draw(730);
    let turned = changed(&mut |set| {
        let d = set.columns();
        product(&numbers(set), d, &draw.directions(d, d))
    })?;
    let large = changed(&mut |set| numbers(set).iter().map(|x| 1e100 * x).collect())?;
    let small = changed(&mut |set| numbers(set).iter().map(|x| 1e-100 * x).collect())?;
    let shifted = changed(&mut |set| numbers(set).iter().map(|x| x + 1e6).collect())?;
    let change = |after: &[Scores], id: &str| {
        let both = before.iter().zip(after);
        Got::span(both.map(|(b, a)| b.got(id).with(a.got(id), |b, a| (a / b - 1.0).abs())))
    };
    let turn = "Turning the codes leaves singular values and distances as they are.";
    let scale = "Scaling the codes leaves shares of singular values and ratios of distances as they are.";
    let mut claims = Vec::new();
    for (name, id, cites) in [
        ("RankMe (document)", SPEC, &[EFFECTIVE_RANK][..]),
        ("RankMe (paper)", PAPER, &[RANK_ME]),
        ("TwoNN", "two_nn", &[TWO_NN]),
    ] {
        for (what, after, because) in [
            ("turned", &turned, turn),
            ("times 1e100", &large, scale),
            ("times 1e-100", &small, scale),
        ] {
            claims.push(
                Claim::new(format!("change of {name}, codes {what}"))
                    .expect(between(0.0, ROUNDING), change(after, id))
                    .since(Proof, cites)
                    .because(because),
            );
        }
    }
    let shift = "A shift moves no point against another; adding 1e6 rounds at 1e-10, a hundred-millionth of the narrowest \
                 spread.";
    claims.extend([
        Claim::new("change of RankMe (document), 1e6 added to all codes")
            .expect(between(0.0, SHIFTED), change(&shifted, SPEC))
            .since(Proof, &[EFFECTIVE_RANK])
            .because(shift),
        Claim::new("change of TwoNN, 1e6 added to all codes")
            .expect(between(0.0, SHIFTED), change(&shifted, "two_nn"))
            .since(Proof, &[TWO_NN])
            .because(shift),
        Claim::new("change of RankMe (paper), 1e6 added to all codes")
            .expect(between(0.5, 1.0), change(&shifted, PAPER))
            .since(Proof, &[RANK_ME])
            .because("The paper does not centre: the mean is a direction of its own, and here nearly the only one."),
    ]);
    Ok(claims)
}

fn repeats(sets: &[Space]) -> Result<Vec<Claim>> {
    let studies: Vec<Study> = sets
        .iter()
        .enumerate()
        .map(|(i, set)| Study::new(&format!("set {}", i + 1), set.clone()))
        .collect();
    let presets = [("spec", clid(4, 5).clid), ("paper", ClidSpec::PAPER)];
    let metrics = [RANKS, &["two_nn", "clid"]].concat();
    let mut claims = Vec::new();
    for (name, steps) in presets {
        let spec = Spec {
            clid: steps,
            ..Spec::default()
        };
        let first = run(&studies, &metrics, &spec, Order::Parallel)?;
        let again = run(&studies, &metrics, &spec, Order::Parallel)?;
        let serial = run(&studies, &metrics, &spec, Order::Serial)?;
        let because = "Random choices come from the seed alone, and partial results are added in a fixed order.";
        claims.extend([
            Claim::new(format!("preset `{name}` and all ranks, run twice"))
                .expect(Expected::Words("the same bits"), same_bits(&first, &again))
                .since(Proof, &[DOCUMENT_002])
                .because(because),
            Claim::new(format!("preset `{name}` and all ranks, one thread and all threads"))
                .expect(Expected::Words("the same bits"), same_bits(&first, &serial))
                .since(Proof, &[DOCUMENT_002])
                .because(because),
        ]);
    }
    Ok(claims)
}

/// `the same bits`, or the first score that differs.
fn same_bits(a: &Results, b: &Results) -> Got {
    let bits =
        |results: &Results| -> Vec<Option<u64>> { results.scores.iter().map(|s| s.value.map(f64::to_bits)).collect() };
    let (left, right) = (bits(a), bits(b));
    let differs = left.iter().zip(&right).position(|(a, b)| a != b);
    Got::Words(match differs {
        _ if left.is_empty() || left.len() != right.len() => {
            format!("{} and {} scores", left.len(), right.len())
        }
        Some(at) => format!("{} of {} differs", a.scores[at].metric, a.scores[at].model),
        None => "the same bits".to_string(),
    })
}
