// Values of a matrix in another order: target[i] = values[sources[i]], whatever the values' type.
//
// A transposed copy keeps its pattern and fetches new values this way, without a new sort.
#ifndef GROUP_SIZE
#define GROUP_SIZE 256 // items of a work-group
#endif

#include "item/scalar.h"

// Bits are moved, not numbers: 16-bit types need no arithmetic here, and NaN payloads survive.
#if defined(VALUE_F64)
typedef ulong bits_t;
#elif defined(VALUE_F16) || defined(VALUE_BF16)
typedef ushort bits_t;
#else
typedef uint bits_t;
#endif

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void gather_values(ARRAY_PARAMETER(const offset_t, count),
                          ARRAY_PARAMETER(const offset_t, sources),
                          ARRAY_PARAMETER(const bits_t, values),
                          ARRAY_PARAMETER(bits_t, target))
{
    OPEN_ARRAY(const offset_t, count);
    OPEN_ARRAY(const offset_t, sources);
    OPEN_ARRAY(const bits_t, values);
    OPEN_ARRAY(bits_t, target);
    const size_t at = get_global_id(0);
    if (at < *count)
        target[at] = values[sources[at]];
}
