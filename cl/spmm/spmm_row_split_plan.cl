// What the row split of spmm_row_split.cl wants to know of a pattern: how even its rows are, which of them have the
// columns of the row before, and which are to be cut.

#ifndef GROUP_SIZE
#define GROUP_SIZE 256 // items of a work-group: a multiple of 32
#endif

#include "item/scalar.h"

#define ROWS_IN_STEP 4 // rows whose bunches run in step, and wait for the longest of them

// Adds to `steps`, two words of one number, what rows cost that wait for each other: the longest of each
// ROWS_IN_STEP, as often as they are rows.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void count_steps(const uint rows,
                        ARRAY_PARAMETER(const offset_t, offsets),
                        ARRAY_PARAMETER(uint, steps))
{
    OPEN_ARRAY(const offset_t, offsets);
    OPEN_ARRAY(uint, steps);
    local uint of_group[2];
    if (get_local_id(0) < 2)
        of_group[get_local_id(0)] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    ulong mine = 0;
    for (ulong row = get_global_id(0) * ROWS_IN_STEP; row < rows;
         row += get_global_size(0) * ROWS_IN_STEP) {
        const ulong beyond = min(row + ROWS_IN_STEP, (ulong)rows);
        ulong longest = 0;
        for (ulong other = row; other < beyond; ++other)
            longest = max(longest, (ulong)offsets[other + 1] - offsets[other]);
        mine += longest * (beyond - row);
    }
    const uint low = (uint)mine;
    const uint before = atomic_add(of_group, low);
    atomic_add(of_group + 1, (uint)(mine >> 32) + (before + low < before));
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        const uint all_before = atomic_add(steps, of_group[0]);
        atomic_add(steps + 1, of_group[1] + (all_before + of_group[0] < all_before));
    }
}

// Sets bit `row` of `alike` where the row has the columns of the one before, in the same order. A group makes
// GROUP_SIZE / 32 words.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void find_alike_rows(const uint rows,
                            ARRAY_PARAMETER(const offset_t, offsets),
                            ARRAY_PARAMETER(const uint, columns),
                            ARRAY_PARAMETER(uint, alike))
{
    OPEN_ARRAY(const offset_t, offsets);
    OPEN_ARRAY(const uint, columns);
    OPEN_ARRAY(uint, alike);
    local uint words[GROUP_SIZE / 32];
    const uint item = (uint)get_local_id(0);
    const ulong row = get_global_id(0);
    if (item < GROUP_SIZE / 32)
        words[item] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (row > 0 && row < rows) {
        const ulong before = offsets[row - 1];
        const ulong begin = offsets[row];
        const ulong length = offsets[row + 1] - begin;
        int same = begin - before == length;
        for (ulong at = 0; same && at < length; ++at)
            same = columns[before + at] == columns[begin + at];
        if (same)
            atomic_or(words + item / 32, 1u << item % 32);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const ulong word = get_group_id(0) * (ulong)(GROUP_SIZE / 32) + item;
    if (item < GROUP_SIZE / 32 && word * 32 < rows)
        alike[word] = words[item];
}

// Lists the rows of more than `part_nnz` nonzeros, each with the number of its parts: `count` pairs, in any order.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void find_long_rows(const uint rows,
                           const uint part_nnz,
                           ARRAY_PARAMETER(const offset_t, offsets),
                           ARRAY_PARAMETER(uint, found),
                           ARRAY_PARAMETER(uint, count))
{
    OPEN_ARRAY(const offset_t, offsets);
    OPEN_ARRAY(uint, found);
    OPEN_ARRAY(uint, count);
    const ulong row = get_global_id(0);
    if (row >= rows)
        return;
    const ulong length = offsets[row + 1] - offsets[row];
    if (length > part_nnz) {
        const ulong place = atomic_inc(count);
        found[2 * place] = (uint)row;
        found[2 * place + 1] = (uint)((length - 1) / part_nnz + 1);
    }
}
