// SPDX-License-Identifier: MIT
//! The scores of each group of samples, as if there were no others.

use super::measured::Measured;
use super::scores;
use crate::data::Labels;
use crate::etes::Decoded;
use crate::score::{Breakdown, NameColumn, NumberColumn, Score};
use crate::texts::together;

/// Which number of a score stands in a column.
type Part = fn(&Score) -> Option<f64>;

const VALUE: Part = |score| score.value;
const LOW: Part = |score| score.interval.map(|ends| ends[0]);
const HIGH: Part = |score| score.interval.map(|ends| ends[1]);

/// The scores of each class of a factor.
pub(super) fn table(decoded: &Decoded, factor: &str, labels: &Labels) -> Breakdown {
    let mut columns: Vec<NumberColumn> = Vec::new();
    for code in 0..labels.classes() as u32 {
        let is_member = |row: &usize| labels.codes()[*row] == code;
        let members: Vec<usize> = (0..labels.rows()).filter(is_member).collect();
        let kept = decoded.kept.iter().copied().filter(is_member).collect();
        for (place, (name, value)) in line(decoded, &members, kept).into_iter().enumerate() {
            if columns.len() == place {
                columns.push(NumberColumn {
                    name,
                    values: Vec::new(),
                });
            }
            columns[place].values.push(value);
        }
    }
    Breakdown {
        model: String::new(),
        metric: "etes".into(),
        keys: vec![NameColumn {
            name: factor.to_string(),
            values: labels.names().to_vec(),
        }],
        columns,
    }
}

/// The numbers of one group: of the rows that have an energy, and of the texts of all of its rows.
fn line(decoded: &Decoded, members: &[usize], kept: Vec<usize>) -> Vec<(String, Option<f64>)> {
    let measured = Measured::of_group(decoded, kept);
    let scores = scores::all(&measured);
    let mut columns = vec![("samples".to_string(), Some(measured.rows.len() as f64))];
    let mut add = |name: &str, id: &str, part: Part| {
        let score = scores.iter().find(|score| score.metric == format!("etes.{id}"));
        columns.push((name.to_string(), score.and_then(part)));
    };
    for (name, id, part) in [
        ("alignment", "alignment", VALUE),
        ("alignment_low", "alignment", LOW),
        ("alignment_high", "alignment", HIGH),
        ("total", "total", VALUE),
        ("reference", "reference", VALUE),
        ("gap", "gap", VALUE),
        ("gap_low", "gap", LOW),
        ("gap_high", "gap", HIGH),
        ("win_rate", "win_rate", VALUE),
        ("shuffled", "shuffled", VALUE),
        ("z", "z", VALUE),
        ("auc", "auc", VALUE),
    ] {
        add(name, id, part);
    }
    for k in &decoded.spec.etes.k {
        let at = format!("top@{k}");
        add(&at, &at, VALUE);
    }
    for (name, id) in [
        ("mrr", "mrr"),
        ("modality_gap", "modality_gap"),
        ("centred_alignment", "centred.alignment"),
        ("centred_auc", "centred.auc"),
    ] {
        add(name, id, VALUE);
    }
    if let Some(texts) = decoded.text_scores() {
        let found = together(members.iter().map(|&row| &texts[row]));
        columns.push(("bleu@4".to_string(), Some(found.bleu4).filter(|_| !members.is_empty())));
        columns.push(("rouge.l".to_string(), found.rougel));
        columns.push(("wer".to_string(), found.wer));
    }
    columns
}
