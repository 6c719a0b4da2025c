// SPDX-License-Identifier: MIT
//! Two partitions of the same rows: how often they meet, and how much one says about the other.
//!
//! With n_ij of N rows in class i of the first and class j of the second partition, and margins a_i and b_j, in nats:
//!
//! - mutual information I = Σ_ij n_ij/N ln(N n_ij / (a_i b_j)), entropies H = −Σ_i a_i/N ln(a_i/N);
//! - NMI = I / ((H₁ + H₂)/2);
//! - AMI = (I − E[I]) / ((H₁ + H₂)/2 − E[I]), where E[I] is the mean of I over all pairs of partitions
//!   with these margins (Vinh, Epps and Bailey 2010, JMLR 11).
//!
//! The arithmetic mean as normalizer is the convention of scikit-learn. Where both partitions have one
//! class only there is nothing to know, and the scores are `None`.

/// A nonzero cell of the table.
struct Cell {
    row: usize,
    column: usize,
    count: u64,
}

/// The table of two partitions of the same rows; only cells that occur are stored.
pub(crate) struct Contingency {
    n: u64,
    rows: Vec<u64>,
    columns: Vec<u64>,
    /// By row, then by column.
    cells: Vec<Cell>,
    /// The classes of each row of the data.
    codes: Vec<(u32, u32)>,
}

