// SPDX-License-Identifier: MIT
//! Random data whose every detail is known: rows that are independent or come in episodes, and models that see them.

use std::sync::Arc;

use rand::Rng;
use rand_chacha::ChaCha8Rng;
use repscope_core::{
    Decoding, Direction, Head, LabelSet, Labels, Moves, Noise, NoiseLevel, Pairs, Perturbation, PerturbedSet,
    Reference, Retrieval, Space, Study, System, Targets, random,
};

/// How many columns inputs and embeddings have. MCR² wants four rows of each class for each.
const COLUMNS: usize = 6;
/// How many centers the rows of a design with clusters gather around: one more than k-means looks for by default.
const CENTERS: usize = 6;
/// Degrees of freedom of Student's t for heavy tails: the variance exists, the kurtosis does not.
const FREEDOM: f64 = 2.2;
/// Correlation of consecutive rows of an episode.
const LAG: f64 = 0.7;
/// Noise of a model, relative to the spread of its inputs.
const NOISE: f64 = 0.4;
/// Where the numbers of other worlds begin, and by how much their first column is shifted.
const OTHER_WORLDS: usize = 1_000_000;
const SHIFT: f64 = 0.7;
/// The one seed of the study.
pub const SEED: u64 = 26;

/// What rows are drawn from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Normal, with a different variance in every column.
    Gauss,
    /// Normal around fixed centers.
    Clusters,
    /// Student's t with 2.2 degrees of freedom in every column.
    Heavy,
}

/// How many rows of what kind.
#[derive(Debug, Clone, Copy)]
pub struct Design {
    /// As tables call it.
    pub name: &'static str,
    pub kind: Kind,
    pub rows: usize,
    /// How many episodes of equal length the rows come in; 0: they are independent.
    pub episodes: usize,
}

const fn design(name: &'static str, kind: Kind, rows: usize, episodes: usize) -> Design {
    Design {
        name,
        kind,
        rows,
        episodes,
    }
}

/// The designs of the study. `24×10`: 24 episodes of 10 rows.
pub const DESIGNS: [Design; 8] = [
    design("gauss", Kind::Gauss, 240, 0),
    design("clusters", Kind::Clusters, 240, 0),
    design("heavy tails", Kind::Heavy, 240, 0),
    design("gauss 24×10", Kind::Gauss, 240, 24),
    design("clusters 24×10", Kind::Clusters, 240, 24),
    design("heavy tails 24×10", Kind::Heavy, 240, 24),
    design("gauss 8×30", Kind::Gauss, 240, 8),
    design("40 rows", Kind::Gauss, 40, 0),
];

/// One draw of a design: what models see, and the true classes.
pub struct World {
    design: Design,
    replicate: usize,
    stream: ChaCha8Rng,
    inputs: Vec<f64>,
    labels: Vec<u32>,
    classes: usize,
}

impl World {
    /// Draw number `replicate` of a design.
    pub fn new(design: Design, replicate: usize) -> Self {
        let mut world = World {
            design,
            replicate,
            stream: random::stream(SEED, design.name, replicate as u64),
            inputs: Vec::new(),
            labels: Vec::new(),
            classes: 4,
        };
        world.inputs = world.process(design.kind == Kind::Heavy);
        if design.kind == Kind::Clusters {
            world.gather();
        } else {
            for row in world.inputs.chunks_exact_mut(COLUMNS) {
                // A spectrum that falls: equal variances are a maximum of the effective ranks, where nothing is linear.
                row.iter_mut().zip(0..).for_each(|(x, j)| *x *= 0.8f64.powi(j));
            }
            world.labels = (0..design.rows).map(|i| world.quadrant(i)).collect();
        }
        world
    }

