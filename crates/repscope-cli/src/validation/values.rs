// SPDX-License-Identifier: MIT
//! What the claims look up: every score of every data set they speak of, and a few numbers made of scores.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use repscope_core::metrics::{accuracy_of_split, find};
use repscope_core::run::{Driver, Order};
use repscope_core::{
    ClidSpec, ClusterCount, Labels, Mcr2Spec, Performance, Results, Score, Space, Spec, Study, evaluate, relate,
};

use super::claim::Got;
use super::data::{Draw, Examples, numbers, product, random_sets, space, with_eigenvalues};

/// RankMe of the specification, and of the paper.
const SPEC: &str = "rankme(variant=spec)";
const PAPER: &str = "rankme(variant=paper)";
/// The metrics of a spectrum.
const RANKS: [&str; 6] = [
    "rankme",
    "numerical_rank",
    "participation_ratio",
    "stable_rank",
    "condition_number",
    "alpha_req",
];
/// What the roundings of a calculation may change.
const ROUNDING: f64 = 1e-9;
/// Columns that data of known rank and dimension lie in.
const COLUMNS: usize = 20;

/// What came out, by the names of data and value.
#[derive(Default)]
pub struct Values(BTreeMap<(String, String), Got>);

/// Computes everything.
pub fn compute(examples: &Examples) -> Result<Values> {
    let mut values = Values::default();
    of_examples(&mut values, examples)?;
    of_known_rank(&mut values)?;
    by_hand(&mut values)?;
    let sets = random_sets()?;
    ranges(&mut values, &sets)?;
    weighted(&mut values, &sets)?;
    changes(&mut values, &sets)?;
    repeats(&mut values, &sets)?;
    edge_cases(&mut values)?;
    Ok(values)
}

impl Values {
    /// What a claim speaks of.
    pub fn get(&self, of: &(String, String)) -> Result<Got> {
        let found = self.0.get(of);
        Ok(found.with_context(|| format!("a claim speaks of {of:?}"))?.clone())
    }

    fn put(&mut self, data: &str, name: &str, got: Got) {
        self.0.insert((data.to_string(), name.to_string()), got);
    }

    /// The scores of these metrics, with the rows that each is of and what is noted beside it.
    fn add(&mut self, data: &str, space: Space, metrics: &[&str], spec: &Spec) -> Result<()> {
        self.add_study(data, Study::new(data, space), metrics, spec)
    }

    fn add_study(&mut self, data: &str, study: Study, metrics: &[&str], spec: &Spec) -> Result<()> {
        for score in run(&[study], metrics, spec, Order::Parallel)?.scores {
            let id = &score.metric;
            self.put(data, &format!("rows of {id}"), Got::Number(score.n as f64));
            self.put(
                data,
                &format!("note of {id}"),
                Got::Words(score.note.clone().unwrap_or_default()),
            );
            self.put(data, id, Got::from(&score));
        }
        Ok(())
    }
}

/// The metrics with these names, of several models in any order of work.
fn run(studies: &[Study], metrics: &[&str], spec: &Spec, order: Order) -> Result<Results> {
    let mut found = Vec::new();
    for name in metrics {
        let Some((metric, _)) = find(name) else {
            bail!("there is no metric `{name}`");
        };
        found.push(metric);
    }
    Ok(evaluate(studies, &found, spec, &Driver::silent(order))?)
}

/// The CLID of the specification with this many clusters and voters.
fn clid(clusters: usize, k: usize) -> Spec {
    Spec {
        clid: ClidSpec {
            clusters: ClusterCount::Of(clusters),
            k,
            ..ClidSpec::ROBUST
        },
        ..Spec::default()
    }
}

/// The two files of the specification, and the blobs with their first 20 rows again.
fn of_examples(values: &mut Values, examples: &Examples) -> Result<()> {
    let spec = Spec::default();
    values.add("matrix", examples.matrix.clone(), &RANKS, &spec)?;
    values.add("blobs", examples.blobs.clone(), &["two_nn"], &spec)?;
    values.add("blobs", examples.blobs.clone(), &["clid"], &clid(3, 5))?;
    let columns = examples.blobs.columns();
    let blobs = |id: &str| values.get(&("blobs".to_string(), id.to_string()));
    let capped = blobs("clid.id")?.map(|id| (id / columns as f64).min(1.0));
    let step_8 = capped.clone().with(blobs("clid.id_normalized")?, |own, got| got - own);
    let sum = blobs("clid.cl")?.with(capped, |cl, id| cl + id);
    let step_9 = sum.with(blobs("clid")?, |own, got| got - own);
    values.put("blobs", "step 8", step_8);
    values.put("blobs", "step 9", step_9);
    let mut twice = numbers(&examples.blobs);
    twice.extend_from_within(..20 * columns);
    values.add(
        "the blobs with 20 rows twice",
        space(columns, twice)?,
        &["two_nn"],
        &spec,
    )
}

