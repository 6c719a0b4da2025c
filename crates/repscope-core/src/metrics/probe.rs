// SPDX-License-Identifier: MIT
//! Probes: what can be read out of the embeddings by simple predictors. See the page.

use super::{Analysis, Invariance, Metric, Output, Results, Takes, Work};
use crate::data::Study;
use crate::error::Result;
use crate::kernels::probe::{Miss, OfLabels, OfTargets, Probe, Trained};
use crate::plan::{Need, Shared};
use crate::score::{Breakdown, Curve, Interval, Score};
use crate::spec::Spec;
use crate::stats::interval::{self, Units};

const ACCURACY: Output = Output::higher("probe.linear.accuracy", "0 to 1")
    .about("share of rows whose label a logistic regression of other rows predicts");
const SELECTIVITY: Output = Output::higher("probe.linear.selectivity", "−1 to 1")
    .about("accuracy less that of the same probe of shuffled labels");
const CONTROL: Output =
    Output::neither("probe.linear.control", "0 to 1").about("accuracy of the same probe of shuffled labels");
const LOSS: Output =
    Output::lower("probe.linear.log_loss", "0 and above").about("mean of −ln of the probability of the own label");
const ECE: Output = Output::lower("probe.linear.ece", "0 to 1")
    .about("expected calibration error: accuracy against confidence in bins of equal width")
    .best_when_constant();
const ECE_OF_MASS: Output = Output::lower("probe.linear.ece(bins=mass)", "0 to 1")
    .about("the same in bins that hold equally many rows")
    .best_when_constant();
const VOTE: Output = Output::higher("probe.knn.accuracy@K", "0 to 1")
    .about("share of rows whose label the K nearest rows of other folds vote for");
const VOTE_SELECTIVITY: Output = Output::higher("probe.knn.selectivity@K", "−1 to 1")
    .about("k-NN accuracy less that of votes about shuffled labels");
const R2: Output =
    Output::higher("probe.linear.r2", "1 and below").about("R² of ridge regression of other rows, mean of all targets");
const R2_OF_TARGET: Output = Output::higher("probe.linear.r2(target=NAME)", "1 and below")
    .about("R² of ridge regression of other rows, of one target");
const R2_BY_VARIANCE: Output = Output::higher("probe.linear.r2(average=variance)", "1 and below")
    .about("the same as a share of the variance of all targets together");
const ERROR: Output = Output::lower("probe.linear.mae(target=NAME)", "0 and above")
    .about("mean absolute error of ridge regression of other rows");

/// What intervals of votes, and of differences from a control, are wider by than those of independent rows: rows that are tested also train.
/// With this factor they hold what they should in simulations.
const WIDER: f64 = 1.224_744_871_391_589; // √1.5

/// The same of the accuracy and the loss of logistic regression, whose weights a single row that trains moves less than a vote.
const WIDER_OF_LOGISTIC: f64 = 1.095_445_115_010_332; // √1.2

const OF_TARGETS: [&Output; 4] = [&R2, &R2_BY_VARIANCE, &R2_OF_TARGET, &ERROR];
const OF_LABELS: [&Output; 6] = [&ACCURACY, &SELECTIVITY, &CONTROL, &LOSS, &ECE, &ECE_OF_MASS];

pub(super) static METRIC: Metric = Metric {
    id: "probe",
    title: "Probes",
    outputs: &[
        ACCURACY,
        SELECTIVITY,
        CONTROL,
        LOSS,
        ECE,
        ECE_OF_MASS,
        VOTE,
        VOTE_SELECTIVITY,
        R2,
        R2_OF_TARGET,
        R2_BY_VARIANCE,
        ERROR,
    ],
    page: include_str!("probe.md"),
    invariances: &[Invariance::Shift, Invariance::Scale],
    options: &[
        "label-sets",
        "test-model",
        "test-labels",
        "test-label-sets",
        "test-targets",
        "test-episodes",
        "folds",
        "penalties",
        "k",
        "distance",
        "bins",
        "shots",
        "draws",
    ],
    ..Metric::of(
        Analysis::Probe,
        &[Takes::Embeddings, Takes::LabelsIfAny, Takes::ValuesIfAny],
        Work::Study { needs, compute },
    )
};

