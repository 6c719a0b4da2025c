// SPDX-License-Identifier: MIT
//! Bands, histograms, the numbers of each sample, and the scores of each group of samples.

use super::measured::Measured;
use super::scores;
use crate::data::Labels;
use crate::etes::Decoded;
use crate::kernels::matched::{BINS, bin};
use crate::score::{Breakdown, Curve, SampleTable, Score};
use crate::texts::together;

/// What an energy is called, lowest first. The cuts between them are in the spec.
const BANDS: [&str; 5] = ["excellent", "good", "fair", "weak", "poor"];

/// The number of the band: below the first three cuts, up to the fourth, or above it.
fn band(energy: f64, cuts: &[f64; 4]) -> usize {
    if energy <= cuts[3] {
        cuts[..3].iter().filter(|cut| energy >= **cut).count()
    } else {
        4
    }
}

/// The word for an energy: `good`.
pub(super) fn band_name(energy: f64, cuts: &[f64; 4]) -> &'static str {
    BANDS[band(energy, cuts)]
}

/// How many samples are in each band.
pub(super) fn bands(measured: &Measured) -> Breakdown {
    let cuts = &measured.decoded.spec.etes.bands;
    let energies = &measured.plain.energy;
    let mut counts = [0usize; 5];
    energies.iter().for_each(|energy| counts[band(*energy, cuts)] += 1);
    let mut edges = vec![-1.0];
    edges.extend(cuts);
    edges.push(1.0);
    let share = |b: usize| (!energies.is_empty()).then(|| counts[b] as f64 / energies.len() as f64);
    Breakdown::of("etes.bands", &[0, 1, 2, 3, 4])
        .key("band", |&b: &usize| BANDS[b].to_string())
        .column("from", |&b| Some(edges[b]))
        .column("to", |&b| Some(edges[b + 1]))
        .column("samples", |&b| Some(counts[b] as f64))
        .column("share", |&b| share(b))
        .table
}

/// The energies of matched and of mismatched pairs, by equal bins from −1 to 1.
pub(super) fn histograms(measured: &Measured) -> Vec<Curve> {
    let mut matched = vec![0u64; BINS];
    let energies = measured.plain.energy.iter();
    energies.for_each(|energy| matched[bin(*energy)] += 1);
    let mut curves = Vec::new();
    let others = measured.plain.others.as_ref().map(|others| others.matched.bins.clone());
    for (name, counts) in [("etes.histogram", Some(matched)), ("etes.shuffled.histogram", others)] {
        let Some(counts) = counts.filter(|counts| counts.iter().any(|count| *count > 0)) else {
            continue;
        };
        let all = counts.iter().sum::<u64>() as f64;
        let center = |b: usize| (2 * b + 1) as f64 / BINS as f64 - 1.0;
        curves.push(Curve {
            model: String::new(),
            metric: name.into(),
            x_label: "energy".to_string(),
            y_label: "share of pairs".to_string(),
            x: (0..BINS).map(center).collect(),
            y: counts.iter().map(|&count| count as f64 / all).collect(),
        });
    }
    curves
}

