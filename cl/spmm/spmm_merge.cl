// SpMM by equal work: C = alpha A B + beta C, tiles of equally many rows and nonzeros, wherever rows begin and end
// (the merge-based algorithm of Yang, Buluc, Owens, "Design principles for sparse matrix multiplication on the GPU",
// 2018, after Merrill and Garland's merge path).
//
// Ends of rows and nonzeros in their order make one list, the merge path: a nonzero is a row of B to load, an end a
// row of C to store. A group takes a tile of the list (spmm_merge_plan.cl), each of its sub-groups an equal part of
// that. As in spmm_row_split.cl a sub-group is as many neighbouring items as a tile of columns needs; they stand side
// by side along a row of C and iterate together.
//
//   1. The tile's columns, values and ends of rows go to local memory, and each row notes which sub-groups begin in it.
//   2. Each sub-group iterates over its part, NNZ_AT_ONCE rows of B under way at a time, and stores the rows that end
//      in it. (The paper stays at one nonzero an item; its items hold 32 columns each.)
//   3. A row that several sub-groups share is combined in local memory by the sub-group in which it ends.
//   4. The partial sums of a row that several groups share are published in `carries`, and the last of these groups to
//      arrive adds them up in their order (spmm/shared_rows.h). Boundaries of tiles move to the beginning of the row they
//      fall into where that is SLACK nonzeros away or less, so that with short rows there are none.
//
// Each row is scaled once, and its C read once.
//
// Local memory: TILE_LENGTH + SLACK columns and values, TILE_LENGTH + 1 ends, two vectors and two words an item, and 16 bytes.

#ifndef GROUP_SIZE
#define GROUP_SIZE 128 // items of a work-group
#endif
#ifndef VECTOR_WIDTH
#define VECTOR_WIDTH 4 // columns an item takes: 1, 2, 4, 8 or 16
#endif
#ifndef NNZ_AT_ONCE
#define NNZ_AT_ONCE 4 // rows of B under way at a time
#endif
#ifndef TILE_LENGTH
#define TILE_LENGTH 512 // rows and nonzeros of a tile, together
#endif
#ifndef SLACK
#define SLACK 64 // nonzeros by which a boundary may move
#endif

#define LOADS ((TILE_LENGTH + SLACK + GROUP_SIZE - 1) / GROUP_SIZE)

#include "item/dense.h"
#include "spmm/shared_rows.h"

// In local memory: a tile, from its first nonzero on.
typedef struct {
    uint rows; // that end in it
    uint count; // nonzeros
    int is_cut; // whether it begins in the middle of a row
} tile_t;

// Partial sums of sub-groups, of rows that begin or end in others; in local memory.
typedef struct {
    local reals_t *heads; // an item's columns of the row its sub-group begins in the middle of, if that ends in it
    local reals_t *tails; // of the row that continues after the sub-group
    local uint *has_ends; // whether a row ends in a sub-group
} shared_sums_t;

// Where a sub-group is in its part of the list.
typedef struct {
    reals_t sum; // of the row it is in
    item_columns_t columns;
    global real_t *c; // its element of C
    uint row; // counted from the tile's first
    uint next_end; // where that ends, if in this part
    uint beyond_row; // the first row that does not end in this part
    local const uint *ends; // of all rows of the tile
    local reals_t *head; // where the sum of the first row goes
    int has_head; // whether that began before
} cursor_t;

// Ends the rows that end before nonzero `at`: the one whose last was just added, or lies in the sub-group before; and
// empty ones.
void end_rows(cursor_t *cursor, const uint at, const ulong c_leading, const real_t alpha, const real_t beta)
{
    for (; cursor->row < cursor->beyond_row && cursor->next_end == at; ++cursor->row) {
        if (cursor->has_head)
            *cursor->head = cursor->sum;
        else
            store_dense(cursor->c, c_leading, alpha, cursor->sum, beta, cursor->columns);
        cursor->has_head = 0;
        cursor->sum = 0;
        cursor->c += ROW_STRIDE(c_leading);
        cursor->next_end = cursor->ends[cursor->row + 1];
    }
}

