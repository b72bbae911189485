// Makes what step_columns.h describes, when a plan is made: a kernel of the program FORWARD, whose steps they are. A
// group for each step of each of the two copies.
#ifndef BATCHED_FIND_STEP_COLUMNS_H
#define BATCHED_FIND_STEP_COLUMNS_H

#include "batched/step_columns.h"

#if defined(COLUMNS_PLANNED) && defined(FORWARD)
// `range` is that of the problems, of which each copy has so many `steps`.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void find_step_columns(const uint steps,
                              const ulong16 range,
                              ARRAY_PARAMETER(const offset_t, offsets),
                              ARRAY_PARAMETER(const column_t, columns),
                              ARRAY_PARAMETER(uint, step_columns))
{
    OPEN_ARRAY(const offset_t, offsets);
    OPEN_ARRAY(const column_t, columns);
    OPEN_ARRAY(uint, step_columns);
    local uint apart[STEP / 2];
    const uint item = (uint)get_local_id(0);
    const uint gap = (uint)get_group_id(0) / steps;
    const uint first = (uint)get_group_id(0) % steps * STEP;
    task_t task;
    set_task_of_range(range, 0, &task);
    global const offset_t *restrict its_offsets = offsets + task.index;
    global const column_t *restrict its_columns = columns + task.columns;

    for (uint at = item; at < STEP / 2; at += GROUP_SIZE)
        apart[at] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint row = item; row <= task.rows; row += GROUP_SIZE) {
        // Behind the step, too, if before it.
        const uint at = (uint)(its_offsets[row] - its_offsets[0]) + gap - first;
        if (at < STEP && at % 2 == 1)
            atomic_or(&apart[at / 2], ARE_APART);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    global uint *copy = step_columns + (gap * COPY_WORDS(task.nnz) + first / 2);
    for (uint at = item; at < STEP / 2; at += GROUP_SIZE) {
        const uint one = first + 2 * at - gap; // behind all nonzeros, if before the first
        const uint column = one < task.nnz ? its_columns[one] : 0;
        const uint next = one + 1 < task.nnz ? its_columns[one + 1] : 0;
        copy[at] = X_PLACE(column) | apart[at] | X_PLACE(next) << 16;
    }
}
#endif

#endif
