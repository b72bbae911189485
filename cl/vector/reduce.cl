// Reductions of dense vectors, in one launch and in a fixed order (group/launch_sum.h): SUM, x_0 + x_1 + ...;
// DOT, x_0 y_0 + x_1 y_1 + ...; NORM1, |x_0| + |x_1| + ...; NORM2, the square root of x_0^2 + x_1^2 + ...
//
// A group adds up tile by tile (vector/tile.h); a lane of an item has a sum of its own. The result depends on the
// number of elements and of groups, never on which group came first or on where the arrays begin.
//
// NORM2 adds squares of three kinds (after Blue 1978): of elements in the middle, whose squares neither overflow nor
// underflow; of larger and of smaller ones, both scaled. One pass is enough, and what does not fit is only told at the
// end. An infinite element is a large one; a NaN is none of both and stays in the middle sum.
//
// Local memory: GROUP_SIZE sums, three times as many for NORM2.

#ifndef GROUP_SIZE
#define GROUP_SIZE 256 // items of a work-group: a power of two
#endif
#ifndef LANES
#define LANES 2 // elements of a load
#endif
#ifndef LOADS
#define LOADS 4 // loads of an item that are in flight together, of each array
#endif

#ifdef NORM2
#define LAUNCH_SUMS 3
#endif

#include "item/scalar.h"
#include "item/lane_sums.h"
#include "group/launch_sum.h"
#include "vector/tile.h"

#ifdef NORM2
#define MIDDLE 0
#define LARGE 1
#define SMALL 2

// Squares of LEAST_MIDDLE lose nothing, not even the error of the product; 2^40 squares of MOST_MIDDLE fit, and so do
// as many of what is scaled.
#ifdef VALUE_F64
#define LEAST_MIDDLE 0x1p-450
#define MOST_MIDDLE 0x1p+486
#define SCALE_UP 0x1p+600
#define SCALE_DOWN 0x1p-600
#else
#define LEAST_MIDDLE 0x1p-50f
#define MOST_MIDDLE 0x1p+44f
#define SCALE_UP 0x1p+88f
#define SCALE_DOWN 0x1p-88f
#endif

void add_squares(lane_sums_t *sums, const lanes_t of_x)
{
    const lanes_t size = fabs(of_x);
    const lanes_t none = 0;
    const lanes_t large = select(none, size * SCALE_DOWN, size > MOST_MIDDLE);
    const lanes_t small = select(none, size * SCALE_UP, size < LEAST_MIDDLE);
    const lanes_t middle = select(select(size, none, size > MOST_MIDDLE), none, size < LEAST_MIDDLE);
    sums[MIDDLE] = lanes_mad(sums[MIDDLE], middle, middle);
    sums[LARGE] = lanes_mad(sums[LARGE], large, large);
    sums[SMALL] = lanes_mad(sums[SMALL], small, small);
}

// The square root, to half an ulp (unit in the last place): a device's own may be off by three in f32.
real_t root_of(const acc_t sum)
{
    const real_t square = acc_round(sum);
    const real_t root = sqrt(square);
    const int is_exact = !(square > 0) || isinf(square);
    return is_exact ? root : root + fma(-root, root, square) / (2 * root);
}

// Small squares are lost next to large ones, and where squares in the middle are nearly so, that is no loss either.
real_t result_of(const acc_t *sums)
{
    const real_t middle = acc_round(sums[MIDDLE]);
    if (acc_round(sums[LARGE]) > 0) {
        const acc_t scaled = acc_scale(SCALE_DOWN, acc_scale(SCALE_DOWN, sums[MIDDLE]));
        return root_of(acc_add(sums[LARGE], scaled)) * SCALE_UP;
    }
    if (middle != 0) { // or NaN
        const acc_t scaled = acc_scale(SCALE_DOWN, acc_scale(SCALE_DOWN, sums[SMALL]));
        return root_of(acc_add(sums[MIDDLE], scaled));
    }
    return root_of(sums[SMALL]) * SCALE_DOWN;
}
#else
real_t result_of(const acc_t *sums)
{
    return acc_round(sums[0]);
}
#endif

// Of `count` elements. y is that of DOT; others do not read it.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void reduce(const ulong count,
                   ARRAY_PARAMETER(const real_t, x),
                   ARRAY_PARAMETER(const real_t, y),
                   ARRAY_PARAMETER(real_t, result),
                   ARRAY_PARAMETER(uint, workspace),
                   const uint zero)
{
    OPEN_ARRAY(const real_t, x);
    OPEN_ARRAY(real_t, result);
    LAUNCH_SUM(shared);
    lane_sums_t of_lanes[LAUNCH_SUMS];
#pragma unroll
    for (uint s = 0; s < LAUNCH_SUMS; ++s)
        of_lanes[s] = lanes_zero();
    const tiles_t tiles = tiles_of_group(count);
    for (ulong tile = tiles.begin; tile < tiles.end; tile += tiles.stride) {
        lanes_t of_x[LOADS];
#ifdef DOT
        OPEN_ARRAY(const real_t, y);
        lanes_t of_y[LOADS];
        load_two_tiles(x, y, tile, tiles.end, of_x, of_y);
#else
        load_tile(x, tile, tiles.end, of_x);
#endif
#pragma unroll
        for (uint load = 0; load < LOADS; ++load) {
#if defined(DOT)
            of_lanes[0] = lanes_mad(of_lanes[0], of_x[load], of_y[load]);
#elif defined(NORM2)
            add_squares(of_lanes, of_x[load]);
#elif defined(NORM1)
            of_lanes[0] = lanes_add(of_lanes[0], lanes_of(fabs(of_x[load])));
#else
            of_lanes[0] = lanes_add(of_lanes[0], lanes_of(of_x[load]));
#endif
        }
    }
    acc_t sums[LAUNCH_SUMS];
#pragma unroll
    for (uint s = 0; s < LAUNCH_SUMS; ++s)
        sums[s] = lanes_total(of_lanes[s]);
    if (!launch_sum_arrives(sums, shared, workspace_buffer + workspace_start, zero))
        return;
    launch_sum_total(sums, shared, workspace_buffer + workspace_start);
    if (get_local_id(0) == 0)
        result[0] = result_of(sums);
}