// The sum of a row over the sub-groups before `sub_group`: tails of those in which no row ends, back to the one in
// which it begins. Sets `*reaches_back` if it begins before the group.
reals_t sum_before(const shared_sums_t *shared, const tile_t *tile, const uint sub_group,
                   const uint sub_group_size, const uint item, int *reaches_back)
{
    uint first = sub_group;
    int goes_on = 1;
    while (first > 0 && goes_on)
        goes_on = !shared->has_ends[--first];
    *reaches_back = goes_on && tile->is_cut;
    reals_t sum = 0;
    for (uint other = first; other < sub_group; ++other)
        sum += shared->tails[other * sub_group_size + item];
    return sum;
}

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1), vec_type_hint(reals_t)))
kernel void spmm_merge(const uint tiles,
                       const uint width,
                       const uint tile_width,
                       const uint sub_group_size,
                       ARRAY_PARAMETER(const uint, boundary_rows),
                       ARRAY_PARAMETER(const offset_t, boundary_nonzeros),
                       ARRAY_PARAMETER(const uint, slots),
                       ARRAY_PARAMETER(const offset_t, offsets),
                       ARRAY_PARAMETER(const uint, columns),
                       ARRAY_PARAMETER(const value_t, values),
                       ARRAY_PARAMETER(const dense_t, b),
                       const uint b_row_bytes,
                       ARRAY_PARAMETER(real_t, c),
                       const ulong c_leading,
                       SCALAR_PARAMETER(alpha),
                       SCALAR_PARAMETER(beta),
                       ARRAY_PARAMETER(real_t, carries),
                       ARRAY_PARAMETER(uint, counters),
                       const uint cuts,
                       const uint zero)
{
    OPEN_ARRAY(const uint, boundary_rows);
    OPEN_ARRAY(const offset_t, boundary_nonzeros);
    OPEN_ARRAY(const uint, slots);
    OPEN_ARRAY(const offset_t, offsets);
    OPEN_ARRAY(const uint, columns);
    OPEN_ARRAY(const value_t, values);
    OPEN_ARRAY(const dense_t, b);
    OPEN_ARRAY(real_t, c);
    OPEN_SCALAR(alpha);
    OPEN_SCALAR(beta);
    OPEN_ARRAY(real_t, carries);
    OPEN_ARRAY(uint, counters);
    local uint b_rows[LOADS * GROUP_SIZE];
    local real_t factors[LOADS * GROUP_SIZE];
    local uint ends[TILE_LENGTH + 1];
    local uint starts[GROUP_SIZE + 1];
    local reals_t heads[GROUP_SIZE];
    local reals_t tails[GROUP_SIZE];
    local uint has_ends[GROUP_SIZE];
    local uint proofs;
    local int is_last_of[2];

    const uint item = (uint)get_local_id(0);
    const uint column_tile = (uint)get_group_id(0) / tiles;
    const uint number = (uint)get_group_id(0) - column_tile * tiles;
    const ulong first_row = boundary_rows[number];
    const ulong last_row = boundary_rows[number + 1];
    const ulong begin = boundary_nonzeros[number];
    const ulong end = boundary_nonzeros[number + 1];
    tile_t tile;
    tile.rows = (uint)(last_row - first_row);
    tile.count = (uint)(end - begin);
    tile.is_cut = number > 0 && begin > offsets[first_row];
    if (tile.count > 0) {
        // All loads under way together: what is beyond loads again what comes last.
        uint loaded_rows[LOADS];
        real_t loaded_factors[LOADS];
#pragma unroll
        for (uint load = 0; load < LOADS; ++load) {
            const ulong from = begin + min(load * GROUP_SIZE + item, tile.count - 1);
            loaded_rows[load] = columns[from];
            loaded_factors[load] = load_value(values, from);
        }
#pragma unroll
        for (uint load = 0; load < LOADS; ++load) {
            b_rows[load * GROUP_SIZE + item] = loaded_rows[load];
            factors[load * GROUP_SIZE + item] = loaded_factors[load];
        }
    }

    // Odd parts: sub-groups that run in step then read from different banks of local memory.
    const uint sub_groups = GROUP_SIZE / sub_group_size;
    const uint path = tile.rows + tile.count;
    const uint part = ((path - 1) / sub_groups + 1) | 1;
    // The nonzeros and the end of row `at` have indices `from` to `to` of the list; the last one has no end here.
    // Sub-groups whose parts begin there begin in it.
    for (uint at = item; at <= tile.rows; at += GROUP_SIZE) {
        const int has_end = at < tile.rows;
        const uint row_end = has_end ? (uint)(offsets[first_row + at + 1] - begin) : tile.count;
        const uint from = at > 0 ? (uint)(offsets[first_row + at] - begin) + at : 0;
        const uint to = has_end ? row_end + at : path;
        ends[at] = row_end;
        for (uint boundary = (from + part - 1) / part; boundary * part <= to && boundary <= sub_groups; ++boundary)
            starts[boundary] = at;
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    const uint sub_group = item / sub_group_size;
    const uint lane = item - sub_group * sub_group_size;
    const item_columns_t mine = item_columns(lane, column_tile, tile_width, width);
    const int has_columns = sub_group < sub_groups && mine.count > 0;
    const uint first = min(sub_group * part, path);
    const uint last = min(first + part, path);
    const uint row = first < path ? starts[sub_group] : tile.rows;
    const uint beyond_row = last < path ? starts[sub_group + 1] : tile.rows;
    const uint beyond = last - beyond_row;
    uint at = first - row;
    const uint row_begin = row > 0 ? ends[row - 1] : 0;
    // Whether sub-groups, or groups, before this one have a part of its first row.
    const int is_shared = at > row_begin || (row == 0 && at == 0 && tile.is_cut);
    if (has_columns) {
        b += mine.first;
        cursor_t cursor;
        cursor.sum = 0;
        cursor.columns = mine;
        cursor.c = dense_pointer(c, c_leading, first_row + row, mine);
        cursor.row = row;
        cursor.beyond_row = beyond_row;
        cursor.ends = ends;
        cursor.next_end = ends[row];
        cursor.head = heads + item;
        cursor.has_head = is_shared;
        for (; at < beyond; at += NNZ_AT_ONCE) {
            // What is beyond loads again what came last: loads that a condition guards would not be under way together.
            reals_t of_b[NNZ_AT_ONCE];
#pragma unroll
            for (uint k = 0; k < NNZ_AT_ONCE; ++k)
                of_b[k] = load_dense(b, b_rows[min(at + k, beyond - 1)], b_row_bytes, mine);
#pragma unroll
            for (uint k = 0; k < NNZ_AT_ONCE; ++k) {
                end_rows(&cursor, at + k, c_leading, alpha, beta);
                if (at + k < beyond)
                    cursor.sum = fma((reals_t)(factors[at + k]), of_b[k], cursor.sum);
            }
        }
        end_rows(&cursor, beyond, c_leading, alpha, beta);
        tails[item] = cursor.sum;
    }
    if (lane == 0)
        has_ends[sub_group] = beyond_row > row;
    if (item == 0)
        proofs = 0;
    barrier(CLK_LOCAL_MEM_FENCE);

    shared_sums_t shared;
    shared.heads = heads;
    shared.tails = tails;
    shared.has_ends = has_ends;
    uint proof = 0;
    int reaches_back;
    if (has_columns && is_shared && has_ends[sub_group]) {
        const reals_t before = sum_before(&shared, &tile, sub_group, sub_group_size, lane, &reaches_back);
        const reals_t whole = before + heads[item];
        if (reaches_back)
            proof |= publish_sums(carries, 2 * (ulong)slots[number], width, whole, mine);
        else
            store_dense(dense_pointer(c, c_leading, first_row + row, mine), c_leading, alpha, whole, beta, mine);
    }
    // The row that continues after the group: the last sub-group's.
    const int is_open = end > offsets[last_row];
    if (has_columns && sub_group + 1 == sub_groups && is_open) {
        const reals_t whole = sum_before(&shared, &tile, sub_groups, sub_group_size, lane, &reaches_back);
        const ulong slot = reaches_back ? 2 * (ulong)slots[number] : 2 * (ulong)slots[number + 1] + 1;
        proof |= publish_sums(carries, slot, width, whole, mine);
    }

    // Of the rows that other groups have parts of, the one in which the tile begins and the one that continues after it,
    // the group adds up those of which it arrives last. It has one part of a row that is both.
    if (tile.is_cut || is_open) {
        atomic_or(&proofs, proof & zero);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item == 0) {
            for (uint which = 0; which < 2; ++which) {
                const int has_part = which == 0 ? tile.is_cut : is_open && !(tile.is_cut && first_row == last_row);
                is_last_of[which] = 0;
                if (has_part) {
                    const shared_row_t row_of = boundaries_of_row(offsets, (uint)(which == 0 ? first_row : last_row));
                    volatile global uint *const counter = counters + (ulong)column_tile * cuts + slots[row_of.first];
                    is_last_of[which] = arrives_last(counter, row_of.parts, proofs, zero);
                }
            }
        }
        for (uint which = 0; which < 2; ++which) {
            barrier(CLK_LOCAL_MEM_FENCE);
            if (is_last_of[which]) {
                const ulong its_row = which == 0 ? first_row : last_row;
                const shared_row_t row_of = boundaries_of_row(offsets, (uint)its_row);
                const reals_t sum = sum_of_parts(&row_of, slots, carries, width, mine, sub_group_size, sub_groups,
                                                 has_columns, heads);
                if (has_columns && sub_group == 0)
                    store_dense(dense_pointer(c, c_leading, its_row, mine), c_leading, alpha, sum, beta, mine);
            }
        }
    }
}
