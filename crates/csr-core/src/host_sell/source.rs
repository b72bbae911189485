//! Where a slice's elements of x come from: columns as 16-bit words into a window of x, or as 32 bits into all of it.

use crate::Accumulator;

/// The sum of nothing.
#[inline(always)]
pub(super) fn zero<A: Accumulator>() -> A {
    <A as num_traits::Zero>::zero()
}

/// The 32-bit number in two words.
#[inline(always)]
pub(super) fn pair(words: &[u16]) -> u32 {
    bytemuck::cast::<[u16; 2], u32>([words[0], words[1]])
}

/// x as a slice's columns are counted in it.
pub(super) trait Source<A>: Copy {
    /// Words of a column.
    const WORDS: usize;
    /// Whether words after a row, whatever they are, name an element, and one that is near.
    const NAMES_ANY: bool;
    /// The element that a column's words name.
    fn element(self, words: &[u16]) -> A;
}

/// All that 16 bits can name: nothing is left to check.
pub(super) const WINDOW: usize = 1 << 16;

/// As much of x, which begins `shift` elements before the slice's lowest column.
#[derive(Clone, Copy)]
pub(super) struct Window<'a, A> {
    pub(super) x: &'a [A; WINDOW],
    pub(super) shift: u16,
}

impl<A: Accumulator> Source<A> for Window<'_, A> {
    const WORDS: usize = 1;
    const NAMES_ANY: bool = true;

    #[inline(always)]
    fn element(self, words: &[u16]) -> A {
        self.x[usize::from(words[0].wrapping_add(self.shift))]
    }
}

/// An x that is shorter, from the slice's lowest column on, and not empty. No column is beyond its end; a clamp says so to the
/// compiler, and costs less than a branch.
#[derive(Clone, Copy)]
pub(super) struct Narrow<'a, A>(pub(super) &'a [A]);

impl<A: Accumulator> Source<A> for Narrow<'_, A> {
    const WORDS: usize = 1;
    const NAMES_ANY: bool = true;

    #[inline(always)]
    fn element(self, words: &[u16]) -> A {
        self.0[usize::from(words[0]).min(self.0.len() - 1)]
    }
}

/// All of x, which is not empty, by 32 bits; clamped, too.
#[derive(Clone, Copy)]
pub(super) struct Wide<'a, A>(pub(super) &'a [A]);

impl<A: Accumulator> Source<A> for Wide<'_, A> {
    const WORDS: usize = 2;
    const NAMES_ANY: bool = false;

    #[inline(always)]
    fn element(self, words: &[u16]) -> A {
        self.0[(pair(words) as usize).min(self.0.len() - 1)]
    }
}

/// An element of x for each lane.
#[inline(always)]
pub(super) fn gather<A: Accumulator, S: Source<A>, const COUNT: usize>(
    x: S,
    words: &[u16],
) -> [A; COUNT] {
    let mut gathered = [zero(); COUNT];
    for (element, words) in gathered.iter_mut().zip(words.chunks_exact(S::WORDS)) {
        *element = x.element(words);
    }
    gathered
}
