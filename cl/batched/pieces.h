// Pieces: a task's entries cut into as many equal parts as a group has bunches, wherever rows begin and end, and
// walked in steps. For batched_csr_i and batched_coo.
#ifndef BATCHED_PIECES_H
#define BATCHED_PIECES_H

#include "batched/task.h"
#include "subgroup/bunch.h"

// Entries of a step.
#define STEP (BUNCH_SIZE * NNZ_PER_ITEM)

// A place between every 64 bytes' worth: products that lie a power of two apart, as rows of equal lengths begin,
// would share a memory bank.
#define PADDED(at) ((at) + ((at) >> (6 - REAL_WORDS)))
#define PADDED_STEP (PADDED(STEP - 1) + 1)

// The first entry of a bunch's piece.
uint piece_begin(const uint nnz, const uint bunch)
{
    return (uint)((ulong)nnz * bunch / BUNCHES_PER_GROUP);
}

// Steps that every bunch of the group makes, so that all of them meet at barriers; at least one.
uint piece_steps(const uint nnz)
{
    const uint longest = nnz / BUNCHES_PER_GROUP + 1;
    return (longest + STEP - 1) / STEP;
}

// Entries that an item has loaded but not used.
typedef struct {
    column_t columns[NNZ_PER_ITEM];
    real_t values[NNZ_PER_ITEM];
} loaded_t;

// Loads the entries [first, end) of the task, as far as they belong to the step that begins at `first`. Whole steps
// are told apart, since a load that is never left out is one instruction.
void load_step(const task_t *task, const matrices_t *from, const uint first, const uint end,
               const uint lane, loaded_t *loaded)
{
    global const column_t *restrict columns = from->columns + task->columns + first + lane;
    global const value_t *restrict values = from->values + task->values + first + lane;
    if (first + STEP <= end) {
#pragma unroll
        for (uint turn = 0; turn < NNZ_PER_ITEM; ++turn) {
            loaded->columns[turn] = columns[turn * BUNCH_SIZE];
            loaded->values[turn] = load_value(values, turn * BUNCH_SIZE);
        }
    } else {
#pragma unroll
        for (uint turn = 0; turn < NNZ_PER_ITEM; ++turn) {
            const int is_there = first + turn * BUNCH_SIZE + lane < end;
            loaded->columns[turn] = is_there ? columns[turn * BUNCH_SIZE] : 0;
            loaded->values[turn] = is_there ? load_value(values, turn * BUNCH_SIZE) : 0;
        }
    }
}

// Their products into local memory, of a step of `count` entries. Behind them stand zeros times x of column 0: there is
// one in local memory, but elsewhere perhaps none that could be read.
void multiply_step(const task_t *task, const matrices_t *from, const loaded_t *loaded, const uint count,
                   const uint lane, local real_t *products)
{
    if (task->is_staged) {
#pragma unroll
        for (uint turn = 0; turn < NNZ_PER_ITEM; ++turn)
            products[PADDED(turn * BUNCH_SIZE + lane)] = loaded->values[turn] * from->staged_x[loaded->columns[turn]];
    } else {
        global const real_t *restrict x = from->x + task->x;
#pragma unroll
        for (uint turn = 0; turn < NNZ_PER_ITEM; ++turn) {
            if (turn * BUNCH_SIZE + lane < count)
                products[PADDED(turn * BUNCH_SIZE + lane)] = loaded->values[turn] * x[loaded->columns[turn]];
        }
    }
}

#endif
