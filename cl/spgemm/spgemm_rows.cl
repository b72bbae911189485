// Sorts rows of C = A B into classes: by the most products they may take and how far apart their columns lie, before
// C's columns are looked for; by their entries, before C's values are. Then lists the rows of each class.
//
// The classes of rows, the first that fits (P products, S words of 32 columns from the first to the last):
//
//   0 empty      P = 0
//   1 tiny       P <= TINY             spgemm_tiny.cl, an item or a few a row
//   2 short      P <= SHORT            the same with capacity for more
//   3 near       S <= NEAR, P <= 2 NEAR  spgemm_bitmap.cl, a small group a row
//   4 few        P <= FEW              spgemm_hash.cl, a small group a row
//   5 middle     S <= MIDDLE           spgemm_bitmap.cl
//   6 scattered  P <= SCATTERED        spgemm_hash.cl
//   7 wide       all others            spgemm_bitmap.cl, a large group a row, window after window
//   8 long       of 5 and 7, where a group would work for too long: spgemm_long.cl, all groups together
//
// How long a group works is counted in products: P, and for each of its windows (W of them) what it takes to look at
// each entry of A's row, 16 products, and to begin and end, LEAST_LONG / 16. Long is what takes more than LEAST_LONG and
// more than one of `unit_shares` parts of a compute unit's share of all products, as many as they would be if each entry of
// A named a row of B of mean length: where all rows are as long as that, there are groups enough. A row of A whose
// entries alone are that many is long without being looked at.
//
// The classes of C's rows (n entries), for spgemm_values.cl: 0 done (the first three above), 1 n <= SMALL_OUTPUTS,
// 2 n <= MIDDLE_OUTPUTS, 3 all others, WINDOW_OUTPUTS at a time. Class 4, crowded, are those of 3 whose row of A has
// CROWDED entries or more: spgemm_parts.cl.
//
// Lists are in the order in which groups arrive. No bit of C depends on it: a row is computed by itself.

#ifndef GROUP_SIZE
#define GROUP_SIZE 256 // items of a work-group: a power of two
#endif
#ifndef TINY
#define TINY 16 // products of a tiny row, at most
#endif
#ifndef SHORT
#define SHORT 64 // products of a short row, at most
#endif
#ifndef FEW
#define FEW 256 // products of a row whose columns a small group hashes, at most
#endif
#ifndef SCATTERED
#define SCATTERED 2048 // products of a row whose columns a group hashes, at most
#endif
#ifndef NEAR
#define NEAR 512 // words of a small group's bitmap
#endif
#ifndef MIDDLE
#define MIDDLE 2048 // words of a group's bitmap
#endif
#ifndef WIDE
#define WIDE 8192 // words of a large group's bitmap
#endif
#ifndef LEAST_LONG
#define LEAST_LONG 65536 // what a row takes, in products, before it may be long
#endif
#ifndef SMALL_OUTPUTS
#define SMALL_OUTPUTS 128 // entries of C's row that a small group sums, at most
#endif
#ifndef MIDDLE_OUTPUTS
#define MIDDLE_OUTPUTS 512 // the same of a group
#endif
#ifndef WINDOW_OUTPUTS
#define WINDOW_OUTPUTS 1024 // entries of longer rows that a group sums at a time
#endif

#ifndef CROWDED
#define CROWDED 8192 // entries of A's row whose parts in windows of C's row may be sorted, at least
#endif

#include "item/scalar.h"

#define CLASSES 9
#define OUTPUT_CLASSES 5
#define ROW_ITEMS (GROUP_SIZE < 8 ? GROUP_SIZE : 8) // items that look at a row
#define GROUP_ROWS (GROUP_SIZE / ROW_ITEMS)
#define LONG_ROW 1024 // entries of a row that all items of the group look at
#define ENTRY_WORK 16 // products that it takes as long as to look at an entry of A
#define WINDOW_WORK (LEAST_LONG / 16) // the same of a window
#define MOST_ENTRIES 0xfffffffful // entries of a row of A that is long or crowded are fewer

