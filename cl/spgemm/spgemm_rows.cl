// Sorts rows of C = A B into classes: by the most products they may take and how far apart their columns lie, before
// C's columns are looked for; by their entries, before C's values are. Then lists the rows of each class.
//
// The classes of rows, the first that fits (P products, S words of 32 columns from the first to the last):
//
//   0 empty      P = 0
//   1 tiny       P <= TINY             spgemm_tiny.cl, an item or a few a row
//   2 brief      P <= BRIEF            the same with capacity for more
//   3 short      P <= SHORT            the same with capacity for more
//   4 near       S <= NEAR, P <= 2 NEAR  spgemm_bitmap.cl, a small group a row
//   5 few        P <= FEW              spgemm_hash.cl, a small group a row
//   6 middle     S <= MIDDLE           spgemm_bitmap.cl
//   7 scattered  P <= SCATTERED        spgemm_hash.cl
//   8 wide       all others            spgemm_bitmap.cl, a large group a row, window after window
//   9 long       of 6 and 8, where a group would work for too long: spgemm_long.cl, all groups together
//
// How long a group works is counted in products: P, and for each of its windows (W of them) what it takes to look at
// each entry of A's row, 16 products, and to begin and end, LEAST_LONG / 16. Long is what takes more than LEAST_LONG and
// more than one of `unit_shares` parts of a compute unit's share of all products, as many as they would be if each entry of
// A named a row of B of mean length: where all rows are as long as that, there are groups enough. A row of A whose
// entries alone are that many is long without being looked at.
//
// The classes of C's rows (n entries), for spgemm_values.cl: 0 done (the first four above), 1 n <= SMALL_OUTPUTS,
// 2 n <= MIDDLE_OUTPUTS, 3 all others, WINDOW_OUTPUTS at a time. Class 4, crowded, are those of 3 whose row of A has
// CROWDED entries or more: spgemm_parts.cl.
//
// Local memory: 28 bytes an item, and 4 for each class.
//
// Lists are in the order in which groups arrive. No bit of C depends on it: a row is computed by itself.

#ifndef GROUP_SIZE
#define GROUP_SIZE 256 // items of a work-group: a power of two
#endif
#ifndef TINY
#define TINY 16 // products of a tiny row, at most
#endif
#ifndef BRIEF
#define BRIEF 32 // products of a brief row, at most
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

#define CLASSES 10
#define LONG_CLASS 9
#define OUTPUT_CLASSES 5
#define ITEM_ENTRIES 16 // entries of a row that an item looks at alone, at most
#define AT_ONCE 4 // of them
#define ROW_ITEMS (GROUP_SIZE < 8 ? GROUP_SIZE : 8) // items that look at a row of more
#define LONG_ROW 1024 // entries of a row that all items of the group look at, at least
#define LONG_AMONG_SHORT 256 // the same where most rows are short: the others are what a group waits for
#define ENTRY_WORK 16 // products that it takes as long as to look at an entry of A
#define WINDOW_WORK (LEAST_LONG / 16) // the same of a window
#define MOST_ENTRIES 0xfffffffful // entries of a row of A that is long or crowded are fewer

#include "spgemm/row_class.h"
#include "spgemm/tallies.h"

