// The values of crowded rows of C: long ones whose row of A has many entries too.
//
// A window of OUTPUTS entries of such a row gets products from few entries of A's row, and looking at all of them to
// find these (`spgemm_values.cl`) takes windows x entries looks: of circuit5M's longest row 6,400 million, for 14 million
// products. Here the products are brought to the windows instead, each cut of a row of B once:
//
//   1. an entry of A has a part in each window that its row of B has products in: with no more of these than C's row has
//      windows each product is a part, else the row of B is cut for all windows, empty as some are then. Parts are
//      numbered through in the order of A's entries, as `flat.h` says;
//   2. write_parts writes each part's window and where it comes from, and a stable sort brings together those of a window
//      (`sort.cl`: only as many bits as there are windows), in the order of A's row still;
//   3. fill_parts: a group a window finds its parts by binary search, and adds them up ENTRIES at a time (`sums.h`).
//
// Parts are sorted in batches, in order, that keep to the memory that they may take: 32 bytes each. What is summed so
// far is C's value meanwhile, so the bits are the same however they are cut, and those of `spgemm_values.cl`.
//
// Rows are crowded by CROWDED entries of A (`spgemm_rows.cl`); where a batch of them has not `crowded_looks` times as many
// looks as parts, since rows of B reach into most windows, its rows are left to `spgemm_values.cl` after all.
//
// Local memory: 12 bytes and a sum for each of OUTPUTS, a product for each of CHUNK, 24 bytes and a number for each of
// ENTRIES, and 12 bytes and a number an item.

#ifndef GROUP_SIZE
#define GROUP_SIZE 256 // items of a work-group: a power of two
#endif
#ifndef OUTPUTS
#define OUTPUTS 1024 // entries of C that a group sums: a window
#endif
#ifndef PRODUCTS_PER_ITEM
#define PRODUCTS_PER_ITEM 4 // products that an item has in flight
#endif

#include "spgemm/flat.h"
#include "spgemm/sums.h"

#define WHOLE 0xffffffffu // a part that is what a row of B has in the window

// Parts `first_part` and the next, `count` of them: the window each belongs to, its number here, and in two words the
// entry of A's row it comes from and which product of that it is, or WHOLE. Row `slot` has the windows from
// window_starts[slot] on.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void write_parts(const ulong first_part,
                        const uint count,
                        const uint entries,
                        const uint slots,
                        ARRAY_PARAMETER(const uint, rows),
                        ARRAY_PARAMETER(const uint, entry_starts),
                        ARRAY_PARAMETER(const uint, window_starts),
                        ARRAY_PARAMETER(const ulong, starts),
                        ARRAY_PARAMETER(const offset_t, a_offsets),
                        ARRAY_PARAMETER(const uint, a_columns),
                        ARRAY_PARAMETER(const offset_t, b_begins),
                        ARRAY_PARAMETER(const offset_t, b_ends),
                        ARRAY_PARAMETER(const uint, b_columns),
                        ARRAY_PARAMETER(const offset_t, c_offsets),
                        ARRAY_PARAMETER(const uint, c_columns),
                        ARRAY_PARAMETER(uint, windows),
                        ARRAY_PARAMETER(uint, numbers),
                        ARRAY_PARAMETER(uint, sources))
{
    OPEN_ARRAY(const uint, rows);
    OPEN_ARRAY(const uint, entry_starts);
    OPEN_ARRAY(const uint, window_starts);
    OPEN_ARRAY(const ulong, starts);
    OPEN_ARRAY(const offset_t, a_offsets);
    OPEN_ARRAY(const uint, a_columns);
    OPEN_ARRAY(const offset_t, b_begins);
    OPEN_ARRAY(const offset_t, b_ends);
    OPEN_ARRAY(const uint, b_columns);
    OPEN_ARRAY(const offset_t, c_offsets);
    OPEN_ARRAY(const uint, c_columns);
    OPEN_ARRAY(uint, windows);
    OPEN_ARRAY(uint, numbers);
    OPEN_ARRAY(uint, sources);
    const ulong first = (ulong)get_group_id(0) * GROUP_SIZE;
    const ulong last = min(first + GROUP_SIZE, (ulong)count) - 1;
    const uint4 span = span_of(starts, entries, entry_starts, slots, first_part + first, first_part + last);
    const ulong item = first + get_local_id(0);
    if (item <= last) {
        const ulong part = first_part + item;
        const uint entry = last_entry(starts, span.x, span.y, part);
        const uint slot = last_slot(entry_starts, span.z, span.w, entry);
        const uint row = rows[slot];
        const uint of_b = a_columns[a_offsets[row] + (entry - entry_starts[slot])];
        const uint of_row = window_starts[slot + 1] - window_starts[slot];
        const ulong begin = b_begins[of_b];
        uint window = (uint)(part - starts[entry]);
        uint source = WHOLE;
        if (b_ends[of_b] - begin <= of_row) {
            // The last window of the row that does not begin beyond the product's column.
            source = window;
            const uint column = b_columns[begin + source];
            const ulong c_first = c_offsets[row];
            uint limit = of_row;
            window = 0;
            while (limit - window > 1) {
                const uint middle = window + (limit - window) / 2;
                if (c_columns[c_first + (ulong)middle * OUTPUTS] <= column)
                    window = middle;
                else
                    limit = middle;
            }
        }
        windows[item] = window_starts[slot] + window;
        numbers[item] = (uint)item;
        sources[2 * item] = entry - entry_starts[slot];
        sources[2 * item + 1] = source;
    }
}

