//! Asking what devices there are. A program of its own, since only the first to ask starts the drivers.

use std::sync::Barrier;

use conformance::device;

#[test]
fn threads_may_ask_for_devices_at_once() {
    const THREADS: usize = 8;
    let start = Barrier::new(THREADS);
    let found: Vec<String> = std::thread::scope(|scope| {
        let ask = || {
            start.wait();
            device().position()
        };
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(ask)).collect();
        threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
    });
    assert_eq!(found, vec![device().position(); THREADS]);
}
