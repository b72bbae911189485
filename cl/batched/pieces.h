// Pieces: a task's entries cut into as many equal parts as a group has bunches, wherever rows begin and end, and
// walked in steps. For batched_csr_i and batched_coo.
//
// Entries are counted in places. batched_csr_i counts them from the last whole cache line of `values` that begins at or
// before the task's first entry (`gap` places before it), and its pieces and steps begin with a cache line: problems lie
// one behind the other wherever that is, and a load that lies across lines fetches an eighth more. On an H200 that is
// 2 to 3% of a product (docs/benchmarks.md, "Batches on the H200").
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

// Entries from one place where a piece may begin to the next: f32 and longer fill whole cache lines.
#define ALIGNED 32

// Places before the task's first entry.
uint gap_of(const task_t *task)
{
    return task->kind == KIND_CSR_I && task->nnz > 0 ? (uint)(task->values % ALIGNED) : 0;
}

// The first place of a bunch's piece.
uint piece_begin(const task_t *task, const uint bunch)
{
    if (bunch == BUNCHES_PER_GROUP)
        return task->gap + task->nnz;
    const uint place = task->gap + (uint)((ulong)task->nnz * bunch / BUNCHES_PER_GROUP);
    return max(place / ALIGNED * ALIGNED, task->gap);
}

// Where the first step of a piece begins: before the piece, if that begins with the task.
uint piece_start(const uint begin)
{
    return begin / ALIGNED * ALIGNED;
}

// Steps that every bunch of the group makes, so that all of them meet at barriers; at least one.
uint piece_steps(const uint nnz)
{
    const uint longest = nnz / BUNCHES_PER_GROUP + ALIGNED;
    return (longest + STEP - 1) / STEP;
}

// A column of a matrix that no one reads twice, as stream_column.
#if defined(COLUMNS_U16) && defined(__NV_CL_C_VERSION)
uint stream_entry_column(global const ushort *columns, const ulong at)
{
    ushort column;
    asm volatile(STREAM ".u16 %0, [%1];" : "=h"(column) : "l"(columns + at));
    return column;
}
#elif defined(COLUMNS_U16)
#define stream_entry_column(columns, at) (columns)[at]
#else
#define stream_entry_column(columns, at) stream_column(columns, at)
#endif

// Entries that an item has loaded but not used.
typedef struct {
    uint columns[NNZ_PER_ITEM];
    real_t values[NNZ_PER_ITEM];
} loaded_t;

// Loads what the piece [begin, end) has of the step that begins at `first`. Whole steps are told apart, since a load
// that is never left out is one instruction.
void load_step(const task_t *task, const matrices_t *from, const uint first, const uint begin, const uint end,
               const uint lane, loaded_t *loaded)
{
    // Before the array where the task's first entry is the array's, but nothing is read there.
    global const column_t *restrict columns = from->columns + (task->columns - task->gap + first + lane);
    global const value_t *restrict values = from->values + (task->values - task->gap + first + lane);
    if (first >= begin && first + STEP <= end) {
#pragma unroll
        for (uint turn = 0; turn < NNZ_PER_ITEM; ++turn) {
            loaded->columns[turn] = stream_entry_column(columns, turn * BUNCH_SIZE);
            loaded->values[turn] = stream_value(values, turn * BUNCH_SIZE);
        }
    } else {
#pragma unroll
        for (uint turn = 0; turn < NNZ_PER_ITEM; ++turn) {
            const uint place = first + turn * BUNCH_SIZE + lane;
            const int is_there = place >= begin && place < end;
            loaded->columns[turn] = is_there ? stream_entry_column(columns, turn * BUNCH_SIZE) : 0;
            loaded->values[turn] = is_there ? stream_value(values, turn * BUNCH_SIZE) : 0;
        }
    }
}

// Their products into local memory, of a step of `count` places. Where no entry is stand zeros times x of column 0:
// behind `count` it is left out where x is not in local memory, since there perhaps is none that could be read.
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
