// SPDX-License-Identifier: MIT
//! Whether neighborhoods mix the batches that rows come from: iLISI, CiLISI and kBET. See the pages.

use super::{Analysis, Invariance, Metric, MetricId, Output, Results, Takes, Work};
use crate::data::{Labels, Study};
use crate::error::{Result, counted};
use crate::kernels::mixing::{Assignments, Mixed, Neighborhoods, fitting, looked_at};
use crate::kernels::prepared::{Preparation, Prepared};
use crate::kernels::tiles::{Anchors, Ask, sweep};
use crate::kernels::together::Together;
use crate::plan::{Key, Need, Shared};
use crate::run::{Driver, Order};
use crate::score::{Breakdown, Interval, Score};
use crate::stats::interval::{self, Units};

/// What the metrics share.
const fn of_batches(takes: &'static [Takes], work: Work) -> Metric {
    Metric {
        // Which rows get which batch at random depends on their order, so the chance level does.
        invariances: &[Invariance::Rotation, Invariance::Shift, Invariance::Scale],
        ..Metric::of(Analysis::Mixing, takes, work)
    }
}

const ILISI_MEAN: Output = Output::neither("ilisi", "1 and above")
    .about("how many batches the neighborhood of a row holds in effect, mean over rows; higher is better mixed");
const ILISI_SCALED: Output = Output::neither("ilisi.scaled", "0 to 1")
    .about("the same from 0, one batch, to 1, all batches alike")
    .function_of("ilisi");
const ILISI_MEDIAN: Output =
    Output::neither("ilisi.median", "1 and above").about("the same, median over rows, as Harmony and scib report it");

pub(super) static ILISI: Metric = Metric {
    id: "ilisi",
    title: "iLISI",
    outputs: &[ILISI_MEAN, ILISI_SCALED, ILISI_MEDIAN],
    page: include_str!("ilisi.md"),
    options: &["perplexity", "permutations"],
    ..of_batches(
        &[Takes::Embeddings, Takes::Batches],
        Work::Study {
            needs: |spec, study| Ok(needs(study, looked_at(spec.mixing.perplexity, study.embeddings.rows()))),
            compute: ilisi,
        },
    )
};

const CILISI_MEAN: Output = Output::neither("cilisi", "0 to 1")
    .about("mixing of batches among the rows of each class, from 0 to 1, mean over rows; higher is better mixed");
const CILISI_CLASSES: Output =
    Output::neither("cilisi.classes", "0 to 1").about("the same, mean over classes, each counting once");

pub(super) static CILISI: Metric = Metric {
    id: "cilisi",
    title: "CiLISI",
    outputs: &[CILISI_MEAN, CILISI_CLASSES],
    page: include_str!("cilisi.md"),
    options: &["perplexity", "permutations"],
    ..of_batches(
        &[Takes::Embeddings, Takes::Labels, Takes::Batches],
        Work::Study {
            needs: |_, _| Ok(Vec::new()),
            compute: cilisi,
        },
    )
};

const ACCEPTED: Output = Output::neither("kbet@K", "0 to 1")
    .about("share of rows whose K nearest hold the batches as all rows do; higher is better mixed");

pub(super) static KBET: Metric = Metric {
    id: "kbet",
    title: "kBET acceptance rate",
    outputs: &[ACCEPTED],
    page: include_str!("kbet.md"),
    options: &["k", "significance", "permutations"],
    ..of_batches(
        &[Takes::Embeddings, Takes::Batches],
        Work::Study {
            needs: |spec, study| {
                Ok(if spec.mixing.k < study.embeddings.rows() {
                    needs(study, spec.mixing.k)
                } else {
                    Vec::new()
                })
            },
            compute: kbet,
        },
    )
};

/// The neighbors of all rows, where there is something to be said.
fn needs(study: &Study, k: usize) -> Vec<Need> {
    let is_due = batches(study).is_ok() && k > 0;
    is_due
        .then_some(Need::Neighbors { of: Key::RAW, k })
        .into_iter()
        .collect()
}