impl Contingency {
    /// Counts pairs of codes; codes run from 0 to below the number of classes, and classes may be empty.
    pub fn new(rows: &[u32], row_classes: usize, columns: &[u32], column_classes: usize) -> Self {
        assert_eq!(rows.len(), columns.len(), "both partitions are of the same rows");
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); row_classes];
        for (&row, &column) in rows.iter().zip(columns) {
            members[row as usize].push(column);
        }
        let mut cells = Vec::new();
        let mut column_totals = vec![0; column_classes];
        for (row, members) in members.iter_mut().enumerate() {
            members.sort_unstable();
            for run in members.chunk_by(|a, b| a == b) {
                let (column, count) = (run[0] as usize, run.len() as u64);
                column_totals[column] += count;
                cells.push(Cell { row, column, count });
            }
        }
        Contingency {
            n: rows.len() as u64,
            rows: members.iter().map(|m| m.len() as u64).collect(),
            columns: column_totals,
            cells,
            codes: rows.iter().copied().zip(columns.iter().copied()).collect(),
        }
    }

    /// I, at least 0.
    pub fn mutual_information(&self) -> f64 {
        let n = self.n as f64;
        let mut sum = 0.0;
        for cell in &self.cells {
            let count = cell.count as f64;
            let (a, b) = (self.rows[cell.row] as f64, self.columns[cell.column] as f64);
            sum += count / n * ((count / a).ln() + (n / b).ln());
        }
        sum.max(0.0)
    }

    /// (H₁ + H₂)/2.
    pub fn mean_entropy(&self) -> f64 {
        (entropy(&self.rows, self.n) + entropy(&self.columns, self.n)) / 2.0
    }

    /// Normalized mutual information, 0 to 1; `None` if both partitions have one class only.
    pub fn nmi(&self) -> Option<f64> {
        let mean = self.mean_entropy();
        (mean > 0.0).then(|| (self.mutual_information() / mean).min(1.0))
    }

    /// E[I] over all pairs of partitions with the same margins, exactly.
    ///
    /// n_ij then follows a hypergeometric law. Its weights are built outwards from the most likely count
    /// by the ratio of neighbors and divided by their sum, which needs no factorials and loses no digits
    /// at large N; weights that no longer change a sum end the walk. Equal margins are done once.
    pub fn expected_mutual_information(&self) -> f64 {
        let largest = self.rows.iter().copied().max().unwrap_or(0);
        let logs: Vec<f64> = (0..=largest).map(|x| (x as f64).ln()).collect();
        let columns = sizes(&self.columns);
        let mut sum = 0.0;
        for (a, a_times) in sizes(&self.rows) {
            for &(b, b_times) in &columns {
                sum += (a_times * b_times) as f64 * expected_term(self.n, a, b, &logs);
            }
        }
        sum
    }

    /// Adjusted mutual information, at most 1 and about 0 for unrelated partitions; `None` if both
    /// partitions have one class only, or if the margins allow no other value (every row its own class).
    pub fn ami(&self) -> Option<f64> {
        let mean = self.mean_entropy();
        adjusted(self.mutual_information(), mean, self.expected_mutual_information())
    }

    /// [`Contingency::nmi`] without each row of the data, or without each of the groups of rows. `None` where a score is undefined.
    pub fn nmi_without(&self, groups: Option<&[u32]>) -> Option<Vec<f64>> {
        self.without(groups, |information, mean| {
            (mean > 0.0).then(|| (information / mean).min(1.0))
        })
    }

    /// [`Contingency::ami`] without each row or group.
    ///
    /// E[I] is held fixed at its value for all rows: it moves far less than I when one row is left out,
    /// and recomputing it for each cell would cost more than everything else.
    pub fn ami_without(&self, groups: Option<&[u32]>) -> Option<Vec<f64>> {
        let expected = self.expected_mutual_information();
        self.without(groups, |information, mean| adjusted(information, mean, expected))
    }

    /// θ without each row or group, with θ a function of I and (H₁ + H₂)/2. Groups that have rows, in the order of their codes.
    fn without(&self, groups: Option<&[u32]>, score: impl Fn(f64, f64) -> Option<f64>) -> Option<Vec<f64>> {
        // With f(x) = x ln x: N·I = Σ f(n_ij) − Σ f(a_i) − Σ f(b_j) + f(N), N·H₁ = f(N) − Σ f(a_i).
        let cells: f64 = self.cells.iter().map(|c| x_ln_x(c.count)).sum();
        let rows: f64 = self.rows.iter().map(|&a| x_ln_x(a)).sum();
        let columns: f64 = self.columns.iter().map(|&b| x_ln_x(b)).sum();
        let step = |x: u64, less: usize| x_ln_x(x - less as u64) - x_ln_x(x);
        let place = |&(row, column): &(u32, u32)| {
            let order = |c: &Cell| (c.row, c.column).cmp(&(row as usize, column as usize));
            self.cells
                .binary_search_by(order)
                .expect("a cell for each row of the data")
        };
        // `gone` in the order of cells.
        let without = |gone: &mut [(u32, u32)]| {
            let of_cells = gone
                .chunk_by(|a, b| a == b)
                .map(|run| step(self.cells[place(&run[0])].count, run.len()));
            let cells = cells + of_cells.sum::<f64>();
            let of_rows = gone.chunk_by(|a, b| a.0 == b.0);
            let rows = rows
                + of_rows
                    .map(|run| step(self.rows[run[0].0 as usize], run.len()))
                    .sum::<f64>();
            gone.sort_unstable_by_key(|code| code.1);
            let of_columns = gone.chunk_by(|a, b| a.1 == b.1);
            let columns = columns
                + of_columns
                    .map(|run| step(self.columns[run[0].1 as usize], run.len()))
                    .sum::<f64>();
            let left = self.n - gone.len() as u64;
            if left == 0 {
                return None;
            }
            let (whole, left) = (x_ln_x(left), left as f64);
            let information = (cells - rows - columns + whole) / left;
            let mean = (2.0 * whole - rows - columns) / 2.0 / left;
            // The sums are as large as N ln N, so an entropy of 0 comes out as a few of their ulps.
            let noise = 8.0 * f64::EPSILON * whole / left;
            let or_none = |x: f64| if x <= noise { 0.0 } else { x };
            score(or_none(information), or_none(mean))
        };
        let Some(groups) = groups else {
            // Rows of one cell give the same value, so each cell is evaluated once.
            let of_cell = |cell: &Cell| without(&mut [(cell.row as u32, cell.column as u32)]);
            let of_cells = self.cells.iter().map(of_cell).collect::<Option<Vec<f64>>>()?;
            return Some(self.codes.iter().map(|code| of_cells[place(code)]).collect());
        };
        let count = groups.iter().max().map_or(0, |&last| last as usize + 1);
        let mut members: Vec<Vec<(u32, u32)>> = vec![Vec::new(); count];
        for (&group, &code) in groups.iter().zip(&self.codes) {
            members[group as usize].push(code);
        }
        members.retain(|codes| !codes.is_empty());
        let of_group = |codes: &mut Vec<(u32, u32)>| {
            codes.sort_unstable();
            without(codes)
        };
        members.iter_mut().map(of_group).collect()
    }
}

