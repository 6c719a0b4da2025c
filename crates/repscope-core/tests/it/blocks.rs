// SPDX-License-Identifier: MIT
//! Matrices that workers read block by block have the scores of matrices in memory, to the last bit.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::common::{Draw, MODEL, metric};
use repscope_core::blocks::{Elsewhere, Kept, Read, Rows, SUPER_BLOCK, Stage, Take, Workers, execute, execute_kept};
use repscope_core::run::{Driver, Order};
use repscope_core::{
    Direction, Error, LabelSet, Labels, Metric, Result, Results, Retrieval, Space, Spec, Study, Values, evaluate,
    examine,
};

/// Workers in this process, which see nothing but what a task names.
struct Here {
    matrices: Vec<Matrix>,
    order: Order,
    /// The most rows that a task was given.
    most: AtomicUsize,
    stages: Mutex<Vec<String>>,
    /// What is kept from task to task, of how many tasks in ten: the others begin anew.
    kept: Mutex<BTreeMap<String, Kept>>,
    keeps: u64,
    tasks: AtomicUsize,
    /// Tasks that were served by what was kept.
    served: AtomicUsize,
}

struct Matrix {
    columns: usize,
    values: Vec<f64>,
    is_single: bool,
}

impl Matrix {
    fn new(columns: usize, is_single: bool, values: Vec<f64>) -> Self {
        let values = if is_single {
            values.into_iter().map(|x| f64::from(x as f32)).collect()
        } else {
            values
        };
        Matrix {
            columns,
            values,
            is_single,
        }
    }

    fn rows(&self, rows: impl Iterator<Item = usize>) -> Result<Space> {
        let values: Vec<f64> = rows
            .flat_map(|row| self.values[row * self.columns..][..self.columns].iter().copied())
            .collect();
        let rows = values.len() / self.columns;
        let values: Values = if self.is_single {
            values.iter().map(|x| *x as f32).collect::<Vec<f32>>().into()
        } else {
            values.into()
        };
        Space::new("z", rows, self.columns, values)
    }

    fn all(&self) -> Space {
        self.rows(0..self.values.len() / self.columns).expect("finite numbers")
    }
}

impl Here {
    fn read(&self, read: &Read) -> Result<Space> {
        let matrix = &self.matrices[read.matrix as usize];
        self.most.fetch_max(read.rows.count(), Ordering::Relaxed);
        match &read.rows {
            Rows::Span(span) => matrix.rows(span.clone()),
            Rows::Each(rows) => matrix.rows(rows.iter().map(|row| *row as usize)),
        }
    }
}

impl Workers for Here {
    fn run(&self, stage: &Stage, take: Take) -> Result<()> {
        self.stages.lock().expect("no panic").push(stage.name.clone());
        for task in &stage.tasks {
            let key = format!("{:?}", task.reads);
            let mut all = self.kept.lock().expect("no panic");
            let kept = all.remove(&key).unwrap_or_default();
            let mut spaces = Vec::new();
            if task.keeps && kept.serves(&task.body) {
                self.served.fetch_add(1, Ordering::Relaxed);
            } else {
                spaces = task.reads.iter().map(|read| self.read(read)).collect::<Result<_>>()?;
            }
            let parts: Vec<&[u8]> = task.parts.iter().map(|part| stage.parts[*part].as_slice()).collect();
            let driver = Driver::silent(self.order);
            let partial = execute_kept(&stage.shared, &parts, &task.body, &spaces, &kept, &driver)?;
            let count = self.tasks.fetch_add(1, Ordering::Relaxed) as u64;
            if task.keeps && count * 7919 % 10 < self.keeps {
                all.insert(key, kept);
            }
            drop(all);
            take(partial)?;
        }
        Ok(())
    }
}

fn workers(matrices: Vec<Matrix>) -> Arc<Here> {
    workers_that_keep(matrices, 0)
}

/// Workers who keep what they made of the rows of so many tasks in ten.
fn workers_that_keep(matrices: Vec<Matrix>, keeps: u64) -> Arc<Here> {
    Arc::new(Here {
        matrices,
        order: Order::Serial,
        most: AtomicUsize::new(0),
        stages: Mutex::default(),
        kept: Mutex::default(),
        keeps,
        tasks: AtomicUsize::new(0),
        served: AtomicUsize::new(0),
    })
}

