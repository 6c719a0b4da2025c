// SPDX-License-Identifier: MIT
//! A map of each model's codes: every row on the plane that shows most of the variance.

use crate::data::Study;
use crate::passes::plane::principal_plane;
use crate::run::Driver;
use crate::score::{Curve, Results, SampleTable};

/// Adds a table `map` with the columns `x` and `y` for each study, and a curve `map` with the shares of the variance
/// along the two.
pub fn draw_maps(results: &mut Results, studies: &[Study], driver: &Driver) {
    for study in studies {
        let plane = principal_plane(&study.latent, driver);
        let column = |name: &str, values: &[f64]| (name.to_string(), values.iter().copied().map(Some).collect());
        results.samples.push(SampleTable {
            model: study.model.clone(),
            metric: "map".to_string(),
            columns: vec![column("x", &plane.x), column("y", &plane.y)],
        });
        results.curves.push(Curve {
            model: study.model.clone(),
            metric: "map".to_string(),
            x_label: "principal component".to_string(),
            y_label: "share of the variance".to_string(),
            x: vec![1.0, 2.0],
            y: plane.shares.to_vec(),
        });
    }
}
