// SPDX-License-Identifier: MIT
//! From sources to studies: everything that is named is read, joined by id where asked, and everything wrong with it is gathered.

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use glob::Pattern;
use repscope_core::{Finding, Labels, ModelLayer, Pairs, Recipe, Reference, Space, Study, Targets, examine};
use repscope_io::{Array, InputPath, InputRecord, Pool};

use crate::depth;
use crate::encoding::{self, Encoders, Seen};
use crate::evaluation::problems::Problems;
use crate::models::{self, Model};
use crate::options::layers::{Layer, object};
use crate::options::{Data, Machine};
use crate::reader::{Orders, Part, Reader, Sources};
use crate::report::counted;
use crate::session::Session;
use crate::source::{Place, Source};
use crate::versions::{self, VersionStudies};

/// What an input is to a study.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Role {
    States,
    NextStates,
    Episodes,
    Labels,
    Embeddings,
    NextEmbeddings,
    Views,
    Targets,
    Against,
    AgainstGroups,
    Batches,
}

impl Role {
    /// All of them.
    pub const ALL: &[Role] = &[
        Role::States,
        Role::NextStates,
        Role::Episodes,
        Role::Labels,
        Role::Embeddings,
        Role::NextEmbeddings,
        Role::Views,
        Role::Targets,
        Role::Against,
        Role::AgainstGroups,
        Role::Batches,
    ];
}

/// The studies of a run, what they were read from, and what the user should know.
#[derive(Default)]
pub struct Inputs {
    /// One row per sample.
    pub studies: Vec<Study>,
    /// States above next states, where those are given.
    pub steps: Option<Vec<Study>>,
    /// The shorter and quantized embeddings that are measured beside those.
    pub versions: Vec<VersionStudies>,
    /// The models of the studies, in the same order.
    pub models: Vec<Model>,
    /// The models that are layers of one.
    pub layers: Vec<ModelLayer>,
    /// The recipes that some of the models are training runs of.
    pub recipes: Vec<Recipe>,
    /// What encoders see, in the order of its file.
    pub seen: Option<Seen>,
    /// The row in it of each row of the studies, where these were joined by id.
    state_rows: Option<Vec<usize>>,
    /// The groups that rows come in.
    pub episodes: Option<Arc<Labels>>,
    /// Whether the user says that rows follow each other.
    pub ordered: bool,
    findings: Vec<Finding>,
    records: Vec<(Role, InputRecord)>,
    warnings: Vec<String>,
}

/// What is needed of the inputs beside the embeddings.
#[derive(Debug, Clone, Copy)]
pub struct Needs {
    /// A run of a retrieval alone needs no models.
    pub models: bool,
    /// Whether distances between the states are taken; else they are for encoders alone.
    pub distances: Distances,
}

/// Whether distances between inputs are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Distances {
    /// Not at all.
    None,
    /// Where the inputs are numbers; texts are for encoders alone.
    OfNumbers,
    /// In any case, so that texts are refused.
    Required,
}

/// The embeddings of a model, of its next inputs, of further views, and of reference rows.
#[derive(Clone)]
struct Embeddings {
    model: String,
    now: Space,
    next: Option<Space>,
    views: Vec<Arc<Space>>,
    reference: Option<Arc<Reference>>,
}

