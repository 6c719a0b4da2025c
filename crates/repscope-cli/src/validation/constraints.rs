// SPDX-License-Identifier: MIT
//! Ranges and relations that hold whatever the data are.

use anyhow::{Context, Result};
use repscope_core::metrics::find;
use repscope_core::run::Order;
use repscope_core::{Performance, Results, Space, Spec, Study, relate};

use super::Group;
use super::claim::Evidence::{Construction, Proof};
use super::claim::{Claim, Expected, Got, PAPER, RANKS, SPEC, Scores, between, clid, exactly, of_each, run};
use super::data::{Draw, random_sets, space};
use super::references::{CLID, DOCUMENT_002, EFFECTIVE_RANK, ENTROPIES, RANK_ME, TWO_NN};

/// What the roundings of a calculation may change.
const ROUNDING: f64 = 1e-9;

pub fn group() -> Result<Group> {
    let sets = random_sets()?;
    let mut claims = ranges(&sets)?;
    claims.extend(cap()?);
    claims.extend(weighted(&sets)?);
    Ok(Group {
        title: "Ranges and constraints",
        about: "Smallest and largest value over six random data sets: normal, uniform, heavy tails, four clusters, low rank \
                with noise, and fewer rows than columns.",
        claims,
    })
}

fn ranges(sets: &[Space]) -> Result<Vec<Claim>> {
    let learned: Vec<Scores> = of_each(sets, &["clid"], &clid(4, 5))?;
    let ranks: Vec<Scores> = of_each(sets, RANKS, &Spec::default())?;
    let span = |of: &[Scores], id: &str| Got::span(of.iter().map(|scores| scores.got(id)));
    // The largest share of its bound that a rank takes.
    let share = |id: &str, bound: fn(f64) -> f64| {
        Got::span(ranks.iter().zip(sets).map(|(scores, set)| {
            let least = set.rows().min(set.columns()) as f64;
            scores.got(id).map(|rank| rank / bound(least))
        }))
    };
    let order = ranks.iter().position(|scores| {
        let rise = |lower: &str, upper: &str| match scores.got(upper).with(scores.got(lower), |up, low| up - low) {
            Got::Number(rise) => rise >= -ROUNDING,
            _ => false,
        };
        !(rise("stable_rank", "participation_ratio") && rise("participation_ratio", SPEC))
    });
    Ok(vec![
        Claim::new("CL")
            .expect(between(0.0, 1.0), span(&learned, "clid.cl"))
            .since(Proof, &[DOCUMENT_002])
            .because("A share of rows."),
        Claim::new("ID_normalized")
            .expect(between(0.0, 1.0), span(&learned, "clid.id_normalized"))
            .since(Proof, &[DOCUMENT_002])
            .because("A dimension above 0, divided by D and capped at 1."),
        Claim::new("CLID")
            .expect(between(0.0, 2.0), span(&learned, "clid"))
            .since(Proof, &[DOCUMENT_002])
            .because("The sum of two numbers from 0 to 1."),
        Claim::new("RankMe (document)")
            .expect(between(1.0, f64::INFINITY), span(&ranks, SPEC))
            .since(Proof, &[EFFECTIVE_RANK])
            .because("Entropies are not negative."),
        Claim::new("RankMe (document) as a share of min(N, D)")
            .expect(between(0.0, 1.0), share(SPEC, |least| least))
            .since(Proof, &[EFFECTIVE_RANK])
            .because("m shares have at most the entropy ln m."),
        Claim::new("RankMe (paper)")
            .expect(between(1.0, f64::INFINITY), span(&ranks, PAPER))
            .since(Proof, &[RANK_ME])
            .because("Entropies are not negative; with two shares or more the paper's 1e-7 adds to them."),
        Claim::new("RankMe (paper) as a share of its bound")
            .expect(
                between(0.0, 1.0),
                share(PAPER, |least| {
                    let sum = 1.0 + 1e-7 * least;
                    (least / sum).powf(sum)
                }),
            )
            .since(Proof, &[RANK_ME])
            .because(
                "The shares add up to S = 1 + 1e-7·m, m = min(N, D). Equal shares S/m are the worst case \
                 and give (m/S)^S, a little above m.",
            ),
        Claim::new("stable rank ≤ participation ratio ≤ RankMe (document)")
            .expect(
                Expected::Words("in all 6 data sets"),
                Got::Words(match order {
                    None => "in all 6 data sets".to_string(),
                    Some(set) => format!("not in data set {}", set + 1),
                }),
            )
            .since(Proof, &[ENTROPIES])
            .because(
                "They are the exponentials of Rényi's entropies of order ∞, 2 and 1 of the same shares, \
                 which rise as the order falls.",
            ),
    ])
}

/// On a grid of 20 × 20 points that are moved a little, first and second neighbour are nearly equally far.
fn cap() -> Result<Vec<Claim>> {
    let mut draw = Draw(720);
    let grid = (0..400).flat_map(|i| [f64::from(i / 20), f64::from(i % 20)]);
    let moved = grid.map(|x| x + 0.05 * draw.normal()).collect();
    let scores = Scores::of(space(2, moved)?, &["clid"], &clid(4, 5))?;
    let because = "Ratios r2 / r1 near 1 mean a high dimension: nearly regular points are the known weakness of TwoNN.";
    Ok(vec![
        Claim::new("ID of a jittered grid in 2 columns")
            .expect(between(4.0, f64::INFINITY), scores.got("clid.id"))
            .since(Construction, &[TWO_NN])
            .because(because),
        Claim::new("ID_normalized of a jittered grid in 2 columns")
            .expect(exactly(1.0), scores.got("clid.id_normalized"))
            .since(Proof, &[DOCUMENT_002])
            .because("Step 8 of the document: min(ID / D, 1)."),
    ])
}

/// Where performance is a straight function of CL and ID, models that were left out are predicted without error.
fn weighted(sets: &[Space]) -> Result<Vec<Claim>> {
    let names: Vec<String> = (1..=sets.len()).map(|i| format!("set {i}")).collect();
    let studies: Vec<Study> = names
        .iter()
        .zip(sets)
        .map(|(n, set)| Study::new(n, set.clone()))
        .collect();
    let spec = clid(4, 5);
    let mut results = run(&studies, &["clid"], &spec, Order::Parallel)?;
    let value = |results: &Results, name: &str, id: &str| {
        let score = results
            .score(name, id)
            .with_context(|| format!("there is no score {id}"))?;
        Ok::<Got, anyhow::Error>(Got::from(score))
    };
    let mut of_model = Vec::new();
    for name in &names {
        let both = value(&results, name, "clid.cl")?
            .with(value(&results, name, "clid.id")?, |cl, id| 0.2 + 0.5 * cl - 0.01 * id);
        let Got::Number(performance) = both else { continue };
        of_model.push((name.clone(), performance));
    }
    let performance = Performance {
        name: "accuracy".to_string(),
        of_model,
    };
    let (metric, _) = find("weighted_clid").context("there is no metric `weighted_clid`")?;
    relate(&mut results, &[metric], &performance, &spec)?;
    let mut errors = Vec::new();
    for (name, truth) in &performance.of_model {
        let predicted = value(&results, name, "weighted_clid.left_out")?;
        errors.push(predicted.map(|p| (p - truth).abs()));
    }
    Ok(vec![
        Claim::new("error of weighted CLID for a model left out, performance 0.2 + 0.5·CL − 0.01·ID")
            .expect(between(0.0, ROUNDING), Got::span(errors))
            .since(Proof, &[CLID])
            .because("A plane through the other five models is the same plane, so it passes through the sixth."),
    ])
}
