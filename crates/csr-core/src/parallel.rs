//! Loops over all threads.
//!
//! Rayon's splitting is compiled anew for each closure that it is given, which for closures over every value and offset
//! type made a fifth of the command. Here it is compiled once for each type of elements: what a closure does to a chunk
//! is behind one call.

use rayon::prelude::*;

/// Elements that [`collect`] makes in one call.
const GRAIN: usize = 4096;

/// Calls `work` with the place of the first element and the elements of neighbouring chunks of `grain`, the last of which
/// may be shorter.
pub(crate) fn for_each_chunk<T: Send>(
    elements: &mut [T],
    grain: usize,
    work: impl Fn(usize, &mut [T]) + Sync,
) {
    fn erased<T: Send>(elements: &mut [T], grain: usize, work: &(dyn Fn(usize, &mut [T]) + Sync)) {
        let chunks = elements.par_chunks_mut(grain).enumerate();
        chunks.for_each(|(number, chunk)| work(number * grain, chunk));
    }
    erased(elements, grain, &work);
}

/// Calls `work` with each element.
pub(crate) fn for_each<T: Send>(elements: &mut [T], work: impl Fn(&mut T) + Sync) {
    for_each_chunk(elements, 1, |_, one| one.iter_mut().for_each(&work));
}

/// `len` elements, each made from its place; before that each is `blank`.
pub(crate) fn collect<T: Clone + Send>(
    blank: T,
    len: usize,
    make: impl Fn(usize) -> T + Sync,
) -> Vec<T> {
    let mut made = vec![blank; len];
    for_each_chunk(&mut made, GRAIN, |first, chunk| {
        for (at, element) in chunk.iter_mut().enumerate() {
            *element = make(first + at);
        }
    });
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_made_from_their_places_at_every_length_about_a_grain() {
        for len in [0, 1, GRAIN - 1, GRAIN, GRAIN + 1, 3 * GRAIN + 5] {
            assert_eq!(collect(0, len, |at| at), (0..len).collect::<Vec<_>>());
        }
    }

    #[test]
    fn chunks_cover_all_elements_once() {
        let mut counts = vec![0; 1000];
        for_each_chunk(&mut counts, 7, |first, chunk| {
            chunk.iter_mut().enumerate().for_each(|(at, count)| *count += first + at + 1);
        });
        assert_eq!(counts, (1..=1000).collect::<Vec<_>>());
        for_each(&mut counts, |count| *count = 0);
        assert_eq!(counts, [0; 1000]);
    }
}
