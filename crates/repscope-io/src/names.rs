// SPDX-License-Identifier: MIT
//! Names in messages: which one was meant, and which there are.

/// Names that are less alike than this are not meant.
const ALIKE: f64 = 0.8;

/// Longer names, in bytes, are alike only where they are equal.
const LONGEST: usize = 500;

/// How alike two names are, in capitals or not: 1 where they are the same.
pub fn likeness(a: &str, b: &str) -> f64 {
    // Time grows with the product of the lengths, and nobody types so much.
    if a.len().max(b.len()) > LONGEST {
        return f64::from(u8::from(a == b));
    }
    strsim::jaro_winkler(&a.to_lowercase(), &b.to_lowercase())
}

/// The known name that was probably meant; of equals the first.
pub fn closest<'a>(name: &str, known: impl DoubleEndedIterator<Item = &'a str>) -> Option<&'a str> {
    let alike = known.map(|known| (likeness(name, known), known));
    let best = alike.rev().max_by(|a, b| a.0.total_cmp(&b.0));
    best.filter(|(likeness, _)| *likeness > ALIKE).map(|(_, known)| known)
}

/// ``; did you mean `x`?`` where a known name is similar.
pub fn did_you_mean<'a>(name: &str, known: impl DoubleEndedIterator<Item = &'a str>) -> String {
    closest(name, known).map_or(String::new(), |known| format!("; did you mean `{known}`?"))
}

/// The same, or a full stop: a sentence follows.
pub fn guess<'a>(name: &str, known: impl DoubleEndedIterator<Item = &'a str>) -> String {
    Some(did_you_mean(name, known))
        .filter(|guess| !guess.is_empty())
        .unwrap_or(".".to_string())
}

/// "`a`, `b` and 7 more", or "nothing"; so many names are listed at most.
pub fn listed<'a>(names: impl Iterator<Item = &'a str>, most: usize) -> String {
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    match names.len() {
        0 => "nothing".to_string(),
        n if n > most => format!("{} and {} more", names[..most].join(", "), n - most),
        _ => names.join(", "),
    }
}

/// Texts as `a, b, and 7 more`; so many are listed at most.
pub fn cut(texts: impl ExactSizeIterator<Item = String>, most: usize) -> String {
    let more = texts.len().saturating_sub(most);
    let mut listed: Vec<String> = texts.take(most).collect();
    listed.extend((more > 0).then(|| format!("and {more} more")));
    listed.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_name_is_found_and_another_is_not() {
        assert_eq!(closest("Clustres", ["k", "clusters"].into_iter()), Some("clusters"));
        assert_eq!(closest("weights", ["k", "clusters"].into_iter()), None);
        assert_eq!(closest("ab", ["abc", "abd"].into_iter()), Some("abc"));
        let known = ["states", "next_states", "labels"];
        assert_eq!(did_you_mean("stats", known.into_iter()), "; did you mean `states`?");
        assert_eq!(did_you_mean("xyz", known.into_iter()), "");
    }

    #[test]
    fn long_lists_are_cut() {
        let names = ["a", "b", "c"];
        assert_eq!(listed(names.into_iter(), 2), "`a`, `b` and 1 more");
        assert_eq!(listed(names.into_iter(), 3), "`a`, `b`, `c`");
        assert_eq!(listed(std::iter::empty(), 3), "nothing");
        let texts = || names.iter().map(ToString::to_string);
        assert_eq!(
            (cut(texts(), 2), cut(texts(), 3)),
            ("a, b, and 1 more".into(), "a, b, c".into())
        );
    }
}
