// SELL-C-sigma for GPUs (Kreutzer, Hager, Wellein, Fehske and Bishop, "A unified sparse matrix data format", 2014): rows
// sorted by length within windows, in slices of 32 lanes; a copy with fewer bytes. Beyond the paper: lanes share rows.
//
// The idea. Where a lane has a row, the lanes of a slice read x for neighbouring rows at a time: on grids these are
// neighbours in x, and where rows share columns they are the same element. A row side by side (csr_flat) reads as many
// lines of x as it has runs of columns, and L1 looks up each; that, not memory, is what an H200
// waits for (docs/notebook/2026-11-25-sell-sigma-h200.md). Sums stay in registers, and nothing goes through local
// memory.
//
// Lanes. A row has one lane if it has at most LANE_NNZ nonzeros, else two, four, and so on. A row that is too long for 32
// lanes is cut into parts, each a slice. So no slice takes more than LANE_NNZ iterations, whatever rows there are.
// Since rows are in order of length, the rows of a slice have as many lanes each, and of about the same length: there
// is little padding. Parts of a row are combined in pairs, and the last to arrive stores y (group/combine.h).
//
// The form. A lane's nonzeros lie in pairs, the pairs of the 32 lanes side by side: pair p of lane l of a slice is
// number (start + p) x 32 + l of all. Columns have 16 bits, counted from the slice's lowest, both of a pair in one word.
// Where they are further apart, the upper halves are in a second array. Padding is loaded and not taken: its 0 times an
// Inf of x would be a NaN.
//
// The arrays of the form but values lie in one, the slices first: each that a kernel is given takes the driver time at
// every launch (0.4 us on an H200).
//
// Values are as they are, or coded (item/copied_values.h).
//
// Local memory: GROUP_SIZE sums, where items cannot shuffle; a dictionary of values, where there is one.

#ifndef GROUP_SIZE
#define GROUP_SIZE 128 // items of a work-group: a multiple of 32
#endif
#ifndef LANE_NNZ
#define LANE_NNZ 32 // nonzeros that a lane has at most
#endif
#ifndef PAIRS_AT_ONCE
#define PAIRS_AT_ONCE 2 // pairs that a lane loads before it uses the first
#endif
#ifndef REGISTERS
#define REGISTERS 0 // that NVIDIA's compiler is told to keep to, by an option; 0: as many as it likes
#endif

#define SUB_GROUP_SIZE 32
#define SUB_GROUPS_PER_GROUP (GROUP_SIZE / 32)
#include "subgroup/sub_group.h"
#include "group/combine.h"
#include "group/size.h"
#define DICTIONARY_IN_LOCAL // L1 is what the gathers of x wait for
#include "item/copied_values.h"
#include "spmv/sell_sigma_slice.h"

// The sum of a lane, so many pairs at a time. Columns of a pair's two words: FIRST and SECOND.
#define SUM_PAIRS(count, FIRST, SECOND) \
    do { \
        uint low[count]; \
        uint high[count]; \
        stored_pair_t pairs[count]; \
        _Pragma("unroll") for (uint k = 0; k < count; ++k) low[k] = stream_column(low_columns, at + SLICE_LANES * k); \
        if (is_wide) { \
            _Pragma("unroll") for (uint k = 0; k < count; ++k) high[k] = stream_column(high_columns, at + SLICE_LANES * k); \
        } \
        _Pragma("unroll") for (uint k = 0; k < count; ++k) pairs[k] = load_stored_pair(values, 2 * (at + SLICE_LANES * k)); \
        real_t of_x[2 * count]; \
        _Pragma("unroll") for (uint k = 0; k < count; ++k) { \
            of_x[2 * k] = gather_x(x_base, FIRST(k)); \
            of_x[2 * k + 1] = gather_x(x_base, SECOND(k)); \
        } \
        _Pragma("unroll") for (uint k = 0; k < count; ++k) { \
            if (iteration + 2 * k < lane.length) \
                sum = acc_mad(sum, first_value(values, pairs[k]), of_x[2 * k]); \
            if (iteration + 2 * k + 1 < lane.length) \
                sum = acc_mad(sum, second_value(values, pairs[k]), of_x[2 * k + 1]); \
        } \
        at += SLICE_LANES * count; \
        iteration += 2 * count; \
    } while (0)

