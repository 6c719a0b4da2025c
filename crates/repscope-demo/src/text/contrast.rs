// SPDX-License-Identifier: MIT
//! Symmetric InfoNCE (Radford et al. 2021): among all texts of a batch a frame is to find its own, and the other way round.
//!
//! Frames of a batch may have the same sentence; then all of these are equally right.

use crate::layers::cross_entropy;

/// By this the cosines are divided.
const TEMPERATURE: f32 = 0.1;

/// The loss, and its slopes by the left and by the right vectors. `same[i]` stands for the text of sample i.
pub(super) fn contrast(left: &[f32], right: &[f32], width: usize, same: &[usize]) -> (f64, Vec<f32>, Vec<f32>) {
    let count = same.len();
    let (u, v) = (unit(left, width), unit(right, width));
    let across: Vec<f32> = products(&u, &v, width);
    let along: Vec<f32> = (0..count * count)
        .map(|at| across[at % count * count + at / count])
        .collect();
    let targets = targets(same);
    let (of_left, by_across) = cross_entropy(&across, &targets, count);
    let (of_right, by_along) = cross_entropy(&along, &targets, count);
    let (mut du, mut dv) = (vec![0.0; u.len()], vec![0.0; v.len()]);
    for i in 0..count {
        for j in 0..count {
            let slope = (by_across[i * count + j] + by_along[j * count + i]) / (2.0 * TEMPERATURE);
            for at in 0..width {
                du[i * width + at] += slope * v[j * width + at];
                dv[j * width + at] += slope * u[i * width + at];
            }
        }
    }
    let loss = (of_left + of_right) / 2.0;
    (
        loss,
        through_unit(left, &u, du, width),
        through_unit(right, &v, dv, width),
    )
}

/// All cosines, divided by the temperature.
fn products(u: &[f32], v: &[f32], width: usize) -> Vec<f32> {
    let dot = |u: &[f32], v: &[f32]| u.iter().zip(v).map(|(u, v)| u * v).sum::<f32>() / TEMPERATURE;
    let rows = u.chunks_exact(width);
    rows.flat_map(|u| v.chunks_exact(width).map(move |v| dot(u, v)))
        .collect()
}

/// Each row is shared by the samples that have the same text.
fn targets(same: &[usize]) -> Vec<f32> {
    let mut targets = Vec::with_capacity(same.len() * same.len());
    for own in same {
        let alike = same.iter().filter(|other| *other == own).count();
        targets.extend(
            same.iter()
                .map(|other| if other == own { 1.0 / alike as f32 } else { 0.0 }),
        );
    }
    targets
}

fn length(row: &[f32]) -> f32 {
    row.iter().map(|z| z * z).sum::<f32>().sqrt().max(1e-12)
}

/// Rows of length 1.
fn unit(rows: &[f32], width: usize) -> Vec<f32> {
    let scaled = |row: &[f32]| -> Vec<f32> { row.iter().map(|z| z / length(row)).collect() };
    rows.chunks_exact(width).flat_map(scaled).collect()
}

/// From the slope of unit rows to that of the rows: what points along a row does not count.
fn through_unit(rows: &[f32], unit: &[f32], mut slopes: Vec<f32>, width: usize) -> Vec<f32> {
    let all = rows.chunks_exact(width).zip(unit.chunks_exact(width));
    for ((row, unit), slopes) in all.zip(slopes.chunks_exact_mut(width)) {
        let along: f32 = slopes.iter().zip(unit).map(|(slope, u)| slope * u).sum();
        let length = length(row);
        slopes
            .iter_mut()
            .zip(unit)
            .for_each(|(slope, u)| *slope = (*slope - along * u) / length);
    }
    slopes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layers::slopes::numbers;

    #[test]
    fn slopes_of_the_contrast_are_those_of_finite_differences() {
        let (left, right) = (numbers(12), numbers(13)[1..].to_vec());
        let same = [0, 1, 0, 2];
        let (_, by_left, by_right) = contrast(&left, &right, 3, &same);
        for at in 0..12 {
            let shifted = |by: f32, of_left: bool| {
                let (mut left, mut right) = (left.clone(), right.clone());
                let moved = if of_left { &mut left } else { &mut right };
                moved[at] += by;
                contrast(&left, &right, 3, &same).0
            };
            for (found, of_left) in [(by_left[at], true), (by_right[at], false)] {
                let difference = (shifted(2e-3, of_left) - shifted(-2e-3, of_left)) / 4e-3;
                assert!(
                    (f64::from(found) - difference).abs() < 5e-3,
                    "{at}: {found} but {difference}"
                );
            }
        }
    }

    #[test]
    fn pairs_that_point_the_same_way_cost_little_and_equal_vectors_the_logarithm() {
        let apart = [1.0, 0.0, 0.0, 1.0, -1.0, 0.0, 0.0, -1.0];
        assert!(contrast(&apart, &apart, 2, &[0, 1, 2, 3]).0 < 1e-3);
        assert!((contrast(&[1.0; 8], &[1.0; 8], 2, &[0, 1, 2, 3]).0 - 4f64.ln()).abs() < 1e-5);
    }
}
