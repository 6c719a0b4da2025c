// SPDX-License-Identifier: MIT
//! From a retrieval to its scores: one ranking pass per direction serves all metrics, all K and all sets of labels.

use crate::data::{Direction, LabelSet, Labels, Retrieval};
use crate::error::{Result, refuse_if};
use crate::kernels::rankings::{self, Job, Rankings, Relevance, Standing, rank, rank_both};
use crate::kernels::similarity::{Products, Side, Way};
use crate::metrics::{Metric, Part, Work};
use crate::plan::memory;
use crate::results::Results;
use crate::run::Driver;
use crate::spec::{Similarity, Spec};

/// A direction of a retrieval with what its queries found.
pub(crate) struct Ranked<'a> {
    pub(crate) spec: &'a Spec,
    /// `text2sensor`.
    pub(crate) direction: String,
    /// How many queries there are.
    pub(crate) queries: usize,
    /// How many targets there are, and how many a query can find: in a self-direction not itself.
    pub(crate) targets: usize,
    pub(crate) findable: usize,
    /// Whether both sides are the same space.
    pub(crate) is_self: bool,
    /// Whether row i of the queries and row i of the targets are the same sample.
    pub(crate) is_paired: bool,
    /// The distance between the means of the unit-length rows of both sides.
    pub(crate) gap: f64,
    pub(crate) rankings: Rankings,
    pub(crate) sets: Vec<RankedSet>,
}

/// What the queries found, seen through one set of labels.
pub(crate) struct RankedSet {
    name: Option<String>,
    pub(crate) relevance: Relevance,
    pub(crate) standings: Vec<Standing>,
    /// The queries that have a relevant target. The others have no score.
    pub(crate) counted: Vec<usize>,
    /// For each K: the relevant targets among the first K of each query that counts, and their discounted gain.
    pub(crate) hits: Vec<Vec<u32>>,
    pub(crate) gains: Vec<Vec<f64>>,
}

impl Ranked<'_> {
    /// The identity of a score of this direction, from its declared pattern: `hubness.DIRECTION@K`.
    pub(crate) fn id(&self, pattern: &str, k: Option<usize>) -> String {
        let at = k.map_or(String::new(), |k| format!("@{k}"));
        pattern.replace("DIRECTION", &self.direction).replace("@K", &at)
    }

    /// The K that is really used: there may be fewer targets.
    pub(crate) fn effective(&self, k: usize) -> usize {
        k.min(self.findable)
    }
}

impl RankedSet {
    /// The identity of a score of this direction and set: `label_precision.text2sensor.macro(labels=l2)@10`.
    pub(crate) fn id(&self, ranked: &Ranked, pattern: &str, k: Option<usize>) -> String {
        let set = self.name.as_ref().map_or(String::new(), |n| format!("(labels={n})"));
        ranked.id(&format!("{}{set}@K", pattern.trim_end_matches("@K")), k)
    }

    /// The code of the label of a query.
    pub(crate) fn code(&self, query: usize) -> usize {
        self.relevance.queries[query] as usize
    }

    /// How many targets are relevant to a query.
    pub(crate) fn relevant(&self, query: usize) -> usize {
        self.relevance.relevant(self.code(query))
    }
}

