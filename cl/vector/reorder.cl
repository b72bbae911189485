// The elements of a dense vector in another order, and back.
//
// A plan of a matrix whose rows were reordered gathers x and y into its order before a product, and scatters y after it.
// Elements are copied, not computed with. `order` holds each index below `count` once, so that no two items write one
// element.
#ifndef GROUP_SIZE
#define GROUP_SIZE 256 // items of a work-group
#endif

#include "item/scalar.h"

// target[i] = source[order[i]].
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void gather_vector(const uint count,
                          ARRAY_PARAMETER(const uint, order),
                          ARRAY_PARAMETER(const real_t, source),
                          ARRAY_PARAMETER(real_t, target))
{
    OPEN_ARRAY(const uint, order);
    OPEN_ARRAY(const real_t, source);
    OPEN_ARRAY(real_t, target);
    const size_t at = get_global_id(0);
    if (at < count)
        target[at] = source[order[at]];
}

// target[order[i]] = source[i].
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void scatter_vector(const uint count,
                           ARRAY_PARAMETER(const uint, order),
                           ARRAY_PARAMETER(const real_t, source),
                           ARRAY_PARAMETER(real_t, target))
{
    OPEN_ARRAY(const uint, order);
    OPEN_ARRAY(const real_t, source);
    OPEN_ARRAY(real_t, target);
    const size_t at = get_global_id(0);
    if (at < count)
        target[order[at]] = source[at];
}