fn needs(_: &Spec, study: &Study) -> Result<Vec<Need>> {
    let has_any = study.labels.is_some() || !study.label_sets.is_empty() || study.targets.is_some();
    Ok(if has_any { vec![Need::Probe] } else { Vec::new() })
}

fn compute(shared: &Shared) -> Result<Results> {
    let rows = shared.study.embeddings.rows();
    let mut results = Results::default();
    if needs(shared.spec, shared.study)?.is_empty() {
        let set = Set {
            name: None,
            units: Units::Single("rows"),
            spec: shared.spec,
        };
        let ids = set
            .ids()
            .into_iter()
            .chain(OF_TARGETS.map(|output| output.id.to_string()));
        let undefined = |id| Score::undefined(id, "needs labels or targets, one for each row", rows);
        results.scores.extend(ids.map(undefined));
        return Ok(results);
    }
    let probe = shared.probe()?;
    let groups: Option<Vec<u32>> = shared.study.episodes.as_ref().map(|episodes| {
        let code = |row: &u32| episodes.codes()[*row as usize];
        probe.tested.iter().map(code).collect()
    });
    let units = match &groups {
        Some(codes) => Units::Groups(codes, "episodes"),
        None => Units::Single("rows"),
    };
    for (name, found) in &probe.labels {
        let set = Set {
            name: name.as_deref(),
            units,
            spec: shared.spec,
        };
        match found {
            Ok(found) => set.add(found, &mut results),
            Err(reason) => {
                let undefined = |id| Score::undefined(id, reason.clone(), probe.tested.len());
                results.scores.extend(set.ids().into_iter().map(undefined));
            }
        }
    }
    match &probe.targets {
        None => {}
        Some(Ok(found)) => of_targets(found, probe, units, shared.spec, &mut results),
        Some(Err(reason)) => {
            let names = shared.study.targets.iter().flat_map(|targets| targets.names());
            let of_each = names.flat_map(|name| [&R2_OF_TARGET, &ERROR].map(|output| output.id.replace("NAME", name)));
            let ids = [&R2, &R2_BY_VARIANCE]
                .map(|output| output.id.to_string())
                .into_iter()
                .chain(of_each);
            let undefined = |id| Score::undefined(id, reason.clone(), probe.tested.len());
            results.scores.extend(ids.map(undefined));
        }
    }
    Ok(results)
}

/// One set of labels.
struct Set<'a> {
    name: Option<&'a str>,
    units: Units<'a>,
    spec: &'a Spec,
}

