// SPDX-License-Identifier: MIT
//! Which class each output of a classifier stands for: given, in a file, in the model, or else guessed from the order of folders,
//! which is then said and held against the predictions.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use repscope_io::{InputPath, read_texts};
use repscope_models::graph::describe;

use crate::encoding::has_extension;
use crate::search::list;

/// Keys under which exporters keep the names of classes.
const KEYS: [&str; 6] = ["classes", "class_names", "labels", "names", "id2label", "class_to_idx"];
/// Another order is worth a word where it is right for so many more of the images.
const MUCH_HIGHER: f64 = 0.2;

/// The names of a head's classes in the order of its outputs, and where they come from.
pub struct Named {
    pub names: Vec<String>,
    pub from: String,
}

/// Where the names of classes may be.
pub struct Sources<'a> {
    /// What was said: names for a single head, or HEAD=a,b,c.
    pub said: &'a [String],
    pub model: &'a Path,
    pub images: &'a Path,
}

impl Sources<'_> {
    /// The names for each head, where any source has them.
    pub fn find(&self, heads: &[String]) -> Result<Vec<Option<Named>>> {
        let said = said(self.said, heads)?;
        let metadata = if said.iter().all(Option::is_some) {
            Vec::new()
        } else {
            metadata(self.model)?
        };
        let is_only = heads.len() == 1;
        let of_head = |(head, said): (&String, Option<Vec<String>>)| -> Result<Option<Named>> {
            if let Some(names) = said {
                let from = "`classes`".to_string();
                return Ok(Some(Named { names, from }));
            }
            if let Some(file) = self.file(head, is_only) {
                let from = file.display().to_string();
                let names = lines(&file)?;
                return Ok(Some(Named { names, from }));
            }
            in_metadata(&metadata, head, is_only)
        };
        heads.iter().zip(said).map(of_head).collect()
    }

    /// `classes/HEAD.txt`, or `classes.txt` for a model with one head: beside the model, in the folder of images, or beside it.
    fn file(&self, head: &str, is_only: bool) -> Option<PathBuf> {
        let beside = |path: &Path| path.parent().map(Path::to_path_buf);
        let folders = [beside(self.model), Some(self.images.to_path_buf()), beside(self.images)];
        let own = |folder: PathBuf| {
            let single = is_only.then(|| folder.join("classes.txt"));
            [Some(folder.join("classes").join(format!("{head}.txt"))), single]
        };
        let files = folders.into_iter().flatten().flat_map(own).flatten();
        files.into_iter().find(|file| file.is_file())
    }
}

/// The names in a file, one per line.
fn lines(file: &Path) -> Result<Vec<String>> {
    let mut names = read_texts(&InputPath::file(file)).with_context(|| file.display().to_string())?;
    names.iter_mut().for_each(|name| *name = name.trim().to_string());
    while names.last().is_some_and(String::is_empty) {
        names.pop();
    }
    Ok(names)
}

/// The names that were said for each head.
pub fn said(words: &[String], heads: &[String]) -> Result<Vec<Option<Vec<String>>>> {
    let split = |names: &str| -> Vec<String> { names.split(',').map(|name| name.trim().to_string()).collect() };
    let of_head = |word: &String| -> Option<(usize, Vec<String>)> {
        let (head, names) = word.split_once('=')?;
        let at = heads.iter().position(|own| own == head)?;
        Some((at, split(names)))
    };
    let mut all = vec![None; heads.len()];
    if words.is_empty() {
        return Ok(all);
    }
    let assigned: Vec<Option<(usize, Vec<String>)>> = words.iter().map(of_head).collect();
    if assigned.iter().all(Option::is_some) {
        for (at, names) in assigned.into_iter().flatten() {
            if all[at].replace(names).is_some() {
                bail!("`classes` names the classes of the head {} twice", heads[at]);
            }
        }
        return Ok(all);
    }
    if heads.len() != 1 {
        bail!(
            "`classes` = {}: there are {} heads ({}), so write HEAD=NAME,NAME,… for each",
            words.join(" "),
            heads.len(),
            list(heads.iter().map(String::as_str))
        );
    }
    all[0] = Some(words.iter().flat_map(|word| split(word)).collect());
    Ok(all)
}

