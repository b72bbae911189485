// Vectors of a solver: 16 bytes at a time, and two sums over them in a launch.
//
// A solver's vectors are its own: they begin where the device moves 16 bytes at once, and are padded with zeros to whole
// tiles of GROUP_SIZE * BATCH chunks of 16 bytes, which stay zeros. So no loop has an end to be guarded, and an item
// has BATCH loads of each vector under way. Groups take tiles in round-robin order.
#ifndef SOLVER_STREAM_H
#define SOLVER_STREAM_H

#define LAUNCH_SUMS 2

#include "group/launch_sum.h"
#include "solver/state.h"

#ifdef VALUE_F64
typedef double2 wide_t;
#else
typedef float4 wide_t;
#endif

// The sum of a chunk's elements. Written as additions of its components, Oclgrind 21.10 ends with a segmentation fault:
// the compiler makes shuffles of them that leave lanes undefined.
#define WIDE_SUM(wide) dot((wide), (wide_t)(1))

// The chunks of a group's tiles that an item takes, BATCH at a time.
#define FOR_EACH_TILE(at, tiles)                                                                              \
    for (uint tile = (uint)get_group_id(0), at = tile * (GROUP_SIZE * BATCH) + (uint)get_local_id(0);          \
         tile < (tiles);                                                                                       \
         tile += (uint)get_num_groups(0), at = tile * (GROUP_SIZE * BATCH) + (uint)get_local_id(0))

// Chunk `k` of the BATCH that begin with chunk `at`.
#define CHUNK(at, k) ((at) + (k) * GROUP_SIZE)

// What an element adds to the norm of the residual, and the norm from the sum.
#ifdef NORM_ONE
#define NORM_PART(r) fabs(r)
#define NORM_OF(sum) (sum)
#else
#define NORM_PART(r) ((r) * (r))
#define NORM_OF(sum) sqrt(sum)
#endif

#endif
