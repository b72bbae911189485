// Tasks: what one work-group, or one sub-group of it, computes of a batch. A task is a problem or a run of its rows.
// Where tasks are listed, each has TASK_WORDS 64-bit words.
//
//   0  the first entry's place in `values`
//   1  the same in `columns`; a batch of one pattern has them once
//   2  CSR: the first row's place in `offsets`; COO: the first entry's in `indices`; sliced ELL: the first slice's
//   3  the first element of x
//   4  the first element of y
//   5  rows, and columns << 32
//   6  nonzeros (CSR, COO) or entries of a row (ELL); << 32: ELL the stride between entries of a row, COO the
//      problem's row that is the task's first, CSR where the notes of its steps begin (step_rows.h), if there are any
//   7  the kind, and the problem << 32
//
// Strided ranges, of problems alike and equally far apart, have RANGE_WORDS each:
//
//   0  the words of the first task
//   8  from task to task: what is to be added to words 0 to 4
//  13  the number of the first task, counted from that of the first strided range
//  14  from task to task: what is to be added to the upper half of word 6
//
// Which task is an item's: find_task.h.
#ifndef BATCHED_TASK_H
#define BATCHED_TASK_H

#include "item/accumulate.h"

// How often a power of two can be halved. Quotients by numbers that are no constants are shifts here: they are
// faster, and Oclgrind cannot follow a quotient together with its remainder.
#define LOG2(power) (31 - clz(power))

#define TASK_WORDS 8
#define RANGE_WORDS 16
#define RANGE_FIRST 13

#define KIND_CSR_SCALAR 0
#define KIND_CSR_VECTOR 1
#define KIND_CSR_SMART 2
#define KIND_CSR_I 3
#define KIND_COO 4
#define KIND_ELL 5
#define KIND_SLICED_ELL 6

#define SLICE_ROWS 32 // rows that sliced ELL fills up to one length

#ifdef COLUMNS_U16
typedef ushort column_t;
#define PADDING 0xffffu
#else
typedef uint column_t;
#define PADDING 0xffffffffu
#endif

// What is summed up: of one problem, or with PAIRS of two of one pattern, side by side, so that a column, a gather and
// the bookkeeping of a row serve both. The second problem is the next, or where that lies an odd number of values
// further the next but one, so that places are even in both or odd in both; where there is none it is the first again,
// and its y is not stored.
#if PAIRS
typedef real2_t sums_t;
#else
typedef real_t sums_t;
#endif

typedef struct {
    ulong values;
    ulong columns;
    ulong index;
    ulong x;
    ulong y;
#if PAIRS
    ulong other_values; // from the first problem's values to the second's
    ulong other_x; // the same of x
    ulong other_y; // the same of y
    uint to_other; // problems from the first to the second; 0 where there is none
#endif
    uint rows;
    uint cols;
    uint nnz; // ELL: entries of a row
    uint extra; // word 6, upper half
    uint kind;
    uint problem;
    uint gap; // places before the first entry (chunks.h)
    int is_staged; // whether its x lies in local memory
} task_t;

// Words 5 to 7.
void set_sizes(const ulong shape, const ulong lengths, const ulong kind, task_t *task)
{
    task->rows = (uint)shape;
    task->cols = (uint)(shape >> 32);
    task->nnz = (uint)lengths;
    task->extra = (uint)(lengths >> 32);
    task->kind = (uint)kind;
    task->problem = (uint)(kind >> 32);
    task->gap = 0;
    task->is_staged = 0;
}

void read_task(global const ulong *restrict words, task_t *task)
{
    task->values = words[0];
    task->columns = words[1];
    task->index = words[2];
    task->x = words[3];
    task->y = words[4];
    set_sizes(words[5], words[6], words[7], task);
}

// Task `turn` of a strided range.
void set_task_of_range(const ulong16 range, const uint turn, task_t *task)
{
    task->values = range.s0 + turn * range.s8;
    task->columns = range.s1 + turn * range.s9;
    task->index = range.s2 + turn * range.sa;
    task->x = range.s3 + turn * range.sb;
    task->y = range.s4 + turn * range.sc;
    set_sizes(range.s5, range.s6, range.s7, task);
    task->extra += turn * (uint)range.se;
    task->problem += turn;
}