impl Set<'_> {
    /// The identity of an output for this set: with the name of the set where there are several.
    fn id(&self, output: &Output, k: Option<usize>) -> String {
        let mut id = output.id.to_string();
        if let Some(name) = self.name {
            id = match (id.strip_suffix(')'), id.split_once('@')) {
                (Some(open), _) => format!("{open},labels={name})"),
                (None, Some((plain, at))) => format!("{plain}(labels={name})@{at}"),
                (None, None) => format!("{id}(labels={name})"),
            };
        }
        match k {
            Some(k) => id.replace("@K", &format!("@{k}")),
            None => id,
        }
    }

    /// The identities of all its scores.
    fn ids(&self) -> Vec<String> {
        let votes = self.spec.probe.k.iter();
        let votes = votes.flat_map(|k| [&VOTE, &VOTE_SELECTIVITY].map(|output| self.id(output, Some(*k))));
        let linear = OF_LABELS.iter().map(|output| self.id(output, None));
        linear.chain(votes).collect()
    }

    /// A share of rows with its interval.
    fn share(&self, id: String, right: &[bool], chance: f64) -> Score {
        let values = numbers(right);
        let value = interval::mean(&values);
        let interval = interval::of_share_over(&values, self.units, self.spec.level);
        Score::number(id, value, values.len())
            .with_interval(interval.map(|own| own.about(value, WIDER_OF_LOGISTIC)))
            .with_chance(chance)
    }

    /// How much larger one share is than another of the same rows.
    fn rise(&self, id: String, right: &[bool], control: &[bool]) -> Score {
        let values = numbers(right).into_iter().zip(numbers(control));
        let values: Vec<f64> = values.map(|(a, b)| a - b).collect();
        let value = interval::mean(&values);
        let interval = interval::of_mean(&values, self.units, self.spec.level).map(|own| own.about(value, WIDER));
        Score::number(id, value, values.len())
            .with_interval(interval)
            .with_chance(0.0)
    }

    /// A share of rows that votes get right: each row votes for others, too.
    fn vote(&self, id: String, right: &[bool], chance: f64) -> Score {
        let values = numbers(right);
        let value = interval::mean(&values);
        let interval = interval::of_share_over(&values, self.units, self.spec.level);
        Score::number(id, value, values.len())
            .with_interval(interval.map(|own| own.about(value, WIDER)))
            .with_chance(chance)
    }

    fn add(&self, found: &OfLabels, results: &mut Results) {
        let n = found.own.len();
        let right = |elected: &[u32]| -> Vec<bool> { found.own.iter().zip(elected).map(|(a, b)| a == b).collect() };
        let linear = right(&found.linear.elected);
        let mut accuracy = self.share(self.id(&ACCURACY, None), &linear, found.majority);
        if found.unknown > 0 {
            accuracy = accuracy.with_note(format!(
                "{} rows have a label that no row has that trains",
                found.unknown
            ));
        }
        let loss = &found.linear.loss;
        let mean = interval::mean(loss);
        let of_loss = interval::of_mean(loss, self.units, self.spec.level)
            .map(|own| own.with_skewness(mean).about(mean, WIDER_OF_LOGISTIC));
        let mut scores = vec![
            accuracy,
            self.rise(self.id(&SELECTIVITY, None), &linear, &found.control),
            Score::number(self.id(&CONTROL, None), interval::mean(&numbers(&found.control)), n)
                .with_chance(found.majority),
            Score::number(self.id(&LOSS, None), mean, n)
                .with_interval(of_loss)
                .with_chance(entropy(&found.own)),
        ];
        for (output, bins) in [
            (&ECE, Bins::of_width(&found.linear.confidence, self.spec.probe.bins)),
            (
                &ECE_OF_MASS,
                Bins::of_mass(&found.linear.confidence, self.spec.probe.bins),
            ),
        ] {
            let gaps: Vec<f64> = numbers(&linear)
                .iter()
                .zip(&found.linear.confidence)
                .map(|(r, c)| r - c)
                .collect();
            let (value, derivatives) = bins.error(&gaps, self.units);
            let interval = interval::of_influence(value, &derivatives, self.units, self.spec.level);
            scores.push(Score::number(self.id(output, None), value, n).with_interval(interval));
        }
        for k in &self.spec.probe.k {
            let ids = [&VOTE, &VOTE_SELECTIVITY].map(|output| self.id(output, Some(*k)));
            match found.neighbors.iter().find(|own| own.k == *k) {
                Some(own) => {
                    let [plain, selective] = ids;
                    let votes = right(&own.elected);
                    scores.push(self.vote(plain, &votes, found.majority));
                    scores.push(self.rise(selective, &votes, &own.control));
                }
                None => {
                    let reason = format!("k = {k} is more than the rows that train");
                    scores.extend(ids.map(|id| Score::undefined(id, reason.clone(), n)));
                }
            }
        }
        results.scores.extend(scores);
        if found.linear.unsettled > 0 {
            results.warnings.push(format!(
                "{} of the logistic probes had not settled after 500 rounds; larger `penalties` settle sooner",
                found.linear.unsettled
            ));
        }
        results.breakdowns.push(self.penalties(found));
        if !found.few.is_empty() {
            self.add_few(found, results);
        }
    }

    /// The penalty that was chosen for each fold.
    fn penalties(&self, found: &OfLabels) -> Breakdown {
        let lines: Vec<(usize, f64)> = found.linear.chosen.iter().copied().enumerate().collect();
        Breakdown::of(self.named("probe.penalties"), &lines)
            .key("fold", |line| line.0.to_string())
            .column("penalty", |line| Some(line.1))
            .table
    }

    fn named(&self, name: &str) -> String {
        match self.name {
            Some(set) => format!("{name}(labels={set})"),
            None => name.to_string(),
        }
    }

    /// The accuracies of probes of few rows, with Student's t over the draws.
    fn add_few(&self, found: &OfLabels, results: &mut Results) {
        let lines: Vec<(usize, f64, Option<[f64; 2]>, usize)> = found
            .few
            .iter()
            .map(|own| {
                let mean = interval::mean(&own.accuracies);
                let ends = interval::of_mean(&own.accuracies, Units::Single("draws"), self.spec.level);
                let ends = ends.map(|i| [i.low.clamp(0.0, 1.0), i.high.clamp(0.0, 1.0)]);
                (own.shots, mean, ends, own.accuracies.len())
            })
            .collect();
        let name = self.named("probe.few_shot");
        results.curves.push(Curve {
            model: String::new(),
            metric: name.as_str().into(),
            x_label: "rows of each class".to_string(),
            y_label: "accuracy".to_string(),
            x: lines.iter().map(|line| line.0 as f64).collect(),
            y: lines.iter().map(|line| line.1).collect(),
        });
        let table = Breakdown::of(name, &lines)
            .key("shots", |line| line.0.to_string())
            .column("accuracy", |line| Some(line.1))
            .column("low", |line| line.2.map(|ends| ends[0]))
            .column("high", |line| line.2.map(|ends| ends[1]))
            .column("chance", |_| Some(found.majority))
            .column("draws", |line| Some(line.3 as f64));
        results.breakdowns.push(table.table);
    }
}

