// SPDX-License-Identifier: MIT
//! Text by text: what the specification calls `get_sample_scores`, with the reference and the gap it lacks.

use super::System;
use crate::numbers::exact;
use crate::table::csv::write;
use crate::text::join;
use repscope_core::Results;
use serde_json::Value;

/// Columns of the results that have another name in the file, or are placed by hand.
const PLACED: [&str; 3] = ["sample", "energy", "band"];

/// The samples of one system, column by column (all of one length).
#[derive(Debug, Clone, PartialEq)]
pub struct EtesSamples {
    /// The system.
    pub system: String,
    /// `index`, `text`, `etes` and `quality` as the specification has them, then `reference` and everything else that is known.
    pub columns: Vec<EtesColumn>,
}

/// One column.
#[derive(Debug, Clone, PartialEq)]
pub struct EtesColumn {
    /// What it holds.
    pub name: String,
    /// One value per sample.
    pub values: EtesValues,
}

/// The values of a column, by kind. `None` is a value that does not exist, such as the energy of a zero vector.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum EtesValues {
    /// Row numbers.
    Integers(Vec<i64>),
    /// Energies, ranks and other scores.
    Numbers(Vec<Option<f64>>),
    /// Texts, and names of bands.
    Texts(Vec<Option<String>>),
}

/// The samples of a system. `texts` and `references` are those of all rows, by row number; a column without a single value is
/// left out.
pub fn etes_samples(
    results: &Results,
    system: &str,
    texts: Option<&[String]>,
    references: Option<&[String]>,
) -> EtesSamples {
    let system = System { results, name: system };
    let count = system
        .columns()
        .iter()
        .map(|(_, values)| values.len())
        .fold(0, usize::max);
    let rows = system.column("sample");
    // Results of older versions may not number their samples.
    let row = |i: usize| rows.get(i).copied().flatten().map_or(i, |row| row as usize);
    let of_rows = |texts: Option<&[String]>| {
        let text = |i: usize| texts.and_then(|texts| texts.get(row(i)).cloned());
        EtesValues::Texts((0..count).map(text).collect())
    };
    let number = |values: &[Option<f64>]| {
        let value = |i: usize| values.get(i).copied().flatten().filter(|x| x.is_finite());
        EtesValues::Numbers((0..count).map(value).collect())
    };
    let band = |i: usize| system.column("band").get(i).copied().flatten();
    let qualities = (0..count).map(|i| band(i).and_then(|band| system.band_name(band)));
    let index = (0..count).map(|i| row(i) as i64).collect();
    let mut columns = vec![
        ("index", EtesValues::Integers(index)),
        ("text", of_rows(texts)),
        ("etes", number(system.column("energy"))),
        ("quality", EtesValues::Texts(qualities.collect())),
        ("reference", of_rows(references)),
    ];
    let others = system
        .columns()
        .iter()
        .filter(|(name, _)| !PLACED.contains(&name.as_str()));
    columns.extend(others.map(|(name, values)| (name.as_str(), number(values))));
    let columns = columns.into_iter().filter(|(_, values)| values.has_any());
    let column = |(name, values): (&str, EtesValues)| EtesColumn {
        name: name.to_string(),
        values,
    };
    EtesSamples {
        system: system.name.to_string(),
        columns: columns.map(column).collect(),
    }
}