/// The batches, or why nothing can be said.
fn batches(study: &Study) -> std::result::Result<Labels, String> {
    let Some(batches) = study.batches.as_deref() else {
        return Err("there are no batches".to_string());
    };
    let present = batches.by_appearance();
    if present.classes() < 2 {
        return Err("all rows are of one batch: there is nothing to mix".to_string());
    }
    if study.embeddings.rows() < FEWEST {
        let rows = counted(study.embeddings.rows(), "row");
        return Err(format!("{rows} have no neighborhoods: at least {FEWEST} are needed"));
    }
    Ok(present)
}

/// Fewer rows than this have no neighborhoods; also of a class, as the authors of CiLISI have it.
const FEWEST: usize = 10;

/// The draws of batches, and what a reader must know of them.
fn draws(batches: &Labels, shared: &Shared, within: Option<&[u32]>) -> (Vec<Vec<u32>>, Option<String>) {
    let assignments = Assignments::new(batches.codes(), shared.study.episodes.as_deref(), within);
    let draw = |number| assignments.draw(batches.codes(), shared.spec.seed, number);
    let note = assignments.only_rename(batches.classes()).then(|| {
        "every batch is one group, so the data do not tell batches from groups: chance is the value itself".to_string()
    });
    ((0..shared.spec.mixing.permutations).map(draw).collect(), note)
}

fn chance(mixed: &Mixed) -> Option<f64> {
    (!mixed.by_chance.is_empty()).then(|| interval::mean(&mixed.by_chance))
}

fn with(score: Score, chance: Option<f64>, notes: &[Option<String>]) -> Score {
    let score = match chance {
        Some(chance) => score.with_chance(chance),
        None => score,
    };
    notes
        .iter()
        .flatten()
        .fold(score, |score, note| score.with_note(note.clone()))
}

/// The effects of rows on a mean over queries: their own values, and what they do as neighbors.
fn effects(mixed: &Mixed) -> Vec<f64> {
    let (mean, n) = (interval::mean(&mixed.values), mixed.values.len() as f64);
    let mut effects: Vec<f64> = mixed.values.iter().map(|value| (value - mean) / n).collect();
    mixed.together.add_to(&mut effects);
    effects
}

/// What pairs of groups do counts once. A single row has so little weight in a neighborhood that its pairs hardly count.
fn of_groups_once(interval: Interval, together: &Together, value: f64, units: Units) -> Interval {
    match units {
        Units::Groups(..) => together.once(interval, value, 1.0),
        Units::Single(_) => interval,
    }
}

fn ilisi(shared: &Shared) -> Result<Results> {
    let rows = shared.study.embeddings.rows();
    let batches = match batches(shared.study) {
        Ok(batches) => batches,
        Err(reason) => return Ok(ILISI.undefined(reason, rows)),
    };
    let wanted = shared.spec.mixing.perplexity;
    let count = looked_at(wanted, rows);
    let perplexity = fitting(wanted, count);
    let (drawn, renamed) = draws(&batches, shared, None);
    let neighborhoods = Neighborhoods {
        neighbors: shared.neighbors(Key::RAW, count)?,
        anchors: shared.anchors(),
        batches: batches.codes(),
        classes: batches.classes(),
        units: shared.row_units(),
        draws: &drawn,
    };
    let mixed = neighborhoods.lisi(count, perplexity, &Driver::silent(Order::Parallel));
    let (value, n, most) = (
        interval::mean(&mixed.values),
        mixed.values.len(),
        batches.classes() as f64,
    );
    let reduced = (perplexity < wanted).then(|| format!("perplexity {perplexity:.1}, as there are {rows} rows"));
    let notes = [
        Some(format!(
            "{} batches, so at most {}",
            batches.classes(),
            batches.classes()
        )),
        reduced,
        renamed,
    ];
    let interval = interval::of_influence(value, &effects(&mixed), shared.units(), shared.spec.level);
    let interval = interval
        .map(|own| of_groups_once(own, &mixed.together, value, shared.row_units()).on_logit_scale(value, [1.0, most]));
    let scaled = |x: f64| (x - 1.0) / (most - 1.0);
    let of_scaled = interval.clone().map(|own| own.shifted(-1.0).times(1.0 / (most - 1.0)));
    let by_chance = chance(&mixed);
    let mut sorted = mixed.values.clone();
    sorted.sort_unstable_by(f64::total_cmp);
    let median = f64::midpoint(sorted[(n - 1) / 2], sorted[n / 2]);
    Ok([
        with(
            Score::number(&ILISI_MEAN, value, n).with_interval(interval),
            by_chance,
            &notes,
        ),
        with(
            Score::number(&ILISI_SCALED, scaled(value), n).with_interval(of_scaled),
            by_chance.map(scaled),
            &notes[1..],
        ),
        Score::number(&ILISI_MEDIAN, median, n),
    ]
    .into_iter()
    .collect())
}

