// Cross-group reduction: adds up partial sums from several groups of one launch, in pairs. The second to arrive at a
// slot adds both and continues.
//
// The slots are the inner nodes of a binary tree over the parts [0, parts) of a sum: node k of a level has nodes 2k
// and 2k + 1 of the level below, and a node without a neighbour goes up as it is. Left is added to right in whichever
// order they arrive, so the sum has the same bits every time. No group waits for another: the first at a slot stores
// its sum there and is done. The last of all parts combines log2(parts) times, one after the other.
//
// Between groups of one launch OpenCL C 1.2 orders nothing, so nothing but the sum itself is passed on, in one atomic
// exchange with the slot, which is 0 when a launch begins and when it has ended. So sums are stored with all bits
// inverted: 0 is then a NaN of all ones, for which another NaN is stored. Where a sum is too wide to be exchanged at
// once, each side stores it in a carry of its own and raises a counter (group/carry.h): three accesses to memory
// instead of one.
#ifndef GROUP_COMBINE_H
#define GROUP_COMBINE_H

#include "group/carry.h"
#include "item/accumulate.h"

#if ACC_WORDS == 1
#define COMBINE_BY_EXCHANGE
#define exchange_words(slot, words) atomic_xchg(slot, words)
typedef uint words_t;
#elif ACC_WORDS == 2 && defined(cl_khr_int64_base_atomics)
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#define COMBINE_BY_EXCHANGE
#define exchange_words(slot, words) atom_xchg(slot, words)
typedef ulong words_t;
#endif

// Slots of partial sums. Both arrays are 0 when a launch begins; `carries` is aligned to 8 bytes.
typedef struct {
    volatile global uint *carries; // 2 * ACC_WORDS words a slot
    volatile global uint *counters; // a word a slot
    uint zero; // 0, which only the host knows (group/carry.h)
} partial_sums_t;

// Returns `slots` slots in `scratch`: carries, then a counter for each slot.
partial_sums_t open_partial_sums(global uint *scratch, const ulong slots, const uint zero)
{
    partial_sums_t partials;
    partials.carries = scratch;
    partials.counters = scratch + slots * 2 * ACC_WORDS;
    partials.zero = zero;
    return partials;
}

// Combines `mine` with the other sum of `slot`. True for the second of both to arrive; `*sum` is then their sum.
int combine_two(const partial_sums_t partials, const uint slot, const int is_right, const acc_t mine, acc_t *sum)
{
#ifdef COMBINE_BY_EXCHANGE
    union {
        acc_t sum;
        words_t words;
    } carry;
    volatile global words_t *words = (volatile global words_t *)partials.carries + slot;
    carry.sum = mine;
    const words_t inverted = ~carry.words;
    const words_t found = exchange_words(words, inverted == 0 ? 1 : inverted);
    if (found == 0)
        return 0;
    exchange_words(words, 0);
    carry.words = ~found;
    const acc_t its = carry.sum;
#else
    const uint proof = carry_publish(partials.carries, 2 * (ulong)slot + (is_right ? 1 : 0), mine);
    if (!arrives_last(partials.counters + slot, 2, proof, partials.zero))
        return 0;
    const acc_t its = carry_read(partials.carries, 2 * (ulong)slot + (is_right ? 0 : 1));
#endif
    *sum = is_right ? acc_add(its, mine) : acc_add(mine, its);
    return 1;
}

// Combines part number `part` of `parts` with those that have arrived. True for the last to arrive; `*sum` is then the
// whole sum. Two neighbours use the slot of the right one's first part: `parts` - 1 slots from `first_slot` + 1 on.
int combine_parts(const partial_sums_t partials, const uint first_slot, const uint part, const uint parts, acc_t *sum)
{
    uint node = part;
    for (uint level = 0; (parts - 1) >> level > 0; ++level) {
        const uint right = (node | 1) << level;
        if (right < parts && !combine_two(partials, first_slot + right, node & 1, *sum, sum))
            return 0;
        node >>= 1;
    }
    return 1;
}

#endif
