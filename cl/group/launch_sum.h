// Sums over all items of a launch, in an order that depends on nothing but the sizes: the same bits every time, in
// one launch.
//
// The items of a group are added up in two levels: ADDERS items add up some each, and one of them what those have. The
// group's sums go out as carries (group/carry.h), and the group that arrives last adds up those of all groups: its item
// i those of groups i, i + GROUP_SIZE, ..., then the items as before. No group waits for another. LAUNCH_SUMS sums (1
// unless it is defined before this is included) travel together, so that a kernel that needs two pays for one arrival.
//
// In a kernel of GROUP_SIZE items, a power of two:
//
//     LAUNCH_SUM(shared);                                       // local memory, at the kernel's own level
//     acc_t sums[LAUNCH_SUMS] = {...};                          // what this item has
//     if (!launch_sum_arrives(sums, shared, workspace, zero))   // all items call it
//         return;
//     launch_sum_total(sums, shared, workspace);                // all items of the group that arrived last
//     if (get_local_id(0) == 0)
//         result[0] = acc_round(sums[0]);
//
// `workspace` is LAUNCH_SUM_CARRIES + groups * LAUNCH_SUMS * ACC_WORDS words: a counter, and from word
// LAUNCH_SUM_CARRIES on a carry for each sum of each group. The counter is 0 when a launch begins, and is 0 again when
// it has ended; carries may hold anything. Launches that share a workspace come one after another. `zero` is an
// argument of the kernel that is 0, which its compiler must not know (group/carry.h says why). Plain stores of other
// groups in the same launch are not to be seen by the last group: only the sums are.
//
// A launch of one group takes no atomics.
#ifndef GROUP_LAUNCH_SUM_H
#define GROUP_LAUNCH_SUM_H

#include "group/carry.h"
#include "item/accumulate.h"

#ifndef LAUNCH_SUMS
#define LAUNCH_SUMS 1 // sums that travel together
#endif

// Items that add up at first: two barriers are fewer than a tree has, and short launches feel each.
#if GROUP_SIZE > 16
#define ADDERS 16
#else
#define ADDERS GROUP_SIZE
#endif

// Unrolled, so that loads do not wait for sums; but three compensated sums are more than AMD's compiler then takes into
// a kernel.
#ifdef COMPENSATED
#define UNROLL_ADDING _Pragma("unroll 1")
#else
#define UNROLL_ADDING _Pragma("unroll")
#endif

// The counter has a cache line for itself.
#define LAUNCH_SUM_CARRIES 32

typedef struct {
    local acc_t *scratch; // LAUNCH_SUMS runs of GROUP_SIZE
    local uint *is_last;
} launch_sum_t;

#define LAUNCH_SUM(name)                                                                           \
    local acc_t name##_scratch[LAUNCH_SUMS * GROUP_SIZE];                                          \
    local uint name##_is_last[1];                                                                  \
    launch_sum_t name;                                                                             \
    name.scratch = name##_scratch;                                                                 \
    name.is_last = name##_is_last

// Adds up what the items of the group have, each sum by itself. All items call it; valid in item 0.
void group_add_sums(acc_t *sums, local acc_t *scratch)
{
    const uint item = (uint)get_local_id(0);
    barrier(CLK_LOCAL_MEM_FENCE); // the scratch may still be read from the call before
#pragma unroll
    for (uint s = 0; s < LAUNCH_SUMS; ++s)
        scratch[s * GROUP_SIZE + item] = sums[s];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < ADDERS) {
#pragma unroll
        for (uint s = 0; s < LAUNCH_SUMS; ++s) {
            UNROLL_ADDING
            for (uint other = ADDERS; other < GROUP_SIZE; other += ADDERS)
                sums[s] = acc_add(sums[s], scratch[s * GROUP_SIZE + item + other]);
            scratch[s * GROUP_SIZE + item] = sums[s];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0) {
#pragma unroll
        for (uint s = 0; s < LAUNCH_SUMS; ++s) {
            UNROLL_ADDING
            for (uint other = 1; other < ADDERS; ++other)
                sums[s] = acc_add(sums[s], scratch[s * GROUP_SIZE + other]);
        }
    }
}

// Publishes the group's sums. All items call it. True, in all items, in the group that arrives last.
int launch_sum_arrives(acc_t *sums, const launch_sum_t shared, volatile global uint *workspace, const uint zero)
{
    const uint groups = (uint)get_num_groups(0);
    group_add_sums(sums, shared.scratch);
    if (get_local_id(0) == 0) {
        int is_last = 1;
        if (groups > 1) {
            const ulong first = (ulong)get_group_id(0) * LAUNCH_SUMS;
            uint proof = 0;
#pragma unroll
            for (uint s = 0; s < LAUNCH_SUMS; ++s)
                proof |= carry_publish(workspace + LAUNCH_SUM_CARRIES, first + s, sums[s]);
            is_last = arrives_last(workspace, groups, proof, zero);
        }
        shared.is_last[0] = is_last;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    return shared.is_last[0];
}

// Adds up the sums of all groups. All items of the group that arrived last call it, with the sums that it published;
// valid in item 0.
void launch_sum_total(acc_t *sums, const launch_sum_t shared, volatile global uint *workspace)
{
    const uint groups = (uint)get_num_groups(0);
    const int is_alone = groups == 1;
#pragma unroll
    for (uint s = 0; s < LAUNCH_SUMS; ++s)
        sums[s] = is_alone && get_local_id(0) == 0 ? sums[s] : acc_zero();
    for (ulong group = get_local_id(0); group < groups && !is_alone; group += GROUP_SIZE) {
#pragma unroll
        for (uint s = 0; s < LAUNCH_SUMS; ++s)
            sums[s] = acc_add(sums[s], carry_read(workspace + LAUNCH_SUM_CARRIES, group * LAUNCH_SUMS + s));
    }
    group_add_sums(sums, shared.scratch);
}

#endif
