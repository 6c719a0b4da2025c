// SPDX-License-Identifier: MIT
//! The threads that work.

use anyhow::bail;
use rayon::ThreadPoolBuilder;

/// More threads than this take longer to start than to work.
const MOST: usize = 1024;
/// A decomposition takes about 300 KiB of stack, and a thread that waits for its part of one may begin another on top of it. Two
/// megabytes, the default, leave room for seven; what overflows a stack inside Python dies without a message. Pages are taken only
/// as they are used.
const STACK: usize = 16 << 20;

/// A pool of this many threads, or of as many as there are cores.
pub fn threads(count: Option<usize>) -> crate::Result<ThreadPoolBuilder> {
    Ok(builder(count)?)
}

fn builder(count: Option<usize>) -> anyhow::Result<ThreadPoolBuilder> {
    if let Some(count) = count.filter(|count| !(1..=MOST).contains(count)) {
        bail!("`threads` = {count} must be from 1 to {MOST}; leave it out to use all cores");
    }
    // 0 means all cores to rayon.
    let pool = ThreadPoolBuilder::new().num_threads(count.unwrap_or(0));
    Ok(pool.stack_size(STACK))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Uses at least a quarter of a megabyte of stack for each level.
    fn deep(levels: usize) -> usize {
        let block = std::hint::black_box([levels as u8; 1 << 18]);
        match levels {
            0 => usize::from(block[0]),
            _ => deep(levels - 1) + usize::from(block[1] > 0),
        }
    }

    #[test]
    fn work_may_be_nested_deeply() {
        let pool = threads(Some(2)).unwrap().build().unwrap();
        assert_eq!(pool.install(|| deep(10)), 10);
    }

    #[test]
    fn a_number_of_threads_that_makes_no_sense_is_refused() {
        for count in [0, 5000] {
            let error = threads(Some(count)).unwrap_err().to_string();
            assert!(
                error.contains(&format!("`threads` = {count} must be from 1 to 1024")),
                "{error}"
            );
        }
    }
}