fn elsewhere(here: &Arc<Here>, number: usize) -> Space {
    let matrix = &here.matrices[number];
    let shape = (matrix.values.len() / matrix.columns, matrix.columns);
    let own = Elsewhere::new(number as u32, shape, matrix.is_single, number.to_string(), here.clone());
    Space::new("z", shape.0, shape.1, Values::Elsewhere(Arc::new(own))).expect("a shape")
}

/// Blobs of unequal spread, some rows twice.
fn blobs(seed: u64, rows: usize, columns: usize) -> Vec<f64> {
    let mut draw = Draw::new(seed);
    let mut values: Vec<f64> = (0..rows * columns)
        .map(|at| {
            let (row, column) = (at / columns, at % columns);
            let center = if column < 4 { ((row * 7919) % 5) as f64 } else { 0.0 };
            30.0 + center + draw.uniform() / (1.0 + column as f64).sqrt()
        })
        .collect();
    for row in (17..rows).step_by(501) {
        values.copy_within((row - 17) * columns..(row - 16) * columns, row * columns);
    }
    values
}

fn driver() -> Driver<'static> {
    Driver::silent(Order::Parallel)
}

/// Scores with every digit of their intervals and of what rows do to them.
fn digits(results: &Results) -> Vec<String> {
    results.scores.iter().map(|score| format!("{score:?}")).collect()
}

/// The same study in memory and elsewhere has the same scores.
fn compare(
    here: &Arc<Here>,
    numbers: [usize; 2],
    labels: Option<Labels>,
    groups: Option<Labels>,
    spec: &Spec,
    ids: &[&str],
) -> Results {
    let metrics: Vec<&Metric> = ids.iter().map(|id| metric(id)).collect();
    let study = |embeddings, input| Study {
        input: Some(Arc::new(input)),
        labels: labels.clone().map(Arc::new),
        episodes: groups.clone().map(Arc::new),
        ..Study::new(MODEL, embeddings)
    };
    let [embeddings, input] = numbers;
    let in_memory = study(here.matrices[embeddings].all(), here.matrices[input].all());
    let expected = evaluate(&[in_memory], &metrics, spec, &driver()).expect("scores");
    let away = study(elsewhere(here, embeddings), elsewhere(here, input));
    let found = evaluate(&[away], &metrics, spec, &driver()).expect("scores");
    assert_eq!(found.scores.len(), expected.scores.len());
    for (found, expected) in digits(&found).iter().zip(digits(&expected)) {
        assert!(
            *found == expected,
            "{}\n{}",
            &found[..found.len().min(600)],
            &expected[..expected.len().min(600)]
        );
    }
    assert_eq!(found.warnings, expected.warnings);
    found
}

const OF_PAIRS: &[&str] = &[
    "trustworthiness",
    "continuity",
    "two_nn",
    "uniformity",
    "silhouette",
    "knn_accuracy",
];
const OF_SPECTRA: &[&str] = &[
    "participation_ratio",
    "rankme",
    "alpha_req",
    "numerical_rank",
    "condition_number",
];

/// Two super-blocks, the second of which has a few rows only.
const ROWS: usize = SUPER_BLOCK + 300;

fn labels(rows: usize) -> Labels {
    Labels::from_codes((0..rows as u32).map(|row| row * 7919 % 5).collect(), 5)
}

#[test]
fn scores_of_pairs_are_the_same_where_some_rows_ask() {
    for is_single in [true, false] {
        let matrix = |seed, columns| Matrix::new(columns, is_single, blobs(seed, ROWS, columns));
        let here = workers(vec![matrix(1, 6), matrix(2, 9)]);
        let spec = Spec {
            sample: Some(150),
            ..Spec::default()
        };
        compare(&here, [0, 1], Some(labels(ROWS)), None, &spec, OF_PAIRS);
        assert_eq!(here.most.load(Ordering::Relaxed), SUPER_BLOCK);
    }
}

#[test]
fn scores_of_pairs_are_the_same_where_all_rows_ask() {
    let matrix = |seed, columns| Matrix::new(columns, true, blobs(seed, ROWS, columns));
    let here = workers(vec![matrix(1, 5), matrix(2, 7)]);
    let found = compare(&here, [0, 1], Some(labels(ROWS)), None, &Spec::default(), OF_PAIRS);
    assert!(found.scores.iter().all(|score| score.value.is_some()));
    assert_eq!(here.most.load(Ordering::Relaxed), SUPER_BLOCK);
}

