// csr_pieces, for CPU devices: an item takes one contiguous chunk of the nonzeros.
//
// A CPU device runs an item as a loop, its groups one after another on each core, and a barrier as the end of one loop and
// the beginning of the next. So there are no barriers here, no local memory, and few items: some for each core, so
// that one that is held up does not hold up the launch. Every item has the same number of nonzeros, wherever
// rows begin and end; it finds its first row by bisection, so nothing is planned.
//
// Within a row, LANES products at a time are loaded, multiplied and added as a vector. What is left of the row, or a row
// shorter than that, is one more vector (MASKS_ENDS), of which a mask keeps what is the row's: nonzeros of the next rows
// follow, whose columns exist. The end of a loop over what is left is mispredicted wherever rows differ in length, which
// costs some 20 cycles a row (docs/notebook/2026-11-30-cpu-devices-masked-rows.md). After the last nonzeros of the matrix
// nothing follows: there products go one by one, and so they do with one lane, without masks, and where sums are
// compensated, since adding up the lanes of those takes longer than the loop. That loop is some 24 bytes of code: where
// it lies across two lines of 64, of which a processor reads one at a time, short rows take up to half as long again, so
// compilers that can are told to begin it with a line or in its middle (docs/notebook/2026-11-25-cpu-devices-mkl.md).
//
// A row belongs to the chunk its first nonzero lies in; an empty row to the chunk of the nonzero that comes next, and
// after all of them to the last. A row that continues in the next chunks is a sum of parts, which are combined in
// pairs (group/combine.h): the last item to arrive has the whole sum and writes y. Which parts there are follows from
// the row's two offsets.

#ifndef LANES
#define LANES 8 // products of a row at a time: 1, 4, 8 or 16
#endif
#ifndef MASKS_ENDS
#define MASKS_ENDS 1 // whether what is left of a row is a vector under a mask, where sums are plain
#endif
#ifdef COMPENSATED
#define IS_MASKED 0
#else
#define IS_MASKED MASKS_ENDS
#endif

#ifdef __has_attribute
#if __has_attribute(code_align)
#define SMALL_LOOP [[clang::code_align(32)]]
#endif
#endif
#ifndef SMALL_LOOP
#define SMALL_LOOP
#endif

#include "item/accumulate.h"
#if LANES > 1
#include "item/prefetch.h"
#include "item/lane_loads.h"
#endif
#include "group/combine.h"

// The first row that begins at `at` or later.
uint first_row_from(global const offset_t *offsets, const uint rows, const ulong at)
{
    uint low = 0, high = rows;
    while (low < high) {
        const uint middle = low + (high - low) / 2;
        if (offsets[middle] < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// The sum of the products of nonzeros [begin, end), which are one row's, of a matrix of `nnz`.
acc_t sum_of(const ulong begin, const ulong end, const ulong nnz, global const uint *columns, global const value_t *values,
             global const real_t *x)
{
    acc_t sum = acc_zero();
    ulong at = begin;
#if LANES > 1
    lane_sums_t sums = lanes_zero();
#define COLUMN(lane) load_column(columns, at + lane)
    for (; end - at >= LANES; at += LANES) {
        prefetch_lines(values + at, VALUES_PREFETCH_DISTANCE, LANES * sizeof(value_t));
        prefetch_lines(columns + at, COLUMNS_PREFETCH_DISTANCE, LANES * sizeof(uint));
        sums = lanes_mad(sums, load_values(values, at), gather_lanes(x, COLUMN));
    }
    const int is_within = IS_MASKED && nnz - at >= LANES;
    if (is_within && at < end) {
        const uint mask = (1u << (uint)(end - at)) - 1;
        sums = lanes_mad_where(mask, sums, load_values(values, at), gather_lanes(x, COLUMN));
    }
#undef COLUMN
    if (IS_MASKED || at > begin)
        sum = lanes_total(sums);
    if (is_within)
        return sum;
#endif
    SMALL_LOOP for (; at < end; ++at)
        sum = acc_mad(sum, load_value(values, at), load_x(x, columns, at));
    return sum;
}

__attribute__((reqd_work_group_size(1, 1, 1)))
kernel void csr_pieces(const uint rows,
                       const ulong nnz,
                       const ulong chunk_nnz,
                       ARRAY_PARAMETER(const offset_t, offsets),
                       ARRAY_PARAMETER(const uint, columns),
                       ARRAY_PARAMETER(const value_t, values),
                       ARRAY_PARAMETER(const real_t, x),
                       ARRAY_PARAMETER(real_t, y),
                       SCALAR_PARAMETER(alpha),
                       SCALAR_PARAMETER(beta),
                       const uint zero,
                       ARRAY_PARAMETER(uint, workspace))
{
    OPEN_ARRAY(const offset_t, offsets);
    OPEN_ARRAY(const uint, columns);
    OPEN_ARRAY(const value_t, values);
    OPEN_ARRAY(const real_t, x);
    OPEN_ARRAY(real_t, y);
    OPEN_SCALAR(alpha);
    OPEN_SCALAR(beta);
    OPEN_ARRAY(uint, workspace);
    const partial_sums_t partials = open_partial_sums(workspace, get_global_size(0), zero);

    const uint chunk = (uint)get_global_id(0);
    const int is_last = chunk + 1 == get_global_size(0);
    const ulong first = chunk * chunk_nnz;
    const ulong past = is_last ? nnz : first + chunk_nnz;
    const uint begin_row = first_row_from(offsets, rows, first);
    const uint end_row = is_last ? rows : first_row_from(offsets, rows, past);

    // The row before, where it continues in this chunk, and the last, where it continues after it.
    ulong at = offsets[begin_row];
    acc_t sum_before = acc_zero();
    acc_t sum_after = acc_zero();
    const int is_cut_before = at > first;
    int is_cut_after = 0;
    if (is_cut_before)
        sum_before = sum_of(first, min(at, past), nnz, columns, values, x);
    for (uint row = begin_row; row < end_row; ++row) {
        const ulong end = offsets[row + 1];
        const acc_t sum = sum_of(at, min(end, past), nnz, columns, values, x);
        if (end > past) {
            sum_after = sum;
            is_cut_after = 1;
        } else {
            store_result(y, row, alpha, sum, beta);
        }
        at = end;
    }
    for (uint cut = is_cut_before ? 0 : 1; cut < 1 + (uint)is_cut_after; ++cut) {
        const uint row = cut == 0 ? begin_row - 1 : end_row - 1;
        const uint first_chunk = (uint)(offsets[row] / chunk_nnz);
        const uint last_chunk = (uint)((offsets[row + 1] - 1) / chunk_nnz);
        acc_t sum = cut == 0 ? sum_before : sum_after;
        if (combine_parts(partials, first_chunk, chunk - first_chunk, last_chunk - first_chunk + 1, &sum))
            store_result(y, row, alpha, sum, beta);
    }
}
