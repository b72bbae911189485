// The columns of rows of C that lie far apart and are few: a group a row puts them into a hash table in local memory,
// and sorts what it holds.
//
// The table has two slots for each product that a row may have. Where a column stands depends on timing, and how many
// there are does not; nor does their order once they are sorted.
//
// Local memory: 12 bytes for each product, and 24 for each item.

#ifndef GROUP_SIZE
#define GROUP_SIZE 32 // items of a work-group
#endif
#ifndef CAPACITY
#define CAPACITY 256 // products of a row, at most: a power of two
#endif

#include "spgemm/batch.h"

#define SLOTS (2 * CAPACITY)
#define EMPTY 0xffffffffu // no column: those are below the number of columns, which 32 bits hold
#define AT_ONCE 4 // columns that an item loads before it looks at any

// 1 where the column was not in the table.
uint put_column(local uint *table, const uint column)
{
    // Fibonacci hashing: the upper bits of a product with 2^32 over the golden ratio.
    uint slot = (column * 2654435769u) >> (32 - (31 - clz((uint)SLOTS)));
    for (;;) {
        const uint before = atomic_cmpxchg(table + slot, EMPTY, column);
        if (before == EMPTY)
            return 1;
        if (before == column)
            return 0;
        slot = (slot + 1) & (SLOTS - 1);
    }
}

// Puts the columns of a row of C into the table. All items of the group call it; returns how many an item put.
uint put_row(const ulong begin, const ulong end,
             global const uint *restrict a_columns, global const offset_t *restrict b_begins,
             global const offset_t *restrict b_ends, global const uint *restrict b_columns,
             local uint *table, local ulong *starts, local ulong *ends, local ulong *scratch)
{
    const uint item = (uint)get_local_id(0);
    for (uint slot = item; slot < SLOTS; slot += GROUP_SIZE)
        table[slot] = EMPTY;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint put = 0;
    ulong first = begin;
    do {
        const ulong total =
            open_batch(a_columns, first, end, b_begins, b_ends, b_columns, 0, 0, 0, starts, ends, scratch);
        for (ulong product = item; product < total; product += AT_ONCE * GROUP_SIZE) {
            uint columns[AT_ONCE];
#pragma unroll
            for (uint k = 0; k < AT_ONCE; ++k) {
                // What is put twice is put once.
                const ulong at = min(product + k * GROUP_SIZE, total - 1);
                columns[k] = b_columns[starts[entry_of(ends, GROUP_SIZE, at)] + at];
            }
#pragma unroll
            for (uint k = 0; k < AT_ONCE; ++k)
                put += put_column(table, columns[k]);
        }
        first += GROUP_SIZE;
    } while (first < end);
    barrier(CLK_LOCAL_MEM_FENCE);
    return put;
}

// The entries of each of `count` listed rows of C.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void count_listed(const uint count,
                         ARRAY_PARAMETER(const uint, rows),
                         ARRAY_PARAMETER(const offset_t, a_offsets),
                         ARRAY_PARAMETER(const uint, a_columns),
                         ARRAY_PARAMETER(const offset_t, b_begins),
                         ARRAY_PARAMETER(const offset_t, b_ends),
                         ARRAY_PARAMETER(const uint, b_columns),
                         ARRAY_PARAMETER(uint, counts))
{
    OPEN_ARRAY(const uint, rows);
    OPEN_ARRAY(const offset_t, a_offsets);
    OPEN_ARRAY(const uint, a_columns);
    OPEN_ARRAY(const offset_t, b_begins);
    OPEN_ARRAY(const offset_t, b_ends);
    OPEN_ARRAY(const uint, b_columns);
    OPEN_ARRAY(uint, counts);
    local uint table[SLOTS];
    local ulong starts[GROUP_SIZE];
    local ulong ends[GROUP_SIZE];
    local ulong scratch[GROUP_SIZE];
    local uint entries;
    const uint item = (uint)get_local_id(0);
    uint task = (uint)get_group_id(0);
    do {
        const ulong row = rows[task];
        if (item == 0)
            entries = 0;
        const uint put = put_row(a_offsets[row], a_offsets[row + 1], a_columns, b_begins, b_ends, b_columns, table,
                                 starts, ends, scratch);
        atomic_add(&entries, put);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item == 0)
            counts[row] = entries;
        barrier(CLK_LOCAL_MEM_FENCE);
        task += (uint)get_num_groups(0);
    } while (task < count);
}

