// SPDX-License-Identifier: MIT
//! What the README and the pages of the book print is what the command prints.
//!
//! `REPSCOPE_WRITE_DOCS=1 cargo test --workspace --test it what_the_pages_show` writes the outputs anew.

use std::path::{Path, PathBuf};

use crate::fixtures::{Folder, command, repository};

/// How a block that shows a command begins, and how it ends.
const OPEN: &str = "```console\n$ repscope ";
const CLOSE: &str = "\n```";

/// The README, and all pages of the book.
fn pages() -> Vec<PathBuf> {
    let mut found = vec![PathBuf::from(repository("README.md"))];
    let mut folders = vec![PathBuf::from(repository("docs"))];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("docs") {
            let path = entry.expect("an entry of docs").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "md") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// What the command prints in the root of the repository; its files go elsewhere.
fn printed(words: &str, output: &Path) -> String {
    let mut run = command(output);
    run.current_dir(repository("")).args(words.split_whitespace());
    if !words.starts_with("check") {
        run.args(["--no-figures", "--output-dir"]).arg(output.join("out"));
    }
    let output = run.output().expect("the command starts");
    String::from_utf8(output.stdout)
        .expect("stdout is text")
        .trim_end()
        .to_string()
}

/// The page with the output of every command that names data of the repository, and how many such commands there are. A
/// command continues where a line ends in a backslash; what follows it in its block is its output. A block of several commands
/// shows no output.
fn rewritten(page: &str, folder: &Path) -> (String, usize) {
    let mut parts = page.split(OPEN);
    let (mut text, mut count) = (parts.next().unwrap_or_default().to_string(), 0);
    for part in parts {
        text += OPEN;
        let (block, rest) = part.split_once(CLOSE).expect("a block ends");
        let mut ends = block.match_indices('\n').map(|(at, _)| at);
        let end = ends.find(|&at| !block[..at].ends_with('\\')).unwrap_or(block.len());
        let (words, shown) = (&block[..end], block[end..].trim_start());
        if words.contains("examples/") && !shown.starts_with('$') {
            text += &format!("{words}\n{}", printed(&words.replace('\\', ""), folder));
            count += 1;
        } else {
            text += block;
        }
        text += CLOSE;
        text += rest;
    }
    (text, count)
}

#[test]
fn what_the_pages_show_is_what_the_command_prints() {
    let folder = Folder::new();
    let mut commands = 0;
    for page in pages() {
        let text = std::fs::read_to_string(&page).expect("a page");
        let (expected, count) = rewritten(&text, folder.path());
        commands += count;
        if std::env::var_os("REPSCOPE_WRITE_DOCS").is_some() {
            repscope_io::write_whole(&page, expected.as_bytes()).expect("the page is written");
        } else {
            assert_eq!(text, expected, "{}", page.display());
        }
    }
    assert!(commands >= 8, "{commands} commands");
}

#[test]
fn the_readme_is_read_to_its_end() {
    let text = std::fs::read_to_string(repository("README.md")).expect("README.md");
    assert!(text.lines().count() <= 120, "{} lines", text.lines().count());
}