#[test]
fn neighbors_and_ranks_of_blocks_are_those_of_all_rows_together() {
    // Enough columns for cells and shortcuts; no sums, so that blocks meet block by block.
    let rows = 2 * SUPER_BLOCK + 300;
    let matrix = |seed, columns| Matrix::new(columns, true, blobs(seed, rows, columns));
    let here = workers(vec![matrix(1, 40), matrix(2, 3)]);
    let ids = ["trustworthiness", "continuity", "two_nn", "knn_accuracy"];
    let found = compare(&here, [0, 1], Some(labels(rows)), None, &Spec::default(), &ids);
    assert!(found.scores.iter().all(|score| score.value.is_some()));
    assert_eq!(here.most.load(Ordering::Relaxed), SUPER_BLOCK);
    let stages = here.stages.lock().expect("no panic");
    let count = |name: &str| stages.iter().filter(|own| *own == name).count();
    // Three blocks are all next to each other.
    assert!(count("pairs within blocks") > 0 && count("pairs of blocks") == count("pairs within blocks"));
    assert_eq!(count("pairs"), 0);
}

#[test]
fn rows_that_are_selected_are_those_of_memory() {
    let here = workers(vec![Matrix::new(5, true, blobs(1, 2 * SUPER_BLOCK, 5))]);
    // In another order, and not all of them; then some that follow each other; then a few.
    let backwards: Vec<usize> = (0..2 * SUPER_BLOCK).rev().filter(|row| row % 13 > 0).collect();
    let behind: Vec<usize> = (100..SUPER_BLOCK + 900).collect();
    for order in [backwards, behind, vec![7, 3, 40_000 % SUPER_BLOCK, 4]] {
        let scores = |space: Space| {
            let metrics = ["two_nn", "uniformity", "participation_ratio"].map(metric);
            let spec = Spec {
                sample: Some(60),
                ..Spec::default()
            };
            let space = space
                .select(&order)
                .and_then(|space| space.select(&(0..order.len() - 1).collect::<Vec<usize>>()));
            digits(&evaluate(&[Study::new(MODEL, space.expect("rows"))], &metrics, &spec, &driver()).expect("scores"))
        };
        assert_eq!(scores(elsewhere(&here, 0)), scores(here.matrices[0].all()));
    }
}

#[test]
fn intervals_over_groups_are_the_same() {
    let matrix = |seed, columns| Matrix::new(columns, true, blobs(seed, ROWS, columns));
    let here = workers(vec![matrix(3, 6), matrix(4, 9)]);
    let spec = Spec {
        sample: Some(200),
        ..Spec::default()
    };
    let groups = Labels::from_codes((0..ROWS as u32).map(|row| row / 100).collect(), ROWS.div_ceil(100));
    let ids = [OF_PAIRS, OF_SPECTRA].concat();
    compare(&here, [0, 1], Some(labels(ROWS)), Some(groups), &spec, &ids);
}

#[test]
fn spectra_are_the_same_by_every_way_to_the_scatter_matrix() {
    // Few columns; f64 products; f32 products, of which a part is looked at first; f32 products that are not enough.
    let spread = |seed, rows, columns: usize, least: f64| {
        let values = blobs(seed, rows, columns).into_iter().enumerate();
        values
            .map(|(at, x)| {
                if at % columns == columns - 1 {
                    least * (x - 30.0)
                } else {
                    x - 30.0
                }
            })
            .collect()
    };
    let here = workers(vec![
        Matrix::new(12, true, spread(1, 2 * SUPER_BLOCK + 77, 12, 1.0)),
        Matrix::new(66, false, spread(2, ROWS, 66, 1.0)),
        Matrix::new(480, true, spread(3, ROWS, 480, 1.0)),
        Matrix::new(480, true, spread(4, ROWS, 480, 1e-6)),
    ]);
    for number in 0..4 {
        let metrics: Vec<&Metric> = OF_SPECTRA
            .iter()
            .take(if number < 2 { 5 } else { 1 })
            .map(|id| metric(id))
            .collect();
        let scores = |space| evaluate(&[Study::new(MODEL, space)], &metrics, &Spec::default(), &driver());
        let expected = scores(here.matrices[number].all()).expect("scores");
        let found = scores(elsewhere(&here, number)).expect("scores");
        assert_eq!(digits(&found), digits(&expected), "matrix {number}");
    }
}

