// SPDX-License-Identifier: MIT
//! Ways to look at fewer coordinates than all of all pairs, and which of them suits the data.

use super::prefix::{Prefix, STAGES};
use super::prune_cost::{Look, Wanted, plain};
use crate::kernels::coarse::Kind;
use crate::kernels::prepared::Prepared;
use crate::run::Driver;

/// Below this many coordinates over all pairs (a fraction of a second), nothing is gained.
const LEAST: u64 = 1 << 34;

/// How pairs that do not matter are found.
pub(crate) enum Shortcut {
    /// By all coordinates.
    None,
    /// By the first coordinates along principal axes: where few directions hold most of the variance.
    Prefix(Prefix),
    /// By 8 bits of each coordinate: where variance is spread, and the machine has instructions for them.
    Coarse(Kind),
}

impl Shortcut {
    /// The one that makes this sweep over all pairs cheapest, in an order of cells.
    pub(super) fn choose(
        prepared: &Prepared,
        order: &[u32],
        shuffled: &[u32],
        wanted: &Wanted,
        driver: &Driver,
    ) -> Self {
        let (n, d) = (shuffled.len(), prepared.columns());
        let coordinates = (n as u64).saturating_mul(n as u64).saturating_mul(d as u64);
        if coordinates < LEAST || d < 2 * STAGES[0] || !driver.prunes() {
            return Shortcut::None;
        }
        let look = Look::new(prepared, order, shuffled, wanted, driver);
        let mut best = (0.9 * plain(d), Shortcut::None);
        if let Some(kind) = Kind::of_machine() {
            let cost = look.cost_of_coarse(prepared, driver);
            if cost < best.0 {
                best = (cost, Shortcut::Coarse(kind));
            }
        }
        match Prefix::choose(prepared, shuffled, &look, driver) {
            Some((cost, prefix)) if cost < best.0 => Shortcut::Prefix(prefix),
            _ => best.1,
        }
    }

    /// As numbers, for workers who hold other rows of the same matrix: which one, and the axes of a prefix.
    pub(crate) fn parts(&self) -> (usize, Vec<f64>) {
        match self {
            Shortcut::None => (0, Vec::new()),
            Shortcut::Coarse(_) => (1, Vec::new()),
            Shortcut::Prefix(prefix) => (2, prefix.numbers()),
        }
    }

    /// From its numbers. 8 bits are only used where the machine has instructions for them.
    pub(crate) fn of_parts(kind: usize, numbers: Vec<f64>, columns: usize) -> Self {
        match kind {
            1 => Kind::of_machine().map_or(Shortcut::None, Shortcut::Coarse),
            2 => Prefix::of_numbers(numbers, columns).map_or(Shortcut::None, Shortcut::Prefix),
            _ => Shortcut::None,
        }
    }

    pub(super) fn prefix(&self) -> Option<&Prefix> {
        match self {
            Shortcut::Prefix(prefix) => Some(prefix),
            Shortcut::None | Shortcut::Coarse(_) => None,
        }
    }

    pub(super) fn coarse(&self) -> Option<Kind> {
        match self {
            Shortcut::Coarse(kind) => Some(*kind),
            Shortcut::None | Shortcut::Prefix(_) => None,
        }
    }
}
