//! Packed lists of tasks: what a task has beyond the least of all, in as few bits as that takes (`cl/batched/find_task.h`).

use cl_kernels::batched::{FOLLOWS_ROWS, FOLLOWS_VALUES, TASK_WORDS, WIDTH_BITS};

/// Fields of a packed task; the first [`FIRST_FIELDS`] stand in its first word.
const FIELDS: usize = 8;
const FIRST_FIELDS: usize = 3;

/// Tasks in one word each, or two.
#[derive(Debug)]
pub(super) struct PackedTasks {
    pub(super) words_per_task: u32,
    pub(super) widths: u64,
    pub(super) follows: u32,
    /// The words of a task that has the least of everything.
    pub(super) least: [u64; TASK_WORDS],
    pub(super) words: Vec<u64>,
}

impl PackedTasks {
    /// Packs tasks that are whole problems; `None` where two words are too few, or where arrays do not keep in step: columns
    /// with values, and row offsets with rows or row indices with values.
    pub(super) fn new(tasks: &[[u64; TASK_WORDS]]) -> Option<Self> {
        let first = tasks.first()?;
        let column_lead = first[1].wrapping_sub(first[0]);
        let mut leads = [FOLLOWS_ROWS, FOLLOWS_VALUES, 0].map(|its| Some((its, lead(first, its))));
        let mut least = fields(first);
        let mut most = least;
        for task in tasks {
            if task[1].wrapping_sub(task[0]) != column_lead {
                return None;
            }
            for its in &mut leads {
                *its = its.filter(|&(follows, same)| lead(task, follows) == same);
            }
            for (field, value) in fields(task).into_iter().enumerate() {
                least[field] = least[field].min(value);
                most[field] = most[field].max(value);
            }
        }
        let (follows, index_lead) = leads.into_iter().flatten().next()?;
        let widths: [u32; FIELDS] =
            std::array::from_fn(|field| u64::BITS - (most[field] - least[field]).leading_zeros());
        let sum = |widths: &[u32]| widths.iter().sum::<u32>();
        if widths.iter().any(|&width| width >= 1 << WIDTH_BITS) {
            return None;
        }
        let words_per_task = match (sum(&widths[..FIRST_FIELDS]), sum(&widths[FIRST_FIELDS..])) {
            (of_first, of_second) if of_first + of_second <= u64::BITS => 1,
            (of_first, of_second) if of_first.max(of_second) <= u64::BITS => 2,
            _ => return None,
        };
        let mut words = Vec::with_capacity(tasks.len() * words_per_task as usize);
        for task in tasks {
            let beyond: [u64; FIELDS] = {
                let found = fields(task);
                std::array::from_fn(|field| (found[field] - least[field]) as u64)
            };
            let pack = |range: std::ops::Range<usize>, word: u64, at: u32| {
                range.fold((word, at), |(word, at), field| {
                    // A field without bits may stand behind the last.
                    let bits = beyond[field].checked_shl(at).unwrap_or(0);
                    (word | bits, at + widths[field])
                })
            };
            let (word, at) = pack(0..FIRST_FIELDS, 0, 0);
            if words_per_task == 1 {
                words.push(pack(FIRST_FIELDS..FIELDS, word, at).0);
            } else {
                words.extend([word, pack(FIRST_FIELDS..FIELDS, 0, 0).0]);
            }
        }
        let widths =
            widths.iter().rev().fold(0, |all, &width| all << WIDTH_BITS | u64::from(width));
        let least = least_task(&least, column_lead, (follows, index_lead));
        Some(PackedTasks { words_per_task, widths, follows, least, words })
    }
}

fn halves(word: u64) -> (i64, i64) {
    (i64::from(word as u32), (word >> 32) as i64)
}

/// A task's fields, in their order. Places are below 2^63: they are within arrays.
fn fields(task: &[u64; TASK_WORDS]) -> [i64; FIELDS] {
    let &[values, _, _, x, y, shape, lengths, kind] = task;
    let ((rows, cols), (nnz, _), (kind, problem)) = (halves(shape), halves(lengths), halves(kind));
    let (x, y) = (x as i64, y as i64);
    [values as i64, problem, kind, y, x - y, rows, cols - rows, nnz]
}

