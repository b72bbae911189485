// The columns of rows of C that lie near each other, or are many: a group a row sets a bit for each in a bitmap in
// local memory, and reads them in order. Nothing is sorted, and no number of products is too large.
//
// Where a row's first and last column are further apart than the bitmap has bits, it is laid over one window of columns
// after the other; the parts of B's rows that lie in a window are found by binary search. So the longest rows need no
// memory of their own either.
//
// Local memory: 4 bytes for each word, and 24 for each item.

#ifndef GROUP_SIZE
#define GROUP_SIZE 128 // items of a work-group
#endif
#ifndef WORDS
#define WORDS 2048 // words of the bitmap, of 32 columns each
#endif

#include "spgemm/batch.h"

#define AT_ONCE 4 // columns that an item loads before it looks at any

// The first and the last column of a row of C; the last is below the first where there is none. All items of the group
// call it, and `range` holds two words.
uint2 column_range(const ulong begin, const ulong end,
                   global const uint *restrict a_columns, global const offset_t *restrict b_begins,
                   global const offset_t *restrict b_ends, global const uint *restrict b_columns, local uint *range)
{
    const uint item = (uint)get_local_id(0);
    if (item == 0) {
        range[0] = 0xffffffffu;
        range[1] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint low = 0xffffffffu;
    uint high = 0;
    for (ulong at = begin + item; at < end; at += GROUP_SIZE) {
        const uint row = a_columns[at];
        const ulong b_begin = b_begins[row];
        const ulong b_end = b_ends[row];
        if (b_begin < b_end) {
            low = min(low, b_columns[b_begin]);
            high = max(high, b_columns[b_end - 1]);
        }
    }
    if (low <= high) {
        atomic_min(range, low);
        atomic_max(range + 1, high);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return (uint2)(range[0], range[1]);
}

// Sets the bits of the columns `low` to `high` of a row of C, the first of them in words[0]; returns how many words they
// may lie in. `low` is a multiple of 32. All items of the group call it, with a barrier after they last looked at `words`.
uint set_bits(const ulong begin, const ulong end, const int is_cut, const ulong low, const ulong high,
              global const uint *restrict a_columns, global const offset_t *restrict b_begins,
              global const offset_t *restrict b_ends, global const uint *restrict b_columns,
              local uint *words, local ulong *starts, local ulong *ends, local ulong *scratch)
{
    const uint item = (uint)get_local_id(0);
    const uint used = (uint)((high - low) / 32) + 1;
    for (uint word = item; word < used; word += GROUP_SIZE)
        words[word] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    ulong first = begin;
    do {
        const ulong total =
            open_batch(a_columns, first, end, b_begins, b_ends, b_columns, is_cut, low, high, starts, ends, scratch);
        for (ulong product = item; product < total; product += AT_ONCE * GROUP_SIZE) {
            uint columns[AT_ONCE];
#pragma unroll
            for (uint k = 0; k < AT_ONCE; ++k) {
                // A bit that is set twice is set.
                const ulong at = min(product + k * GROUP_SIZE, total - 1);
                columns[k] = b_columns[starts[entry_of(ends, GROUP_SIZE, at)] + at] - (uint)low;
            }
#pragma unroll
            for (uint k = 0; k < AT_ONCE; ++k)
                atomic_or(words + columns[k] / 32, 1u << columns[k] % 32);
        }
        first += GROUP_SIZE;
    } while (first < end);
    barrier(CLK_LOCAL_MEM_FENCE);
    return used;
}

// The entries of each of `count` listed rows of C.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void count_listed(const uint count,
                         ARRAY_PARAMETER(const uint, rows),
                         ARRAY_PARAMETER(const offset_t, a_offsets),
                         ARRAY_PARAMETER(const uint, a_columns),
                         ARRAY_PARAMETER(const offset_t, b_begins),
                         ARRAY_PARAMETER(const offset_t, b_ends),
                         ARRAY_PARAMETER(const uint, b_columns),
                         ARRAY_PARAMETER(uint, counts))
{
    OPEN_ARRAY(const uint, rows);
    OPEN_ARRAY(const offset_t, a_offsets);
    OPEN_ARRAY(const uint, a_columns);
    OPEN_ARRAY(const offset_t, b_begins);
    OPEN_ARRAY(const offset_t, b_ends);
    OPEN_ARRAY(const uint, b_columns);
    OPEN_ARRAY(uint, counts);
    local uint words[WORDS];
    local ulong starts[GROUP_SIZE];
    local ulong ends[GROUP_SIZE];
    local ulong scratch[GROUP_SIZE];
    local uint range[2];
    local uint entries;
    const uint item = (uint)get_local_id(0);
    uint task = (uint)get_group_id(0);
    do {
        const ulong row = rows[task];
        const ulong begin = a_offsets[row];
        const ulong end = a_offsets[row + 1];
        const uint2 columns = column_range(begin, end, a_columns, b_begins, b_ends, b_columns, range);
        if (item == 0)
            entries = 0;
        const ulong origin = columns.x / 32 * 32;
        const int is_cut = columns.y - origin >= WORDS * 32ul;
        uint found = 0;
        ulong low = origin;
        do {
            const ulong high = min(low + WORDS * 32ul - 1, (ulong)columns.y);
            const uint used = set_bits(begin, end, is_cut, low, high, a_columns, b_begins, b_ends, b_columns, words,
                                       starts, ends, scratch);
            for (uint word = item; word < used; word += GROUP_SIZE)
                found += popcount(words[word]);
            barrier(CLK_LOCAL_MEM_FENCE);
            low += WORDS * 32ul;
        } while (low <= columns.y);
        atomic_add(&entries, found);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item == 0)
            counts[row] = entries;
        barrier(CLK_LOCAL_MEM_FENCE);
        task += (uint)get_num_groups(0);
    } while (task < count);
}

