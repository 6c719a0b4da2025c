// SPDX-License-Identifier: MIT
//! From an array to a space: one row of numbers per sample.

use std::fmt;
use std::sync::Arc;

use repscope_core::{Error, Result, Space, Values};
use serde::{Deserialize, Serialize};

use crate::array::{Array, Data, Object, Shape};

impl Array {
    /// One row of numbers per sample. One dimension gives one column, two stay as they are, three are
    /// pooled; more need [`Pool::Flatten`]. Numbers that need no pooling and no conversion are not copied.
    pub fn into_space(self, name: &str, pool: Pool) -> Result<Space> {
        let shape = self.shape().to_vec();
        let values = self.into_values(name)?;
        let rows = shape[0];
        match (&shape[1..], pool) {
            _ if shape.contains(&0) => Err(Error::Input(format!(
                "`{name}` is empty: its shape is {}; give at least one row and one column",
                Shape(&shape)
            ))),
            ([] | [_], _) | (_, Pool::Flatten) => Space::new(name, rows, shape[1..].iter().product(), values),
            (&[steps, columns], _) => Space::new(name, rows, columns, pool.apply(&values, steps, columns)),
            _ => Err(Error::Input(format!(
                "`{name}` has shape {}, {} dimensions; pooling `{pool}` needs three (N, T, D): \
                 use pooling `flatten` for {} columns",
                Shape(&shape),
                shape.len(),
                shape[1..].iter().product::<usize>()
            ))),
        }
    }

    /// All values as numbers; text is refused with an example.
    pub(crate) fn into_values(self, name: &str) -> Result<Values> {
        let text = |row: usize, example: &str| {
            Err(Error::Input(format!(
                "`{name}` holds text (e.g. {example:?} at row {row}), not numbers; \
                 give an array or column of numbers, or use this one as labels"
            )))
        };
        let width = self.shape()[1..].iter().product::<usize>().max(1);
        Ok(match self.into_data() {
            Data::F32(v) => Values::F32(v),
            Data::F64(v) => Values::F64(v),
            Data::Elsewhere(v) => Values::Elsewhere(v),
            Data::U8(v) => (*v).as_ref().iter().map(|&b| f32::from(b)).collect::<Vec<_>>().into(),
            Data::I64(v) => v.iter().map(|&i| i as f64).collect::<Vec<_>>().into(),
            Data::U64(v) => v.iter().map(|&i| i as f64).collect::<Vec<_>>().into(),
            Data::Bool(v) => v.iter().map(|&b| f32::from(u8::from(b))).collect::<Vec<_>>().into(),
            Data::Text(v) => {
                // A column of a table may begin with numbers: the first cell that is none explains more.
                let at = v.iter().position(|t| t.trim().parse::<f64>().is_err()).unwrap_or(0);
                return text(at / width, v.get(at).map_or("", String::as_str));
            }
            Data::Mixed(v) => {
                let is_number = |o: &Object| matches!(o, Object::Int(_) | Object::Float(_));
                let at = v.iter().position(|o| !is_number(o));
                match at.map(|at| (at, &v[at])) {
                    Some((at, Object::Text(example))) => return text(at / width, example),
                    Some((at, other)) => {
                        return Err(Error::Input(format!(
                            "`{name}` holds {other:?} at row {}, not a number; fill or remove such rows",
                            at / width
                        )));
                    }
                    None => v.iter().map(number).collect::<Vec<_>>().into(),
                }
            }
        })
    }
}

fn number(object: &Object) -> f64 {
    match object {
        Object::Int(i) => *i as f64,
        Object::Float(x) => *x,
        _ => f64::NAN,
    }
}

/// What becomes of the middle dimension of (N, T, D) embeddings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pool {
    /// The last of the T steps.
    #[default]
    Last,
    /// The mean over the steps, summed in double precision.
    Mean,
    /// The first step.
    First,
    /// All steps side by side, T·D columns; also any other trailing dimensions.
    Flatten,
}

