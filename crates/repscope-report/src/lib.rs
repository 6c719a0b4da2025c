//! Tables and files from scores.
