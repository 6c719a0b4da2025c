// SPDX-License-Identifier: MIT
//! What the results hold of one system.

use crate::breakdowns::{self, cell, first_key};
use crate::samples;
use crate::scores::distinct;
use repscope_core::{Analysis, Breakdown, Curve, MetricId, Results, Score};

/// The names of the bands, best first, as the numbers in the samples count them.
const BANDS: [&str; 5] = ["excellent", "good", "fair", "weak", "poor"];
/// The metric of energies.
const FAMILY: &str = "etes";

/// A system whose texts have energies.
#[derive(Clone, Copy)]
pub(crate) struct System<'a> {
    pub(crate) results: &'a Results,
    pub(crate) name: &'a str,
}

/// The samples whose energies lie between two cuts.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Band {
    pub(crate) name: String,
    /// The cuts; the outermost bands may lack one.
    pub(crate) from: Option<f64>,
    pub(crate) to: Option<f64>,
    pub(crate) samples: Option<f64>,
    pub(crate) share: Option<f64>,
}

/// The scores within each group of a factor such as `subject`.
#[derive(Clone, Copy)]
pub(crate) struct Groups<'a> {
    pub(crate) factor: &'a str,
    pub(crate) names: &'a [String],
    table: &'a Breakdown,
}

/// Whether a score is an energy or compares texts with texts.
pub(crate) fn is_of_etes(id: &MetricId) -> bool {
    id.metric().is_some_and(|metric| metric.analysis == Analysis::Etes)
}

impl<'a> System<'a> {
    /// The systems that were asked for energies, in the order of the results.
    pub(crate) fn all(results: &'a Results) -> Vec<Self> {
        let asked = results.scores.iter().filter(|score| score.metric.family() == FAMILY);
        let names = distinct(asked.map(|score| score.model.as_str()));
        names.into_iter().map(|name| System { results, name }).collect()
    }

    pub(crate) fn scores(&self) -> impl Iterator<Item = &'a Score> + use<'a> {
        let name = self.name;
        self.results.scores.iter().filter(move |score| score.model == name)
    }

    /// A score of the energies: `alignment` is `etes.alignment`.
    pub(crate) fn score(&self, part: &str) -> Option<&'a Score> {
        self.results.score(self.name, &format!("etes.{part}"))
    }

    pub(crate) fn value(&self, part: &str) -> Option<f64> {
        self.score(part)?.value.filter(|x| x.is_finite())
    }

    /// How many samples have an energy.
    pub(crate) fn count(&self) -> usize {
        self.score("alignment").map_or(0, |score| score.n)
    }

    /// The confidence level of the intervals.
    pub(crate) fn level(&self) -> Option<f64> {
        self.scores().find_map(|score| score.level)
    }

    /// Every K of `etes.top@K`, in the order given.
    pub(crate) fn ks(&self) -> Vec<&'a str> {
        let top = self.scores().filter(|score| score.metric.measure() == "etes.top");
        top.filter_map(|score| score.metric.at()).collect()
    }

    /// The scores that compare texts with texts.
    pub(crate) fn of_texts(&self) -> Vec<&'a Score> {
        let is_of_texts = |id: &MetricId| is_of_etes(id) && id.family() != FAMILY;
        self.scores().filter(|score| is_of_texts(&score.metric)).collect()
    }

    /// A column of the samples; empty where there is none.
    pub(crate) fn column(&self, name: &str) -> &'a [Option<f64>] {
        let table = samples::table(self.results, self.name, FAMILY);
        table.and_then(|table| samples::column(table, name)).unwrap_or(&[])
    }

    /// All columns of the samples.
    pub(crate) fn columns(&self) -> &'a [(String, Vec<Option<f64>>)] {
        samples::table(self.results, self.name, FAMILY).map_or(&[], |table| &table.columns)
    }

    pub(crate) fn curve(&self, metric: &str) -> Option<&'a Curve> {
        samples::curve(self.results, self.name, metric)
    }

    pub(crate) fn bands(&self) -> Vec<Band> {
        let Some(table) = breakdowns::find(self.results, self.name, "etes.bands") else {
            return Vec::new();
        };
        let band = |(line, name): (usize, &String)| Band {
            name: name.clone(),
            from: cell(table, "from", line),
            to: cell(table, "to", line),
            samples: cell(table, "samples", line),
            share: cell(table, "share", line),
        };
        first_key(table).iter().enumerate().map(band).collect()
    }

    /// The name of a band by its number in the samples.
    pub(crate) fn band_name(&self, band: f64) -> Option<String> {
        let place = (band >= 0.0 && band.fract() == 0.0).then_some(band as usize)?;
        let own = self.bands();
        if own.is_empty() {
            BANDS.get(place).map(|name| name.to_string())
        } else {
            own.get(place).map(|band| band.name.clone())
        }
    }

    /// The band that an energy lies in.
    pub(crate) fn band_of(&self, energy: f64) -> Option<String> {
        let bands = self.bands();
        let (last, others) = bands.split_last()?;
        // A cut belongs to the band above it, but the last one to the band below: 0 is weak.
        let is_below = |(place, band): &(usize, &Band)| {
            let is_of_last_cut = place + 1 == others.len();
            band.to
                .is_some_and(|to| energy < to || (is_of_last_cut && energy == to))
        };
        let found = others.iter().enumerate().find(is_below).map(|(_, band)| band);
        Some(found.unwrap_or(last).name.clone())
    }

    /// The scores by group, one for each factor.
    pub(crate) fn groups(&self) -> Vec<Groups<'a>> {
        let of = |table: &'a Breakdown| {
            let key = table.keys.first().filter(|key| !key.values.is_empty())?;
            Some(Groups {
                factor: &key.name,
                names: &key.values,
                table,
            })
        };
        let own = self.results.breakdowns.iter().filter(|table| table.model == self.name);
        own.filter(|table| table.metric == FAMILY).filter_map(of).collect()
    }
}

