//! Small problems for batches: of the sizes that Anzt et al. (2017) publish of their 32 matrices, of order 1,024
//! with controlled density, and one that has a full row to put among tiny ones.

use crate::{Csr, Result, random_vector};

/// Orders of the published matrices.
const ORDERS: [f64; 2] = [11.0, 1015.0];
/// Mean nonzeros of their rows.
const MEANS: [f64; 2] = [3.0, 66.0];
/// Their fewest and most nonzeros.
const NONZEROS: [usize; 2] = [76, 38_352];
/// The order of problems of controlled density.
const ORDER: usize = 1024;

/// The `number`-th problem drawn from the ranges of the published 32: order, mean row and how unequal rows are.
///
/// # Errors
/// None in practice: the ranges fit every type.
pub fn drawn_problem(number: u64, seed: u64) -> Result<Csr<f64>> {
    // Between -1 and 1: order, mean, inequality.
    let drawn = random_vector::<f64>(seed.wrapping_mul(1009).wrapping_add(number), 3);
    let between =
        |range: [f64; 2], at: f64| range[0] * (range[1] / range[0]).powf((at + 1.0) / 2.0);
    let order = between(ORDERS, drawn[0]).round();
    let mean = between(MEANS, drawn[1]).min(order).min(NONZEROS[1] as f64 / order);
    let spread = (drawn[2] + 1.0) / 2.0;
    let order = order as usize;
    let lengths = spread_lengths(order, mean, spread, seed ^ number);
    from_lengths(order, &into_range(lengths, NONZEROS), seed)
}

/// Lengths of rows with about this mean: a few have most where the spread is near 1, all have the same where it is 0.
fn spread_lengths(order: usize, mean: f64, spread: f64, seed: u64) -> Vec<usize> {
    let weights = random_vector::<f64>(seed, order);
    let length = |weight: &f64| {
        let weight = (1.0 - spread) + spread * 4.0 * ((weight + 1.0) / 2.0).powi(3);
        ((mean * weight).round() as usize).clamp(1, order)
    };
    weights.iter().map(length).collect()
}

/// Rows with a nonzero more or less, those that can one after another, until all of them have as many as `range` says.
fn into_range(mut lengths: Vec<usize>, [least, most]: [usize; 2]) -> Vec<usize> {
    let order = lengths.len();
    let mut nnz: usize = lengths.iter().sum();
    for row in (0..order).cycle() {
        if nnz < least && lengths[row] < order {
            lengths[row] += 1;
            nnz += 1;
        } else if nnz > most && lengths[row] > 1 {
            lengths[row] -= 1;
            nnz -= 1;
        } else if (least..=most).contains(&nnz) {
            break;
        }
    }
    lengths
}

/// A likeness of one of the 32 matrices of Anzt et al. (2017).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SmallProblem {
    /// The matrix's name in the SuiteSparse collection.
    pub name: &'static str,
    /// Rows and columns.
    pub order: usize,
    /// Nonzeros: of 16 that files were at hand of, the files'; of the others, of which none was, not checked. At most the
    /// largest that the paper tells (38,352, and 66 a row), so mbeacxc has fewer than its file (49,920).
    pub nnz: usize,
    /// How unequal the rows are, from 0 to 1; chosen.
    spread: f64,
}

const fn small(name: &'static str, order: usize, nnz: usize, spread: f64) -> SmallProblem {
    SmallProblem { name, order, nnz, spread }
}

/// The 32, in the order in which the paper lists them.
pub const SMALL_PROBLEMS: [SmallProblem; 32] = [
    small("pivtol", 102, 306, 0.3),
    small("tomography", 500, 28_726, 0.6),
    small("west0989", 989, 3_518, 0.4),
    small("G45", 1000, 19_980, 0.2),
    small("GD02_a", 23, 87, 0.6),
    small("Si2", 769, 17_801, 0.5),
    small("ck656", 656, 3_884, 0.1),
    small("ex25", 848, 24_369, 0.5),
    small("jgl011", 11, 76, 0.3),
    small("lock_700", 700, 22_175, 0.3),
    small("fs_541_1", 541, 4_282, 0.3),
    small("mbeacxc", 496, 32_736, 0.8),
    small("dwt_918", 918, 7_384, 0.1),
    small("mcfe", 765, 24_382, 0.7),
    small("dwt_607", 607, 5_131, 0.1),
    small("rbsa480", 480, 17_088, 0.4),
    small("gr_30_30", 900, 7_744, 0.0),
    small("bcsstk34", 588, 21_418, 0.4),
    small("cage8", 1015, 11_003, 0.3),
    small("ex27", 974, 38_352, 0.5),
    small("can_838", 838, 10_010, 0.3),
    small("bcsstm34", 588, 24_270, 0.5),
    small("USAir97", 332, 4_252, 1.0),
    small("bp_1600", 822, 4_841, 1.0),
    small("rotor2", 791, 10_685, 0.4),
    small("msc00726", 726, 34_518, 0.5),
    small("nos3", 960, 15_844, 0.0),
    small("G2", 800, 38_352, 0.1),
    small("dwt_992", 992, 16_744, 0.0),
    small("ex2", 441, 26_839, 0.4),
    small("tols90", 90, 1_746, 1.0),
    small("bcsstk02", 66, 4_356, 0.0),
];