/// Computes the metrics for every direction of every retrieval. Problems of the input are found before heavy work.
pub fn retrieve(retrievals: &[Retrieval], metrics: &[&Metric], spec: &Spec, driver: &Driver) -> Result<Results> {
    spec.check()?;
    let k = &spec.retrieval_k;
    refuse_if(k.is_empty() || k.contains(&0), || {
        format!("K = {k:?}: a retrieval looks at the first K targets, at least one; 10, 50 and 100 are usual")
    })?;
    for retrieval in retrievals {
        retrieval.check()?;
        check_memory(retrieval, spec)?;
    }
    let mut results = Results::default();
    let reads_whole = metrics.iter().any(|m| m.reads_whole_ranking());
    let part = if reads_whole { Part::Whole } else { Part::First };
    for retrieval in retrievals {
        let side = |space| Side::new(space, spec.similarity, driver);
        let sides: Vec<Side> = retrieval.spaces.iter().map(|space| side(space)).collect();
        let mut answer = Results::default();
        answer.warnings.extend(zero_rows(&sides, spec));
        answer.warnings.extend(repeated_rows(retrieval, &sides));
        let search = Search {
            retrieval,
            part,
            sides: &sides,
            spec,
            driver,
        };
        // What the opposite of an earlier direction found already.
        let mut found: Vec<(usize, Rankings)> = Vec::new();
        for number in 0..retrieval.directions.len() {
            let rankings = match found.iter().position(|(n, _)| *n == number) {
                Some(place) => found.swap_remove(place).1,
                None => search.rank(number, &mut found),
            };
            let ranked = search.ranked(retrieval.directions[number], rankings);
            answer.warnings.extend(advice(&ranked));
            for metric in metrics {
                let Work::Ranking(_, compute) = metric.work else {
                    return Err(metric.is_not("a score of a retrieval"));
                };
                answer.absorb(compute(&ranked));
            }
        }
        let answer = answer.of_model(&retrieval.model);
        results.absorb(answer.with_named_warnings(&retrieval.model, retrievals.len() > 1));
    }
    Ok(results)
}

/// The search of one retrieval.
struct Search<'a> {
    retrieval: &'a Retrieval,
    part: Part,
    sides: &'a [Side<'a>],
    spec: &'a Spec,
    driver: &'a Driver<'a>,
}

impl<'a> Search<'a> {
    /// Ranks the targets of a direction. Where its opposite comes later, that is found as well and put aside.
    fn rank(&self, number: usize, found: &mut Vec<(usize, Rankings)>) -> Rankings {
        let directions = &self.retrieval.directions;
        let direction = directions[number];
        let is_opposite = |d: &Direction| d.query == direction.target && d.target == direction.query;
        let later = (number + 1..directions.len()).find(|&n| is_opposite(&directions[n]));
        let relevances = self.read(direction);
        let job = self.job(direction, &relevances);
        let Some(later) = later.filter(|_| !job.is_self) else {
            return rank(&job, self.driver);
        };
        let of_opposite = self.read(directions[later]);
        let opposite = self.job(directions[later], &of_opposite);
        let memory = self.spec.memory.unwrap_or(u64::MAX);
        let [rankings, others] = rank_both([&job, &opposite], memory, self.driver);
        found.push((later, others));
        rankings
    }

    fn job<'b>(&'b self, direction: Direction, relevances: &'b [Relevance]) -> Job<'b> {
        let products = Products::new(&self.sides[direction.query], &self.sides[direction.target]);
        let is_self = direction.query == direction.target;
        let largest = self.spec.retrieval_k.iter().copied().max().unwrap_or(1);
        Job {
            products,
            way: if direction.query <= direction.target {
                Way::There
            } else {
                Way::Back
            },
            relevances,
            is_self,
            depth: largest.min(products.target.space.rows() - usize::from(is_self)),
        }
    }

    fn relevances(&self, direction: Direction) -> Vec<Relevance> {
        let is_self = direction.query == direction.target;
        let sets = self.retrieval.label_sets.iter();
        sets.map(|set| relevance(set, direction, is_self)).collect()
    }

    /// The sets of labels whose standings are read.
    fn read(&self, direction: Direction) -> Vec<Relevance> {
        match self.part {
            Part::Whole => self.relevances(direction),
            Part::First => Vec::new(),
        }
    }

