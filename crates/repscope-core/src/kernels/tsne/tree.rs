// SPDX-License-Identifier: MIT
//! How strongly all points of a t-SNE map push each of them away, after Barnes and Hut: a far cell of a quadtree stands
//! for its points. The points of a leaf share one list of cells and near points.

/// Points of a leaf.
const LEAF: usize = 16;
/// A cell stands for its points where its longer side is at most this share of its distance.
const THETA: f64 = 0.5;
/// Partial sums: a fixed order of addition that processors can do several at a time.
const LANES: usize = 8;

/// A quadtree over points of the plane.
pub(super) struct Tree {
    /// Each cell comes before the cells in it.
    cells: Vec<Cell>,
    /// Which cells are leaves.
    leaves: Vec<u32>,
    /// The points as they follow each other in the leaves.
    points: Vec<[f64; 2]>,
    order: Vec<u32>,
}

struct Cell {
    center: [f64; 2],
    low: [f64; 2],
    high: [f64; 2],
    /// The longer side; 0 for points at one place of the grid.
    side: f64,
    from: usize,
    to: usize,
    /// The next cell that is not in this one.
    next: usize,
    is_leaf: bool,
}

/// What pushes the points of a leaf: places, and how many points stand there. Single precision: cells stand for their points with
/// errors of a percent, and processors divide four times as many such numbers at a time.
#[derive(Default)]
pub(super) struct Pushing {
    x: Vec<f32>,
    y: Vec<f32>,
    count: Vec<f32>,
}

/// How a point is pushed: Σ w² (own place − other place) and Σ w, with w = 1 / (1 + squared distance). The point itself
/// is among the others: it adds 1 to the second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Push {
    pub(super) point: u32,
    pub(super) force: [f64; 2],
    pub(super) weight: f64,
}

impl Tree {
    pub(super) fn new(points: &[[f64; 2]]) -> Self {
        let end = |axis: usize, pick: fn(f64, f64) -> f64| points.iter().map(|p| p[axis]).reduce(pick).unwrap_or(0.0);
        let low = [end(0, f64::min), end(1, f64::min)];
        let span = (end(0, f64::max) - low[0]).max(end(1, f64::max) - low[1]);
        let scale = if span > 0.0 { f64::from(u16::MAX) / span } else { 0.0 };
        // Squares of a grid in Z-order, and the number of the point.
        let key = |(i, point): (usize, &[f64; 2])| {
            let [x, y] = [0, 1].map(|axis| spread(((point[axis] - low[axis]) * scale) as u16));
            u64::from(x | y << 1) << 32 | i as u64
        };
        let mut keys: Vec<u64> = points.iter().enumerate().map(key).collect();
        keys.sort_unstable();
        let order: Vec<u32> = keys.iter().map(|key| *key as u32).collect();
        let mut tree = Tree {
            cells: Vec::new(),
            leaves: Vec::new(),
            points: order.iter().map(|i| points[*i as usize]).collect(),
            order,
        };
        let squares: Vec<u32> = keys.iter().map(|key| (key >> 32) as u32).collect();
        if !squares.is_empty() {
            tree.grow(&squares, 0, squares.len());
        }
        tree
    }

    /// Adds the cell of the points `from..to` and the cells in it.
    fn grow(&mut self, squares: &[u32], from: usize, to: usize) {
        let own = self.cells.len();
        let members = &self.points[from..to];
        let mut cell = Cell {
            center: [0.0; 2],
            low: members[0],
            high: members[0],
            side: 0.0,
            from,
            to,
            next: 0,
            is_leaf: true,
        };
        for point in members {
            for (axis, &x) in point.iter().enumerate() {
                cell.center[axis] += x;
                cell.low[axis] = cell.low[axis].min(x);
                cell.high[axis] = cell.high[axis].max(x);
            }
        }
        cell.center = cell.center.map(|sum| sum / members.len() as f64);
        let differing = squares[from] ^ squares[to - 1];
        if differing > 0 {
            cell.side = (cell.high[0] - cell.low[0]).max(cell.high[1] - cell.low[1]);
        }
        cell.is_leaf = differing == 0 || members.len() <= LEAF;
        let is_leaf = cell.is_leaf;
        self.cells.push(cell);
        if is_leaf {
            self.leaves.push(own as u32);
        } else {
            // The first two bits in which squares differ say in which quarter they are.
            let shift = differing.ilog2() & !1;
            let mut first = from;
            while first < to {
                let quarter = squares[first] >> shift;
                let last = first + squares[first..to].partition_point(|square| square >> shift == quarter);
                self.grow(squares, first, last);
                first = last;
            }
        }
        self.cells[own].next = self.cells.len();
    }

    pub(super) fn leaves(&self) -> usize {
        self.leaves.len()
    }

