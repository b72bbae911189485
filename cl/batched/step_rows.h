// What a plan notes of the rows of each step, for single problems whose sub-groups walk by themselves (walk.h) and go
// by twos (twos.h): found once (find_step_rows.h), since it depends on the pattern alone, instead of by every launch.
//
//   marks   for each step TURNS bits an item: bit `turn` says that a row begins, or the task's nonzeros end, between
//           the two that the item takes then
//   opens   for each step 15 bits, the row that is open where it begins: 0 for the first; and the number of rows for
//           what begins behind the last nonzero. And a bit, whether the step is uneven: as many items as share each of
//           its rows would add up more than LONG_PART nonzeros each of the longest, while all others wait
//
// Of each task marks come first, then opens, where its word 6 says (task.h). Steps are counted through the task, since
// chunks are whole steps. A step has a word for its open row, which is half of it too much, and never too little with
// the one behind the last. For each step of 256 nonzeros that is 20 bytes, 0.7% of the batch.
//
// On an H200 it is marks that gain: 1,000 problems with 16-bit columns take 4% less. To look for the open row takes as
// long as to read it, within 2% either way (docs/notebook/2026-11-27-batches-plan-notes-h200.md).
#ifndef BATCHED_STEP_ROWS_H
#define BATCHED_STEP_ROWS_H

#include "batched/chunks.h"

// A row is long that has more nonzeros than this in a step.
#define LONG_PART 64

// What `opens` say of a step; where nothing is noted, there are rows alone.
#ifdef ROWS_PLANNED
#define OPEN_ROW(open) ((open) & 0x7fff)
#define IS_UNEVEN(open) ((open) & 0x8000)
#else
#define OPEN_ROW(open) (open)
#define IS_UNEVEN(open) 0
#endif

#ifdef ROWS_PLANNED
// Steps of a task of so many nonzeros, before which there are up to ALIGNED - 1 places, and words of their marks.
#define TASK_STEPS(nnz) (((nnz) + ALIGNED - 1 + STEP - 1) / STEP)
#define MARK_WORDS(nnz) (TASK_STEPS(nnz) * (STEP / 64))

global const uchar *marks_of(global const uint *notes, const task_t *task)
{
    return (global const uchar *)(notes + task->extra);
}

global const ushort *opens_of(global const uint *notes, const task_t *task)
{
    return (global const ushort *)(notes + task->extra + MARK_WORDS(task->nnz));
}

// The marks of an item in the step that begins at place `first`.
uint load_marks(global const uchar *marks, const uint first, const uint lane)
{
    return marks[first / 16 + lane * TURNS / 8] >> lane * TURNS % 8;
}

// Opens of a chunk of so many steps, two an item: that of its lane, and in the upper half the one a sub-group further
// on. The host sees to it that there are no more.
uint load_opens(global const ushort *opens, const uint steps, const uint lane)
{
    const uint one = lane <= steps ? opens[lane] : 0;
    const uint other = lane + SUB_GROUP_SIZE <= steps ? opens[lane + SUB_GROUP_SIZE] : 0;
    return one | other << 16;
}

// What is noted of where the chunk's step `step` begins. All items of a sub-group call it.
uint open_at(const uint opens, const uint step)
{
    return shuffle_word(step < SUB_GROUP_SIZE ? opens & 0xffff : opens >> 16, step % SUB_GROUP_SIZE);
}
#endif

#endif
