// Rows of dense matrices, VECTOR_WIDTH neighbouring columns at a time.
//
// B stores what sums are made in (real_t), or with DENSE_F16 or DENSE_BF16 16 bits that widen to f32 when loaded.
// It is row-major. C stores real_t, row-major, or column-major with C_COLUMN_MAJOR. Rows (columns) begin a
// leading dimension apart. VECTOR_WIDTH divides B's leading dimension, that of a row-major C, the number of
// columns, and where B and C start: a vector is never cut, and lies where the device loads it at once.
#ifndef ITEM_DENSE_H
#define ITEM_DENSE_H

#include "item/accumulate.h"

#define VECTOR_NAME_(name, width) name##width
#define VECTOR_NAME(name, width) VECTOR_NAME_(name, width)

#if VECTOR_WIDTH == 1
typedef real_t reals_t;
#elif defined(VALUE_F64)
typedef VECTOR_NAME(double, VECTOR_WIDTH) reals_t;
#else
typedef VECTOR_NAME(float, VECTOR_WIDTH) reals_t;
#endif

#if defined(DENSE_F16)
typedef half dense_t;
#elif defined(DENSE_BF16)
typedef ushort dense_t;
#else
typedef real_t dense_t;
#endif

// VECTOR_WIDTH elements of row `row` of a dense matrix that begins at `b` and whose rows are `row_bytes` apart: one
// multiplication of 32 bits, where the element's number would take one of 64.
reals_t load_dense(global const dense_t *restrict b, const uint row, const uint row_bytes)
{
    global const dense_t *const at =
        (global const dense_t *)((global const uchar *)b + (ulong)row * row_bytes);
#if defined(DENSE_F16) && VECTOR_WIDTH == 1
    return vload_half(0, at);
#elif defined(DENSE_BF16) && VECTOR_WIDTH == 1
    return as_float((uint)*at << 16);
#elif defined(DENSE_F16) || defined(DENSE_BF16)
    const VECTOR_NAME(ushort, VECTOR_WIDTH) bits =
        *(global const VECTOR_NAME(ushort, VECTOR_WIDTH) *)at;
#ifdef DENSE_BF16
    return VECTOR_NAME(as_float, VECTOR_WIDTH)(VECTOR_NAME(convert_uint, VECTOR_WIDTH)(bits) << 16);
#else
    // One by one, but loaded at once: PoCL 3.1 cannot compile vloada_half.
    ushort parts[VECTOR_WIDTH];
    float widened[VECTOR_WIDTH];
    VECTOR_NAME(vstore, VECTOR_WIDTH)(bits, 0, parts);
#pragma unroll
    for (uint part = 0; part < VECTOR_WIDTH; ++part)
        widened[part] = vload_half(part, (const half *)parts);
    return VECTOR_NAME(vload, VECTOR_WIDTH)(0, widened);
#endif
#else
    return *(global const reals_t *)at;
#endif
}

// Where C holds `row` and `column`.
global real_t *dense_place(global real_t *restrict c, const ulong leading, const ulong row, const ulong column)
{
#ifdef C_COLUMN_MAJOR
    return c + column * leading + row;
#else
    return c + row * leading + column;
#endif
}

// From a row of C to the next.
#ifdef C_COLUMN_MAJOR
#define ROW_STEP(leading) 1
#else
#define ROW_STEP(leading) (leading)
#endif

// alpha sum + beta C for one row and VECTOR_WIDTH columns, which lie from `c` on. With beta = 0, C is never read.
void store_dense(global real_t *c, const ulong leading, const real_t alpha, const reals_t sum, const real_t beta)
{
#if defined(C_COLUMN_MAJOR) && VECTOR_WIDTH > 1
    real_t parts[VECTOR_WIDTH];
    VECTOR_NAME(vstore, VECTOR_WIDTH)(sum, 0, parts);
#pragma unroll
    for (uint part = 0; part < VECTOR_WIDTH; ++part)
        store_result(c, part * leading, alpha, parts[part], beta);
#else
    (void)leading;
    global reals_t *const target = (global reals_t *)c;
    reals_t result = alpha * sum;
    if (beta != 0)
        result = fma((reals_t)(beta), *target, result);
    *target = result;
#endif
}

#endif