impl Pool {
    /// The word on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Pool::Last => "last",
            Pool::Mean => "mean",
            Pool::First => "first",
            Pool::Flatten => "flatten",
        }
    }

    /// Pools samples of `steps` × `columns`, at least one of each; flattened values stay as they are.
    pub(crate) fn apply(self, values: &Values, steps: usize, columns: usize) -> Values {
        match (values, self) {
            (_, Pool::Flatten) => values.clone(),
            (Values::F32(v), Pool::Mean) => Values::F64(Arc::new(mean((**v).as_ref(), steps, columns))),
            (Values::F64(v), Pool::Mean) => Values::F64(Arc::new(mean((**v).as_ref(), steps, columns))),
            // Of two dimensions, which need no pooling.
            (Values::Elsewhere(_), _) => values.clone(),
            (Values::F32(v), _) => Values::F32(Arc::new(self.step((**v).as_ref(), steps, columns))),
            (Values::F64(v), _) => Values::F64(Arc::new(self.step((**v).as_ref(), steps, columns))),
        }
    }

    /// The first or last step of each sample.
    fn step<T: Copy>(self, values: &[T], steps: usize, columns: usize) -> Vec<T> {
        let start = if self == Pool::First { 0 } else { (steps - 1) * columns };
        let samples = values.chunks_exact(steps * columns);
        samples
            .flat_map(|sample| sample[start..start + columns].iter().copied())
            .collect()
    }
}

impl fmt::Display for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

fn mean<T: Copy + Into<f64>>(values: &[T], steps: usize, columns: usize) -> Vec<f64> {
    let mut means = Vec::with_capacity(values.len() / steps);
    for sample in values.chunks_exact(steps * columns) {
        let column = |j: usize| sample[j..].iter().step_by(columns).map(|&x| x.into()).sum::<f64>();
        means.extend((0..columns).map(|j| column(j) / steps as f64));
    }
    means
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(space: &Space, i: usize) -> Vec<f64> {
        let mut out = vec![0.0; space.columns()];
        space.read_row(i, &mut out);
        out
    }

    fn sequence() -> Array {
        // Two samples, three steps, two columns.
        let values: Vec<f32> = (0..12).map(|i| i as f32).collect();
        Array::new(vec![2, 3, 2], "f32", Data::f32(values)).unwrap()
    }

    #[test]
    fn each_pool_takes_its_steps() {
        for (pool, expected) in [
            (Pool::Last, vec![10.0, 11.0]),
            (Pool::First, vec![6.0, 7.0]),
            (Pool::Mean, vec![8.0, 9.0]),
            (Pool::Flatten, vec![6.0, 7.0, 8.0, 9.0, 10.0, 11.0]),
        ] {
            let space = sequence().into_space("z", pool).unwrap();
            assert_eq!(row(&space, 1), expected, "{pool}");
        }
    }

    #[test]
    fn one_dimension_becomes_one_column() {
        let array = Array::new(vec![3], "i64", Data::I64(vec![4, 5, 6])).unwrap();
        let space = array.into_space("z", Pool::Last).unwrap();
        assert_eq!((space.rows(), space.columns()), (3, 1));
        assert_eq!(row(&space, 2), [6.0]);
    }

    #[test]
    fn bytes_become_numbers() {
        let array = Array::new(vec![2, 2], "u8", Data::u8(vec![0, 1, 200, 255])).unwrap();
        let space = array.into_space("x", Pool::Last).unwrap();
        assert_eq!((row(&space, 0), row(&space, 1)), (vec![0.0, 1.0], vec![200.0, 255.0]));
    }

    #[test]
    fn images_need_flattening() {
        let array = || Array::new(vec![2, 1, 2, 2], "f32", Data::f32(vec![0.0; 8])).unwrap();
        let error = array().into_space("x", Pool::Last).unwrap_err().to_string();
        assert!(
            error.contains("(2, 1, 2, 2)") && error.contains("pooling `flatten` for 4 columns"),
            "{error}"
        );
        assert_eq!(array().into_space("x", Pool::Flatten).unwrap().columns(), 4);
    }

    #[test]
    fn text_is_refused_with_an_example() {
        let array = Array::new(vec![2], "str", Data::Text(vec!["1".into(), "cat".into()])).unwrap();
        let error = array.into_space("z", Pool::Last).unwrap_err().to_string();
        assert!(
            error.contains("holds text (e.g. \"cat\" at row 1), not numbers"),
            "{error}"
        );
    }

    #[test]
    fn numbers_that_need_no_conversion_are_not_copied() {
        let values: Arc<dyn AsRef<[f32]> + Send + Sync> = Arc::new(vec![1.0_f32; 6]);
        let array = Array::new(vec![3, 2], "f32", Data::F32(values.clone())).unwrap();
        let Values::F32(kept) = array.into_values("z").unwrap() else {
            panic!("f32 stays f32")
        };
        assert!(Arc::ptr_eq(&values, &kept));
    }

    #[test]
    fn an_array_of_no_rows_is_empty_whatever_its_other_sizes() {
        let array = Array::new(vec![usize::MAX, 0], "f32", Data::f32(vec![])).unwrap();
        assert!(
            array
                .into_space("z", Pool::Flatten)
                .unwrap_err()
                .to_string()
                .contains("is empty")
        );
    }
}
