// Rates: how fast the device reads memory, and how fast it copies; the limit every product is held to.
//
// Items walk the array side by side in steps of the whole launch, 16 bytes at a time and four loads in
// flight. The sum of what was read decides about a store that never happens, so nothing is optimised away.
#ifndef GROUP_SIZE
#define GROUP_SIZE 256 // items of a work-group
#endif

#include "item/scalar.h"

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void read_stream(const uint count,
                        ARRAY_PARAMETER(const float4, source),
                        ARRAY_PARAMETER(float4, target))
{
    OPEN_ARRAY(const float4, source);
    OPEN_ARRAY(float4, target);
    const size_t step = get_global_size(0);
    float4 a = 0, b = 0, c = 0, d = 0;
    size_t at = get_global_id(0);
    for (; at + 3 * step < count; at += 4 * step) {
        a += source[at];
        b += source[at + step];
        c += source[at + 2 * step];
        d += source[at + 3 * step];
    }
    for (; at < count; at += step)
        a += source[at];
    const float4 sum = a + b + c + d;
    if (sum.x == 1.2345e30f)
        target[0] = sum;
}

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void copy_stream(const uint count,
                        ARRAY_PARAMETER(const float4, source),
                        ARRAY_PARAMETER(float4, target))
{
    OPEN_ARRAY(const float4, source);
    OPEN_ARRAY(float4, target);
    const size_t step = get_global_size(0);
    for (size_t at = get_global_id(0); at < count; at += step)
        target[at] = source[at];
}