/// The rows of one class, measured among themselves.
struct OfClass {
    name: String,
    rows: Vec<usize>,
    batches: usize,
    /// One less than its batches: values are in this unit.
    width: f64,
    mixed: Mixed,
}

fn cilisi(shared: &Shared) -> Result<Results> {
    let (study, rows) = (shared.study, shared.study.embeddings.rows());
    let undefined = |reason: String| Ok(CILISI.undefined(reason, rows));
    let batches = match batches(study) {
        Ok(batches) => batches,
        Err(reason) => return undefined(reason),
    };
    let Some(labels) = study.labels.as_deref() else {
        return undefined("there are no labels".to_string());
    };
    let driver = Driver::silent(Order::Parallel);
    let (drawn, renamed) = draws(&batches, shared, Some(labels.codes()));
    let mut found: Vec<OfClass> = Vec::new();
    for (code, name) in labels.names().iter().enumerate() {
        let members: Vec<usize> = (0..rows).filter(|&row| labels.codes()[row] as usize == code).collect();
        // Only batches that the class has count.
        let of_class = |codes: &[u32]| {
            let own: Vec<u32> = members.iter().map(|&row| codes[row]).collect();
            Labels::from_codes(own, batches.classes())
        };
        let own = of_class(batches.codes());
        let present = own.counts().iter().filter(|count| **count > 0).count();
        if members.len() < FEWEST || present < 2 {
            continue;
        }
        let space = study.embeddings.select(&members)?;
        let count = looked_at(shared.spec.mixing.perplexity, members.len());
        let perplexity = fitting(shared.spec.mixing.perplexity, count);
        let ask = Ask {
            k: count,
            ..Ask::default()
        };
        let prepared = Prepared::new(&space, Preparation::Raw, &driver)?;
        let Some(neighbors) = sweep(&prepared, Anchors::All, &ask, &driver).neighbors else {
            continue;
        };
        // Units of the whole table: a group may have rows of several classes.
        let codes: Vec<u32> = members.iter().map(|&row| shared.row_units().of(row as u32)).collect();
        let units = match shared.row_units() {
            Units::Groups(_, name) => Units::Groups(&codes, name),
            single @ Units::Single(_) => single,
        };
        let of_draws: Vec<Vec<u32>> = drawn.iter().map(|codes| of_class(codes).codes().to_vec()).collect();
        let neighborhoods = Neighborhoods {
            neighbors: &neighbors,
            anchors: Anchors::All,
            batches: own.codes(),
            classes: batches.classes(),
            units,
            draws: &of_draws,
        };
        let mut mixed = neighborhoods.lisi(count, perplexity, &driver);
        // From 0 to 1 by the batches of the class; an assignment of groups may leave it others.
        let width = present as f64 - 1.0;
        mixed
            .values
            .iter_mut()
            .for_each(|value| *value = (*value - 1.0) / width);
        for (value, codes) in mixed.by_chance.iter_mut().zip(&of_draws) {
            let counts = Labels::from_codes(codes.clone(), batches.classes()).counts();
            let drawn = counts.iter().filter(|count| **count > 0).count();
            *value = if drawn > 1 {
                (*value - 1.0) / (drawn as f64 - 1.0)
            } else {
                0.0
            };
        }
        found.push(OfClass {
            name: name.clone(),
            rows: members,
            batches: present,
            width,
            mixed,
        });
    }
    if found.is_empty() {
        return undefined(format!("no class has {FEWEST} rows and two batches"));
    }
    let n: usize = found.iter().map(|own| own.rows.len()).sum();
    let mean = |weight: &dyn Fn(&OfClass) -> f64, of: &dyn Fn(&Mixed) -> f64| {
        found.iter().map(|own| weight(own) * of(&own.mixed)).sum::<f64>()
    };
    let of_value = |mixed: &Mixed| interval::mean(&mixed.values);
    let by_rows = |own: &OfClass| own.rows.len() as f64 / n as f64;
    let by_classes = |_: &OfClass| 1.0 / found.len() as f64;
    let left_out = rows - n;
    let notes = [
        (left_out > 0).then(|| format!("{left_out} rows are of classes with fewer than {FEWEST} rows or one batch")),
        renamed,
    ];
    let score = |output: &Output, weight: &dyn Fn(&OfClass) -> f64, is_over_rows: bool| {
        let value = mean(weight, &of_value);
        let (mut of_rows, mut together) = (vec![0.0; rows], Together::new(rows));
        for own in &found {
            let (center, count) = (of_value(&own.mixed), own.rows.len() as f64);
            let shift = if is_over_rows { center - value } else { 0.0 };
            for (&row, of_row) in own.rows.iter().zip(&own.mixed.values) {
                of_rows[row] += weight(own) * (of_row - center + shift) / count;
            }
            together.absorb(
                &own.mixed.together,
                shared.row_units(),
                &own.rows,
                weight(own) / own.width,
            );
        }
        together.add_to(&mut of_rows);
        let interval = interval::of_influence(value, &of_rows, shared.row_units(), shared.spec.level);
        let interval = interval
            .map(|own| of_groups_once(own, &together, value, shared.row_units()).on_logit_scale(value, [0.0, 1.0]));
        let is_drawn = !drawn.is_empty();
        let by_chance = is_drawn.then(|| mean(weight, &|mixed| interval::mean(&mixed.by_chance)));
        with(
            Score::number(output, value, n).with_interval(interval),
            by_chance,
            &notes,
        )
    };
    let mut results: Results = [
        score(&CILISI_MEAN, &by_rows, true),
        score(&CILISI_CLASSES, &by_classes, false),
    ]
    .into_iter()
    .collect();
    results.breakdowns.push(
        Breakdown::of("cilisi", &found)
            .key("class", |own| own.name.clone())
            .column("value", |own| Some(of_value(&own.mixed)))
            .column("chance", |own| chance(&own.mixed))
            .column("rows", |own| Some(own.rows.len() as f64))
            .column("batches", |own| Some(own.batches as f64))
            .table,
    );
    Ok(results)
}

