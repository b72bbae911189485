// Launch cost: kernels with nothing to do, launched as others are. Drivers do something for each buffer of a launch, so
// there is one for each number of buffers that something is held against.
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

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void launch_cost_of_three(const uint busy,
                                 ARRAY_PARAMETER(const uint, x),
                                 ARRAY_PARAMETER(const uint, y),
                                 ARRAY_PARAMETER(uint, target))
{
    OPEN_ARRAY(const uint, x);
    OPEN_ARRAY(const uint, y);
    OPEN_ARRAY(uint, target);
    if (busy == 0)
        target[0] = x[0] + y[0];
}

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void launch_cost_of_four(const uint busy,
                                ARRAY_PARAMETER(const uint, x),
                                ARRAY_PARAMETER(const uint, y),
                                ARRAY_PARAMETER(const uint, z),
                                ARRAY_PARAMETER(uint, target))
{
    OPEN_ARRAY(const uint, x);
    OPEN_ARRAY(const uint, y);
    OPEN_ARRAY(const uint, z);
    OPEN_ARRAY(uint, target);
    if (busy == 0)
        target[0] = x[0] + y[0] + z[0];
}