    /// Puts every row beside one of the centers, which is its class. In an episode, one row in five moves on.
    fn gather(&mut self) {
        // The centers belong to the design: all its draws have the same.
        let mut fixed = random::stream(SEED, "centers", 0);
        let centers: Vec<f64> = (0..CENTERS * COLUMNS).map(|_| 3.0 * normal(&mut fixed)).collect();
        self.classes = CENTERS;
        let mut at = 0;
        for i in 0..self.design.rows {
            if self.starts_episode(i) || uniform(&mut self.stream) < 0.2 {
                at = (uniform(&mut self.stream) * CENTERS as f64) as usize;
            }
            let row = &mut self.inputs[i * COLUMNS..][..COLUMNS];
            row.iter_mut().zip(&centers[at * COLUMNS..]).for_each(|(x, c)| *x += c);
            self.labels.push(at as u32);
        }
    }

    /// A class that the first two columns predict, but for noise.
    fn quadrant(&mut self, row: usize) -> u32 {
        let mut is_positive = |j: usize| self.inputs[row * COLUMNS + j] + 0.5 * normal(&mut self.stream) > 0.0;
        u32::from(is_positive(0)) + 2 * u32::from(is_positive(1))
    }

    /// Whether a row follows no other: independent rows never do.
    fn starts_episode(&self, row: usize) -> bool {
        self.design.episodes == 0 || row.is_multiple_of(self.design.rows / self.design.episodes)
    }

    /// Columns of noise: independent rows, or stationary AR(1) within each episode.
    fn process(&mut self, is_heavy: bool) -> Vec<f64> {
        let draw = if is_heavy { student } else { normal };
        let is_independent = self.design.episodes == 0;
        let mut values: Vec<f64> = Vec::with_capacity(self.design.rows * COLUMNS);
        for i in 0..self.design.rows {
            let is_first = self.starts_episode(i);
            for j in 0..COLUMNS {
                let mut next = |before: f64| LAG * before + (1.0 - LAG * LAG).sqrt() * draw(&mut self.stream);
                let value = if is_independent {
                    draw(&mut self.stream)
                } else if !is_first {
                    next(values[(i - 1) * COLUMNS + j])
                } else {
                    // After 30 steps, nothing is left of where it started.
                    (0..30).fold(0.0, |before, _| next(before))
                };
                values.push(value);
            }
        }
        values
    }

    /// Values with noise of a share of the spread of the inputs.
    fn with_noise(&mut self, values: &[f64], share: f64) -> Vec<f64> {
        let spread = if self.design.kind == Kind::Clusters { 3.0 } else { 1.0 };
        let noise = self.process(false);
        values.iter().zip(noise).map(|(x, e)| x + share * spread * e).collect()
    }

    fn space(&self, name: &str, values: Vec<f64>) -> Space {
        Space::from_f64(name, self.design.rows, COLUMNS, values).expect("finite numbers that fill the shape")
    }

    fn labels(&self) -> Arc<Labels> {
        Arc::new(Labels::from_codes(self.labels.clone(), self.classes))
    }

    fn episodes(&self) -> Option<Arc<Labels>> {
        let episodes = self.design.episodes;
        let codes = || (0..self.design.rows).map(|i| (i * episodes / self.design.rows) as u32);
        (episodes > 0).then(|| Arc::new(Labels::from_codes(codes().collect(), episodes)))
    }

    /// The embeddings of a model: the inputs with noise of its own.
    pub fn embed(&mut self) -> Vec<f64> {
        let inputs = self.inputs.clone();
        self.with_noise(&inputs, NOISE)
    }

    /// The embeddings of a worse model.
    pub fn worsen(&mut self, embeddings: &[f64]) -> Vec<f64> {
        self.with_noise(embeddings, NOISE)
    }

