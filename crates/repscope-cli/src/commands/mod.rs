// SPDX-License-Identifier: MIT
//! One file per subcommand, or per family of them.

pub mod analyses;
pub mod bench;
pub mod check;
pub mod demo;
pub mod evaluate;
pub mod explain;
pub mod manual;
pub mod report;
pub mod twins;
pub mod validate;