fn numbers(right: &[bool]) -> Vec<f64> {
    right.iter().map(|own| f64::from(u8::from(*own))).collect()
}

/// −Σ p ln p of the shares of the classes: the loss of a probe that knows nothing but these.
fn entropy(codes: &[u32]) -> f64 {
    let mut counts = vec![0.0; codes.iter().max().map_or(0, |last| *last as usize + 1)];
    codes.iter().for_each(|code| counts[*code as usize] += 1.0);
    let n = codes.len() as f64;
    let of = |count: &f64| {
        if *count > 0.0 {
            -count / n * (count / n).ln()
        } else {
            0.0
        }
    };
    counts.iter().map(of).sum()
}

/// The bin of each row by its confidence.
struct Bins(Vec<usize>);

impl Bins {
    /// ((b − 1) / bins, b / bins].
    fn of_width(confidence: &[f64], bins: usize) -> Self {
        let bin = |c: &f64| ((c * bins as f64).ceil() as usize).clamp(1, bins) - 1;
        Bins(confidence.iter().map(bin).collect())
    }

    /// As many rows in each, by rank; rows of one confidence stay in the order of the rows.
    fn of_mass(confidence: &[f64], bins: usize) -> Self {
        let n = confidence.len();
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|&a, &b| confidence[a].total_cmp(&confidence[b]).then(a.cmp(&b)));
        let mut of = vec![0; n];
        for (rank, &row) in order.iter().enumerate() {
            of[row] = rank * bins / n;
        }
        Bins(of)
    }

    /// Σ_b |Σ (right − confidence)| / N, and what each row does to it.
    ///
    /// The absolute value of a sum near zero varies less than the sum: that of a normal S with mean μ and variance s² has the variance
    /// μ² + s² − (E|S|)². So what the rows of a bin do is what they do to its sum, times the root of that over s², with S² − s² for μ².
    fn error(&self, gaps: &[f64], units: Units) -> (f64, Vec<f64>) {
        let count = self.0.iter().max().map_or(0, |last| last + 1);
        let n = gaps.len() as f64;
        let mut sums = vec![0.0; count];
        self.0.iter().zip(gaps).for_each(|(bin, gap)| sums[*bin] += gap);
        let value = sums.iter().map(|sum: &f64| sum.abs()).sum::<f64>() / n;
        let of_sum = |(bin, sum): (usize, &f64)| {
            let own: Vec<f64> = self
                .0
                .iter()
                .zip(gaps)
                .map(|(b, gap)| if *b == bin { *gap } else { 0.0 })
                .collect();
            let of_units = units.sums(&own);
            let count = of_units.len() as f64;
            let squares = of_units.iter().map(|unit| (unit.0 - sum / count).powi(2)).sum::<f64>();
            sum.signum() * folded(*sum, squares * count / (count - 1.0))
        };
        let slopes: Vec<f64> = sums.iter().enumerate().map(of_sum).collect();
        let of_rows: Vec<f64> = self.0.iter().zip(gaps).map(|(bin, gap)| slopes[*bin] * gap).collect();
        let mean = interval::mean(&of_rows);
        (value, of_rows.into_iter().map(|own| (own - mean) / n).collect())
    }
}