    /// All that the metrics of studies ask for.
    pub fn study(&mut self, model: &str, embeddings: &[f64]) -> Study {
        let view = self.with_noise(embeddings, NOISE);
        let clean = self.space("embeddings", embeddings.to_vec());
        let level = |(name, strength): (&str, f64)| {
            let noisy = self.with_noise(embeddings, strength);
            let noisy = self.space("noisy", noisy);
            NoiseLevel {
                name: name.to_string(),
                strength,
                moves: Moves::between(&clean, &[noisy]).expect("one shape"),
            }
        };
        let levels = [("0.1", 0.1), ("0.5", 0.5)].map(level).into();
        let episodes = self.episodes();
        let pairs = Pairs::consecutive(self.design.rows, episodes.as_deref());
        Study {
            reference: Some(Arc::new(self.reference())),
            batches: Some(Arc::new(self.batches(embeddings))),
            view: Some(Arc::new(self.space("view", view))),
            noise: Some(Arc::new(Noise { levels, unit: None })),
            input: Some(Arc::new(self.space("inputs", self.inputs.clone()))),
            labels: Some(self.labels()),
            episodes,
            pairs: Some(Arc::new(pairs)),
            targets: Some(Arc::new(self.targets())),
            ..Study::new(model, clean)
        }
    }

    /// The first input, which embeddings hold but for noise, and one that they do not hold in a linear form.
    fn targets(&self) -> Targets {
        let rows = self.inputs.chunks_exact(COLUMNS);
        let values = rows.flat_map(|row| [row[0], row[1] + row[2].abs()]).collect();
        let space = Space::from_f64("targets", self.design.rows, 2, values);
        Targets::new(&["line", "curve"], space.expect("finite numbers that fill the shape")).expect("two names")
    }

    /// Other rows of the same kind, in episodes of their own, a little shifted. They come from another world, so that they change no other
    /// number.
    fn reference(&self) -> Reference {
        let mut other = World::new(self.design, self.replicate + OTHER_WORLDS);
        let mut values = other.embed();
        values.iter_mut().step_by(COLUMNS).for_each(|x| *x += SHIFT);
        let names =
            |labels: &Labels| -> Vec<String> { labels.codes().iter().map(|code| format!("other {code}")).collect() };
        Reference {
            embeddings: other.space("reference", values),
            groups: other.episodes().map(|episodes| Labels::new(&names(&episodes))),
        }
    }

    /// Two batches that a neighborhood may show: of rows, or of whole episodes.
    fn batches(&self, embeddings: &[f64]) -> Labels {
        let mut stream = random::stream(SEED, "batches", self.replicate as u64);
        let episodes = self.episodes();
        let mut of_row = |row: usize| u32::from(embeddings[row * COLUMNS] + 2.0 * normal(&mut stream) > 0.0);
        let codes = match &episodes {
            None => (0..self.design.rows).map(of_row).collect(),
            // Every second episode, whatever it holds.
            Some(episodes) => {
                let offset = of_row(0);
                episodes.codes().iter().map(|code| (code + offset) % 2).collect()
            }
        };
        Labels::from_codes(codes, 2)
    }

    /// Embeddings of 24 columns with variances 1/j, for a score of the tail of a spectrum.
    pub fn wide(&mut self, model: &str) -> Study {
        let parts: Vec<Vec<f64>> = (0..4).map(|_| self.process(self.design.kind == Kind::Heavy)).collect();
        let row = |i: usize| parts.iter().flat_map(move |part| &part[i * COLUMNS..][..COLUMNS]);
        let scaled = |i: usize| row(i).zip(1..).map(|(x, j)| x / f64::from(j).sqrt());
        let values: Vec<f64> = (0..self.design.rows).flat_map(scaled).collect();
        let embeddings = Space::from_f64("embeddings", self.design.rows, 4 * COLUMNS, values);
        Study {
            episodes: self.episodes(),
            ..Study::new(model, embeddings.expect("finite numbers that fill the shape"))
        }
    }

    /// Two spaces of the same samples; one searches the other and itself.
    pub fn retrieval(&mut self, model: &str, embeddings: &[f64]) -> Retrieval {
        let text = self.embed();
        let spaces = [("sensor", embeddings.to_vec()), ("text", text)];
        let across = Direction { query: 0, target: 1 };
        let within = Direction { query: 0, target: 0 };
        Retrieval {
            model: model.to_string(),
            spaces: spaces.map(|(name, values)| Arc::new(self.space(name, values))).into(),
            is_aligned: vec![true, true],
            label_sets: vec![LabelSet {
                name: None,
                of_space: vec![self.labels(), self.labels()],
            }],
            groups: vec![self.episodes(), self.episodes()],
            directions: vec![across, within],
        }
    }

