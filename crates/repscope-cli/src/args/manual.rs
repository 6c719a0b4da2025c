// SPDX-License-Identifier: MIT
//! `repscope manual`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use clap_complete::Shell;

pub(super) const MANUAL_EXAMPLES: &str = "\
Examples:
  repscope manual completions bash > ~/.local/share/bash-completion/completions/repscope
  repscope manual man ~/.local/share/man/man1
  repscope manual docs docs";

#[derive(Debug, Args)]
pub struct Manual {
    #[command(subcommand)]
    pub part: ManualPart,
}

#[derive(Debug, Subcommand)]
pub enum ManualPart {
    /// Prints the completion script of a shell
    Completions {
        /// bash, zsh, fish, elvish or powershell
        shell: Shell,
    },
    /// Writes the manual pages, one per command
    Man {
        /// Output folder, such as ~/.local/share/man/man1
        folder: PathBuf,
    },
    /// Writes a Markdown page per metric and one for all commands
    Docs {
        /// Output folder
        folder: PathBuf,
        /// Compare with the existing pages instead of writing; exit code 1 if a page is out of date
        #[arg(long)]
        check: bool,
    },
}
