// Fewer bytes for values that repeat, or that a narrower type holds (csr_core::ValueCoding): looks at the values of a
// matrix, and codes them, in their order.
//
//   find_values    which values occur, as long as they are few, and how many of f64 are no f32
//   table_values   those values
//   code_values    for each value, 8 bits: its index in a dictionary
//   narrow_values  f64 values that are f32 as such
//
// Values are compared by their bits: zeros of both signs differ, and so do NaN of different payloads.
//
// Finding. A group takes a run of values and collects those that occur in a hash table in local memory, whose slots say
// where a value lies that was seen first; then it adds them to a table of the same form that all groups share. So the
// shared one is touched a few times a group, and atomics are of 32 bits. An item that sees that there are too many
// stops.

#ifndef GROUP_SIZE
#define GROUP_SIZE 256 // items of a work-group
#endif

#include "item/store.h"

// TABLE_SLOTS, MOST_DISTINCT, RUN: `cl_kernels::value_coding`.
#define TABLE_SLOTS 1024
#define LOG_TABLE_SLOTS 10
#define MOST_DISTINCT 256
#define RUN 64 // values of an item

#if defined(VALUE_F64)
#define BITS 64
#elif defined(VALUE_F16) || defined(VALUE_BF16)
#define BITS 16
#else
#define BITS 32
#endif

// The slot at which the search for a value begins.
uint slot_of_bits(const bits_t bits)
{
#if BITS == 64
    return (uint)((bits * 0x9e3779b97f4a7c15ul) >> (64 - LOG_TABLE_SLOTS));
#else
    return ((uint)bits * 0x9e3779b9u) >> (32 - LOG_TABLE_SLOTS);
#endif
}

// What values are in order by: size, then sign.
bits_t size_before_sign(const bits_t bits)
{
    return rotate(bits, (bits_t)1);
}

#ifdef VALUE_F64
// Whether an f64 is an f32: it comes back, and is not subnormal there, which devices may take for 0.
int is_f32(const double value)
{
    const float narrow = (float)value;
    const uint size = as_uint(narrow) & 0x7fffffffu;
    return as_ulong((double)narrow) == as_ulong(value) && (size == 0 || size >= 0x00800000u);
}
#endif

// Adds the value at index `at` to a table, local or global, with its count; false where there are too many.
#define ADD_VALUE(is_added, table, count, source, at, bits) \
    do { \
        uint slot_ = slot_of_bits(bits); \
        for (uint looked_ = 0; looked_ < TABLE_SLOTS; ++looked_) { \
            uint known_ = atomic_or((table) + slot_, 0u); \
            if (known_ == 0) { \
                known_ = atomic_cmpxchg((table) + slot_, 0u, (at) + 1); \
                if (known_ == 0) { \
                    is_added = atomic_inc(count) < MOST_DISTINCT; \
                    break; \
                } \
            } \
            if ((source)[known_ - 1] == (bits)) { \
                is_added = 1; \
                break; \
            } \
            slot_ = (slot_ + 1) % TABLE_SLOTS; \
        } \
    } while (0)

