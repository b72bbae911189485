// What solvers do with vectors before and after they iterate.
//
// Local memory: two sums an item, and 4 bytes.

#ifndef GROUP_SIZE
#define GROUP_SIZE 256 // items of a work-group: a power of two
#endif
#ifndef BATCH
#define BATCH 2 // chunks of 16 bytes that an item has under way
#endif

#include "solver/stream.h"

// Copies between a caller's vector, which may begin anywhere, and a solver's.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void copy_vector(const ulong count,
                        ARRAY_PARAMETER(const real_t, source),
                        ARRAY_PARAMETER(real_t, target))
{
    OPEN_ARRAY(const real_t, source);
    OPEN_ARRAY(real_t, target);
    for (ulong at = get_global_id(0); at < count; at += get_global_size(0))
        target[at] = source[at];
}

// The sum of magnitudes of a vector, and the sum of squares of its elements times `scale`, which keeps squares in range.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void vector_norms(const uint tiles,
                         const uint zero,
                         SCALAR_PARAMETER(scale),
                         ARRAY_PARAMETER(const wide_t, vector),
                         ARRAY_PARAMETER(uint, sums_space),
                         ARRAY_PARAMETER(uint, state))
{
    OPEN_ARRAY(const wide_t, vector);
    OPEN_ARRAY(uint, sums_space);
    OPEN_ARRAY(uint, state);
    OPEN_SCALAR(scale);
    LAUNCH_SUM(shared);
    wide_t squares = 0, magnitudes = 0;
    FOR_EACH_TILE (at, tiles) {
#pragma unroll
        for (uint k = 0; k < BATCH; ++k) {
            const wide_t element = vector[CHUNK(at, k)];
            const wide_t scaled = element * (wide_t)(scale);
            squares = fma(scaled, scaled, squares);
            magnitudes += fabs(element);
        }
    }
    acc_t sums[LAUNCH_SUMS] = {WIDE_SUM(squares), WIDE_SUM(magnitudes)};
    if (!launch_sum_arrives(sums, shared, sums_space, zero))
        return;
    launch_sum_total(sums, shared, sums_space);
    if (get_local_id(0) == 0) {
        solver_scalars(state)[SUM_OF_SQUARES] = sums[0];
        solver_scalars(state)[SUM_OF_MAGNITUDES] = sums[1];
    }
}
