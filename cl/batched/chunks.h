// Chunks: a task's entries cut into as many equal parts as a group has sub-groups, wherever rows begin and end, and
// walked in steps. For batched_csr_i and batched_coo.
//
// Entries are counted in places. Where every task is by batched_csr_i and a group's (ALL_CSR_I), they are counted from
// the last whole cache line of `values` that begins at or before the task's first entry (`gap` places before it), and
// its chunks and steps begin with a cache line: tasks lie one behind the other wherever that is, and a load that lies
// across lines fetches an eighth more. It also leaves L1 out, as stream_value does. On an H200 the two are 2 to 3% and
// 9% of 1,000 problems' time (docs/notebook/2026-11-26-batches-pairs-h200.md).
// Other programs would have registers for fewer groups then.
// The two problems of a pair begin in different places of a cache line; where they go by twos (twos.h), places are
// counted from an even one, which both have, and chunks are whole steps but for the last.
#ifndef BATCHED_CHUNKS_H
#define BATCHED_CHUNKS_H

#include "batched/task.h"
#include "subgroup/sub_group.h"

// WALKS: sub-groups walk their chunks by themselves (walk.h).
#if (defined(FORWARD) || defined(BACKWARD)) && defined(SUB_GROUP_BALLOT)
#define WALKS
#endif

// Entries of a step.
#define STEP (SUB_GROUP_SIZE * NNZ_PER_ITEM)

// A place between every 128 bytes' worth: products that lie a power of two apart, as rows of equal lengths begin,
// would share a memory bank.
#define PADDED(at) ((at) + ((at) >> (6 - PAIRS - REAL_WORDS)))
#define PADDED_STEP (PADDED(STEP - 1) + 1)

// PADDED(turn * SUB_GROUP_SIZE + lane). As a sum of two, of which one is a constant, it takes no instructions, which
// are some twenty of a step's otherwise. Other programs of lists would have 64 registers then instead of 72, which
// costs them 5%.
#ifdef WALKS
#define PADDED_TURN(turn, lane) (PADDED((turn) * SUB_GROUP_SIZE) + PADDED(lane))
#else
#define PADDED_TURN(turn, lane) PADDED((turn) * SUB_GROUP_SIZE + (lane))
#endif

// BY_TWOS: items take two neighbouring entries of each problem at a time (twos.h). In f64 alone: f32 asks half as much
// of local memory, waits for instructions, and would take 1.08 times as long. What a step has to know of its rows for
// that, the plan has noted. ROWS_PLANNED: in step_rows.h. COLUMNS_PLANNED: in step_columns.h.
#if REAL_WORDS == 2 && NNZ_PER_ITEM > 1 && defined(WALKS)
#define BY_TWOS
#if PAIRS
#define COLUMNS_PLANNED
#else
#define ROWS_PLANNED
#endif
// Times that an item takes two of a step.
#define TURNS (NNZ_PER_ITEM / 2)
#endif

// Entries from one place where a step may begin to the next, and from one where a chunk may: f32 and longer fill whole
// cache lines.
#if defined(ALL_CSR_I) && !PAIRS
#define ALIGNED 32
#elif defined(BY_TWOS)
#define ALIGNED 2
#else
#define ALIGNED 1
#endif
#ifdef BY_TWOS
#define CHUNK_ALIGNED STEP
#else
#define CHUNK_ALIGNED ALIGNED
#endif

// The places before a task's first entry, if that is number `place` where places are counted.
uint gap_before(const task_t *task, const ulong place)
{
    return task->kind == KIND_CSR_I && task->nnz > 0 ? (uint)(place % ALIGNED) : 0;
}

// Lets a task count its entries in places: what it has of `values` and `columns` begins at place 0 then, before the
// arrays if the task's first entry is theirs, but nothing is read there. By twos it is addresses of PAIRS that are
// even.
void count_places(global const value_t *values, task_t *task)
{
#if defined(BY_TWOS) && PAIRS
    const ulong place = (ulong)(values + task->values) / sizeof(value_t);
#else
    const ulong place = task->values;
#endif
    (void)values;
    task->gap = gap_before(task, place);
    task->values -= task->gap;
    task->columns -= task->gap;
}

// The first place of a sub-group's chunk.
uint chunk_begin(const task_t *task, const uint sub_group)
{
    if (sub_group == SUB_GROUPS_PER_GROUP)
        return task->gap + task->nnz;
    const uint place = task->gap + (uint)((ulong)task->nnz * sub_group / SUB_GROUPS_PER_GROUP);
    return max(place / CHUNK_ALIGNED * CHUNK_ALIGNED, task->gap);
}

