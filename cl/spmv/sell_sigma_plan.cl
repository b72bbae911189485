// Makes SELL-C-sigma (spmv/sell_sigma.cl) from CSR where CSR lies: the order of rows, the slices, what each
// takes, and, once the offsets of slices are known (format/scan.cl), its columns and values. With VALUES_ALONE there is the
// kernel for values alone, with CODES for codes of values (format/value_coding.cl).

#ifndef GROUP_SIZE
#define GROUP_SIZE 128 // items of a work-group: a multiple of 32
#endif
#ifndef LANE_NNZ
#define LANE_NNZ 32 // nonzeros that a lane has at most
#endif
#ifndef WINDOW_ROWS
#define WINDOW_ROWS 512 // rows that are sorted among each other
#endif

#include "item/store.h"
#include "spmv/sell_sigma_slice.h"

#ifndef VALUES_ALONE
#define CLASSES (LOG_SLICE_LANES + 1)

// Counts the rows of each class of lanes, and the slices of rows that have all lanes, into words that hold 0.
void count_classes(const uint row_nnz, local uint *class_rows, local uint *long_slices)
{
    const uint log_lanes = log_lanes_of_row(row_nnz);
    atomic_inc(class_rows + log_lanes);
    if (log_lanes == LOG_SLICE_LANES)
        atomic_add(long_slices, parts_of_row(row_nnz));
}

// Slices of so many rows with fewer lanes.
uint slices_of_class(const uint rows, const uint log_lanes)
{
    return ((rows << log_lanes) + SLICE_LANES - 1) / SLICE_LANES;
}

// The rows of each window, the longest first, and equal ones as they come; and how many slices they make. A group a
// window; each row counts those that come before it.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void sell_sigma_order(const uint rows,
                             ARRAY_PARAMETER(const offset_t, offsets),
                             ARRAY_PARAMETER(uint, order),
                             ARRAY_PARAMETER(uint, window_slices))
{
    OPEN_ARRAY(const offset_t, offsets);
    OPEN_ARRAY(uint, order);
    OPEN_ARRAY(uint, window_slices);
    local uint lengths[WINDOW_ROWS];
    local uint class_rows[CLASSES];
    local uint long_slices[1];
    const uint item = (uint)get_local_id(0);
    const uint first = (uint)get_group_id(0) * WINDOW_ROWS;
    const uint count = min((uint)WINDOW_ROWS, rows - first);
    for (uint at = item; at < count; at += GROUP_SIZE)
        lengths[at] = (uint)(offsets[first + at + 1] - offsets[first + at]);
    if (item < CLASSES)
        class_rows[item] = 0;
    if (item == CLASSES)
        long_slices[0] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint at = item; at < count; at += GROUP_SIZE) {
        const uint own = lengths[at];
        uint before = 0;
        for (uint other = 0; other < count; ++other)
            before += lengths[other] > own || (lengths[other] == own && other < at) ? 1 : 0;
        order[first + before] = first + at;
        count_classes(own, class_rows, long_slices);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0) {
        uint slices = long_slices[0];
        for (uint log_lanes = 0; log_lanes < LOG_SLICE_LANES; ++log_lanes)
            slices += slices_of_class(class_rows[log_lanes], log_lanes);
        window_slices[get_group_id(0)] = slices;
    }
}

