// SPDX-License-Identifier: MIT
//! Bringing arrays into one row order by their ids.

use std::collections::HashMap;

use crate::error::{Error, Result};

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
pub fn join_rows(parts: &[(&str, &[String])]) -> Result<IdJoin> {
    let rows = parts.iter().map(|(name, ids)| index(name, ids));
    let rows: Vec<HashMap<&str, usize>> = rows.collect::<Result<_>>()?;
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

fn index<'a>(name: &str, ids: &'a [String]) -> Result<HashMap<&'a str, usize>> {
    let mut rows = HashMap::with_capacity(ids.len());
    for (row, id) in ids.iter().enumerate() {
        if let Some(earlier) = rows.insert(id.as_str(), row) {
            return Err(Error::Input(format!(
                "the ids of `{name}` hold `{id}` twice, at rows {earlier} and {row} (counted from 0); ids must be unique"
            )));
        }
    }
    Ok(rows)
}

fn nothing_in_common(parts: &[(&str, &[String])]) -> Error {
    let example = |(name, ids): &(&str, &[String])| match ids.first() {
        Some(id) => format!("`{name}` has {} ids such as `{id}`", ids.len()),
        None => format!("`{name}` has no ids"),
    };
    let examples: Vec<String> = parts.iter().map(example).collect();
    Error::Input(format!(
        "no id is in all of the parts: {}; check that the ids are written in the same way",
        examples.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

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