// Whether a task's entries are cut into chunks, one a sub-group, wherever rows begin and end.
int is_cut(const task_t *task)
{
    return task->kind == KIND_CSR_I || task->kind == KIND_COO;
}

// What alpha and beta are for one problem: by value for all, or from an array on the device, where problems lie
// `stride` apart: 0, one for all, or 1.
#ifdef SCALARS_ON_DEVICE
#define SCALAR_OF(name, problem) name##_buffer[name##_start + (ulong)name##_stride * (problem)]
#else
#define SCALAR_OF(name, problem) name##_value
#endif
#if PAIRS
#define OPEN_SCALAR_OF(name, task) \
    const sums_t name = (sums_t)(SCALAR_OF(name, task.problem), SCALAR_OF(name, task.problem + task.to_other))
#else
#define OPEN_SCALAR_OF(name, task) const sums_t name = SCALAR_OF(name, task.problem)
#endif

// The arrays of a launch, and x in local memory.
typedef struct {
    global const column_t *columns;
    global const value_t *values;
    global const real_t *x;
    local const sums_t *staged_x;
    global const uchar *marks; // of the task's steps (step_rows.h)
    global const uint *step_columns; // of both tasks' steps (step_columns.h)
} matrices_t;

// Where an element of x lies in local memory. Columns that one gather asks for are often a power of two apart, and
// would share a memory bank; so elements change places within eight. On an H200 that saves up to a sixth of the time of
// dwt_992's batch and costs others up to 3%, so other programs, whose time it was not seen in, leave x as it is.
#if defined(FORWARD) || defined(BACKWARD)
#define X_PLACE(column) ((column) ^ ((column) >> 3 & 7))
#define X_PLACES ((X_LOCAL + 7) / 8 * 8)
#else
#define X_PLACE(column) (column)
#define X_PLACES X_LOCAL
#endif

#if !PAIRS
real_t task_x(const task_t *task, const matrices_t *from, const uint column)
{
    return task->is_staged ? from->staged_x[X_PLACE(column)] : from->x[task->x + column];
}

// The product of the entry `at` places behind the task's first.
real_t task_product(const task_t *task, const matrices_t *from, const ulong at)
{
    const uint column = from->columns[task->columns + at];
    return load_value(from->values, task->values + at) * task_x(task, from, column);
}
#endif

// Loads that an item has under way when a group copies into local memory.
#if PAIRS
#define STAGED_AT_ONCE 2
#else
#define STAGED_AT_ONCE 8
#endif

// Puts x into local memory. Where there is no entry, column 0 is multiplied (chunks.h), so there is always one.
void stage_x(const task_t *task, global const real_t *restrict all_x, local sums_t *staged_x)
{
    global const real_t *restrict x = all_x + task->x;
    const uint cols = task->cols;
    const uint item = (uint)get_local_id(0);
    if (item == 0 && cols == 0)
        staged_x[0] = (sums_t)(0);
    for (uint base = 0; base < cols; base += STAGED_AT_ONCE * GROUP_SIZE) {
        sums_t loaded[STAGED_AT_ONCE];
#pragma unroll
        for (uint turn = 0; turn < STAGED_AT_ONCE; ++turn) {
            const uint column = base + turn * GROUP_SIZE + item;
#if PAIRS
            loaded[turn] = column < cols ? (sums_t)(x[column], x[task->other_x + column]) : (sums_t)(0);
#else
            loaded[turn] = column < cols ? x[column] : 0;
#endif
        }
#pragma unroll
        for (uint turn = 0; turn < STAGED_AT_ONCE; ++turn) {
            const uint column = base + turn * GROUP_SIZE + item;
            if (column < cols)
                staged_x[X_PLACE(column)] = loaded[turn];
        }
    }
}

// Stores the sums of one row.
void store_sums(const task_t *task, global real_t *restrict y, const uint row, const sums_t alpha, const sums_t sums,
                const sums_t beta)
{
#if PAIRS
    store_result(y, task->y + row, alpha.x, sums.x, beta.x);
    if (task->to_other)
        store_result(y, task->y + task->other_y + row, alpha.y, sums.y, beta.y);
#else
    store_result(y, task->y + row, alpha, sums, beta);
#endif
}

#endif
