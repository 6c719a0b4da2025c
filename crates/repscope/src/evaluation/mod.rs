// SPDX-License-Identifier: MIT
//! The orchestrator. `request` is what is asked, `plan` says which analyses run on what, `stages` runs them with shared passes,
//! `parts` cuts results into analyses and puts them together again, `folder` finds what an earlier run has finished, `document` says
//! what the whole was asked, and `run` does it all.

pub mod document;
pub mod folder;
pub mod parts;
pub mod plan;
pub mod problems;
pub mod request;
pub mod run;
pub mod stages;
