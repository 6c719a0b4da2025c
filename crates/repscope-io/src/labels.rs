// SPDX-License-Identifier: MIT
//! From an array to labels, episodes and ids: one name per row; and arrays in one row order by their ids.

use std::collections::HashMap;

use repscope_core::{Error, Labels, Result};

use crate::array::{Array, Data, Object, Shape};

impl Array {
    /// One class per row, from text, integers or booleans. A missing class is refused by row.
    pub fn into_labels(self, name: &str) -> Result<Labels> {
        Ok(Labels::new(&self.into_names(name, "labels")?))
    }

    /// One episode per row. Booleans are stop flags, true on the last row of each episode, so the
    /// episode of a row is the number of stops before it; anything else is read like labels.
    pub fn into_episodes(self, name: &str) -> Result<Labels> {
        self.check_one_value_per_row(name, "episodes")?;
        let Data::Bool(stops) = self.data() else {
            return Ok(Labels::new(&self.into_names(name, "episodes")?));
        };
        let mut episode = 0;
        let mut codes = Vec::with_capacity(stops.len());
        for &stop in stops {
            codes.push(episode);
            episode += u32::from(stop);
        }
        let episodes = codes.last().map_or(0, |last| *last as usize + 1);
        Ok(Labels::from_codes(codes, episodes))
    }

    /// The name of each row, for what the array is to be: "labels", "ids".
    pub fn into_names(self, name: &str, role: &str) -> Result<Vec<String>> {
        self.check_one_value_per_row(name, role)?;
        let named = self.row_names();
        let refuse = |(row, why): (usize, Unnamed)| match why {
            Unnamed::Missing => Error::Input(format!(
                "`{name}` has no value at row {row} (counted from 0); {role} must be complete: fill or remove such rows"
            )),
            Unnamed::Fraction(value) => Error::Input(format!(
                "`{name}` holds {value} at row {row}, which is not an integer; {role} are text or integers"
            )),
        };
        named
            .into_iter()
            .enumerate()
            .map(|(row, n)| n.map_err(|why| refuse((row, why))))
            .collect()
    }

    fn check_one_value_per_row(&self, name: &str, role: &str) -> Result<()> {
        match self.shape() {
            [0] | [0, 1] => Err(Error::Input(format!("`{name}` is empty; {role} need at least one row"))),
            [_] | [_, 1] => Ok(()),
            shape => Err(Error::Input(format!(
                "`{name}` has shape {}; {role} are one value per row, shape ({},)",
                Shape(shape),
                shape[0]
            ))),
        }
    }

    /// The name of each value, or why it has none.
    pub(crate) fn row_names(&self) -> Vec<std::result::Result<String, Unnamed>> {
        match self.data() {
            Data::F32(v) => (**v).as_ref().iter().map(|&x| name_number(f64::from(x))).collect(),
            Data::F64(v) => (**v).as_ref().iter().map(|&x| name_number(x)).collect(),
            Data::U8(v) => (**v).as_ref().iter().map(|i| Ok(i.to_string())).collect(),
            Data::I64(v) => v.iter().map(|i| Ok(i.to_string())).collect(),
            Data::U64(v) => v.iter().map(|i| Ok(i.to_string())).collect(),
            Data::Bool(v) => v.iter().map(|&b| Ok(name_truth(b))).collect(),
            Data::Text(v) => v.iter().map(|t| name_text(t)).collect(),
            Data::Mixed(v) => v.iter().map(name_object).collect(),
            Data::Elsewhere(v) => vec![Err(Unnamed::Missing); v.rows],
        }
    }
}

/// Why a value cannot name a class.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Unnamed {
    /// Nothing there: `None`, NaN, an empty string.
    Missing,
    /// A number that is not whole.
    Fraction(f64),
}

fn name_object(object: &Object) -> std::result::Result<String, Unnamed> {
    match object {
        Object::None => Err(Unnamed::Missing),
        Object::Bool(b) => Ok(name_truth(*b)),
        Object::Int(i) => Ok(i.to_string()),
        Object::Float(x) => name_number(*x),
        Object::Text(t) => name_text(t),
    }
}

/// As Python prints it.
fn name_truth(truth: bool) -> String {
    if truth { "True" } else { "False" }.to_string()
}

fn name_text(text: &str) -> std::result::Result<String, Unnamed> {
    if text.is_empty() {
        return Err(Unnamed::Missing);
    }
    Ok(text.to_string())
}

fn name_number(value: f64) -> std::result::Result<String, Unnamed> {
    if value.is_nan() {
        return Err(Unnamed::Missing);
    }
    // Beyond 2^63 an f64 would name another integer than the one that was meant.
    if value.fract() != 0.0 || value.abs() >= 9.2e18 {
        return Err(Unnamed::Fraction(value));
    }
    Ok((value as i64).to_string())
}

/// For each part, which of its rows to take and in which order, so that all parts show the same ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdJoin {
    /// The row order of each part.
    pub orders: Vec<Vec<usize>>,
    /// How many rows of each part are not in all others.
    pub dropped: Vec<usize>,
}

impl IdJoin {
    /// How many ids all parts share.
    pub fn rows(&self) -> usize {
        self.orders.first().map_or(0, Vec::len)
    }
}