// Where the first step of a chunk begins: before the chunk, if that begins with the task.
uint chunk_start(const uint begin)
{
    return begin / ALIGNED * ALIGNED;
}

// Steps that every sub-group of the group makes, so that all of them meet at barriers; at least one.
uint chunk_steps(const uint nnz)
{
    const uint longest = nnz / SUB_GROUPS_PER_GROUP + ALIGNED;
    return (longest + STEP - 1) / STEP;
}

// One column and one value, or two of a pair. A pattern that all problems share is found in L1 by other groups.
#if PAIRS || !defined(ALL_CSR_I)
#define entry_column(columns, at) (columns)[at]
#elif defined(COLUMNS_U16) && defined(__NV_CL_C_VERSION)
uint entry_column(global const ushort *columns, const ulong at)
{
    ushort column;
    asm volatile(STREAM ".u16 %0, [%1];" : "=h"(column) : "l"(columns + at));
    return column;
}
#elif defined(COLUMNS_U16)
#define entry_column(columns, at) (columns)[at]
#else
#define entry_column(columns, at) stream_column(columns, at)
#endif
#if PAIRS
#define entry_value(task, values, at) \
    (sums_t)(stream_value(values, at), stream_value((values) + (task)->other_values, at))
#elif defined(ALL_CSR_I)
#define entry_value(task, values, at) stream_value(values, at)
#else
#define entry_value(task, values, at) load_value(values, at)
#endif

// Entries that an item has loaded but not used. Where two columns of 16 bits came by one load, they lie in one word: to
// part them is to wait for them.
#if defined(COLUMNS_PLANNED) || (defined(ROWS_PLANNED) && defined(COLUMNS_U16))
#define COLUMN_WORDS TURNS
#else
#define COLUMN_WORDS NNZ_PER_ITEM
#endif
typedef struct {
    uint columns[COLUMN_WORDS];
    sums_t values[NNZ_PER_ITEM];
#ifdef ROWS_PLANNED
    uint marks; // of the step (step_rows.h)
#endif
} loaded_t;

#ifndef BY_TWOS

// Loads the step that begins at `first`, as far as it belongs to the chunk that ends at `end`. Whole steps are told
// apart, since a load that is never left out is one instruction.
void load_step(const task_t *task, const matrices_t *from, const uint first, const uint end, const uint lane,
               loaded_t *loaded)
{
    global const column_t *restrict columns = from->columns + (task->columns + first + lane);
    global const value_t *restrict values = from->values + (task->values + first + lane);
    if (first >= task->gap && first + STEP <= end) {
#pragma unroll
        for (uint turn = 0; turn < NNZ_PER_ITEM; ++turn) {
            loaded->columns[turn] = entry_column(columns, turn * SUB_GROUP_SIZE);
            loaded->values[turn] = entry_value(task, values, turn * SUB_GROUP_SIZE);
        }
    } else {
#pragma unroll
        for (uint turn = 0; turn < NNZ_PER_ITEM; ++turn) {
            // Places before the first entry wrap around, and are behind the end too.
            const int is_there = first + turn * SUB_GROUP_SIZE + lane - task->gap < end - task->gap;
            loaded->columns[turn] = is_there ? entry_column(columns, turn * SUB_GROUP_SIZE) : 0;
            loaded->values[turn] = is_there ? entry_value(task, values, turn * SUB_GROUP_SIZE) : (sums_t)(0);
        }
    }
}

// Their products into local memory, of a step of `count` places. Where no entry is stand zeros times x of column 0:
// behind `count` it is left out where x is not in local memory, since there perhaps is none that could be read.
void multiply_step(const task_t *task, const matrices_t *from, const loaded_t *loaded, const uint count,
                   const uint lane, local sums_t *products)
{
    if (PAIRS || task->is_staged) {
#pragma unroll
        for (uint turn = 0; turn < NNZ_PER_ITEM; ++turn)
            products[PADDED_TURN(turn, lane)] = loaded->values[turn] * from->staged_x[X_PLACE(loaded->columns[turn])];
    }
#if !PAIRS
    else {
        global const real_t *restrict x = from->x + task->x;
#pragma unroll
        for (uint turn = 0; turn < NNZ_PER_ITEM; ++turn) {
            if (turn * SUB_GROUP_SIZE + lane < count)
                products[PADDED_TURN(turn, lane)] = loaded->values[turn] * x[loaded->columns[turn]];
        }
    }
#endif
}
#endif

#endif
