// Dense vectors, element by element. What becomes of r is fixed when this is compiled: SCALE, r = alpha x;
// AXPY, r = alpha x + y; AXPBY, r = alpha x + beta y; ADD, SUBTRACT, MULTIPLY and DIVIDE, r = x + y, x - y, x y, x / y.
//
// r may be x, or y, or both: a group loads a tile of both before it stores any of it, and no other group touches that.
// A group works tile by tile (vector/tile.h).
//
// AXPY rounds once. AXPBY rounds each product, then the sum; with COMPENSATED, but the sum of both. With beta = 0, y is
// not read.

#ifndef GROUP_SIZE
#define GROUP_SIZE 256 // items of a work-group
#endif
#ifndef LANES
#define LANES 2 // elements of a load
#endif
#ifndef LOADS
#define LOADS 4 // loads of an item that are in flight together, of each array
#endif

#define IN_PLACE

#include "item/scalar.h"
#include "item/lane_sums.h"
#include "vector/tile.h"

// SCALE has no y, and only AXPBY has a beta: what an operation does not have, it does not read.
#if !defined(SCALE)
#define HAS_Y
#endif

lanes_t result_of(const real_t alpha, const lanes_t x, const real_t beta, const lanes_t y)
{
#if defined(SCALE)
    return alpha * x;
#elif defined(AXPY)
    return fma((lanes_t)alpha, x, y);
#elif defined(AXPBY)
    const lane_sums_t of_x = lanes_product((lanes_t)alpha, x);
    return lanes_round(beta == 0 ? of_x : lanes_mad(of_x, (lanes_t)beta, y));
#elif defined(SUBTRACT)
    return x - y;
#elif defined(MULTIPLY)
    return x * y;
#elif defined(DIVIDE)
    return x / y;
#else
    return x + y;
#endif
}

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void elementwise(const ulong count,
                        SCALAR_PARAMETER(alpha),
                        SHARED_ARRAY_PARAMETER(const real_t, x),
                        SCALAR_PARAMETER(beta),
                        SHARED_ARRAY_PARAMETER(const real_t, y),
                        SHARED_ARRAY_PARAMETER(real_t, r))
{
    OPEN_SHARED_ARRAY(const real_t, x);
#ifdef HAS_Y
    OPEN_SHARED_ARRAY(const real_t, y);
#endif
    OPEN_SHARED_ARRAY(real_t, r);
#if defined(SCALE) || defined(AXPY) || defined(AXPBY)
    OPEN_SCALAR(alpha);
#else
    const real_t alpha = 1;
#endif
#if defined(AXPBY)
    OPEN_SCALAR(beta);
#else
    const real_t beta = 1;
#endif
    const tiles_t tiles = tiles_of_group(count);
    for (ulong tile = tiles.begin; tile < tiles.end; tile += tiles.stride) {
        lanes_t of_x[LOADS];
        lanes_t of_y[LOADS];
        load_tile(x, tile, tiles.end, of_x);
#ifdef HAS_Y
        if (beta != 0)
            load_tile(y, tile, tiles.end, of_y);
        else
#endif
        {
#pragma unroll
            for (uint load = 0; load < LOADS; ++load)
                of_y[load] = 0;
        }
#pragma unroll
        for (uint load = 0; load < LOADS; ++load)
            of_x[load] = result_of(alpha, of_x[load], beta, of_y[load]);
        store_tile(r, tile, tiles.end, of_x);
    }
}