impl EtesValues {
    /// How many there are, missing ones included.
    pub fn len(&self) -> usize {
        match self {
            EtesValues::Integers(values) => values.len(),
            EtesValues::Numbers(values) => values.len(),
            EtesValues::Texts(values) => values.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn has_any(&self) -> bool {
        match self {
            EtesValues::Integers(values) => !values.is_empty(),
            EtesValues::Numbers(values) => values.iter().any(Option::is_some),
            EtesValues::Texts(values) => values.iter().any(Option::is_some),
        }
    }

    /// A value with every digit; empty where there is none.
    fn field(&self, i: usize) -> String {
        match self {
            EtesValues::Integers(values) => values[i].to_string(),
            EtesValues::Numbers(values) => values[i].map(exact).unwrap_or_default(),
            EtesValues::Texts(values) => values[i].clone().unwrap_or_default(),
        }
    }

    fn json(&self, i: usize) -> Value {
        match self {
            EtesValues::Integers(values) => values[i].into(),
            EtesValues::Numbers(values) => values[i].into(),
            EtesValues::Texts(values) => values[i].clone().into(),
        }
    }
}

impl EtesSamples {
    /// How many samples there are.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.values.len())
    }

    /// A field by the name of its column; empty where there is no such column.
    pub(crate) fn field(&self, name: &str, i: usize) -> String {
        let column = self.columns.iter().find(|column| column.name == name);
        column.map_or(String::new(), |column| column.values.field(i))
    }

    /// A CSV file; a value that does not exist is an empty field.
    pub fn to_csv(&self) -> String {
        let header: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
        if header.is_empty() {
            return String::new();
        }
        let row = |i: usize| self.columns.iter().map(|column| column.values.field(i)).collect();
        write(&header, (0..self.rows()).map(row))
    }

    /// A JSON list with an object on each line; a value that does not exist is null.
    pub fn to_json(&self) -> String {
        // By hand, as a map of the JSON library would sort the keys by name.
        let name = |column: &EtesColumn| Value::from(column.name.as_str()).to_string();
        let object = |i: usize| {
            let pairs = self.columns.iter();
            let pairs = pairs.map(|column| format!("{}: {}", name(column), column.values.json(i)));
            format!("{{{}}}", join(pairs, ", "))
        };
        match join((0..self.rows()).map(object), ",\n").as_str() {
            "" => "[]\n".to_string(),
            objects => format!("[\n{objects}\n]\n"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testdata::{two_systems, without_reference};
    use super::*;

    fn texts(words: [&str; 4]) -> Vec<String> {
        words.map(str::to_string).to_vec()
    }

    #[test]
    fn the_keys_of_the_document_come_first() {
        let said = texts(["He was born.", "A \"film\", dull", "", "no"]);
        let meant = texts(["He was born in Ohio.", "A dull film", "x", "yes"]);
        let samples = etes_samples(&two_systems(), "glim", Some(&said), Some(&meant));
        let csv = "\
index,text,etes,quality,reference,total,reference_energy,gap,rank,bleu
0,He was born.,-0.52,good,He was born in Ohio.,-0.47,-0.5,-0.02,1.0,0.25
1,\"A \"\"film\"\", dull\",-0.31,fair,A dull film,-0.26,-0.41,0.1,3.5,0.0
2,,,,x,,,,,0.0
3,no,0.015625,poor,yes,0.065,-0.125,0.140625,4.0,
";
        assert_eq!(samples.to_csv(), csv);
        let json = samples.to_json();
        let first = "[\n{\"index\": 0, \"text\": \"He was born.\", \"etes\": -0.52, \"quality\": \"good\", \"reference\": \
                     \"He was born in Ohio.\", \"total\": -0.47,";
        assert!(json.starts_with(first), "{json}");
        let read: Value = serde_json::from_str(&json).expect("JSON");
        assert_eq!(read.as_array().map(Vec::len), Some(4));
        // An empty text is a text; the energy of a zero vector is none.
        assert_eq!((&read[2]["text"], &read[2]["etes"]), (&Value::from(""), &Value::Null));
        assert_eq!(read[3]["bleu"], Value::Null);
        assert_eq!(read[1]["text"], "A \"film\", dull");
    }

    #[test]
    fn columns_without_a_value_are_left_out_and_kinds_are_kept() {
        let samples = etes_samples(&without_reference(), "glim", None, None);
        let names: Vec<&str> = samples.columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(names, ["index", "etes", "quality", "total", "rank", "bleu"]);
        assert_eq!(samples.columns[0].values, EtesValues::Integers(vec![0, 1, 2, 3]));
        assert!(matches!(&samples.columns[1].values, EtesValues::Numbers(values) if values[2].is_none()));
        assert!(
            matches!(&samples.columns[2].values, EtesValues::Texts(values) if values[0].as_deref() == Some("good"))
        );
    }

    #[test]
    fn texts_are_found_by_row_and_missing_ones_are_none() {
        let mut results = two_systems();
        results.samples[0].columns[0].1 = vec![Some(2.0), Some(0.0), Some(9.0), Some(1.0)];
        let samples = etes_samples(&results, "glim", Some(&texts(["a", "b", "c", "d"])), None);
        let expected = ["c", "a", "", "b"].map(|text| Some(text.to_string()).filter(|text| !text.is_empty()));
        assert_eq!(samples.columns[1].values, EtesValues::Texts(expected.to_vec()));
    }

    #[test]
    fn a_system_without_samples_has_no_rows() {
        let samples = etes_samples(&two_systems(), "another", None, None);
        assert_eq!(
            (samples.rows(), samples.to_csv().as_str(), samples.to_json().as_str()),
            (0, "", "[]\n")
        );
    }
}
