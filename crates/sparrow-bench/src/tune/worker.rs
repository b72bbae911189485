//! Trials run in a child process: a kernel that hangs cannot be stopped otherwise, and one that brings the driver
//! down takes only the child with it.
//!
//! The child reads a [`Trial`] a line from its standard input and answers each by a line on its standard output.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use super::{Arena, Outcome, Trial, TrialReport, TuneError};

/// How long the last words of a child that ended are waited for.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// The child's side: answers trials until its standard input ends.
///
/// # Errors
/// A line that is no trial, a matrix that cannot be made, or a pipe that is gone.
pub fn serve(
    arena: &mut Arena,
    input: impl BufRead,
    mut output: impl Write,
) -> Result<(), TuneError> {
    for line in input.lines() {
        let trial: Trial = serde_json::from_str(&line?).map_err(std::io::Error::from)?;
        let report = arena.run(&trial)?;
        let text = serde_json::to_string(&report).map_err(std::io::Error::from)?;
        writeln!(output, "{text}")?;
        output.flush()?;
    }
    Ok(())
}

/// The parent's side: a child that is started when there is a trial, and again when one took it down.
pub struct Worker {
    command: Box<dyn Fn() -> Command>,
    running: Option<Running>,
}

struct Running {
    child: Child,
    input: ChildStdin,
    answers: Receiver<TrialReport>,
    /// The last line of its standard error, when that ends.
    last_words: Receiver<String>,
}

impl Worker {
    /// `command` makes what serves trials.
    pub fn new(command: impl Fn() -> Command + 'static) -> Self {
        Worker { command: Box::new(command), running: None }
    }

    /// Runs one trial; no answer within `deadline` is an outcome, and so is a child that ended. Such an outcome knows
    /// nothing of the matrix.
    ///
    /// # Errors
    /// A child that cannot be started.
    pub fn run(&mut self, trial: &Trial, deadline: Duration) -> Result<TrialReport, TuneError> {
        let mut running = match self.running.take() {
            Some(running) => running,
            None => Running::start(&mut (self.command)())?,
        };
        let text = serde_json::to_string(trial).map_err(std::io::Error::from)?;
        let sent = writeln!(running.input, "{text}").and_then(|()| running.input.flush());
        let answer = match sent {
            Ok(()) => running.answers.recv_timeout(deadline),
            Err(_) => Err(RecvTimeoutError::Disconnected),
        };
        let outcome = match answer {
            Ok(report) => {
                self.running = Some(running);
                return Ok(report);
            }
            Err(RecvTimeoutError::Timeout) => {
                Outcome::Hung { seconds: (deadline.as_secs_f64() * 10.0).round() / 10.0 }
            }
            Err(RecvTimeoutError::Disconnected) => {
                let status = running.child.wait()?;
                // Whatever the child has started may hold its standard error open for longer.
                let words = running.last_words.recv_timeout(LAST_WORDS).ok();
                let words = words.map(|words| format!(": {words}")).unwrap_or_default();
                let message = format!("the process of the trial ended: {status}{words}");
                Outcome::Crashed { message }
            }
        };
        drop(running);
        Ok(TrialReport { rows: 0, nnz: 0, longest_row: 0, in_step: 0, changes: 0, outcome })
    }
}

impl Running {
    fn start(command: &mut Command) -> Result<Self, TuneError> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let gone = || std::io::Error::other("a pipe of the child is missing");
        let input = child.stdin.take().ok_or_else(gone)?;
        let output = BufReader::new(child.stdout.take().ok_or_else(gone)?);
        let errors = BufReader::new(child.stderr.take().ok_or_else(gone)?);
        let (sender, answers) = channel();
        std::thread::spawn(move || {
            // What a driver prints between answers is none.
            let lines = output.split(b'\n').map_while(Result::ok);
            for report in lines.filter_map(|line| serde_json::from_slice(&line).ok()) {
                if sender.send(report).is_err() {
                    return;
                }
            }
        });
        let (sender, last_words) = channel();
        std::thread::spawn(move || {
            // Compilers of drivers talk, and it is not told unless the child ends.
            let lines = errors.split(b'\n').map_while(Result::ok);
            let lines = lines.map(|line| String::from_utf8_lossy(&line).trim().to_owned());
            let last = lines.inspect(|line| tracing::debug!("{line}"));
            if let Some(last) = last.filter(|line| !line.is_empty()).last() {
                // A child that answers is asked nothing more.
                let _ = sender.send(last);
            }
        });
        Ok(Running { child, input, answers, last_words })
    }
}

impl Drop for Running {
    /// A child that hangs is ended.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tune::Candidate;
    use crate::tune::tests::device;
    use cl_kernels::Algorithm;

    fn trial() -> Trial {
        let candidate =
            Candidate::by_default(Algorithm::CsrScalar, &device(), csr_core::ValueType::F32, 8.0);
        Trial {
            matrix: "rung:8:even:1000".to_owned(),
            scale: 1.0,
            value_type: "f32".to_owned(),
            reference: candidate.clone(),
            candidate,
            give_up: 1e9,
            sampling_ms: 1,
        }
    }

    fn shell(script: &'static str) -> Worker {
        Worker::new(move || {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            command
        })
    }

    const ANSWER: &str = r#"read line; echo driver talk; echo '{"rows":1,"nnz":2,"longest_row":2,"in_step":2,"changes":0,"outcome":"wrong","message":"no"}'"#;

    #[test]
    fn a_child_that_hangs_is_ended_and_the_next_trial_gets_another() {
        let mut worker = shell("read line; sleep 100");
        for _ in 0..2 {
            let report = worker.run(&trial(), Duration::from_millis(300)).unwrap();
            assert_eq!(report.outcome, Outcome::Hung { seconds: 0.3 });
        }
    }

    #[test]
    fn a_child_that_ends_is_an_outcome_that_says_how_and_why() {
        let mut worker = shell("read line; echo no such platform >&2; exit 7");
        let report = worker.run(&trial(), Duration::from_secs(10)).unwrap();
        let Outcome::Crashed { message } = report.outcome else { panic!("{:?}", report.outcome) };
        assert!(message.contains('7') && message.ends_with("no such platform"), "{message}");
    }

    #[test]
    fn answers_come_back_and_the_child_goes_on() {
        let mut worker = shell(Box::leak(format!("{ANSWER}; {ANSWER}; exit 3").into_boxed_str()));
        for _ in 0..2 {
            let report = worker.run(&trial(), Duration::from_secs(10)).unwrap();
            assert_eq!(report.outcome, Outcome::Wrong { message: "no".to_owned() });
        }
        let report = worker.run(&trial(), Duration::from_secs(10)).unwrap();
        assert!(matches!(report.outcome, Outcome::Crashed { .. }));
    }
}
