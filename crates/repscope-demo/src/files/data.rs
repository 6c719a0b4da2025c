// SPDX-License-Identifier: MIT
//! The frames of held-out episodes and what is true of them: `data/states.npy`, `data/episodes.npy`, a file of names
//! per label in `data/labels`, and a file of numbers per factor in `data/factors`.

use std::path::Path;

use repscope_io::{Result, write_bytes, write_floats, write_integers, write_names};

use crate::world::{FACTORS, Factors, SIDE, Said, World, label, quadrant, said};

/// A factor that is a number.
type Number = (&'static str, fn(&Factors) -> f32);

const NUMBERS: [Number; 5] = [
    ("x", |factors| factors.x),
    ("y", |factors| factors.y),
    ("radius", |factors| factors.radius),
    ("grey", |factors| factors.gray),
    ("speed", |factors| factors.speed),
];

pub(crate) fn write(folder: &Path, world: &World) -> Result<()> {
    let folder = folder.join("data");
    let pixels: Vec<u8> = world.frames().into_iter().flatten().copied().collect();
    let count = pixels.len() / (SIDE * SIDE);
    write_bytes(&folder.join("states.npy"), &[count, 1, SIDE, SIDE], &pixels)?;
    write_integers(&folder.join("episodes.npy"), &world.episode_numbers())?;
    let factors = world.factors();
    for (name, number) in NUMBERS {
        let values: Vec<f32> = factors.iter().map(|factors| number(factors)).collect();
        write_floats(&folder.join(format!("factors/{name}.npy")), &[count], &values)?;
    }
    let all: Vec<Said> = factors.iter().map(|factors| said(factors)).collect();
    let labels = |name: &str, of: &dyn Fn(&Said) -> String| {
        let names: Vec<String> = all.iter().map(of).collect();
        write_names(&folder.join(format!("labels/{name}.npy")), &names)
    };
    for (at, factor) in FACTORS.iter().enumerate() {
        labels(factor.name, &|said| factor.words[said[at]].to_string())?;
    }
    labels("quadrant", &quadrant)?;
    labels("shape_and_quadrant", &label)
}
