// Rows of dense matrices, VECTOR_WIDTH neighbouring columns at a time.
//
// B stores what sums are made in (real_t), or with DENSE_F16 or DENSE_BF16 16 bits that widen to f32 when loaded.
// It is row-major. C stores real_t, row-major, or column-major with C_COLUMN_MAJOR. Rows (columns) begin a
// leading dimension apart.
//
// Either an item's columns are side by side, and VECTOR_WIDTH divides where B and C start, their leading dimensions,
// and the number of columns, so that each vector lies where the device moves it at once. With C_BY_ELEMENT that goes
// for B alone, whose rows have as many elements more as make a vector of the last ones.
//
// Or, with COLUMNS_APART, an item's columns are as far apart as its neighbours are many, so that neighbours load
// neighbouring elements, and nothing needs to be a multiple of anything.
//
// Or, with COLUMNS_IN_HALVES, they are side by side at any address and of any number, at least half of VECTOR_WIDTH an
// item: where fewer are left for the last one, it takes as many of the one before. An item moves its first
// VECTOR_WIDTH / 2 columns and its last as many, each as one vector. The two overlap where it has fewer than VECTOR_WIDTH
// columns: those in both are computed twice, alike, and nothing beyond the item's columns is read or written. It is for
// CPU devices, where an item costs an iteration over the row of A, and loads that are not aligned cost nothing.
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

#ifdef COLUMNS_IN_HALVES
#if VECTOR_WIDTH == 2
#define HALF_WIDTH 1
#elif VECTOR_WIDTH == 4
#define HALF_WIDTH 2
#elif VECTOR_WIDTH == 8
#define HALF_WIDTH 4
#elif VECTOR_WIDTH == 16
#define HALF_WIDTH 8
#endif
#endif

// The columns of B and C that an item takes.
typedef struct {
    ulong first; // 0 where it has none: it then loads others', but with COLUMNS_IN_HALVES it must load nothing
    uint apart; // from one to the next, with COLUMNS_APART
    uint count; // those it has, 0 to VECTOR_WIDTH
#ifdef COLUMNS_IN_HALVES
    uint vector; // the number of its vector, of those of all columns
    uint second; // where its second half begins, counted from its first column
#endif
} item_columns_t;

// Returns the columns that lane `lane` of a sub-group takes of tile `tile`, `tile_width` of the `width` columns.
item_columns_t item_columns(const uint lane, const uint tile, const uint tile_width, const uint width)
{
    item_columns_t mine;
#if defined(COLUMNS_APART)
    mine.apart = tile_width / VECTOR_WIDTH;
    mine.first = (ulong)tile * tile_width + lane;
    const int has_columns = lane < mine.apart && mine.first < width;
    mine.count = has_columns ? min((uint)(width - 1 - mine.first) / mine.apart + 1, (uint)VECTOR_WIDTH) : 0;
#elif defined(COLUMNS_IN_HALVES)
    const uint vectors = (width - 1) / VECTOR_WIDTH + 1;
    const uint rest = (width - 1) % VECTOR_WIDTH + 1;
    // What the last item takes of the one before it.
    const uint moved = rest < HALF_WIDTH ? HALF_WIDTH : 0;
    const uint in_tile = tile_width / VECTOR_WIDTH;
    mine.vector = tile * in_tile + lane;
    const int is_last = mine.vector + 1 == vectors;
    mine.apart = 1;
    mine.first = (ulong)mine.vector * VECTOR_WIDTH - (is_last ? moved : 0);
    mine.second = is_last ? rest + moved - HALF_WIDTH : HALF_WIDTH - (mine.vector + 2 == vectors ? moved : 0);
    mine.count = lane < in_tile && mine.vector < vectors ? mine.second + HALF_WIDTH : 0;
#else
    const uint in_tile = lane * VECTOR_WIDTH;
    mine.apart = 1;
    mine.first = (ulong)tile * tile_width + in_tile;
    const int has_columns = in_tile < tile_width && mine.first < width;
    mine.count = has_columns ? (uint)min(width - mine.first, (ulong)VECTOR_WIDTH) : 0;
#endif
#ifndef COLUMNS_IN_HALVES
    mine.first = has_columns ? mine.first : 0;
#endif
    return mine;
}

