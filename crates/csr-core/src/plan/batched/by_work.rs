//! Problems in the order of their work. Thousands of small ones are not to wait for a sort, so work is told apart by
//! one part in 64, which balances groups as well, and problems are dealt to as many buckets as that makes.

/// Bits of work that are told apart, behind the first.
const BITS: u32 = 6;

/// Bits of a problem's work: rows and nonzeros, of 32 bits each.
const WORK_BITS: u32 = 33;

/// Classes of work.
const CLASSES: u16 = ((WORK_BITS - BITS + 1) << BITS) as u16;

/// A problem's place among others: those with most work first, and those that share groups behind all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank(u16);

impl Rank {
    /// Of a problem with so much work, below 2^33.
    pub(super) fn new(work: u64, shares: bool) -> Self {
        debug_assert!(work < 1 << WORK_BITS);
        let dropped = work.checked_ilog2().unwrap_or(0).saturating_sub(BITS);
        // Below 2^7 work itself; from there on 64 classes to each power of two.
        let class = (dropped << BITS) as u16 + (work >> dropped) as u16;
        Rank(CLASSES - 1 - class + if shares { CLASSES } else { 0 })
    }

    /// Whether the problem shares a group.
    pub(super) fn shares(self) -> bool {
        self.0 >= CLASSES
    }
}

/// The indices of `ranks` in their order, equal ones as they are.
pub(super) fn in_order(ranks: &[Rank]) -> Vec<u32> {
    let mut places = [0u32; 2 * CLASSES as usize];
    ranks.iter().for_each(|rank| places[rank.0 as usize] += 1);
    let mut begin = 0;
    for place in &mut places {
        begin += std::mem::replace(place, begin);
    }
    let mut order = vec![0; ranks.len()];
    for (index, rank) in ranks.iter().enumerate() {
        let place = &mut places[rank.0 as usize];
        order[*place as usize] = index as u32;
        *place += 1;
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn less_work_never_comes_before_more_and_a_64th_more_always_comes_before() {
        let works = (0..512).chain((9..WORK_BITS).flat_map(|bits| {
            let power = 1u64 << bits;
            [power, power + 1, power + power / 64, power + power / 3, 2 * power - 1]
        }));
        let works: Vec<u64> = works.collect();
        for pair in works.windows(2) {
            let [less, more] = [pair[0], pair[1]].map(|work| Rank::new(work, false));
            assert!(more <= less, "{pair:?}");
            assert!(more < less || pair[1] - pair[0] <= pair[0] / 64, "{pair:?}");
        }
    }

    #[test]
    fn what_shares_groups_comes_behind_all_others() {
        let (alone, sharing) = (Rank::new(0, false), Rank::new((1 << WORK_BITS) - 1, true));
        assert!(alone < sharing && sharing.shares() && !alone.shares());
        assert!(Rank::new(0, true) > sharing);
    }

    #[test]
    fn buckets_are_in_the_order_of_sorting() {
        for factor in [0, 1, 20_000_000] {
            let work = |index: u64| factor * (index * 7919 % 331);
            let ranks: Vec<_> =
                (0..700).map(|index| Rank::new(work(index), index % 3 == 0)).collect();
            let mut sorted: Vec<u32> = (0..700).collect();
            sorted.sort_by_key(|&index| ranks[index as usize]);
            assert_eq!(in_order(&ranks), sorted, "{factor}");
        }
        assert_eq!(in_order(&[]), []);
    }
}
