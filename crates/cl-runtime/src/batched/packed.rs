//! Packed lists of tasks: their fields in as few bits as these take (`cl/batched/find_task.h`).

use std::array;

use cl_kernels::batched::{
    FOLLOWS_NOTHING, FOLLOWS_ROWS, FOLLOWS_VALUES, GROUPS_BIT, TASK_WORDS, WIDTH_BITS,
};

/// Fields of a packed task, in the order in which the kernel takes them: first those that are counted from 0.
const COUNTED: usize = 6;
/// Then those that are mostly the same for all tasks, and counted from the least of all.
const LEADS: usize = 4;
const FIELDS: usize = COUNTED + LEADS;
/// Fields that stand in one word together: so many, one behind the other.
const GROUPS: [usize; 5] = [3, 3, 2, 1, 1];
/// Groups of those that are counted from 0.
const COUNTED_GROUPS: usize = 2;
/// Fields that the kernel takes as 32-bit numbers, of which it can mask 31.
const SHORT: [usize; 5] = [1, 2, 4, 5, 7];

/// What the last field, the place in offsets or indices, may be counted from: the first of those that make it shortest.
const FOLLOWED: [u32; 3] = [FOLLOWS_ROWS, FOLLOWS_VALUES, FOLLOWS_NOTHING];
/// The other leads, and that place counted from each of these.
const FOUND: usize = LEADS - 1 + FOLLOWED.len();

/// Tasks in as few words each as their fields fit in.
#[derive(Debug)]
pub(super) struct PackedTasks {
    pub(super) words_per_task: u32,
    pub(super) widths: u64,
    pub(super) follows: u32,
    /// The words of a task that has 0 and the least of everything.
    pub(super) least: [u64; TASK_WORDS],
    pub(super) words: Vec<u64>,
}

impl PackedTasks {
    /// Packs tasks that are whole problems; `None` where there is none, or where fields have more bits than the kernel
    /// takes.
    pub(super) fn new(tasks: impl Iterator<Item = [u64; TASK_WORDS]> + Clone) -> Option<Self> {
        let first = leads(&tasks.clone().next()?);
        let mut bits = [0; COUNTED];
        let mut apart = [0; FOUND];
        tasks.clone().for_each(|task| {
            let (counted, leads) = (counted(&task), leads(&task));
            bits = array::from_fn(|at| bits[at] | counted[at]);
            apart = array::from_fn(|at| apart[at] | leads[at] ^ first[at]);
        });
        // A lead that all tasks share has no bits; of another the least and the most are to be found.
        let spread = |at: usize| {
            let mut ends = (first[at], first[at]);
            if apart[at] != 0 {
                let all = tasks.clone().map(|task| leads(&task)[at]);
                ends = all.fold(ends, |(least, most), its| (least.min(its), most.max(its)));
            }
            (ends.0, bits_of((ends.1 - ends.0) as u64))
        };
        let places = FOLLOWED.into_iter().zip(LEADS - 1..);
        let shared = places.clone().find(|&(_, at)| apart[at] == 0);
        let (follows, place) = shared.or_else(|| places.min_by_key(|&(_, at)| spread(at).1))?;
        let spreads = [spread(0), spread(1), spread(2), spread(place)];
        let widths: [u32; FIELDS] = array::from_fn(|at| match at.checked_sub(COUNTED) {
            None => bits_of(bits[at]),
            Some(lead) => spreads[lead].1,
        });
        let Layout { begins, words } = Layout::new(&widths)?;
        let groups = if widths[COUNTED..] == [0; LEADS] { COUNTED_GROUPS } else { GROUPS.len() };
        let mut packed = Vec::with_capacity(tasks.size_hint().0 * words);
        tasks.for_each(|task| {
            let ([values, problem, kind, y, rows, nnz], leads) = (counted(&task), leads(&task));
            let beyond = |lead: usize, at: usize| (leads[at] - spreads[lead].0) as u64;
            let its_groups = [
                values | problem << widths[0] | kind << (widths[0] + widths[1]),
                y | rows << widths[3] | nnz << (widths[3] + widths[4]),
                beyond(0, 0) | beyond(1, 1) << widths[6],
                beyond(2, 2),
                beyond(3, place),
            ];
            let mut word = 0;
            for (&begin, group) in begins.iter().zip(its_groups).take(groups) {
                match begin {
                    Begin::NextWord => packed.push(std::mem::replace(&mut word, group)),
                    Begin::Bit(bit) => word |= group << bit,
                }
            }
            packed.push(word);
        });
        Some(PackedTasks {
            words_per_task: words as u32,
            widths: all_widths(&widths, &begins),
            follows,
            least: least_task(spreads.map(|(least, _)| least)),
            words: packed,
        })
    }
}

