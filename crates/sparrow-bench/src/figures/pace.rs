//! How long a run of a figure takes: what is expected beforehand, and whether what is left fits the time there is.

use std::time::Duration;

/// What is measured on one matrix.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Work {
    /// Its nonzeros, as far as they are known.
    pub nnz: u64,
    /// Timed results on it, of all value types.
    pub results: usize,
    /// Programs that are built for it: of the first matrix, one a result.
    pub programs: usize,
    /// Products that are launched at least.
    pub products: usize,
    /// Results of a product with a vector that are computed on the host and compared with.
    pub oracles: usize,
    /// Orders of its rows that are found, and copies in them.
    pub orders: usize,
    /// Whether no scale makes its nonzeros less: those of a file.
    pub is_fixed: bool,
}

impl Work {
    /// So many results by products with a matrix of so many nonzeros, each verified by itself; on the first matrix of a run
    /// programs are built.
    pub fn of_results(nnz: u64, results: usize, is_first: bool) -> Self {
        /// Products of a result: some to warm up, and a sample each.
        const PRODUCTS: usize = 8;
        let programs = if is_first { results } else { 0 };
        let products = PRODUCTS * results;
        Work { nnz, results, programs, products, oracles: results, orders: 0, is_fixed: false }
    }

    /// Oracles that take as long as holding so many columns of C, of all algorithms together, against the right ones.
    pub fn oracles_of_columns(columns: usize) -> usize {
        /// Columns that take no longer than a vector, since A is read once for them.
        const COLUMNS: usize = 8;
        columns.div_ceil(COLUMNS)
    }
}

/// Seconds of a result on a small matrix: samples and set-ups. Measured on two cores with PoCL and Intel's runtime, as all
/// that follows.
const RESULT_S: f64 = 0.2;
/// Seconds of a program.
const PROGRAM_S: f64 = 0.7;
/// Seconds of a product a nonzero, on two cores by a kernel made for GPUs; on a GPU it is next to nothing.
const PRODUCT_S: f64 = 10e-9;
/// Seconds of an oracle a nonzero, on one core.
const ORACLE_S: f64 = 100e-9;
/// Seconds a nonzero of finding an order of rows, which is one thread's work on every host, and of a copy in it.
const ORDER_S: f64 = 180e-9;
/// Seconds a nonzero of making a matrix, on one core.
const MAKING_S: f64 = 150e-9;
/// Beyond so many, cores do not help.
const MOST_CORES: usize = 16;

/// The pace of a run: what was expected of the work that is done, and what it took.
#[derive(Clone, Debug)]
pub struct Pace {
    cores: f64,
    is_gpu: bool,
    expected_s: f64,
    taken_s: f64,
}

impl Pace {
    /// Before anything is done, on a host of so many cores, which is the device too if that is no GPU.
    pub fn new(cores: usize, is_gpu: bool) -> Self {
        let cores = cores.clamp(1, MOST_CORES) as f64;
        Pace { cores, is_gpu, expected_s: 0.0, taken_s: 0.0 }
    }

    /// What a part of the work should take, by what was done so far.
    pub fn expected(&self, work: &Work) -> Duration {
        // Until enough was done, what was measured elsewhere counts for ten seconds.
        let ratio = (self.taken_s + 10.0) / (self.expected_s + 10.0);
        Duration::from_secs_f64(self.seconds(work) * ratio)
    }

    /// How much of that is for building programs, which most runtimes keep for the next run.
    pub fn building(&self, work: &Work) -> Duration {
        self.expected(&Work { programs: work.programs, ..Work::default() })
    }

    /// Takes in what a part of the work took.
    pub fn done(&mut self, work: &Work, taken: Duration) {
        self.expected_s += self.seconds(work);
        self.taken_s += taken.as_secs_f64();
    }

    fn seconds(&self, work: &Work) -> f64 {
        self.fixed(work) + self.of_nonzeros(work)
    }

    fn fixed(&self, work: &Work) -> f64 {
        work.results as f64 * RESULT_S + work.programs as f64 * PROGRAM_S
    }

    fn of_nonzeros(&self, work: &Work) -> f64 {
        let products = work.products as f64 * 2.0 * if self.is_gpu { 0.0 } else { PRODUCT_S };
        let oracles = work.oracles as f64 * ORACLE_S;
        let of_one_core = work.orders as f64 * ORDER_S;
        work.nnz as f64 * ((MAKING_S + products + oracles) / self.cores + of_one_core)
    }

