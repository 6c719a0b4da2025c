// SPDX-License-Identifier: MIT
//! A small world in gray pixels, of which everything is known.
//!
//! Every episode has one main object, which is the brightest, and up to three dark ones. Each lives on one of two
//! layers: objects of a layer bounce off each other, objects of the front layer hide those of the back one, and walls
//! stop both. Behind them are clouds that change with every frame and have more than half of the variance of the pixels: who
//! has to draw a frame again must keep them, who has to predict the next one cannot use them. What a frame shows is kept
//! as its [`Factors`].

mod background;
mod bodies;
mod describe;

use rand::RngExt;
use repscope_core::random;
use repscope_core::run::{Driver, Order};

pub(crate) use background::Clouds;
pub(crate) use bodies::Shape;
pub(crate) use describe::{FACTORS, SHAPE, Said, label, label_sentence, labels, quadrant, said, sentence};

use bodies::Body;

/// Pixels along the side of a frame.
pub(crate) const SIDE: usize = 64;

/// The gray value of white.
pub(crate) const WHITE: f32 = 255.0;

/// A gray frame, row by row.
pub(crate) type Frame = [u8; SIDE * SIDE];

/// What is true of one frame: of its main object, if nothing else is said.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Factors {
    pub(crate) shape: Shape,
    /// In pixels.
    pub(crate) radius: f32,
    pub(crate) gray: f32,
    /// Its center in pixels from the left.
    pub(crate) x: f32,
    /// In pixels from the top.
    pub(crate) y: f32,
    /// In pixels per frame.
    pub(crate) speed: f32,
    /// How many other objects there are.
    pub(crate) others: usize,
    /// What is behind all objects.
    pub(crate) clouds: Clouds,
}

/// What happens from a random beginning on.
pub(crate) struct Episode {
    pub(crate) frames: Vec<Frame>,
    pub(crate) factors: Vec<Factors>,
}

/// Some episodes.
pub(crate) struct World {
    pub(crate) episodes: Vec<Episode>,
}

impl World {
    /// `count` episodes of `length` frames. Other names give other episodes.
    pub(crate) fn new(seed: u64, name: &str, count: usize, length: usize) -> Self {
        let driver = Driver::silent(Order::Parallel);
        World {
            episodes: driver.map(count, |index| episode(seed, name, index, length)),
        }
    }

    /// All frames, episode after episode.
    pub(crate) fn frames(&self) -> Vec<&Frame> {
        self.episodes.iter().flat_map(|episode| &episode.frames).collect()
    }

    /// The factors of all frames.
    pub(crate) fn factors(&self) -> Vec<&Factors> {
        self.episodes.iter().flat_map(|episode| &episode.factors).collect()
    }

    /// All runs of so many frames that follow each other in an episode.
    pub(crate) fn windows(&self, length: usize) -> Vec<&[Frame]> {
        self.episodes
            .iter()
            .flat_map(|episode| episode.frames.windows(length))
            .collect()
    }

    /// The number of the episode of each frame.
    pub(crate) fn episode_numbers(&self) -> Vec<i64> {
        let numbered = self.episodes.iter().zip(0..);
        numbered
            .flat_map(|(episode, number)| vec![number; episode.frames.len()])
            .collect()
    }
}

