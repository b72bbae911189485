// Stage 2 of the speculative segmented sum on the device; what the CPU does instead is
// cl-runtime/src/spmv/segmented_sum/stage2.rs. `segmented_sum_staged.h` says what stage 1 leaves.
//
//   1. Rows that cross boundaries of bunches: an item for each such row adds up, in their order, the tail of
//      the bunch in which it begins and the chain of heads after it, and stores it. Chains of LONG_CHAIN and
//      more are left to the whole group.
//   2. Rows that are not stored yet, from the back of the speculator array: an item a row computes it.
//   3. Rows whose sums lie packed at the front of their range: a group takes the range into local memory
//      and stores each sum where its row is, and nothing times alpha where a row is empty.
//
// A fixed number of groups loops over all three. Where there was anything to count, the last group to
// arrive sets the counters back to 0 for the next launch, so nothing is cleared in between.
//
// Local memory: CHUNK_ROWS numbers; two numbers and a sum an item.
#ifndef SPMV_SEGMENTED_SUM_STAGE2_H
#define SPMV_SEGMENTED_SUM_STAGE2_H

#include "group/carry.h"
#include "group/reduce.h"
#include "group/scan.h"
#include "item/accumulate.h"
#include "spmv/segmented_sum_staged.h"

#ifndef FUSED

#define LONG_CHAIN 16 // heads of one row that are added up by a group together

// Stores the row whose chain of heads starts at bunch `at`; or, where it crosses a boundary of the part, leaves
// its sum there.
void store_chain(const uint at, const uint row, const acc_t sum, global real_t *restrict y,
                 const real_t alpha, const real_t beta, const left_over_t over,
                 const uint bunches)
{
    if (at == 0)
        over.boundaries[BOUNDARY_HEAD] = sum;
    else if (over.head_rows[bunches] == row)
        over.boundaries[BOUNDARY_TAIL] = sum;
    else
        store_result(y, row, alpha, sum, beta);
}

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void segmented_sum_stage2(const uint tiles,
                                 const uint tiles_per_bunch,
                                 ARRAY_PARAMETER(const offset_t, offsets),
                                 ARRAY_PARAMETER(const uint, columns),
                                 ARRAY_PARAMETER(const value_t, values),
                                 ARRAY_PARAMETER(const real_t, x),
                                 ARRAY_PARAMETER(real_t, y),
                                 SCALAR_PARAMETER(alpha),
                                 SCALAR_PARAMETER(beta),
                                 const uint bunch_capacity,
                                 const uint capacity,
                                 const uint zero,
                                 ARRAY_PARAMETER(uint, scratch))
{
    OPEN_ARRAY(const offset_t, offsets);
    OPEN_ARRAY(const uint, columns);
    OPEN_ARRAY(const value_t, values);
    OPEN_ARRAY(const real_t, x);
    OPEN_ARRAY(real_t, y);
    OPEN_SCALAR(alpha);
    OPEN_SCALAR(beta);
    OPEN_ARRAY(uint, scratch);
    const left_over_t over = left_over(scratch, bunch_capacity, capacity);
    local real_t packed[CHUNK_ROWS];
    local ulong numbers[GROUP_SIZE];
    local acc_t sums[GROUP_SIZE];
    local uint chain_starts[GROUP_SIZE];
    local uint chains;
    local uint counts[2];

    const uint bunches = (tiles + tiles_per_bunch - 1) / tiles_per_bunch;
    const uint item = (uint)get_local_id(0);
    const uint group = (uint)get_group_id(0);
    const uint groups = (uint)get_num_groups(0);
    if (item == 0) {
        // By atomics, as the last group writes them.
        counts[MISPLACED] = atomic_or(over.counters + MISPLACED, 0u);
        counts[LEFT] = atomic_or(over.counters + LEFT, 0u);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint misplaced = counts[MISPLACED];
    const uint left = counts[LEFT];

    // Number `at` is the row that begins in bunch at - 1 and is the head of bunch `at`; number 0 is the row
    // that begins before the chunk.
    for (uint base = group * GROUP_SIZE; base <= bunches; base += groups * GROUP_SIZE) {
        const uint at = base + item;
        // Three loads in flight at once.
        const uint row = over.head_rows[min(at, bunches)];
        const uint row_before = over.head_rows[min(max(at, 1u) - 1, bunches)];
        const uint row_far = over.head_rows[min(at + LONG_CHAIN - 1, bunches)];
        const int begins = at <= bunches && row != NO_ROW && (at == 0 || row_before != row);
        const int is_long = begins && row_far == row;
        if (item == 0)
            chains = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (is_long) {
            chain_starts[atomic_inc(&chains)] = at;
        } else if (begins) {
            acc_t sum = at > 0 ? over.tails[at - 1] : acc_zero();
            for (uint bunch = at; bunch < bunches && over.head_rows[bunch] == row; ++bunch)
                sum = acc_add(sum, over.heads[bunch]);
            store_chain(at, row, sum, y, alpha, beta, over, bunches);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint chains_here = chains;
        for (uint chain = 0; chain < chains_here; ++chain) {
            const uint start = chain_starts[chain];
            const uint long_row = over.head_rows[start];
            acc_t sum = item == 0 && start > 0 ? over.tails[start - 1] : acc_zero();
            for (uint bunch = start + item; bunch < bunches && over.head_rows[bunch] == long_row;
                 bunch += GROUP_SIZE)
                sum = acc_add(sum, over.heads[bunch]);
            sum = group_reduce(sum, sums);
            if (item == 0)
                store_chain(start, long_row, sum, y, alpha, beta, over, bunches);
        }
    }

    for (uint chunk = group; chunk < left; chunk += groups) {
        const ulong range = 2 * ((ulong)capacity - 1 - chunk);
        const uint end = over.speculator[range + 1];
        for (uint row = over.speculator[range] + item; row < end; row += GROUP_SIZE) {
            acc_t sum = acc_zero();
            for (ulong at = offsets[row]; at < offsets[row + 1]; ++at)
                sum = acc_mad(sum, load_value(values, at), load_x(x, columns, at));
            store_result(y, row, alpha, sum, beta);
        }
    }

    for (uint chunk = group; chunk < misplaced; chunk += groups) {
        const uint begin = over.speculator[2 * (ulong)chunk];
        const uint end = over.speculator[2 * (ulong)chunk + 1];
        const uint rows_an_item = (end - begin + GROUP_SIZE - 1) / GROUP_SIZE;
        const uint first = min(begin + item * rows_an_item, end);
        const uint last = min(first + rows_an_item, end);
        ulong mine = 0;
        for (uint row = first; row < last; ++row)
            mine += offsets[row] != offsets[row + 1];
        ulong total;
        uint at = (uint)group_scan_exclusive(mine, numbers, &total);
        for (uint sum = item; sum < total; sum += GROUP_SIZE)
            packed[sum] = y[begin + sum];
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
    const uint found = misplaced | left;
    if (item == 0 && found != 0 && arrives_last(over.counters + ARRIVED, groups, found, zero)) {
        atomic_xchg(over.counters + MISPLACED, 0u);
        atomic_xchg(over.counters + LEFT, 0u);
        atomic_xchg(over.counters + LEFT_TILES, 0u);
    }
}

#endif
#endif
