// Partial sums that cross from one work-group to another within a launch.
//
// Between groups of one launch OpenCL C 1.2 orders nothing, so a carry travels as 32-bit words that are
// written and read by atomics alone; every device has those, so f64 needs no 64-bit atomics. Who may
// read is settled by a counter: a group publishes its words, fences, and raises the counter; the group
// that raises it to the full number has arrived last and reads them all. Nobody waits for anybody.
//
// The counter is never cleared: it is compared with launch * arrivals, modulo 2^32, where `launch`
// counts the launches of this workspace from 1.
#ifndef GROUP_CARRY_H
#define GROUP_CARRY_H

#include "item/accumulate.h"

typedef union {
    acc_t sum;
    uint words[ACC_WORDS];
} carry_t;

// One item calls it. The carry is readable by whoever arrives last.
void carry_publish(volatile global uint *carries, const ulong slot, const acc_t sum)
{
    carry_t carry;
    carry.sum = sum;
    for (uint word = 0; word < ACC_WORDS; ++word)
        atomic_xchg(carries + slot * ACC_WORDS + word, carry.words[word]);
}

// Any item of the group that arrived last may call it.
acc_t carry_read(volatile global uint *carries, const ulong slot)
{
    carry_t carry;
    for (uint word = 0; word < ACC_WORDS; ++word)
        carry.words[word] = atomic_or(carries + slot * ACC_WORDS + word, 0u);
    return carry.sum;
}

// The item that published calls it. True in the group that is last of `arrivals`.
int arrives_last(volatile global uint *counter, const uint launch, const uint arrivals)
{
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    const int is_last = atomic_inc(counter) + 1 == launch * arrivals;
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    return is_last;
}

#endif