// The class of each of `count` rows of A from `first_row` on; long is what takes more than `long_work`. tallies[class],
// 0 before, are its rows; after those of all classes, two words each, all products of rows that are not long and all
// entries of A of those that are.
//
// A group takes `group_rows` rows at once, up to an item each: an item looks at a short one, and several together, or
// all, at those with more entries.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void classify_rows(const uint first_row,
                          const uint count,
                          const uint group_rows,
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
    local uint products[GROUP_SIZE * 2]; // of each listed row: low and high word
    local uint lows[GROUP_SIZE];
    local uint highs[GROUP_SIZE];
    local uint listed[GROUP_SIZE]; // rows of more than ITEM_ENTRIES entries
    local uint of_group[CLASSES + 4];
    local ulong scratch[GROUP_SIZE];
    local uint others; // listed rows
    local uint has_long;
    const uint item = (uint)get_local_id(0);
    for (uint at = item; at < CLASSES + 4; at += GROUP_SIZE)
        of_group[at] = 0;
    const uint long_row = group_rows > GROUP_SIZE / ROW_ITEMS ? LONG_AMONG_SHORT : LONG_ROW;
    // An item's own: nearly all rows may be of one class.
    uint of_item[4] = { 0, 0, 0, 0 };
    ulong products_of_item = 0;
    ulong first = (ulong)get_group_id(0) * group_rows;
    do {
        const uint rows = (uint)min((ulong)group_rows, count - first);
        global const offset_t *const offsets = a_offsets + first_row + first;
        products[2 * item] = 0;
        products[2 * item + 1] = 0;
        lows[item] = 0xffffffffu;
        highs[item] = 0;
        if (item == 0) {
            others = 0;
            has_long = 0;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        uint mine = rows; // the row whose class this item says
        ulong sum = 0;
        uint2 range = (uint2)(0, 0);
        if (item < rows) {
            const ulong begin = offsets[item];
            const ulong end = offsets[item + 1];
            if (end - begin > ITEM_ENTRIES) {
                listed[atomic_inc(&others)] = item;
                if (end - begin > long_row)
                    atomic_or(&has_long, 1u);
            } else {
                mine = item;
                sum = count_products(a_columns, b_begins, b_ends, begin, end, 1);
                // How far apart the columns of short rows lie is not needed.
                if (sum > SHORT)
                    range = range_of(a_columns, b_begins, b_ends, b_columns, begin, end, 1);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        // Listed rows have ROW_ITEMS items each; after them the long ones have all, one after the other.
        for (uint slot = item / ROW_ITEMS; slot < others; slot += GROUP_SIZE / ROW_ITEMS) {
            const ulong begin = offsets[listed[slot]];
            const ulong end = offsets[listed[slot] + 1];
            if (end - begin <= long_row && !is_long_unseen(end - begin, long_work))
                add_wide_local(products + 2 * slot, count_products(a_columns, b_begins, b_ends,
                                                                   begin + item % ROW_ITEMS, end, ROW_ITEMS));
        }
        for (uint slot = 0; slot < (has_long ? others : 0); ++slot) {
            const ulong begin = offsets[listed[slot]];
            const ulong end = offsets[listed[slot] + 1];
            if (end - begin > long_row && !is_long_unseen(end - begin, long_work))
                add_wide_local(products + 2 * slot,
                               count_products(a_columns, b_begins, b_ends, begin + item, end, GROUP_SIZE));
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint slot = item / ROW_ITEMS; slot < others; slot += GROUP_SIZE / ROW_ITEMS) {
            const ulong begin = offsets[listed[slot]];
            const ulong end = offsets[listed[slot] + 1];
            if (end - begin <= long_row && (products[2 * slot] > SHORT || products[2 * slot + 1] > 0)) {
                const uint2 part =
                    range_of(a_columns, b_begins, b_ends, b_columns, begin + item % ROW_ITEMS, end, ROW_ITEMS);
                atomic_min(lows + slot, part.x);
                atomic_max(highs + slot, part.y);
            }
        }
        for (uint slot = 0; slot < (has_long ? others : 0); ++slot) {
            const ulong begin = offsets[listed[slot]];
            const ulong end = offsets[listed[slot] + 1];
            if (end - begin > long_row && (products[2 * slot] > SHORT || products[2 * slot + 1] > 0)) {
                const uint2 part = range_of(a_columns, b_begins, b_ends, b_columns, begin + item, end, GROUP_SIZE);
                atomic_min(lows + slot, part.x);
                atomic_max(highs + slot, part.y);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        // Each item has a short row or none, and then a listed one or none.
#pragma unroll
        for (uint pass = 0; pass < 2; ++pass) {
            if (pass == 1) {
                mine = item < others ? listed[item] : rows;
                sum = products[2 * item] | (ulong)products[2 * item + 1] << 32;
                range = (uint2)(lows[item], highs[item]);
            }
            if (mine < rows) {
                // The columns of unsorted rows of B are not in order, and the host, once it has found that out, launches
                // this again.
                const uint words = range.y >= range.x ? range.y / 32 - range.x / 32 + 1 : 1;
                const ulong entries = offsets[mine + 1] - offsets[mine];
                const uint class = row_class(entries, sum, words, long_work);
                classes[first + mine] = (uchar)class;
                // No other kernel looks at rows without products.
                if (class == 0)
                    counts[first_row + first + mine] = 0;
                if (class > 3)
                    atomic_inc(of_group + class);
#pragma unroll
                for (uint other = 0; other < 4; ++other)
                    of_item[other] += class == other;
                if (class == LONG_CLASS)
                    add_wide_local(of_group + CLASSES + 2, entries);
                else
                    products_of_item += sum;
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        first += (ulong)get_num_groups(0) * group_rows;
    } while (first < count);
    const ulong of_all = sum_of_group(products_of_item, scratch);
    const ulong of_first = sum_of_group(of_item[0] | (ulong)of_item[1] << 32, scratch);
    const ulong of_last = sum_of_group(of_item[2] | (ulong)of_item[3] << 32, scratch);
    if (item == 0) {
        of_group[0] = (uint)of_first;
        of_group[1] = (uint)(of_first >> 32);
        of_group[2] = (uint)of_last;
        of_group[3] = (uint)(of_last >> 32);
        of_group[CLASSES] = (uint)of_all;
        of_group[CLASSES + 1] = (uint)(of_all >> 32);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint class = item; class < CLASSES; class += GROUP_SIZE)
        if (of_group[class] > 0)
            atomic_add(tallies_buffer + tallies_start + class, of_group[class]);
    if (item == 0) {
        add_wide(tallies + CLASSES, of_group + CLASSES);
        if ((of_group[CLASSES + 2] | of_group[CLASSES + 3]) > 0)
            add_wide(tallies + CLASSES + 2, of_group + CLASSES + 2);
    }
}

// The class of each of `count` listed rows of C, which has as many entries as `counts` says. tallies[class], 0 before,
// are its rows; after those of all classes, the windows of class 3.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void classify_outputs(const uint count,
                             ARRAY_PARAMETER(const uint, rows),
                             ARRAY_PARAMETER(const offset_t, a_offsets),
                             ARRAY_PARAMETER(const uint, counts),
                             ARRAY_PARAMETER(uchar, classes),
                             ARRAY_PARAMETER(uint, tallies))
{
    OPEN_ARRAY(const uint, rows);
    OPEN_ARRAY(const offset_t, a_offsets);
    OPEN_ARRAY(const uint, counts);
    OPEN_ARRAY(uchar, classes);
    OPEN_ARRAY(uint, tallies);
    local uint of_group[OUTPUT_CLASSES + 1];
    const uint item = (uint)get_local_id(0);
    for (uint at = item; at <= OUTPUT_CLASSES; at += GROUP_SIZE)
        of_group[at] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    const ulong slot = get_global_id(0);
    if (slot < count) {
        const ulong row = rows[slot];
        const uint entries = counts[row];
        uint class = 3;
        if (entries <= SMALL_OUTPUTS)
            class = 1;
        else if (entries <= MIDDLE_OUTPUTS)
            class = 2;
        else {
            const ulong of_a = a_offsets[row + 1] - a_offsets[row];
            if (of_a >= CROWDED && of_a < MOST_ENTRIES)
                class = 4;
        }
        classes[slot] = (uchar)class;
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
    const ulong row = get_global_id(0);
    const uint class = row < count ? classes[row] : 0;
    const uint at = list_index(class, tallies, cursors, of_group, starts);
    if (class > 0)
        list[at] = first_row + (uint)row;
}

// The same of `count` listed rows, by their classes as rows of C.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void list_outputs(const uint count,
                         ARRAY_PARAMETER(const uint, rows),
                         ARRAY_PARAMETER(const uchar, classes),
                         ARRAY_PARAMETER(const uint, tallies),
                         ARRAY_PARAMETER(uint, cursors),
                         ARRAY_PARAMETER(uint, list))
{
    OPEN_ARRAY(const uint, rows);
    OPEN_ARRAY(const uchar, classes);
    OPEN_ARRAY(const uint, tallies);
    OPEN_ARRAY(uint, cursors);
    OPEN_ARRAY(uint, list);
    local uint of_group[CLASSES];
    local uint starts[CLASSES];
    const ulong slot = get_global_id(0);
    const uint class = slot < count ? classes[slot] : 0;
    const uint at = list_index(class, tallies, cursors, of_group, starts);
    if (class > 0)
        list[at] = rows[slot];
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
