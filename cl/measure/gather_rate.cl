// Gather rate: how fast the device loads single elements from random indices of an array, as a product does from x.
// Indices are random numbers of 32 bits, streamed as columns are; an array has a power of two elements,
// and the last bits say which.
//
//   gather_rate  items side by side, as on a GPU: neighbouring items take neighbouring indices, GATHERS each.
//                A GPU loads a sector of 32 bytes for each.
//   gather_rows  an item a row, as on a CPU: items multiply what they gather by weights and add it up in order.
//                A CPU has no sectors to wait for, but instructions to work through: those of a gather that
//                is used, and of a row's end, which costs more where it cannot be predicted.
//   gather_chain items that each follow a chain: where an item loads next depends on what it loaded. The time of an
//                iteration is that of a load that is waited for.
#ifndef GROUP_SIZE
#define GROUP_SIZE 256 // items of a work-group
#endif

#include "item/scalar.h"

#define GATHERS 64
#define CHAIN 512

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void gather_rate(const uint mask,
                        ARRAY_PARAMETER(const uint, indices),
                        ARRAY_PARAMETER(const real_t, source),
                        ARRAY_PARAMETER(real_t, target))
{
    OPEN_ARRAY(const uint, indices);
    OPEN_ARRAY(const real_t, source);
    OPEN_ARRAY(real_t, target);
    const ulong first = (ulong)get_group_id(0) * GATHERS * GROUP_SIZE + get_local_id(0);
    real_t sum = 0;
    for (uint at = 0; at < GATHERS; ++at)
        sum += source[indices[first + at * GROUP_SIZE] & mask];
    target[get_global_id(0)] = sum;
}

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void gather_rows(const uint rows,
                        const uint mask,
                        ARRAY_PARAMETER(const uint, offsets),
                        ARRAY_PARAMETER(const uint, indices),
                        ARRAY_PARAMETER(const real_t, weights),
                        ARRAY_PARAMETER(const real_t, source),
                        ARRAY_PARAMETER(real_t, target))
{
    OPEN_ARRAY(const uint, offsets);
    OPEN_ARRAY(const uint, indices);
    OPEN_ARRAY(const real_t, weights);
    OPEN_ARRAY(const real_t, source);
    OPEN_ARRAY(real_t, target);
    const size_t row = get_global_id(0);
    if (row >= rows)
        return;
    const uint last = offsets[row + 1];
    real_t sum = 0;
    for (uint at = offsets[row]; at < last; ++at)
        sum = fma(weights[at], source[indices[at] & mask], sum);
    target[row] = sum;
}

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void gather_chain(const uint mask,
                         ARRAY_PARAMETER(const uint, indices),
                         ARRAY_PARAMETER(uint, target))
{
    OPEN_ARRAY(const uint, indices);
    OPEN_ARRAY(uint, target);
    uint at = (uint)get_global_id(0) * 0x9e3779b1u;
    for (uint iteration = 0; iteration < CHAIN; ++iteration)
        // What is added keeps chains out of circles.
        at = indices[at & mask] + iteration * 0x85ebca6bu;
    target[get_global_id(0)] = at;
}