fn adjusted(information: f64, mean_entropy: f64, expected: f64) -> Option<f64> {
    if mean_entropy == 0.0 {
        return None;
    }
    let room = mean_entropy - expected;
    // Where E[I] is as large as I can be, what is left is rounding.
    (room > 1e-12 * mean_entropy).then(|| ((information - expected) / room).min(1.0))
}

fn entropy(totals: &[u64], n: u64) -> f64 {
    let n = n as f64;
    let occupied = totals.iter().filter(|t| **t > 0);
    // ln(N/t) rather than −ln(t/N): a single class gives 0 and not −0.
    occupied.map(|&t| t as f64 / n * (n / t as f64).ln()).sum()
}

fn x_ln_x(x: u64) -> f64 {
    if x == 0 { 0.0 } else { x as f64 * (x as f64).ln() }
}

/// The distinct nonzero totals, ascending, and how often each occurs.
fn sizes(totals: &[u64]) -> Vec<(u64, u64)> {
    let mut sorted: Vec<u64> = totals.iter().copied().filter(|t| *t > 0).collect();
    sorted.sort_unstable();
    let runs = sorted.chunk_by(|a, b| a == b);
    runs.map(|run| (run[0], run.len() as u64)).collect()
}

/// The mean of x/N ln(N x / (a b)) where x, the rows that classes of sizes a and b share, is hypergeometric.
fn expected_term(n: u64, a: u64, b: u64, logs: &[f64]) -> f64 {
    let (least, most) = ((a + b).saturating_sub(n), a.min(b));
    let constant = (n as f64 / (a as f64 * b as f64)).ln();
    let term = |x: u64| x as f64 * (logs[x as usize] + constant);
    // weight(x+1) / weight(x)
    let ratio = |x: u64| {
        let (x, n, a, b) = (x as f64, n as f64, a as f64, b as f64);
        (a - x) * (b - x) / ((x + 1.0) * (n - a - b + x + 1.0))
    };
    let likely = ((u128::from(a) + 1) * (u128::from(b) + 1) / (u128::from(n) + 2)) as u64;
    let start = likely.clamp(least, most);
    let mut weights = 1.0;
    let mut sum = if start == 0 { 0.0 } else { term(start) };
    let mut weight = 1.0;
    for x in start..most {
        weight *= ratio(x);
        weights += weight;
        sum += weight * term(x + 1);
        // Far below the smallest weight that could still change a sum.
        if weight < 1e-30 {
            break;
        }
    }
    weight = 1.0;
    for x in (least.max(1)..start.max(1)).rev() {
        weight /= ratio(x);
        weights += weight;
        sum += weight * term(x);
        if weight < 1e-30 {
            break;
        }
    }
    // x = 0 adds to the weights but not to the sum.
    if least == 0 && start > 0 && weight >= 1e-30 {
        weights += weight / ratio(0);
    }
    sum / weights / n as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: &[u32], columns: &[u32]) -> Contingency {
        let classes = |codes: &[u32]| codes.iter().max().map_or(0, |c| *c as usize + 1);
        Contingency::new(rows, classes(rows), columns, classes(columns))
    }

    fn small() -> Contingency {
        table(&[0, 0, 0, 1, 1, 1, 2, 2, 2, 2], &[0, 0, 1, 1, 1, 1, 2, 2, 0, 2])
    }

    /// √((N−1)/N Σ (θ₋ᵢ − mean)²) over all rows i.
    fn error(without: Option<Vec<f64>>) -> Option<f64> {
        let rows = without?;
        let n = rows.len() as f64;
        let mean = rows.iter().sum::<f64>() / n;
        Some(((n - 1.0) / n * rows.iter().map(|r| (r - mean).powi(2)).sum::<f64>()).sqrt())
    }

    fn assert_close(a: f64, b: f64, tolerance: f64) {
        assert!((a - b).abs() <= tolerance, "{a} and {b}");
    }

    #[test]
    fn ten_rows_agree_with_scikit_learn() {
        // scikit-learn 1.9.1: mutual_info_score, normalized_mutual_info_score,
        // expected_mutual_information(contingency_matrix, 10), adjusted_mutual_info_score
        let t = small();
        assert_close(t.mutual_information(), 0.6730116670092566, 1e-15);
        assert_close(t.nmi().unwrap(), 0.6180656462921543, 1e-15);
        assert_close(t.expected_mutual_information(), 0.29326128394705003, 1e-14);
        assert_close(t.ami().unwrap(), 0.47728999000145694, 1e-14);
    }

    #[test]
    fn unrelated_partitions_agree_with_scikit_learn() {
        // i = np.arange(1000); a, b = i % 7, (i * i // 50) % 5; scikit-learn 1.9.1, as above
        let a: Vec<u32> = (0..1000).map(|i| i % 7).collect();
        let b: Vec<u32> = (0..1000).map(|i| i * i / 50 % 5).collect();
        let t = table(&a, &b);
        assert_close(t.mutual_information(), 0.010296969954027228, 1e-15);
        assert_close(t.nmi().unwrap(), 0.0058025620338020886, 1e-15);
        assert_close(t.expected_mutual_information(), 0.012100096308821995, 1e-13);
        assert_close(t.ami().unwrap(), -0.0010230761424876163, 1e-13);
    }

    #[test]
    fn sixty_thousand_rows_agree_with_scikit_learn() {
        // i = np.arange(60000); a = i * 7919 % 10; b = np.where(i % 3 == 0, a, i // 13 % 10); scikit-learn
        // 1.9.1. Its ln Γ(60,000) is near 6e5, so its weights carry errors near 1e-10 each.
        let a: Vec<u32> = (0..60000).map(|i| i * 7919 % 10).collect();
        let b: Vec<u32> = (0..60000)
            .map(|i| if i % 3 == 0 { a[i as usize] } else { i / 13 % 10 })
            .collect();
        let t = table(&a, &b);
        assert_close(t.mutual_information(), 0.35517245701525657, 1e-14);
        assert_close(t.nmi().unwrap(), 0.15424944620760214, 1e-14);
        assert_close(t.expected_mutual_information(), 0.0006752271885560096, 1e-11);
        assert_close(t.ami().unwrap(), 0.15400135925738145, 1e-11);
    }

    #[test]
    fn the_expected_information_of_two_halves_agrees_with_a_hand_calculation() {
        // Margins 2, 2 and 2, 2: of 6 equally likely tables 4 have all cells 1 (I = 0) and 2 are diagonal
        // (I = ln 2).
        let t = table(&[0, 0, 1, 1], &[0, 1, 0, 1]);
        assert_close(t.expected_mutual_information(), 2f64.ln() / 3.0, 1e-15);
        assert_close(t.ami().unwrap(), -0.5, 1e-14);
    }

    #[test]
    fn a_renamed_partition_scores_one() {
        let a: Vec<u32> = (0..300).map(|i| i % 7).collect();
        let b: Vec<u32> = a.iter().map(|c| (c * 3 + 1) % 7).collect();
        let t = table(&a, &b);
        assert_close(t.nmi().unwrap(), 1.0, 1e-15);
        assert_close(t.ami().unwrap(), 1.0, 1e-15);
        assert_close(error(t.nmi_without(None)).unwrap(), 0.0, 1e-12);
    }

    #[test]
    fn swapping_the_partitions_changes_nothing() {
        let a = [0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 0];
        let b = [0, 0, 1, 1, 1, 1, 3, 3, 0, 3, 2];
        let (t, s) = (table(&a, &b), table(&b, &a));
        assert_close(t.nmi().unwrap(), s.nmi().unwrap(), 1e-15);
        assert_close(t.ami().unwrap(), s.ami().unwrap(), 1e-14);
    }

    #[test]
    fn one_class_on_both_sides_has_no_score_and_on_one_side_scores_zero() {
        let both = table(&[0, 0, 0], &[0, 0, 0]);
        assert_eq!((both.nmi(), both.ami()), (None, None));
        assert_eq!(
            (error(both.nmi_without(None)), error(both.ami_without(None))),
            (None, None)
        );
        let one = table(&[0, 0, 0, 0], &[0, 1, 0, 1]);
        assert_eq!((one.nmi(), one.ami()), (Some(0.0), Some(0.0)));
        assert_eq!(
            (error(one.nmi_without(None)), error(one.ami_without(None))),
            (Some(0.0), Some(0.0))
        );
    }

    #[test]
    fn a_class_of_its_own_for_every_row_leaves_nothing_to_adjust() {
        let each: Vec<u32> = (0..20).collect();
        let t = table(&each, &each);
        assert_close(t.nmi().unwrap(), 1.0, 1e-15);
        assert_close(t.expected_mutual_information(), 20f64.ln(), 1e-14);
        assert_eq!(t.ami(), None);
    }

    #[test]
    fn empty_classes_do_not_matter() {
        let t = Contingency::new(&[0, 0, 4, 4], 6, &[1, 1, 3, 1], 9);
        let s = table(&[0, 0, 1, 1], &[0, 0, 1, 0]);
        assert_eq!((t.nmi(), t.ami()), (s.nmi(), s.ami()));
        assert_eq!(error(t.nmi_without(None)), error(s.nmi_without(None)));
    }

    #[test]
    fn jackknife_errors_are_those_of_leaving_out_each_row() {
        // θ₋ᵢ from scikit-learn 1.9.1 on np.delete(a, i), np.delete(b, i); se = sqrt(9/10 · Σ(θ − mean)²).
        // For AMI, (mutual_info_score − E) / (mean entropy − E) with E of all ten rows.
        let t = small();
        assert_close(error(t.nmi_without(None)).unwrap(), 0.229502597188332, 1e-13);
        assert_close(error(t.ami_without(None)).unwrap(), 0.3155329148027164, 1e-13);
    }

    #[test]
    fn without_a_group_is_the_table_of_the_others() {
        let (a, b) = ([0, 0, 0, 1, 1, 1, 2, 2, 2, 2], [0, 0, 1, 1, 1, 1, 2, 2, 0, 2]);
        // Code 1 has no rows.
        let groups = [0, 2, 2, 0, 3, 3, 0, 3, 2, 2];
        let found = table(&a, &b).nmi_without(Some(&groups)).unwrap();
        let kept = |codes: &[u32; 10], group: u32| {
            let pairs = codes.iter().zip(&groups).filter(|(_, g)| **g != group);
            pairs.map(|(code, _)| *code).collect::<Vec<u32>>()
        };
        assert_eq!(found.len(), 3);
        for (nmi, group) in found.into_iter().zip([0, 2, 3]) {
            assert_close(nmi, table(&kept(&a, group), &kept(&b, group)).nmi().unwrap(), 1e-14);
        }
        assert_eq!(table(&a, &b).nmi_without(Some(&[4; 10])), None);
    }

    #[test]
    fn one_row_has_no_jackknife_error() {
        assert_eq!(table(&[0], &[0]).nmi_without(None), None);
    }
}