// Of `table`, TABLE_SLOTS words: 1 + the index of a value for each that occurs. `found`: how many there are, more than
// MOST_DISTINCT where the table does not have all; and in f64, how many values are no f32, or some of them. All 0 before.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void find_values(const uint count,
                        ARRAY_PARAMETER(const bits_t, source),
                        ARRAY_PARAMETER(uint, table),
                        ARRAY_PARAMETER(uint, found))
{
    OPEN_ARRAY(const bits_t, source);
    OPEN_ARRAY(uint, table);
    OPEN_ARRAY(uint, found);
    local uint own_table[TABLE_SLOTS];
    local uint own[3]; // values, values that are no f32, and whether all know that there are too many
    const uint item = (uint)get_local_id(0);
    for (uint slot = item; slot < TABLE_SLOTS; slot += GROUP_SIZE)
        own_table[slot] = 0;
    if (item == 0) {
        own[0] = 0;
        own[1] = 0;
#ifdef VALUE_F64
        own[2] = atomic_or(found, 0u) > MOST_DISTINCT && atomic_or(found + 1, 0u) > 0;
#else
        own[2] = atomic_or(found, 0u) > MOST_DISTINCT;
#endif
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (own[2])
        return;
    const ulong first = (ulong)get_group_id(0) * (GROUP_SIZE * RUN);
    const uint past = (uint)min(first + GROUP_SIZE * RUN, (ulong)count);
    int is_counted = 1;
    int are_f32 = 1;
    bits_t last = 0;
    for (uint at = (uint)first + item; at < past; at += GROUP_SIZE) {
        const bits_t bits = source[at];
        // What an item sees is often what it saw before.
        if (at >= first + GROUP_SIZE && bits == last)
            continue;
        last = bits;
#ifdef VALUE_F64
        are_f32 = are_f32 && is_f32(as_double(bits));
#endif
        if (is_counted) {
            is_counted = 0;
            ADD_VALUE(is_counted, own_table, own, source, at, bits);
        }
        if (!is_counted && !are_f32)
            break;
    }
    if (!is_counted)
        atomic_add(own, MOST_DISTINCT + 1u);
    if (!are_f32)
        atomic_inc(own + 1);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0 && own[1] > 0)
        atomic_inc(found + 1);
    if (own[0] > MOST_DISTINCT) {
        if (item == 0)
            atomic_or(found, 0x40000000u);
        return;
    }
    for (uint slot = item; slot < TABLE_SLOTS; slot += GROUP_SIZE) {
        const uint known = own_table[slot];
        if (known > 0) {
            const bits_t bits = source[known - 1];
            int is_known = 0;
            ADD_VALUE(is_known, table, found, source, known - 1, bits);
            if (!is_known) {
                atomic_or(found, 0x40000000u);
                break;
            }
        }
    }
}

// The value of each slot of a table.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void table_values(ARRAY_PARAMETER(const bits_t, source),
                         ARRAY_PARAMETER(const uint, table),
                         ARRAY_PARAMETER(bits_t, values))
{
    OPEN_ARRAY(const bits_t, source);
    OPEN_ARRAY(const uint, table);
    OPEN_ARRAY(bits_t, values);
    const uint slot = (uint)get_global_id(0);
    if (slot < TABLE_SLOTS && table[slot] > 0)
        values[slot] = source[table[slot] - 1];
}

// The code of each value: its index in a dictionary of `entries` values, which is in order.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void code_values(const uint count,
                        const uint entries,
                        ARRAY_PARAMETER(const bits_t, dictionary),
                        ARRAY_PARAMETER(const bits_t, source),
                        ARRAY_PARAMETER(uchar, codes))
{
    OPEN_ARRAY(const bits_t, dictionary);
    OPEN_ARRAY(const bits_t, source);
    OPEN_ARRAY(uchar, codes);
    local bits_t keys[MOST_DISTINCT];
    const uint item = (uint)get_local_id(0);
    for (uint entry = item; entry < entries; entry += GROUP_SIZE)
        keys[entry] = size_before_sign(dictionary[entry]);
    barrier(CLK_LOCAL_MEM_FENCE);
    const ulong first = (ulong)get_group_id(0) * (GROUP_SIZE * RUN);
    const uint past = (uint)min(first + GROUP_SIZE * RUN, (ulong)count);
    for (uint at = (uint)first + item; at < past; at += GROUP_SIZE) {
        const bits_t key = size_before_sign(source[at]);
        uint code = 0;
        uint beyond = entries;
        while (beyond - code > 1) {
            const uint middle = (code + beyond) / 2;
            if (keys[middle] <= key)
                code = middle;
            else
                beyond = middle;
        }
        codes[at] = (uchar)code;
    }
}

#ifdef VALUE_F64
// f64 values as the f32 that they are.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void narrow_values(const uint count,
                          ARRAY_PARAMETER(const double, source),
                          ARRAY_PARAMETER(float, narrow))
{
    OPEN_ARRAY(const double, source);
    OPEN_ARRAY(float, narrow);
    const ulong first = (ulong)get_group_id(0) * (GROUP_SIZE * RUN);
    const uint past = (uint)min(first + GROUP_SIZE * RUN, (ulong)count);
    for (uint at = (uint)first + (uint)get_local_id(0); at < past; at += GROUP_SIZE)
        narrow[at] = (float)source[at];
}
#endif
