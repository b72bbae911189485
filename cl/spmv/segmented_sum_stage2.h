// Stage 2 of the speculative segmented sum on the device; what the CPU does instead is
// cl-runtime/src/spmv/segmented_sum/stage2.rs. `segmented_sum.cl` says what stage 1 leaves.
//
//   1. Rows that cross borders of bunches: an item for each such row adds up, in their order, the tail of
//      the bunch in which it begins and the chain of heads after it, and stores it. Chains of LONG_CHAIN and
//      more are left to the whole group.
//   2. Rows that nobody has stored, from the back of the speculator array: an item a row computes it.
//   3. Rows whose sums lie packed at the front of their range: a group takes the range into local memory
//      and stores each sum where its row is, and nothing times alpha where a row is empty.
//
// A fixed number of groups walks through all three. The last group to arrive sets the counters back to 0
// for the next launch, so nothing is cleared in between.
//
// Local memory: PIECE_ROWS numbers; two numbers and a sum an item.
#ifndef SPMV_SEGMENTED_SUM_STAGE2_H
#define SPMV_SEGMENTED_SUM_STAGE2_H

#include "group/carry.h"
#include "group/reduce.h"
#include "group/scan.h"
#include "item/accumulate.h"

#define PIECE_ROWS 2048 // most rows of a range; at least the nonzeros of a tile
#define NO_ROW 0xffffffffu
#define LONG_CHAIN 16 // heads of one row that are added up by a group together

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

// Stores the row whose chain of heads starts at bunch `at`; or, where it crosses a border of the piece, leaves
// its sum there.
void store_chain(const uint at, const uint row, const acc_t sum, global real_t *restrict y,
                 const real_t alpha, const real_t beta, global acc_t *restrict borders,
                 global const uint *restrict head_rows, const uint bunches)
{
    if (at == 0)
        borders[BORDER_HEAD] = sum;
    else if (head_rows[bunches] == row)
        borders[BORDER_TAIL] = sum;
    else
        store_result(y, row, alpha, sum, beta);
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
    local acc_t sums[GROUP_SIZE];
    local uint chain_starts[GROUP_SIZE];
    local uint chains;
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
    for (uint base = group * GROUP_SIZE; base <= bunches; base += groups * GROUP_SIZE) {
        const uint at = base + item;
        const uint row = at <= bunches ? head_rows[at] : NO_ROW;
        const int begins = row != NO_ROW && (at == 0 || head_rows[at - 1] != row);
        const int is_long = begins && at + LONG_CHAIN <= bunches && head_rows[at + LONG_CHAIN - 1] == row;
        if (item == 0)
            chains = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (is_long) {
            chain_starts[atomic_inc(&chains)] = at;
        } else if (begins) {
            acc_t sum = at > 0 ? tails[at - 1] : acc_zero();
            for (uint bunch = at; bunch < bunches && head_rows[bunch] == row; ++bunch)
                sum = acc_add(sum, heads[bunch]);
            store_chain(at, row, sum, y, alpha, beta, borders, head_rows, bunches);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint chains_here = chains;
        for (uint chain = 0; chain < chains_here; ++chain) {
            const uint start = chain_starts[chain];
            const uint long_row = head_rows[start];
            acc_t sum = item == 0 && start > 0 ? tails[start - 1] : acc_zero();
            for (uint bunch = start + item; bunch < bunches && head_rows[bunch] == long_row;
                 bunch += GROUP_SIZE)
                sum = acc_add(sum, heads[bunch]);
            sum = group_reduce(sum, sums);
            if (item == 0)
                store_chain(start, long_row, sum, y, alpha, beta, borders, head_rows, bunches);
        }
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

    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0 && arrives_last(counters + ARRIVED, groups, misplaced | left, zero)) {
        atomic_xchg(counters + MISPLACED, 0u);
        atomic_xchg(counters + LEFT, 0u);
    }
}

#endif
