// SPDX-License-Identifier: MIT
//! Weights on their way into a graph: each must exist, have the shape that the others require, and be finite.

use super::Layers;
use crate::architectures::source::{listed, shape_text};
use crate::error::{Result, bail};

impl Layers<'_> {
    pub(in crate::architectures) fn has(&self, name: &str) -> bool {
        self.names.contains(&format!("{}{name}", self.prefix))
    }

    /// How many there are of `beginning`0, `beginning`1, ….
    pub(in crate::architectures) fn count(&self, beginning: &str) -> usize {
        let beginning = format!("{}{beginning}", self.prefix);
        let has = |at: &usize| {
            let item = format!("{beginning}{at}.");
            self.names
                .range(item.clone()..)
                .next()
                .is_some_and(|name| name.starts_with(&item))
        };
        (0..).take_while(has).count()
    }

    /// The sizes of a weight of `N` dimensions, all at least one.
    pub(in crate::architectures) fn shape<const N: usize>(&self, name: &str) -> Result<[usize; N]> {
        let full = format!("{}{name}", self.prefix);
        let Some(shape) = self.weights.shape(&full) else {
            let (kind, known) = (&self.kind, listed(self.weights, &full));
            bail!("a {kind} needs a weight `{full}`, which is missing; the weights are {known}");
        };
        match <[usize; N]>::try_from(&shape[..]) {
            Ok(sizes) if !sizes.contains(&0) => Ok(sizes),
            _ => bail!(
                "`{full}` has shape {}, but a {} has a weight of {N} dimensions there",
                shape_text(&shape),
                self.kind
            ),
        }
    }

    /// The values of a weight, which must have this shape.
    pub(in crate::architectures) fn values<const N: usize>(
        &mut self,
        name: &str,
        expected: [usize; N],
    ) -> Result<Vec<f32>> {
        let shape: [usize; N] = self.shape(name)?;
        let full = format!("{}{name}", self.prefix);
        if shape != expected {
            let (shape, kind, expected) = (shape_text(&shape), &self.kind, shape_text(&expected));
            bail!("`{full}` has shape {shape}, but the other weights of this {kind} require {expected}");
        }
        let values = self.weights.values(&full)?;
        let count = expected
            .iter()
            .try_fold(1usize, |product, &size| product.checked_mul(size));
        if count != Some(values.len()) {
            bail!("`{full}` has shape {} and {} numbers", shape_text(&shape), values.len());
        }
        if let Some(bad) = values.iter().find(|value| !value.is_finite()) {
            bail!("`{full}` holds {bad}; a network with such a weight has no output");
        }
        self.used.insert(full);
        Ok(values)
    }

    /// Puts a weight of this shape into the graph.
    pub(in crate::architectures) fn weight<const N: usize>(&mut self, name: &str, shape: [usize; N]) -> Result<String> {
        let values = self.values(name, shape)?;
        self.graph.weight(name, &shape, &values)
    }
}