fn bits_of(number: u64) -> u32 {
    u64::BITS - number.leading_zeros()
}

/// Where a group of fields begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Begin {
    NextWord,
    Bit(u32),
}

struct Layout {
    begins: [Begin; GROUPS.len()],
    words: usize,
}

impl Layout {
    /// A group that has no room in a word begins the next; one that has none there either cannot be packed.
    fn new(widths: &[u32; FIELDS]) -> Option<Self> {
        if SHORT.iter().any(|&field| widths[field] >= u32::BITS) {
            return None;
        }
        let (mut words, mut end, mut first) = (1, 0, 0);
        let mut begins = [Begin::Bit(0); GROUPS.len()];
        for (begin, fields) in begins.iter_mut().zip(GROUPS) {
            let width: u32 = widths[first..first + fields].iter().sum();
            first += fields;
            // The kernel masks 63 bits of a field at most.
            if width >= u64::BITS {
                return None;
            }
            *begin = if end + width < u64::BITS { Begin::Bit(end) } else { Begin::NextWord };
            if *begin == Begin::NextWord {
                (words, end) = (words + 1, 0);
            }
            end += width;
        }
        Some(Layout { begins, words })
    }
}

/// The widths as the kernel wants them, and which groups begin a word.
fn all_widths(widths: &[u32; FIELDS], begins: &[Begin; GROUPS.len()]) -> u64 {
    let next_words = begins.iter().enumerate().filter(|(_, begin)| **begin == Begin::NextWord);
    let groups: u64 = next_words.map(|(group, _)| 1 << (GROUPS_BIT as usize + group - 1)).sum();
    widths.iter().rev().fold(0, |all, &its| all << WIDTH_BITS | u64::from(its)) | groups
}

#[inline]
fn halves(word: u64) -> (u64, u64) {
    (word & u64::from(u32::MAX), word >> 32)
}

/// Fields that are counted from 0.
#[inline]
fn counted(task: &[u64; TASK_WORDS]) -> [u64; COUNTED] {
    let &[values, _, _, _, y, shape, lengths, kind] = task;
    let ((kind, problem), (rows, _), (nnz, _)) = (halves(kind), halves(shape), halves(lengths));
    [values, problem, kind, y, rows, nnz]
}

/// How far x is beyond y, columns beyond rows, the place in `columns` beyond that in `values`, and that in offsets or
/// indices beyond each of [`FOLLOWED`]. Places are below 2^63: they are within arrays.
#[inline]
fn leads(task: &[u64; TASK_WORDS]) -> [i64; FOUND] {
    let &[values, columns, index, x, y, shape, _, kind] = task;
    let ((_, problem), (rows, cols)) = (halves(kind), halves(shape));
    let ahead = |of: u64, other: u64| of.wrapping_sub(other) as i64;
    [
        ahead(x, y),
        ahead(cols, rows),
        ahead(columns, values),
        ahead(index, y + problem),
        ahead(index, values),
        index as i64,
    ]
}

