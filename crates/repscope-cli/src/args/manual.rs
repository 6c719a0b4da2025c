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
    /// Prints what a shell needs to complete commands and options
    Completions {
        /// bash, zsh, fish, elvish or powershell
        shell: Shell,
    },
    /// Writes the manual pages, one per command
    Man {
        /// Where to, such as ~/.local/share/man/man1
        folder: PathBuf,
    },
    /// Writes a page per metric and one of all commands, in Markdown
    Docs {
        /// Where to
        folder: PathBuf,
        /// Compare with what is there instead of writing; exit code 1 where a page is not current
        #[arg(long)]
        check: bool,
    },
}
