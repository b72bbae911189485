//! Work on all processors.

use anyhow::{Result, anyhow};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Does `work` on every job, as many at once as there are processors, begun in order; the results come in the
/// jobs' order.
///
/// # Errors
/// `work` has panicked.
pub(crate) fn in_parallel<J: Sync, R: Send>(
    jobs: &[J],
    work: impl Fn(&J) -> R + Sync,
) -> Result<Vec<R>> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = jobs.get(at) else { return done };
            done.push((at, work(job)));
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut results = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        let mut all = Vec::with_capacity(jobs.len());
        for worker in workers {
            all.extend(worker.join().map_err(|_| anyhow!("a worker has panicked"))?);
        }
        anyhow::Ok(all)
    })?;
    results.sort_by_key(|(at, _)| *at);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_jobs() {
        let jobs: Vec<u32> = (0..100).collect();
        assert_eq!(
            in_parallel(&jobs, |job| job * 2).unwrap(),
            jobs.iter().map(|j| j * 2).collect::<Vec<_>>()
        );
    }
}