/// The words of a task that has these leads and else nothing.
fn least_task([x, cols, columns, index]: [i64; LEADS]) -> [u64; TASK_WORDS] {
    [0, columns as u64, index as u64, x as u64, 0, (cols as u64) << 32, 0, 0]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(values: u64, y: u64, rows: u64, problem: u64) -> [u64; TASK_WORDS] {
        [values, values + 5, y + problem + 9, y + 3, y, rows | (rows + 1) << 32, 7, problem << 32]
    }

    fn packed(tasks: &[[u64; TASK_WORDS]]) -> PackedTasks {
        PackedTasks::new(tasks.iter().copied()).unwrap()
    }

    /// The tasks as the kernel finds them (`cl/batched/find_task.h`).
    fn unpacked(packed: &PackedTasks) -> Vec<[u64; TASK_WORDS]> {
        let mut tasks = Vec::new();
        for words in packed.words.chunks(packed.words_per_task as usize) {
            let (mut words, mut word, mut field) = (words.iter(), 0, 0);
            let mut take = || {
                let begins =
                    GROUPS.iter().scan(0, |sum, its| Some(std::mem::replace(sum, *sum + its)));
                let group = begins.take_while(|&begin| begin <= field).collect::<Vec<_>>();
                let is_first = group.last() == Some(&field);
                let group = group.len() as u32 - 1;
                if is_first && (group == 0 || packed.widths >> (60 + group - 1) & 1 == 1) {
                    word = *words.next().unwrap();
                }
                let width = packed.widths >> (6 * field) & 63;
                field += 1;
                let bits = word & ((1 << width) - 1);
                word >>= width;
                bits
            };
            let [values, problem, kind, y, rows, nnz] = array::from_fn(|_| take());
            let [x, cols, columns, index] = array::from_fn(|_| take());
            assert!(words.next().is_none());
            let followed = match packed.follows {
                FOLLOWS_ROWS => y + problem,
                FOLLOWS_VALUES => values,
                _ => 0,
            };
            let least = &packed.least;
            let cols = ((least[5] >> 32) as u32).wrapping_add((cols + rows) as u32);
            tasks.push([
                values,
                least[1].wrapping_add(values + columns),
                least[2].wrapping_add(index + followed),
                least[3].wrapping_add(x + y),
                y,
                rows | u64::from(cols) << 32,
                nnz,
                kind | problem << 32,
            ]);
        }
        tasks
    }

    #[test]
    fn few_bits_are_one_word_and_what_all_tasks_share_has_none() {
        let tasks = [task(100, 50, 4, 2), task(40, 60, 5, 0), task(90, 55, 4, 1)];
        let packed = packed(&tasks);
        assert_eq!((packed.words_per_task, packed.words.len()), (1, 3));
        let widths: Vec<_> = (0..FIELDS).map(|field| packed.widths >> (6 * field) & 63).collect();
        assert_eq!(widths, [7, 2, 0, 6, 3, 3, 0, 0, 0, 0]);
        assert_eq!((packed.widths >> GROUPS_BIT, packed.follows), (0, FOLLOWS_ROWS));
        let [y, rows, nnz] = [9, 15, 18];
        assert_eq!(packed.words[0], 100 | 2 << 7 | 50 << y | 4 << rows | 7 << nnz);
        assert_eq!(packed.least, [0, 5, 9, 3, 0, 1 << 32, 0, 0]);
        assert_eq!(unpacked(&packed), tasks);
    }

    #[test]
    fn a_group_that_has_no_room_in_a_word_begins_the_next() {
        let mut tasks = [task(0, 0, 1, 0), task(1 << 28, 1 << 29, 1 << 9, 1 << 20)];
        let two = packed(&tasks);
        assert_eq!((two.words_per_task, two.widths >> GROUPS_BIT), (2, 1));
        assert_eq!(two.words[2..], [1 << 28 | 1 << (29 + 20), 1 << 29 | 512 << 30 | 7 << 40]);
        assert_eq!(unpacked(&two), tasks);
        tasks[1][3] += 1 << 29;
        let three = packed(&tasks);
        assert_eq!((three.words_per_task, three.widths >> GROUPS_BIT), (3, 3));
        assert_eq!(unpacked(&three), tasks);
        let beyond = [task(0, 0, 1, 0), task(1 << 40, 0, 1, 1)];
        assert_eq!(unpacked(&packed(&beyond)), beyond);
        let far = 1u64 << 44;
        let all_apart = [[far, 5, 3, 0, far, 1, 0, 2], [3, far, far, far, 0, 1 << 36, 9, 7 << 32]];
        let five = packed(&all_apart);
        assert_eq!((five.words_per_task, five.widths >> GROUPS_BIT), (5, 15));
        assert_eq!(unpacked(&five), all_apart);
    }

    #[test]
    fn arrays_that_do_not_keep_in_step_take_their_bits() {
        let tasks = [task(0, 0, 1, 0), task(9, 1, 1, 1), task(20, 2, 1, 2)];
        for word in [1, 2, 3] {
            let mut apart = tasks;
            apart[0][word] += 40;
            apart[1][word] += 1;
            let packed = packed(&apart);
            assert_eq!((packed.words_per_task, unpacked(&packed)), (1, apart.to_vec()), "{word}");
        }
        let follows = |index: [u64; 3]| {
            let mut tasks = tasks;
            tasks.iter_mut().zip(index).for_each(|(task, index)| task[2] = index);
            let packed = packed(&tasks);
            assert_eq!(unpacked(&packed), tasks);
            (packed.follows, packed.least[2])
        };
        assert_eq!(follows([100, 109, 120]), (FOLLOWS_VALUES, 100));
        assert_eq!(follows([8; 3]), (FOLLOWS_NOTHING, 8));
    }

    #[test]
    fn nothing_and_more_bits_than_the_kernel_takes_are_not_packed() {
        assert!(PackedTasks::new([].into_iter()).is_none());
        let not_packed = |task| PackedTasks::new([[0; TASK_WORDS], task].into_iter()).is_none();
        assert!(not_packed([0, 0, 0, 0, 0, 0, 1 << 31, 0]), "nonzeros of 32 bits");
        assert!(not_packed([1 << 45, 0, 0, 0, 0, 0, 0, 1 << (32 + 19)]), "66 bits in a word");
    }
}
