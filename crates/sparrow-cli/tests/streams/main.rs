//! What the command reads and writes, as a shell drives it: pipes, devices, links, names, full disks, interrupts. No
//! OpenCL is needed.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

mod desk;
mod files;
mod inputs;
mod interrupts;
mod names;
mod standard;