/// The standard deviation of |S| over that of a normal S, from one S and its variance.
fn folded(sum: f64, variance: f64) -> f64 {
    if variance <= 0.0 || !variance.is_finite() {
        return 0.0;
    }
    // The mean in standard deviations.
    let at = (sum * sum / variance - 1.0).max(0.0).sqrt();
    let mean = (2.0 / std::f64::consts::PI).sqrt() * (-at * at / 2.0).exp()
        + at * statrs::function::erf::erf(at / 2f64.sqrt());
    (at * at + 1.0 - mean * mean).max(0.0).sqrt()
}

fn of_targets(found: &OfTargets, probe: &Probe, units: Units, spec: &Spec, results: &mut Results) {
    let (n, count) = (probe.tested.len(), found.names.len());
    let column =
        |values: &[f64], target: usize| -> Vec<f64> { values.iter().skip(target).step_by(count).copied().collect() };
    // Of each target Σ (y − ŷ)² and Σ (y − ȳ)², and the terms of both.
    let mut parts: Vec<Option<Parts>> = Vec::new();
    let mut scores = Vec::new();
    for (target, name) in found.names.iter().enumerate() {
        let (own, predicted) = (column(&found.own, target), column(&found.ridge.predicted, target));
        let trained = |miss: Miss| {
            found
                .ridge
                .trained
                .as_ref()
                .map(|trained| WhileTraining::new(trained, target, miss))
        };
        let part = Parts::new(&own, &predicted, trained(Miss::Squared));
        let id = format!("probe.linear.r2(target={name})");
        scores.push(match &part {
            None => Score::undefined(id, "the target is the same for all rows", n),
            Some(part) => r_squared(id, &[part], &[1.0], units, spec.level),
        });
        let errors: Vec<f64> = own.iter().zip(&predicted).map(|(y, p)| (y - p).abs()).collect();
        let error = interval::mean(&errors);
        let interval = match trained(Miss::Absolute) {
            None => interval::of_mean(&errors, units, spec.level),
            Some(trained) => {
                let own = errors.iter().zip(&trained.of_all);
                let derivatives: Vec<f64> = own.map(|(e, more)| (e - error + more) / n as f64).collect();
                let interval = interval::of_influence(error, &derivatives, units, spec.level);
                let of_pairs = trained.of_pairs(units) / (n as f64).powi(2);
                interval.map(|own| own.without_pairs(error, of_pairs))
            }
        };
        scores.push(
            Score::number(format!("probe.linear.mae(target={name})"), error, n)
                .with_interval(interval.map(|own| own.with_skewness(error)))
                .with_chance(around_median(own)),
        );
        parts.push(part);
    }
    let known: Option<Vec<&Parts>> = parts.iter().map(Option::as_ref).collect();
    let of_all = match known {
        None => {
            let constant = parts.iter().position(Option::is_none).unwrap_or(0);
            let reason = format!("the target `{}` is the same for all rows", found.names[constant]);
            [&R2, &R2_BY_VARIANCE].map(|output| Score::undefined(output, reason.clone(), n))
        }
        Some(known) => {
            let alike = vec![1.0 / count as f64; count];
            let together = Parts::together(&known);
            [
                r_squared(R2.id.to_string(), &known, &alike, units, spec.level),
                r_squared(R2_BY_VARIANCE.id.to_string(), &[&together], &[1.0], units, spec.level),
            ]
        }
    };
    results.scores.extend(of_all);
    results.scores.extend(scores);
    let mut lines: Vec<(usize, &str, f64)> = Vec::new();
    for (fold, penalties) in found.ridge.chosen.iter().enumerate() {
        lines.extend(
            found
                .names
                .iter()
                .zip(penalties)
                .map(|(name, penalty)| (fold, name.as_str(), *penalty)),
        );
    }
    let table = Breakdown::of("probe.penalties.targets", &lines)
        .key("fold", |line| line.0.to_string())
        .key("target", |line| line.1.to_string())
        .column("penalty", |line| Some(line.2));
    results.breakdowns.push(table.table);
}