const OF_CLUSTERS: &[&str] = &["nmi", "ami", "inertia", "cluster_balance"];

#[test]
fn k_means_is_the_same_whatever_workers_keep() {
    let rows = 2 * SUPER_BLOCK + 300;
    let spec = Spec {
        restarts: 3,
        clusterings: 3,
        ..Spec::default()
    };
    let mut rounds = Vec::new();
    for keeps in [0, 6, 10] {
        let here = workers_that_keep(vec![Matrix::new(4, keeps > 0, blobs(5, rows, 4))], keeps);
        let found = compare(&here, [0, 0], Some(labels(rows)), None, &spec, OF_CLUSTERS);
        assert!(found.scores.iter().all(|score| score.value.is_some()));
        assert_eq!(here.most.load(Ordering::Relaxed), SUPER_BLOCK);
        assert_eq!(here.served.load(Ordering::Relaxed) > 0, keeps > 0);
        rounds.push(here.stages.lock().expect("no panic").len());
    }
    // Halves go through their rounds together.
    assert!(rounds.iter().all(|rounds| *rounds < 800), "{rounds:?}");
}

#[test]
fn k_means_of_groups_and_silhouettes_without_labels_are_the_same() {
    let here = workers_that_keep(vec![Matrix::new(7, true, blobs(6, ROWS, 7))], 8);
    let groups = Labels::from_codes((0..ROWS as u32).map(|row| row / 100).collect(), ROWS.div_ceil(100));
    let spec = Spec {
        restarts: 1,
        clusterings: 2,
        sample: Some(100),
        ..Spec::default()
    };
    let ids = ["inertia", "cluster_balance", "silhouette"];
    compare(&here, [0, 0], None, Some(groups), &spec, &ids);
}

#[test]
fn empty_clusters_and_equal_rows_are_the_same() {
    // Twelve distinct rows, and two of them far away: clusters become empty.
    let few: Vec<f64> = (0..ROWS * 3)
        .map(|at| {
            let (row, column) = (at / 3, at % 3);
            let distinct = row * 7919 % 12;
            (distinct * distinct) as f64 + if distinct > 9 { 1e4 } else { 0.0 } + column as f64
        })
        .collect();
    let equal = vec![2.5; ROWS * 2];
    let here = workers_that_keep(vec![Matrix::new(3, true, few), Matrix::new(2, true, equal)], 5);
    for (number, clusters) in [(0, 9), (0, 14), (1, 3)] {
        let spec = Spec {
            clusters,
            restarts: 2,
            clusterings: 2,
            ..Spec::default()
        };
        compare(&here, [number, number], Some(labels(ROWS)), None, &spec, OF_CLUSTERS);
    }
}

#[test]
fn k_means_of_one_column_and_of_many_clusters_is_the_same() {
    let here = workers_that_keep(
        vec![
            Matrix::new(1, false, blobs(7, ROWS, 1)),
            Matrix::new(2, true, blobs(8, ROWS, 2)),
        ],
        10,
    );
    // One column fits a table; with 600 clusters chunks and blocks are larger.
    for (number, clusters, restarts) in [(0, 5, 2), (1, 600, 1)] {
        let spec = Spec {
            clusters,
            restarts,
            clusterings: 2,
            ..Spec::default()
        };
        compare(&here, [number, number], Some(labels(ROWS)), None, &spec, OF_CLUSTERS);
    }
}

#[test]
fn what_workers_report_ends_all_halves() {
    /// Workers who stop after some rounds.
    struct Tired(Arc<Here>, AtomicUsize);
    impl Workers for Tired {
        fn run(&self, stage: &Stage, take: Take) -> Result<()> {
            let is_of_halves = stage
                .tasks
                .iter()
                .any(|task| matches!(task.reads[0].rows, Rows::Each(_)));
            if is_of_halves && self.1.fetch_add(1, Ordering::Relaxed) == 30 {
                return Err(Error::input("shard b.npy: row 7 holds NaN"));
            }
            self.0.run(stage, take)
        }
    }
    // Halves of a super-block or less are brought here.
    let rows = 2 * SUPER_BLOCK + 300;
    let here = workers_that_keep(vec![Matrix::new(3, true, blobs(9, rows, 3))], 10);
    let own = Elsewhere::new(
        0,
        (rows, 3),
        true,
        String::new(),
        Arc::new(Tired(here, AtomicUsize::new(0))),
    );
    let space = Space::new("z", rows, 3, Values::Elsewhere(Arc::new(own))).expect("a shape");
    let spec = Spec {
        restarts: 2,
        ..Spec::default()
    };
    let error = evaluate(&[Study::new(MODEL, space)], &[metric("inertia")], &spec, &driver());
    assert_eq!(error.unwrap_err().to_string(), "shard b.npy: row 7 holds NaN");
}

