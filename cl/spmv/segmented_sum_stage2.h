// Stage 2 of the speculative segmented sum on the device; what the CPU does instead is
// cl-runtime/src/spmv/segmented_sum/stage2.rs. `segmented_sum.cl` says what stage 1 leaves.
//
//   1. Rows that cross borders of bunches: an item for each such row adds up, in their order, the tail of
//      the bunch in which it begins and the heads of those after, and stores it.
//   2. Rows that nobody has stored, from the back of the speculator array: an item a row computes it.
//   3. Rows whose sums lie packed at the front of their range: a group takes the range into local memory
//      and stores each sum where its row is, and nothing times alpha where a row is empty.
//
// A fixed number of groups walks through all three. The last group to arrive sets the counters back to 0
// for the next launch, so nothing is cleared in between.
//
// Local memory: PIECE_ROWS numbers, and two an item.
#ifndef SPMV_SEGMENTED_SUM_STAGE2_H
#define SPMV_SEGMENTED_SUM_STAGE2_H

#include "group/carry.h"
#include "group/scan.h"
#include "item/accumulate.h"

#define PIECE_ROWS 2048 // most rows of a range; at least the nonzeros of a tile
#define NO_ROW 0xffffffffu

// What the counters count.
#define MISPLACED 0 // ranges at the front of the speculator array
#define LEFT 1 // ranges at its back
#define ARRIVED 2 // groups of stage 2

// What lies in `borders`: a piece's part of the row it begins in the middle of, and of the one it ends in.
#define BORDER_HEAD 0
#define BORDER_TAIL 1

// Ranges that `rows` rows are cut into.
uint pieces_of(const uint rows)
{
    return (rows + PIECE_ROWS - 1) / PIECE_ROWS;
}

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void segmented_sum_stage2(const uint bunches,
                                 ARRAY_PARAMETER(const offset_t, offsets),
                                 ARRAY_PARAMETER(const uint, columns),
                                 ARRAY_PARAMETER(const value_t, values),
                                 ARRAY_PARAMETER(const real_t, x),
                                 ARRAY_PARAMETER(real_t, y),
                                 SCALAR_PARAMETER(alpha),
                                 SCALAR_PARAMETER(beta),
                                 const uint capacity,
                                 const uint zero,
                                 ARRAY_PARAMETER(const acc_t, heads),
                                 ARRAY_PARAMETER(const acc_t, tails),
                                 ARRAY_PARAMETER(acc_t, borders),
                                 ARRAY_PARAMETER(const uint2, speculator),
                                 ARRAY_PARAMETER(const uint, head_rows),
                                 ARRAY_PARAMETER(uint, counters))
{
    OPEN_ARRAY(const offset_t, offsets);
    OPEN_ARRAY(const uint, columns);
    OPEN_ARRAY(const value_t, values);
    OPEN_ARRAY(const real_t, x);
    OPEN_ARRAY(real_t, y);
    OPEN_SCALAR(alpha);
    OPEN_SCALAR(beta);
    OPEN_ARRAY(const acc_t, heads);
    OPEN_ARRAY(const acc_t, tails);
    OPEN_ARRAY(acc_t, borders);
    OPEN_ARRAY(const uint2, speculator);
    OPEN_ARRAY(const uint, head_rows);
    OPEN_ARRAY(uint, counters);
    local real_t packed[PIECE_ROWS];
    local ulong scratch[GROUP_SIZE];
    local uint counts[2];

    const uint item = (uint)get_local_id(0);
    const uint group = (uint)get_group_id(0);
    const uint groups = (uint)get_num_groups(0);
    if (item == 0) {
        // By atomics, as the last group writes them.
        counts[MISPLACED] = atomic_or(counters + MISPLACED, 0u);
        counts[LEFT] = atomic_or(counters + LEFT, 0u);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint misplaced = counts[MISPLACED];
    const uint left = counts[LEFT];

    // Number `at` is the row that begins in bunch at - 1 and is the head of bunch `at`; number 0 is the row
    // that begins before the piece.
    for (uint at = group * GROUP_SIZE + item; at <= bunches; at += groups * GROUP_SIZE) {
        const uint row = head_rows[at];
        if (row == NO_ROW || (at > 0 && head_rows[at - 1] == row))
            continue;
        acc_t sum = at > 0 ? tails[at - 1] : acc_zero();
        uint bunch = at;
        for (; bunch < bunches && head_rows[bunch] == row; ++bunch)
            sum = acc_add(sum, heads[bunch]);
        if (at == 0)
            borders[BORDER_HEAD] = sum;
        else if (bunch == bunches && head_rows[bunches] == row)
            borders[BORDER_TAIL] = sum;
        else
            store_result(y, row, alpha, sum, beta);
    }

    for (uint piece = group; piece < left; piece += groups) {
        const uint2 range = speculator[capacity - 1 - piece];
        for (uint row = range.x + item; row < range.y; row += GROUP_SIZE) {
            acc_t sum = acc_zero();
            for (ulong at = offsets[row]; at < offsets[row + 1]; ++at)
                sum = acc_mad(sum, load_value(values, at), x[columns[at]]);
            store_result(y, row, alpha, sum, beta);
        }
    }

    for (uint piece = group; piece < misplaced; piece += groups) {
        const uint2 range = speculator[piece];
        const uint rows_an_item = (range.y - range.x + GROUP_SIZE - 1) / GROUP_SIZE;
        const uint first = min(range.x + item * rows_an_item, range.y);
        const uint last = min(first + rows_an_item, range.y);
        ulong mine = 0;
        for (uint row = first; row < last; ++row)
            mine += offsets[row] != offsets[row + 1];
        ulong total;
        uint at = (uint)group_scan_exclusive(mine, scratch, &total);
        for (uint sum = item; sum < total; sum += GROUP_SIZE)
            packed[sum] = y[range.x + sum];
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        for (uint row = first; row < last; ++row) {
            if (offsets[row] != offsets[row + 1])
                y[row] = packed[at++];
            else
                store_result(y, row, alpha, acc_zero(), 0);
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    }

    if (item == 0 && arrives_last(counters + ARRIVED, groups, misplaced | left, zero)) {
        atomic_xchg(counters + MISPLACED, 0u);
        atomic_xchg(counters + LEFT, 0u);
    }
}

#endif
