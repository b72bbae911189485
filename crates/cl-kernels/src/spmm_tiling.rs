//! How the columns of SpMM's dense matrices are dealt to items.

/// How the columns of B and C are dealt to items: in tiles of equally many, each as many vectors as a sub-group has
/// items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tiling {
    /// Columns an item takes.
    pub vector_width: u32,
    /// Items side by side along a row of C: a sub-group.
    pub sub_group_size: u32,
    /// Sub-groups that share a row of A: each takes a part of its nonzeros, and all of the tile's columns.
    pub sub_groups_per_row: u32,
    /// Columns of a tile; the last may have fewer.
    pub tile_width: u32,
    /// Tiles.
    pub tiles: u32,
}

impl Tiling {
    /// For `columns` columns in vectors of `vector_width`; a sub-group lies within `in_step` items.
    pub fn new(columns: u32, vector_width: u32, in_step: u32) -> Self {
        // Two lines of memory side by side are enough; narrower vectors would need more items to fill one.
        let most = (MOST_TILE_COLUMNS / vector_width).clamp(32, 64).min(in_step);
        let vectors = columns.div_ceil(vector_width).max(1);
        let fewest = vectors.div_ceil(most);
        let of = |tiles: u32| {
            let sub_group_size = vectors.div_ceil(tiles);
            Tiling {
                vector_width,
                sub_group_size,
                sub_groups_per_row: 1,
                tile_width: sub_group_size * vector_width,
                tiles,
            }
        };
        // Each tile more reads A once more.
        let (few, more) = (of(fewest), of(fewest + 1));
        if more.busy(columns, in_step) > LEAST_GAIN * few.busy(columns, in_step) {
            more
        } else {
            few
        }
    }

    /// The same with `sub_groups_per_row` sub-groups that share a row.
    #[must_use]
    pub fn shared(self, sub_groups_per_row: u32) -> Self {
        Tiling { sub_groups_per_row, ..self }
    }

    /// How many times the items of `sub_groups` sub-groups a device of so many compute units should have.
    pub fn idle(&self, compute_units: u32, sub_groups: usize) -> f64 {
        let items = f64::from(self.sub_group_size) * f64::from(self.tiles);
        idle(compute_units, sub_groups as f64 * items)
    }

    /// Items that take a row together: a team of sub-groups.
    pub fn items_per_row(&self) -> u32 {
        self.sub_group_size * self.sub_groups_per_row
    }

    /// The part of the items in step that have columns, in the mean over tiles.
    fn busy(&self, columns: u32, in_step: u32) -> f64 {
        let vectors = columns.div_ceil(self.vector_width);
        let sub_groups = in_step / self.sub_group_size;
        f64::from(sub_groups) * f64::from(vectors) / (f64::from(self.tiles) * f64::from(in_step))
    }

    /// The better of two widths: the first, unless the other makes fewer tiles of items that are as busy.
    pub fn best(columns: u32, widths: [u32; 2], in_step: u32) -> u32 {
        let [first, other] = widths.map(|width| Tiling::new(columns, width, in_step));
        let is_as_busy = other.busy(columns, in_step) >= first.busy(columns, in_step);
        if other.tiles < first.tiles && is_as_busy { widths[1] } else { widths[0] }
    }
}

/// Items that a compute unit should have, where the work can be dealt out to more: with fewer it waits for their loads.
const ITEMS_PER_UNIT: u32 = 1280;

/// From so much [`idle`] on, work is dealt out to more items.
pub(crate) const LEAST_IDLE: f64 = std::f64::consts::SQRT_2;

/// How many times `items` a device of so many compute units should have: above 1, it should have more.
pub(crate) fn idle(compute_units: u32, items: f64) -> f64 {
    f64::from(compute_units.max(1)) * f64::from(ITEMS_PER_UNIT) / items.max(1.0)
}

/// By how much more items must have work for a tile more.
const LEAST_GAIN: f64 = 1.3;

/// So few columns that sub-groups are small, and share rows even where the device has enough to do.
const FEW_COLUMNS: u32 = 16;

/// Columns that a tile has at most, if its vectors are narrow.
const MOST_TILE_COLUMNS: u32 = 64;

/// The widest vector, a power of two up to `most`, that divides each of `multiples`: columns, leading dimensions and
/// the elements at which matrices start.
pub fn vector_width(most: u32, multiples: &[u64]) -> u32 {
    let divides = |width: &u32| multiples.iter().all(|multiple| multiple % u64::from(*width) == 0);
    [16, 8, 4, 2].into_iter().filter(|width| *width <= most).find(divides).unwrap_or(1)
}

/// Columns an item takes where they are apart, up to `most`, a power of two: two, if six items then stand side by side,
/// which load as many neighbouring elements at once; more where that makes fewer tiles, in sub-groups that lie within
/// `in_step` items.
pub fn apart_width(most: u32, columns: u32, in_step: u32) -> u32 {
    let has_neighbours =
        |width: &u32| *width <= most && columns.div_ceil(*width) >= LEAST_NEIGHBOURS;
    let tiles = |width: &u32| Tiling::new(columns, *width, in_step).tiles;
    [2, 4, 8, 16].into_iter().filter(has_neighbours).min_by_key(tiles).unwrap_or(1)
}

/// Columns an item takes so that a sub-group is as few items as can be: up to `most`, a power of two that a vector may have.
pub fn shared_width(most: u32, columns: u32) -> u32 {
    columns.next_power_of_two().min(most).min(16)
}