impl Inputs {
    /// Reads all inputs and runs the models that are encoders. `None` where something is wrong, which is then among the problems.
    pub fn read(
        data: &Data,
        needs: Needs,
        machine: &Machine,
        session: &Session,
        problems: &mut Problems,
    ) -> Option<Inputs> {
        let named = problems.take(named_models(data, needs.models)).unwrap_or_default();
        let views = if data.views.is_empty() {
            Vec::new()
        } else {
            let pairs = models::pair_all(&models::VIEWS, &data.views, &named);
            problems.take(pairs).unwrap_or_default()
        };
        let references = if data.against.is_empty() {
            Vec::new()
        } else {
            let pairs = models::pair(&models::REFERENCES, &data.against, &named);
            problems.take(pairs).unwrap_or_default()
        };
        // Without embeddings of the reference rows, the models that are encoders make them.
        let references = match (references.is_empty(), &data.against_states) {
            (true, Some(_)) => named.iter().map(|model| model.embeddings.clone()).collect(),
            _ => references,
        };
        let mut all = All {
            reader: Reader::new(&data.ids),
            roles: Vec::new(),
            problems,
            orders: Orders::default(),
        };
        if !data.ids.is_empty() {
            let joined = parts(data, &named, &views).and_then(|parts| all.reader.join(parts));
            all.orders = all.problems.take(joined).unwrap_or_default();
        }
        let encoders = Encoders {
            options: &data.encoder,
            machine,
            session,
        };
        let labels = data.labels.as_ref().and_then(|source| all.labels(Role::Labels, source));
        let targets = data.targets.as_ref().and_then(|source| all.targets(source));
        let seen = all.see(Role::States, data.states.as_ref(), &encoders);
        let next = all.see(Role::NextStates, data.next_states.as_ref(), &encoders);
        let of_reference = all.see(Role::Against, data.against_states.as_ref(), &encoders);
        let stops = seen.as_ref().and_then(|seen| seen.stops.clone());
        let episodes = match (&data.episodes, stops) {
            (Some(source), _) => all.labels(Role::Episodes, source),
            (None, Some(stops)) => all.stops(stops),
            (None, None) => None,
        };
        let batches = data
            .batches
            .as_ref()
            .and_then(|source| all.labels(Role::Batches, source));
        let against_groups = data.against_groups.as_ref();
        let against_groups = against_groups.and_then(|source| all.labels(Role::AgainstGroups, source));
        if data.against_groups.is_some() && !data.has_reference() {
            let problem = "`against_groups` are the groups of reference rows, and there are none; give `against` PATH";
            all.problems.add(problem.to_string());
        }
        let mut embeddings = Vec::new();
        let mut models = Vec::new();
        for (i, model) in named.iter().enumerate() {
            if let Some(outputs) = all.problems.take(depth::outputs(&model.embeddings)).flatten() {
                for (option, is_given) in [("views", !data.views.is_empty()), ("against", data.has_reference())] {
                    if is_given {
                        let place = &model.embeddings;
                        all.problems.add(format!(
                            "`{option}` is embeddings, and {place} is a graph whose outputs are made as they are needed; store its \
                             outputs with `encode`, and give these files"
                        ));
                    }
                }
                let (own, spaces) = all.layers(model, outputs, &encoders, seen.as_ref(), next.as_ref(), data.pool);
                models.extend(own);
                embeddings.extend(spaces);
                continue;
            }
            models.push(model.clone());
            let Some(is_encoder) = all.problems.take(encoding::is_encoder(&model.embeddings)) else {
                continue;
            };
            let (now, next) = if is_encoder {
                all.encoded(model, &encoders, seen.as_ref(), next.as_ref(), data.pool)
            } else {
                all.problems.take(model.refuse_one_file(data.next_states.is_some()));
                let now = all.space(Role::Embeddings, &model.embeddings, &model.name, data.pool);
                let next = model.next.as_ref();
                let next = next.and_then(|place| all.space(Role::NextEmbeddings, place, &model.name, data.pool));
                (now, next)
            };
            let places = views.get(i).map(Vec::as_slice).unwrap_or_default();
            let own = places
                .iter()
                .enumerate()
                .filter_map(|(at, place)| all.space(Role::Views, place, &view_part(&model.name, at), data.pool));
            let views = own.map(Arc::new).collect();
            let place = references.get(i);
            let reference =
                place.and_then(|place| all.reference(place, &model.name, &encoders, of_reference.as_ref(), data.pool));
            let reference = reference.map(|embeddings| Reference {
                embeddings,
                groups: against_groups.as_deref().cloned(),
            });
            embeddings.extend(now.map(|now| Embeddings {
                model: model.name.clone(),
                now,
                next,
                views,
                reference: reference.map(Arc::new),
            }));
        }
        let named = models;
        let points = |all: &mut All, seen: Option<Seen>, name: &str| {
            let is_wanted = |seen: &Seen| match needs.distances {
                Distances::None => false,
                Distances::OfNumbers => seen.texts().is_none(),
                Distances::Required => true,
            };
            all.points(seen.filter(is_wanted)?, name)
        };
        let states = points(&mut all, seen.clone(), "states");
        let next = points(&mut all, next, "next states");
        let All {
            mut reader,
            roles,
            orders,
            ..
        } = all;
        if !problems.is_empty() {
            return None;
        }
        problems.take(same_rows(
            states.as_ref(),
            labels.as_deref(),
            targets.as_deref(),
            episodes.as_deref(),
            batches.as_deref(),
            &embeddings,
        ))?;
        let steps = match next {
            None => None,
            Some(next) => {
                let stacked = stacked_studies(states.clone(), next, embeddings.clone(), episodes.clone());
                Some(problems.take(stacked)?)
            }
        };
        let studies = problems.take(row_studies(
            states,
            embeddings,
            labels,
            targets,
            episodes.clone(),
            batches,
        ))?;
        let recipes = models::recipes(&named);
        let layers = depth::layers(&named);
        let versions = data
            .versions
            .all()
            .and_then(|asked| versions::of_studies(asked, &studies, steps.as_deref(), &recipes, machine));
        let versions = problems.take(versions)?;
        reader.warnings.extend(versions::warnings(&versions));
        let mut findings = problems.take(examine(&studies).map_err(anyhow::Error::from))?;
        Recipe::rename(&recipes, &mut findings);
        Some(Inputs {
            findings,
            recipes,
            layers,
            ordered: data.ordered,
            studies,
            steps,
            versions,
            models: named,
            state_rows: seen.as_ref().and_then(|seen| orders.chosen("states", seen.rows())),
            seen,
            episodes,
            records: roles.into_iter().zip(reader.records).collect(),
            warnings: reader.warnings,
        })
    }

