//! How many bytes were copied: counted where they are, for each thread.

use std::cell::Cell;

thread_local! {
    static COPIED: Cell<u64> = const { Cell::new(0) };
}

/// Bytes that this thread has had copied since it began: to devices, back, and from one array to another. Of memory that
/// is no device's and the host's at once, what was mapped counts too, as it moves.
///
/// The difference between two moments is what was copied in between.
pub fn copied_bytes() -> u64 {
    COPIED.get()
}

/// Counts `bytes` that a call has copied.
pub(crate) fn note_copied(bytes: usize) {
    COPIED.set(COPIED.get().wrapping_add(bytes as u64));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_counts_its_own_copies() {
        let before = copied_bytes();
        note_copied(12);
        std::thread::spawn(|| note_copied(100)).join().unwrap();
        assert_eq!(copied_bytes() - before, 12);
    }
}