    /// A direction with what its queries found.
    fn ranked(&self, direction: Direction, mut rankings: Rankings) -> Ranked<'a> {
        let (query, target) = (&self.sides[direction.query], &self.sides[direction.target]);
        let is_self = direction.query == direction.target;
        let relevances = self.relevances(direction);
        let mut standings = std::mem::take(&mut rankings.standings);
        standings.resize(relevances.len(), Vec::new());
        let mut ranked = Ranked {
            spec: self.spec,
            direction: self.retrieval.direction_name(direction),
            queries: query.space.rows(),
            targets: target.space.rows(),
            findable: target.space.rows() - usize::from(is_self),
            is_self,
            is_paired: self.retrieval.is_paired(direction),
            gap: if is_self {
                0.0
            } else {
                gap(query, target, self.spec, self.driver)
            },
            rankings,
            sets: Vec::new(),
        };
        for ((relevance, standings), set) in relevances.into_iter().zip(standings).zip(&self.retrieval.label_sets) {
            let counted = (0..ranked.queries).filter(|&q| relevance.relevant(relevance.queries[q] as usize) > 0);
            let mut set = RankedSet {
                name: set.name.clone(),
                counted: counted.collect(),
                relevance,
                standings,
                hits: Vec::new(),
                gains: Vec::new(),
            };
            count_hits(&ranked, &mut set);
            ranked.sets.push(set);
        }
        ranked
    }
}

/// The labels of both sides under common codes: a label is the same where its name is.
fn relevance(set: &LabelSet, direction: Direction, is_self: bool) -> Relevance {
    let (queries, targets) = (&set.of_space[direction.query], &set.of_space[direction.target]);
    let joint = Labels::new(&[queries.names(), targets.names()].concat());
    let (of_queries, of_targets) = joint.codes().split_at(queries.classes());
    let codes = |labels: &Labels, joint: &[u32]| labels.codes().iter().map(|&c| joint[c as usize]).collect();
    Relevance::new(
        joint.names().to_vec(),
        codes(queries, of_queries),
        codes(targets, of_targets),
        is_self,
    )
}

fn count_hits(ranked: &Ranked, set: &mut RankedSet) {
    let discount = |i: usize| 1.0 / ((i + 2) as f64).log2();
    let discounts: Vec<f64> = (0..ranked.rankings.depth).map(discount).collect();
    for &k in &ranked.spec.retrieval_k {
        let k = ranked.effective(k);
        let (mut hits, mut gains) = (Vec::new(), Vec::new());
        for &q in &set.counted {
            let (mut count, mut gain) = (0, 0.0);
            for (&j, discount) in ranked.rankings.of(q)[..k].iter().zip(&discounts) {
                if set.relevance.targets[j as usize] == set.relevance.queries[q] {
                    count += 1;
                    gain += discount;
                }
            }
            hits.push(count);
            gains.push(gain);
        }
        set.hits.push(hits);
        set.gains.push(gains);
    }
}

/// ‖mean of the unit rows of one side − that of the other‖. Rows of length zero count as zero vectors.
fn gap(query: &Side, target: &Side, spec: &Spec, driver: &Driver) -> f64 {
    let mean = |side: &Side| match spec.similarity {
        Similarity::Cosine => side.mean(driver),
        Similarity::Dot => Side::new(side.space, Similarity::Cosine, driver).mean(driver),
    };
    let means = mean(query).into_iter().zip(mean(target));
    let squares = means.map(|(a, b)| (a - b) * (a - b));
    squares.sum::<f64>().sqrt()
}

fn zero_rows(sides: &[Side], spec: &Spec) -> Vec<String> {
    if spec.similarity == Similarity::Dot {
        return Vec::new();
    }
    let zero = sides.iter().filter(|s| s.zeros > 0).map(|s| {
        let (zeros, rows, name) = (s.zeros, s.space.rows(), s.space.name());
        format!(
            "{zeros} of the {rows} rows of `{name}` have length zero and so no direction: their cosine with every row is taken \
             as 0, which ranks by row number alone; remove such rows"
        )
    });
    zero.collect()
}

