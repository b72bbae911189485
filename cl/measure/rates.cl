// Rates: how fast the device reads memory, and how fast it copies; the limit every product is held to.
//
// Each group has one contiguous part of the array, which its items read side by side, 16 bytes at a time
// and four loads in flight; on a CPU a group is one item. The sum of what was read decides about a store
// that never happens, so nothing is optimised away.
#ifndef GROUP_SIZE
#define GROUP_SIZE 256 // items of a work-group
#endif

#include "item/scalar.h"

// Reads the array so many times in one launch: what a launch takes says nothing then, however small the array. In each
// pass a group has another part, on the other side of the array, so that no cache of its own holds it.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void read_stream(const uint count,
                        const uint passes,
                        ARRAY_PARAMETER(const float4, source),
                        ARRAY_PARAMETER(float4, target))
{
    OPEN_ARRAY(const float4, source);
    OPEN_ARRAY(float4, target);
    const uint groups = (uint)get_num_groups(0);
    const uint part = (uint)(((ulong)count + groups - 1) / groups);
    uint number = (uint)get_group_id(0);
    float4 a = 0, b = 0, c = 0, d = 0;
    for (uint pass = 0; pass < passes; ++pass) {
        const uint last = min(count, number * part + part);
        uint at = number * part + (uint)get_local_id(0);
        for (; at + 3 * GROUP_SIZE < last; at += 4 * GROUP_SIZE) {
            a += source[at];
            b += source[at + GROUP_SIZE];
            c += source[at + 2 * GROUP_SIZE];
            d += source[at + 3 * GROUP_SIZE];
        }
        for (; at < last; at += GROUP_SIZE)
            a += source[at];
        number += groups / 2 + 1;
        if (number >= groups)
            number -= groups;
    }
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
    const uint part = (uint)(((ulong)count + get_num_groups(0) - 1) / get_num_groups(0));
    const uint first = (uint)get_group_id(0) * part;
    const uint last = min(count, first + part);
    for (uint at = first + (uint)get_local_id(0); at < last; at += GROUP_SIZE)
        target[at] = source[at];
}