#[test]
fn a_small_matrix_is_brought_here_and_has_all_scores() {
    let here = workers(vec![Matrix::new(4, true, blobs(5, 500, 4))]);
    compare(
        &here,
        [0, 0],
        Some(labels(500)),
        None,
        &Spec::default(),
        &["clid", "robustness", "silhouette"],
    );
}

#[test]
fn a_row_without_direction_is_named_by_its_number_in_the_whole() {
    let mut values = blobs(6, ROWS, 3);
    let row = SUPER_BLOCK + 5;
    values[row * 3..(row + 1) * 3].fill(0.0);
    let here = workers(vec![Matrix::new(3, true, values)]);
    let found = compare(
        &here,
        [0, 0],
        None,
        None,
        &Spec {
            sample: Some(50),
            ..Spec::default()
        },
        &["uniformity"],
    );
    let reason = found.scores[0].reason.as_deref().unwrap_or_default();
    assert!(
        reason.starts_with(&format!("row {row} of `z` has length zero")),
        "{reason}"
    );
}

#[test]
fn what_is_wrong_with_the_data_is_found_there_too() {
    let values: Vec<f64> = blobs(7, ROWS, 3)
        .into_iter()
        .enumerate()
        .map(|(at, x)| if at / 3 % 4 > 0 { 1.5 } else { x })
        .collect();
    let here = workers(vec![Matrix::new(3, false, values)]);
    let expected = examine(&[Study::new(MODEL, here.matrices[0].all())]).expect("findings");
    let found = examine(&[Study::new(MODEL, elsewhere(&here, 0))]).expect("findings");
    assert!(!expected.is_empty());
    assert_eq!(found, expected);
}

#[test]
fn scores_that_need_all_rows_at_once_are_left_out_with_a_word() {
    let here = workers(vec![Matrix::new(3, true, blobs(8, ROWS, 3))]);
    let metrics = [metric("two_nn"), metric("std_collapse")];
    let spec = Spec {
        sample: Some(30),
        ..Spec::default()
    };
    let found = evaluate(&[Study::new(MODEL, elsewhere(&here, 0))], &metrics, &spec, &driver()).expect("scores");
    assert!(found.scores.iter().all(|score| score.metric.starts_with("two_nn")));
    assert!(
        found
            .warnings
            .iter()
            .any(|text| text.contains("block by block: std_collapse")),
        "{:?}",
        found.warnings
    );
}

/// Workers who cannot work.
struct Gone;

impl Workers for Gone {
    fn run(&self, _: &Stage, _: Take) -> Result<()> {
        Err(Error::input("shard b.npy: row 7 holds NaN"))
    }
}

#[test]
fn what_workers_report_reaches_the_caller() {
    let own = Elsewhere::new(0, (ROWS, 3), true, String::new(), Arc::new(Gone));
    let space = Space::new("z", ROWS, 3, Values::Elsewhere(Arc::new(own))).expect("a shape");
    let error = evaluate(
        &[Study::new(MODEL, space)],
        &[metric("two_nn")],
        &Spec::default(),
        &driver(),
    );
    assert_eq!(error.unwrap_err().to_string(), "shard b.npy: row 7 holds NaN");
}

