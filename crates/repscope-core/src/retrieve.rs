// SPDX-License-Identifier: MIT
//! From a retrieval to its scores: one ranking pass per direction serves all metrics, all K and all sets of labels.

use crate::blocks;
use crate::data::{Direction, LabelSet, Labels, Retrieval};
use crate::error::{Result, refuse_if};
use crate::kernels::rankings::{self, Influence, Job, Rankings, Relevance, Standing, rank, rank_both};
use crate::kernels::similarity::{Products, Side, Way};
use crate::metrics::{Metric, Part, Work, discount};
use crate::plan::{METRICS_OF_BLOCKS, memory};
use crate::results::Results;
use crate::run::Driver;
use crate::spec::{SearchInterval, Similarity, Spec};

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
    pub(crate) units: SearchUnits,
    pub(crate) rankings: Rankings,
    pub(crate) sets: Vec<RankedSet>,
}

/// What queries and targets are resampled over: rows, or the groups that they come in.
#[derive(Debug, Clone)]
pub(crate) struct SearchUnits {
    /// The unit of each query and of each target. Where both sides are the same samples, or of the same groups, a unit has both.
    pub(crate) codes: [Vec<u32>; 2],
    pub(crate) count: usize,
    /// What they are called, and those of the queries alone.
    pub(crate) name: &'static str,
    pub(crate) of_queries: &'static str,
}

impl SearchUnits {
    fn new(retrieval: &Retrieval, direction: Direction) -> Self {
        let rows = [direction.query, direction.target].map(|space| retrieval.spaces[space].rows());
        let groups = [direction.query, direction.target].map(|space| retrieval.groups_of(space));
        let one_by_one = |from: usize, rows: usize| (from as u32..(from + rows) as u32).collect::<Vec<u32>>();
        let (codes, name, of_queries) = match groups {
            [Some(queries), Some(targets)] => {
                let joint = joint_codes(queries, targets).1;
                (joint, "groups", "groups")
            }
            [Some(groups), None] => {
                let codes = [groups.codes().to_vec(), one_by_one(groups.classes(), rows[1])];
                (codes, "groups and targets", "groups")
            }
            [None, Some(groups)] => {
                let of_groups = groups.codes().iter().map(|code| code + rows[0] as u32);
                (
                    [one_by_one(0, rows[0]), of_groups.collect()],
                    "queries and groups",
                    "queries",
                )
            }
            [None, None] if direction.query == direction.target || retrieval.is_paired(direction) => {
                ([0, 1].map(|side| one_by_one(0, rows[side])), "rows", "queries")
            }
            [None, None] => {
                let codes = [one_by_one(0, rows[0]), one_by_one(rows[0], rows[1])];
                (codes, "queries and targets", "queries")
            }
        };
        let largest = codes.iter().flatten().max();
        SearchUnits {
            count: largest.map_or(0, |&code| code as usize + 1),
            codes,
            name,
            of_queries,
        }
    }

    /// Whether queries or targets come in groups.
    pub(crate) fn are_groups(&self) -> bool {
        self.name.contains("groups")
    }
}

