//! The end of a run: how stages that failed ended, a line a stage, and the sums.

use super::{Ended, Outcome};
use std::time::Duration;

/// Prints it, with processor and wall time of the whole run.
pub(super) fn print(ended: &[Ended], (whole, whole_cpu): (Duration, Duration)) {
    // Far above, lines of other stages are between theirs.
    for Ended { stage, outcome, last, .. } in ended {
        if matches!(outcome, Outcome::Failed(_)) && !last.is_empty() {
            println!("\n== how {} ended\n{}", stage.name(), last.join("\n"));
        }
    }
    println!("\n{:22} {:>8} {:>8}  result", "stage", "seconds", "CPU");
    let (mut passed, mut failed, mut not_tested) = (0, 0, 0);
    for Ended { stage, outcome, took, cpu, .. } in ended {
        let (counter, text) = match outcome {
            Outcome::Passed => (&mut passed, "passed".to_owned()),
            Outcome::Failed(reason) => (&mut failed, format!("FAILED: {reason}")),
            Outcome::NotTested(reason) => (&mut not_tested, format!("NOT TESTED: {reason}")),
        };
        *counter += 1;
        let (took, cpu) = (took.as_secs_f64(), cpu.as_secs_f64());
        println!("{:22} {took:8.1} {cpu:8.1}  {text}", stage.name());
    }
    let (seconds, minutes) = (whole.as_secs_f64(), whole_cpu.as_secs_f64() / 60.0);
    println!(
        "{passed} passed, {failed} failed, {not_tested} not tested in {seconds:.0} s, {minutes:.0} min of \
         processor time"
    );
}
