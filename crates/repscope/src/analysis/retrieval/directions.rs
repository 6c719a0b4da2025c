// SPDX-License-Identifier: MIT
//! Which space searches which: from names such as `text2sensor` to directions.

use anyhow::{Result, bail};
use repscope_core::Direction;

use super::PROTOTYPE;
use crate::search::distinct;

/// More directions than this are not listed in a message.
const LISTED: usize = 30;

/// The directions that were asked for, each once; without any, those that these spaces suggest. The prototypes are
/// the space after the last.
pub fn resolve(asked: &[String], spaces: &[&str], has_prototypes: bool) -> Result<Vec<Direction>> {
    let known = Known { spaces, has_prototypes };
    if asked.is_empty() {
        return Ok(known.usual());
    }
    let mut wanted = Vec::new();
    for name in asked {
        match name.as_str() {
            "both" => wanted.extend(known.both()?),
            name => wanted.push(known.parse(name)?),
        }
    }
    Ok(distinct(wanted))
}

struct Known<'a> {
    spaces: &'a [&'a str],
    has_prototypes: bool,
}

impl Known<'_> {
    fn at(&self, name: &str) -> Option<usize> {
        match name {
            PROTOTYPE => self.has_prototypes.then_some(self.spaces.len()),
            _ => self.spaces.iter().position(|s| *s == name),
        }
    }

    fn name(&self, space: usize) -> &str {
        self.spaces.get(space).copied().unwrap_or(PROTOTYPE)
    }

    fn direction(&self, query: &str, target: &str) -> Option<Direction> {
        let direction = Direction {
            query: self.at(query)?,
            target: self.at(target)?,
        };
        // Prototypes among themselves say nothing of the embeddings.
        (direction.query != self.spaces.len() || direction.target != self.spaces.len()).then_some(direction)
    }

    fn parse(&self, name: &str) -> Result<Direction> {
        let (query, target) = name.split_once('2').unwrap_or((name, ""));
        match self.direction(query, target) {
            Some(direction) => Ok(direction),
            None => bail!("{}; {}", self.complaint(name, query, target), self.choice()),
        }
    }

    /// What is wrong with a name: an input that was not given, or a name that nobody knows.
    fn complaint(&self, name: &str, query: &str, target: &str) -> String {
        let missing = [query, target].into_iter().find_map(|space| match space {
            "text" | "sensor" if self.at(space).is_none() => Some(format!("`{space}_embeddings`, which was not given")),
            PROTOTYPE if !self.has_prototypes => {
                Some("prototypes: give `prototype_embeddings` and `prototype_labels`".to_string())
            }
            _ => None,
        });
        match missing {
            Some(what) if self.is_plausible(query) && self.is_plausible(target) => {
                format!("the direction `{name}` needs {what}")
            }
            _ => format!("there is no direction `{name}`"),
        }
    }

    fn is_plausible(&self, space: &str) -> bool {
        self.at(space).is_some() || ["sensor", "text", PROTOTYPE].contains(&space)
    }

    /// What can be asked for here.
    fn choice(&self) -> String {
        let count = self.spaces.len() + usize::from(self.has_prototypes);
        let all = (0..count).flat_map(|query| (0..count).map(move |target| Direction { query, target }));
        let possible = all.filter(|d| self.direction(self.name(d.query), self.name(d.target)).is_some());
        let mut names = distinct(self.usual().into_iter().chain(possible).map(|d| self.title(d)));
        if names.len() > LISTED {
            let more = names.len() - LISTED;
            names.truncate(LISTED);
            names.push(format!("and {more} more"));
        }
        if self.both().is_ok() {
            names.push("both".to_string());
        }
        format!("with these inputs there are {}", names.join(", "))
    }

    fn title(&self, direction: Direction) -> String {
        format!("{}2{}", self.name(direction.query), self.name(direction.target))
    }

    /// Both directions of the label retrieval scripts: between text and sensor, or from the prototypes to either.
    fn both(&self) -> Result<Vec<Direction>> {
        if self.has_prototypes {
            let documented = ["sensor", "text"].into_iter();
            let found: Vec<Direction> = documented.filter_map(|s| self.direction(PROTOTYPE, s)).collect();
            return Ok(if found.is_empty() {
                self.prototype_directions()
            } else {
                found
            });
        }
        match (self.at("sensor"), self.at("text"), self.spaces.len()) {
            (Some(sensor), Some(text), _) => Ok(there_and_back(text, sensor)),
            (None, None, 2) => Ok(there_and_back(0, 1)),
            _ => {
                let missing = ["sensor", "text"].into_iter().filter(|s| self.at(s).is_none());
                let missing: Vec<String> = missing.map(|s| format!("`{s}_embeddings`")).collect();
                let known: Vec<String> = self.usual().iter().map(|d| self.title(*d)).collect();
                let (missing, known) = (missing.join(" and "), known.join(", "));
                bail!(
                    "`both` is text2sensor and sensor2text, and {missing} was not given; with these inputs there are {known}"
                )
            }
        }
    }

    fn prototype_directions(&self) -> Vec<Direction> {
        let query = self.spaces.len();
        (0..query).map(|target| Direction { query, target }).collect()
    }

    /// What is searched where nothing was asked: from the prototypes, or between all spaces, or within the only one.
    fn usual(&self) -> Vec<Direction> {
        if self.has_prototypes {
            return self.prototype_directions();
        }
        if self.spaces.len() == 1 {
            return vec![Direction { query: 0, target: 0 }];
        }
        let documented = self.at("text").zip(self.at("sensor"));
        let count = self.spaces.len();
        let pairs = (0..count).flat_map(|first| (first + 1..count).map(move |second| (first, second)));
        let all = documented.into_iter().chain(pairs);
        distinct(all.flat_map(|(first, second)| there_and_back(first, second)))
    }
}

