// Dense vectors, element by element. What becomes of r is fixed when this is compiled: SCALE, r = alpha x;
// AXPY, r = alpha x + y; AXPBY, r = alpha x + beta y; UPDATE, r = alpha x + beta y + gamma r; MULTIPLY_ADD,
// r = alpha x y + beta r; ADD, SUBTRACT, MULTIPLY and DIVIDE, r = x + y, x - y, x y, x / y.
//
// r may be x, or y, or both: a group loads a tile of all before it stores any of it, and no other group touches that.
// A group works tile by tile (vector/tile.h).
//
// AXPY rounds once. AXPBY and UPDATE round each product, then the sum; with COMPENSATED, but the sum of all.
// MULTIPLY_ADD does so behind alpha x, which is rounded before. A vector whose factor is 0 is not read, but for x.

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

// What an operation does not have, it does not read.
#if !defined(SCALE)
#define HAS_Y
#endif
#if defined(UPDATE) || defined(MULTIPLY_ADD)
#define HAS_R
#endif
#if defined(AXPBY) || defined(HAS_R)
#define HAS_BETA
#endif
#if defined(SCALE) || defined(AXPY) || defined(HAS_BETA)
#define HAS_ALPHA
#endif

lanes_t result_of(const real_t alpha, const lanes_t x, const real_t beta, const lanes_t y, const real_t gamma,
                  const lanes_t r)
{
#if defined(SCALE)
    return alpha * x;
#elif defined(AXPY)
    return fma((lanes_t)alpha, x, y);
#elif defined(AXPBY)
    const lane_sums_t of_x = lanes_product((lanes_t)alpha, x);
    return lanes_round(beta == 0 ? of_x : lanes_mad(of_x, (lanes_t)beta, y));
#elif defined(UPDATE)
    lane_sums_t sum = lanes_product((lanes_t)alpha, x);
    if (beta != 0)
        sum = lanes_mad(sum, (lanes_t)beta, y);
    if (gamma != 0)
        sum = lanes_mad(sum, (lanes_t)gamma, r);
    return lanes_round(sum);
#elif defined(MULTIPLY_ADD)
    const lane_sums_t of_x = lanes_product(alpha * x, y);
    return lanes_round(beta == 0 ? of_x : lanes_mad(of_x, (lanes_t)beta, r));
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
                        SCALAR_PARAMETER(gamma),
                        SHARED_ARRAY_PARAMETER(real_t, r))
{
    OPEN_SHARED_ARRAY(const real_t, x);
#ifdef HAS_Y
    OPEN_SHARED_ARRAY(const real_t, y);
#endif
    OPEN_SHARED_ARRAY(real_t, r);
#ifdef HAS_ALPHA
    OPEN_SCALAR(alpha);
#else
    const real_t alpha = 1;
#endif
#ifdef HAS_BETA
    OPEN_SCALAR(beta);
#else
    const real_t beta = 1;
#endif
#ifdef UPDATE
    OPEN_SCALAR(gamma);
#else
    const real_t gamma = 1;
#endif
#ifdef MULTIPLY_ADD
    const real_t of_r = beta;
    const int reads_y = 1;
#else
    const real_t of_r = gamma;
    const int reads_y = beta != 0;
#endif
    const tiles_t tiles = tiles_of_group(count);
    for (ulong tile = tiles.begin; tile < tiles.end; tile += tiles.stride) {
        lanes_t of_x[LOADS];
        lanes_t of_y[LOADS];
        lanes_t before[LOADS];
#pragma unroll
        for (uint load = 0; load < LOADS; ++load) {
            of_y[load] = 0;
            before[load] = 0;
        }
        load_tile(x, tile, tiles.end, of_x);
#ifdef HAS_Y
        if (reads_y)
            load_tile(y, tile, tiles.end, of_y);
#endif
#ifdef HAS_R
        if (of_r != 0)
            load_tile(r, tile, tiles.end, before);
#endif
#pragma unroll
        for (uint load = 0; load < LOADS; ++load)
            of_x[load] = result_of(alpha, of_x[load], beta, of_y[load], gamma, before[load]);
        store_tile(r, tile, tiles.end, of_x);
    }
}
