// SPDX-License-Identifier: MIT
//! One file per subcommand, or per family of them.

pub mod analyses;
pub mod bench;
pub mod check;
pub mod explain;
pub mod metrics;
pub mod retrieval;
