// SPDX-License-Identifier: MIT
//! When a run began and how long its parts took, for `run.json`: apart from the results, which are the same bytes each time. And
//! how long the rest will take.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

/// A shorter run needs no warning.
const WORTH_SAYING: f64 = 60.0;

/// The clock of a run.
pub struct Clock {
    began: SystemTime,
    start: Instant,
    sets: Vec<Timed>,
}

/// What became of the images that are masked in one way.
struct Timed {
    set: String,
    began: SystemTime,
    seconds: f64,
    images: usize,
    /// Taken from an earlier run.
    is_kept: bool,
}

impl Clock {
    pub fn start() -> Self {
        Clock {
            began: now(),
            start: Instant::now(),
            sets: Vec::new(),
        }
    }

    /// Notes a set that is finished and was begun `since`.
    pub fn finished(&mut self, set: &str, images: usize, since: Instant, is_kept: bool) {
        let taken = since.elapsed();
        self.sets.push(Timed {
            set: set.to_string(),
            began: now().checked_sub(taken).unwrap_or(self.began),
            seconds: taken.as_secs_f64(),
            images,
            is_kept,
        });
    }

    /// The contents of `run.json`, where the run ends now.
    pub fn document(&self) -> String {
        let of_set = |timed: &Timed| {
            let speed = timed.images as f64 / timed.seconds;
            json!({
                "set": timed.set, "started": utc(timed.began), "seconds": rounded(timed.seconds), "images": timed.images,
                "images_per_second": (!timed.is_kept && speed.is_finite()).then(|| rounded(speed)),
                "from": if timed.is_kept { "an earlier run" } else { "this run" },
            })
        };
        let document = json!({
            "repscope": env!("CARGO_PKG_VERSION"),
            "started": utc(self.began),
            "finished": utc(now()),
            "seconds": rounded(self.start.elapsed().as_secs_f64()),
            "sets": self.sets.iter().map(of_set).collect::<Vec<Value>>(),
        });
        serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
    }
}

#[allow(
    clippy::disallowed_methods,
    reason = "times stand in run.json alone: no result depends on them"
)]
fn now() -> SystemTime {
    SystemTime::now()
}

fn rounded(seconds: f64) -> f64 {
    (1000.0 * seconds).round() / 1000.0
}

/// `2026-11-18T00:24:00Z`.
fn utc(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs();
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Days are counted from March of the year 0, so that a leap day is the last of its year (Hinnant's civil_from_days).
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year + 400 * era + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// What is still to be computed when the first batch is done.
pub struct Ahead {
    /// Images in the first batch, and the seconds it took.
    pub batch: usize,
    pub seconds: f64,
    /// Images in each set, and how many sets are to be computed.
    pub images: usize,
    pub sets: usize,
    /// Whether the built-in runtime runs the model.
    pub is_builtin: bool,
    /// Whether finished sets are kept for the next run.
    pub is_kept: bool,
}

impl Ahead {
    /// How long the run will take, with ways to make it shorter; nothing for a short one.
    pub fn cost(&self) -> Option<String> {
        let whole = self.seconds / self.batch.max(1) as f64 * (self.images * self.sets) as f64;
        if whole < WORTH_SAYING {
            return None;
        }
        let runtime = if self.is_builtin {
            "an installed ONNX Runtime (`runtime` = onnxruntime), "
        } else {
            ""
        };
        let kept = if self.is_kept {
            ". Finished sets are kept: the run may be interrupted, and the same command goes on"
        } else {
            ""
        };
        Some(format!(
            "{} sets of {} images will take {}, by the first batch ({} images in {:.1} s). Faster: {runtime}a graphics card \
             (`provider` = cuda with that runtime), or fewer images (`sample` = 10000, the same share of every class){kept}",
            self.sets,
            self.images,
            about(whole),
            self.batch,
            self.seconds
        ))
    }
}

/// `about 70 hours`.
fn about(seconds: f64) -> String {
    let (value, unit) = match seconds {
        s if s < 5400.0 => (s / 60.0, "minute"),
        s if s < 259_200.0 => (s / 3600.0, "hour"),
        s => (s / 86_400.0, "day"),
    };
    let value = value.round().max(1.0);
    format!("about {value} {unit}{}", if value > 1.0 { "s" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_in_utc() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_709_164_800, "2024-02-29T00:00:00Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
            (1_794_961_440, "2026-11-18T00:24:00Z"),
        ] {
            assert_eq!(utc(UNIX_EPOCH + Duration::from_secs(seconds)), text);
        }
    }

    #[test]
    fn a_long_run_is_announced_with_ways_to_make_it_shorter() {
        let all = Ahead {
            batch: 256,
            seconds: 36.2,
            images: 111_412,
            sets: 16,
            is_builtin: true,
            is_kept: true,
        };
        // 36.2 / 256 · 111,412 · 16 s = 252,073 s.
        let said = all.cost().unwrap();
        for words in [
            "16 sets of 111412 images will take about 70 hours",
            "256 images in 36.2 s",
            "`runtime` = onnxruntime",
            "`provider` = cuda",
            "`sample` = 10000",
            "same command goes on",
        ] {
            assert!(said.contains(words), "{words}: {said}");
        }
        let few = Ahead { images: 5, ..all };
        assert_eq!(few.cost(), None);
        let days = Ahead {
            seconds: 3620.0,
            is_builtin: false,
            images: 111_412,
            ..few
        };
        let said = days.cost().unwrap();
        assert!(
            said.contains("about 292 days") && !said.contains("onnxruntime"),
            "{said}"
        );
        assert_eq!([about(65.0), about(3500.0)], ["about 1 minute", "about 58 minutes"]);
    }
}