    /// Pushes the points of a leaf. `pushing` is scratch memory.
    pub(super) fn push(&self, leaf: usize, pushing: &mut Pushing, out: &mut Vec<Push>) {
        let own = &self.cells[self.leaves[leaf] as usize];
        pushing.clear();
        let mut next = 0;
        while let Some(cell) = self.cells.get(next) {
            let outside = |center: f64, low: f64, high: f64| (low - center).max(center - high).max(0.0);
            let gap = |axis: usize| outside(cell.center[axis], own.low[axis], own.high[axis]);
            let squared = gap(0) * gap(0) + gap(1) * gap(1);
            if cell.side * cell.side <= THETA * THETA * squared {
                pushing.add(cell.center, (cell.to - cell.from) as f64);
                next = cell.next;
            } else if cell.is_leaf {
                let points = self.points[cell.from..cell.to].iter();
                points.for_each(|point| pushing.add(*point, 1.0));
                next = cell.next;
            } else {
                next += 1;
            }
        }
        // Nobody stands at the places that fill up the last lanes.
        while !pushing.x.len().is_multiple_of(LANES) {
            pushing.add([0.0; 2], 0.0);
        }
        pulp::Arch::new().dispatch(|| {
            for place in own.from..own.to {
                out.push(pushing.push(self.order[place], self.points[place]));
            }
        });
    }
}

impl Pushing {
    fn clear(&mut self) {
        self.x.clear();
        self.y.clear();
        self.count.clear();
    }

    fn add(&mut self, [x, y]: [f64; 2], count: f64) {
        self.x.push(x as f32);
        self.y.push(y as f32);
        self.count.push(count as f32);
    }

    #[inline(always)]
    fn push(&self, point: u32, at: [f64; 2]) -> Push {
        let at = at.map(|x| x as f32);
        let [mut right, mut up, mut weight] = [[0.0f32; LANES]; 3];
        let (places, _) = self.x.as_chunks::<LANES>();
        let places = places.iter().zip(self.y.as_chunks::<LANES>().0);
        for ((x, y), count) in places.zip(self.count.as_chunks::<LANES>().0) {
            for lane in 0..LANES {
                let (dx, dy) = (at[0] - x[lane], at[1] - y[lane]);
                let near = 1.0 / (1.0 + dx * dx + dy * dy);
                let all = count[lane] * near;
                weight[lane] += all;
                right[lane] += all * near * dx;
                up[lane] += all * near * dy;
            }
        }
        let sum = |lanes: [f32; LANES]| lanes.iter().map(|x| f64::from(*x)).sum::<f64>();
        Push {
            point,
            force: [sum(right), sum(up)],
            weight: sum(weight),
        }
    }
}

/// The bits of a number with a free bit before each.
fn spread(x: u16) -> u32 {
    let mut x = u32::from(x);
    for (shift, mask) in [(8, 0x00FF_00FF), (4, 0x0F0F_0F0F), (2, 0x3333_3333), (1, 0x5555_5555)] {
        x = (x | x << shift) & mask;
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pushes(points: &[[f64; 2]]) -> Vec<Push> {
        let tree = Tree::new(points);
        let mut out = Vec::new();
        for leaf in 0..tree.leaves() {
            tree.push(leaf, &mut Pushing::default(), &mut out);
        }
        out.sort_by_key(|push| push.point);
        out
    }

    fn directly(points: &[[f64; 2]], at: [f64; 2]) -> ([f64; 2], f64) {
        let mut sums = ([0.0; 2], 0.0);
        for point in points {
            let (dx, dy) = (at[0] - point[0], at[1] - point[1]);
            let near = 1.0 / (1.0 + dx * dx + dy * dy);
            sums.0[0] += near * near * dx;
            sums.0[1] += near * near * dy;
            sums.1 += near;
        }
        sums
    }

    #[test]
    fn cells_push_almost_like_their_points() {
        // Two spirals, one dense.
        let point = |i: u32| {
            let (angle, far) = (f64::from(i) * 2.4, f64::from(i).sqrt());
            if i.is_multiple_of(3) {
                [far * angle.cos(), far * angle.sin()]
            } else {
                [60.0 + 0.05 * far * angle.cos(), far]
            }
        };
        let points: Vec<[f64; 2]> = (0..2000).map(point).collect();
        let found = pushes(&points);
        assert_eq!(found.len(), points.len());
        let (mut missed, mut all) = (0.0, 0.0);
        for (push, at) in found.iter().zip(&points) {
            let (force, weight) = directly(&points, *at);
            missed += (push.force[0] - force[0]).powi(2) + (push.force[1] - force[1]).powi(2);
            all += force[0].powi(2) + force[1].powi(2);
            assert!((push.weight / weight - 1.0).abs() < 0.02, "{} {weight}", push.weight);
        }
        assert!((missed / all).sqrt() < 0.02, "{}", (missed / all).sqrt());
    }

    #[test]
    fn points_at_one_place_are_one_cell_and_do_not_push_each_other() {
        let mut points = vec![[1.0, 2.0]; 1000];
        let alone = pushes(&points);
        assert!(alone.iter().all(|push| push.force == [0.0; 2] && push.weight == 1000.0));
        points.push([1.0, 4.0]);
        let found = pushes(&points);
        // 1000 points at a distance of 2: w = 1/5, and themselves.
        assert!((found[1000].weight - 1000.0 / 5.0 - 1.0).abs() < 1e-4);
        assert!((found[1000].force[1] - 1000.0 * 2.0 / 25.0).abs() < 1e-4);
        assert!(pushes(&[]).is_empty());
    }

    #[test]
    fn few_points_are_pushed_up_to_rounding() {
        let points = [[0.0, 0.0], [3.0, 0.0], [0.0, 1.0]];
        for (push, at) in pushes(&points).iter().zip(points) {
            let (force, weight) = directly(&points, at);
            assert!((push.force[0] - force[0]).abs() < 1e-6 && (push.force[1] - force[1]).abs() < 1e-6);
            assert!((push.weight - weight).abs() < 1e-6);
        }
    }
}