/// How far the place in offsets or indices is ahead of what it may follow.
fn lead(task: &[u64; TASK_WORDS], follows: u32) -> u64 {
    let followed = match follows {
        FOLLOWS_ROWS => task[4].wrapping_add(task[7] >> 32),
        FOLLOWS_VALUES => task[0],
        _ => 0,
    };
    task[2].wrapping_sub(followed)
}

fn least_task(
    least: &[i64; FIELDS],
    column_lead: u64,
    (follows, index_lead): (u32, u64),
) -> [u64; TASK_WORDS] {
    let [values, problem, kind, y, x_beyond, rows, cols_beyond, nnz] = least.map(|its| its as u64);
    let pair = |low: u64, high: u64| u64::from(low as u32) | high << 32;
    let mut task = [
        values,
        values.wrapping_add(column_lead),
        0,
        y.wrapping_add(x_beyond),
        y,
        pair(rows, rows.wrapping_add(cols_beyond)),
        nnz,
        pair(kind, problem),
    ];
    task[2] = index_lead.wrapping_sub(lead(&task, follows));
    task
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(values: u64, y: u64, rows: u64, problem: u64) -> [u64; TASK_WORDS] {
        [values, values + 5, y + problem + 9, y + 3, y, rows | (rows + 1) << 32, 7, problem << 32]
    }

    #[test]
    fn few_bits_are_one_word_and_the_least_of_all_is_apart() {
        let tasks = [task(100, 50, 4, 2), task(40, 60, 5, 0), task(90, 55, 4, 1)];
        let packed = PackedTasks::new(&tasks).unwrap();
        assert_eq!((packed.words_per_task, packed.words.len()), (1, 3));
        let widths: Vec<_> = (0..FIELDS).map(|field| packed.widths >> (5 * field) & 31).collect();
        assert_eq!(widths, [6, 2, 0, 4, 0, 1, 0, 0]);
        assert_eq!((packed.widths >> (5 * FIELDS), packed.follows), (0, FOLLOWS_ROWS));
        assert_eq!(packed.words, [60 | 2 << 6, 10 << 8 | 1 << 12, 50 | 1 << 6 | 5 << 8]);
        // The first place in the offsets is that of the least y and of problem 0.
        assert_eq!(packed.least, [40, 45, 59, 53, 50, 4 | 5 << 32, 7, 0]);
    }

    #[test]
    fn many_bits_are_two_words_and_more_are_not_packed() {
        let mut tasks = [task(0, 0, 1, 0), task(1 << 28, 1 << 29, 1 << 9, 1 << 20)];
        let packed = PackedTasks::new(&tasks).unwrap();
        assert_eq!(packed.words_per_task, 2);
        assert_eq!(packed.words[2..], [1 << 28 | 1 << (29 + 20), 1 << 29 | 511 << 30]);
        tasks[1][3] += 1 << 29;
        assert!(PackedTasks::new(&tasks).is_none(), "70 bits in the second word");
        let beyond = [task(0, 0, 1, 0), task(1 << 31, 0, 1, 1)];
        assert!(PackedTasks::new(&beyond).is_none(), "a field of 32 bits");
    }

    #[test]
    fn arrays_that_do_not_keep_in_step_are_not_packed() {
        let tasks = [task(0, 0, 1, 0), task(9, 1, 1, 1), task(20, 2, 1, 2)];
        let mut apart = tasks;
        apart[1][1] += 1;
        assert!(PackedTasks::new(&apart).is_none());
        let mut apart = tasks;
        apart[1][2] += 1;
        assert!(PackedTasks::new(&apart).is_none());
        let follows = |index: [u64; 3]| {
            let mut tasks = tasks;
            tasks.iter_mut().zip(index).for_each(|(task, index)| task[2] = index);
            let packed = PackedTasks::new(&tasks).unwrap();
            (packed.follows, packed.least[2])
        };
        assert_eq!(follows([100, 109, 120]), (FOLLOWS_VALUES, 100));
        assert_eq!(follows([8; 3]), (0, 8));
    }
}
