// As group/combine.h, where all items of a sub-group combine a part: 32 parts are combined at once. Sub-groups are
// warps (subgroup/sub_group.h: with ballots); elsewhere the first item combines in pairs.
//
// The parts of a sum are the leaves of a tree whose nodes have up to 32 members. A member stores its sum in a slot of
// its own and raises the node's counter; the last of a node loads all of them, an item each, adds them up by shuffles,
// and is a member of the node above. That is two accesses to memory for 32 parts, where combining in pairs takes five,
// one after the other. Two members are combined by one exchange, as there.
//
// A member's exchange comes before its count, and both are one item's. So an item that sees all counted knows that
// every exchange has been issued, and polls a slot until it is there: it waits for memory, not for another group to
// run.
#ifndef GROUP_COMBINE_SUB_GROUP_H
#define GROUP_COMBINE_SUB_GROUP_H

#include "group/combine.h"

#if defined(SUB_GROUP_BALLOT) && defined(COMBINE_BY_EXCHANGE)
#define LOG_MEMBERS 5
#define MOST_MEMBERS (1u << LOG_MEMBERS)

// Returns the slot of part `part` of a sum. `first_slot` may be another sum's, so the first part shares the next one.
ulong slot_of_part(const uint first_slot, const uint part)
{
    return part == 0 ? 2 * ((ulong)first_slot + 1) + 1 : 2 * ((ulong)first_slot + part);
}

words_t inverted_words(const acc_t sum)
{
    union {
        acc_t sum;
        words_t words;
    } carry;
    carry.sum = sum;
    return ~carry.words == 0 ? 1 : ~carry.words;
}

acc_t sum_of_inverted(const words_t words)
{
    union {
        acc_t sum;
        words_t words;
    } carry;
    carry.words = ~words;
    return carry.sum;
}

// Combines part number `part` of `parts`, which item 0 of the sub-group has, with those that have arrived. True for the
// last sub-group to arrive, whose item 0 then has the whole sum. Uses `parts` - 1 slots from `first_slot` + 1 on.
int sub_group_combine_parts(const partial_sums_t partials, const uint first_slot, const uint part, const uint parts,
                       const uint item, acc_t *sum)
{
    volatile global words_t *slots = (volatile global words_t *)partials.carries;
    uint member = part; // the first part of what has been combined
    for (uint log_stride = 0; (parts - 1) >> log_stride > 0; log_stride += LOG_MEMBERS) {
        const uint first = member >> (log_stride + LOG_MEMBERS) << (log_stride + LOG_MEMBERS);
        const uint members = min((parts - 1 - first) >> log_stride, MOST_MEMBERS - 1) + 1;
        // No other node has this one: a node of a level above may begin where this one does, but has longer strides.
        const uint own_slot = first_slot + first + (1u << log_stride);
        int is_last = 0;
        if (members == 2) {
            if (item == 0) {
                const words_t found = exchange_words(slots + 2 * (ulong)own_slot + 1, inverted_words(*sum));
                is_last = found != 0;
                if (is_last) {
                    exchange_words(slots + 2 * (ulong)own_slot + 1, 0);
                    const acc_t its = sum_of_inverted(found);
                    *sum = member == first ? acc_add(*sum, its) : acc_add(its, *sum);
                }
            }
            if (ballot_count(is_last) == 0)
                return 0;
        } else if (members > 2) {
            if (item == 0) {
                exchange_words(slots + slot_of_part(first_slot, member), inverted_words(*sum));
                is_last = atomic_add(partials.counters + own_slot, 1u) + 1 == members;
            }
            if (ballot_count(is_last) == 0)
                return 0;
            if (item == 0)
                atomic_xchg(partials.counters + own_slot, 0u);
            *sum = acc_zero();
            if (item < members) {
                volatile global words_t *slot = slots + slot_of_part(first_slot, first + (item << log_stride));
                words_t words;
                do
                    words = *slot;
                while (words == 0);
                *slot = 0;
                *sum = sum_of_inverted(words);
            }
            *sum = sub_group_sum_runs(*sum, MOST_MEMBERS);
        }
        member = first;
    }
    return 1;
}
#define TEAM_COMBINE_PARTS(partials, first_slot, part, parts, item, sum) \
    sub_group_combine_parts(partials, first_slot, part, parts, item, sum)
#else
#define TEAM_COMBINE_PARTS(partials, first_slot, part, parts, item, sum) \
    ((item) == 0 && combine_parts(partials, first_slot, part, parts, sum))
#endif

#endif