/// What rows do to a sum of errors as rows that train, by weight: to all of them, and to sums with random signs.
struct WhileTraining {
    of_all: Vec<f64>,
    of_signs: Vec<Vec<f64>>,
}

impl WhileTraining {
    fn new(trained: &Trained, target: usize, miss: Miss) -> Self {
        WhileTraining {
            of_all: trained.of_all(target, miss),
            of_signs: trained.of_signs(target, miss),
        }
    }

    /// The sum of several, each with a weight.
    fn together<'a>(parts: impl Iterator<Item = (&'a WhileTraining, f64)>) -> Option<Self> {
        let mut total: Option<WhileTraining> = None;
        for (part, weight) in parts {
            let times = |values: &[f64]| -> Vec<f64> { values.iter().map(|x| weight * x).collect() };
            let add =
                |sum: &mut Vec<f64>, values: &[f64]| sum.iter_mut().zip(values).for_each(|(s, x)| *s += weight * x);
            match &mut total {
                None => {
                    total = Some(WhileTraining {
                        of_all: times(&part.of_all),
                        of_signs: part.of_signs.iter().map(|own| times(own)).collect(),
                    });
                }
                Some(total) => {
                    add(&mut total.of_all, &part.of_all);
                    total
                        .of_signs
                        .iter_mut()
                        .zip(&part.of_signs)
                        .for_each(|(sum, own)| add(sum, own));
                }
            }
        }
        total
    }

    /// Σ of the squares of what every unit that trains does to every unit that is tested, which is in the effects of both. That two units
    /// take turns in both parts, and move the sum in the same direction, stays in: the law of such products is skewed.
    fn of_pairs(&self, units: Units) -> f64 {
        let square = |own: &Vec<f64>| units.sums(own).iter().map(|unit| unit.0 * unit.0).sum::<f64>();
        self.of_signs.iter().map(square).sum::<f64>() / self.of_signs.len() as f64
    }
}

/// The parts of R² of a target: squared errors, and squared distances from the mean.
struct Parts {
    errors: Vec<f64>,
    trained: Option<WhileTraining>,
    distances: Vec<f64>,
    of_error: f64,
    of_target: f64,
}

