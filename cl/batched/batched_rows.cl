// batched_csr_scalar, batched_csr_vector, batched_csr_smart: rows by one item, by a sub-group, or by as many items as
// a row of the problem has nonzeros on average, rounded up to a power of two (Anzt et al. 2017, section 3.4).
//
// Where the items of a sub-group run in step and shuffle, an item has several rows under way at once, and partial sums
// are combined without a barrier. Elsewhere they are combined in local memory, which takes barriers of the group: a
// sub-group that has a task of its own then gives each row to one item.
//
// Local memory: X_LOCAL elements of x, and a sum an item.
#include "batched/operands.h"
#include "subgroup/sub_group.h"

// Returns the number of items that share a row.
uint items_per_row(const task_t *task)
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

// Returns the sum of every `width`-th entry of a row, from entry `part` of it on.
real_t row_part(const operands_t *from, global const offset_t *restrict offsets, const uint row, const uint part,
                const uint width)
{
    const ulong last = (ulong)(offsets[row + 1] - offsets[0]);
    real_t sum = 0;
    for (ulong at = (ulong)(offsets[row] - offsets[0]) + part; at < last; at += width)
        sum = add_entry(from, at, from->columns[at], sum);
    return sum;
}

#ifdef SUB_GROUP_BALLOT
#define ROWS_AT_ONCE 4 // rows of an item whose loads do not wait for each other

// Computes every row of the task by `items` items, `width` a row. All items of a sub-group call it.
void compute_shared_rows(const task_t *task, const operands_t *from, global const offset_t *restrict offsets,
                         const uint item, const uint items, const uint width, global real_t *restrict y,
                         const real_t alpha, const real_t beta)
{
    const uint rows_per_pass = items >> LOG2(width);
    const uint own_row = item >> LOG2(width);
    const uint part = item & (width - 1);
    const offset_t first = offsets[0];
    for (uint base = 0; base < task->rows; base += ROWS_AT_ONCE * rows_per_pass) {
        uint at[ROWS_AT_ONCE];
        uint last[ROWS_AT_ONCE];
        real_t sums[ROWS_AT_ONCE];
        uint is_going_on = 0;
#pragma unroll
        for (uint number = 0; number < ROWS_AT_ONCE; ++number) {
            const uint row = base + number * rows_per_pass + own_row;
            const int is_row = row < task->rows;
            at[number] = is_row ? (uint)(offsets[row] - first) + part : 0;
            last[number] = is_row ? (uint)(offsets[row + 1] - first) : 0;
            sums[number] = 0;
            is_going_on |= at[number] < last[number];
        }
        while (is_going_on) {
            uint columns[ROWS_AT_ONCE];
            real_t values[ROWS_AT_ONCE];
#pragma unroll
            for (uint number = 0; number < ROWS_AT_ONCE; ++number) {
                const int is_entry = at[number] < last[number];
                columns[number] = is_entry ? from->columns[at[number]] : 0;
                values[number] = is_entry ? load_value(from->values, at[number]) : 0;
            }
            is_going_on = 0;
#pragma unroll
            for (uint number = 0; number < ROWS_AT_ONCE; ++number) {
                if (at[number] < last[number])
                    sums[number] = fma(values[number], x_of(from, columns[number]), sums[number]);
                at[number] += width;
                is_going_on |= at[number] < last[number];
            }
        }
#pragma unroll
        for (uint number = 0; number < ROWS_AT_ONCE; ++number) {
            const uint row = base + number * rows_per_pass + own_row;
            const real_t sum = sub_group_sum_runs(sums[number], width);
            if (part == 0 && row < task->rows)
                store_result(y, task->y + row, alpha, sum, beta);
        }
    }
}
#endif

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void batched(const uint task_count,
                    const uint whole,
                    const ulong16 range,
                    ARRAY_PARAMETER(const ulong, tasks),
                    ARRAY_PARAMETER(const offset_t, index),
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
    OPEN_ARRAY(const offset_t, index);
    OPEN_ARRAY(const column_t, columns);
    OPEN_ARRAY(const value_t, values);
    OPEN_ARRAY(const real_t, x);
    OPEN_ARRAY(real_t, y);
    local real_t staged_x[X_LOCAL];

    const uint local_id = (uint)get_local_id(0);
    const uint group = (uint)get_group_id(0);
    const int is_whole = group < whole;
    // Items that compute the task, and this one's number among them.
    const uint items = is_whole ? GROUP_SIZE : SUB_GROUP_SIZE;
    const uint item = is_whole ? local_id : local_id % SUB_GROUP_SIZE;
    const uint number =
        is_whole ? group : whole + (group - whole) * SUB_GROUPS_PER_GROUP + local_id / SUB_GROUP_SIZE;
    task_t task;
    find_task(tasks, range, task_count, number, &task);
    const real_t its_alpha = SCALAR_OF(alpha, task.problem);
    const real_t its_beta = SCALAR_OF(beta, task.problem);
    global const offset_t *restrict offsets = index + task.index;
    operands_t from;
    from.columns = columns + task.columns;
    from.values = values + task.values;
    from.x = x + task.x;
    from.staged_x = staged_x;
    from.is_staged = is_whole && task.cols <= X_LOCAL;
    uint width = items_per_row(&task);
#ifndef SUB_GROUP_BALLOT
    if (!is_whole)
        width = 1; // sub-groups with tasks of their own reach no barrier together
#endif

#ifdef SUB_GROUP_BALLOT
    if (from.is_staged) {
        stage_x(from.x, task.cols, staged_x);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (width > 1) {
        compute_shared_rows(&task, &from, offsets, item, items, width, y, its_alpha, its_beta);
        return;
    }
#else
    // PoCL 3.1 miscompiles barriers inside branches.
    local real_t parts[GROUP_SIZE];
    if (from.is_staged)
        stage_x(from.x, task.cols, staged_x);
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint rows_per_pass = items >> LOG2(width);
    const uint shared_rows = width > 1 ? task.rows : 0;
    for (uint base = 0; base < shared_rows; base += rows_per_pass) {
        const uint row = base + (item >> LOG2(width));
        const uint part = item & (width - 1);
        parts[local_id] = row < task.rows ? row_part(&from, offsets, row, part, width) : 0;
        SUB_GROUP_BARRIER();
        if (part == 0 && row < task.rows) {
            real_t sum = parts[local_id];
            for (uint other = 1; other < width; ++other)
                sum += parts[local_id + other];
            store_result(y, task.y + row, its_alpha, sum, its_beta);
        }
        SUB_GROUP_BARRIER();
    }
#endif
    // Items of a sub-group read entries apart from each other: several rows of each would be too many cache lines.
    const uint own_rows = width == 1 ? task.rows : 0;
    for (uint row = item; row < own_rows; row += items)
        store_result(y, task.y + row, its_alpha, row_part(&from, offsets, row, 0, 1), its_beta);
}
