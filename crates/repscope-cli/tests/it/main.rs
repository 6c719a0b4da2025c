// SPDX-License-Identifier: MIT
//! The `repscope` command from the outside: each module runs the program as a user does.

mod analyses;
mod bad_input;
mod check;
mod clid;
mod compare;
mod demo;
mod dependencies;
mod documents;
mod encoders;
mod etes;
mod evaluate;
mod faults;
mod fixtures;
mod formats;
mod hostile_files;
mod hostile_models;
mod layers;
mod list_and_explain;
mod manual;
mod packaging;
mod perturb;
mod probe;
mod readme;
mod replicates;
mod report;
mod retrieval;
mod similarity;
mod stays_whole;
mod two_sets;
mod validate;
mod verdict;
mod versions;
mod what_encoders_see;
