// Sums whose parts come from several groups of one launch: the parts meet two by two, and who arrives second at a
// meeting goes on with both.
//
// The meetings are the inner nodes of a binary tree over the parts [0, parts) of a sum: node k of a level has nodes 2k
// and 2k + 1 of the level below, and a node without a neighbour goes up as it is. Left is added to right whoever came
// second, so the sum has the same bits every time. Nobody waits for anybody: the first at a meeting leaves its sum there
// and is done. The last of all parts needs log2(parts) meetings, one after the other.
//
// Between groups of one launch OpenCL C 1.2 orders nothing, so nothing but the sum itself travels, in one atomic exchange
// with the meeting's place, which is 0 when a launch begins and when it has ended. So sums travel with all bits turned
// over: 0 is then a NaN of all ones, for which another NaN goes. Where a sum is too wide to be exchanged at once, each
// side leaves it in a carry of its own and counts itself (group/carry.h): three trips through memory instead of one.
#ifndef GROUP_MEET_H
#define GROUP_MEET_H

#include "group/carry.h"
#include "item/accumulate.h"

#if ACC_WORDS == 1
#define MEET_BY_EXCHANGE
#define exchange_words(place, words) atomic_xchg(place, words)
typedef uint words_t;
#elif ACC_WORDS == 2 && defined(cl_khr_int64_base_atomics)
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#define MEET_BY_EXCHANGE
#define exchange_words(place, words) atom_xchg(place, words)
typedef ulong words_t;
#endif

// Room for meetings. Both are 0 when a launch begins; `carries` is aligned to 8 bytes.
typedef struct {
    volatile global uint *carries; // 2 * ACC_WORDS words a meeting
    volatile global uint *counters; // a word a meeting
    uint zero; // 0, which only the host knows (group/carry.h)
} meetings_t;

// Meetings at `places` places in `room`: carries, and a counter for each place behind them.
meetings_t open_meetings(global uint *room, const ulong places, const uint zero)
{
    meetings_t meetings;
    meetings.carries = room;
    meetings.counters = room + places * 2 * ACC_WORDS;
    meetings.zero = zero;
    return meetings;
}

// Brings `mine` to meeting `place`. True for the second who comes; `*sum` is then that of both.
int meet(const meetings_t meetings, const uint place, const int is_right, const acc_t mine, acc_t *sum)
{
#ifdef MEET_BY_EXCHANGE
    union {
        acc_t sum;
        words_t words;
    } carry;
    volatile global words_t *words = (volatile global words_t *)meetings.carries + place;
    carry.sum = mine;
    const words_t turned = ~carry.words;
    const words_t found = exchange_words(words, turned == 0 ? 1 : turned);
    if (found == 0)
        return 0;
    exchange_words(words, 0);
    carry.words = ~found;
    const acc_t its = carry.sum;
#else
    const uint proof = carry_publish(meetings.carries, 2 * (ulong)place + (is_right ? 1 : 0), mine);
    if (!arrives_last(meetings.counters + place, 2, proof, meetings.zero))
        return 0;
    const acc_t its = carry_read(meetings.carries, 2 * (ulong)place + (is_right ? 0 : 1));
#endif
    *sum = is_right ? acc_add(its, mine) : acc_add(mine, its);
    return 1;
}

// Brings in part number `part` of `parts`. True for the last who comes; `*sum` is then the whole one. The meeting of two
// neighbours has the place of the right one's first part, so `parts` - 1 places from `first_place` + 1 on are used.
int gather_parts(const meetings_t meetings, const uint first_place, const uint part, const uint parts, acc_t *sum)
{
    uint node = part;
    for (uint level = 0; (parts - 1) >> level > 0; ++level) {
        const uint right = (node | 1) << level;
        if (right < parts && !meet(meetings, first_place + right, node & 1, *sum, sum))
            return 0;
        node >>= 1;
    }
    return 1;
}

#endif
