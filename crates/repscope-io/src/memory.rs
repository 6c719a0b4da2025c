// SPDX-License-Identifier: MIT
//! How much memory one array, one file or one model may take. Sizes are compared with it before memory is taken.
//!
//! The limit belongs to the process, as its memory does: it is what was asked for, else what the machine has available now. Where
//! neither is known (not on Linux), nothing is refused for its size.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Parsed, bail};

/// What was asked for; 0 where nothing was.
static ASKED: AtomicU64 = AtomicU64::new(0);

/// Less than this is not worth asking the machine for.
const SMALL: u64 = 16 << 20;

/// Sets how many bytes one array, file or model may take; `None` for what the machine has available.
pub fn limit_memory(bytes: Option<u64>) {
    ASKED.store(bytes.unwrap_or(0), Ordering::Relaxed);
}

/// How many bytes one array, file or model may take now.
pub fn memory_limit() -> u64 {
    match ASKED.load(Ordering::Relaxed) {
        0 => available().unwrap_or(u64::MAX),
        asked => asked,
    }
}

/// Bytes for people: `5.8 GiB`.
pub fn bytes_text(bytes: u64) -> String {
    let steps = [(1_u64 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match steps.iter().find(|(size, _)| bytes >= *size) {
        Some((size, unit)) => format!("{:.1} {unit}", bytes as f64 / *size as f64),
        None => format!("{bytes} bytes"),
    }
}

/// Refuses what takes more bytes than there are, with both numbers. `None` is more than any machine has.
pub(crate) fn check(needed: Option<u64>) -> Parsed<()> {
    let asked = ASKED.load(Ordering::Relaxed);
    if needed.is_some_and(|needed| needed <= if asked > 0 { asked } else { SMALL }) {
        return Ok(());
    }
    let (needed, limit) = (needed.unwrap_or(u64::MAX), memory_limit());
    if needed <= limit {
        return Ok(());
    }
    let (needed, limit) = (bytes_text(needed), bytes_text(limit));
    if asked > 0 {
        bail!("takes at least {needed}, but the memory limit is `memory` = {limit}; raise it, or store fewer rows")
    }
    bail!(
        "takes at least {needed} in memory, but {limit} are available; store fewer rows or columns, use a larger machine, or say \
         how much may be taken with `memory` SIZE"
    )
}

/// What the machine, and the control groups that the process is in, leave to it.
fn available() -> Option<u64> {
    let machine = std::fs::read_to_string("/proc/meminfo")
        .ok()
        .and_then(|text| of_machine(&text));
    let groups = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let groups = folders(&groups).into_iter().filter_map(|folder| of_group(&folder));
    machine.into_iter().chain(groups).min()
}

/// `MemAvailable:  123 kB` and `SwapFree` do not add up to more than what can be taken without trouble: the first alone counts.
fn of_machine(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes << 10)
}

/// The folders of the control groups, version 2 and 1, from the innermost to the root, as `/proc/self/cgroup` names them.
fn folders(text: &str) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for line in text.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(kinds), Some(path)) = (parts.next(), parts.next()) else {
            continue;
        };
        let root = match kinds {
            "" => Path::new("/sys/fs/cgroup"),
            kinds if kinds.split(',').any(|kind| kind == "memory") => Path::new("/sys/fs/cgroup/memory"),
            _ => continue,
        };
        let own = root.join(path.trim_start_matches('/'));
        folders.extend(
            own.ancestors()
                .take_while(|f| f.starts_with(root))
                .map(Path::to_path_buf),
        );
    }
    folders
}

/// What a control group leaves: its limit less what is in use, of which pages of files can be taken back.
fn of_group(folder: &Path) -> Option<u64> {
    let number = |names: [&str; 2]| {
        let text = names
            .iter()
            .find_map(|name| std::fs::read_to_string(folder.join(name)).ok())?;
        text.trim().parse::<u64>().ok() // none for "max"
    };
    let limit = number(["memory.max", "memory.limit_in_bytes"])?;
    let used = number(["memory.current", "memory.usage_in_bytes"])?;
    let stat = std::fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
    let files = stat.lines().find_map(|line| {
        let line = line
            .strip_prefix("total_inactive_file ")
            .or_else(|| line.strip_prefix("inactive_file "))?;
        line.trim().parse::<u64>().ok()
    });
    Some(limit.saturating_sub(used.saturating_sub(files.unwrap_or(0))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_available_is_read_from_the_table_of_the_system() {
        let text = "MemTotal:       16384000 kB\nMemFree:  100 kB\nMemAvailable:    2048 kB\n";
        assert_eq!(of_machine(text), Some(2 << 20));
        assert_eq!(of_machine("MemTotal: 5 kB\n"), None);
    }

    #[test]
    fn groups_of_both_versions_are_looked_at_up_to_the_root() {
        let shown = |text| {
            folders(text)
                .iter()
                .map(|f| f.display().to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            shown("0::/a/b\n"),
            ["/sys/fs/cgroup/a/b", "/sys/fs/cgroup/a", "/sys/fs/cgroup"]
        );
        assert_eq!(
            shown("5:cpu:/x\n4:memory,hugetlb:/y\n"),
            ["/sys/fs/cgroup/memory/y", "/sys/fs/cgroup/memory"]
        );
    }

    #[test]
    fn a_group_leaves_its_limit_less_what_cannot_be_taken_back() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| crate::write_whole(&folder.path().join(name), text.as_bytes()).unwrap();
        assert_eq!(of_group(folder.path()), None);
        write("memory.max", "max\n");
        write("memory.current", "700\n");
        assert_eq!(of_group(folder.path()), None);
        write("memory.max", "1000\n");
        assert_eq!(of_group(folder.path()), Some(300));
        write("memory.stat", "anon 500\ninactive_file 200\n");
        assert_eq!(of_group(folder.path()), Some(500));
    }

    #[test]
    fn sizes_are_written_with_their_unit() {
        assert_eq!(bytes_text(17), "17 bytes");
        assert_eq!(bytes_text(5 << 30), "5.0 GiB");
        assert_eq!(bytes_text((1 << 20) + (1 << 19)), "1.5 MiB");
    }
}
