// EVC-HYB (Guo, Gropp, Olson): rows in order of length, short ones in strips that lie column by column, long ones in
// compressed rows; both in one launch.
//
// A group takes what its task says (`evc_hyb_task.h`). Of short rows, an item takes one, or several where they are
// short, or shares one with others where they are not: about as many elements an item as the plan was told. Of
// long rows several items take one, more the longer it is. So work-groups have about equal work, and their loads are
// side by side in both parts. A row is never cut between groups: one that outweighs all others holds its group for
// as long as it is.
//
// The paper's listings read y where beta is 0, multiply padding, and have a barrier in a loop that groups leave at
// different times. Here y is not read, an item's loop ends where its row does, so that padding is never loaded, and
// barriers are after all loops over nonzeros.
//
// y is written in the rows' own order, or with PERMUTED in order of length, as everything else lies.
//
// Local memory: GROUP_SIZE sums.

#ifndef GROUP_SIZE
#define GROUP_SIZE 256 // items of a work-group: a power of two
#endif
#ifndef NNZ_AT_ONCE
#define NNZ_AT_ONCE 4 // elements whose loads an item has under way together
#endif

#include "item/accumulate.h"
#include "spmv/evc_hyb_task.h"

#ifdef PERMUTED
#define Y_INDEX(index) (index)
#else
#define Y_INDEX(index) row_order[index]
#endif

// Adds up the sums of a row's `count` items, which are `apart` items apart; an item is number `number` of its row.
// Both are the same in the whole group. Valid in the first of each `count`.
acc_t reduce_apart(const acc_t mine, local acc_t *scratch, const uint number, const uint count, const uint apart)
{
    const uint item = (uint)get_local_id(0);
    acc_t sum = mine;
    scratch[item] = sum;
    for (uint half_count = count >> 1; half_count > 0; half_count >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (number < half_count) {
            sum = acc_add(sum, scratch[item + half_count * apart]);
            scratch[item] = sum;
        }
    }
    return sum;
}

// The sum of an item's products, in their order. Where fewer than NNZ_AT_ONCE are left, the last is loaded in the
// others' stead: most rows have so few elements, and wait for memory once.
acc_t sum_of_share(const evc_hyb_share_t mine, global const uint *columns, global const value_t *values,
                   global const real_t *x)
{
    real_t of_a[NNZ_AT_ONCE];
    real_t of_x[NNZ_AT_ONCE];
    uint column[NNZ_AT_ONCE];
    acc_t sum = acc_zero();
    ulong at = mine.at;
    uint left = mine.count;
    for (; left >= NNZ_AT_ONCE; left -= NNZ_AT_ONCE) {
#pragma unroll
        for (uint k = 0; k < NNZ_AT_ONCE; ++k)
            column[k] = load_column(columns, at + k * mine.stride);
#pragma unroll
        for (uint k = 0; k < NNZ_AT_ONCE; ++k) {
            of_a[k] = load_value(values, at + k * mine.stride);
            of_x[k] = gather_x(x, column[k]);
        }
#pragma unroll
        for (uint k = 0; k < NNZ_AT_ONCE; ++k)
            sum = acc_mad(sum, of_a[k], of_x[k]);
        at += NNZ_AT_ONCE * mine.stride;
    }
#if NNZ_AT_ONCE > 1
    if (left > 0) {
#pragma unroll
        for (uint k = 0; k < NNZ_AT_ONCE - 1; ++k) {
            const ulong own = at + min(k, left - 1) * mine.stride;
            of_a[k] = load_value(values, own);
            of_x[k] = gather_x(x, load_column(columns, own));
        }
#pragma unroll
        for (uint k = 0; k < NNZ_AT_ONCE - 1; ++k) {
            if (k < left)
                sum = acc_mad(sum, of_a[k], of_x[k]);
        }
    }
#endif
    return sum;
}

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void evc_hyb(ARRAY_PARAMETER(const evc_hyb_task_t, tasks),
                    ARRAY_PARAMETER(const uint, row_order),
                    ARRAY_PARAMETER(const uint, row_lengths),
                    ARRAY_PARAMETER(const ulong, long_starts),
                    ARRAY_PARAMETER(const uint, columns),
                    ARRAY_PARAMETER(const value_t, values),
                    ARRAY_PARAMETER(const real_t, x),
                    ARRAY_PARAMETER(real_t, y),
                    SCALAR_PARAMETER(alpha),
                    SCALAR_PARAMETER(beta))
{
    OPEN_ARRAY(const evc_hyb_task_t, tasks);
    OPEN_ARRAY(const uint, row_order);
    OPEN_ARRAY(const uint, row_lengths);
    OPEN_ARRAY(const ulong, long_starts);
    OPEN_ARRAY(const uint, columns);
    OPEN_ARRAY(const value_t, values);
    OPEN_ARRAY(const real_t, x);
    OPEN_ARRAY(real_t, y);
    OPEN_SCALAR(alpha);
    OPEN_SCALAR(beta);
    local acc_t scratch[GROUP_SIZE];

    const evc_hyb_task_t task = tasks[get_group_id(0)];
    const uint item = (uint)get_local_id(0);
    const uint at_once = rows_at_once(task);
    const uint share = evc_hyb_number(task, item);
    uint row = evc_hyb_row(task, item);

    // Of several rows an item has each by itself, and the last as if it had no other.
    for (uint last = at_once; last < task.rows; last += at_once) {
        const evc_hyb_share_t mine = evc_hyb_share(task, row_lengths, long_starts, row, share);
        const uint index = Y_INDEX(task.first + row);
        store_result(y, index, alpha, sum_of_share(mine, columns, values, x), beta);
        row += at_once;
    }
    const int has_row = row < task.rows;
    acc_t sum = acc_zero();
    uint index = 0;
    if (has_row) {
        const evc_hyb_share_t mine = evc_hyb_share(task, row_lengths, long_starts, row, share);
        // Loaded before it is needed, so that nothing waits for it at the end.
        index = Y_INDEX(task.first + row);
        sum = sum_of_share(mine, columns, values, x);
    }
    sum = reduce_apart(sum, scratch, share, 1u << task.items_log, task.stride != 0 ? at_once : 1);
    if (has_row && share == 0)
        store_result(y, index, alpha, sum, beta);
}
