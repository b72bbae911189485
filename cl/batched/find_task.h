// Which task is an item's, of a batch whose tasks are listed, or packed, or follow from numbers (task.h).
//
// The last two strided ranges come with the launch, for no item waits then until it has found its own; others lie in
// memory.
//
// A packed list, of many small problems, has fewer words a task instead. Its fields stand there in as many bits as that
// takes, from bit 0 on (`widths`: 6 bits a field, in their order). A group of fields is in one word, and may begin the
// next (`widths` from GROUPS_BIT on, a bit for each group but the first):
//
//   0  the place in `values`; the problem; the kind
//   1  y; rows; nonzeros or entries of a row
//   2  x beyond y; columns beyond rows
//   3  the place in `columns` beyond that in `values`
//   4  word 2 beyond what it `follows`
//
// The last three are counted from the least of all. They mostly are the same for all tasks and have no bits then, so
// two words at most are all.
#ifndef BATCHED_FIND_TASK_H
#define BATCHED_FIND_TASK_H

#include "batched/task.h"

#ifndef ONE_RANGE
#define FOLLOWS_ROWS 1 // row offsets: y and the problem's number, since each problem has one more than rows
#define FOLLOWS_VALUES 2 // row indices
#define GROUPS_BIT 60 // of the second group

// The lowest bits of a word, which loses them: as many as field `field` has, of a place.
ulong take_place(ulong *word, const ulong widths, const uint field)
{
    const uint width = (uint)(widths >> (6 * field)) & 63;
    const ulong bits = *word & (((ulong)1 << width) - 1);
    *word >>= width;
    return bits;
}

// The same of a number below 2^31.
uint take_number(ulong *word, const ulong widths, const uint field)
{
    const uint width = (uint)(widths >> (6 * field)) & 63;
    const uint bits = (uint)*word & ((1u << width) - 1);
    *word >>= width;
    return bits;
}

// Whether a group of fields begins a word.
int begins_word(const ulong widths, const uint group)
{
    return (int)(widths >> (GROUPS_BIT + group - 1)) & 1;
}

// Adds what the words of a packed task say to `task`, which holds the least of all.
void add_packed_task(global const ulong *restrict words, const ulong widths, const uint follows, task_t *task)
{
    ulong word = words[0];
    const ulong values = take_place(&word, widths, 0);
    const uint problem = take_number(&word, widths, 1);
    task->kind += take_number(&word, widths, 2);
    if (begins_word(widths, 1))
        word = *++words;
    const ulong y = take_place(&word, widths, 3);
    const uint rows = take_number(&word, widths, 4);
    task->nnz += take_number(&word, widths, 5);
    if (widths << 4 >> 40 != 0) {
        if (begins_word(widths, 2))
            word = *++words;
        task->x += take_place(&word, widths, 6);
        task->cols += take_number(&word, widths, 7);
        if (begins_word(widths, 3))
            word = *++words;
        task->columns += take_place(&word, widths, 8);
        if (begins_word(widths, 4))
            word = *++words;
        task->index += take_place(&word, widths, 9);
    }
    task->values += values;
    task->columns += values;
    task->x += y;
    task->y += y;
    task->rows += rows;
    task->cols += rows;
    task->problem += problem;
    if (follows == FOLLOWS_ROWS)
        task->index += y + problem;
    else if (follows == FOLLOWS_VALUES)
        task->index += values;
    task->extra = task->kind == KIND_ELL ? task->rows : 0;
}

// The task of a number, of one among `count` strided ranges in memory.
void read_task_of_range(global const ulong *restrict ranges, const uint count, const uint number, task_t *task)
{
    uint found = 0;
    uint beyond = count;
    while (beyond - found > 1) {
        const uint middle = found + (beyond - found) / 2;
        if (ranges[middle * RANGE_WORDS + RANGE_FIRST] <= number)
            found = middle;
        else
            beyond = middle;
    }
    const ulong16 range = vload16(found, ranges);
    set_task_of_range(range, number - (uint)range.sd, task);
}

// Task `number` of a launch, of which the first `listed` are listed in `tasks`. Behind them come `range_count`
// strided ranges, or all are packed, `packed_words` each.
void find_task(const uint number, const uint listed, global const ulong *restrict tasks, const uint packed_words,
               const ulong widths, const uint follows, global const ulong *restrict ranges, const uint range_count,
               const ulong16 last, const ulong16 before_last, task_t *task)
{
    const uint of_ranges = number - listed;
    if (number < listed)
        read_task(tasks + (ulong)number * TASK_WORDS, task);
#ifndef FEW_RANGES
    else if (packed_words > 0) {
        set_task_of_range(last, 0, task);
        add_packed_task(tasks + (ulong)number * packed_words, widths, follows, task);
    } else if (of_ranges < (uint)before_last.sd)
        read_task_of_range(ranges, range_count - 2, of_ranges, task);
#endif
    else if (of_ranges < (uint)last.sd)
        set_task_of_range(before_last, of_ranges - (uint)before_last.sd, task);
    else
        set_task_of_range(last, of_ranges - (uint)last.sd, task);
}
#endif

#endif
