// Tasks of a batch some of whose problems are cut, made on the device, since where rows are cut depends on row offsets
// that need not leave it.
//
// The host knows how large problems are. It writes a draft for each task: the words of task.h as if the task were
// its whole problem, and two more: which part it is (lower half) of how many (upper half), and what work a part of
// a CSR problem holds (lower half), where a nonzero counts 1 and a row as much as the upper half says. Here an item
// for each task finds the part's rows.
//
// Parts of a CSR problem end at the first row before which there is a multiple of that work: so a part's rows are at
// most work / weight of a row, and its nonzeros at most the work and one row. Parts of a COO problem have equal
// entries, but for whole rows; of an ELL problem equal rows, in whole slices.

#ifndef GROUP_SIZE
#define GROUP_SIZE 64 // items of a work-group
#endif

#include "batched/task.h"

#define DRAFT_WORDS 10

// The first row before which there is at least `work`; `rows` if that is too much.
uint row_at_work(global const offset_t *restrict offsets, const uint rows, const uint row_weight,
                 const ulong work)
{
    const ulong first = offsets[0];
    uint low = 0;
    uint high = rows;
    while (low < high) {
        const uint middle = low + (high - low) / 2;
        if ((ulong)offsets[middle] - first + (ulong)middle * row_weight < work)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// The first of `count` entries whose row is `row` or later.
uint entry_of_row(global const uint *restrict rows, const uint count, const uint row)
{
    uint low = 0;
    uint high = count;
    while (low < high) {
        const uint middle = low + (high - low) / 2;
        if (rows[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void plan_batch(const uint task_count,
                       ARRAY_PARAMETER(const ulong, drafts),
                       ARRAY_PARAMETER(const offset_t, offsets),
                       ARRAY_PARAMETER(const uint, indices),
                       ARRAY_PARAMETER(ulong, tasks))
{
    OPEN_ARRAY(const ulong, drafts);
    OPEN_ARRAY(const offset_t, offsets);
    OPEN_ARRAY(const uint, indices);
    OPEN_ARRAY(ulong, tasks);
    const ulong index = get_global_id(0);
    if (index >= task_count)
        return;
    global const ulong *draft = drafts + index * DRAFT_WORDS;
    task_t task;
    read_task(draft, &task);
    const uint part = (uint)draft[8];
    const uint parts = (uint)(draft[8] >> 32);
    const ulong part_work = (uint)draft[9];
    const uint row_weight = (uint)(draft[9] >> 32);

    uint first = 0; // the part's first row
    uint beyond = task.rows;
    ulong skipped = 0; // entries before it
    ulong index_skipped = 0;
    if (task.kind <= KIND_CSR_I) {
        global const offset_t *of_problem = offsets + task.index;
        if (parts > 1) {
            first = row_at_work(of_problem, task.rows, row_weight, part * part_work);
            if (part + 1 < parts)
                beyond = row_at_work(of_problem, task.rows, row_weight, (part + 1) * part_work);
            skipped = (ulong)of_problem[first] - of_problem[0];
            index_skipped = first;
            task.nnz = (uint)((ulong)of_problem[beyond] - of_problem[first]);
        }
    } else if (task.kind == KIND_COO) {
        global const uint *rows = indices + task.index;
        if (parts > 1 && part > 0)
            first = rows[(ulong)task.nnz * part / parts];
        if (parts > 1 && part + 1 < parts)
            beyond = rows[(ulong)task.nnz * (part + 1) / parts];
        const uint entry = part > 0 ? entry_of_row(rows, task.nnz, first) : 0;
        const uint last_entry = part + 1 < parts ? entry_of_row(rows, task.nnz, beyond) : task.nnz;
        skipped = entry;
        index_skipped = entry;
        task.nnz = last_entry - entry;
        task.extra = first;
    } else if (parts > 1) {
        const uint slices = (task.rows + SLICE_ROWS - 1) / SLICE_ROWS;
        first = (uint)((ulong)slices * part / parts) * SLICE_ROWS;
        beyond = min((uint)((ulong)slices * (part + 1) / parts) * SLICE_ROWS, task.rows);
        skipped = first;
        if (task.kind == KIND_SLICED_ELL) {
            index_skipped = first / SLICE_ROWS;
            skipped = indices[task.index + index_skipped] - indices[task.index];
        }
    }
    global ulong *words = tasks + index * TASK_WORDS;
    words[0] = task.values + skipped;
    words[1] = task.columns + skipped;
    words[2] = task.index + index_skipped;
    words[3] = task.x;
    words[4] = task.y + first;
    words[5] = (ulong)(beyond - first) | (ulong)task.cols << 32;
    words[6] = (ulong)task.nnz | (ulong)task.extra << 32;
    words[7] = (ulong)task.kind | (ulong)task.problem << 32;
}