    /// What an analysis that reads these inputs was made from.
    pub fn sources(&self, data: &Data, read: &[Role]) -> Sources {
        let of_role = self.records.iter().filter(|(role, _)| read.contains(role));
        let kept = |source: &Option<Source>, role| source.clone().filter(|_| read.contains(&role));
        let data = Data {
            states: kept(&data.states, Role::States),
            next_states: kept(&data.next_states, Role::NextStates),
            labels: kept(&data.labels, Role::Labels),
            targets: kept(&data.targets, Role::Targets),
            episodes: kept(&data.episodes, Role::Episodes),
            batches: kept(&data.batches, Role::Batches),
            against_states: kept(&data.against_states, Role::Against),
            against_groups: kept(&data.against_groups, Role::AgainstGroups),
            against: if read.contains(&Role::Against) {
                data.against.clone()
            } else {
                Vec::new()
            },
            ..data.clone()
        };
        Sources {
            records: of_role.map(|(_, record)| record.clone()).collect(),
            findings: self.findings.clone(),
            layers: self.layers.clone(),
            warnings: self.warnings.clone(),
            options: roles(&data),
        }
    }

    /// Whether it is known which rows follow each other.
    pub fn have_order(&self) -> bool {
        self.ordered || self.episodes.is_some() || self.steps.is_some()
    }

    /// The models as results name them: the first training run stands for its recipe.
    pub fn shown_models(&self) -> Vec<Model> {
        let mut shown = self.models.clone();
        for model in &mut shown {
            if let Some(recipe) = self.recipes.iter().find(|recipe| recipe.runs[0] == model.name) {
                model.name.clone_from(&recipe.name);
            }
        }
        shown.retain(|model| model.recipe.as_ref().is_none_or(|recipe| *recipe == model.name));
        shown
    }

