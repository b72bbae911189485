// The speculative segmented sum in one launch (FUSED): what the published algorithm leaves to a second stage
// is settled by the work-groups themselves, since a second launch takes longer than a small product. The
// counterpart of `segmented_sum_staged.h`; `segmented_sum.cl` calls the functions of either.
//
//   - Dirty tiles: the row of each sum is searched in the row offsets instead of counted, for these tiles alone.
//     Nothing is misplaced, so beta need not be 0.
//   - Empty rows are shared out evenly, wherever they lie: each group stores those among an equal part of all
//     rows, before anything else, while its first loads are under way.
//   - A row that crosses boundaries of bunches is combined in local memory.
//   - A row that crosses the boundary of a group and has SHORT_REST nonzeros or fewer after it: the group before
//     the boundary takes them as well, and the one after it leaves them. With short rows, there is no cross-group
//     reduction.
//   - The parts of a longer row are carries (group/carry.h), and the last of its groups to arrive stores it.
//
// Row offsets are read twice for it, and dirty tiles take longer than in the published form.
//
// In the workspace: a carry a group for the row in the middle of which it begins; one for the row that begins
// in it and continues after it; a counter a group, of arrivals for the latter.
#ifndef SPMV_SEGMENTED_SUM_FUSED_H
#define SPMV_SEGMENTED_SUM_FUSED_H

#include "group/carry.h"
#include "group/reduce.h"
#include "item/accumulate.h"
#include "spmv/segmented_sum_rows.h"
#include "subgroup/sub_group.h"

#ifdef FUSED

// Partial sums of rows that cross boundaries of a group's bunches; in local memory.
typedef struct {
    local acc_t *heads; // of the row in the middle of which a bunch begins
    local acc_t *tails; // of the row that begins in it and continues after it
    local uint *head_rows; // the row that heads belong to or NO_ROW; and the row that continues after the group
    local uint *last_rows; // those that this group was last to arrive for: two at most
    local uint *lasts; // how many; 0 at first
    volatile global uint *carries;
    uint zero;
    uint bunch; // of the item that asks
} unfinished_t;

#define UNFINISHED(name, scratch, bunch_capacity, capacity, zero_, bunches)                                  \
    local acc_t name##_heads[BUNCHES_PER_GROUP];                                                   \
    local acc_t name##_tails[BUNCHES_PER_GROUP];                                                   \
    local uint name##_head_rows[BUNCHES_PER_GROUP + 1];                                            \
    local uint name##_last_rows[2];                                                                \
    local uint name##_lasts;                                                                       \
    unfinished_t name;                                                                             \
    name.heads = name##_heads;                                                                     \
    name.tails = name##_tails;                                                                     \
    name.head_rows = name##_head_rows;                                                             \
    name.last_rows = name##_last_rows;                                                             \
    name.lasts = &name##_lasts;                                                                    \
    name.carries = scratch;                                                                        \
    name.zero = zero_;                                                                             \
    name.bunch = (uint)get_local_id(0) / BUNCH_SIZE;                                               \
    (void)bunch_capacity;                                                                                    \
    (void)capacity

// A tile's rows and its first nonzero.
typedef struct {
    uint start;
    uint stop;
    int is_dirty;
    ulong begin;
} tile_t;

// Stores the empty rows of this group's part of all rows.
void store_empty_rows(global const offset_t *restrict offsets, const uint rows,
                      global real_t *restrict y, const real_t alpha, const real_t beta)
{
    const uint part = (rows - 1) / (uint)get_num_groups(0) + 1;
    const ulong first = (ulong)part * get_group_id(0);
    const ulong last = min(first + part, (ulong)rows);
#pragma unroll 1
    for (ulong row = first + ROWS_AT_ONCE * get_local_id(0); row < last;
         row += ROWS_AT_ONCE * GROUP_SIZE) {
        offset_t begins[ROWS_AT_ONCE + 1];
#pragma unroll
        for (uint at = 0; at <= ROWS_AT_ONCE; ++at)
            begins[at] = offsets[min(row + at, last)];
#pragma unroll
        for (uint at = 0; at < ROWS_AT_ONCE; ++at) {
            if (begins[at] == begins[at + 1] && row + at < last)
                store_result(y, row + at, alpha, acc_zero(), beta);
        }
    }
}

// Notes the row in the middle of which a bunch begins, or NO_ROW.
void begin_bunch(const unfinished_t mine, const uint item, const uint head_row, const uint leading)
{
    if (item == 0)
        mine.head_rows[mine.bunch] = head_row;
    if (get_local_id(0) == 0)
        *mine.lasts = 0;
}

tile_t open_tile(const unfinished_t mine, const uint item, const uint start, const uint stop,
                  const ulong begin, const int is_dirty, const real_t beta)
{
    tile_t tile;
    tile.start = start;
    tile.stop = stop;
    tile.is_dirty = is_dirty;
    tile.begin = begin;
    return tile;
}