// Adds to a number of two words.
void add_wide_local(local uint *sum, const ulong value)
{
    const uint low = (uint)value;
    const uint before = atomic_add(sum, low);
    const uint high = (uint)(value >> 32) + (before + low < before);
    if (high > 0)
        atomic_add(sum + 1, high);
}

void add_wide(volatile global uint *sum, local const uint *value)
{
    const uint before = atomic_add(sum, value[0]);
    const uint high = value[1] + (before + value[0] < before);
    if (high > 0)
        atomic_add(sum + 1, high);
}

// Whether a row of so many entries of A is long, whatever they name. Entries of long rows are counted in 32 bits.
int is_long_unseen(const ulong entries, const ulong long_work)
{
    return entries > long_work / ENTRY_WORK && entries < MOST_ENTRIES;
}

uint row_class(const ulong entries, const ulong products, const uint words, const ulong long_work)
{
    if (is_long_unseen(entries, long_work))
        return 8;
    if (products == 0)
        return 0;
    if (products <= TINY)
        return 1;
    if (products <= SHORT)
        return 2;
    if (words <= NEAR && products <= 2 * NEAR)
        return 3;
    if (products <= FEW)
        return 4;
    if (words > MIDDLE && products <= SCATTERED)
        return 6;
    const uint windows = words <= MIDDLE ? 1 : (words - 1) / WIDE + 1;
    if (products + windows * (ENTRY_WORK * entries + WINDOW_WORK) > long_work && entries < MOST_ENTRIES)
        return 8;
    return words <= MIDDLE ? 5 : 7;
}

