//! Files in, results out.