/// What the queries found, seen through one set of labels.
pub(crate) struct RankedSet {
    name: Option<String>,
    pub(crate) relevance: Relevance,
    pub(crate) standings: Vec<Standing>,
    /// By target, what leaving it out does to R-precision, MAP@R and reciprocal ranks of all queries; empty where that is not asked.
    pub(crate) pulls: Vec<[f64; 3]>,
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
        if retrieval.spaces.iter().all(|space| space.elsewhere().is_none()) {
            check_memory(retrieval, spec)?;
        }
    }
    let mut results = Results::default();
    let reads_whole = metrics.iter().any(|m| m.reads_whole_ranking());
    let part = if reads_whole { Part::Whole } else { Part::First };
    for retrieval in retrievals {
        if retrieval.spaces.iter().any(|space| space.elsewhere().is_some()) {
            let answer = retrieve_elsewhere(retrieval, metrics, spec, driver)?.of_model(&retrieval.model);
            results.absorb(answer.with_named_warnings(&retrieval.model, retrievals.len() > 1));
            continue;
        }
        let side = |space| Side::new(space, spec.similarity, driver);
        let sides: Vec<Side> = retrieval.spaces.iter().map(|space| side(space)).collect();
        let mut answer = Results::default();
        let names = || sides.iter().map(|side| (side.space.name(), side.space.rows()));
        let zeros = sides.iter().map(|side| side.zeros);
        answer.warnings.extend(zero_rows(names().zip(zeros), spec));
        let repeats = sides.iter().map(Side::repeats);
        answer
            .warnings
            .extend(repeated_rows(retrieval, names().zip(repeats), spec.similarity));
        let search = Search {
            retrieval,
            part,
            sides: &sides,
            spec,
            driver,
        };
        // What the opposite of an earlier direction found already.
        let mut found: Vec<(usize, Rankings)> = Vec::new();
        let influences: Vec<Option<Influence>> = retrieval.directions.iter().map(|d| search.influence(*d)).collect();
        for number in 0..retrieval.directions.len() {
            let rankings = match found.iter().position(|(n, _)| *n == number) {
                Some(place) => found.swap_remove(place).1,
                None => search.rank(number, &influences, &mut found),
            };
            let ranked = search.ranked(retrieval.directions[number], rankings, influences[number].as_ref());
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

/// A retrieval with a space that is elsewhere: the first targets of each query, and the scores that need no more.
fn retrieve_elsewhere(retrieval: &Retrieval, metrics: &[&Metric], spec: &Spec, driver: &Driver) -> Result<Results> {
    refuse_if(spec.similarity != Similarity::Cosine, || {
        "rows that are not on this machine are ranked by the cosine; leave `no_normalize` out".to_string()
    })?;
    let (reached, others): (Vec<&Metric>, Vec<&Metric>) = metrics
        .iter()
        .partition(|metric| METRICS_OF_BLOCKS.contains(&metric.id));
    let mut answer = Results::default();
    if !others.is_empty() {
        let names: Vec<&str> = others.iter().map(|metric| metric.id).collect();
        let names = names.join(", ");
        answer.warnings.push(format!(
            "not computed of matrices that are read block by block: {names}"
        ));
    }
    let of_spaces = retrieval
        .spaces
        .iter()
        .map(|space| blocks::Directions::of(space, driver));
    let directions: Vec<blocks::Directions> = of_spaces.collect::<Result<_>>()?;
    let names = || retrieval.spaces.iter().map(|space| (space.name(), space.rows()));
    let zeros = directions.iter().map(|own| own.zeros);
    answer.warnings.extend(zero_rows(names().zip(zeros), spec));
    let repeats = directions.iter().map(blocks::Directions::repeats);
    answer
        .warnings
        .extend(repeated_rows(retrieval, names().zip(repeats), spec.similarity));
    for direction in &retrieval.directions {
        let [query, target] = [direction.query, direction.target].map(|space| &retrieval.spaces[space]);
        let is_self = direction.query == direction.target;
        let of = [&directions[direction.query], &directions[direction.target]];
        let asked = (is_self, depth(spec, target.rows(), is_self));
        let rankings = blocks::rank_elsewhere(query, target, of, asked, driver)?;
        // No metric that is computed here reads the gap.
        let ranked = ranked(retrieval, spec, *direction, rankings, None, f64::NAN);
        answer.warnings.extend(advice(&ranked));
        for metric in &reached {
            let Work::Ranking(_, compute) = metric.work else {
                return Err(metric.is_not("a score of a retrieval"));
            };
            answer.absorb(compute(&ranked));
        }
    }
    Ok(answer)
}

/// How many targets are listed: those of the largest K, and the next one, which takes the place of a target that is left out.
fn depth(spec: &Spec, targets: usize, is_self: bool) -> usize {
    let largest = spec.retrieval_k.iter().copied().max().unwrap_or(1);
    (largest + 1).min(targets - usize::from(is_self))
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
    fn rank(&self, number: usize, influences: &[Option<Influence>], found: &mut Vec<(usize, Rankings)>) -> Rankings {
        let directions = &self.retrieval.directions;
        let direction = directions[number];
        let is_opposite = |d: &Direction| d.query == direction.target && d.target == direction.query;
        let later = (number + 1..directions.len()).find(|&n| is_opposite(&directions[n]));
        let relevances = self.read(direction);
        let job = self.job(direction, &relevances, influences[number].as_ref());
        let Some(later) = later.filter(|_| !job.is_self) else {
            return rank(&job, self.driver);
        };
        let of_opposite = self.read(directions[later]);
        let opposite = self.job(directions[later], &of_opposite, influences[later].as_ref());
        let memory = self.spec.memory.unwrap_or(u64::MAX);
        let [rankings, others] = rank_both([&job, &opposite], memory, self.driver);
        found.push((later, others));
        rankings
    }

    /// Where effects of targets on standings are added up, if a metric needs them.
    fn influence(&self, direction: Direction) -> Option<Influence> {
        let is_asked = self.part == Part::Whole && self.spec.search_interval == SearchInterval::Population;
        let units = || SearchUnits::new(self.retrieval, direction).codes;
        is_asked.then(|| Influence::new(units(), self.retrieval.label_sets.len()))
    }

    fn job<'b>(
        &'b self,
        direction: Direction,
        relevances: &'b [Relevance],
        influence: Option<&'b Influence>,
    ) -> Job<'b> {
        let products = Products::new(&self.sides[direction.query], &self.sides[direction.target]);
        let is_self = direction.query == direction.target;
        Job {
            products,
            way: if direction.query <= direction.target {
                Way::There
            } else {
                Way::Back
            },
            relevances,
            is_self,
            depth: depth(self.spec, products.target.space.rows(), is_self),
            influence,
        }
    }

    /// The sets of labels whose standings are read.
    fn read(&self, direction: Direction) -> Vec<Relevance> {
        match self.part {
            Part::Whole => relevances(self.retrieval, direction),
            Part::First => Vec::new(),
        }
    }

    /// A direction with what its queries found.
    fn ranked(&self, direction: Direction, rankings: Rankings, influence: Option<&Influence>) -> Ranked<'a> {
        let (query, target) = (&self.sides[direction.query], &self.sides[direction.target]);
        let gap = if direction.query == direction.target {
            0.0
        } else {
            gap(query, target, self.spec, self.driver)
        };
        ranked(self.retrieval, self.spec, direction, rankings, influence, gap)
    }
}