/// What a model file says about itself beside its graph. Weights alone say nothing.
fn metadata(model: &Path) -> Result<Vec<(String, String)>> {
    if !has_extension(model, "onnx") {
        return Ok(Vec::new());
    }
    let bytes = repscope_io::read_regular(model).with_context(|| format!("cannot read {}", model.display()))?;
    Ok(describe(&bytes).with_context(|| model.display().to_string())?.metadata)
}

/// The names in the metadata of a model: under a key for the head, or under a usual key.
fn in_metadata(metadata: &[(String, String)], head: &str, is_only: bool) -> Result<Option<Named>> {
    let named = |wanted: &str| metadata.iter().find(|(key, _)| key.eq_ignore_ascii_case(wanted));
    let own = KEYS.iter().flat_map(|key| {
        [
            format!("{head}_{key}"),
            format!("{key}_{head}"),
            format!("{head}.{key}"),
        ]
    });
    let mut own = own.filter_map(|key| named(&key));
    let mut usual = KEYS.iter().filter_map(|key| named(key)).filter(|_| is_only);
    let Some((key, text)) = own.next().or_else(|| usual.next()) else {
        return Ok(None);
    };
    let from = format!("the model's metadata `{key}`");
    match parse(text) {
        Some(names) => Ok(Some(Named { names, from })),
        None => {
            let start: String = text.chars().take(60).collect();
            bail!("{from} does not say which output is which class ({start}); give the names in `classes`")
        }
    }
}

/// Names in their order: a list, a dictionary from index to name or from name to index (JSON or as Python writes it), or
/// words with commas between them. It is read as data; nothing is evaluated.
pub fn parse(text: &str) -> Option<Vec<String>> {
    let text = text.trim();
    let names = if text.starts_with(['[', '(', '{']) {
        let mut rest = text;
        let pairs = collection(&mut rest)?;
        rest.is_empty().then_some(())?;
        in_order(pairs)?
    } else {
        text.split(',').map(|name| name.trim().to_string()).collect()
    };
    let is_good = !names.is_empty() && names.iter().all(|name| !name.is_empty());
    is_good.then_some(names)
}

/// The entries of a list (without keys) or of a dictionary.
type Entries = Vec<(Option<String>, String)>;

/// By their numbers, which are all from 0 on; a list is in its own order.
fn in_order(entries: Entries) -> Option<Vec<String>> {
    if entries.iter().all(|(key, _)| key.is_none()) {
        return Some(entries.into_iter().map(|(_, name)| name).collect());
    }
    let entries: Vec<(String, String)> = entries
        .into_iter()
        .map(|(key, value)| Some((key?, value)))
        .collect::<Option<_>>()?;
    let numbered = |pairs: Vec<(&String, &String)>| -> Option<Vec<String>> {
        let places = pairs
            .iter()
            .map(|(number, name)| Some((number.parse().ok()?, name.to_string())));
        let places: BTreeMap<usize, String> = places.collect::<Option<_>>()?;
        let is_whole = places.len() == pairs.len() && places.keys().copied().eq(0..pairs.len());
        is_whole.then(|| places.into_values().collect())
    };
    numbered(entries.iter().map(|(key, value)| (key, value)).collect())
        .or_else(|| numbered(entries.iter().map(|(key, value)| (value, key)).collect()))
}

/// A list or a dictionary of words; what holds others is none.
fn collection(rest: &mut &str) -> Option<Entries> {
    let close = match rest.chars().next()? {
        '[' => ']',
        '(' => ')',
        _ => '}',
    };
    *rest = rest[1..].trim_start();
    let mut entries = Vec::new();
    loop {
        if let Some(after) = rest.strip_prefix(close) {
            *rest = after.trim_start();
            return Some(entries);
        }
        let first = word(rest)?;
        let entry = match rest.strip_prefix(':') {
            Some(after) if close == '}' => {
                *rest = after.trim_start();
                (Some(first), word(rest)?)
            }
            _ if close == '}' => return None,
            _ => (None, first),
        };
        entries.push(entry);
        match rest.strip_prefix(',') {
            Some(after) => *rest = after.trim_start(),
            None => rest.starts_with(close).then_some(())?,
        }
    }
}

