// Launch cost: a kernel with nothing to do, launched as products are.
//
// The one store depends on an argument that is never 0, which the compiler cannot know.
#ifndef GROUP_SIZE
#define GROUP_SIZE 64 // items of a work-group
#endif

#include "item/scalar.h"

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void launch_cost(const uint busy,
                        ARRAY_PARAMETER(uint, target))
{
    OPEN_ARRAY(uint, target);
    if (busy == 0)
        target[0] = 0;
}