    /// A classifier of two heads that errs on some rows more than on others, and more the more is masked.
    pub fn perturbation(&mut self) -> Perturbation {
        let names: Vec<String> = (0..self.classes).map(|c| format!("c{c}")).collect();
        let mut answers = |threshold: f64, column: usize| -> Vec<u32> {
            let answer = |i: usize| {
                let ease = self.inputs[i * COLUMNS + column] + 0.7 * normal(&mut self.stream);
                let miss = u32::from(ease < threshold);
                (self.labels[i] + miss) % self.classes as u32
            };
            (0..self.design.rows).map(answer).collect()
        };
        let mut heads = Vec::new();
        for (column, name) in ["shape", "color"].iter().enumerate() {
            heads.push(Head {
                name: name.to_string(),
                classes: names.clone(),
                labels: Vec::new(),
                baseline: answers(-1.2, column),
            });
        }
        let mut sets = Vec::new();
        for (name, percent, threshold) in [("top5", 5.0, -0.8), ("top10", 10.0, -0.2)] {
            sets.push(PerturbedSet {
                name: name.to_string(),
                family: "top".to_string(),
                percent,
                predictions: (0..2).map(|column| answers(threshold, column)).collect(),
                masked_lit: Some(percent / 110.0),
                masked_all: Some(percent / 220.0),
            });
        }
        for head in &mut heads {
            head.labels.clone_from(&self.labels);
        }
        let groups = self.episodes().map(Arc::unwrap_or_clone);
        Perturbation { heads, sets, groups }
    }

    /// A system that generates texts from signals, more of them wrong where the signal is hard.
    pub fn decoding(&mut self, name: &str, embeddings: &[f64]) -> Decoding {
        let rows = self.design.rows;
        let generated = self.with_noise(embeddings, NOISE);
        let reference = self.with_noise(embeddings, NOISE / 2.0);
        let (mut said, mut meant) = (Vec::new(), Vec::new());
        for i in 0..rows {
            let word = |stream: &mut ChaCha8Rng| format!("w{}", (12.0 * uniform(stream)) as usize);
            let count = 6 + (5.0 * uniform(&mut self.stream)) as usize;
            let truth: Vec<String> = (0..count).map(|_| word(&mut self.stream)).collect();
            let rate = 1.0 / (1.0 + self.inputs[i * COLUMNS].exp());
            let copy = truth.iter().map(|right| {
                let is_wrong = uniform(&mut self.stream) < 0.6 * rate;
                if is_wrong {
                    word(&mut self.stream)
                } else {
                    right.clone()
                }
            });
            said.push(copy.collect::<Vec<_>>().join(" "));
            meant.push(truth.join(" "));
        }
        let fluency: Vec<f64> = (0..rows).map(|_| 3.0 + 0.3 * normal(&mut self.stream)).collect();
        Decoding {
            systems: vec![System {
                name: name.to_string(),
                signal: Arc::new(self.space("signal", embeddings.to_vec())),
                generated: Arc::new(self.space("generated", generated)),
                reference: Some(Arc::new(self.space("reference", reference))),
                fluency: Some(fluency.into()),
                texts: Some(said.into()),
            }],
            references: Some(meant.into()),
            groups: Vec::new(),
            units: self.episodes(),
        }
    }
}

/// Uniform over the open interval from 0 to 1.
fn uniform(stream: &mut ChaCha8Rng) -> f64 {
    ((stream.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
}

/// Standard normal, by Box and Muller.
pub fn normal(stream: &mut ChaCha8Rng) -> f64 {
    (-2.0 * uniform(stream).ln()).sqrt() * (std::f64::consts::TAU * uniform(stream)).cos()
}

/// Student's t, by Bailey's polar method (1994).
fn student(stream: &mut ChaCha8Rng) -> f64 {
    let radius = (FREEDOM * (uniform(stream).powf(-2.0 / FREEDOM) - 1.0)).sqrt();
    radius * (std::f64::consts::TAU * uniform(stream)).cos()
}
