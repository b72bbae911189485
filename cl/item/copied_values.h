// A's values as a copy of them has them (csr_core::ValueCoding), a form of the program each; what is read is bit for bit
// what was stored.
//   as they are
//   ONE_VALUE    the array has the one value that all are
//   DICTIONARY   the array has DICTIONARY_VALUES values, and then 8 bits for each nonzero, which say which
//   VALUES_F32   f64 values that are f32 are stored so
// Kernels name the array's elements stored_t, begin with OPEN_VALUES instead of OPEN_ARRAY, load two neighbours by
// load_stored_pair, well before they are used, and widen them by first_value and second_value; or, but for a
// dictionary, go along what there is of each nonzero (each_t) by a pointer that EACH gives them, and read it by
// value_of_each, or LANES of them by lanes_of_each (item/lane_loads.h).
//
// DICTIONARY_IN_LOCAL, defined before, has a group copy the dictionary to local memory, widened, where lanes look up
// different entries at once and L1 is left to x. OPEN_VALUES has a barrier then. Otherwise entries are read where they lie.
#ifndef ITEM_COPIED_VALUES_H
#define ITEM_COPIED_VALUES_H

#include "item/scalar.h"

#if defined(VALUES_F32) && !defined(A_CONSTANT)

typedef float stored_t;
typedef float2 stored_pair_t;
#define OPEN_VALUES(values) OPEN_ARRAY(const stored_t, values)
#ifdef __NV_CL_C_VERSION
stored_pair_t load_stored_pair(global const stored_t *values, const ulong at)
{
    stored_pair_t pair;
    asm volatile(STREAM ".v2.f32 {%0, %1}, [%2];" : "=f"(pair.x), "=f"(pair.y) : "l"(values + at));
    return pair;
}
#else
#define load_stored_pair(values, at) (stored_pair_t)((values)[at], (values)[(at) + 1])
#endif
#define first_value(values, pair) ((real_t)(pair).x)
#define second_value(values, pair) ((real_t)(pair).y)
typedef float each_t;
typedef global const each_t *each_pointer_t;
#define EACH(values) (values)
#define value_of_each(values, each, at) ((real_t)(each)[at])

#elif defined(DICTIONARY) && !defined(A_CONSTANT)

#define DICTIONARY_VALUES 256
typedef value_t stored_t;
typedef uchar2 stored_pair_t;
#ifdef DICTIONARY_IN_LOCAL
typedef struct {
    local const real_t *dictionary;
    global const uchar *codes;
} values_t;
#define OPEN_VALUES(values) \
    local real_t values##_dictionary[DICTIONARY_VALUES]; \
    const values_t values = open_values(values##_buffer + values##_start, values##_dictionary)
values_t open_values(global const value_t *stored, local real_t *dictionary)
{
    for (uint at = (uint)get_local_id(0); at < DICTIONARY_VALUES; at += (uint)get_local_size(0))
        dictionary[at] = load_value(stored, at);
    barrier(CLK_LOCAL_MEM_FENCE);
    values_t values;
    values.dictionary = dictionary;
    values.codes = (global const uchar *)(stored + DICTIONARY_VALUES);
    return values;
}
#define value_of_code(values, code) (values).dictionary[code]
#else
typedef struct {
    global const value_t *dictionary;
    global const uchar *codes;
} values_t;
#define OPEN_VALUES(values) const values_t values = open_values(values##_buffer + values##_start)
values_t open_values(global const value_t *stored)
{
    values_t values;
    values.dictionary = stored;
    values.codes = (global const uchar *)(stored + DICTIONARY_VALUES);
    return values;
}
#define value_of_code(values, code) load_value((values).dictionary, code)
#endif
#ifdef __NV_CL_C_VERSION
stored_pair_t load_stored_pair(const values_t values, const ulong at)
{
    ushort both;
    asm volatile(STREAM ".u16 %0, [%1];" : "=h"(both) : "l"(values.codes + at));
    return as_uchar2(both);
}
#else
#define load_stored_pair(values, at) (*(global const uchar2 *)((values).codes + (at)))
#endif
#define first_value(values, pair) value_of_code(values, (pair).x)
#define second_value(values, pair) value_of_code(values, (pair).y)

#elif defined(ONE_VALUE) && !defined(A_CONSTANT)

typedef value_t stored_t;
typedef uint stored_pair_t; // nothing
#define OPEN_VALUES(values) const real_t values = load_value(values##_buffer, values##_start)
#define load_stored_pair(values, at) 0
#define first_value(values, pair) (values)
#define second_value(values, pair) (values)
typedef ulong each_pointer_t; // nothing lies there
#define EACH(values) 0ul
#define value_of_each(values, each, at) (values)

#else

typedef value_t stored_t;
typedef value_pair_t stored_pair_t;
#define OPEN_VALUES(values) OPEN_ARRAY(const stored_t, values)
#define load_stored_pair(values, at) stream_values(values, at)
#define first_value(values, pair) ((pair).first)
#define second_value(values, pair) ((pair).second)
typedef value_t each_t;
typedef global const each_t *each_pointer_t;
#define EACH(values) (values)
#define value_of_each(values, each, at) load_value(each, at)

#endif

#endif