/// Spectra that are power laws, directions of known number, and cubes of known dimension.
fn of_known_rank(values: &mut Values) -> Result<()> {
    let spec = Spec::default();
    for (name, exponent, directions) in [("λ_i = 1/i", 1.0, 512), ("λ_i = i^−1.5", 1.5, 256)] {
        let eigenvalues: Vec<f64> = (1..=directions).map(|i| f64::from(i).powf(-exponent)).collect();
        values.add(
            name,
            space(eigenvalues.len(), with_eigenvalues(&eigenvalues))?,
            &RANKS,
            &spec,
        )?;
    }
    // Four rows of length 1 on each of seven directions, two forward and two back, so that their mean is 0. An eighth
    // direction is `mean` away from 0.
    for (name, mean) in [
        ("7 equal directions", 0.0),
        ("7 equal directions and a mean 1000 away", 1000.0),
    ] {
        let mut coordinates = Vec::new();
        for (axis, sign) in (0..7).flat_map(|axis| [1.0, -1.0, 1.0, -1.0].map(|sign| (axis, sign))) {
            let mut row = [0.0; 8];
            row[axis] = sign;
            row[7] = mean;
            coordinates.extend(row);
        }
        let rotated = product(&coordinates, 8, &Draw(701).directions(8, COLUMNS));
        values.add(name, space(COLUMNS, rotated)?, &RANKS, &spec)?;
    }
    // 30 rows, so that min(N, D) is 20.
    let along: Vec<f64> = (0..30).map(|i| f64::from(i) - 14.5).collect();
    let line = product(&along, 1, &Draw(702).directions(1, COLUMNS));
    values.add("a line", space(COLUMNS, line)?, &RANKS, &spec)?;
    let mut draw = Draw(703);
    let (left, right) = (draw.normals(60 * 5), draw.normals(5 * 30));
    values.add(
        "a product of rank 5",
        space(30, product(&left, 5, &right))?,
        &RANKS,
        &spec,
    )?;
    for d in [1, 2, 5] {
        let mut draw = Draw(710 + d as u64);
        let cube: Vec<f64> = (0..2000 * d).map(|_| draw.uniform()).collect();
        let rotated = product(&cube, d, &draw.directions(d, COLUMNS));
        values.add(&format!("a cube of {d}"), space(COLUMNS, rotated)?, &["two_nn"], &spec)?;
    }
    Ok(())
}

/// Examples small enough for a sheet of paper.
fn by_hand(values: &mut Values) -> Result<()> {
    let spec = Spec::default();
    // Four rows (±√2, 0), (0, ±1/√2): squared singular values 4 and 1, singular values 2 and 1.
    values.add(
        "two directions",
        space(2, with_eigenvalues(&[2.0, 0.5]))?,
        &RANKS,
        &spec,
    )?;
    let three = with_eigenvalues(&[1.0, 0.0101f64.powi(2), 0.0099f64.powi(2)]);
    values.add("three directions", space(3, three)?, &RANKS, &spec)?;
    // The two smallest distances are (1, 3), (1, 2), (2, 3) and (4, 6), the ratios 3, 2, 3/2 and 3/2. Sorted and without the
    // largest (int(0.9·4) = 3 are kept), the fit is of −ln(1 − i/4) on ln(3/2), ln(3/2) and ln 2.
    values.add("four points", space(1, vec![0.0, 1.0, 3.0, 7.0])?, &["two_nn"], &spec)?;
    // 0 and 1 train as a, 6 and 11 as b; 2 and 5 are tested and are both a.
    let points = space(1, vec![0.0, 1.0, 6.0, 11.0, 2.0, 5.0])?;
    let labels = Labels::new(&["a", "a", "b", "b", "a", "a"]);
    let trains = [true, true, true, true, false, false];
    for k in [1, 3] {
        let accuracy = accuracy_of_split(&points, &labels, &trains, k)?;
        values.put("six points", &format!("k = {k}"), Got::Number(accuracy));
    }
    // Six rows on one side and two on the other: k-means finds both, whatever the seed. Half of each trains.
    let sides = space(1, vec![1.0, 1.1, 1.2, 1.3, 1.4, 1.5, -5.0, -5.1])?;
    for k in [1, 3] {
        values.add(
            &format!("clusters of 6 and 2, k = {k}"),
            sides.clone(),
            &["clid"],
            &clid(2, k),
        )?;
    }
    // Of the six pairs four are sides with d² = 2, and two are diagonals with d² = 4.
    let corners = vec![1.0, 0.0, 0.0, 1.0, -1.0, 0.0, 0.0, -1.0];
    let mut rotated = corners.clone();
    rotated.rotate_left(2);
    let square = Study {
        view: Some(Arc::new(space(2, rotated)?)),
        ..Study::new("square", space(2, corners)?)
    };
    values.add_study("a square", square, &["uniformity", "alignment"], &spec)?;
    // N = 4, D = 2, ZᵀZ = 2·I, and each class has one eigenvalue 2. With eps = 0.5: D / (N·eps) = 1 and D / (n_j·eps) = 2.
    let mcr2 = Mcr2Spec {
        gamma1: 1.0,
        gamma2: 1.0,
        eps: 0.5,
    };
    let classes = Study {
        labels: Some(Arc::new(Labels::new(&["a", "a", "b", "b"]))),
        ..Study::new("classes", space(2, vec![1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0])?)
    };
    values.add_study("two classes", classes, &["mcr2"], &Spec { mcr2, ..spec })
}

