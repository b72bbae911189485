// Tiles of dense vectors: what a group loads before it uses any of it. A tile is TILE neighbouring elements; an item
// has LOADS times LANES of them, each LANES side by side, GROUP_SIZE * LANES apart.
//
// Which item has which elements depends on the sizes and on the number of groups alone, so that sums do not depend on
// where an array begins. An array that is aligned is loaded a vector at a time, another an element at a time.
//
// Groups take tiles in round-robin order, so that those that run together load what lies together; a CPU's, of one
// item, take neighbouring tiles, which is what its caches want.
//
// Beyond the end, an item loads the last element there is, since a load that may be left out may wait for the one
// before it. With IN_PLACE, where another item may have stored that one already, it loads none but its own.
#ifndef VECTOR_TILE_H
#define VECTOR_TILE_H

#include "item/lanes.h"

#define TILE (GROUP_SIZE * LANES * LOADS)

// The tiles of a group: those from `begin` on, every `stride` elements, of which `end` is beyond the last.
typedef struct {
    ulong begin;
    ulong end;
    ulong stride;
} tiles_t;

tiles_t tiles_of_group(const ulong count)
{
    const ulong group = get_group_id(0);
    const ulong groups = get_num_groups(0);
    tiles_t tiles;
#if GROUP_SIZE > 1
    tiles.begin = group * TILE;
    tiles.end = count;
    tiles.stride = groups * TILE;
#else
    const ulong in_all = (count + TILE - 1) / TILE;
    const ulong each = (in_all + groups - 1) / groups * TILE;
    tiles.begin = group * each;
    tiles.end = min(count, tiles.begin + each);
    tiles.stride = TILE;
#endif
    return tiles;
}

// Returns the offset in the tile of the first of the LANES elements of load `load` of this item.
ulong offset_in_tile(const uint load)
{
    return ((ulong)load * GROUP_SIZE + get_local_id(0)) * LANES;
}

// Loads elements [begin, begin + TILE), or what there is of them before `end`; zeros stand for the others.
void load_tile(global const element_t *elements, const ulong begin, const ulong end, lanes_t *loaded)
{
    if (end - begin < TILE) {
#pragma unroll
        for (uint load = 0; load < LOADS; ++load) {
            const ulong index = begin + offset_in_tile(load);
            lane_array_t each;
#ifdef IN_PLACE
            each.lanes = 0;
            if (index < end)
#endif
            {
#pragma unroll
                for (uint lane = 0; lane < LANES; ++lane)
                    each.each[lane] = elements[min(index + lane, end - 1)];
            }
#pragma unroll
            for (uint lane = 0; lane < LANES; ++lane)
                each.each[lane] = index + lane < end ? each.each[lane] : 0;
            loaded[load] = each.lanes;
        }
    } else if (is_aligned(elements + begin)) {
#pragma unroll
        for (uint load = 0; load < LOADS; ++load)
            loaded[load] = *(global const lanes_t *)(elements + begin + offset_in_tile(load));
    } else {
#pragma unroll
        for (uint load = 0; load < LOADS; ++load)
            loaded[load] = JOIN_NAMES(vload, LANES)(0, elements + begin + offset_in_tile(load));
    }
}

// Loads the same tile of two arrays, all of both with one question whether they may: on an H200, dot products of 10^7
// f32 take 5% longer where each array has its own.
void load_two_tiles(global const element_t *x, global const element_t *y, const ulong begin, const ulong end,
                    lanes_t *of_x, lanes_t *of_y)
{
    if (end - begin >= TILE && is_aligned(x + begin) && is_aligned(y + begin)) {
#pragma unroll
        for (uint load = 0; load < LOADS; ++load) {
            of_x[load] = *(global const lanes_t *)(x + begin + offset_in_tile(load));
            of_y[load] = *(global const lanes_t *)(y + begin + offset_in_tile(load));
        }
    } else {
        load_tile(x, begin, end, of_x);
        load_tile(y, begin, end, of_y);
    }
}

// Stores elements [begin, begin + TILE), or those before `end`.
void store_tile(global element_t *elements, const ulong begin, const ulong end, const lanes_t *results)
{
    if (end - begin < TILE) {
#pragma unroll
        for (uint load = 0; load < LOADS; ++load) {
            const ulong index = begin + offset_in_tile(load);
            lane_array_t each;
            each.lanes = results[load];
#pragma unroll
            for (uint lane = 0; lane < LANES; ++lane) {
                if (index + lane < end)
                    elements[index + lane] = each.each[lane];
            }
        }
    } else if (is_aligned(elements + begin)) {
#pragma unroll
        for (uint load = 0; load < LOADS; ++load)
            *(global lanes_t *)(elements + begin + offset_in_tile(load)) = results[load];
    } else {
#pragma unroll
        for (uint load = 0; load < LOADS; ++load)
            JOIN_NAMES(vstore, LANES)(results[load], 0, elements + begin + offset_in_tile(load));
    }
}

#endif
