// What a kernel of batches has of a task, and its x in local memory.
//
// x of a task that a group has for itself lies in local memory if it has no more than X_LOCAL elements; else it is read
// from global memory.
#ifndef BATCHED_OPERANDS_H
#define BATCHED_OPERANDS_H

#include "batched/task.h"

#ifndef SUB_GROUP_SIZE
#define SUB_GROUP_SIZE 32 // items that share a row or a chunk: as many as the device runs in step
#endif
#ifndef SUB_GROUPS_PER_GROUP
#define SUB_GROUPS_PER_GROUP 4 // sub-groups of a work-group
#endif
#ifndef NNZ_PER_ITEM
#define NNZ_PER_ITEM 8 // entries an item takes in a step: a power of two
#endif
#ifndef X_LOCAL
#define X_LOCAL 1024 // the most elements of x that lie in local memory
#endif
#ifndef ROWS_PER_TASK
#define ROWS_PER_TASK 1024 // the most rows of a task
#endif
#ifndef PAIRS
#define PAIRS 0 // 1: tasks are two problems of one pattern (in_step.h)
#endif

#define GROUP_SIZE (SUB_GROUP_SIZE * SUB_GROUPS_PER_GROUP)

// The arrays of a task, each from its first element on.
typedef struct {
    global const column_t *columns;
    global const value_t *values;
    global const real_t *x;
    local const real_t *staged_x;
    int is_staged; // whether x lies in `staged_x`
} operands_t;

real_t x_of(const operands_t *from, const uint column)
{
    return from->is_staged ? from->staged_x[column] : from->x[column];
}

// Returns sum + the product of entry `at`.
real_t add_entry(const operands_t *from, const ulong at, const uint column, const real_t sum)
{
    return fma(load_value(from->values, at), x_of(from, column), sum);
}

// Loads that an item has under way when a group copies x or row offsets into local memory.
#define STAGED_AT_ONCE 8

// Copies `cols` elements of x into local memory. Where there are none, staged_x[0] is 0: a step that is not full
// multiplies it. Needs a barrier after it.
void stage_x(global const real_t *restrict x, const uint cols, local real_t *staged_x)
{
    const uint item = (uint)get_local_id(0);
    if (item == 0 && cols == 0)
        staged_x[0] = 0;
    for (uint base = 0; base < cols; base += STAGED_AT_ONCE * GROUP_SIZE) {
        real_t loaded[STAGED_AT_ONCE];
#pragma unroll
        for (uint load = 0; load < STAGED_AT_ONCE; ++load) {
            const uint column = base + load * GROUP_SIZE + item;
            loaded[load] = column < cols ? x[column] : 0;
        }
#pragma unroll
        for (uint load = 0; load < STAGED_AT_ONCE; ++load) {
            const uint column = base + load * GROUP_SIZE + item;
            if (column < cols)
                staged_x[column] = loaded[load];
        }
    }
}

#endif