impl Groups<'_> {
    /// A number of a group.
    pub(crate) fn value(&self, column: &str, group: usize) -> Option<f64> {
        cell(self.table, column, group)
    }

    /// Both ends of an interval.
    pub(crate) fn interval(&self, column: &str, group: usize) -> Option<[f64; 2]> {
        let end = |end: &str| self.value(&format!("{column}_{end}"), group);
        Some([end("low")?, end("high")?])
    }

    /// Whether any group has a number here.
    pub(crate) fn has(&self, column: &str) -> bool {
        (0..self.names.len()).any(|group| self.value(column, group).is_some())
    }

    /// The groups that have an energy, best first.
    pub(crate) fn sorted(&self) -> Vec<usize> {
        let known = (0..self.names.len()).filter_map(|group| Some((self.value("alignment", group)?, group)));
        let mut known: Vec<(f64, usize)> = known.collect();
        known.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        known.into_iter().map(|(_, group)| group).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testdata::two_systems;
    use super::*;

    #[test]
    fn a_cut_belongs_to_the_band_above_it_but_zero_is_still_weak() {
        let results = two_systems();
        let system = System::all(&results)[0];
        let of = |energy: f64| system.band_of(energy).expect("a band");
        assert_eq!([-0.81, -0.8, -0.5, -0.2].map(of), ["excellent", "good", "fair", "weak"]);
        assert_eq!([0.0, 1e-9, 1.0].map(of), ["weak", "poor", "poor"]);
        assert_eq!(system.band_name(3.0).as_deref(), Some("weak"));
        assert_eq!((system.band_name(5.0), system.band_name(0.5)), (None, None));
    }

    #[test]
    fn groups_are_sorted_by_energy_and_those_without_one_left_out() {
        let results = two_systems();
        let groups = System::all(&results)[0].groups();
        assert_eq!(groups.len(), 1);
        let sorted: Vec<&str> = groups[0]
            .sorted()
            .iter()
            .map(|&group| groups[0].names[group].as_str())
            .collect();
        assert_eq!((groups[0].factor, sorted), ("subject", vec!["ZAB", "ZDM"]));
    }
}
