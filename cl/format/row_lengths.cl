// What the choice of an algorithm needs of a matrix, in one pass over row offsets that are on the device:
//
//   lengths[0]      the nonzeros of the longest row; saturates at 2^32 - 1
//   lengths[1, 2]   low and high word of what BUNDLE neighbouring rows take in step: the sum, over bundles,
//                   of the longest row's nonzeros times the rows
//   lengths[3]      rows that are longer or shorter than the row before in their bundle
//
// An item looks at whole bundles, so its offsets are neighbours and stay in the first cache. Sums of 64 bits
// are added by atomics of 32: an item that sees the low word wrap carries one to the high word.
#ifndef GROUP_SIZE
#define GROUP_SIZE 256 // items of a work-group
#endif
#define BUNDLE 32 // rows in step

#include "item/scalar.h"

void add_wide(volatile global uint *words, const ulong more)
{
    const uint low = (uint)more;
    const uint before = atomic_add(words, low);
    const uint carry = before + low < low ? 1 : 0;
    const uint high = (uint)(more >> 32) + carry;
    if (high != 0)
        atomic_add(words + 1, high);
}

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void row_lengths(const uint rows,
                        ARRAY_PARAMETER(const offset_t, offsets),
                        ARRAY_PARAMETER(uint, lengths))
{
    OPEN_ARRAY(const offset_t, offsets);
    local uint longest_of[GROUP_SIZE];
    local ulong in_step_of[GROUP_SIZE];
    local uint changes_of[GROUP_SIZE];
    uint longest = 0;
    ulong in_step = 0;
    uint changes = 0;
    const ulong stride = (ulong)get_global_size(0) * BUNDLE;
    for (ulong first = (ulong)get_global_id(0) * BUNDLE; first < rows; first += stride) {
        const uint count = (uint)min((ulong)BUNDLE, rows - first);
        ulong begin = offsets[first];
        uint of_bundle = 0;
        ulong before = offsets[first + 1] - begin;
        for (uint row = 0; row < count; ++row) {
            const ulong end = offsets[first + row + 1];
            const ulong length = end - begin;
            of_bundle = max(of_bundle, (uint)min(length, (ulong)0xffffffffu));
            changes += length != before ? 1 : 0;
            before = length;
            begin = end;
        }
        longest = max(longest, of_bundle);
        in_step += (ulong)of_bundle * count;
    }
    longest_of[get_local_id(0)] = longest;
    in_step_of[get_local_id(0)] = in_step;
    changes_of[get_local_id(0)] = changes;
    barrier(CLK_LOCAL_MEM_FENCE);
    // Few groups, and this kernel runs once a matrix: a tree would gain nothing.
    if (get_local_id(0) == 0) {
        for (uint item = 1; item < GROUP_SIZE; ++item) {
            longest = max(longest, longest_of[item]);
            in_step += in_step_of[item];
            changes += changes_of[item];
        }
        atomic_max(lengths_buffer + lengths_start, longest);
        add_wide(lengths_buffer + lengths_start + 1, in_step);
        atomic_add(lengths_buffer + lengths_start + 3, changes);
    }
}
