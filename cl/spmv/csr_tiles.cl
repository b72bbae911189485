// csr_tiles, for GPUs and matrices whose gathers of x have no order: x in local memory, a tile of columns at a time; a
// copy of A in the order of tiles, with 16-bit columns.
//
// The idea. A gather without order takes a sector of 32 bytes from the last cache for each nonzero, and that rate, not
// bytes, is what such a product waits for (138 G sectors/s on an H200). Local memory has no sectors. So columns are cut
// into tiles of TILE_COLUMNS, as many elements of x as local memory holds; a group loads a tile of x once, neighbouring
// elements by neighbouring items, and makes all products of its share of the tile's nonzeros from there. What a row
// has in a tile, a segment, gives a partial sum; a second kernel adds up those of each row. Gathers from the last cache
// are one for a segment then, not one for a nonzero (docs/notebook/2026-11-29-column-tiles-h200.md).
//
// The form. A tile's nonzeros, row by row as they come, are cut into slices of 32 lanes with LANE_NNZ neighbours each,
// wherever rows begin and end, so that no lane waits for another and nothing but the end of a tile is padded. Bits say
// where segments begin. A segment that several slices share is cut into parts, one a slice; it does
// not matter how many lanes of a slice it goes through. Padding begins a part of its own that no row has.
//
// Sums. A lane adds up its nonzeros in order; at each bit it begins a new sum. The first sum of a lane belongs to a
// part that began in a lane before and is carried there (subgroup/sub_group.h). A slice's sums are put side by side in
// local memory, and from there into the array of partial sums, whole sectors at a time: written by each lane as they
// come, they would be a sector each, which cost as much as the gathers had.
//
// Rows. Partial sums are in the order of tiles. A row's, whose numbers are listed, are added up by a run of neighbouring
// items, or where they are many by a sub-group, in the order of its nonzeros: the bits are the same every time. No
// group waits for another.
//
// Values are as they are, or coded (item/copied_values.h). A dictionary is read where it lies: local memory is x's, and
// nothing else asks L1 for lines that come again.
//
// Local memory: TILE_COLUMNS elements of x and GROUP_SIZE x LANE_NNZ sums; where items cannot shuffle, GROUP_SIZE sums
// and words more. The second kernel has less.

#ifndef GROUP_SIZE
#define GROUP_SIZE 512 // items of a work-group: a multiple of 32
#endif
#ifndef TILE_COLUMNS
#define TILE_COLUMNS 8192 // columns of a tile: at most 65536
#endif
#ifndef LANE_NNZ
#define LANE_NNZ 8 // nonzeros of a lane in a slice: an even number, at most 16
#endif
#ifndef REGISTERS
#define REGISTERS 0 // that NVIDIA's compiler is told to keep to, by an option; 0: as many as it likes
#endif

#define SUB_GROUP_SIZE 32
#define SUB_GROUPS_PER_GROUP (GROUP_SIZE / 32)
#include "subgroup/sub_group.h"
#include "group/reduce.h"
#include "group/size.h"
#include "item/copied_values.h"
#include "spmv/csr_tiles_slice.h"

#ifdef SUB_GROUP_SHUFFLES
#define sum_runs(mine, scratch, width) sub_group_sum_runs(mine, width)
#define RUN_SCRATCH 1
// Each sub-group has a loop of its own.
#define GOES_ON(number, past) ((number) < (past))
#define LAST_WORD(word, slice) shuffle_word(word, SLICE_LANES - 1)
#else
#define sum_runs(mine, scratch, width) group_reduce_runs(mine, scratch, width)
#define RUN_SCRATCH GROUP_SIZE
// All of a group go on as long as one of them has a slice: there are barriers in the loop.
#define GOES_ON(number, past) ((number) - sub_group < (past))
#define LAST_WORD(word, slice) words[(slice) * SLICE_LANES + SLICE_LANES - 1]
#endif

