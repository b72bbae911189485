//! The `sparrow` command.
fn main() {}
