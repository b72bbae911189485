// batched_csr_scalar, batched_csr_vector, batched_csr_smart: rows by one item, by a sub-group, or by as many items as
// a row of the problem has nonzeros on average, rounded up to a power of two (Anzt et al. 2017, section 3.4).
#ifndef BATCHED_CSR_ROWS_H
#define BATCHED_CSR_ROWS_H

#include "batched/task.h"
#include "subgroup/sub_group.h"

// Items that share a row.
uint csr_rows_width(const task_t *task)
{
    if (task->kind == KIND_CSR_SCALAR)
        return 1;
    if (task->kind == KIND_CSR_VECTOR)
        return SUB_GROUP_SIZE;
    uint width = 1;
    while (width < SUB_GROUP_SIZE && (ulong)width * task->rows < task->nnz)
        width <<= 1;
    return width;
}

// Every `width`-th product of a row, from the `part`-th on; `first` is the task's first row offset.
real_t csr_row_part(const task_t *task, const matrices_t *from, global const offset_t *restrict offsets,
                    const ulong first, const uint row, const uint part, const uint width)
{
    const ulong last = (ulong)offsets[row + 1] - first;
    real_t sum = 0;
    for (ulong at = (ulong)offsets[row] - first + part; at < last; at += width) {
        const uint column = from->columns[task->columns + at];
        sum = fma(load_value(from->values, task->values + at), task_x(task, from, column), sum);
    }
    return sum;
}

// Every row of the task: `members` items take one each in turn.
void walk_whole_rows(const task_t *task, const matrices_t *from, global const offset_t *restrict offsets,
                     const uint member, const uint members, global real_t *restrict y, const real_t alpha,
                     const real_t beta)
{
    const ulong first = offsets[0];
    for (uint row = member; row < task->rows; row += members)
        store_result(y, task->y + row, alpha, csr_row_part(task, from, offsets, first, row, 0, 1), beta);
}

#ifdef SUB_GROUP_BALLOT
#define ROWS_IN_FLIGHT 4 // rows of an item at once, whose loads do not wait for each other

// Every row of the task: `members` items take turns, `width` of them a row. All items of a sub-group call it.
void walk_csr_rows(const task_t *task, const matrices_t *from, global const offset_t *restrict offsets,
                   const uint member, const uint members, global real_t *restrict y, const real_t alpha,
                   const real_t beta)
{
    const uint width = csr_rows_width(task);
    if (width == 1) {
        // Items of a sub-group read entries apart from each other: several rows of each would be too many cache lines.
        walk_whole_rows(task, from, offsets, member, members, y, alpha, beta);
        return;
    }
    const uint rows_at_once = members >> LOG2(width);
    const uint own_row = member >> LOG2(width);
    const uint part = member & (width - 1);
    const offset_t first = offsets[0];
    for (uint base = 0; base < task->rows; base += ROWS_IN_FLIGHT * rows_at_once) {
        uint at[ROWS_IN_FLIGHT];
        uint last[ROWS_IN_FLIGHT];
        real_t sums[ROWS_IN_FLIGHT];
        uint is_going_on = 0;
#pragma unroll
        for (uint turn = 0; turn < ROWS_IN_FLIGHT; ++turn) {
            const uint row = base + turn * rows_at_once + own_row;
            const int is_there = row < task->rows;
            at[turn] = is_there ? (uint)(offsets[row] - first) + part : 0;
            last[turn] = is_there ? (uint)(offsets[row + 1] - first) : 0;
            sums[turn] = 0;
            is_going_on |= at[turn] < last[turn];
        }
        while (is_going_on) {
            uint columns[ROWS_IN_FLIGHT];
            real_t values[ROWS_IN_FLIGHT];
#pragma unroll
            for (uint turn = 0; turn < ROWS_IN_FLIGHT; ++turn) {
                const int is_there = at[turn] < last[turn];
                columns[turn] = is_there ? from->columns[task->columns + at[turn]] : 0;
                values[turn] = is_there ? load_value(from->values, task->values + at[turn]) : 0;
            }
            is_going_on = 0;
#pragma unroll
            for (uint turn = 0; turn < ROWS_IN_FLIGHT; ++turn) {
                if (at[turn] < last[turn])
                    sums[turn] = fma(values[turn], task_x(task, from, columns[turn]), sums[turn]);
                at[turn] += width;
                is_going_on |= at[turn] < last[turn];
            }
        }
#pragma unroll
        for (uint turn = 0; turn < ROWS_IN_FLIGHT; ++turn) {
            const uint row = base + turn * rows_at_once + own_row;
            const real_t sum = sub_group_sum_runs(sums[turn], width);
            if (part == 0 && row < task->rows)
                store_result(y, task->y + row, alpha, sum, beta);
        }
    }
}
#endif

#endif