/// A word in quotes, or a number.
fn word(rest: &mut &str) -> Option<String> {
    let quote = rest.chars().next()?;
    let mut found = String::new();
    if quote != '"' && quote != '\'' {
        let end = rest
            .find(|c: char| !(c.is_ascii_digit() || c == '-' || c == '.'))
            .unwrap_or(rest.len());
        found.push_str(&rest[..end]);
        *rest = rest[end..].trim_start();
        return (!found.is_empty()).then_some(found);
    }
    let mut letters = rest.char_indices().skip(1);
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => match letters.next()?.1 {
                'n' => found.push('\n'),
                't' => found.push('\t'),
                'u' => {
                    let digits: String = letters.by_ref().take(4).map(|(_, digit)| digit).collect();
                    found.push(char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?);
                }
                other => found.push(other),
            },
            letter if letter == quote => {
                *rest = rest[at + 1..].trim_start();
                return Some(found);
            }
            letter => found.push(letter),
        }
    }
    None
}

/// Says that an order was guessed, how accurate that makes the classifier, and whether another order fits much better.
pub fn guessed(head: &str, classes: &[String], labels: &[u32], said: &[u32]) -> String {
    let all = |_: usize| true;
    let identity: Vec<usize> = (0..classes.len()).collect();
    let accuracy = share(labels, said, &identity, &all);
    let mut text = format!(
        "nothing says which output of the head {head} is which class: the outputs are taken in the order of the folders ({}), which \
         gives an accuracy of {accuracy:.4} without masks; give the names in `classes`, or in classes.txt beside the model",
        list(classes.iter().map(String::as_str))
    );
    let best = assignment(classes.len(), labels, said, &all);
    let better = share(labels, said, &best, &all);
    // Of few images some order always fits: one that was found on every other image must fit the rest as well.
    let halves = [0, 1].map(|half| {
        let found = assignment(classes.len(), labels, said, &|row| row % 2 == half);
        let others = |row: usize| row % 2 != half;
        share(labels, said, &found, &others) - share(labels, said, &identity, &others)
    });
    let is_much = better - accuracy >= MUCH_HIGHER && (halves[0] + halves[1]) / 2.0 >= MUCH_HIGHER;
    if is_much {
        let order = best.iter().map(|&class| classes[class].as_str());
        text += &format!(
            ". This order is probably wrong: with the outputs as {} the accuracy would be {better:.4}",
            order.collect::<Vec<_>>().join(", ")
        );
    }
    text
}

/// The share of rows whose output stands for their label, of those that count.
fn share(labels: &[u32], said: &[u32], stands_for: &[usize], counts: &dyn Fn(usize) -> bool) -> f64 {
    let rows = || labels.iter().zip(said).enumerate().filter(|(row, _)| counts(*row));
    let right = rows().filter(|(_, (label, said))| stands_for[**said as usize] == **label as usize);
    right.count() as f64 / rows().count().max(1) as f64
}

/// The class that each output would best stand for, one to one, by the confusion matrix of the rows that count.
fn assignment(classes: usize, labels: &[u32], said: &[u32], counts: &dyn Fn(usize) -> bool) -> Vec<usize> {
    let mut together = vec![vec![0i64; classes]; classes];
    for (row, (&label, &said)) in labels.iter().zip(said).enumerate() {
        together[said as usize][label as usize] += i64::from(counts(row));
    }
    hungarian(&together)
}