fn kbet(shared: &Shared) -> Result<Results> {
    let (rows, k) = (shared.study.embeddings.rows(), shared.spec.mixing.k);
    let id: MetricId = ACCEPTED.id.replace("@K", &format!("@{k}")).into();
    let undefined = |reason: String| Ok(Score::undefined(id.clone(), reason, rows).into());
    let batches = match batches(shared.study) {
        Ok(batches) => batches,
        Err(reason) => return undefined(reason),
    };
    if k >= rows {
        return undefined(format!("k = {k} needs more than {k} rows, and there are {rows}"));
    }
    let (drawn, renamed) = draws(&batches, shared, None);
    let neighborhoods = Neighborhoods {
        neighbors: shared.neighbors(Key::RAW, k)?,
        anchors: shared.anchors(),
        batches: batches.codes(),
        classes: batches.classes(),
        units: shared.row_units(),
        draws: &drawn,
    };
    let mixed = neighborhoods.accepted(k, shared.spec.mixing.significance, &Driver::silent(Order::Parallel));
    let (value, n) = (interval::mean(&mixed.values), mixed.values.len());
    let smallest = batches.counts().into_iter().min().unwrap_or(0) as f64 * k as f64 / rows as f64;
    let few = (smallest < 5.0).then(|| {
        format!("the smallest batch is expected {smallest:.1} times among {k} neighbors; below 5 the test is rough")
    });
    let score = Score::number(id, value, n);
    Ok(with(score, chance(&mixed), &[few, renamed]).into())
}