/// Columns an item takes where they are apart and several sub-groups share a row: as few items as can be, but where
/// columns are many as without.
pub fn shared_apart_width(most: u32, columns: u32, in_step: u32) -> u32 {
    if columns > FEW_COLUMNS {
        apart_width(most, columns, in_step)
    } else {
        shared_width(most, columns)
    }
}

/// Columns an item takes of a copy of B whose rows end with whole vectors: up to `most`, a power of two, but so few
/// that at most a third is added.
pub fn padded_width(most: u32, columns: u32) -> u32 {
    let is_tight = |width: &u32| {
        3 * u64::from(columns).next_multiple_of(u64::from(*width)) <= 4 * u64::from(columns)
    };
    [16, 8, 4, 2].into_iter().filter(|width| *width <= most).find(is_tight).unwrap_or(1)
}

/// Columns an item takes where it loads them as two half vectors: up to `most`, a power of two, and more than half of
/// them are there.
pub fn halves_width(most: u32, columns: u32) -> u32 {
    let holds = |width: &u32| *width <= most && *width / 2 < columns.max(1);
    [16, 8, 4, 2].into_iter().find(holds).unwrap_or(1)
}

/// See [`apart_width`].
const LEAST_NEIGHBOURS: u32 = 6;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_are_equal_and_no_item_is_idle() {
        let tiling = |columns, width| Tiling::new(columns, width, 128);
        for (columns, width, sub_group, tile, tiles) in [
            (1, 1, 1, 1, 1),
            (3, 1, 3, 3, 1),
            (32, 4, 8, 32, 1),
            (33, 1, 33, 33, 1),
            (36, 4, 9, 36, 1),
            (100, 4, 25, 100, 1),
            (128, 4, 32, 128, 1),
            // Not 32 vectors and one: two tiles of 17.
            (132, 4, 17, 68, 2),
            (512, 4, 32, 128, 4),
            (100, 1, 50, 50, 2),
            (64, 2, 32, 64, 1),
        ] {
            let found = tiling(columns, width);
            let expected = Tiling {
                vector_width: width,
                sub_group_size: sub_group,
                sub_groups_per_row: 1,
                tile_width: tile,
                tiles,
            };
            assert_eq!(found, expected, "{columns} columns by {width}");
            assert!(found.tile_width * found.tiles >= columns);
            assert!(found.tile_width * (found.tiles - 1) < columns);
        }
    }

    #[test]
    fn sub_groups_lie_within_items_in_step() {
        for (columns, in_step) in (1..300).flat_map(|columns| [(columns, 8), (columns, 32)]) {
            let tiling = Tiling::new(columns, 4, in_step);
            assert!((1..=in_step).contains(&tiling.sub_group_size), "{columns}");
            assert_eq!(tiling.sub_group_size * 4, tiling.tile_width);
        }
    }

    #[test]
    fn a_device_is_idle_where_sub_groups_are_few() {
        let idle = |columns, sub_groups| Tiling::new(columns, 4, 128).idle(100, sub_groups);
        assert_eq!(idle(32, 16_000), 1.0);
        assert_eq!(idle(32, 8000), 2.0);
        assert_eq!(idle(64, 8000), 1.0);
        // Two tiles.
        assert_eq!(idle(256, 2000), 1.0);
        assert!(idle(32, 0).is_finite());
    }

    #[test]
    fn columns_apart_have_neighbours_and_padding_is_a_third_at_most() {
        for (columns, apart, padded) in [
            // Pairs would make two tiles, so that 32 items have work.
            (33, 4, 4),
            (31, 2, 4),
            (17, 2, 4),
            (11, 2, 4),
            (9, 1, 4),
            (8, 1, 4),
            (5, 1, 2),
            (3, 1, 4),
            (1, 1, 1),
            (2, 1, 2),
        ] {
            assert_eq!(apart_width(4, columns, 32), apart, "{columns}");
            assert_eq!(padded_width(4, columns), padded, "{columns}");
        }
        // Three sub-groups of 17 fit into 64 items.
        assert_eq!(apart_width(4, 33, 64), 2);
    }

    #[test]
    fn items_take_as_many_columns_as_a_vector_may_have() {
        let is_width = |width| [1, 2, 4, 8, 16].contains(&width);
        for (most, columns) in
            [1, 2, 4, 8, 16, 32].into_iter().flat_map(|most| (1..700).map(move |c| (most, c)))
        {
            assert!(is_width(shared_width(most, columns)), "{columns} columns, at most {most}");
            assert!(is_width(padded_width(most, columns)), "{columns} columns, at most {most}");
            assert!(is_width(halves_width(most, columns)), "{columns} columns, at most {most}");
            for in_step in [1, 2, 16, 32, 1024] {
                assert!(is_width(apart_width(most, columns, in_step)), "{columns}, {in_step}");
            }
        }
    }

    #[test]
    fn halves_hold_all_of_few_columns_and_more_than_half_of_them_are_there() {
        for (most, columns, width) in
            [(16, 1, 1), (16, 2, 2), (16, 3, 4), (16, 9, 16), (16, 33, 16), (8, 9, 8), (1, 3, 1)]
        {
            assert_eq!(halves_width(most, columns), width, "{columns} columns, at most {most}");
        }
    }

    #[test]
    fn vectors_divide_everything() {
        assert_eq!(vector_width(4, &[32, 32, 64, 0]), 4);
        assert_eq!(vector_width(4, &[32, 34, 64]), 2);
        assert_eq!(vector_width(16, &[32, 32]), 16);
        assert_eq!(vector_width(4, &[33, 33]), 1);
    }
}