    /// The studies of these models.
    pub fn shown_studies(&self) -> Vec<Study> {
        let name_of = |study: &Study| match self.recipes.iter().find(|recipe| recipe.runs.contains(&study.model)) {
            None => Some(study.model.clone()),
            Some(recipe) => (recipe.runs[0] == study.model).then(|| recipe.name.clone()),
        };
        let shown = |study: &Study| {
            Some(Study {
                model: name_of(study)?,
                ..study.clone()
            })
        };
        self.studies.iter().filter_map(shown).collect()
    }

    /// How many models there are, in words.
    pub fn count_models(&self) -> String {
        let runs = self.models.iter().filter(|model| model.recipe.is_some()).count();
        let models = counted(self.models.len() - runs + self.recipes.len(), "model");
        match runs {
            0 => models,
            runs => format!("{models} ({runs} training runs)"),
        }
    }

    /// Where a row of the studies stands among the inputs as they were read.
    pub fn state_row(&self, row: usize) -> usize {
        match &self.state_rows {
            Some(rows) => rows.get(row).copied().unwrap_or(usize::MAX),
            None => row,
        }
    }

    /// How many rows the first model has.
    pub fn rows(&self) -> usize {
        self.studies.first().map_or(0, |study| study.embeddings.rows())
    }
}

/// What was said about the inputs.
pub fn roles(data: &Data) -> Layer {
    let mut roles = object(serde_json::json!({
        "states": data.states, "next_states": data.next_states, "labels": data.labels, "episodes": data.episodes,
        "models": data.models, "pool": data.pool, "ids": data.ids,
    }));
    if !data.replicates.is_empty() {
        roles.insert("replicates".to_string(), serde_json::json!(data.replicates));
    }
    if data.targets.is_some() {
        roles.insert("targets".to_string(), serde_json::json!(data.targets));
    }
    if !data.against.is_empty() {
        roles.insert("against".to_string(), serde_json::json!(data.against));
    }
    for (name, source) in [
        ("against_states", &data.against_states),
        ("against_groups", &data.against_groups),
        ("batches", &data.batches),
    ] {
        if source.is_some() {
            roles.insert(name.to_string(), serde_json::json!(source));
        }
    }
    if data.shards {
        roles.insert("shards".to_string(), serde_json::json!(true));
    }
    if !data.depth.layers.is_empty() {
        roles.insert("layers".to_string(), serde_json::json!(data.depth.layers));
    }
    roles.extend(data.versions.asked());
    roles.extend(data.encoder.asked());
    roles
}

fn named_models(data: &Data, are_needed: bool) -> Result<Vec<Model>> {
    if data.has_no_model() && are_needed {
        bail!(
            "no model is given: name its embeddings, as in `repscope evaluate z.npy` or --model NAME=PATH, or in [models] of a \
             study file (`repscope evaluate --init` writes one). Without a name, the encoders in \
             weights/NAME/best_encoder.* are taken, and there are none"
        );
    }
    if data.next_states.is_some() && data.states.is_none() {
        bail!("`next_states` needs `states`, and there are none");
    }
    data.named_models()
}

/// The arrays that ids join.
fn parts(data: &Data, models: &[Model], views: &[Vec<Place>]) -> Result<Vec<Part>> {
    let mut parts = Vec::new();
    for (name, source) in [
        ("states", &data.states),
        ("labels", &data.labels),
        ("targets", &data.targets),
        ("episodes", &data.episodes),
        ("batches", &data.batches),
    ] {
        if let Some(source) = source {
            parts.push(Part::new(name, source.place()?));
        }
    }
    for model in models {
        if parts.iter().any(|part| part.name == model.name) {
            bail!(
                "a model is called `{0}`, and so is an array that it is joined with by id; give the model another name",
                model.name
            );
        }
        // Embeddings that an encoder makes have the rows of the states.
        if !encoding::is_encoder(&model.embeddings)? {
            parts.push(Part::new(&model.name, model.embeddings.clone()));
        }
    }
    for (model, views) in models.iter().zip(views) {
        for (at, view) in views.iter().enumerate() {
            parts.push(Part::new(&view_part(&model.name, at), view.clone()));
        }
    }
    Ok(parts)
}

