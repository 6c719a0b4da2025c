// SPDX-License-Identifier: MIT
//! The printed identity of a score: `name`, `name@10`, `name(fit=mle)`, `name(variant=spec)@5`.

use std::fmt;
use std::str::FromStr;

/// What stands for a direction and for a head of a classifier in the pattern of an identity.
const DIRECTION: &str = "DIRECTION";
const HEAD: &str = "HEAD";

/// A parsed identity. Printing and parsing are inverses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Id {
    /// The name, dots included: `smoothness.slope`.
    pub name: String,
    /// Named choices, in the order written.
    pub parameters: Vec<(String, String)>,
    /// What stands behind the `@`: a k, a noise level, a perturbation.
    pub at: Option<String>,
}

impl Id {
    /// Whether `other` is an instance of this pattern, where `@K` stands for any whole number, `@SIGMA` for any number, `@SET`
    /// and `@FAMILY` for any name, `HEAD` for any head and `DIRECTION` for any direction, with any set of labels.
    pub fn matches(&self, other: &Id) -> bool {
        let at = match (self.at.as_deref(), other.at.as_deref()) {
            (Some("K"), Some(k)) => k == "K" || k.parse::<usize>().is_ok(),
            (Some("SIGMA"), Some(level)) => level == "SIGMA" || level.parse::<f64>().is_ok_and(f64::is_finite),
            (Some("SET" | "FAMILY"), Some(_)) | (Some("K" | "SIGMA" | "SET" | "FAMILY"), None) => true,
            (own, given) => own == given,
        };
        let parts = |id: &Id| id.name.split('.').map(str::to_string).collect::<Vec<_>>();
        let (own, given) = (parts(self), parts(other));
        let has_direction = own.iter().any(|p| p == DIRECTION);
        let is_direction =
            |p: &str| p == DIRECTION || p.split_once('2').is_some_and(|(a, b)| !a.is_empty() && !b.is_empty());
        let name = own.len() == given.len()
            && own
                .iter()
                .zip(&given)
                .all(|(o, g)| o == g || (o == HEAD && !g.is_empty()) || (o == DIRECTION && is_direction(g)));
        let is_set_of_labels = |p: &(String, String)| has_direction && p.0 == "labels";
        let parameters = other.parameters.iter().filter(|p| !is_set_of_labels(p));
        at && name && parameters.eq(&self.parameters)
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if !self.parameters.is_empty() {
            let list: Vec<String> = self.parameters.iter().map(|(n, v)| format!("{n}={v}")).collect();
            write!(f, "({})", list.join(","))?;
        }
        match &self.at {
            Some(at) => write!(f, "@{at}"),
            None => Ok(()),
        }
    }
}

impl FromStr for Id {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a metric: write name, name@10 or name(choice=value)");
        let (head, at) = match text.split_once('@') {
            Some((head, at)) if !at.is_empty() => (head, Some(at.to_string())),
            Some(_) => return Err(wrong()),
            None => (text, None),
        };
        let (name, list) = match head.split_once('(') {
            Some((name, rest)) => (name, rest.strip_suffix(')').ok_or_else(wrong)?),
            None => (head, ""),
        };
        let is_name = |s: &str| !s.is_empty() && s.chars().all(|c| c.is_alphanumeric() || "._-".contains(c));
        let mut parameters = Vec::new();
        for part in list.split(',').filter(|p| !p.is_empty()) {
            let (key, value) = part.split_once('=').ok_or_else(wrong)?;
            if !is_name(key) || !is_name(value) {
                return Err(wrong());
            }
            parameters.push((key.to_string(), value.to_string()));
        }
        if !is_name(name) {
            return Err(wrong());
        }
        Ok(Id {
            name: name.to_string(),
            parameters,
            at,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printing_and_parsing_are_inverses() {
        for text in [
            "two_nn",
            "trustworthiness@10",
            "two_nn(fit=mle)",
            "rankme(variant=paper)@5",
            "robustness.unit@0.1",
            "pis.snr(f=lit)@top0.5",
        ] {
            assert_eq!(text.parse::<Id>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_no_identity_is_refused() {
        for text in ["", "@5", "a@", "a(b", "a(b)", "a b", "a(b=)"] {
            assert!(text.parse::<Id>().is_err(), "{text}");
        }
    }
}