/// Keeps the ids that all parts have, in the order of the first part. Each part is its name and ids.
pub fn join_rows(parts: &[(&str, &[String])]) -> crate::Result<IdJoin> {
    let rows = parts.iter().map(|(name, ids)| index(name, ids));
    let rows: Vec<HashMap<&str, usize>> = rows.collect::<crate::Result<_>>()?;
    let Some((_, first)) = parts.first() else {
        return Ok(IdJoin {
            orders: Vec::new(),
            dropped: Vec::new(),
        });
    };
    let mut orders = vec![Vec::new(); parts.len()];
    for id in *first {
        let found: Option<Vec<usize>> = rows.iter().map(|part| part.get(id.as_str()).copied()).collect();
        for (order, row) in orders.iter_mut().zip(found.unwrap_or_default()) {
            order.push(row);
        }
    }
    if orders[0].is_empty() {
        return Err(nothing_in_common(parts));
    }
    let dropped = parts.iter().zip(&orders);
    let dropped = dropped.map(|((_, ids), order)| ids.len() - order.len()).collect();
    Ok(IdJoin { orders, dropped })
}

fn index<'a>(name: &str, ids: &'a [String]) -> crate::Result<HashMap<&'a str, usize>> {
    let mut rows = HashMap::with_capacity(ids.len());
    for (row, id) in ids.iter().enumerate() {
        if let Some(earlier) = rows.insert(id.as_str(), row) {
            return Err(crate::Error::Input(format!(
                "the ids of `{name}` hold `{id}` twice, at rows {earlier} and {row} (counted from 0); ids must be unique"
            )));
        }
    }
    Ok(rows)
}

fn nothing_in_common(parts: &[(&str, &[String])]) -> crate::Error {
    let example = |(name, ids): &(&str, &[String])| match ids.first() {
        Some(id) => format!("`{name}` has {} ids such as `{id}`", ids.len()),
        None => format!("`{name}` has no ids"),
    };
    let examples: Vec<String> = parts.iter().map(example).collect();
    crate::Error::Input(format!(
        "no id is in all of the parts: {}; check that the ids are written in the same way",
        examples.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(data: Data) -> Array {
        Array::new(vec![data.len()], "any", data).unwrap()
    }

    #[test]
    fn integers_of_every_kind_name_the_same_class() {
        for data in [
            Data::I64(vec![3, -1]),
            Data::f32(vec![3.0, -1.0]),
            Data::f64(vec![3.0, -1.0]),
            Data::Text(vec!["3".into(), "-1".into()]),
        ] {
            assert_eq!(column(data).into_labels("y").unwrap().names(), ["-1", "3"]);
        }
        let bytes = column(Data::u8(vec![200, 3])).into_labels("y").unwrap();
        assert_eq!(bytes.names(), ["3", "200"]);
        let large = column(Data::U64(vec![u64::MAX])).into_labels("y").unwrap();
        assert_eq!(large.names(), ["18446744073709551615"]);
    }

    #[test]
    fn booleans_are_named_as_python_names_them() {
        let labels = column(Data::Bool(vec![true, false])).into_labels("y").unwrap();
        assert_eq!(labels.names(), ["False", "True"]);
    }

    #[test]
    fn a_missing_class_is_refused_by_row() {
        for data in [
            Data::f64(vec![1.0, f64::NAN]),
            Data::Text(vec!["a".into(), String::new()]),
            Data::Mixed(vec![Object::Text("a".into()), Object::None]),
        ] {
            let error = column(data).into_labels("y").unwrap_err().to_string();
            assert!(error.contains("no value at row 1"), "{error}");
        }
    }

    #[test]
    fn fractions_and_matrices_are_no_labels() {
        let error = column(Data::f64(vec![0.5])).into_labels("y").unwrap_err().to_string();
        assert!(error.contains("0.5 at row 0"), "{error}");
        let matrix = Array::new(vec![2, 2], "i64", Data::I64(vec![0; 4])).unwrap();
        let error = matrix.into_labels("y").unwrap_err().to_string();
        assert!(error.contains("shape (2, 2)"), "{error}");
        let one_column = Array::new(vec![2, 1], "i64", Data::I64(vec![7, 8])).unwrap();
        assert_eq!(one_column.into_labels("y").unwrap().rows(), 2);
    }

    #[test]
    fn an_episode_ends_with_its_stop_flag() {
        let stops = column(Data::Bool(vec![false, true, false, false, true]));
        let episodes = stops.into_episodes("done").unwrap();
        assert_eq!(episodes.codes(), [0, 0, 1, 1, 1]);
        assert_eq!(episodes.classes(), 2);
    }

    fn ids(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_string).collect()
    }

    #[test]
    fn shared_ids_come_in_the_order_of_the_first_part() {
        let (a, b) = (ids("x y z w"), ids("z q x y"));
        let join = join_rows(&[("a", &a), ("b", &b)]).unwrap();
        assert_eq!(join.orders, [vec![0, 1, 2], vec![2, 3, 0]]);
        assert_eq!(join.dropped, [1, 1]);
        assert_eq!(join.rows(), 3);
    }

    #[test]
    fn a_repeated_id_is_named_with_both_rows() {
        let a = ids("x y x");
        let error = join_rows(&[("a", &a)]).unwrap_err().to_string();
        assert!(error.contains("`x` twice, at rows 0 and 2"), "{error}");
    }

    #[test]
    fn nothing_in_common_shows_an_example_of_each() {
        let (a, b) = (ids("img_1"), ids("1"));
        let error = join_rows(&[("a", &a), ("b", &b)]).unwrap_err().to_string();
        assert!(
            error.contains("such as `img_1`") && error.contains("such as `1`"),
            "{error}"
        );
    }
}
