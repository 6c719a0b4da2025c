// SPDX-License-Identifier: MIT
//! What the README prints is what the command prints.

use crate::fixtures::{Folder, command, repository};

/// The commands of the README that run on data of the repository, each with what is printed below it.
fn shown() -> Vec<(String, String)> {
    let text = std::fs::read_to_string(repository("README.md")).expect("README.md");
    let blocks = text
        .split("```console\n")
        .skip(1)
        .filter_map(|block| block.split_once("\n```"));
    let mut found = Vec::new();
    for (block, _) in blocks {
        let Some((first, printed)) = block.split_once('\n') else {
            continue;
        };
        let words = first
            .strip_prefix("$ repscope ")
            .or(first.strip_prefix("$ cargo run --release -- "));
        if let Some(words) = words.filter(|words| words.contains("examples/") && !printed.starts_with('$')) {
            found.push((words.to_string(), printed.to_string()));
        }
    }
    found
}

#[test]
fn the_outputs_of_the_readme_are_those_of_the_command() {
    let folder = Folder::new();
    let shown = shown();
    assert!(shown.len() >= 3, "{} commands", shown.len());
    for (words, expected) in shown {
        let output = command(folder.path())
            .current_dir(repository(""))
            .args(words.split_whitespace())
            .args(["--no-figures", "--output-dir"])
            .arg(folder.path().join("out"))
            .output()
            .expect("the command starts");
        let printed = String::from_utf8(output.stdout).expect("stdout is text");
        assert_eq!(printed.trim_end(), expected.trim_end(), "repscope {words}");
    }
}
