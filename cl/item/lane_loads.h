// What products load side by side: LANES values of A, and LANES elements of x, neighbours or not.
#ifndef ITEM_LANE_LOADS_H
#define ITEM_LANE_LOADS_H

#include "item/copied_values.h"
#include "item/lane_sums.h"

// LANES values of A from `at` on, widened to the type sums are made in.
lanes_t load_values(global const value_t *values, const ulong at)
{
#if defined(A_CONSTANT)
    return 1;
#elif defined(VALUE_F16)
    return JOIN_NAMES(vload_half, LANES)(0, values + at);
#elif defined(VALUE_BF16)
    const JOIN_NAMES(uint, LANES) bits = JOIN_NAMES(convert_uint, LANES)(JOIN_NAMES(vload, LANES)(0, values + at));
    return JOIN_NAMES(as_float, LANES)(bits << 16);
#else
    return JOIN_NAMES(vload, LANES)(0, values + at);
#endif
}

// LANES elements of x, from `column` on.
lanes_t load_x_run(global const real_t *x, const uint column)
{
#ifdef X_CONSTANT
    return 1;
#else
    return JOIN_NAMES(vload, LANES)(0, x + column);
#endif
}

// The elements of x in the columns `column(0)`, `column(1)` and so on; `column` is a macro. Each column is loaded as a
// number of its own: taken out of a vector of columns it would cost an instruction more than its load. So is each element
// of x: `volatile` keeps LLVM from making a gather instruction of the loads, by which products took up to 1.8 times as
// long on an AMD processor (docs/notebook/2026-11-25-cpu-devices-mkl.md).
// On Intel's runtime they take as long either way.
#ifdef X_CONSTANT
#define load_apart(x, column) ((real_t)1)
#else
#define load_apart(x, column) ((volatile global const real_t *)(x))[column]
#endif
#if LANES == 4
#define gather_lanes(x, column) \
    (lanes_t)(load_apart(x, column(0)), load_apart(x, column(1)), load_apart(x, column(2)), load_apart(x, column(3)))
#elif LANES == 8
#define gather_lanes(x, column) \
    (lanes_t)(load_apart(x, column(0)), load_apart(x, column(1)), load_apart(x, column(2)), load_apart(x, column(3)), \
              load_apart(x, column(4)), load_apart(x, column(5)), load_apart(x, column(6)), load_apart(x, column(7)))
#elif LANES == 16
#define gather_lanes(x, column) \
    (lanes_t)(load_apart(x, column(0)), load_apart(x, column(1)), load_apart(x, column(2)), load_apart(x, column(3)), \
              load_apart(x, column(4)), load_apart(x, column(5)), load_apart(x, column(6)), load_apart(x, column(7)), \
              load_apart(x, column(8)), load_apart(x, column(9)), load_apart(x, column(10)), load_apart(x, column(11)), \
              load_apart(x, column(12)), load_apart(x, column(13)), load_apart(x, column(14)), load_apart(x, column(15)))
#endif

// LANES values of a copy (item/copied_values.h), those `at` elements after `each` and their neighbours. There is no form
// with a dictionary: CPUs look up entries one by one, which takes longer than whole values
// (docs/notebook/2026-11-29-fewer-bytes.md).
#if defined(ONE_VALUE) && !defined(A_CONSTANT)
#define lanes_of_each(values, each, at) ((lanes_t)(values))
#elif defined(VALUES_F32) && !defined(A_CONSTANT)
#define lanes_of_each(values, each, at) JOIN_NAMES(convert_double, LANES)(JOIN_NAMES(vload, LANES)(0, (each) + (at)))
#else
#define lanes_of_each(values, each, at) load_values(each, at)
#endif

// sums + a b in the lanes whose bit of `mask` is 1; the others stay as they are, even if a and b are NaN there.
#ifdef VALUE_F64
typedef JOIN_NAMES(ulong, LANES) lane_mask_t;
#define LANE_SIGN 63
#else
typedef JOIN_NAMES(uint, LANES) lane_mask_t;
#define LANE_SIGN 31
#endif
#if LANES == 4
#define LANE_NUMBERS (lane_mask_t)(0, 1, 2, 3)
#elif LANES == 8
#define LANE_NUMBERS (lane_mask_t)(0, 1, 2, 3, 4, 5, 6, 7)
#elif LANES == 16
#define LANE_NUMBERS (lane_mask_t)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#endif
lane_sums_t lanes_mad_where(const uint mask, const lane_sums_t sums, const lanes_t a, const lanes_t b)
{
    // `select` looks at the highest bit of each.
    const lane_mask_t signs = (lane_mask_t)mask << (LANE_SIGN - LANE_NUMBERS);
    lane_sums_t results = lanes_mad(sums, a, b);
    results.sum = select(sums.sum, results.sum, signs);
#ifdef COMPENSATED
    results.error = select(sums.error, results.error, signs);
#endif
    return results;
}

#endif