#[test]
fn a_cut_task_is_an_error_and_no_panic() {
    let here = workers(vec![Matrix::new(3, true, blobs(9, ROWS, 3))]);
    struct Cut(Arc<Here>);
    impl Workers for Cut {
        fn run(&self, stage: &Stage, take: Take) -> Result<()> {
            let task = &stage.tasks[0];
            let spaces: Vec<Space> = task.reads.iter().map(|read| self.0.read(read)).collect::<Result<_>>()?;
            for end in 0..task.body.len().min(40) {
                execute(&stage.shared, &[], &task.body[..end], &spaces, &driver()).ok();
            }
            for end in 0..stage.shared.len().min(40) {
                assert!(execute(&stage.shared[..end], &[], &task.body, &spaces, &driver()).is_err());
            }
            self.0.run(stage, take)
        }
    }
    let own = Elsewhere::new(0, (ROWS, 3), true, String::new(), Arc::new(Cut(here)));
    let space = Space::new("z", ROWS, 3, Values::Elsewhere(Arc::new(own))).expect("a shape");
    let found = evaluate(
        &[Study::new(MODEL, space)],
        &[metric("participation_ratio")],
        &Spec::default(),
        &driver(),
    );
    assert!(found.is_ok());
}

#[test]
fn super_blocks_are_cut_by_the_number_of_rows_alone() {
    let spans = |here: &Here| here.stages.lock().expect("no panic").len();
    let here = workers(vec![Matrix::new(3, true, blobs(9, 2 * SUPER_BLOCK, 3))]);
    let spec = Spec {
        sample: Some(10),
        ..Spec::default()
    };
    evaluate(
        &[Study::new(MODEL, elsewhere(&here, 0))],
        &[metric("two_nn")],
        &spec,
        &driver(),
    )
    .expect("scores");
    assert!(spans(&here) > 0 && here.most.load(Ordering::Relaxed) == SUPER_BLOCK);
    let range: Range<usize> = 0..SUPER_BLOCK;
    assert_eq!(Rows::Span(range).count(), SUPER_BLOCK);
}

/// Texts and sensors of the same samples; some rows are multiples or copies of others, and one has no direction.
fn modalities(rows: usize) -> Vec<Matrix> {
    let columns = 6;
    let mut sides = [blobs(11, rows, columns), blobs(12, rows, columns)];
    for side in &mut sides {
        side.iter_mut().for_each(|x| *x -= 30.0);
        for row in (50..rows).step_by(777) {
            let other: Vec<f64> = side[(row - 50) * columns..][..columns]
                .iter()
                .map(|x| 3.0 * x)
                .collect();
            side[row * columns..][..columns].copy_from_slice(&other);
        }
        side[7 * columns..8 * columns].fill(0.0);
    }
    sides.map(|side| Matrix::new(columns, true, side)).into()
}

#[test]
fn label_precision_across_modalities_is_the_same() {
    let here = workers(modalities(ROWS));
    let labels = Arc::new(labels(ROWS));
    let [text, sensor] = [0, 1].map(|number| here.matrices[number].all());
    let few = |space: &Space| space.select(&(0..700).collect::<Vec<usize>>()).expect("rows");
    let retrieval = |spaces: [Space; 2], directions: &[[usize; 2]]| {
        let of_space = spaces
            .iter()
            .map(|space| Arc::new(labels.select(&(0..space.rows()).collect::<Vec<usize>>())));
        Retrieval {
            model: MODEL.to_string(),
            label_sets: vec![LabelSet {
                name: None,
                of_space: of_space.collect(),
            }],
            is_aligned: vec![spaces[0].rows() == spaces[1].rows(); 2],
            spaces: spaces.map(Arc::new).into(),
            groups: Vec::new(),
            directions: directions
                .iter()
                .map(|[query, target]| Direction {
                    query: *query,
                    target: *target,
                })
                .collect(),
        }
    };
    let metrics = [metric("label_precision")];
    let scores =
        |retrieval| repscope_core::retrieve(&[retrieval], &metrics, &Spec::default(), &driver()).expect("scores");
    // Few queries against all rows, there and back; a space within itself.
    let both = [[0, 1], [1, 0]];
    let expected = scores(retrieval([few(&text), sensor.clone()], &both));
    let found = scores(retrieval([few(&text), elsewhere(&here, 1)], &both));
    assert!(expected.scores.len() > 3 && expected.scores.iter().all(|score| score.value.is_some()));
    assert_eq!(digits(&found), digits(&expected));
    assert_eq!(found.warnings, expected.warnings);
    assert!(found.warnings.iter().any(|text| text.contains("have length zero")));
    let expected = scores(retrieval([few(&text), sensor], &[[1, 1]]));
    let found = scores(retrieval([few(&text), elsewhere(&here, 1)], &[[1, 1]]));
    assert_eq!(digits(&found), digits(&expected));
    assert_eq!(here.most.load(Ordering::Relaxed), SUPER_BLOCK);
}