fn relevances(retrieval: &Retrieval, direction: Direction) -> Vec<Relevance> {
    let is_self = direction.query == direction.target;
    let sets = retrieval.label_sets.iter();
    sets.map(|set| relevance(set, direction, is_self)).collect()
}

/// A direction with what its queries found, and the distance between the means of its sides.
fn ranked<'a>(
    retrieval: &Retrieval,
    spec: &'a Spec,
    direction: Direction,
    mut rankings: Rankings,
    influence: Option<&Influence>,
    gap: f64,
) -> Ranked<'a> {
    let rows = [direction.query, direction.target].map(|space| retrieval.spaces[space].rows());
    let is_self = direction.query == direction.target;
    let relevances = relevances(retrieval, direction);
    let mut standings = std::mem::take(&mut rankings.standings);
    standings.resize(relevances.len(), Vec::new());
    let mut ranked = Ranked {
        spec,
        direction: retrieval.direction_name(direction),
        queries: rows[0],
        targets: rows[1],
        findable: rows[1] - usize::from(is_self),
        is_self,
        is_paired: retrieval.is_paired(direction),
        gap,
        units: SearchUnits::new(retrieval, direction),
        rankings,
        sets: Vec::new(),
    };
    let sets = relevances.into_iter().zip(standings).zip(&retrieval.label_sets);
    for (number, ((relevance, standings), set)) in sets.enumerate() {
        let counted = (0..ranked.queries).filter(|&q| relevance.relevant(relevance.queries[q] as usize) > 0);
        let mut set = RankedSet {
            name: set.name.clone(),
            counted: counted.collect(),
            relevance,
            standings,
            pulls: influence.map_or(Vec::new(), |influence| influence.sums(number)),
            hits: Vec::new(),
            gains: Vec::new(),
        };
        count_hits(&ranked, &mut set);
        ranked.sets.push(set);
    }
    ranked
}