// The class of each of `count` rows of A from `first_row` on; long is what takes more than `long_work`. tallies[class],
// 0 before, are its rows; after those of all classes, low and high word of all products of rows that are not long.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void classify_rows(const uint first_row,
                          const uint count,
                          const ulong long_work,
                          ARRAY_PARAMETER(const offset_t, a_offsets),
                          ARRAY_PARAMETER(const uint, a_columns),
                          ARRAY_PARAMETER(const offset_t, b_begins),
                          ARRAY_PARAMETER(const offset_t, b_ends),
                          ARRAY_PARAMETER(const uint, b_columns),
                          ARRAY_PARAMETER(uint, counts),
                          ARRAY_PARAMETER(uchar, classes),
                          ARRAY_PARAMETER(uint, tallies))
{
    OPEN_ARRAY(const offset_t, a_offsets);
    OPEN_ARRAY(const uint, a_columns);
    OPEN_ARRAY(const offset_t, b_begins);
    OPEN_ARRAY(const offset_t, b_ends);
    OPEN_ARRAY(const uint, b_columns);
    OPEN_ARRAY(uint, counts);
    OPEN_ARRAY(uchar, classes);
    OPEN_ARRAY(uint, tallies);
    local uint products[GROUP_ROWS * 2]; // of each row: low and high word
    local uint lows[GROUP_ROWS];
    local uint highs[GROUP_ROWS];
    local uint of_group[CLASSES + 2];
    local uint has_long;
    const uint item = (uint)get_local_id(0);
    for (uint at = item; at < CLASSES + 2; at += GROUP_SIZE)
        of_group[at] = 0;
    ulong first = (ulong)get_group_id(0) * GROUP_ROWS;
    do {
        const uint rows = (uint)min((ulong)GROUP_ROWS, count - first);
        if (item < GROUP_ROWS) {
            products[2 * item] = 0;
            products[2 * item + 1] = 0;
            lows[item] = 0xffffffffu;
            highs[item] = 0;
        }
        if (item == 0)
            has_long = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        const ulong mine = first_row + first + item / ROW_ITEMS;
        if (item / ROW_ITEMS < rows && a_offsets[mine + 1] - a_offsets[mine] > LONG_ROW)
            atomic_or(&has_long, 1u);
        barrier(CLK_LOCAL_MEM_FENCE);
        // In the first pass each row has its own items; after it the long rows have all, one after the other.
        const uint passes = has_long ? rows + 1 : 1;
        for (uint pass = 0; pass < passes; ++pass) {
            const uint row = pass == 0 ? item / ROW_ITEMS : pass - 1;
            const uint stride = pass == 0 ? ROW_ITEMS : GROUP_SIZE;
            if (row < rows) {
                const ulong begin = a_offsets[first_row + first + row];
                const ulong end = a_offsets[first_row + first + row + 1];
                const int is_long = end - begin > LONG_ROW;
                if (is_long == (pass > 0) && !is_long_unseen(end - begin, long_work)) {
                    ulong sum = 0;
                    for (ulong at = begin + item % stride; at < end; at += stride) {
                        const uint of_b = a_columns[at];
                        sum += b_ends[of_b] - b_begins[of_b];
                    }
                    if (sum > 0)
                        add_wide_local(products + 2 * row, sum);
                }
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        // How far apart the columns of short rows lie is not needed.
        for (uint pass = 0; pass < passes; ++pass) {
            const uint row = pass == 0 ? item / ROW_ITEMS : pass - 1;
            const uint stride = pass == 0 ? ROW_ITEMS : GROUP_SIZE;
            if (row < rows && (products[2 * row] > SHORT || products[2 * row + 1] > 0)) {
                const ulong begin = a_offsets[first_row + first + row];
                const ulong end = a_offsets[first_row + first + row + 1];
                const int is_long = end - begin > LONG_ROW;
                uint low = 0xffffffffu;
                uint high = 0;
                for (ulong at = begin + item % stride; at < end && is_long == (pass > 0); at += stride) {
                    const uint of_b = a_columns[at];
                    const ulong b_begin = b_begins[of_b];
                    const ulong b_end = b_ends[of_b];
                    if (b_begin < b_end) {
                        low = min(low, b_columns[b_begin]);
                        high = max(high, b_columns[b_end - 1]);
                    }
                }
                if (low <= high) {
                    atomic_min(lows + row, low);
                    atomic_max(highs + row, high);
                }
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < rows) {
            const ulong sum = products[2 * item] | (ulong)products[2 * item + 1] << 32;
            // The columns of unsorted rows of B are not in order, and the host, once it has found that out, launches
            // this again.
            const uint words = highs[item] >= lows[item] ? highs[item] / 32 - lows[item] / 32 + 1 : 1;
            const ulong row = first_row + first + item;
            const uint class = row_class(a_offsets[row + 1] - a_offsets[row], sum, words, long_work);
            classes[first + item] = (uchar)class;
            // No other kernel looks at rows without products.
            if (class == 0)
                counts[row] = 0;
            atomic_inc(of_group + class);
            if (class != 8)
                add_wide_local(of_group + CLASSES, sum);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        first += (ulong)get_num_groups(0) * GROUP_ROWS;
    } while (first < count);
    for (uint class = item; class < CLASSES; class += GROUP_SIZE)
        if (of_group[class] > 0)
            atomic_add(tallies_buffer + tallies_start + class, of_group[class]);
    if (item == 0)
        add_wide(tallies + CLASSES, of_group + CLASSES);
}

// The class of each of `count` rows of C from `first_row` on, with as many entries as `counts` says. tallies[class], 0
// before, are its rows; after those of all classes, the windows of class 3.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void classify_outputs(const uint first_row,
                             const uint count,
                             ARRAY_PARAMETER(const offset_t, a_offsets),
                             ARRAY_PARAMETER(const uchar, row_classes),
                             ARRAY_PARAMETER(const uint, counts),
                             ARRAY_PARAMETER(uchar, classes),
                             ARRAY_PARAMETER(uint, tallies))
{
    OPEN_ARRAY(const offset_t, a_offsets);
    OPEN_ARRAY(const uchar, row_classes);
    OPEN_ARRAY(const uint, counts);
    OPEN_ARRAY(uchar, classes);
    OPEN_ARRAY(uint, tallies);
    local uint of_group[OUTPUT_CLASSES + 1];
    const uint item = (uint)get_local_id(0);
    for (uint at = item; at <= OUTPUT_CLASSES; at += GROUP_SIZE)
        of_group[at] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    const ulong row = get_global_id(0);
    if (row < count) {
        const uint entries = counts[row];
        uint class = 3;
        if (row_classes[row] < 3)
            class = 0;
        else if (entries <= SMALL_OUTPUTS)
            class = 1;
        else if (entries <= MIDDLE_OUTPUTS)
            class = 2;
        else {
            const ulong of_a = a_offsets[first_row + row + 1] - a_offsets[first_row + row];
            if (of_a >= CROWDED && of_a < MOST_ENTRIES)
                class = 4;
        }
        classes[row] = (uchar)class;
        atomic_inc(of_group + class);
        if (class == 3)
            atomic_add(of_group + OUTPUT_CLASSES, (entries - 1) / WINDOW_OUTPUTS + 1);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint at = item; at <= OUTPUT_CLASSES; at += GROUP_SIZE)
        if (of_group[at] > 0)
            atomic_add(tallies_buffer + tallies_start + at, of_group[at]);
}

// Writes the rows of each class from 1 on, one after the other, of which there are as many as `tallies` says;
// cursors[class], 0 before, counts those that are written.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void list_rows(const uint first_row,
                      const uint count,
                      ARRAY_PARAMETER(const uchar, classes),
                      ARRAY_PARAMETER(const uint, tallies),
                      ARRAY_PARAMETER(uint, cursors),
                      ARRAY_PARAMETER(uint, list))
{
    OPEN_ARRAY(const uchar, classes);
    OPEN_ARRAY(const uint, tallies);
    OPEN_ARRAY(uint, cursors);
    OPEN_ARRAY(uint, list);
    local uint of_group[CLASSES];
    local uint starts[CLASSES];
    const uint item = (uint)get_local_id(0);
    for (uint other = item; other < CLASSES; other += GROUP_SIZE)
        of_group[other] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    const ulong row = get_global_id(0);
    const uint class = row < count ? classes[row] : 0;
    uint at = 0;
    if (class > 0)
        at = atomic_inc(of_group + class);
    barrier(CLK_LOCAL_MEM_FENCE);
    // There may be tallies of no more classes than rows have.
    for (uint other = item; other < CLASSES; other += GROUP_SIZE) {
        if (of_group[other] > 0) {
            uint start = atomic_add(cursors + other, of_group[other]);
            for (uint before = 1; before < other; ++before)
                start += tallies[before];
            starts[other] = start;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (class > 0)
        list[starts[class] + at] = first_row + (uint)row;
}

// Writes the windows of `count` rows of C: two words each, row and window. `cursor`, 0 before, counts them.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void list_windows(const uint count,
                         ARRAY_PARAMETER(const uint, rows),
                         ARRAY_PARAMETER(const uint, counts),
                         ARRAY_PARAMETER(uint, cursor),
                         ARRAY_PARAMETER(uint, windows))
{
    OPEN_ARRAY(const uint, rows);
    OPEN_ARRAY(const uint, counts);
    OPEN_ARRAY(uint, cursor);
    OPEN_ARRAY(uint, windows);
    const ulong item = get_global_id(0);
    if (item < count) {
        const uint row = rows[item];
        const uint of_row = (counts[row] - 1) / WINDOW_OUTPUTS + 1;
        const ulong at = atomic_add(cursor, of_row);
        for (uint window = 0; window < of_row; ++window) {
            windows[2 * (at + window)] = row;
            windows[2 * (at + window) + 1] = window;
        }
    }
}