    /// The largest of some scales at which all work fits into the time; `work` says what a scale takes. Where what no
    /// scale makes less takes more than half of the time, half of it is for nonzeros: then not all matrices have their
    /// turn, but those that have are worth looking at.
    pub fn scale(&self, time: Duration, work: impl Fn(f64) -> Vec<Work>) -> f64 {
        const SCALES: [f64; 10] = [1.0, 0.5, 0.25, 0.1, 0.05, 0.025, 0.01, 0.005, 0.0025, 0.001];
        let fits = |scale: &f64| {
            let work = work(*scale);
            let of_nonzeros = |is_fixed: bool| -> f64 {
                let own = work.iter().filter(|one| one.is_fixed == is_fixed);
                own.map(|one| self.of_nonzeros(one)).sum()
            };
            let fixed = work.iter().map(|one| self.fixed(one)).sum::<f64>() + of_nonzeros(true);
            let of_nonzeros = of_nonzeros(false);
            of_nonzeros <= (time.as_secs_f64() - fixed).max(time.as_secs_f64() / 2.0)
        };
        SCALES.into_iter().find(fits).unwrap_or(SCALES[SCALES.len() - 1])
    }
}

/// The indices of so many parts of the work in an order of which every beginning is spread over all: the first, the last, the
/// middle, the quarters, and so on. What does not fit a budget is then never all of one end.
pub fn spread(count: usize) -> Vec<usize> {
    let mut order = Vec::with_capacity(count);
    let mut is_taken = vec![false; count];
    let mut parts = 1;
    while order.len() < count {
        for part in 0..=parts {
            let index = part * (count - 1) / parts;
            if !std::mem::replace(&mut is_taken[index], true) {
                order.push(index);
            }
        }
        parts *= 2;
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_beginning_of_a_spread_order_is_spread_over_all() {
        assert_eq!(spread(9), [0, 8, 4, 2, 6, 1, 3, 5, 7]);
        assert_eq!(spread(4), [0, 3, 1, 2]);
        assert_eq!((spread(0), spread(1)), (vec![], vec![0]));
        let mut all = spread(100);
        all.sort_unstable();
        assert_eq!(all, (0..100).collect::<Vec<_>>());
    }

    const SMALL: Work = Work {
        nnz: 1000,
        results: 10,
        programs: 0,
        products: 80,
        oracles: 10,
        orders: 0,
        is_fixed: false,
    };

    #[test]
    fn work_is_expected_to_take_what_work_took_so_far() {
        let mut pace = Pace::new(2, false);
        let before = pace.expected(&SMALL);
        for _ in 0..100 {
            pace.done(&SMALL, 3 * before);
        }
        let ratio = pace.expected(&SMALL).as_secs_f64() / before.as_secs_f64();
        assert!((2.5..3.0).contains(&ratio), "{ratio}");
    }

    #[test]
    fn columns_of_a_dense_matrix_take_less_than_as_many_vectors() {
        let of = |oracles| Work { nnz: 4 << 20, results: 4, oracles, ..Work::default() };
        let pace = Pace::new(16, true);
        let (together, alone) =
            (pace.expected(&of(Work::oracles_of_columns(64))), pace.expected(&of(64)));
        assert!(2 * together < alone, "{together:?}, {alone:?}");
        assert_eq!(Work::oracles_of_columns(1), 1);
    }

    #[test]
    fn orders_take_as_long_on_many_cores() {
        let of = |orders| Work { nnz: 10_000_000, results: 1, orders, ..Work::default() };
        let longer = |cores| {
            let pace = Pace::new(cores, true);
            pace.expected(&of(4)).saturating_sub(pace.expected(&of(0)))
        };
        assert_eq!(longer(2), longer(16));
        assert!(longer(16) > Duration::from_secs(4), "{:?}", longer(16));
    }

    #[test]
    fn a_file_takes_its_time_at_every_scale_and_makes_nothing_else_tiny() {
        let pace = Pace::new(2, false);
        let work = |scale: f64| {
            let file = Work { nnz: 100_000_000, results: 2, products: 20, ..Work::default() };
            let class = Work { nnz: (1e7 * scale) as u64, ..file };
            vec![Work { is_fixed: true, ..file }, class]
        };
        assert!(pace.scale(Duration::from_secs(60), work) >= 0.5);
    }

    #[test]
    fn the_scale_is_the_largest_at_which_all_fits() {
        let pace = Pace::new(2, false);
        let work = |scale: f64| {
            let nnz = (1e9 * scale) as u64;
            vec![Work { nnz, results: 2, products: 20, ..Work::default() }; 3]
        };
        let time = Duration::from_secs(120);
        let scale = pace.scale(time, work);
        let all = |scale: f64| work(scale).iter().map(|w| pace.expected(w)).sum::<Duration>();
        assert!(all(scale) <= time && all(2.5 * scale) > time, "{scale}");
        // Nothing fits into no time: the smallest then.
        assert_eq!(pace.scale(Duration::ZERO, work), 0.001);
    }
}
