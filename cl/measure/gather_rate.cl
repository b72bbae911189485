// Gather rate: how fast the device loads single elements from places all over an array, which is what x is to a
// product. A GPU loads a sector of 32 bytes for each.
//
// Each item adds up the elements at `gathers` places, in order, as an item of csr_scalar does along a row;
// neighbouring items go to places that have nothing to do with each other. Places are computed, so that
// nothing but the elements is loaded. The sum decides about a store that never happens, so nothing is
// optimised away.
#ifndef GROUP_SIZE
#define GROUP_SIZE 256 // items of a work-group
#endif

#include "item/scalar.h"

// A bijection of 32 bits without visible structure (two rounds of xor, shift and multiply).
uint scattered(uint bits)
{
    bits ^= bits >> 16;
    bits *= 0x7feb352du;
    bits ^= bits >> 15;
    bits *= 0x846ca68bu;
    return bits ^ bits >> 16;
}

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void gather_rate(const uint gathers,
                        const uint count,
                        ARRAY_PARAMETER(const real_t, source),
                        ARRAY_PARAMETER(real_t, target))
{
    OPEN_ARRAY(const real_t, source);
    OPEN_ARRAY(real_t, target);
    const uint first = (uint)get_global_id(0) * gathers;
    real_t sum = 0;
    for (uint at = 0; at < gathers; ++at)
        sum += source[mul_hi(scattered(first + at), count)];
    if (sum == (real_t)1.2345e30f)
        target[0] = sum;
}