real_t load_dense_element(global const dense_t *restrict from, const ulong at)
{
#if defined(DENSE_F16)
    return vload_half(at, from);
#elif defined(DENSE_BF16)
    return as_float((uint)from[at] << 16);
#else
    return from[at];
#endif
}

#ifdef COLUMNS_IN_HALVES
// HALF_WIDTH neighbouring columns of a row of B.
#if HALF_WIDTH == 1
typedef real_t half_reals_t;
half_reals_t load_half_vector(global const dense_t *restrict from)
{
    return load_dense_element(from, 0);
}
#define LOAD_HALF(at, from) (from)[at]
#define STORE_HALF(half_reals, at, to) (to)[at] = (half_reals)
#else
#ifdef VALUE_F64
typedef VECTOR_NAME(double, HALF_WIDTH) half_reals_t;
#else
typedef VECTOR_NAME(float, HALF_WIDTH) half_reals_t;
#endif
half_reals_t load_half_vector(global const dense_t *restrict from)
{
#if defined(DENSE_F16)
    return VECTOR_NAME(vload_half, HALF_WIDTH)(0, from);
#elif defined(DENSE_BF16)
    const VECTOR_NAME(ushort, HALF_WIDTH) bits = VECTOR_NAME(vload, HALF_WIDTH)(0, from);
    return VECTOR_NAME(as_float, HALF_WIDTH)(VECTOR_NAME(convert_uint, HALF_WIDTH)(bits) << 16);
#else
    return VECTOR_NAME(vload, HALF_WIDTH)(0, from);
#endif
}
#define LOAD_HALF(at, from) VECTOR_NAME(vload, HALF_WIDTH)(0, (from) + (at))
#define STORE_HALF(half_reals, at, to) VECTOR_NAME(vstore, HALF_WIDTH)(half_reals, 0, (to) + (at))
#endif
#endif

// An item's columns of row `row` of B, of which `b` is the item's first column of row 0; rows are `row_bytes` apart:
// one multiplication of 32 bits, where the element's number would take one of 64. What the item does not have is
// what it has last, again.
reals_t load_dense(global const dense_t *restrict b, const uint row, const uint row_bytes, const item_columns_t mine)
{
    global const dense_t *const at =
        (global const dense_t *)((global const uchar *)b + (ulong)row * row_bytes);
#if VECTOR_WIDTH == 1
    (void)mine;
    return load_dense_element(at, 0);
#elif defined(COLUMNS_APART)
    const uint last = max(mine.count, 1u) - 1;
    real_t parts[VECTOR_WIDTH];
#pragma unroll
    for (uint part = 0; part < VECTOR_WIDTH; ++part)
        parts[part] = load_dense_element(at, min(part, last) * mine.apart);
    return VECTOR_NAME(vload, VECTOR_WIDTH)(0, parts);
#elif defined(COLUMNS_IN_HALVES)
    return (reals_t)(load_half_vector(at), load_half_vector(at + mine.second));
#elif defined(DENSE_F16) || defined(DENSE_BF16)
    (void)mine;
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
    (void)mine;
    return *(global const reals_t *)at;
#endif
}

// Where C holds an item's first column of `row`.
global real_t *dense_pointer(global real_t *restrict c, const ulong leading, const ulong row, const item_columns_t mine)
{
#ifdef C_COLUMN_MAJOR
    return c + mine.first * leading + row;
#else
    return c + row * leading + mine.first;
#endif
}

// From a row of C to the next.
#ifdef C_COLUMN_MAJOR
#define ROW_STRIDE(leading) 1
#else
#define ROW_STRIDE(leading) (leading)
#endif

