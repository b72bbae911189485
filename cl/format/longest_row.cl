// The nonzeros of the longest row, from row offsets that are on the device: what the choice of an
// algorithm needs of a matrix that never was on the host. Saturates at 2^32 - 1.
#ifndef GROUP_SIZE
#define GROUP_SIZE 256 // items of a work-group
#endif

#include "item/scalar.h"

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void longest_row(const uint rows,
                        ARRAY_PARAMETER(const offset_t, offsets),
                        ARRAY_PARAMETER(uint, longest))
{
    OPEN_ARRAY(const offset_t, offsets);
    local uint of_group[1];
    if (get_local_id(0) == 0)
        of_group[0] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint mine = 0;
    for (size_t row = get_global_id(0); row < rows; row += get_global_size(0)) {
        const ulong length = (ulong)offsets[row + 1] - offsets[row];
        mine = max(mine, (uint)min(length, (ulong)0xffffffffu));
    }
    atomic_max(of_group, mine);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        atomic_max(longest_buffer + longest_start, of_group[0]);
}