// The columns of each of `count` listed rows of C, in order.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void fill_listed(const uint count,
                        ARRAY_PARAMETER(const uint, rows),
                        ARRAY_PARAMETER(const offset_t, a_offsets),
                        ARRAY_PARAMETER(const uint, a_columns),
                        ARRAY_PARAMETER(const offset_t, b_begins),
                        ARRAY_PARAMETER(const offset_t, b_ends),
                        ARRAY_PARAMETER(const uint, b_columns),
                        ARRAY_PARAMETER(const offset_t, c_offsets),
                        ARRAY_PARAMETER(uint, c_columns))
{
    OPEN_ARRAY(const uint, rows);
    OPEN_ARRAY(const offset_t, a_offsets);
    OPEN_ARRAY(const uint, a_columns);
    OPEN_ARRAY(const offset_t, b_begins);
    OPEN_ARRAY(const offset_t, b_ends);
    OPEN_ARRAY(const uint, b_columns);
    OPEN_ARRAY(const offset_t, c_offsets);
    OPEN_ARRAY(uint, c_columns);
    local uint words[WORDS];
    local ulong starts[GROUP_SIZE];
    local ulong ends[GROUP_SIZE];
    local ulong scratch[GROUP_SIZE];
    local uint range[2];
    const uint item = (uint)get_local_id(0);
    uint task = (uint)get_group_id(0);
    do {
        const ulong row = rows[task];
        const ulong begin = a_offsets[row];
        const ulong end = a_offsets[row + 1];
        const uint2 columns = column_range(begin, end, a_columns, b_begins, b_ends, b_columns, range);
        const ulong origin = columns.x / 32 * 32;
        const int is_cut = columns.y - origin >= WORDS * 32ul;
        ulong to = c_offsets[row];
        ulong low = origin;
        do {
            const ulong high = min(low + WORDS * 32ul - 1, (ulong)columns.y);
            const uint used = set_bits(begin, end, is_cut, low, high, a_columns, b_begins, b_ends, b_columns, words,
                                       starts, ends, scratch);
            // Neighbouring words are an item's.
            const uint each = (used - 1) / GROUP_SIZE + 1;
            const uint first = min(item * each, used);
            const uint beyond = min(first + each, used);
            uint mine = 0;
            for (uint word = first; word < beyond; ++word)
                mine += popcount(words[word]);
            ulong total;
            ulong at = to + group_scan_exclusive(mine, scratch, &total);
            for (uint word = first; word < beyond; ++word) {
                const uint column = (uint)low + word * 32;
                for (uint bits = words[word]; bits != 0; bits &= bits - 1)
                    c_columns[at++] = column + 31 - clz(bits & -bits);
            }
            to += total;
            barrier(CLK_LOCAL_MEM_FENCE);
            low += WORDS * 32ul;
        } while (low <= columns.y);
        barrier(CLK_LOCAL_MEM_FENCE);
        task += (uint)get_num_groups(0);
    } while (task < count);
}