/// What ids call a view of a model: `z.view`, then `z.view3`.
fn view_part(model: &str, at: usize) -> String {
    match at {
        0 => format!("{model}.view"),
        at => format!("{model}.view{}", at + 2),
    }
}

/// The reader, the roles of what it has read, and what went wrong.
struct All<'a> {
    reader: Reader,
    roles: Vec<Role>,
    problems: &'a mut Problems,
    orders: Orders,
}

impl All<'_> {
    fn see(&mut self, role: Role, source: Option<&Source>, encoders: &Encoders) -> Option<Seen> {
        let skip_bad = encoders.options.numbers.skip_bad;
        let seen = source?
            .place()
            .and_then(|place| Seen::open(&place, skip_bad, &mut self.reader));
        self.keep(role, seen)
    }

    /// All rows as points.
    fn points(&mut self, seen: Seen, name: &str) -> Option<Space> {
        let space = seen.into_space(name);
        let space = space.and_then(|space| self.orders.space("states", space));
        self.problems.take(space)
    }

    fn stops(&mut self, stops: Array) -> Option<Arc<Labels>> {
        let episodes = stops.into_episodes("the stop flags").map_err(anyhow::Error::from);
        let episodes = episodes.and_then(|episodes| self.orders.labels("states", episodes));
        self.problems.take(episodes).map(Arc::new)
    }

    /// Runs an encoder on the states, and on the next states.
    fn encoded(
        &mut self,
        model: &Model,
        encoders: &Encoders,
        states: Option<&Seen>,
        next: Option<&Seen>,
        pool: Pool,
    ) -> (Option<Space>, Option<Space>) {
        let Some(states) = states else {
            self.problems.add(format!(
                "{} is an encoder, and there is nothing to run it on; give `states` PATH",
                model.embeddings
            ));
            return (None, None);
        };
        let opened = encoders.open(&model.embeddings, &mut self.reader);
        let Some(mut encoder) = self.keep(Role::Embeddings, opened) else {
            return (None, None);
        };
        let mut run = |seen: &Seen| {
            let warnings = &mut self.reader.warnings;
            let space = encoders.space(&mut encoder, &model.name, seen, pool, warnings);
            let space = space.and_then(|space| self.orders.space("states", space));
            self.problems.take(space)
        };
        (run(states), next.and_then(run))
    }

    /// Runs a graph once on the states, and on the next states: each of its outputs is a layer, and a model.
    fn layers(
        &mut self,
        model: &Model,
        (place, wanted): (Place, Pattern),
        encoders: &Encoders,
        states: Option<&Seen>,
        next: Option<&Seen>,
        pool: Pool,
    ) -> (Vec<Model>, Vec<Embeddings>) {
        let Some(states) = states else {
            self.problems.add(format!(
                "{} is an encoder, and there is nothing to run it on; give `states` PATH",
                model.embeddings
            ));
            return Default::default();
        };
        let opened = encoders.open(&place, &mut self.reader);
        let Some(mut encoder) = self.keep(Role::Embeddings, opened) else {
            return Default::default();
        };
        let mut run = |seen: &Seen| {
            let found = encoders.outputs(&mut encoder, &model.name, seen, pool, &wanted)?;
            let ordered = found.into_iter().map(|(output, file, space)| {
                let space = self.orders.space("states", space)?;
                Ok((output, file, space))
            });
            ordered.collect::<Result<Vec<_>>>()
        };
        let now = run(states);
        let next = next.map(&mut run).transpose();
        let (Some(now), Some(next)) = (self.problems.take(now), self.problems.take(next)) else {
            return Default::default();
        };
        let mut next = next.unwrap_or_default().into_iter().map(|(_, _, space)| space);
        let layer = |(output, file, now): (String, InputPath, Space)| {
            let name = format!("{}/{output}", model.name);
            let own = Model {
                name: name.clone(),
                layer_of: Some(model.name.clone()),
                embeddings: Place::File(file),
                ..model.clone()
            };
            let spaces = Embeddings {
                model: name,
                now,
                next: next.next(),
                views: Vec::new(),
                reference: None,
            };
            (own, spaces)
        };
        now.into_iter().map(layer).unzip()
    }

    /// Reads an array as the space of this name.
    fn space(&mut self, role: Role, place: &Place, name: &str, pool: Pool) -> Option<Space> {
        let read = self.reader.array(place).and_then(|array| {
            let space = array.into_space(name, pool).with_context(|| place.to_string())?;
            self.orders.space(name, space)
        });
        self.keep(role, read)
    }

    /// Reads the reference rows of a model. They are other samples, so nothing joins them by id.
    fn reference(
        &mut self,
        place: &Place,
        model: &str,
        encoders: &Encoders,
        seen: Option<&Seen>,
        pool: Pool,
    ) -> Option<Space> {
        let name = format!("reference rows of {model}");
        let read = other_rows(place, &name, "against_states", encoders, seen, pool, &mut self.reader);
        self.keep(Role::Against, read)
    }

    fn labels(&mut self, role: Role, source: &Source) -> Option<Arc<Labels>> {
        let labels = source.place().and_then(|place| match role {
            Role::Episodes | Role::AgainstGroups => Ok(self.reader.array(&place)?.into_episodes(&place.to_string())?),
            _ => self.reader.labels(&place),
        });
        let part = match role {
            Role::Episodes => "episodes",
            Role::Batches => "batches",
            // Reference rows are other samples, and nothing joins them by id.
            Role::AgainstGroups => return self.keep(role, labels.map(Arc::new)),
            _ => "labels",
        };
        let read = labels.and_then(|labels| Ok(Arc::new(self.orders.labels(part, labels)?)));
        self.keep(role, read)
    }

    fn targets(&mut self, source: &Source) -> Option<Arc<Targets>> {
        let read = source
            .place()
            .and_then(|place| targets(&mut self.reader, &place, "targets"));
        let read = read.and_then(|own| {
            let values = self.orders.space("targets", own.values().clone())?;
            Ok(Arc::new(Targets::new(own.names(), values)?))
        });
        self.keep(Role::Targets, read)
    }

    fn keep<T>(&mut self, role: Role, read: Result<T>) -> Option<T> {
        // The reader makes a record of each input that it could open.
        self.roles.resize(self.reader.records.len(), role);
        self.problems.take(read)
    }
}