#define SUM_LANE(FIRST, SECOND) \
    do { \
        uint left = pairs_here; \
        for (; left >= PAIRS_AT_ONCE; left -= PAIRS_AT_ONCE) \
            SUM_PAIRS(PAIRS_AT_ONCE, FIRST, SECOND); \
        for (; left > 0; --left) \
            SUM_PAIRS(1, FIRST, SECOND); \
    } while (0)

#define NARROW_FIRST(k) (low[k] & 0xffffu)
#define NARROW_SECOND(k) (low[k] >> 16)
#define WIDE_FIRST(k) (high[k] << 16 | (low[k] & 0xffffu))
#define WIDE_SECOND(k) ((high[k] & 0xffff0000u) | low[k] >> 16)

OF_GROUP_SIZE
kernel void sell_sigma(const uint rows,
                       const uint slice_count,
                       const ulong starts_at,
                       const ulong bases_at,
                       const ulong order_at,
                       const ulong low_columns_at,
                       const ulong high_columns_at,
                       ARRAY_PARAMETER(const uint, layout),
                       ARRAY_PARAMETER(const offset_t, offsets),
                       ARRAY_PARAMETER(const stored_t, values),
                       ARRAY_PARAMETER(const real_t, x),
                       ARRAY_PARAMETER(real_t, y),
                       SCALAR_PARAMETER(alpha),
                       SCALAR_PARAMETER(beta),
                       const uint zero,
                       const uint first_group,
                       ARRAY_PARAMETER(uint, workspace))
{
    OPEN_ARRAY(const uint, layout);
    OPEN_ARRAY(const offset_t, offsets);
    OPEN_VALUES(values);
    OPEN_ARRAY(const real_t, x);
    OPEN_ARRAY(real_t, y);
    OPEN_SCALAR(alpha);
    OPEN_SCALAR(beta);
    OPEN_ARRAY(uint, workspace);
    const partial_sums_t partials = open_partial_sums(workspace, slice_count, zero);
    global const ulong *slices = (global const ulong *)layout;
    global const uint *starts = layout + starts_at;
    global const uint *bases = layout + bases_at;
    global const uint *order = layout + order_at;
    global const uint *low_columns = layout + low_columns_at;
    global const uint *high_columns = layout + high_columns_at;

    // The last group may have slices that there are not: it takes the last one again, and drops the sums.
    // Every other launch takes the groups from the last to the first: what the launch before left in the cache comes first.
    const uint group = abs_diff((uint)get_group_id(0), first_group);
    const uint wanted = group * (GROUP_SIZE / SLICE_LANES) + (uint)get_local_id(0) / SLICE_LANES;
    const uint number = min(wanted, slice_count - 1);
    const uint start = starts[number];
    const uint pairs_here = starts[number + 1] - start;
    const uint base = bases[number];
    const lane_t lane =
        open_lane((uint)get_local_id(0) % SLICE_LANES, slices[number], slices[number + 1], rows, order, offsets);
    ulong at = (ulong)start * SLICE_LANES + lane.number;
    uint iteration = 0;
    acc_t sum = acc_zero();
    const int is_wide = base == WIDE_BASE;
    global const real_t *x_base = gather_base(is_wide ? x : x + base);
    if (is_wide)
        SUM_LANE(WIDE_FIRST, WIDE_SECOND);
    else
        SUM_LANE(NARROW_FIRST, NARROW_SECOND);
    const int is_first = (lane.number & (lane.lanes - 1)) == 0;
#ifdef SUB_GROUP_BALLOT
    sum = sub_group_sum_runs(sum, lane.lanes);
#else
    local acc_t scratch[GROUP_SIZE];
    scratch[get_local_id(0)] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint own_lanes = is_first ? lane.lanes : 1;
    for (uint other = 1; other < own_lanes; ++other)
        sum = acc_add(sum, scratch[get_local_id(0) + other]);
#endif
    if (wanted >= slice_count || !lane.has_row || !is_first)
        return;
    const uint parts = parts_of_row(lane.row_nnz);
    if (parts > 1 && !combine_parts(partials, number - lane.part, lane.part, parts, &sum))
        return;
    store_result(y, lane.row, alpha, sum, beta);
}
