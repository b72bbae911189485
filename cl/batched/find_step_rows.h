// Finds what step_rows.h describes, when a plan is made: a kernel of the program FORWARD, whose steps they are. A group
// for each task; its items take rows, which say where they begin.
#ifndef BATCHED_FIND_STEP_ROWS_H
#define BATCHED_FIND_STEP_ROWS_H

#include "batched/batched_csr_i.h"
#include "batched/find_task.h"
#include "batched/step_rows.h"

#if defined(ROWS_PLANNED) && defined(FORWARD)
// Arguments are those of `batched` (batched.cl), as far as they say which task is which.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void find_step_rows(const uint listed,
                           const uint range_count,
                           const ulong16 last,
                           const ulong16 before_last,
                           ARRAY_PARAMETER(const ulong, tasks),
                           ARRAY_PARAMETER(const ulong, ranges),
                           ARRAY_PARAMETER(const offset_t, offsets),
                           ARRAY_PARAMETER(uint, step_rows))
{
    OPEN_ARRAY(const ulong, tasks);
    OPEN_ARRAY(const ulong, ranges);
    OPEN_ARRAY(const offset_t, offsets);
    OPEN_ARRAY(uint, step_rows);
    local uint marks[65536 / 64]; // more places no task has
    local uint opens[65536 / STEP + 1];
    local uint longest[65536 / STEP + 1];
    const uint item = (uint)get_local_id(0);
    const uint number = (uint)get_group_id(0);
    task_t task;
#ifdef ONE_RANGE
    set_task_of_range(last, number, &task);
#else
    find_task(number, listed, tasks, 0, 0, 0, ranges, range_count, last, before_last, &task);
#endif
    task.kind = KIND_CSR_I;
    task.gap = gap_before(&task, task.values);
    const uint words = MARK_WORDS(task.nnz);
    const uint steps = TASK_STEPS(task.nnz);
    const uint stop = task.gap + task.nnz;

    for (uint word = item; word < words; word += GROUP_SIZE)
        marks[word] = 0;
    for (uint step = item; step <= steps; step += GROUP_SIZE) {
        opens[step] = step > 0 ? task.rows : 0;
        longest[step] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    global const offset_t *restrict its_offsets = offsets + task.index;
    const offset_t first = its_offsets[0];
    for (uint row = item; row <= task.rows; row += GROUP_SIZE) {
        const uint begin = (uint)(its_offsets[row] - first) + task.gap;
        if (begin % 2 == 1) {
            const uint of_step = begin % STEP / 2;
            const uint bit = of_step % SUB_GROUP_SIZE * TURNS + of_step / SUB_GROUP_SIZE;
            atomic_or(&marks[begin / STEP * (STEP / 64) + bit / 32], 1u << bit % 32);
        }
        const uint end = row < task.rows ? (uint)(its_offsets[row + 1] - first) + task.gap : stop;
        for (uint step = begin / STEP; step * STEP < end; ++step) {
            const uint part = min(end, (step + 1) * STEP) - max(begin, step * STEP);
            if (step > 0 && step * STEP >= begin)
                opens[step] = row;
            if (part > LONG_PART)
                atomic_max(&longest[step], part);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    global uint *its_marks = (global uint *)marks_of(step_rows, &task);
    for (uint word = item; word < words; word += GROUP_SIZE)
        its_marks[word] = marks[word];
    global ushort *its_opens = (global ushort *)opens_of(step_rows, &task);
    for (uint step = item; step <= steps; step += GROUP_SIZE) {
        const uint width = step < steps ? step_width(opens[step + 1] - opens[step] + 1) : SUB_GROUP_SIZE;
        const int is_uneven = longest[step] > LONG_PART * width;
        its_opens[step] = (ushort)(opens[step] | (is_uneven ? IS_UNEVEN(~0u) : 0));
    }
}
#endif

#endif
