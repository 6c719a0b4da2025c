// SPDX-License-Identifier: MIT
//! From Fortran order (first index fastest) to C order (last index fastest).

use crate::array::Data;

/// Reorders values of this shape.
pub(super) fn to_c_order(data: Data, shape: &[usize]) -> Data {
    match data {
        Data::F32(v) => Data::f32(reorder((*v).as_ref(), shape)),
        Data::F64(v) => Data::f64(reorder((*v).as_ref(), shape)),
        Data::U8(v) => Data::u8(reorder((*v).as_ref(), shape)),
        Data::I64(v) => Data::I64(reorder(&v, shape)),
        Data::U64(v) => Data::U64(reorder(&v, shape)),
        Data::Bool(v) => Data::Bool(reorder(&v, shape)),
        Data::Text(v) => Data::Text(reorder(&v, shape)),
        Data::Mixed(v) => Data::Mixed(reorder(&v, shape)),
    }
}

fn reorder<T: Clone>(values: &[T], shape: &[usize]) -> Vec<T> {
    if values.is_empty() {
        // A size beside a 0 may be anything, so the products below could overflow.
        return Vec::new();
    }
    let mut steps = Vec::with_capacity(shape.len());
    let mut step = 1;
    for &n in shape {
        steps.push(step);
        step *= n.max(1);
    }
    let mut index = vec![0; shape.len()];
    let mut out = Vec::with_capacity(values.len());
    let mut at = 0;
    for _ in 0..values.len() {
        out.push(values[at].clone());
        for axis in (0..shape.len()).rev() {
            index[axis] += 1;
            at += steps[axis];
            if index[axis] < shape[axis] {
                break;
            }
            at -= steps[axis] * shape[axis];
            index[axis] = 0;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_become_rows() {
        // [[0, 1, 2], [3, 4, 5]] stored column by column.
        assert_eq!(reorder(&[0, 3, 1, 4, 2, 5], &[2, 3]), [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn bytes_are_reordered_as_bytes() {
        let Data::U8(ordered) = to_c_order(Data::u8(vec![0, 3, 1, 4, 2, 5]), &[2, 3]) else {
            panic!("bytes stay bytes")
        };
        assert_eq!((*ordered).as_ref(), [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn three_dimensions_are_reordered() {
        // Value = 100 i + 10 j + k, stored with i fastest.
        let (ni, nj, nk) = (2, 3, 2);
        let mut stored = Vec::new();
        let mut expected = Vec::new();
        for k in 0..nk {
            for j in 0..nj {
                stored.extend((0..ni).map(|i| 100 * i + 10 * j + k));
            }
        }
        for i in 0..ni {
            for j in 0..nj {
                expected.extend((0..nk).map(|k| 100 * i + 10 * j + k));
            }
        }
        assert_eq!(reorder(&stored, &[ni, nj, nk]), expected);
    }
}