// The slices of each window, from `window_starts` on, and after the last an entry that ends it.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void sell_sigma_slices(const uint rows,
                              ARRAY_PARAMETER(const offset_t, offsets),
                              ARRAY_PARAMETER(const uint, order),
                              ARRAY_PARAMETER(const uint, window_starts),
                              ARRAY_PARAMETER(ulong, slices))
{
    OPEN_ARRAY(const offset_t, offsets);
    OPEN_ARRAY(const uint, order);
    OPEN_ARRAY(const uint, window_starts);
    OPEN_ARRAY(ulong, slices);
    local uint lengths[WINDOW_ROWS];
    local uint class_rows[CLASSES];
    local uint long_slices[1];
    const uint item = (uint)get_local_id(0);
    const uint first = (uint)get_group_id(0) * WINDOW_ROWS;
    const uint count = min((uint)WINDOW_ROWS, rows - first);
    if (item < CLASSES)
        class_rows[item] = 0;
    if (item == CLASSES)
        long_slices[0] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint at = item; at < count; at += GROUP_SIZE) {
        const uint row = order[first + at];
        lengths[at] = (uint)(offsets[row + 1] - offsets[row]);
        count_classes(lengths[at], class_rows, long_slices);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint window_start = window_starts[get_group_id(0)];
    // Rows with all lanes are few, or the window is few slices.
    if (item == 0) {
        uint slice = window_start;
        const uint long_rows = class_rows[LOG_SLICE_LANES];
        for (uint at = 0; at < long_rows; ++at) {
            const uint parts = parts_of_row(lengths[at]);
            for (uint part = 0; part < parts; ++part)
                slices[slice++] = make_slice(first + at, part, LOG_SLICE_LANES);
        }
    }
    // The end of the last window is that of all.
    if (item == 0 && first + count == rows)
        slices[window_starts[get_group_id(0) + 1]] = make_slice(rows, 0, 0);
    // The others follow, those with the most lanes first.
    uint class_at = class_rows[LOG_SLICE_LANES];
    uint class_start = window_start + long_slices[0];
    for (uint lower = 1; lower < CLASSES; ++lower) {
        const uint log_lanes = LOG_SLICE_LANES - lower;
        const uint rows_a_slice = SLICE_LANES >> log_lanes;
        const uint class_slices = slices_of_class(class_rows[log_lanes], log_lanes);
        for (uint number = item; number < class_slices; number += GROUP_SIZE)
            slices[class_start + number] = make_slice(first + class_at + number * rows_a_slice, 0, log_lanes);
        class_at += class_rows[log_lanes];
        class_start += class_slices;
    }
}

// Of each slice: pairs of its longest lane, and what its columns are counted from. `wide` counts slices that cannot.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void sell_sigma_shape(const uint rows,
                             const uint slice_count,
                             ARRAY_PARAMETER(const offset_t, offsets),
                             ARRAY_PARAMETER(const uint, columns),
                             ARRAY_PARAMETER(const uint, order),
                             ARRAY_PARAMETER(const ulong, slices),
                             ARRAY_PARAMETER(uint, pairs),
                             ARRAY_PARAMETER(uint, bases),
                             ARRAY_PARAMETER(uint, wide))
{
    OPEN_ARRAY(const offset_t, offsets);
    OPEN_ARRAY(const uint, columns);
    OPEN_ARRAY(const uint, order);
    OPEN_ARRAY(const ulong, slices);
    OPEN_ARRAY(uint, pairs);
    OPEN_ARRAY(uint, bases);
    OPEN_ARRAY(uint, wide);
    local uint lengths[GROUP_SIZE];
    local uint lowest[GROUP_SIZE];
    local uint highest[GROUP_SIZE];
    const uint item = (uint)get_local_id(0);
    const uint slice = (uint)(get_global_id(0) / SLICE_LANES);
    const uint known = min(slice, slice_count - 1);
    const lane_t lane = open_lane(item % SLICE_LANES, slices[known], slices[known + 1], rows, order, offsets);
    uint low = 0xffffffffu;
    uint high = 0;
    for (uint iteration = 0; iteration < lane.length; ++iteration) {
        const uint column = load_column(columns, lane.first + (offset_t)iteration * lane.lanes);
        low = min(low, column);
        high = max(high, column);
    }
    lengths[item] = lane.length;
    lowest[item] = low;
    highest[item] = high;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane.number != 0 || slice >= slice_count)
        return;
    uint longest = 0;
    for (uint other = item; other < item + SLICE_LANES; ++other) {
        longest = max(longest, lengths[other]);
        low = min(low, lowest[other]);
        high = max(high, highest[other]);
    }
    const int is_wide = longest > 0 && high - low > 0xffffu;
    pairs[slice] = longest / 2 + longest % 2;
    bases[slice] = is_wide ? WIDE_BASE : longest > 0 ? low : 0;
    if (is_wide)
        atomic_inc(wide);
}