impl Parts {
    fn new(own: &[f64], predicted: &[f64], trained: Option<WhileTraining>) -> Option<Self> {
        let mean = interval::mean(own);
        let errors = own.iter().zip(predicted).map(|(y, p)| (y - p).powi(2));
        let distances = own.iter().map(|y| (y - mean).powi(2));
        let part = Parts::of(errors.collect(), distances.collect(), trained);
        let floor = own.len() as f64 * (1e-13 * mean).powi(2);
        (part.of_target > floor).then_some(part)
    }

    fn of(errors: Vec<f64>, distances: Vec<f64>, trained: Option<WhileTraining>) -> Self {
        Parts {
            of_error: errors.iter().sum(),
            of_target: distances.iter().sum(),
            errors,
            trained,
            distances,
        }
    }

    /// Of all targets as one.
    fn together(parts: &[&Parts]) -> Self {
        let sum = |of: fn(&Parts) -> &[f64]| -> Vec<f64> {
            let mut total = vec![0.0; of(parts[0]).len()];
            for part in parts {
                total.iter_mut().zip(of(part)).for_each(|(t, x)| *t += x);
            }
            total
        };
        let trained = parts.iter().filter_map(|part| Some((part.trained.as_ref()?, 1.0)));
        let trained = WhileTraining::together(trained);
        Parts::of(sum(|part| &part.errors), sum(|part| &part.distances), trained)
    }
}

/// Σ w R², with the derivatives by the weights of the rows: −((y − ŷ)² − (1 − R²)(y − ȳ)²) / Σ (y − ȳ)², and what they do as rows that train.
fn r_squared(id: String, parts: &[&Parts], weights: &[f64], units: Units, level: f64) -> Score {
    let n = parts[0].errors.len();
    let (mut value, mut derivatives) = (0.0, vec![0.0; n]);
    for (part, weight) in parts.iter().zip(weights) {
        let missed = part.of_error / part.of_target;
        value += weight * (1.0 - missed);
        for ((derivative, e), d) in derivatives.iter_mut().zip(&part.errors).zip(&part.distances) {
            *derivative -= weight * (e - missed * d) / part.of_target;
        }
    }
    let of_parts = parts.iter().zip(weights);
    let trained = of_parts.filter_map(|(part, weight)| Some((part.trained.as_ref()?, weight / part.of_target)));
    let trained = WhileTraining::together(trained);
    if let Some(trained) = &trained {
        derivatives
            .iter_mut()
            .zip(&trained.of_all)
            .for_each(|(own, more)| *own -= more);
    }
    let of_pairs = trained.map_or(0.0, |trained| trained.of_pairs(units));
    // What is missed is positive, and its error grows with it.
    let interval = interval::of_influence(1.0 - value, &derivatives, units, level).map(|own| {
        let own = own.without_pairs(1.0 - value, of_pairs);
        let missed = own.on_log_scale(1.0 - value);
        Interval {
            low: 1.0 - missed.high,
            high: 1.0 - missed.low,
            ..missed
        }
    });
    Score::number(id, value, n).with_interval(interval).with_chance(0.0)
}

/// The mean absolute error of the best constant.
fn around_median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let median = values[values.len() / 2];
    values.iter().map(|y| (y - median).abs()).sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_absolute_value_near_zero_varies_less() {
        // |S| of a standard normal S has the variance 1 − 2/π; far from zero it varies as S does.
        let half = (1.0 - 2.0 / std::f64::consts::PI).sqrt();
        assert!((folded(0.0, 4.0) - half).abs() < 1e-12 && (folded(1.9, 4.0) - half).abs() < 1e-12);
        assert!((folded(80.0, 4.0) - 1.0).abs() < 1e-6 && folded(3.0, 4.0) > half);
        assert_eq!(folded(1.0, 0.0), 0.0);
    }
}
