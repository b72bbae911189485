//! A cache that forgets what was used longest ago, at several capacities at once.
//!
//! Granules (lines, or sectors) stand in a list in the order of their last use. A cache of any capacity that
//! replaces the least recently used holds the first so many of them, so one list answers for all capacities
//! (R. Mattson et al., "Evaluation techniques for storage hierarchies", 1970): a marker stands at the end of each,
//! and every granule knows which it is within. Fully associative; real caches are not quite.

const NONE: u32 = u32::MAX;

/// The list, with granules numbered from 0, and granules without a number that pass through once.
#[derive(Clone, Debug)]
pub struct LruStack {
    /// Granules that each capacity holds, ascending.
    limits: Vec<u32>,
    /// The last granule within each capacity, or [`NONE`] while there are fewer.
    markers: Vec<u32>,
    before: Vec<u32>,
    after: Vec<u32>,
    /// The first capacity that holds a granule; `limits.len()` for those in none.
    levels: Vec<u8>,
    head: u32,
    tail: u32,
    length: u32,
    numbered: u32,
    /// Nodes of granules without a number that have left the list.
    free: Vec<u32>,
}

impl LruStack {
    /// An empty list for `granules` numbered granules, at capacities of `limits` granules each, ascending; of the
    /// limits, those of 0 count as 1.
    pub fn new(granules: usize, limits: &[usize]) -> Self {
        let limits: Vec<u32> = limits.iter().map(|&l| l.clamp(1, 1 << 30) as u32).collect();
        let absent = limits.len() as u8;
        LruStack {
            markers: vec![NONE; limits.len()],
            before: vec![NONE; granules],
            after: vec![NONE; granules],
            levels: vec![absent; granules],
            limits,
            head: NONE,
            tail: NONE,
            length: 0,
            numbered: granules as u32,
            free: Vec::new(),
        }
    }

    /// The first capacity that holds a granule, or the number of capacities if none does.
    pub fn level(&self, granule: usize) -> usize {
        self.levels.get(granule).map_or(self.limits.len(), |&level| level.into())
    }

    /// Uses a granule; returns its level before.
    pub fn access(&mut self, granule: usize) -> usize {
        let node = granule as u32;
        if node >= self.numbered {
            return self.limits.len();
        }
        if node == self.head {
            return 0;
        }
        let level = self.level(granule);
        if level == self.limits.len() {
            self.push(node);
        } else {
            self.raise(node, level);
        }
        level
    }

    /// A granule passes through that is never used again.
    pub fn stream(&mut self) {
        let node = self.free.pop().unwrap_or_else(|| {
            self.before.push(NONE);
            self.after.push(NONE);
            self.levels.push(0);
            self.levels.len() as u32 - 1
        });
        self.push(node);
    }

    /// Moves a granule of the list to its front.
    fn raise(&mut self, node: u32, level: usize) {
        // All before it move back by one: those at the end of a smaller capacity leave it.
        for at in 0..level {
            self.move_back(at, node);
        }
        let (before, after) = (self.before[node as usize], self.after[node as usize]);
        if self.markers[level] == node {
            self.markers[level] = before;
        }
        // Not the head, so something is before it.
        self.after[before as usize] = after;
        match after {
            NONE => self.tail = before,
            _ => self.before[after as usize] = before,
        }
        self.put_first(node);
    }

    /// Puts a granule that is not in the list to its front; the last may fall out.
    fn push(&mut self, node: u32) {
        for at in 0..self.limits.len() {
            if self.markers[at] != NONE {
                self.move_back(at, node);
            }
        }
        self.put_first(node);
        self.length += 1;
        let last = self.limits.last().copied().unwrap_or(0);
        if self.length > last {
            self.drop_tail();
        }
        for at in 0..self.limits.len() {
            if self.length == self.limits[at] && self.markers[at] == NONE {
                self.markers[at] = self.tail;
            }
        }
    }

    /// Capacity `at` loses its last granule to the next, since `node` comes to the front.
    fn move_back(&mut self, at: usize, node: u32) {
        let last = self.markers[at];
        self.levels[last as usize] = at as u8 + 1;
        self.markers[at] = if last == self.head { node } else { self.before[last as usize] };
    }

    fn put_first(&mut self, node: u32) {
        self.before[node as usize] = NONE;
        self.after[node as usize] = self.head;
        match self.head {
            NONE => self.tail = node,
            head => self.before[head as usize] = node,
        }
        self.head = node;
        self.levels[node as usize] = 0;
    }

    fn drop_tail(&mut self) {
        let node = self.tail;
        self.tail = self.before[node as usize];
        match self.tail {
            NONE => self.head = NONE,
            tail => self.after[tail as usize] = NONE,
        }
        self.levels[node as usize] = self.limits.len() as u8;
        self.length -= 1;
        if node >= self.numbered {
            self.free.push(node);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The obvious way: a vector in the order of last use.
    fn levels_by_hand(limits: &[usize], uses: &[Option<usize>]) -> Vec<usize> {
        let mut list: Vec<(bool, usize)> = Vec::new();
        let mut levels = Vec::new();
        for (at, granule) in uses.iter().enumerate() {
            let Some(granule) = *granule else {
                list.insert(0, (false, at));
                continue;
            };
            let position = list.iter().position(|&known| known == (true, granule));
            let within = |position: usize| limits.iter().position(|&limit| position < limit);
            levels.push(position.and_then(within).unwrap_or(limits.len()));
            if let Some(position) = position {
                list.remove(position);
            }
            list.insert(0, (true, granule));
        }
        levels
    }

    fn levels_of(limits: &[usize], uses: &[Option<usize>]) -> Vec<usize> {
        let mut stack = LruStack::new(12, limits);
        let access = |granule: &Option<usize>| match *granule {
            Some(granule) => Some(stack.access(granule)),
            None => {
                stack.stream();
                None
            }
        };
        uses.iter().filter_map(access).collect()
    }

    proptest! {
        #[test]
        fn the_list_with_markers_is_the_obvious_one(
            uses in prop::collection::vec(prop::option::weighted(0.8, 0usize..12), 0..200),
            first in 1usize..4,
            more in prop::collection::vec(1usize..5, 0..3),
        ) {
            let mut limits = vec![first];
            limits.extend(more.iter().scan(first, |limit, step| { *limit += step; Some(*limit) }));
            prop_assert_eq!(levels_of(&limits, &uses), levels_by_hand(&limits, &uses));
        }

        #[test]
        fn a_larger_capacity_never_has_more_misses(
            uses in prop::collection::vec(prop::option::weighted(0.8, 0usize..12), 0..200),
            small in 1usize..8,
            more in 1usize..8,
        ) {
            let misses = |limit: usize| levels_of(&[limit], &uses).iter().sum::<usize>();
            prop_assert!(misses(small + more) <= misses(small));
        }
    }

    #[test]
    fn one_granule_of_capacity_remembers_only_the_last() {
        let uses = [0, 0, 1, 0, 1, 1].map(Some);
        assert_eq!(levels_of(&[1], &uses), [1, 0, 1, 1, 1, 0]);
    }
}