// The partial sums of the parts of all slices. A task, three words, is a group's: the tile, its first slice, and the one
// after its last.
OF_GROUP_SIZE
kernel void csr_tiles(const uint cols,
                      const ulong first_parts_at,
                      const ulong columns_at,
                      const uint first_task,
                      ARRAY_PARAMETER(const uint, tasks),
                      ARRAY_PARAMETER(const uint, layout),
                      ARRAY_PARAMETER(const stored_t, values),
                      ARRAY_PARAMETER(const real_t, x),
                      ARRAY_PARAMETER(uint, workspace))
{
    OPEN_ARRAY(const uint, tasks);
    OPEN_ARRAY(const uint, layout);
    OPEN_VALUES(values);
    OPEN_ARRAY(const real_t, x);
    OPEN_ARRAY(uint, workspace);
    global const uint *words = layout;
    global const uint *first_parts = layout + first_parts_at;
    global const uint *columns = layout + columns_at;
    global acc_t *partials = (global acc_t *)workspace;
    local real_t tile_x[TILE_COLUMNS];
    local acc_t slice_sums[GROUP_SIZE * LANE_NNZ];

    const uint item = (uint)get_local_id(0);
    const uint sub_group = item / SUB_GROUP_SIZE;
    const uint lane = item % SUB_GROUP_SIZE;
    local acc_t *sums = slice_sums + sub_group * SLICE_NNZ;
    sub_group_segments_t shared;
#ifdef SUB_GROUP_SHUFFLES
    shared.leads = sums;
    shared.begins = 0;
#else
    local acc_t leads[GROUP_SIZE];
    local uint begins[GROUP_SIZE];
    shared.leads = leads + sub_group * SUB_GROUP_SIZE;
    shared.begins = begins + sub_group * SUB_GROUP_SIZE;
#endif
    shared.numbers = shared.begins;

    // Every other launch takes the tasks from the last to the first: what the launch before left in the cache comes first.
    const uint task = 3 * abs_diff((uint)get_group_id(0), first_task);
    const uint first_column = tasks[task] * TILE_COLUMNS;
    const uint past = tasks[task + 2];
    const uint width = min(cols - first_column, (uint)TILE_COLUMNS);
    for (uint at = item; at < width; at += GROUP_SIZE)
        tile_x[at] = gather_x(x, first_column + at);
    barrier(CLK_LOCAL_MEM_FENCE);

    for (uint number = tasks[task + 1] + sub_group; GOES_ON(number, past); number += SUB_GROUPS_PER_GROUP) {
        const uint slice = min(number, past - 1);
        const ulong at = (ulong)slice * (LANE_PAIRS * SLICE_LANES) + lane;
        uint both_columns[LANE_PAIRS];
        stored_pair_t pairs[LANE_PAIRS];
#pragma unroll
        for (uint k = 0; k < LANE_PAIRS; ++k)
            both_columns[k] = stream_column(columns, at + SLICE_LANES * k);
#pragma unroll
        for (uint k = 0; k < LANE_PAIRS; ++k)
            pairs[k] = load_stored_pair(values, 2 * (at + SLICE_LANES * k));
        const uint word = words[slice * SLICE_LANES + lane];
        const uint last_word = LAST_WORD(word, slice);
        const uint first_part = first_parts[slice];

        local acc_t *own_sums = sums + parts_before_lane(word);
        acc_t sum = acc_zero();
        acc_t lead = acc_zero();
        uint begun = 0;
#pragma unroll
        for (uint k = 0; k < LANE_NNZ; ++k) {
            // Lanes begin sums at different times: conditions, not branches.
            const int begins = (int)(begins_of_lane(word) >> k & 1);
            lead = begins && begun == 0 ? sum : lead;
            if (begins && begun > 0)
                own_sums[begun - 1] = sum;
            begun += begins;
            sum = begins ? acc_zero() : sum;
            const uint column = k % 2 == 0 ? both_columns[k / 2] & 0xffffu : both_columns[k / 2] >> 16;
            const stored_pair_t pair = pairs[k / 2];
            sum = acc_mad(sum, k % 2 == 0 ? first_value(values, pair) : second_value(values, pair), tile_x[column]);
        }
        const acc_t after = sub_group_join_leads(shared, lane, begun == 0 ? sum : lead, begun);
        if (begun > 0)
            own_sums[begun - 1] = acc_add(sum, after);
        SUB_GROUP_BARRIER();
        const uint parts =
            number < past ? parts_before_lane(last_word) + popcount(begins_of_lane(last_word)) : 0;
        for (uint part = lane; part < parts; part += SUB_GROUP_SIZE)
            partials[first_part + part] = sums[part];
        SUB_GROUP_BARRIER();
    }
}

