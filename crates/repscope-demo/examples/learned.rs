// SPDX-License-Identifier: MIT
//! Makes the demonstration and prints what its networks have learned:
//! `cargo run --release -p repscope-demo --example learned -- FOLDER tiny|quick|full SEED`.
#![allow(clippy::print_stdout)] // An example is there to be looked at.

use std::path::Path;
use std::time::Instant;

use repscope_core::run::{Progress, Silent};
use repscope_demo::{Plan, Size, make};

/// Prints when each stage begins.
struct Stages(Instant);

impl Progress for Stages {
    fn begin(&self, stage: &str, steps: u64) {
        println!("{:7.1} s  {stage}, {steps} steps", self.0.elapsed().as_secs_f64());
    }

    fn advance(&self, steps: u64) {
        Silent.advance(steps);
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [folder, size, seed] = &words[..] else {
        return Err("three words are needed: FOLDER tiny|quick|full SEED".into());
    };
    let size = match size.as_str() {
        "tiny" => Size::Tiny,
        "quick" => Size::Quick,
        _ => Size::Full,
    };
    let start = Instant::now();
    let plan = Plan {
        size,
        seed: seed.parse()?,
    };
    let made = make(&plan, Path::new(folder), &Stages(start))?;
    println!(
        "{:7.1} s  done: {} frames of {} episodes",
        start.elapsed().as_secs_f64(),
        made.states,
        made.episodes
    );
    for training in &made.trainings {
        println!(
            "{:16} validation loss {:.4} -> {:.4} after step {}",
            training.name, training.first_loss, training.best_loss, training.best_step
        );
    }
    for learned in &made.encoders {
        println!(
            "{:16} deviation {:.4}, participation ratio {:.1}, R2 of x {:.2}, of y {:.2}",
            learned.name, learned.deviation, learned.participation_ratio, learned.place[0], learned.place[1]
        );
    }
    for (head, accuracy) in &made.accuracy {
        println!("{head:16} accuracy {accuracy:.3}");
    }
    Ok(())
}