// alpha sum + beta C for one row and the item's columns, the first of which lies at `c`. With beta = 0, C is never
// read.
void store_dense(global real_t *c, const ulong leading, const real_t alpha, const reals_t sum, const real_t beta,
                 const item_columns_t mine)
{
#if defined(COLUMNS_IN_HALVES) && defined(C_COLUMN_MAJOR)
    real_t parts[VECTOR_WIDTH];
    VECTOR_NAME(vstore, VECTOR_WIDTH)(sum, 0, parts);
#pragma unroll
    for (uint part = 0; part < VECTOR_WIDTH; ++part) {
        const uint column = part < HALF_WIDTH ? part : mine.second + part - HALF_WIDTH;
        // A column of both halves is stored once.
        if (part < HALF_WIDTH || column >= HALF_WIDTH)
            store_result(c, column * leading, alpha, parts[part], beta);
    }
#elif defined(COLUMNS_IN_HALVES)
    (void)leading;
    half_reals_t first = alpha * sum.lo;
    half_reals_t second = alpha * sum.hi;
    if (beta != 0) {
        first = fma((half_reals_t)(beta), LOAD_HALF(0, c), first);
        second = fma((half_reals_t)(beta), LOAD_HALF(mine.second, c), second);
    }
    STORE_HALF(first, 0, c);
    STORE_HALF(second, mine.second, c);
#elif VECTOR_WIDTH > 1 && (defined(C_COLUMN_MAJOR) || defined(C_BY_ELEMENT) || defined(COLUMNS_APART))
#if !defined(C_COLUMN_MAJOR) && !defined(COLUMNS_APART)
    // All but the last item of a row: the elements lie side by side.
    if (mine.count == VECTOR_WIDTH) {
        reals_t result = alpha * sum;
        if (beta != 0)
            result = fma((reals_t)(beta), VECTOR_NAME(vload, VECTOR_WIDTH)(0, c), result);
        VECTOR_NAME(vstore, VECTOR_WIDTH)(result, 0, c);
        return;
    }
#endif
#ifdef C_COLUMN_MAJOR
    const ulong stride = leading * mine.apart;
#else
    const ulong stride = mine.apart;
    (void)leading;
#endif
    real_t parts[VECTOR_WIDTH];
    VECTOR_NAME(vstore, VECTOR_WIDTH)(sum, 0, parts);
#pragma unroll
    for (uint part = 0; part < VECTOR_WIDTH; ++part) {
        if (part < mine.count)
            store_result(c, part * stride, alpha, parts[part], beta);
    }
#else
    (void)leading;
    (void)mine;
    global reals_t *const target = (global reals_t *)c;
    reals_t result = alpha * sum;
    if (beta != 0)
        result = fma((reals_t)(beta), *target, result);
    *target = result;
#endif
}

// Rows of sums on their way from group to group, `width` elements each, or as many as whole vectors have. What one
// item stored, an item with the same columns loads.
#if VECTOR_WIDTH > 1 && defined(COLUMNS_APART)
void store_sums(global real_t *sums, const ulong row, const uint width, const reals_t sum,
                const item_columns_t mine)
{
    real_t parts[VECTOR_WIDTH];
    VECTOR_NAME(vstore, VECTOR_WIDTH)(sum, 0, parts);
#pragma unroll
    for (uint part = 0; part < VECTOR_WIDTH; ++part) {
        if (part < mine.count)
            sums[row * width + mine.first + part * mine.apart] = parts[part];
    }
}

reals_t load_sums(global const real_t *sums, const ulong row, const uint width, const item_columns_t mine)
{
    real_t parts[VECTOR_WIDTH];
#pragma unroll
    for (uint part = 0; part < VECTOR_WIDTH; ++part)
        parts[part] = sums[row * width + mine.first + min(part, max(mine.count, 1u) - 1) * mine.apart];
    return VECTOR_NAME(vload, VECTOR_WIDTH)(0, parts);
}
#else
ulong sums_offset(const ulong row, const uint width, const item_columns_t mine)
{
    const ulong vectors = ((ulong)width + VECTOR_WIDTH - 1) / VECTOR_WIDTH;
#ifdef COLUMNS_IN_HALVES
    return (row * vectors + mine.vector) * VECTOR_WIDTH;
#else
    return row * vectors * VECTOR_WIDTH + mine.first;
#endif
}

void store_sums(global real_t *sums, const ulong row, const uint width, const reals_t sum,
                const item_columns_t mine)
{
    *(global reals_t *)(sums + sums_offset(row, width, mine)) = sum;
}

reals_t load_sums(global const real_t *sums, const ulong row, const uint width, const item_columns_t mine)
{
    return *(global const reals_t *)(sums + sums_offset(row, width, mine));
}
#endif

#endif
