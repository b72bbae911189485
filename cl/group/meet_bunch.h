// As group/meet.h, where all items of a bunch bring in a part together: 32 parts come together at once.
//
// The parts of a sum are the leaves of a tree whose nodes have up to 32 members. A member leaves its sum in a place of
// its own and counts itself; the last of a node takes all of them, an item each, adds them up by shuffles, and is a
// member of the node above. That is two trips through memory for 32 parts, where meeting two by two takes five, one
// after the other. Two members meet in one exchange, as there.
//
// A member's exchange comes before its count, and both are one item's. So whoever sees all counted knows that every exchange
// has been issued, and looks at a place until it is there: it waits for memory, not for another group to run.
#ifndef GROUP_MEET_BUNCH_H
#define GROUP_MEET_BUNCH_H

#include "group/meet.h"

#if defined(BUNCH_VOTES) && defined(MEET_BY_EXCHANGE)
#define LOG_MEMBERS 5
#define MOST_MEMBERS (1u << LOG_MEMBERS)

// The place of part `part` of a sum. `first_place` may be another sum's, so the first part shares the next one.
ulong place_of_part(const uint first_place, const uint part)
{
    return part == 0 ? 2 * ((ulong)first_place + 1) + 1 : 2 * ((ulong)first_place + part);
}

words_t turned_words(const acc_t sum)
{
    union {
        acc_t sum;
        words_t words;
    } carry;
    carry.sum = sum;
    return ~carry.words == 0 ? 1 : ~carry.words;
}

acc_t turned_sum(const words_t words)
{
    union {
        acc_t sum;
        words_t words;
    } carry;
    carry.words = ~words;
    return carry.sum;
}

// Brings in part number `part` of `parts`, which item 0 of the bunch has. True for the last bunch that comes, whose
// item 0 then has the whole sum. Uses `parts` - 1 places from `first_place` + 1 on.
int bunch_gather_parts(const meetings_t meetings, const uint first_place, const uint part, const uint parts,
                       const uint item, acc_t *sum)
{
    volatile global words_t *places = (volatile global words_t *)meetings.carries;
    uint member = part; // the first part of what has come together
    for (uint log_stride = 0; (parts - 1) >> log_stride > 0; log_stride += LOG_MEMBERS) {
        const uint first = member >> (log_stride + LOG_MEMBERS) << (log_stride + LOG_MEMBERS);
        const uint members = min((parts - 1 - first) >> log_stride, MOST_MEMBERS - 1) + 1;
        // No other node has this one: a node of a level above may begin where this one does, but has longer strides.
        const uint own_place = first_place + first + (1u << log_stride);
        int is_last = 0;
        if (members == 2) {
            if (item == 0) {
                const words_t found = exchange_words(places + 2 * (ulong)own_place + 1, turned_words(*sum));
                is_last = found != 0;
                if (is_last) {
                    exchange_words(places + 2 * (ulong)own_place + 1, 0);
                    const acc_t its = turned_sum(found);
                    *sum = member == first ? acc_add(*sum, its) : acc_add(its, *sum);
                }
            }
            if (bunch_count(is_last) == 0)
                return 0;
        } else if (members > 2) {
            if (item == 0) {
                exchange_words(places + place_of_part(first_place, member), turned_words(*sum));
                is_last = atomic_add(meetings.counters + own_place, 1u) + 1 == members;
            }
            if (bunch_count(is_last) == 0)
                return 0;
            if (item == 0)
                atomic_xchg(meetings.counters + own_place, 0u);
            *sum = acc_zero();
            if (item < members) {
                volatile global words_t *place = places + place_of_part(first_place, first + (item << log_stride));
                words_t words;
                do
                    words = *place;
                while (words == 0);
                *place = 0;
                *sum = turned_sum(words);
            }
            *sum = bunch_sum_runs(*sum, MOST_MEMBERS);
        }
        member = first;
    }
    return 1;
}
#define TEAM_GATHER_PARTS(meetings, first_place, part, parts, item, sum) \
    bunch_gather_parts(meetings, first_place, part, parts, item, sum)
#else
#define TEAM_GATHER_PARTS(meetings, first_place, part, parts, item, sum) \
    ((item) == 0 && gather_parts(meetings, first_place, part, parts, sum))
#endif

#endif