/// Equal targets tie whatever the query: then the order of the file decides who is first.
fn repeated_rows(retrieval: &Retrieval, sides: &[Side]) -> Vec<String> {
    let is_searched = |number: usize| retrieval.directions.iter().any(|d| d.target == number);
    let repeated = (0..).zip(sides).filter(|(number, _)| is_searched(*number));
    let words = repeated.filter(|(_, s)| s.repeats() > 0).map(|(_, s)| {
        let (count, rows, name) = (s.repeats(), s.space.rows(), s.space.name());
        format!(
            "{count} of the {rows} rows of `{name}` equal an earlier row; such targets tie, and ties go to the smaller row number"
        )
    });
    words.collect()
}

/// What a reader of this direction's scores must know.
fn advice(ranked: &Ranked) -> Vec<String> {
    let mut advice = Vec::new();
    let direction = &ranked.direction;
    for &k in ranked.spec.retrieval_k.iter().filter(|&&k| k > ranked.findable) {
        advice.push(format!(
            "{direction}: K = {k}, but a query can find only {0} targets; all {0} were taken, and effective_k says so",
            ranked.findable
        ));
    }
    for set in &ranked.sets {
        let left_out = ranked.queries - set.counted.len();
        if left_out == 0 {
            continue;
        }
        let relevance = &set.relevance;
        let lone = (0..relevance.names.len()).filter(|&c| relevance.query_counts[c] > 0 && relevance.relevant(c) == 0);
        let names: Vec<&str> = lone.map(|c| relevance.names[c].as_str()).collect();
        let why = if ranked.is_self { "no other row" } else { "no target" };
        let shown = names[..names.len().min(10)].join(", ");
        let more = if names.len() > 10 { ", …" } else { "" };
        advice.push(format!(
            "{}: {left_out} of {} queries are left out, because {} of {} labels have {why}: {shown}{more}",
            set.id(ranked, "DIRECTION", None),
            ranked.queries,
            names.len(),
            relevance.query_counts.iter().filter(|&&c| c > 0).count(),
        ));
    }
    advice
}

/// Refuses a run whose dearest direction would not fit the budget, before any work.
fn check_memory(retrieval: &Retrieval, spec: &Spec) -> Result<()> {
    let Some(budget) = spec.memory else { return Ok(()) };
    let threads = rayon::current_num_threads();
    let largest = spec.retrieval_k.iter().copied().max().unwrap_or(1);
    for &direction in &retrieval.directions {
        let (query, target) = (&retrieval.spaces[direction.query], &retrieval.spaces[direction.target]);
        let depth = largest.min(target.rows());
        let sets = retrieval.label_sets.iter();
        let counts = sets.flat_map(|set| set.of_space[direction.target].counts());
        let matter = counts.max().unwrap_or(0).max(depth);
        let needed = rankings::memory(query.rows(), target, depth, matter, threads);
        memory::refuse_above(budget, needed, retrieval.direction_name(direction), "use fewer threads")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Analysis;
    use crate::run::Order;
    use crate::{Space, Takes};

    #[test]
    fn an_answer_keeps_its_curves_samples_and_warnings() {
        let compute = |_: &Ranked| crate::results::probe();
        let metric = Metric {
            id: "probe",
            title: "Probe",
            analysis: Analysis::Retrieval,
            outputs: &[],
            page: "",
            invariances: &[],
            takes: &[Takes::Queries],
            options: &[],
            work: Work::Ranking(Part::First, compute),
        };
        let space = Space::from_f64("a", 3, 1, vec![1.0, 2.0, 3.0]).expect("finite");
        let retrieval = Retrieval {
            model: "m".to_string(),
            label_sets: vec![LabelSet {
                name: None,
                of_space: vec![Labels::new(&["x", "x", "x"]).into()],
            }],
            spaces: vec![space.into()],
            is_aligned: vec![true],
            directions: vec![Direction { query: 0, target: 0 }],
        };
        let driver = Driver::silent(Order::Serial);
        let results = retrieve(&[retrieval], &[&metric], &Spec::default(), &driver).expect("valid");
        assert_eq!((results.curves.len(), results.samples.len()), (1, 1));
        assert!(results.curves[0].model == "m" && results.samples[0].model == "m");
        assert!(results.warnings.contains(&"look here".to_string()));
    }
}
