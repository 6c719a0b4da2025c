// SPDX-License-Identifier: MIT
//! Two maps of each model's embeddings: the plane that shows most of the variance, and t-SNE, which keeps neighbors together.

use crate::data::Study;
use crate::error::{Result, refuse_if};
use crate::kernels::pca_plane::{Plane, principal_plane};
use crate::kernels::tsne::{FEWEST_ROWS, TSNE_STEPS, tsne};
use crate::random;
use crate::results::Results;
use crate::run::Driver;
use crate::score::{Curve, SampleTable};

/// Rows of a t-SNE map. Of more, so many are drawn at random, always the same ones: steps take seconds, not minutes.
pub const TSNE_MOST_ROWS: usize = 5_000;
/// Rows of all t-SNE maps together: maps of many models are small, and take no longer than those of a few.
const TSNE_ROWS_IN_ALL: usize = 20_000;
/// So many rows each map may have, however many maps there are.
const TSNE_ROWS_AT_LEAST: usize = 500;

/// Adds a table `map` for each study, with the places `x` and `y` on the plane and `tsne_x` and `tsne_y` on the t-SNE map
/// (nowhere for rows that are not in its sample), and a curve `map` with the shares of the variance along the plane.
///
/// A t-SNE map that cannot be drawn, of fewer than four rows say, is a warning.
pub fn draw_maps(results: &mut Results, studies: &[Study], driver: &Driver) {
    // A map shows single rows, and those that are elsewhere stay there.
    let studies: Vec<&Study> = studies
        .iter()
        .filter(|study| study.embeddings.elsewhere().is_none())
        .collect();
    driver.progress().begin("map", (TSNE_STEPS * studies.len()) as u64);
    let most = most_rows(studies.len());
    let planes: Vec<Plane> = studies.iter().map(|s| principal_plane(&s.embeddings, driver)).collect();
    let maps = driver.map(studies.len(), |i| neighborhoods(studies[i], &planes[i], most, driver));
    for ((study, plane), map) in studies.into_iter().zip(planes).zip(maps) {
        let column = |name: &str, values: &[f64]| (name.to_string(), values.iter().copied().map(Some).collect());
        let mut columns = vec![column("x", &plane.x), column("y", &plane.y)];
        match map {
            Ok(places) => {
                let along = |axis: usize| places.iter().map(|place| place.map(|place| place[axis])).collect();
                columns.extend([("tsne_x".to_string(), along(0)), ("tsne_y".to_string(), along(1))]);
            }
            Err(reason) => results
                .warnings
                .push(format!("{}: no t-SNE map: {reason}", study.model)),
        }
        let model = study.model.clone();
        results.samples.push(SampleTable {
            model,
            ..SampleTable::new("map", columns)
        });
        results.curves.push(Curve {
            model: study.model.clone(),
            metric: "map".into(),
            x_label: "principal component".to_string(),
            y_label: "share of the variance".to_string(),
            x: vec![1.0, 2.0],
            y: plane.shares.to_vec(),
        });
    }
}

/// Where the rows lie on the t-SNE map; `None` for rows outside its sample.
fn neighborhoods(study: &Study, plane: &Plane, most: usize, driver: &Driver) -> Result<Vec<Option<[f64; 2]>>> {
    let n = study.embeddings.rows();
    refuse_if(n < FEWEST_ROWS, || {
        format!("it needs at least {FEWEST_ROWS} rows, there are {n}")
    })?;
    let rows = sample(n, most);
    let start: Vec<[f64; 2]> = rows.iter().map(|row| [plane.x[*row], plane.y[*row]]).collect();
    refuse_if(!start.iter().flatten().all(|x| x.is_finite()), || {
        "the numbers are too large for a principal plane to start from".to_string()
    })?;
    let placed = if rows.len() == n {
        tsne(&study.embeddings, &start, driver)?
    } else {
        tsne(&study.embeddings.select(&rows)?, &start, driver)?
    };
    let mut places = vec![None; n];
    for (row, place) in rows.into_iter().zip(placed) {
        places[row] = Some(place);
    }
    Ok(places)
}

/// The most rows of each of so many t-SNE maps.
fn most_rows(maps: usize) -> usize {
    (TSNE_ROWS_IN_ALL / maps.max(1)).clamp(TSNE_ROWS_AT_LEAST, TSNE_MOST_ROWS)
}

/// At most so many of `n` rows, the same for all models of so many rows.
fn sample(n: usize, most: usize) -> Vec<usize> {
    if n <= most {
        return (0..n).collect();
    }
    let order = random::permutation(n, &mut random::stream(0, "map", 0));
    let mut rows: Vec<usize> = order[..most].iter().map(|row| *row as usize).collect();
    rows.sort_unstable();
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Space;
    use crate::run::Order;

    fn drawn(rows: usize) -> Results {
        let embeddings = (0..rows * 2).map(|i| (i as f64 * 0.7).sin()).collect();
        let study = Study::new("m", Space::from_f64("z", rows, 2, embeddings).unwrap());
        let mut results = Results::default();
        draw_maps(&mut results, &[study], &Driver::silent(Order::Parallel));
        results
    }

    #[test]
    fn both_maps_have_a_place_for_each_row() {
        let results = drawn(30);
        let names: Vec<&str> = results.samples[0].columns.iter().map(|c| c.0.as_str()).collect();
        assert_eq!(names, ["x", "y", "tsne_x", "tsne_y"]);
        let is_placed = |values: &Vec<Option<f64>>| values.len() == 30 && values.iter().all(Option::is_some);
        assert!(results.samples[0].columns.iter().all(|c| is_placed(&c.1)));
        assert!(results.warnings.is_empty());
    }

    #[test]
    fn few_rows_have_a_plane_and_a_warning() {
        for rows in [1, 3] {
            let results = drawn(rows);
            assert_eq!(results.samples[0].columns.len(), 2);
            let expected = format!("m: no t-SNE map: it needs at least 4 rows, there are {rows}");
            assert_eq!(results.warnings, [expected]);
        }
    }

    #[test]
    fn a_sample_holds_rows_of_the_whole_file_once() {
        assert_eq!(sample(5, TSNE_MOST_ROWS), [0, 1, 2, 3, 4]);
        let rows = sample(3 * TSNE_MOST_ROWS, TSNE_MOST_ROWS);
        assert!(rows.len() == TSNE_MOST_ROWS && rows.is_sorted_by(|a, b| a < b));
        // A third of the sample is of the last third, give or take six standard deviations of about 27.
        let last = rows.iter().filter(|row| **row >= 2 * TSNE_MOST_ROWS).count();
        assert!(last.abs_diff(TSNE_MOST_ROWS / 3) < 165, "{last}");
        assert_eq!(rows, sample(3 * TSNE_MOST_ROWS, TSNE_MOST_ROWS));
    }

    #[test]
    fn maps_of_many_models_hold_fewer_rows_each() {
        let most = [0, 1, 4, 10, 30, 200].map(most_rows);
        assert_eq!(most, [5_000, 5_000, 5_000, 2_000, 666, TSNE_ROWS_AT_LEAST]);
    }
}