/// The scores of each data set.
fn of_each(sets: &[Space], metrics: &[&str], spec: &Spec) -> Result<Vec<Results>> {
    let of = |set: &Space| run(&[Study::new("set", set.clone())], metrics, spec, Order::Parallel);
    sets.iter().map(of).collect()
}

/// The score of the only model.
fn got(results: &Results, id: &str) -> Got {
    let score = results.scores.iter().find(|score| score.metric == id);
    score.map_or_else(|| Got::Missing(format!("there is no score {id}")), Got::from)
}

/// Ranges and relations that hold whatever the data are.
fn ranges(values: &mut Values, sets: &[Space]) -> Result<()> {
    let learned = of_each(sets, &["clid"], &clid(4, 5))?;
    let ranks = of_each(sets, &RANKS, &Spec::default())?;
    for (all, ids) in [
        (&learned, &["clid.cl", "clid.id_normalized", "clid"][..]),
        (&ranks, &[SPEC, PAPER]),
    ] {
        for id in ids {
            values.put("all sets", id, Got::span(all.iter().map(|results| got(results, id))));
        }
    }
    // The largest share of its bound that a rank takes.
    let mut share = |name: &str, id: &str, bound: fn(f64) -> f64| {
        let shares = ranks.iter().zip(sets).map(|(results, set)| {
            let least = set.rows().min(set.columns()) as f64;
            got(results, id).map(|rank| rank / bound(least))
        });
        values.put("all sets", name, Got::span(shares));
    };
    share("share of min(N, D)", SPEC, |least| least);
    share("share of the paper's bound", PAPER, |least| {
        let sum = 1.0 + 1e-7 * least;
        (least / sum).powf(sum)
    });
    let order = ranks.iter().position(|results| {
        let rise = |lower: &str, upper: &str| match got(results, upper).with(got(results, lower), |up, low| up - low) {
            Got::Number(rise) => rise >= -ROUNDING,
            _ => false,
        };
        !(rise("stable_rank", "participation_ratio") && rise("participation_ratio", SPEC))
    });
    let order = order.map_or("in all 6 data sets".to_string(), |set| {
        format!("not in data set {}", set + 1)
    });
    values.put("all sets", "order of ranks", Got::Words(order));
    // On a grid of 20 × 20 points that are moved a little, first and second neighbor are nearly equally far.
    let mut draw = Draw(720);
    let grid = (0..400).flat_map(|i| [f64::from(i / 20), f64::from(i % 20)]);
    let moved = grid.map(|x| x + 0.05 * draw.normal()).collect();
    values.add("a jittered grid", space(2, moved)?, &["clid"], &clid(4, 5))
}

/// A study of each data set, under a name of its own.
fn studies(sets: &[Space]) -> Vec<Study> {
    let named = |(i, set): (usize, &Space)| Study::new(&format!("set {}", i + 1), set.clone());
    sets.iter().enumerate().map(named).collect()
}