// Stores the segments [first, whole) of a tile, whose sums lie side by side.
void store_segments(const tile_t *tile, global const offset_t *restrict offsets,
                    const item_segments_t *segments, local const acc_t *sums, const uint first,
                    const uint whole, global real_t *restrict y, const real_t alpha,
                    const real_t beta)
{
    if (!tile->is_dirty) {
        for (uint segment = first + segments->item; segment < whole; segment += BUNCH_SIZE)
            store_result(y, tile->start + segment, alpha, sums[segment], beta);
        return;
    }
    uint begins = segments->begins;
    for (uint segment = segments->before; segment < segments->before + segments->number; ++segment) {
        uint row = tile->start;
        if (segment > 0) {
            const uint lowest = begins & -begins;
            begins ^= lowest;
            const ulong at = tile->begin + segments->item * NNZ_PER_ITEM + popcount(lowest - 1);
            row = rightmost_row(offsets, tile->start, tile->stop + 1, at);
        }
        if (segment >= first && segment < whole)
            store_result(y, row, alpha, sums[segment], beta);
    }
}

// Nothing of a tile is left.
void leave_tile(const unfinished_t mine, const tile_t *tile, const uint item)
{
}

void leave_head(const unfinished_t mine, const acc_t sum)
{
    mine.heads[mine.bunch] = sum;
}

// This item's part of the `rest` nonzeros that a row has after the group, which ends at `end`: nothing but in
// the last bunch.
acc_t part_of_rest(const unfinished_t mine, global const uint *restrict columns,
                   global const value_t *restrict values, global const real_t *restrict x,
                   const uint item, const ulong end, const uint rest)
{
    const uint taken = mine.bunch + 1 == BUNCHES_PER_GROUP && rest <= SHORT_REST ? rest : 0;
    acc_t sum = acc_zero();
    for (uint at = item; at < taken; at += BUNCH_SIZE)
        sum = acc_mad(sum, load_value(values, end + at), load_x(x, columns, end + at));
    return sum;
}

// `row` continues after the bunch, NO_ROW if none does, with `sum` so far.
void end_bunch(const unfinished_t mine, const sub_group_segments_t shared, const uint item,
               const uint row, const int is_in_head, const acc_t sum, const acc_t part)
{
    const acc_t rest = sub_group_sum(shared, item, part);
    if (item != 0)
        return;
    if (row != NO_ROW)
        (is_in_head ? mine.heads : mine.tails)[mine.bunch] = acc_add(sum, rest);
    if (mine.bunch + 1 == BUNCHES_PER_GROUP)
        mine.head_rows[BUNCHES_PER_GROUP] = row;
}

// The groups, of `group_nnz` nonzeros each, that have parts of a long row: from the one in which it begins to the
// last but those that have a short rest.
ulong first_group(global const offset_t *restrict offsets, const uint row, const uint group_nnz)
{
    return offsets[row] / group_nnz;
}

ulong last_group(global const offset_t *restrict offsets, const uint row, const uint group_nnz)
{
    return (offsets[row + 1] - 1 - SHORT_REST) / group_nnz;
}

// Combines the rows that cross boundaries of bunches. The row in the middle of which the group begins has
// `head_rest` nonzeros in it, the one that continues after it `tail_rest`. All items call it.
void finish_group(const unfinished_t mine, global const offset_t *restrict offsets,
                  const uint group_nnz, const uint head_rest, const uint tail_rest,
                  global real_t *restrict y, const real_t alpha, const real_t beta,
                  local acc_t *sums)
{
    const uint item = (uint)get_local_id(0);
    const ulong group = get_group_id(0);
    const ulong groups = get_num_groups(0);
    volatile global uint *counters = mine.carries + 2 * groups * ACC_WORDS;
    barrier(CLK_LOCAL_MEM_FENCE);

    // Number `at` is the row that begins in bunch at - 1 and is the head of bunch `at`; number 0 is the row
    // that begins before the group.
    for (uint at = item; at <= BUNCHES_PER_GROUP; at += GROUP_SIZE) {
        const uint row = mine.head_rows[at];
        const int is_taken = at == 0 && head_rest <= SHORT_REST;
        if (row == NO_ROW || is_taken || (at > 0 && mine.head_rows[at - 1] == row))
            continue;
        acc_t sum = at > 0 ? mine.tails[at - 1] : acc_zero();
        for (uint bunch = at; bunch < BUNCHES_PER_GROUP && mine.head_rows[bunch] == row; ++bunch)
            sum = acc_add(sum, mine.heads[bunch]);
        const int ends = mine.head_rows[BUNCHES_PER_GROUP] != row || tail_rest <= SHORT_REST;
        if (at > 0 && ends) {
            store_result(y, row, alpha, sum, beta);
            continue;
        }
        const ulong first = first_group(offsets, row, group_nnz);
        const ulong last = last_group(offsets, row, group_nnz);
        const uint proof = carry_publish(mine.carries, at > 0 ? groups + group : group, sum);
        if (arrives_last(counters + first, (uint)(last - first + 1), proof, mine.zero))
            mine.last_rows[atomic_inc(mine.lasts)] = row;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    const uint lasts = *mine.lasts;
    for (uint chain = 0; chain < lasts; ++chain) {
        const uint row = mine.last_rows[chain];
        const ulong first = first_group(offsets, row, group_nnz);
        const ulong last = last_group(offsets, row, group_nnz);
        acc_t sum = item == 0 ? carry_read(mine.carries, groups + first) : acc_zero();
        for (ulong other = first + 1 + item; other <= last; other += GROUP_SIZE)
            sum = acc_add(sum, carry_read(mine.carries, other));
        sum = group_reduce(sum, sums);
        if (item == 0)
            store_result(y, row, alpha, sum, beta);
    }
}

#endif
#endif