/// The one-to-one assignment with the largest sum: the Hungarian method, by shortest augmenting paths with potentials.
fn hungarian(gains: &[Vec<i64>]) -> Vec<usize> {
    let count = gains.len();
    // Rows and columns are counted from 1; column 0 is where a path begins.
    let (mut of_row, mut of_column) = (vec![0i64; count + 1], vec![0i64; count + 1]);
    let mut owner = vec![0; count + 1];
    for row in 1..=count {
        owner[0] = row;
        let mut column = 0;
        let mut least = vec![i64::MAX; count + 1];
        let (mut before, mut is_used) = (vec![0; count + 1], vec![false; count + 1]);
        while owner[column] != 0 {
            is_used[column] = true;
            let (from, mut step, mut next) = (owner[column], i64::MAX, 0);
            for j in (1..=count).filter(|&j| !is_used[j]) {
                let cost = -gains[from - 1][j - 1] - of_row[from] - of_column[j];
                if cost < least[j] {
                    least[j] = cost;
                    before[j] = column;
                }
                if least[j] < step {
                    step = least[j];
                    next = j;
                }
            }
            for j in 0..=count {
                if is_used[j] {
                    of_row[owner[j]] += step;
                    of_column[j] -= step;
                } else if j > 0 {
                    least[j] -= step;
                }
            }
            column = next;
        }
        while column != 0 {
            owner[column] = owner[before[column]];
            column = before[column];
        }
    }
    let mut chosen = vec![0; count];
    for column in 1..=count {
        chosen[owner[column] - 1] = column - 1;
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn names_are_read_in_every_form_that_exporters_write() {
        for text in [
            r#"["cat", "dog", "it's"]"#,
            r#"('cat', 'dog', "it's",)"#,
            r#"{0: 'cat', 1: 'dog', 2: "it's"}"#,
            r#"{"2": "it's", "0": "cat", "1": "dog"}"#,
            r#"{'dog': 1, 'cat': 0, 'it\'s': 2}"#,
            "cat, dog,it's",
        ] {
            assert_eq!(parse(text), Some(words(&["cat", "dog", "it's"])), "{text}");
        }
        for text in [
            "",
            "[",
            "[]",
            "['a' 'b']",
            "['a', ['b']]",
            "{0: 'a', 2: 'b'}",
            "{0: 'a', 0: 'b'}",
            "{'a', 'b'}",
            "['a'] + f()",
            "[__import__('os')]",
            "a,,b",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn what_was_said_is_for_one_head_or_for_each_by_name() {
        let (one, two) = (words(&["out"]), words(&["kind", "level"]));
        let abc = Some(words(&["a", "b", "c"]));
        assert_eq!(said(&words(&["a", "b", "c"]), &one).unwrap()[0], abc);
        assert_eq!(said(&words(&["a,b,c"]), &one).unwrap()[0], abc);
        assert_eq!(said(&words(&["level=a,b,c"]), &two).unwrap(), [None, abc]);
        let error = said(&words(&["a", "b"]), &two).unwrap_err().to_string();
        assert!(error.contains("2 heads") && error.contains("HEAD="), "{error}");
    }

    #[test]
    fn the_best_assignment_is_exact() {
        // Taking the largest entry first gives 10 + 0 + 2.
        let gains = [vec![10, 9, 0], vec![9, 0, 0], vec![0, 0, 2]];
        assert_eq!(hungarian(&gains), [1, 0, 2]);
    }

    #[test]
    fn a_wrong_order_is_told_from_a_weak_classifier() {
        let classes = words(&["a", "b", "c"]);
        let labels: Vec<u32> = (0..60).map(|row| row / 20).collect();
        let turned: Vec<u32> = labels.iter().map(|label| (label + 1) % 3).collect();
        let text = guessed("out", &classes, &labels, &turned);
        assert!(
            text.contains("0.0000") && text.contains("as c, a, b the accuracy would be 1.0000"),
            "{text}"
        );
        let text = guessed("out", &classes, &labels, &labels);
        assert!(
            text.contains("accuracy of 1.0000") && !text.contains("probably wrong"),
            "{text}"
        );
        // The order that fits every other row fits none of the rest.
        let text = guessed("out", &classes, &[0, 0, 1, 1, 2, 2], &[1, 2, 2, 0, 0, 1]);
        assert!(!text.contains("probably wrong"), "{text}");
    }
}
