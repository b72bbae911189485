// Tiles of dense vectors: what a group loads before it uses any of it. A tile is TILE neighbouring elements; an item
// has LOADS times LANES of them, each LANES side by side, GROUP_SIZE * LANES apart.
//
// Which item has which elements depends on the sizes alone, so that sums do not depend on where an array begins. An
// array that is aligned is loaded a vector at a time, another an element at a time.
//
// Beyond the end, an item loads the last element there is, since a load that may be left out may wait for the one
// before it. With IN_PLACE, where another item may have stored that one already, it loads none but its own.
#ifndef VECTOR_TILE_H
#define VECTOR_TILE_H

#include "item/lanes.h"

#define TILE (GROUP_SIZE * LANES * LOADS)

// The first of the LANES elements of the tile that load `load` of this item brings.
ulong place_in_tile(const uint load)
{
    return ((ulong)load * GROUP_SIZE + get_local_id(0)) * LANES;
}

// Loads elements [begin, begin + TILE), or what there is of them before `end`; zeros stand for the others.
void load_tile(global const element_t *elements, const ulong begin, const ulong end, lanes_t *loaded)
{
    if (end - begin < TILE) {
#pragma unroll
        for (uint load = 0; load < LOADS; ++load) {
            const ulong place = begin + place_in_tile(load);
            lane_array_t each;
#ifdef IN_PLACE
            each.lanes = 0;
            if (place < end)
#endif
            {
#pragma unroll
                for (uint lane = 0; lane < LANES; ++lane)
                    each.each[lane] = elements[min(place + lane, end - 1)];
            }
#pragma unroll
            for (uint lane = 0; lane < LANES; ++lane)
                each.each[lane] = place + lane < end ? each.each[lane] : 0;
            loaded[load] = each.lanes;
        }
    } else if (is_aligned(elements + begin)) {
#pragma unroll
        for (uint load = 0; load < LOADS; ++load)
            loaded[load] = *(global const lanes_t *)(elements + begin + place_in_tile(load));
    } else {
#pragma unroll
        for (uint load = 0; load < LOADS; ++load)
            loaded[load] = JOIN_NAMES(vload, LANES)(0, elements + begin + place_in_tile(load));
    }
}

// Stores elements [begin, begin + TILE), or those before `end`.
void store_tile(global element_t *elements, const ulong begin, const ulong end, const lanes_t *results)
{
    if (end - begin < TILE) {
#pragma unroll
        for (uint load = 0; load < LOADS; ++load) {
            const ulong place = begin + place_in_tile(load);
            lane_array_t each;
            each.lanes = results[load];
#pragma unroll
            for (uint lane = 0; lane < LANES; ++lane) {
                if (place + lane < end)
                    elements[place + lane] = each.each[lane];
            }
        }
    } else if (is_aligned(elements + begin)) {
#pragma unroll
        for (uint load = 0; load < LOADS; ++load)
            *(global lanes_t *)(elements + begin + place_in_tile(load)) = results[load];
    } else {
#pragma unroll
        for (uint load = 0; load < LOADS; ++load)
            JOIN_NAMES(vstore, LANES)(results[load], 0, elements + begin + place_in_tile(load));
    }
}

#endif