/// Shape, size and tone of the main object go through all their combinations, so that each is met equally often.
fn episode(seed: u64, name: &str, index: usize, length: usize) -> Episode {
    let mut rng = random::stream(seed, name, index as u64);
    let shape = Shape::ALL[index % 4];
    let radius = match index / 4 % 2 {
        0 => rng.random_range(6.0..7.0),
        _ => rng.random_range(9.0..11.0),
    };
    let gray = match index / 8 % 2 {
        0 => rng.random_range(150.0..180.0),
        _ => rng.random_range(220.0..250.0),
    };
    let mut bodies = vec![Body::random(shape, radius, gray, &[], &mut rng)];
    let others = rng.random_range(1..=3);
    for _ in 0..others {
        let shape = Shape::ALL[rng.random_range(0..4)];
        let (radius, gray) = (rng.random_range(4.0..7.0), rng.random_range(4.0..34.0));
        let body = Body::random(shape, radius, gray, &bodies, &mut rng);
        bodies.push(body);
    }
    let mut episode = Episode {
        frames: Vec::with_capacity(length),
        factors: Vec::with_capacity(length),
    };
    for _ in 0..length {
        let main = &bodies[0];
        let clouds = background::random(&mut rng);
        let mut frame = background::draw(&clouds, &mut rng);
        bodies::draw(&bodies, &mut frame);
        episode.frames.push(frame);
        episode.factors.push(Factors {
            shape,
            radius,
            gray,
            x: main.x,
            y: main.y,
            speed: main.vx.hypot(main.vy),
            others,
            clouds,
        });
        bodies::advance(&mut bodies);
    }
    episode
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_brightest_pixels_are_where_and_what_the_factors_say() {
        let world = World::new(3, "test", 16, 12);
        for (frame, factors) in world.frames().into_iter().zip(world.factors()) {
            let bright: Vec<usize> = (0..frame.len()).filter(|&at| frame[at] > 140).collect();
            let count = bright.len() as f32;
            let mean = |of: fn(usize) -> usize| bright.iter().map(|&at| of(at) as f32 + 0.5).sum::<f32>() / count;
            let (x, y) = (mean(|at| at % SIDE), mean(|at| at / SIDE));
            let away = (x - factors.x).hypot(y - factors.y);
            // Another object may hide a part of it.
            assert!(away < factors.radius, "({x}, {y}) but {factors:?}");
            assert!(
                count < 4.0 * factors.radius * factors.radius,
                "{count} pixels but {factors:?}"
            );
            let brightest = bright.iter().map(|&at| frame[at]).max().unwrap_or(0);
            assert_eq!(f32::from(brightest), factors.gray.round(), "{factors:?}");
        }
    }

    #[test]
    fn most_of_the_variance_of_pixels_is_not_that_of_the_main_object() {
        // Frames with and without what is known of the main object: its pixels have the mean gray value of the world.
        let world = World::new(5, "test", 64, 8);
        let (frames, factors) = (world.frames(), world.factors());
        let mean = frames.iter().flat_map(|f| f.iter()).map(|g| f64::from(*g)).sum::<f64>()
            / (frames.len() * SIDE * SIDE) as f64;
        let is_main = |factors: &Factors, at: usize| {
            let (x, y) = (
                (at % SIDE) as f32 + 0.5 - factors.x,
                (at / SIDE) as f32 + 0.5 - factors.y,
            );
            factors.shape.coverage(x, y, factors.radius) > 0.0
        };
        let (mut all, mut without) = (0.0, 0.0);
        for (frame, factors) in frames.iter().zip(factors) {
            for (at, gray) in frame.iter().enumerate() {
                let square = (f64::from(*gray) - mean).powi(2);
                all += square;
                without += if is_main(factors, at) { 0.0 } else { square };
            }
        }
        assert!(without > 0.55 * all, "{}", without / all);
    }

    #[test]
    fn objects_stay_within_the_walls_and_move() {
        for episode in &World::new(4, "test", 8, 60).episodes {
            let inside = |at: f32| (0.0..=SIDE as f32).contains(&at);
            assert!(episode.factors.iter().all(|f| inside(f.x) && inside(f.y)));
            let steps = episode
                .factors
                .windows(2)
                .map(|f| (f[1].x - f[0].x).hypot(f[1].y - f[0].y));
            assert!(steps.sum::<f32>() > 20.0);
        }
    }

    #[test]
    fn episodes_depend_on_seed_name_and_number_and_repeat_otherwise() {
        let first = |seed, name| {
            World::new(seed, name, 2, 2)
                .frames()
                .into_iter()
                .copied()
                .collect::<Vec<Frame>>()
        };
        assert_eq!(first(1, "a"), first(1, "a"));
        assert_ne!(first(1, "a"), first(2, "a"));
        assert_ne!(first(1, "a"), first(1, "b"));
        assert_ne!(first(1, "a")[0], first(1, "a")[2]);
    }

    #[test]
    fn windows_do_not_cross_episodes() {
        let world = World::new(1, "test", 3, 5);
        assert_eq!(world.windows(3).len(), 9);
        assert_eq!(world.episode_numbers(), [0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2]);
    }
}
