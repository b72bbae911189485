// batched_ell: an item a row; entries of neighbouring rows lie side by side, so that items load them together
// (Anzt et al. 2017, section 3.6). Rows are filled up to equal lengths; what fills them has no column (PADDING) and
// is not multiplied: 0 x Inf is NaN in a row that does not depend on it.
//
// Sliced: rows are filled up to the longest of SLICE_ROWS neighbours, `indices` say where each slice begins.
#ifndef BATCHED_ELL_H
#define BATCHED_ELL_H

#include "batched/task.h"

// The entries of a row: `count` of them from `at` on, `stride` apart.
real_t ell_row(const task_t *task, const matrices_t *from, const ulong begin, const uint stride,
               const uint count)
{
    real_t sum = 0;
    ulong at = begin;
    for (uint entry = 0; entry < count; ++entry) {
        const uint column = from->columns[task->columns + at];
        if (column != PADDING)
            sum = fma(load_value(from->values, task->values + at), task_x(task, from, column), sum);
        at += stride;
    }
    return sum;
}

// A row of a task, sliced or not.
real_t ell_dot(const task_t *task, const matrices_t *from, global const uint *restrict indices,
               const uint row)
{
    if (task->kind == KIND_ELL)
        return ell_row(task, from, row, task->extra, task->nnz);
    global const uint *slice = indices + task->index + row / SLICE_ROWS;
    const uint first = slice[0] - indices[task->index];
    const uint count = (slice[1] - slice[0]) / SLICE_ROWS;
    return ell_row(task, from, first + row % SLICE_ROWS, SLICE_ROWS, count);
}

// Every row of the task: `members` items take one each in turn.
void walk_ell_rows(const task_t *task, const matrices_t *from, global const uint *restrict indices,
                   const uint member, const uint members, global real_t *restrict y, const real_t alpha,
                   const real_t beta)
{
    for (uint row = member; row < task->rows; row += members)
        store_result(y, task->y + row, alpha, ell_dot(task, from, indices, row), beta);
}

#endif
