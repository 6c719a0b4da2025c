// SPDX-License-Identifier: MIT
//! The same search in shorter and in quantized embeddings.

use anyhow::{Result, bail};
use repscope_core::{Results, Retrieval, Version, Versioned, retrieve};

use crate::evaluation::plan::Planned;
use crate::search::list;
use crate::session::Session;

/// How many columns the spaces of a retrieval have.
fn columns(retrieval: &Retrieval) -> usize {
    retrieval.spaces.first().map_or(0, |space| space.columns())
}

/// A prefix that is as long as the embeddings says nothing.
pub(super) fn refuse_too_long(versions: &[Version], retrievals: &[Retrieval]) -> Result<()> {
    let each = retrievals.iter().map(|own| (own.model.as_str(), columns(own)));
    let too_long = |version: &Version| {
        let mut all = each.clone();
        all.find(|(_, columns)| !version.exists_of(*columns))
    };
    if let Some((version, (_, columns))) = versions.iter().find_map(|own| Some((own, too_long(own)?))) {
        let kept = version.columns.unwrap_or_default();
        let named = list(each.map(|own| own.0));
        bail!("`prefix` = {kept} is not shorter than the embeddings of {named}, which have {columns} columns");
    }
    Ok(())
}

/// What the metrics of the run are in one version.
pub(super) fn measured(
    version: Version,
    asked: &[Retrieval],
    planned: &Planned,
    session: &Session,
) -> Result<Versioned> {
    let own: Vec<Retrieval> = asked
        .iter()
        .map(|own| version.of_retrieval(own))
        .collect::<Result<_, _>>()?;
    let found = retrieve(&own, &planned.metrics, &planned.spec, &session.driver())?;
    Ok(Versioned {
        version,
        columns: asked.iter().map(|own| (own.model.clone(), columns(own))).collect(),
        results: Results::from(found.scores),
        changes: Vec::new(),
    })
}
