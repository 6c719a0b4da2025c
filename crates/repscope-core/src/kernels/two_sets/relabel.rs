// SPDX-License-Identifier: MIT
//! Other marks on the same rows: what the two sets might have been if they came from one distribution.
//!
//! Single rows are exchangeable, so any of them may be new. Where rows come in groups, only groups are: those that occur in one set change
//! their set as wholes, and those that occur in both swap the parts that they have in each.

use rand::Rng;

use crate::random;

/// How marks may be drawn.
pub(crate) enum Exchange {
    /// Any rows may be new.
    Rows { rows: usize, new: usize },
    /// Whole groups may be.
    Groups {
        /// The rows of each group that occurs in one set, and how many of these groups are new.
        single: Vec<Vec<u32>>,
        new: usize,
        /// The rows of each group that occurs in both.
        both: Vec<Vec<u32>>,
        rows: usize,
        marks: Vec<bool>,
    },
}

impl Exchange {
    pub(crate) fn new(marks: &[bool], groups: Option<&[u32]>) -> Self {
        let rows = marks.len();
        let Some(codes) = groups else {
            let new = marks.iter().filter(|is_new| **is_new).count();
            return Exchange::Rows { rows, new };
        };
        let mut lists = vec![Vec::new(); codes.iter().max().map_or(0, |&last| last as usize + 1)];
        for (row, &code) in codes.iter().enumerate() {
            lists[code as usize].push(row as u32);
        }
        let is_new = |row: &u32| marks[*row as usize];
        let is_in_both = |list: &Vec<u32>| list.iter().any(is_new) && !list.iter().all(is_new);
        let lists = lists.into_iter().filter(|list| !list.is_empty());
        let (both, single): (Vec<Vec<u32>>, Vec<Vec<u32>>) = lists.partition(is_in_both);
        Exchange::Groups {
            new: single.iter().filter(|list| is_new(&list[0])).count(),
            single,
            both,
            rows,
            marks: marks.to_vec(),
        }
    }

    /// Marks of one draw.
    pub(crate) fn draw(&self, seed: u64, name: &str, number: usize) -> Vec<bool> {
        let mut stream = random::stream(seed, name, number as u64);
        match self {
            Exchange::Rows { rows, new } => {
                let mut drawn = vec![false; *rows];
                let order = random::permutation(*rows, &mut stream);
                order[..*new].iter().for_each(|&row| drawn[row as usize] = true);
                drawn
            }
            Exchange::Groups {
                single,
                new,
                both,
                rows,
                marks,
            } => {
                let mut drawn = vec![false; *rows];
                let order = random::permutation(single.len(), &mut stream);
                for &group in &order[..*new] {
                    single[group as usize]
                        .iter()
                        .for_each(|&row| drawn[row as usize] = true);
                }
                for list in both {
                    let is_swapped = stream.next_u64() >> 63 == 1;
                    list.iter()
                        .for_each(|&row| drawn[row as usize] = marks[row as usize] != is_swapped);
                }
                drawn
            }
        }
    }

    /// How many different marks there are, as far as that is below a million: with few of them no p-value is small.
    pub(crate) fn count(&self) -> f64 {
        let (of, chosen, swaps) = match self {
            Exchange::Rows { rows, new } => (*rows, *new, 0),
            Exchange::Groups { single, new, both, .. } => (single.len(), *new, both.len()),
        };
        let mut count = 2f64.powi(swaps.min(20) as i32);
        for i in 0..chosen.min(of - chosen) {
            count *= (of - i) as f64 / (i + 1) as f64;
            if count > 1e6 {
                break;
            }
        }
        count.min(1e6)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn single_rows_keep_the_sizes() {
        let exchange = Exchange::new(&[true, true, false, false, false], None);
        for number in 0..20 {
            let drawn = exchange.draw(1, "test", number);
            assert_eq!(drawn.iter().filter(|is_new| **is_new).count(), 2);
        }
        assert_eq!(exchange.count(), 10.0);
    }

    #[test]
    fn groups_of_one_set_move_as_wholes_and_groups_of_both_swap_their_parts() {
        let marks = [true, true, true, false, false, false, true, false, false];
        let groups = [0, 0, 1, 2, 2, 2, 3, 3, 3];
        let exchange = Exchange::new(&marks, Some(&groups));
        let drawn: Vec<Vec<bool>> = (0..40).map(|number| exchange.draw(1, "test", number)).collect();
        for own in &drawn {
            assert!(own[0] == own[1] && own[3] == own[4] && own[4] == own[5], "{own:?}");
            assert!(own[6] != own[7] && own[7] == own[8], "{own:?}");
            // Two of the three groups are new.
            assert_eq!([own[0], own[2], own[3]].iter().filter(|is_new| **is_new).count(), 2);
        }
        assert!(drawn.iter().any(|own| own[6]) && drawn.iter().any(|own| !own[6]));
        // 3 over 2, times 2 swaps.
        assert_eq!(exchange.count(), 6.0);
    }
}
