// Partial sums that cross from one work-group to another within a launch.
//
// Between groups of one launch OpenCL C 1.2 orders nothing, so a carry travels as 32-bit words that are
// written and read by atomics alone; every device has those, so f64 needs no 64-bit atomics. A counter says
// which group may read: a group publishes its words, then raises the counter; the group that raises it to
// the full number has arrived last and reads them all. No group waits for another.
//
// That the words are published before the counter is raised rests on data, not on a fence: what is added
// to the counter is computed from what the exchanges returned, so they must have been carried out. (The
// fences of OpenCL C 1.2 reach no further than the group: NVIDIA compiles mem_fence to membar.cta. Where
// a device-wide fence can be named, it is put there as well, and volatile loads, which go past L1, are then
// enough to read with: PTX ISA 8.0, section 8.) `zero` is 0, but only the host knows.
//
// The group that arrives last sets the counter back to 0 for the next launch. No number that the host
// counts takes part: a launch that was enqueued may never run, where what it waits for ends in error.
#ifndef GROUP_CARRY_H
#define GROUP_CARRY_H

#include "item/accumulate.h"

typedef union {
    acc_t sum;
    uint words[ACC_WORDS];
} carry_t;

#ifdef __NV_CL_C_VERSION
#define DEVICE_FENCE() asm volatile("membar.gl;" ::: "memory")
#define READ_PUBLISHED(word) (*(word))
#else
#define DEVICE_FENCE() mem_fence(CLK_GLOBAL_MEM_FENCE)
#define READ_PUBLISHED(word) atomic_or(word, 0u)
#endif

// One item calls it. Returns what was in the carry before: a proof that it was published.
uint carry_publish(volatile global uint *carries, const ulong slot, const acc_t sum)
{
    carry_t carry;
    carry.sum = sum;
    uint before = 0;
    for (uint word = 0; word < ACC_WORDS; ++word)
        before |= atomic_xchg(carries + slot * ACC_WORDS + word, carry.words[word]);
    return before;
}

// Any item of the group that arrived last may call it.
acc_t carry_read(volatile global uint *carries, const ulong slot)
{
    carry_t carry;
    for (uint word = 0; word < ACC_WORDS; ++word)
        carry.words[word] = READ_PUBLISHED(carries + slot * ACC_WORDS + word);
    return carry.sum;
}

// The item that published calls it, with the proof. True in the group that is last of `arrivals`.
int arrives_last(volatile global uint *counter, const uint arrivals, const uint proof,
                 const uint zero)
{
    DEVICE_FENCE();
    const uint arrived = atomic_add(counter, 1 + (proof & zero)) + 1;
    DEVICE_FENCE();
    const int is_last = arrived == arrivals;
    if (is_last)
        atomic_xchg(counter, 0u);
    return is_last;
}

#endif