// Adds `count` sorted parts to C's values, a group for each window; but for the first parts of all C has sums already.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void fill_parts(const uint count,
                       const uint has_sums,
                       const uint slots,
                       ARRAY_PARAMETER(const uint, rows),
                       ARRAY_PARAMETER(const uint, window_starts),
                       ARRAY_PARAMETER(const uint, windows),
                       ARRAY_PARAMETER(const uint, numbers),
                       ARRAY_PARAMETER(const uint, sources),
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
    OPEN_ARRAY(const uint, rows);
    OPEN_ARRAY(const uint, window_starts);
    OPEN_ARRAY(const uint, windows);
    OPEN_ARRAY(const uint, numbers);
    OPEN_ARRAY(const uint, sources);
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
    local uint first_slots[OUTPUTS];
    local real_t sums[OUTPUTS];
    local real_t products[CHUNK];
    local real_t of_a[ENTRIES];
    local ulong lengths[ENTRIES];
    local ulong starts[ENTRIES];
    local ulong ends[ENTRIES];
    local uint taken;
    local ulong list_begins[GROUP_SIZE];
    local uint list_lengths[GROUP_SIZE];
    local real_t list_of_a[GROUP_SIZE];
    const uint item = (uint)get_local_id(0);
    const uint window = (uint)get_group_id(0);
    const uint slot = last_slot(window_starts, 0, slots, window);
    const ulong row = rows[slot];
    const ulong c_first = c_offsets[row] + (ulong)OUTPUTS * (window - window_starts[slot]);
    const uint outputs = (uint)min((ulong)OUTPUTS, c_offsets[row + 1] - c_first);
    for (uint output = item; output < outputs; output += GROUP_SIZE) {
        columns[output] = c_columns[c_first + output];
        for (uint word = 0; word < MASK_WORDS; ++word)
            masks[word * OUTPUTS + output] = 0;
        sums[output] = has_sums ? c_values[c_first + output] : 0;
    }
    if (item == 0)
        taken = 0;
    const uint low = c_columns[c_first];
    const uint high = c_columns[c_first + outputs - 1];
    ulong first = first_not_below(windows, 0, count, window);
    const ulong end = first_not_below(windows, first, count, (ulong)window + 1);
    // A window without parts takes one round of nothing.
    do {
        const uint listed = (uint)min((ulong)GROUP_SIZE, end - first);
        ulong2 part = (ulong2)(0, 0);
        real_t value = 0;
        if (item < listed) {
            const ulong number = numbers[first + item];
            const ulong at = a_offsets[row] + sources[2 * number];
            const uint source = sources[2 * number + 1];
            const uint of_b = a_columns[at];
            const ulong begin = b_begins[of_b];
            value = load_value(a_values, at);
            part = (ulong2)(begin + source, begin + source + 1);
            if (source == WHOLE)
                part = row_within(b_columns, begin, b_ends[of_b], low, high);
        }
        list_begins[item] = part.x;
        list_lengths[item] = (uint)(part.y - part.x);
        list_of_a[item] = value;
        barrier(CLK_LOCAL_MEM_FENCE);
        uint done = 0;
        do {
            if (item < ENTRIES) {
                starts[item] = list_begins[done + item];
                lengths[item] = list_lengths[done + item];
                of_a[item] = list_of_a[done + item];
            }
            add_products(columns, outputs, masks, first_slots, sums, &taken, products, of_a, lengths, starts, ends,
                         b_columns, b_values);
            done += ENTRIES;
        } while (done < listed);
        first += listed;
    } while (first < end);
    for (uint output = item; output < outputs; output += GROUP_SIZE)
        c_values[c_first + output] = sums[output];
}
