// The sum of 32-bit integers, modulo 2^32 as such sums are. Order does not matter to integers, so groups add to one
// total, and the one that arrives last stores it.
//
// A group adds up tile by tile (vector/tile.h).
//
// Local memory: GROUP_SIZE words.

#ifndef GROUP_SIZE
#define GROUP_SIZE 256 // items of a work-group: a power of two
#endif
#ifndef LANES
#define LANES 4 // elements of a load
#endif
#ifndef LOADS
#define LOADS 4 // loads of an item that are in flight together
#endif

#define INTEGERS

#include "item/scalar.h"
#include "item/lanes.h"
#include "group/carry.h"
#include "vector/tile.h"

// Words of the workspace, which are 0 when a launch begins and when it has ended; each has a cache line for itself.
#define ARRIVALS 0
#define TOTAL 32

// The sum of all lanes. `zero` keeps compilers from making it a reduction of vectors, on which Oclgrind 21.10 crashes
// where it looks for uninitialised values.
uint lanes_total(const lanes_t sums, const uint zero)
{
    lane_array_t each;
    each.lanes = sums;
    uint total = 0;
#pragma unroll
    for (uint lane = 0; lane < LANES; ++lane)
        total = (total + each.each[lane]) ^ zero;
    return total;
}

// Of `count` elements; `zero` is 0, but only the host knows (group/carry.h).
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void sum_integers(const ulong count,
                         ARRAY_PARAMETER(const uint, x),
                         ARRAY_PARAMETER(uint, result),
                         ARRAY_PARAMETER(uint, workspace),
                         const uint zero)
{
    OPEN_ARRAY(const uint, x);
    OPEN_ARRAY(uint, result);
    volatile global uint *words = workspace_buffer + workspace_start;
    local uint scratch[GROUP_SIZE];
    const uint item = (uint)get_local_id(0);
    lanes_t of_lanes = 0;
    const tiles_t tiles = tiles_of_group(count);
    for (ulong tile = tiles.begin; tile < tiles.end; tile += tiles.stride) {
        lanes_t of_x[LOADS];
        load_tile(x, tile, tiles.end, of_x);
#pragma unroll
        for (uint load = 0; load < LOADS; ++load)
            of_lanes += of_x[load];
    }
    scratch[item] = lanes_total(of_lanes, zero);
    for (uint half_width = GROUP_SIZE >> 1; half_width > 0; half_width >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < half_width)
            scratch[item] += scratch[item + half_width];
    }
    if (item == 0) {
        const uint proof = atomic_add(words + TOTAL, scratch[0]);
        if (arrives_last(words + ARRIVALS, (uint)get_num_groups(0), proof, zero))
            result[0] = atomic_xchg(words + TOTAL, 0u);
    }
}