/// Where performance is a linear function of CL and ID, models that were left out are predicted without error.
fn weighted(values: &mut Values, sets: &[Space]) -> Result<()> {
    let (studies, spec) = (studies(sets), clid(4, 5));
    let mut results = run(&studies, &["clid"], &spec, Order::Parallel)?;
    let value = |results: &Results, model: &str, id: &str| -> Result<Got> {
        let score: Option<&Score> = results.score(model, id);
        Ok(Got::from(score.with_context(|| format!("there is no score {id}"))?))
    };
    let mut of_model = Vec::new();
    for Study { model, .. } in &studies {
        let (cl, id) = (value(&results, model, "clid.cl")?, value(&results, model, "clid.id")?);
        if let Got::Number(performance) = cl.with(id, |cl, id| 0.2 + 0.5 * cl - 0.01 * id) {
            of_model.push((model.clone(), performance));
        }
    }
    let name = "accuracy".to_string();
    let performance = Performance { name, of_model };
    let (metric, _) = find("weighted_clid").context("there is no metric `weighted_clid`")?;
    relate(&mut results, &[metric], &performance, &spec)?;
    let mut errors = Vec::new();
    for (model, truth) in &performance.of_model {
        let predicted = value(&results, model, "weighted_clid.left_out")?;
        errors.push(predicted.map(|p| (p - truth).abs()));
    }
    values.put("all sets", "weighted_clid.left_out", Got::span(errors));
    Ok(())
}

/// How much rotating, scaling and shifting changes scores, as a share of them.
fn changes(values: &mut Values, sets: &[Space]) -> Result<()> {
    let metrics = [&RANKS[..], &["two_nn"]].concat();
    let before = of_each(sets, &metrics, &Spec::default())?;
    let mut draw = Draw(730);
    let mut rotated = |set: &Space| {
        let d = set.columns();
        product(&numbers(set), d, &draw.directions(d, d))
    };
    let each = |set: &Space, change: fn(f64) -> f64| numbers(set).into_iter().map(change).collect();
    type Way<'a> = (&'a str, &'a mut dyn FnMut(&Space) -> Vec<f64>);
    let ways: [Way; 4] = [
        ("rotated", &mut rotated),
        ("times 1e100", &mut |set| each(set, |x| 1e100 * x)),
        ("times 1e-100", &mut |set| each(set, |x| 1e-100 * x)),
        ("plus 1e6", &mut |set| each(set, |x| x + 1e6)),
    ];
    for (name, change) in ways {
        let changed = sets.iter().map(|set| space(set.columns(), change(set)));
        let after = of_each(&changed.collect::<Result<Vec<Space>>>()?, &metrics, &Spec::default())?;
        for id in [SPEC, PAPER, "two_nn"] {
            let both = before.iter().zip(&after);
            let shares = both.map(|(b, a)| got(b, id).with(got(a, id), |b, a| (a / b - 1.0).abs()));
            values.put(name, id, Got::span(shares));
        }
    }
    Ok(())
}

/// Whether another run, and another number of threads, give the same bits.
fn repeats(values: &mut Values, sets: &[Space]) -> Result<()> {
    let (studies, metrics) = (studies(sets), [&RANKS[..], &["two_nn", "clid"]].concat());
    for (data, steps) in [("preset robust", clid(4, 5).clid), ("preset paper", ClidSpec::PAPER)] {
        let spec = Spec {
            clid: steps,
            ..Spec::default()
        };
        let of = |order| run(&studies, &metrics, &spec, order);
        let first = of(Order::Parallel)?;
        values.put(data, "run twice", same_bits(&first, &of(Order::Parallel)?));
        values.put(
            data,
            "one thread and all threads",
            same_bits(&first, &of(Order::Serial)?),
        );
    }
    Ok(())
}

/// `the same bits`, or the first score that differs.
fn same_bits(a: &Results, b: &Results) -> Got {
    let bits = |score: &Score| score.value.map(f64::to_bits);
    let differs = a.scores.iter().zip(&b.scores).find(|(a, b)| bits(a) != bits(b));
    Got::Words(match differs {
        _ if a.scores.is_empty() || a.scores.len() != b.scores.len() => {
            format!("{} and {} scores", a.scores.len(), b.scores.len())
        }
        Some((score, _)) => format!("{} of {} differs", score.metric, score.model),
        None => "the same bits".to_string(),
    })
}

/// Data that have no answer, or only a part of one.
fn edge_cases(values: &mut Values) -> Result<()> {
    let metrics = [&RANKS[..], &["two_nn", "clid"]].concat();
    for (name, value) in [("equal embeddings", 3.0), ("zeros", 0.0)] {
        values.add(name, space(4, vec![value; 40 * 4])?, &metrics, &clid(3, 5))?;
    }
    // Twenty rows around 0, twenty around 10, and one row far out on either side: four clusters, two of them of one row.
    let mut rows: Vec<f64> = (0..40).map(|i| 10.0 * f64::from(i % 2) + 0.01 * f64::from(i)).collect();
    rows.extend([-1000.0, 1010.0]);
    let name = "two of four clusters have a single row";
    values.add(name, space(1, rows)?, &["clid"], &clid(4, 5))
}
