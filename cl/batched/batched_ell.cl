// batched_ell: an item a row; entries of neighbouring rows lie side by side, so that items load them together
// (Anzt et al. 2017, section 3.6). Rows are filled up to equal lengths; what fills them has no column (PADDING) and
// is not multiplied: 0 x Inf is NaN in a row that does not depend on it.
//
// Sliced: rows are filled up to the longest of SLICE_ROWS neighbours, and `index` says where each slice begins.
//
// Local memory: X_LOCAL elements of x.
#include "batched/operands.h"

// Returns the sum of a row's `count` entries, from entry `begin` on, `stride` apart.
real_t ell_sum(const operands_t *from, const ulong begin, const uint stride, const uint count)
{
    real_t sum = 0;
    ulong at = begin;
    for (uint entry = 0; entry < count; ++entry) {
        const uint column = from->columns[at];
        if (column != PADDING)
            sum = add_entry(from, at, column, sum);
        at += stride;
    }
    return sum;
}

// Returns the sum of a row of a task, sliced or not.
real_t row_sum(const task_t *task, const operands_t *from, global const uint *restrict slices, const uint row)
{
    if (task->kind == KIND_ELL)
        return ell_sum(from, row, task->extra, task->nnz);
    global const uint *slice = slices + row / SLICE_ROWS;
    const uint count = (slice[1] - slice[0]) / SLICE_ROWS;
    return ell_sum(from, slice[0] - slices[0] + row % SLICE_ROWS, SLICE_ROWS, count);
}

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void batched(const uint task_count,
                    const uint whole,
                    const ulong16 range,
                    ARRAY_PARAMETER(const ulong, tasks),
                    ARRAY_PARAMETER(const uint, index),
                    ARRAY_PARAMETER(const column_t, columns),
                    ARRAY_PARAMETER(const value_t, values),
                    ARRAY_PARAMETER(const real_t, x),
                    ARRAY_PARAMETER(real_t, y),
                    SCALAR_PARAMETER(alpha),
                    SCALAR_PARAMETER(beta),
                    const uint alpha_stride,
                    const uint beta_stride)
{
    OPEN_ARRAY(const ulong, tasks);
    OPEN_ARRAY(const uint, index);
    OPEN_ARRAY(const column_t, columns);
    OPEN_ARRAY(const value_t, values);
    OPEN_ARRAY(const real_t, x);
    OPEN_ARRAY(real_t, y);
    local real_t staged_x[X_LOCAL];

    const uint item = (uint)get_local_id(0);
    const uint group = (uint)get_group_id(0);
    const int is_whole = group < whole;
    const uint first = is_whole ? item : item % SUB_GROUP_SIZE;
    const uint items = is_whole ? GROUP_SIZE : SUB_GROUP_SIZE;
    const uint number = is_whole ? group : whole + (group - whole) * SUB_GROUPS_PER_GROUP + item / SUB_GROUP_SIZE;
    task_t task;
    find_task(tasks, range, task_count, number, &task);
    const real_t its_alpha = SCALAR_OF(alpha, task.problem);
    const real_t its_beta = SCALAR_OF(beta, task.problem);
    operands_t from;
    from.columns = columns + task.columns;
    from.values = values + task.values;
    from.x = x + task.x;
    from.staged_x = staged_x;
    from.is_staged = is_whole && task.cols <= X_LOCAL;
    if (from.is_staged)
        stage_x(from.x, task.cols, staged_x);
    barrier(CLK_LOCAL_MEM_FENCE);

    for (uint row = first; row < task.rows; row += items) {
        const real_t sum = row_sum(&task, &from, index + task.index, row);
        store_result(y, task.y + row, its_alpha, sum, its_beta);
    }
}
