// SPDX-License-Identifier: MIT
//! The metrics from outside: known answers, values of other libraries, invariances, degenerate data, and the same bits in any
//! order of work. One program, so that the crate is linked once.

mod alignment;
mod blocks;
mod clid;
mod collapse;
mod common;
mod coverage;
mod degenerate;
mod etes;
mod etes_golden;
mod golden;
mod groups;
mod invariances;
mod known_answers;
mod mcr2;
mod performance;
mod perturbation;
mod probe;
mod published;
mod retrieval;
mod same_answer;
mod same_everywhere;
mod sample;
mod similarity;
mod text_metrics;
mod two_sets;
mod versions;