// Orders two neighbouring columns as the last step of runs of `run` has them: every other run descends.
void order_pair(local uint *columns, const uint at, const uint run)
{
    const uint flip = (at & run) == 0 ? 0 : 0xffffffffu;
    const uint a = columns[at] ^ flip;
    const uint b = columns[at + 1] ^ flip;
    columns[at] = min(a, b) ^ flip;
    columns[at + 1] = max(a, b) ^ flip;
}

// Orders four columns, `near` apart from one another, as two steps have them: those 2 `near` apart, then those `near`
// apart.
void order_four(local uint *columns, const uint at, const uint near, const uint run)
{
    const uint flip = (at & run) == 0 ? 0 : 0xffffffffu;
    const uint a = columns[at] ^ flip;
    const uint b = columns[at + near] ^ flip;
    const uint c = columns[at + 2 * near] ^ flip;
    const uint d = columns[at + 3 * near] ^ flip;
    const uint low_a = min(a, c);
    const uint low_b = min(b, d);
    const uint high_a = max(a, c);
    const uint high_b = max(b, d);
    columns[at] = min(low_a, low_b) ^ flip;
    columns[at + near] = max(low_a, low_b) ^ flip;
    columns[at + 2 * near] = min(high_a, high_b) ^ flip;
    columns[at + 3 * near] = max(high_a, high_b) ^ flip;
}

// The columns of each of `count` listed rows of C, in order.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void fill_listed(const uint count,
                        ARRAY_PARAMETER(const uint, rows),
                        ARRAY_PARAMETER(const offset_t, a_offsets),
                        ARRAY_PARAMETER(const uint, a_columns),
                        ARRAY_PARAMETER(const offset_t, b_begins),
                        ARRAY_PARAMETER(const offset_t, b_ends),
                        ARRAY_PARAMETER(const uint, b_columns),
                        ARRAY_PARAMETER(const offset_t, c_offsets),
                        ARRAY_PARAMETER(uint, c_columns))
{
    OPEN_ARRAY(const uint, rows);
    OPEN_ARRAY(const offset_t, a_offsets);
    OPEN_ARRAY(const uint, a_columns);
    OPEN_ARRAY(const offset_t, b_begins);
    OPEN_ARRAY(const offset_t, b_ends);
    OPEN_ARRAY(const uint, b_columns);
    OPEN_ARRAY(const offset_t, c_offsets);
    OPEN_ARRAY(uint, c_columns);
    local uint table[SLOTS];
    local uint columns[CAPACITY];
    local ulong starts[GROUP_SIZE];
    local ulong ends[GROUP_SIZE];
    local ulong scratch[GROUP_SIZE];
    local uint found;
    const uint item = (uint)get_local_id(0);
    uint task = (uint)get_group_id(0);
    do {
        const ulong row = rows[task];
        const ulong to = c_offsets[row];
        const uint entries = (uint)(c_offsets[row + 1] - to);
        if (item == 0)
            found = 0;
        put_row(a_offsets[row], a_offsets[row + 1], a_columns, b_begins, b_ends, b_columns, table, starts, ends,
                scratch);
        for (uint slot = item; slot < SLOTS; slot += GROUP_SIZE) {
            const uint column = table[slot];
            if (column != EMPTY)
                columns[atomic_inc(&found)] = column;
        }
        uint width = 2;
        while (width < entries)
            width *= 2;
        for (uint at = entries + item; at < width; at += GROUP_SIZE)
            columns[at] = EMPTY;
        barrier(CLK_LOCAL_MEM_FENCE);
        // Batcher's bitonic sort (1968), two steps at a time: an item has the four columns that meet in both.
        uint run = 2;
        do {
            uint apart = run / 2;
            do {
                const uint near = apart / 2;
                if (near > 0) {
                    for (uint four = item; four < width / 4; four += GROUP_SIZE)
                        order_four(columns, 4 * four - 3 * (four & (near - 1)), near, run);
                } else {
                    for (uint pair = item; pair < width / 2; pair += GROUP_SIZE)
                        order_pair(columns, 2 * pair, run);
                }
                barrier(CLK_LOCAL_MEM_FENCE);
                apart /= 4;
            } while (apart > 0);
            run *= 2;
        } while (run <= width);
        for (uint at = item; at < entries; at += GROUP_SIZE)
            c_columns[to + at] = columns[at];
        barrier(CLK_LOCAL_MEM_FENCE);
        task += (uint)get_num_groups(0);
    } while (task < count);
}
