// What a plan notes of the rows of each step, for single problems ALIKE that go by twos (twos.h): found once
// (find_step_rows.h), since it depends on the pattern alone, instead of by every launch.
//
//   marks   for each step TURNS bits an item: bit `turn` says that a row begins, or the task's nonzeros end, between the
//           two that the item takes then
//   opens   for each step the row that is open where it begins, 16 bits: 0 for the first; and the number of rows for
//           what begins behind the last nonzero
//
// Marks of all problems come first, then opens of all. Steps are counted through the task, since pieces are whole steps.
// For each step of 256 nonzeros that is 18 bytes, 0.6% of the batch.
//
// On an H200 it is marks that gain: 1,000 problems with 16-bit columns take 4% less. To look for the open row takes as long
// as to read it, within 2% either way (docs/benchmarks.md, "Batches on the H200").
#ifndef BATCHED_STEP_ROWS_H
#define BATCHED_STEP_ROWS_H

#include "batched/pieces.h"

#ifdef ROWS_PLANNED
// Numbers of a problem of so many nonzeros, before which there are up to ALIGNED - 1 places.
#define OPENS(nnz) (((nnz) + ALIGNED - 1 + STEP - 1) / STEP + 1)
#define MARK_WORDS(nnz) ((OPENS(nnz) - 1) * (STEP / 64))

global const uchar *marks_of(global const uint *step_rows, const uint nnz, const uint problem)
{
    return (global const uchar *)(step_rows + (ulong)problem * MARK_WORDS(nnz));
}

global const ushort *opens_of(global const uint *step_rows, const uint nnz, const uint problem, const uint problems)
{
    return (global const ushort *)(step_rows + (ulong)problems * MARK_WORDS(nnz)) + (ulong)problem * OPENS(nnz);
}

// The marks of an item in the step that begins at place `first`.
uint load_marks(global const uchar *marks, const uint first, const uint lane)
{
    return marks[first / 16 + lane * TURNS / 8] >> lane * TURNS % 8;
}

// Opens of a piece of so many steps, two an item: that of its lane, and in the upper half the one a bunch further on. The
// host sees to it that there are no more.
uint load_opens(global const ushort *opens, const uint steps, const uint lane)
{
    const uint one = lane <= steps ? opens[lane] : 0;
    const uint other = lane + BUNCH_SIZE <= steps ? opens[lane + BUNCH_SIZE] : 0;
    return one | other << 16;
}

// The row that is open where the piece's step `step` begins. All items of a bunch call it.
uint open_at(const uint opens, const uint step)
{
    return word_of(step < BUNCH_SIZE ? opens & 0xffff : opens >> 16, step % BUNCH_SIZE);
}
#endif

#endif
