// Vectors of a solver: 16 bytes at a time, and two sums over them.
//
// A solver's vectors are its own: they begin where the device moves 16 bytes at once, and are padded with zeros to whole
// tiles of GROUP_SIZE * BATCH pieces of 16 bytes, which stay zeros. So no loop has an end to be guarded, and an item has
// BATCH loads of each vector under way. Groups take tiles in turn.
#ifndef SOLVER_STREAM_H
#define SOLVER_STREAM_H

#include "group/carry.h"
#include "solver/state.h"

#ifdef VALUE_F64
typedef double2 wide_t;
#define WIDE_SUM(wide) ((wide).x + (wide).y)
#else
typedef float4 wide_t;
#define WIDE_SUM(wide) (((wide).x + (wide).y) + ((wide).z + (wide).w))
#endif

// The pieces of a group's tiles that an item takes, BATCH at a time.
#define FOR_EACH_TILE(at, tiles)                                                                              \
    for (uint tile = (uint)get_group_id(0), at = tile * (GROUP_SIZE * BATCH) + (uint)get_local_id(0);          \
         tile < (tiles);                                                                                       \
         tile += (uint)get_num_groups(0), at = tile * (GROUP_SIZE * BATCH) + (uint)get_local_id(0))

// Piece `k` of the BATCH that begin with piece `at`.
#define PIECE(at, k) ((at) + (k) * GROUP_SIZE)

// What sums over a launch are made in.
typedef struct {
    local real2_t *scratch; // GROUP_SIZE
    local uint *is_last;
    volatile global uint *carries; // two sums a group
    volatile global uint *arrived; // 0 before and after
    uint zero; // 0, but only the host knows
} launch_sum_t;

// Both sums over the items of a group. All items call it; valid in item 0.
real2_t group_sum(const real2_t mine, local real2_t *scratch)
{
    const uint item = (uint)get_local_id(0);
    real2_t sum = mine;
    barrier(CLK_LOCAL_MEM_FENCE);
    scratch[item] = sum;
    for (uint half_width = GROUP_SIZE / 2; half_width > 0; half_width /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < half_width) {
            sum += scratch[item + half_width];
            scratch[item] = sum;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return sum;
}

// Two sums over all items of a launch, in an order that depends on its size alone. All items of all groups call it.
// True in one item of the launch, which has the sums: the first of the group that arrives last.
//
// Other groups go the same way with nothing to add: no barrier depends on which group arrives last.
int launch_sum(const real2_t mine, const launch_sum_t over, real2_t *total)
{
    const uint item = (uint)get_local_id(0);
    const uint group = (uint)get_group_id(0);
    const uint groups = (uint)get_num_groups(0);
    const real2_t of_group = group_sum(mine, over.scratch);
    if (item == 0) {
        uint proof = carry_publish(over.carries, 2 * group, of_group.x);
        proof |= carry_publish(over.carries, 2 * group + 1, of_group.y);
        *over.is_last = arrives_last(over.arrived, groups, proof, over.zero);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint parts = *over.is_last ? groups : 0;
    real2_t sum = 0;
    for (uint part = item; part < parts; part += GROUP_SIZE) {
        sum.x += carry_read(over.carries, 2 * part);
        sum.y += carry_read(over.carries, 2 * part + 1);
    }
    *total = group_sum(sum, over.scratch);
    return item == 0 && parts != 0;
}

// What an element adds to the norm of the residual, and the norm from the sum.
#ifdef NORM_ONE
#define NORM_PART(r) fabs(r)
#define NORM_OF(sum) (sum)
#else
#define NORM_PART(r) ((r) * (r))
#define NORM_OF(sum) sqrt(sum)
#endif

#endif
