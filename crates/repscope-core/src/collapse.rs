// SPDX-License-Identifier: MIT
//! Whether a model has collapsed, and by what evidence.

use crate::findings::{HAS_COLLAPSED, Trouble};
use crate::results::Results;

/// At most this share of the possible directions holds nearly all variance of embeddings that have collapsed to them.
const FEW_DIRECTIONS: f64 = 0.1;
/// Of fewer possible directions a few are what the embeddings have by nature.
const FEWEST_DIRECTIONS: usize = 16;

/// What the embeddings of a model fill.
#[derive(Debug, Clone, PartialEq)]
pub enum Collapse {
    /// One point or one direction; what the model does, in words.
    Complete(String),
    /// A few of many directions: 99 % of the variance is in so many of so many.
    Dimensional(Directions),
    /// Neither.
    Not(Directions),
}

/// How many directions hold 99 % of the variance, of how many that are possible, and the effective rank.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Directions {
    /// How many there are.
    pub count: usize,
    /// How many there could be: min(N − 1, D).
    pub of: usize,
    /// The effective rank of the covariance, where it was computed.
    pub effective: Option<f64>,
}

impl Results {
    /// Whether a model has collapsed; none where neither a finding nor a score says anything about it.
    pub fn collapse(&self, model: &str) -> Option<Collapse> {
        let is_it = |trouble: Trouble, of: Option<&str>| trouble == Trouble::Collapsed && of == Some(model);
        let finding = self
            .findings
            .iter()
            .find(|own| is_it(own.trouble, own.model.as_deref()));
        if let Some(finding) = finding {
            let evidence = finding
                .text
                .split_once(HAS_COLLAPSED)
                .map_or(&*finding.text, |(_, text)| text);
            return Some(Collapse::Complete(evidence.to_string()));
        }
        let value = |id: &str| self.score(model, id)?.value;
        let (count, share) = (value("variance_rank")?, value("variance_rank.share")?);
        let found = Directions {
            count: count.round() as usize,
            of: (count / share).round() as usize,
            effective: value("rankme(variant=spec)"),
        };
        let are_few = found.count as f64 <= FEW_DIRECTIONS * found.of as f64;
        Some(if are_few && found.of >= FEWEST_DIRECTIONS {
            Collapse::Dimensional(found)
        } else {
            Collapse::Not(found)
        })
    }
}