// Parts of a row for each of its items above which a whole sub-group takes it.
#define LONG_ROW 32u

// Sums every `stride`-th of the parts listed from `at` up to `past`; loaded together, added in order.
acc_t sum_parts(global const acc_t *partials, global const uint *parts, uint at, const uint past, const uint stride)
{
    acc_t sum = acc_zero();
    for (; at + 3 * stride < past; at += 4 * stride) {
        uint numbers[4];
        acc_t loaded[4];
#pragma unroll
        for (uint k = 0; k < 4; ++k)
            numbers[k] = parts[at + k * stride];
#pragma unroll
        for (uint k = 0; k < 4; ++k)
            loaded[k] = partials[numbers[k]];
#pragma unroll
        for (uint k = 0; k < 4; ++k)
            sum = acc_add(sum, loaded[k]);
    }
    for (; at < past; at += stride)
        sum = acc_add(sum, partials[parts[at]]);
    return sum;
}

// The sums of the rows, 2^log_items neighbouring items each, at most 32; rows of many parts a sub-group each.
OF_GROUP_SIZE
kernel void csr_tiles_rows(const uint rows,
                           const uint log_items,
                           const ulong row_parts_at,
                           const ulong parts_at,
                           ARRAY_PARAMETER(const uint, layout),
                           ARRAY_PARAMETER(real_t, y),
                           SCALAR_PARAMETER(alpha),
                           SCALAR_PARAMETER(beta),
                           ARRAY_PARAMETER(uint, workspace))
{
    OPEN_ARRAY(const uint, layout);
    OPEN_ARRAY(real_t, y);
    OPEN_SCALAR(alpha);
    OPEN_SCALAR(beta);
    OPEN_ARRAY(uint, workspace);
    global const uint *row_parts = layout + row_parts_at;
    global const uint *parts = layout + parts_at;
    global const acc_t *partials = (global const acc_t *)workspace;
    local acc_t scratch[RUN_SCRATCH];
    local uint long_count[1];
    local uint long_rows[GROUP_SIZE];

    const uint item = (uint)get_local_id(0);
    if (item == 0)
        long_count[0] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint items = 1u << log_items;
    const uint in_run = item & (items - 1);
    const ulong run = get_global_id(0) >> log_items;
    const int has_row = run < rows;
    const uint row = has_row ? (uint)run : rows - 1;
    const uint begin = row_parts[row];
    const uint past = has_row ? row_parts[row + 1] : begin;
    const int is_long = past - begin > LONG_ROW << log_items;
    acc_t sum = acc_zero();
    if (!is_long)
        sum = sum_parts(partials, parts, begin + in_run, past, items);
    sum = sum_runs(sum, scratch, items);
    if (has_row && in_run == 0) {
        if (is_long)
            long_rows[atomic_inc(long_count)] = row;
        else
            store_result(y, row, alpha, sum, beta);
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    // Each sub-group a long row; which one, changes no sum.
    const uint longs = long_count[0];
    for (uint done = 0; done < longs; done += SUB_GROUPS_PER_GROUP) {
        const uint number = done + item / SUB_GROUP_SIZE;
        const uint its_row = long_rows[min(number, longs - 1)];
        const uint lane = item % SUB_GROUP_SIZE;
        acc_t its_sum = acc_zero();
        if (number < longs)
            its_sum = sum_parts(partials, parts, row_parts[its_row] + lane, row_parts[its_row + 1], SUB_GROUP_SIZE);
        its_sum = sum_runs(its_sum, scratch, SUB_GROUP_SIZE);
        if (number < longs && lane == 0)
            store_result(y, its_row, alpha, its_sum, beta);
    }
}