/// Embeddings of other samples than those of the studies: as they are stored, or by an encoder, which is run on `seen`. `option` is
/// where that comes from.
pub(crate) fn other_rows(
    place: &Place,
    name: &str,
    option: &str,
    encoders: &Encoders,
    seen: Option<&Seen>,
    pool: Pool,
    reader: &mut Reader,
) -> Result<Space> {
    match (encoding::is_encoder(place)?, seen) {
        (true, Some(seen)) => {
            let mut encoder = encoders.open(place, reader)?;
            encoders.space(&mut encoder, name, seen, pool, &mut reader.warnings)
        }
        (true, None) => {
            bail!("{place} is an encoder, and there is nothing to run it on for the {name}; give `{option}` PATH")
        }
        (false, Some(_)) => bail!(
            "`{option}` are inputs of encoders, and {place} holds embeddings; leave out `{option}`, or give embeddings of the {name}"
        ),
        (false, None) => {
            let space = reader.array(place)?.into_space(name, pool);
            space.with_context(|| place.to_string())
        }
    }
}

/// Continuous values of each row. The columns of a table have names, which are those of the targets; others are numbered.
pub(crate) fn targets(reader: &mut Reader, place: &Place, name: &str) -> Result<Targets> {
    let known = place.list().unwrap_or_default();
    let array = reader.array(place)?;
    let values = array
        .into_space(name, Pool::Flatten)
        .with_context(|| place.to_string())?;
    let column = reader.id_column();
    let keys = known.into_iter().filter_map(|own| own.key);
    let keys: Vec<String> = keys.filter(|key| Some(key.as_str()) != column).collect();
    Ok(match place.key() {
        Some(key) if values.columns() == 1 => Targets::new(&[key], values)?,
        None if keys.len() == values.columns() && !keys.is_empty() => Targets::new(&keys, values)?,
        _ => Targets::numbered(values),
    })
}