// The column of a lane's nonzero, from its slice's base; of padding, 0.
uint column_of_iteration(global const uint *restrict columns, const lane_t lane, const uint iteration, const uint base)
{
    return iteration < lane.length ? load_column(columns, lane.first + (offset_t)iteration * lane.lanes) - base : 0;
}

// Columns in their slices; upper halves where the slice is wide, for which there is an array if one is.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void sell_sigma_columns(const uint rows,
                               const uint slice_count,
                               ARRAY_PARAMETER(const offset_t, offsets),
                               ARRAY_PARAMETER(const uint, columns),
                               ARRAY_PARAMETER(const uint, order),
                               ARRAY_PARAMETER(const ulong, slices),
                               ARRAY_PARAMETER(const uint, starts),
                               ARRAY_PARAMETER(const uint, bases),
                               ARRAY_PARAMETER(uint, low_columns),
                               ARRAY_PARAMETER(uint, high_columns))
{
    OPEN_ARRAY(const offset_t, offsets);
    OPEN_ARRAY(const uint, columns);
    OPEN_ARRAY(const uint, order);
    OPEN_ARRAY(const ulong, slices);
    OPEN_ARRAY(const uint, starts);
    OPEN_ARRAY(const uint, bases);
    OPEN_ARRAY(uint, low_columns);
    OPEN_ARRAY(uint, high_columns);
    const uint slice = (uint)(get_global_id(0) / SLICE_LANES);
    if (slice >= slice_count)
        return;
    const lane_t lane =
        open_lane((uint)get_global_id(0) % SLICE_LANES, slices[slice], slices[slice + 1], rows, order, offsets);
    const uint start = starts[slice];
    const uint pairs = starts[slice + 1] - start;
    const int is_wide = bases[slice] == WIDE_BASE;
    const uint base = is_wide ? 0 : bases[slice];
    for (uint pair = 0; pair < pairs; ++pair) {
        const ulong at = ((ulong)start + pair) * SLICE_LANES + lane.number;
        const uint one = column_of_iteration(columns, lane, 2 * pair, base);
        const uint other = column_of_iteration(columns, lane, 2 * pair + 1, base);
        low_columns[at] = (one & 0xffffu) | other << 16;
        if (is_wide)
            high_columns[at] = one >> 16 | (other & 0xffff0000u);
    }
}

#endif

// Values in their slices, bit for bit; padding is 0.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void sell_sigma_values(const uint rows,
                              const uint slice_count,
                              ARRAY_PARAMETER(const offset_t, offsets),
                              ARRAY_PARAMETER(const uint, order),
                              ARRAY_PARAMETER(const ulong, slices),
                              ARRAY_PARAMETER(const uint, starts),
                              ARRAY_PARAMETER(const moved_t, source),
                              ARRAY_PARAMETER(moved_t, target))
{
    OPEN_ARRAY(const offset_t, offsets);
    OPEN_ARRAY(const uint, order);
    OPEN_ARRAY(const ulong, slices);
    OPEN_ARRAY(const uint, starts);
    OPEN_ARRAY(const moved_t, source);
    OPEN_ARRAY(moved_t, target);
    const uint slice = (uint)(get_global_id(0) / SLICE_LANES);
    if (slice >= slice_count)
        return;
    const lane_t lane =
        open_lane((uint)get_global_id(0) % SLICE_LANES, slices[slice], slices[slice + 1], rows, order, offsets);
    const uint start = starts[slice];
    const uint pairs = starts[slice + 1] - start;
    for (uint iteration = 0; iteration < 2 * pairs; ++iteration) {
        const ulong at = 2 * (((ulong)start + iteration / 2) * SLICE_LANES + lane.number) + iteration % 2;
        target[at] = iteration < lane.length ? source[lane.first + (offset_t)iteration * lane.lanes] : 0;
    }
}
