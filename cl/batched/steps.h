// Chunks: a task's entries cut into as many equal parts as a group has sub-groups, wherever rows begin and end. A
// sub-group goes through its chunk in steps of STEP entries, whose products it puts into local memory. For
// batched_csr_i.cl and batched_coo.cl.
#ifndef BATCHED_STEPS_H
#define BATCHED_STEPS_H

#include "batched/operands.h"
#include "subgroup/sub_group.h"

#define STEP (SUB_GROUP_SIZE * NNZ_PER_ITEM)

// An empty slot after every 128 bytes of products: those that lie a power of two apart, as rows of equal lengths begin,
// would share a memory bank.
#define PADDED(at) ((at) + ((at) >> (6 - REAL_WORDS)))
#define PADDED_STEP (PADDED(STEP - 1) + 1)

// Returns the first entry of a sub-group's chunk.
uint chunk_begin(const uint nnz, const uint sub_group)
{
    return (uint)((ulong)nnz * sub_group / SUB_GROUPS_PER_GROUP);
}

// Returns the number of steps that every sub-group of the group makes, so that all reach the same barriers: at least
// one.
uint chunk_steps(const uint nnz)
{
    return nnz / SUB_GROUPS_PER_GROUP / STEP + 1;
}

// Entries that an item has loaded and not used yet.
typedef struct {
    uint columns[NNZ_PER_ITEM];
    real_t values[NNZ_PER_ITEM];
} loaded_t;

// Loads an item's entries of the step that begins at entry `first`, before `end`. Whole steps have a branch of their own,
// since a load that is never left out is one instruction.
void load_step(const operands_t *from, const uint first, const uint end, const uint lane, loaded_t *loaded)
{
    if (first + STEP <= end) {
#pragma unroll
        for (uint load = 0; load < NNZ_PER_ITEM; ++load) {
            loaded->columns[load] = from->columns[first + load * SUB_GROUP_SIZE + lane];
            loaded->values[load] = load_value(from->values, first + load * SUB_GROUP_SIZE + lane);
        }
    } else {
#pragma unroll
        for (uint load = 0; load < NNZ_PER_ITEM; ++load) {
            const uint at = first + load * SUB_GROUP_SIZE + lane;
            loaded->columns[load] = at < end ? from->columns[at] : 0;
            loaded->values[load] = at < end ? load_value(from->values, at) : 0;
        }
    }
}

// Puts the products of a step of `count` entries into local memory.
void multiply_step(const operands_t *from, const loaded_t *loaded, const uint count, const uint lane,
                   local real_t *products)
{
#pragma unroll
    for (uint load = 0; load < NNZ_PER_ITEM; ++load) {
        const uint at = load * SUB_GROUP_SIZE + lane;
        if (at < count)
            products[PADDED(at)] = loaded->values[load] * x_of(from, loaded->columns[load]);
    }
}

#endif