/// All arrays have the same number of rows; otherwise each is named with its own.
fn same_rows(
    states: Option<&Space>,
    labels: Option<&Labels>,
    targets: Option<&Targets>,
    episodes: Option<&Labels>,
    batches: Option<&Labels>,
    embeddings: &[Embeddings],
) -> Result<()> {
    let mut rows: Vec<(String, usize)> = Vec::new();
    rows.extend(states.map(|states| ("the states".to_string(), states.rows())));
    rows.extend(labels.map(|labels| ("the labels".to_string(), labels.rows())));
    rows.extend(targets.map(|targets| ("the targets".to_string(), targets.values().rows())));
    rows.extend(episodes.map(|episodes| ("the episodes".to_string(), episodes.rows())));
    rows.extend(batches.map(|batches| ("the batches".to_string(), batches.rows())));
    for model in embeddings {
        rows.push((format!("model `{}`", model.model), model.now.rows()));
    }
    if rows.windows(2).all(|pair| pair[0].1 == pair[1].1) {
        return Ok(());
    }
    let each: Vec<String> = rows.iter().map(|(name, count)| format!("{name} {count}")).collect();
    let each = each.join(", ");
    bail!("the numbers of rows differ: {each}; give one row per sample in all, or join them with `ids`");
}

/// Every row is a sample; consecutive rows are pairs.
fn row_studies(
    states: Option<Space>,
    embeddings: Vec<Embeddings>,
    labels: Option<Arc<Labels>>,
    targets: Option<Arc<Targets>>,
    episodes: Option<Arc<Labels>>,
    batches: Option<Arc<Labels>>,
) -> Result<Vec<Study>> {
    let input = states.map(Arc::new);
    let mut studies = Vec::new();
    for own in embeddings {
        let mut study = Study::new(&own.model, own.now);
        let mut views = own.views.into_iter();
        study.view = views.next();
        study.more_views = views.collect();
        study.reference = own.reference;
        study.batches.clone_from(&batches);
        study.input.clone_from(&input);
        study.labels.clone_from(&labels);
        study.targets.clone_from(&targets);
        study.episodes.clone_from(&episodes);
        study.check()?;
        study.pairs = Some(Arc::new(Pairs::consecutive(
            study.embeddings.rows(),
            episodes.as_deref(),
        )));
        studies.push(study);
    }
    Ok(studies)
}

/// Row i of the states and row i of the next states are a pair: the two are stacked.
fn stacked_studies(
    states: Option<Space>,
    next: Space,
    embeddings: Vec<Embeddings>,
    episodes: Option<Arc<Labels>>,
) -> Result<Vec<Study>> {
    let states = states.context("`next_states` needs `states`, and there are none")?;
    let rows = states.rows();
    let input = Arc::new(states.stack(&next)?);
    let pairs = Arc::new(Pairs::stacked(rows, episodes.as_deref()));
    let mut studies = Vec::new();
    for own in embeddings {
        let next = own
            .next
            .with_context(|| format!("model `{}` has no embeddings of the next states", own.model))?;
        let mut study = Study::new(&own.model, own.now.stack(&next)?);
        study.input = Some(input.clone());
        study.pairs = Some(pairs.clone());
        studies.push(study);
    }
    Ok(studies)
}
