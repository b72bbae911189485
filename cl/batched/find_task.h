// Which task is an item's, of a batch whose tasks are listed, or packed, or follow from numbers (task.h).
//
// The last two stretches come with the launch, for no item waits then until it has found its own; others lie in memory.
//
// A packed list, of many small problems, has one or two words a task instead. What a task has beyond the least of all
// stands there in as many bits as that takes (`widths`: 5 bits a field from bit 0 on, in their order):
//
//   the place in `values`, which that in `columns` keeps in step with; the problem; the kind; and in the second word,
//   if there is one, y; x beyond y; rows; columns beyond rows; nonzeros or entries of a row
//
// `follows` says what word 2 keeps in step with.
#ifndef BATCHED_FIND_TASK_H
#define BATCHED_FIND_TASK_H

#include "batched/task.h"

#ifndef ONE_STRETCH
#define FOLLOWS_ROWS 1 // row offsets: y and the problem's number, since each problem has one more than rows
#define FOLLOWS_VALUES 2 // row indices

// The lowest bits of a word, which loses them: as many as field `field` has.
uint take_field(ulong *word, const ulong widths, const uint field)
{
    const uint width = (uint)(widths >> (5 * field)) & 31;
    const uint bits = (uint)*word & ((1u << width) - 1);
    *word >>= width;
    return bits;
}

// Adds what the one or two words of a packed task say to `task`, which holds the least of all.
void add_packed_task(global const ulong *restrict words, const uint count, const ulong widths,
                     const uint follows, task_t *task)
{
    ulong word = words[0];
    const uint value = take_field(&word, widths, 0);
    const uint problem = take_field(&word, widths, 1);
    task->kind += take_field(&word, widths, 2);
    if (count > 1)
        word = words[1];
    const ulong y = take_field(&word, widths, 3);
    task->x += y + take_field(&word, widths, 4);
    const uint rows = take_field(&word, widths, 5);
    task->cols += rows + take_field(&word, widths, 6);
    task->nnz += take_field(&word, widths, 7);
    task->values += value;
    task->columns += value;
    task->y += y;
    task->rows += rows;
    task->problem += problem;
    if (follows == FOLLOWS_ROWS)
        task->index += y + problem;
    else if (follows == FOLLOWS_VALUES)
        task->index += value;
    task->extra = task->kind == KIND_ELL ? task->rows : 0;
}

// The task of a number, of one among `count` stretches in memory.
void read_task_of_stretch(global const ulong *restrict stretches, const uint count, const uint number, task_t *task)
{
    uint found = 0;
    uint beyond = count;
    while (beyond - found > 1) {
        const uint middle = found + (beyond - found) / 2;
        if (stretches[middle * STRETCH_WORDS + STRETCH_FIRST] <= number)
            found = middle;
        else
            beyond = middle;
    }
    const ulong16 stretch = vload16(found, stretches);
    set_task_of_stretch(stretch, number - (uint)stretch.sd, task);
}

// Task `number` of a launch, of which the first `listed` are listed in `tasks`. Behind them come `stretch_count` stretches,
// or all are packed, `packed_words` each.
void find_task(const uint number, const uint listed, global const ulong *restrict tasks, const uint packed_words,
               const ulong widths, const uint follows, global const ulong *restrict stretches, const uint stretch_count,
               const ulong16 last, const ulong16 before_last, task_t *task)
{
    const uint of_stretches = number - listed;
    if (number < listed)
        read_task(tasks + (ulong)number * TASK_WORDS, task);
#ifndef FEW_STRETCHES
    else if (packed_words > 0) {
        set_task_of_stretch(last, 0, task);
        add_packed_task(tasks + (ulong)number * packed_words, packed_words, widths, follows, task);
    } else if (of_stretches < (uint)before_last.sd)
        read_task_of_stretch(stretches, stretch_count - 2, of_stretches, task);
#endif
    else if (of_stretches < (uint)last.sd)
        set_task_of_stretch(before_last, of_stretches - (uint)before_last.sd, task);
    else
        set_task_of_stretch(last, of_stretches - (uint)last.sd, task);
}
#endif

#endif