fn there_and_back(first: usize, second: usize) -> Vec<Direction> {
    let direction = |query, target| Direction { query, target };
    vec![direction(first, second), direction(second, first)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(asked: &str, spaces: &str, has_prototypes: bool) -> Result<String, String> {
        let asked: Vec<String> = asked.split_whitespace().map(str::to_string).collect();
        let spaces: Vec<&str> = spaces.split_whitespace().collect();
        let known = Known {
            spaces: &spaces,
            has_prototypes,
        };
        let found = resolve(&asked, &spaces, has_prototypes).map_err(|e| e.to_string())?;
        Ok(found.iter().map(|d| known.title(*d)).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn directions_come_in_the_order_asked_and_each_once() {
        for (asked, spaces, has_prototypes, expected) in [
            (
                "sensor2text text2sensor sensor2text",
                "sensor text",
                false,
                "sensor2text text2sensor",
            ),
            ("both", "sensor text", false, "text2sensor sensor2text"),
            (
                "sensor2sensor both text2sensor",
                "sensor text",
                false,
                "sensor2sensor text2sensor sensor2text",
            ),
            ("both", "sensor text", true, "prototype2sensor prototype2text"),
            ("both", "text", true, "prototype2text"),
            (
                "both sensor2text",
                "sensor text",
                true,
                "prototype2sensor prototype2text sensor2text",
            ),
            ("both", "a b", false, "a2b b2a"),
            ("both", "a b", true, "prototype2a prototype2b"),
            ("b2a a2a", "a b", false, "b2a a2a"),
            ("sensor2prototype", "sensor", true, "sensor2prototype"),
        ] {
            assert_eq!(names(asked, spaces, has_prototypes).as_deref(), Ok(expected), "{asked}");
        }
    }

    #[test]
    fn without_a_wish_the_inputs_decide() {
        for (spaces, has_prototypes, expected) in [
            ("sensor text", false, "text2sensor sensor2text"),
            ("sensor", false, "sensor2sensor"),
            ("a b", false, "a2b b2a"),
            (
                "sensor text c",
                false,
                "text2sensor sensor2text sensor2c c2sensor text2c c2text",
            ),
            ("sensor a", true, "prototype2sensor prototype2a"),
        ] {
            assert_eq!(names("", spaces, has_prototypes).as_deref(), Ok(expected), "{spaces}");
        }
    }

    #[test]
    fn an_unknown_direction_is_answered_with_the_known_ones() {
        for (asked, spaces, facts) in [
            (
                "text2senser",
                "sensor text",
                &["`text2senser`", "text2sensor", "text2text", "both"][..],
            ),
            (
                "text2sensor",
                "sensor",
                &["needs `text_embeddings`", "are sensor2sensor"],
            ),
            (
                "prototype2sensor",
                "sensor",
                &["needs prototypes", "`prototype_embeddings`"],
            ),
            ("both", "sensor", &["`text_embeddings` was not given", "sensor2sensor"]),
            ("sensor", "sensor text", &["no direction `sensor`"]),
            ("2", "sensor text", &["no direction `2`"]),
        ] {
            let text = names(asked, spaces, false).expect_err("no such direction");
            for fact in facts {
                assert!(text.contains(fact), "{text} lacks {fact}");
            }
        }
        assert!(names("prototype2prototype", "sensor", true).is_err());
    }
}