/// The labels of both sides under common codes: a label is the same where its name is.
fn relevance(set: &LabelSet, direction: Direction, is_self: bool) -> Relevance {
    let (queries, targets) = (&set.of_space[direction.query], &set.of_space[direction.target]);
    let (names, [queries, targets]) = joint_codes(queries, targets);
    Relevance::new(names, queries, targets, is_self)
}

/// The classes of two sides under common codes, by name.
fn joint_codes(queries: &Labels, targets: &Labels) -> (Vec<String>, [Vec<u32>; 2]) {
    let joint = Labels::new(&[queries.names(), targets.names()].concat());
    let (of_queries, of_targets) = joint.codes().split_at(queries.classes());
    let codes = |labels: &Labels, joint: &[u32]| labels.codes().iter().map(|&c| joint[c as usize]).collect();
    (
        joint.names().to_vec(),
        [codes(queries, of_queries), codes(targets, of_targets)],
    )
}

fn count_hits(ranked: &Ranked, set: &mut RankedSet) {
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

/// A space by its name and rows, and how many of these are of a kind.
type Counted<'a> = ((&'a str, usize), usize);

fn zero_rows<'a>(spaces: impl Iterator<Item = Counted<'a>>, spec: &Spec) -> Vec<String> {
    if spec.similarity == Similarity::Dot {
        return Vec::new();
    }
    let zero = spaces.filter(|own| own.1 > 0).map(|((name, rows), zeros)| {
        format!(
            "{zeros} of the {rows} rows of `{name}` have length zero and so no direction: their cosine with every row is taken \
             as 0, which ranks by row number alone; remove such rows"
        )
    });
    zero.collect()
}

/// Equal targets tie whatever the query: then the order of the file decides who is first.
fn repeated_rows<'a>(
    retrieval: &Retrieval,
    spaces: impl Iterator<Item = Counted<'a>>,
    similarity: Similarity,
) -> Vec<String> {
    let is_searched = |number: usize| retrieval.directions.iter().any(|d| d.target == number);
    let repeated = (0..).zip(spaces).filter(|(number, _)| is_searched(*number));
    let words = repeated.filter(|(_, own)| own.1 > 0).map(|(_, ((name, rows), count))| {
        let what = match similarity {
            Similarity::Cosine => "equal an earlier row or a multiple of it",
            Similarity::Dot => "equal an earlier row",
        };
        format!(
            "{count} of the {rows} rows of `{name}` {what}; such targets tie, and ties go to the smaller row number"
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
        let depth = (largest + 1).min(target.rows());
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
            groups: Vec::new(),
            directions: vec![Direction { query: 0, target: 0 }],
        };
        let driver = Driver::silent(Order::Serial);
        let results = retrieve(&[retrieval], &[&metric], &Spec::default(), &driver).expect("valid");
        assert_eq!((results.curves.len(), results.samples.len()), (1, 1));
        assert!(results.curves[0].model == "m" && results.samples[0].model == "m");
        assert!(results.warnings.contains(&"look here".to_string()));
    }
}
