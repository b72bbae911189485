// The columns of the one pattern that PAIRS have, as items read them that go by twos (twos.h): copied once, when a plan
// is made (find_step_columns.h), instead of read as they are and sought for rows by every launch.
//
//   a word an item and turn: where x of its two nonzeros lies, and between the two, in the bit that is left, whether a
//   row begins there or the task's nonzeros end (ARE_APART)
//
// Words lie in the order of places, whole steps of them; where no nonzero is, column 0 stands. Problems have no place
// before their first nonzero or one, so there are two copies: four bytes a nonzero, once for all problems.
//
// On an H200, 1,000 problems take 3% less than where items read columns and told each other of rows
// (docs/notebook/2026-11-27-batches-number-of-problems-h200.md).
// Notes next to the columns, a byte an item, had gained nothing: here there is no load more, but
// one for two nonzeros instead of two.
#ifndef BATCHED_STEP_COLUMNS_H
#define BATCHED_STEP_COLUMNS_H

#include "batched/chunks.h"

#ifdef COLUMNS_PLANNED
#define ARE_APART 0x8000u

// Words of a copy.
#define COPY_WORDS(nnz) (((nnz) + ALIGNED - 1 + STEP - 1) / STEP * (STEP / 2))

// Where x of an item's first or second nonzero lies; local memory does not hold 2^15 elements.
uint place_of_step_column(const uint word, const uint second)
{
    return second ? word >> 16 : word & (ARE_APART - 1);
}
#endif

#endif
