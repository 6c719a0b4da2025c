//! The repscope command.
fn main() {}
