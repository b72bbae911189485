// The values of rows of C whose columns are known and in order; a group a row, or OUTPUTS neighbouring entries of one.
//
// How products are added up always in the order of A's row: `sums.h`.
//
// A window of a long row of C gets products from few entries of A's row: GROUP_SIZE of these are looked at together, and
// those whose row of B reaches into the window go onto a list, in order, until ENTRIES are on it or all were looked at.
//
// Local memory: 12 bytes and a sum for each of OUTPUTS, a product for each of CHUNK, and 24 bytes and a number for each
// of ENTRIES; with WINDOWS, 4 bytes more for each of OUTPUTS, and 12 and a number for each of GROUP_SIZE + ENTRIES.

#ifndef GROUP_SIZE
#define GROUP_SIZE 128 // items of a work-group: a power of two
#endif
#ifndef OUTPUTS
#define OUTPUTS 512 // entries of C that a group sums at a time
#endif
#ifndef PRODUCTS_PER_ITEM
#define PRODUCTS_PER_ITEM 4 // products that an item has in flight
#endif

#ifdef WINDOWS
#define MASK_WORDS 2 // batches of a window have few products
#endif

#include "spgemm/sums.h"

#define LISTED (GROUP_SIZE + ENTRIES) // slots of the list, a ring buffer
#define BALLOTS ((GROUP_SIZE + 31) / 32) // words with a bit an item

// With WINDOWS, `tasks` are two words each: a row, and which OUTPUTS of its entries; else a word, a row of up to OUTPUTS.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void fill_values(const uint count,
                        ARRAY_PARAMETER(const uint, tasks),
                        ARRAY_PARAMETER(const offset_t, a_offsets),
                        ARRAY_PARAMETER(const uint, a_columns),
                        ARRAY_PARAMETER(const value_t, a_values),
                        ARRAY_PARAMETER(const offset_t, b_begins),
                        ARRAY_PARAMETER(const offset_t, b_ends),
                        ARRAY_PARAMETER(const uint, b_columns),
                        ARRAY_PARAMETER(const value_t, b_values),
                        ARRAY_PARAMETER(const offset_t, c_offsets),
                        ARRAY_PARAMETER(const uint, c_columns),
                        ARRAY_PARAMETER(value_t, c_values))
{
    OPEN_ARRAY(const uint, tasks);
    OPEN_ARRAY(const offset_t, a_offsets);
    OPEN_ARRAY(const uint, a_columns);
    OPEN_ARRAY(const value_t, a_values);
    OPEN_ARRAY(const offset_t, b_begins);
    OPEN_ARRAY(const offset_t, b_ends);
    OPEN_ARRAY(const uint, b_columns);
    OPEN_ARRAY(const value_t, b_values);
    OPEN_ARRAY(const offset_t, c_offsets);
    OPEN_ARRAY(const uint, c_columns);
    OPEN_ARRAY(value_t, c_values);
    local uint columns[OUTPUTS];
    local uint masks[MASKS];
    local uint first_slots[OUTPUTS]; // the first of each entry of C
    local real_t sums[OUTPUTS];
    local real_t products[CHUNK];
    local real_t of_a[ENTRIES];
    local ulong lengths[ENTRIES];
    local ulong starts[ENTRIES];
    local ulong ends[ENTRIES];
    local uint taken; // slots
#ifdef WINDOWS
    local ulong list_begins[LISTED];
    local uint list_lengths[LISTED];
    local real_t list_of_a[LISTED];
    local uint ballots[BALLOTS];
#endif
    const uint item = (uint)get_local_id(0);
    uint task = (uint)get_group_id(0);
    do {
#ifdef WINDOWS
        const ulong row = tasks[2 * (ulong)task];
        const ulong c_first = c_offsets[row] + (ulong)OUTPUTS * tasks[2 * (ulong)task + 1];
#else
        const ulong row = tasks[task];
        const ulong c_first = c_offsets[row];
#endif
        const uint outputs = (uint)min((ulong)OUTPUTS, c_offsets[row + 1] - c_first);
        for (uint output = item; output < outputs; output += GROUP_SIZE) {
            columns[output] = c_columns[c_first + output];
            for (uint word = 0; word < MASK_WORDS; ++word)
                masks[word * OUTPUTS + output] = 0;
            sums[output] = 0;
        }
        if (item == 0)
            taken = 0;
        const ulong end = a_offsets[row + 1];
        ulong first = a_offsets[row];
#ifdef WINDOWS
        const uint low = c_columns[c_first];
        const uint high = c_columns[c_first + outputs - 1];
        uint head = 0;
        uint listed = 0;
#endif
        do {
#ifdef WINDOWS
            do {
                // With a full list this round looks at nothing: a loop that may not run at all is none for PoCL 3.1.
                const uint looked = listed < ENTRIES ? (uint)min((ulong)GROUP_SIZE, end - first) : 0;
                ulong2 part = (ulong2)(0, 0);
                if (item < looked) {
                    const uint of_b = a_columns[first + item];
                    part = row_within(b_columns, b_begins[of_b], b_ends[of_b], low, high);
                }
                const int reaches = part.x < part.y;
                if (item < BALLOTS)
                    ballots[item] = 0;
                barrier(CLK_LOCAL_MEM_FENCE);
                if (reaches)
                    atomic_or(ballots + item / 32, 1u << item % 32);
                barrier(CLK_LOCAL_MEM_FENCE);
                uint before = popcount(ballots[item / 32] & ((1u << item % 32) - 1));
                uint found = 0;
                for (uint word = 0; word < BALLOTS; ++word) {
                    before += word < item / 32 ? popcount(ballots[word]) : 0;
                    found += popcount(ballots[word]);
                }
                if (reaches) {
                    const uint slot = (head + listed + before) % LISTED;
                    list_begins[slot] = part.x;
                    list_lengths[slot] = (uint)(part.y - part.x);
                    list_of_a[slot] = load_value(a_values, first + item);
                }
                listed += found;
                first += looked;
                barrier(CLK_LOCAL_MEM_FENCE);
            } while (listed < ENTRIES && first < end);
            if (item < ENTRIES) {
                const uint slot = (head + item) % LISTED;
                starts[item] = item < listed ? list_begins[slot] : 0;
                lengths[item] = item < listed ? list_lengths[slot] : 0;
                of_a[item] = item < listed ? list_of_a[slot] : 0;
            }
            const uint used = min(listed, (uint)ENTRIES);
            head = (head + used) % LISTED;
            listed -= used;
#else
            if (item < ENTRIES) {
                ulong begin = 0;
                ulong beyond = 0;
                if (first + item < end) {
                    const uint of_b = a_columns[first + item];
                    of_a[item] = load_value(a_values, first + item);
                    begin = b_begins[of_b];
                    beyond = b_ends[of_b];
                }
                starts[item] = begin;
                lengths[item] = beyond - begin;
            }
            first += ENTRIES;
#endif
            add_products(columns, outputs, masks, first_slots, sums, &taken, products, of_a, lengths, starts, ends,
                         b_columns, b_values);
#ifdef WINDOWS
        } while (first < end || listed > 0);
#else
        } while (first < end);
#endif
        // Each item has what it summed itself.
        for (uint output = item; output < outputs; output += GROUP_SIZE)
            c_values[c_first + output] = sums[output];
        barrier(CLK_LOCAL_MEM_FENCE);
        task += (uint)get_num_groups(0);
    } while (task < count);
}
