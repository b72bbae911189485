// batched_csr_scalar, batched_csr_vector, batched_csr_smart: rows by one item, by a bunch, or by as many items as
// a row of the problem has nonzeros on average, rounded up to a power of two (Anzt et al. 2017, section 3.4).
#ifndef BATCHED_CSR_ROWS_H
#define BATCHED_CSR_ROWS_H

#include "batched/task.h"
#include "subgroup/bunch.h"

// Items that share a row.
uint csr_rows_width(const task_t *task)
{
    if (task->kind == KIND_CSR_SCALAR)
        return 1;
    if (task->kind == KIND_CSR_VECTOR)
        return BUNCH_SIZE;
    uint width = 1;
    while (width < BUNCH_SIZE && (ulong)width * task->rows < task->nnz)
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

#endif