/// The numbers of each sample; none where a vector has no direction.
pub(super) fn samples(measured: &Measured) -> SampleTable {
    let n = measured.decoded.data.samples();
    let plain = &measured.plain;
    let cuts = &measured.decoded.spec.etes.bands;
    let ranks = plain.others.as_ref().map(|others| others.matched.ranks());
    let placed = |value: &dyn Fn(usize) -> Option<f64>| {
        let mut column = vec![None; n];
        for (place, &row) in measured.rows.iter().enumerate().take(plain.energy.len()) {
            column[row] = value(place);
        }
        column
    };
    let energy = |place: usize| plain.energy[place];
    let reference = |place: usize| plain.reference.as_ref().and_then(|all| all[place]);
    let total = |place: usize| measured.total.as_ref().map_or(energy(place), |all| all[place]);
    let mut columns = vec![
        ("sample", (0..n).map(|row| Some(row as f64)).collect()),
        ("energy", placed(&|place| Some(energy(place)))),
        ("total", placed(&|place| Some(total(place)))),
        ("reference_energy", placed(&reference)),
        ("gap", placed(&|place| Some(energy(place) - reference(place)?))),
        ("rank", placed(&|place| ranks.as_ref().map(|ranks| ranks[place]))),
        ("band", placed(&|place| Some(band(energy(place), cuts) as f64))),
    ];
    if let Some(fluency) = measured.decoded.system.fluency.as_deref() {
        columns.push(("log_perplexity", fluency.iter().copied().map(Some).collect()));
    }
    if let Some(texts) = measured.decoded.text_scores() {
        columns.push(("bleu", texts.iter().map(|text| text.bleu).collect()));
        columns.push(("rouge.1", texts.iter().map(|text| Some(text.overlaps[0].f1)).collect()));
        columns.push(("rouge.2", texts.iter().map(|text| Some(text.overlaps[1].f1)).collect()));
        columns.push(("rouge.l", texts.iter().map(|text| Some(text.overlaps[2].f1)).collect()));
        columns.push(("wer", texts.iter().map(|text| text.wer).collect()));
    }
    let columns = columns.into_iter().map(|(name, values)| (name.to_string(), values));
    SampleTable::new("etes", columns.collect())
}

/// The scores of each class of a factor.
pub(super) fn by_group(decoded: &Decoded, factor: &str, labels: &Labels) -> Breakdown {
    let group = |code: u32| {
        let is_member = |row: &usize| labels.codes()[*row] == code;
        let members: Vec<usize> = (0..labels.rows()).filter(is_member).collect();
        line(
            decoded,
            &members,
            decoded.kept.iter().copied().filter(is_member).collect(),
        )
    };
    let lines: Vec<Line> = (0..labels.classes() as u32).map(group).collect();
    let codes: Vec<usize> = (0..lines.len()).collect();
    let mut table = Breakdown::of("etes", &codes).key(factor, |&code| labels.names()[code].clone());
    for (place, (name, _)) in lines.first().into_iter().flatten().enumerate() {
        table = table.column(name, |&code| lines[code][place].1);
    }
    table.table
}

/// Names and numbers.
type Line = Vec<(String, Option<f64>)>;

/// The numbers of one group: of the rows that have an energy, and of the texts of all of its rows.
fn line(decoded: &Decoded, members: &[usize], kept: Vec<usize>) -> Line {
    let measured = Measured::new(decoded, kept, 0);
    let scores = scores::all(&measured);
    let mut columns = vec![("samples".to_string(), Some(measured.rows.len() as f64))];
    let mut add = |name: &str| {
        let (id, part): (&str, fn(&Score) -> Option<f64>) = match name.rsplit_once('_') {
            Some((id, "low")) => (id, |score| Some(score.interval?[0])),
            Some((id, "high")) => (id, |score| Some(score.interval?[1])),
            _ => (name, |score| score.value),
        };
        let id = format!("etes.{}", id.replace("centred_", "centred."));
        let score = scores.iter().find(|score| score.metric == id);
        columns.push((name.to_string(), score.and_then(part)));
    };
    let names = "alignment alignment_low alignment_high total reference gap gap_low gap_high win_rate shuffled z auc";
    names.split(' ').for_each(&mut add);
    decoded.spec.etes.k.iter().for_each(|k| add(&format!("top@{k}")));
    ["mrr", "modality_gap", "centred_alignment", "centred_auc"]
        .into_iter()
        .for_each(&mut add);
    if let Some(texts) = decoded.text_scores() {
        let found = together(members.iter().map(|&row| &texts[row]));
        columns.push(("bleu@4".to_string(), Some(found.bleu4).filter(|_| !members.is_empty())));
        columns.push(("rouge.l".to_string(), found.rougel));
        columns.push(("wer".to_string(), found.wer));
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_belongs_to_the_band_above_it_but_the_last() {
        let cuts = [-0.8, -0.5, -0.2, 0.0];
        let found = [-1.0, -0.81, -0.8, -0.5, -0.3, -0.2, -0.1, 0.0, 1e-9, 1.0].map(|energy| band(energy, &cuts));
        assert_eq!(found, [0, 0, 1, 2, 2, 3, 3, 3, 4, 4]);
    }
}