impl SmallProblem {
    /// The problem of a name, in any case, also with `-like` after it.
    pub fn named(name: &str) -> Option<&'static SmallProblem> {
        let is_it = |one: &&SmallProblem| {
            one.name.eq_ignore_ascii_case(name) || one.display_name().eq_ignore_ascii_case(name)
        };
        SMALL_PROBLEMS.iter().find(is_it)
    }

    /// What output calls it.
    pub fn display_name(&self) -> String {
        format!("{}-like", self.name)
    }

    /// Makes it: exactly as many nonzeros, in rows that are as unequal as is said.
    ///
    /// # Errors
    /// None in practice: the sizes fit every type.
    pub fn generate(&self, seed: u64) -> Result<Csr<f64>> {
        let SmallProblem { order, nnz, .. } = *self;
        let lengths = spread_lengths(order, nnz as f64 / order as f64, self.spread, seed);
        from_lengths(order, &into_range(lengths, [nnz, nnz]), seed)
    }
}

/// A problem of order 1,024 with `mean` nonzeros a row: the same in each, or heaped in as few rows as hold them.
///
/// # Errors
/// None in practice: the sizes fit every type.
pub fn dense_problem(mean: usize, is_heaped: bool, seed: u64) -> Result<Csr<f64>> {
    let mut lengths = vec![mean.min(ORDER); ORDER];
    if is_heaped {
        lengths.fill(0);
        let every = ORDER / mean.clamp(1, ORDER);
        lengths.iter_mut().step_by(every).take(mean).for_each(|length| *length = ORDER);
    }
    from_lengths(ORDER, &lengths, seed)
}

/// A problem as small as the smallest of the published 32: order 11, 76 nonzeros.
///
/// # Errors
/// None in practice: the sizes fit every type.
pub fn tiny_problem(seed: u64) -> Result<Csr<f64>> {
    let mut lengths = [7; 11];
    lengths[5] = 6;
    from_lengths(11, &lengths, seed)
}

/// A problem of order 1,024 with one full row, and one nonzero in each other.
///
/// # Errors
/// None in practice: the sizes fit every type.
pub fn dense_row_problem(seed: u64) -> Result<Csr<f64>> {
    let mut lengths = vec![1; ORDER];
    lengths[ORDER / 2] = ORDER;
    from_lengths(ORDER, &lengths, seed)
}

/// A row has one column, drawn at random, of each of as many equal parts of the columns as it has nonzeros.
fn from_lengths(order: usize, lengths: &[usize], seed: u64) -> Result<Csr<f64>> {
    let nnz = lengths.iter().sum();
    // Between -1 and 1: a position in its part.
    let positions = random_vector::<f64>(seed.wrapping_add(1), nnz);
    let mut offsets = vec![0u32];
    let mut columns = Vec::with_capacity(nnz);
    for &length in lengths {
        for part in 0..length {
            let (first, end) = (part * order / length, (part + 1) * order / length);
            let position = (positions[columns.len()] + 1.0) / 2.0;
            let column = first + (position * (end - first) as f64) as usize;
            columns.push(column.min(end - 1) as u32);
        }
        offsets.push(columns.len() as u32);
    }
    let values = random_vector(seed, nnz);
    Csr::new(order, offsets, columns, values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawn_problems_keep_the_published_ranges() {
        let problems: Vec<_> = (0..320).map(|number| drawn_problem(number, 1).unwrap()).collect();
        for problem in &problems {
            let (order, nnz) = (problem.rows(), problem.nnz());
            assert!((11..=1015).contains(&order), "{order}");
            assert!((76..=38_352).contains(&nnz) && nnz >= order, "{order} {nnz}");
        }
        assert!(problems.iter().any(|problem| problem.rows() < 60));
        assert!(problems.iter().any(|problem| problem.rows() > 600));
        assert_eq!(drawn_problem(5, 1).unwrap(), problems[5]);
    }

    #[test]
    fn the_32_have_their_sizes_and_keep_the_published_ranges() {
        for one in &SMALL_PROBLEMS {
            let problem = one.generate(1).unwrap();
            assert_eq!((problem.rows(), problem.nnz()), (one.order, one.nnz), "{}", one.name);
            assert!((11..=1015).contains(&one.order) && (76..=38_352).contains(&one.nnz));
            let mean = one.nnz as f64 / one.order as f64;
            assert!((3.0..=66.0).contains(&mean), "{}: {mean}", one.name);
        }
        // The paper's Figure 3 is of those of order 800 to 1,024, twelve of them.
        let large = SMALL_PROBLEMS.iter().filter(|one| one.order >= 800);
        assert_eq!(large.count(), 12);
        assert_eq!(SmallProblem::named("NOS3-like").unwrap().name, "nos3");
        // Balanced ones are so.
        let balanced = SmallProblem::named("gr_30_30").unwrap().generate(1).unwrap();
        let longest = (0..900).map(|row| balanced.view().pattern().row_len(row)).max();
        assert!(longest <= Some(10), "{longest:?}");
    }

    #[test]
    fn tiny_problems_and_one_with_a_full_row() {
        let (tiny, dense) = (tiny_problem(1).unwrap(), dense_row_problem(1).unwrap());
        assert_eq!((tiny.rows(), tiny.nnz()), (11, 76));
        let lengths = |row| dense.view().pattern().row_len(row);
        assert_eq!((dense.rows(), dense.nnz(), lengths(512)), (1024, 2047, 1024));
    }

    #[test]
    fn density_is_what_was_asked_for_balanced_or_heaped() {
        for mean in [1, 4, 64] {
            let balanced = dense_problem(mean, false, 1).unwrap();
            let heaped = dense_problem(mean, true, 1).unwrap();
            assert_eq!((balanced.nnz(), heaped.nnz()), (1024 * mean, 1024 * mean));
            let rows = |problem: &Csr<f64>| {
                (0..1024).filter(|&row| problem.view().pattern().row_len(row) > 0).count()
            };
            assert_eq!((rows(&balanced), rows(&heaped)), (1024, mean));
        }
    }
}
