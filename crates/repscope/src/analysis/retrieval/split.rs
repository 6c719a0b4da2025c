// SPDX-License-Identifier: MIT
//! Held-out rows and those that a model was trained on: from files of their own, or by a word for each row. They are searched apart.

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use repscope_core::{Labels, Retrieval as Asked, Split};

use super::names::list;
use super::{Retrieval, Whole, matched, matching, prototypes, read as read_whole, roles};
use crate::reader::Sources;
use crate::report::counted;
use crate::session::Session;

/// Whether held-out rows and those of training are scored separately.
pub(super) fn is_asked(options: &Retrieval) -> bool {
    options.split.is_some() || has_training_files(options)
}

fn has_training_files(options: &Retrieval) -> bool {
    let arrays = [&options.train_sensor_embeddings, &options.train_text_embeddings];
    !options.train_labels.is_empty() || arrays.into_iter().any(Option::is_some)
}

/// Reads everything and checks that it fits together: one retrieval, or that of held-out rows and that of training.
pub(super) fn read(options: &Retrieval, session: &Session) -> Result<(Vec<Asked>, Sources)> {
    let training = has_training_files(options).then(|| of_training(options)).transpose()?;
    let Whole {
        retrieval,
        mut reader,
        split,
    } = read_whole(options, session)?;
    let named = Some(options.name.as_str()).filter(|name| *name != Retrieval::default().name);
    let mut retrievals = match &split {
        None => vec![retrieval],
        Some(split) => by_row(&retrieval, split, named, &mut reader.warnings)?,
    };
    if let Some(training) = training {
        let whole = read_whole(&training, session).context("training rows")?;
        let mut train = whole.retrieval;
        retrievals[0].model = Split::Test.model(named);
        train.model = Split::Train.model(named);
        retrievals.push(train);
        reader.records.extend(whole.reader.records);
        let is_new = |warning: &String| !reader.warnings.contains(warning);
        let new: Vec<String> = whole.reader.warnings.into_iter().filter(is_new).collect();
        reader
            .warnings
            .extend(new.into_iter().map(|warning| format!("training rows: {warning}")));
    }
    let has_several = retrievals.len() > 1;
    for retrieval in &mut retrievals {
        let mut warnings = Vec::new();
        let done = matched(retrieval, options, &mut warnings);
        let model = &retrieval.model;
        if has_several {
            done.with_context(|| format!("{model} rows"))?;
            reader
                .warnings
                .extend(warnings.into_iter().map(|warning| format!("{model}: {warning}")));
        } else {
            done?;
            reader.warnings.extend(warnings);
        }
    }
    let sources = Sources {
        layers: Vec::new(),
        findings: prototypes::unprojected(options).into_iter().collect(),
        options: roles(options, &retrievals[0]),
        records: reader.records,
        warnings: reader.warnings,
    };
    Ok((retrievals, sources))
}

/// The same request about the rows of training.
fn of_training(options: &Retrieval) -> Result<Retrieval> {
    for (held_out, training, missing) in [
        (
            &options.sensor_embeddings,
            &options.train_sensor_embeddings,
            "train_sensor_embeddings",
        ),
        (
            &options.text_embeddings,
            &options.train_text_embeddings,
            "train_text_embeddings",
        ),
    ] {
        if held_out.is_some() != training.is_some() {
            let (which, lack) = match training {
                None => ("held-out", "training"),
                Some(_) => ("training", "held-out"),
            };
            let what = missing.trim_start_matches("train_");
            bail!(
                "`{what}` are given of the {which} rows, but not of the {lack} ones; give both, or neither (`{what}` and \
                 `{missing}`)"
            );
        }
    }
    if options.train_labels.is_empty() {
        bail!("`train_labels` is missing: give the labels of the training rows");
    }
    let others = [
        ("space", !options.spaces.is_empty()),
        ("ids", !options.ids.is_empty()),
        ("groups", !options.groups.is_empty()),
    ];
    if let Some((option, _)) = others.iter().find(|(_, is_given)| *is_given) {
        bail!(
            "`{option}` speaks of the held-out rows alone; put all rows into one file and say which are which with `split` PATH"
        );
    }
    Ok(Retrieval {
        sensor_embeddings: options.train_sensor_embeddings.clone(),
        text_embeddings: options.train_text_embeddings.clone(),
        labels: options.train_labels.clone(),
        ..options.clone()
    })
}

/// The retrievals of held-out rows and of training, by a word for each row.
fn by_row(whole: &Asked, split: &Labels, named: Option<&str>, warnings: &mut Vec<String>) -> Result<Vec<Asked>> {
    let aligned = || (0..whole.spaces.len()).filter(|&at| whole.is_aligned[at]);
    let rows = aligned().next().map_or(0, |at| whole.spaces[at].rows());
    let apart =
        (0..whole.spaces.len()).find(|&at| !whole.is_aligned[at] && whole.spaces[at].name() != super::PROTOTYPE);
    if let Some(space) = apart.map(|at| whole.spaces[at].name()) {
        bail!(
            "`split` has a word for each row, but `{space}` has rows and labels of its own; give the training rows in files of their own"
        );
    }
    if split.rows() != rows {
        bail!(
            "`split` has {}, but there are {}; give one word, train or test, for each row",
            counted(split.rows(), "word"),
            counted(rows, "row")
        );
    }
    let word = |row: usize| split.names()[split.codes()[row] as usize].to_lowercase();
    let known: Vec<&str> = split.names().iter().map(String::as_str).collect();
    let mut found = Vec::new();
    for part in [Split::Test, Split::Train] {
        let keep: Vec<usize> = (0..rows).filter(|&row| word(row) == part.name()).collect();
        if keep.is_empty() {
            bail!(
                "no row of `split` says {}: its words are {}; write train or test for each row",
                part.name(),
                list(&known)
            );
        }
        let mut own = whole.clone();
        own.model = part.model(named);
        for at in aligned() {
            own.spaces[at] = Arc::new(whole.spaces[at].select(&keep)?);
            for set in &mut own.label_sets {
                set.of_space[at] = Arc::new(set.of_space[at].select(&keep));
            }
            matching::select_groups(&mut own, at, &keep);
        }
        found.push(own);
    }
    let is_part = |row: &usize| [Split::Test, Split::Train].iter().any(|part| word(*row) == part.name());
    let others = rows - (0..rows).filter(is_part).count();
    if others > 0 {
        warnings.push(format!(
            "{others} of {} are neither train nor test and are left out",
            counted(rows, "row")
        ));
    }
    Ok(found)
}
