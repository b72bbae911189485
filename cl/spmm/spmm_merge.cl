// SpMM by equal work: C = alpha A B + beta C, pieces of equally many rows and nonzeros, wherever rows begin and end
// (the merge-based algorithm of Yang, Buluc, Owens, "Design principles for sparse matrix multiplication on the GPU",
// 2018, after Merrill and Garland's merge path).
//
// Ends of rows and nonzeros in their order make one list, the merge path: a nonzero is a row of B to load, an end a
// row of C to store. A group takes a piece of the list (spmm_merge_plan.cl), each of its bunches an equal part of
// that. As in spmm_row_split.cl the items of a bunch stand side by side along a row of C, and walk together.
//
//   1. The piece's columns, values and ends of rows go to local memory, and each row says which bunches begin in it.
//   2. Each bunch walks along its part, NNZ_AT_ONCE rows of B under way at a time, and stores the rows that end in it.
//      (The paper stays at one nonzero an item; its items hold 32 columns each.)
//   3. A row that several bunches share is put together in local memory by the bunch in which it ends.
//   4. A row that several groups share is left in `carries`: they go out, and `spmm_merge_join` adds them up in
//      their order. Borders of pieces move to the beginning of the row they fall into where that is SLACK nonzeros
//      away or less, so that with rows of usual length there are none.
//
// Each row is scaled once, and its C read once.
//
// Local memory: PIECE + SLACK columns and values, PIECE + 1 ends, two vectors and two words an item.

#ifndef GROUP_SIZE
#define GROUP_SIZE 128 // items of a work-group
#endif
#ifndef VECTOR_WIDTH
#define VECTOR_WIDTH 4 // columns an item takes: 1, 2, 4, 8 or 16
#endif
#ifndef NNZ_AT_ONCE
#define NNZ_AT_ONCE 4 // rows of B under way at a time
#endif
#ifndef PIECE
#define PIECE 512 // rows and nonzeros of a piece, together
#endif
#ifndef SLACK
#define SLACK 64 // nonzeros by which a border may move
#endif

#define LOADS ((PIECE + SLACK + GROUP_SIZE - 1) / GROUP_SIZE)

#include "item/dense.h"
#include "spmm/join.h"

// In local memory: a piece, from its first nonzero on.
typedef struct {
    uint rows; // that end in it
    uint count; // nonzeros
    int is_cut; // whether it begins in the middle of a row
} piece_t;

// What bunches have of rows that begin or end in others; in local memory.
typedef struct {
    local reals_t *heads; // an item's columns of the row in the middle of which its bunch begins, if that ends in it
    local reals_t *tails; // of the row that goes on behind the bunch
    local uint *has_ends; // whether a row ends in a bunch
} shared_rows_t;

// A bunch on its way along its part of the list.
typedef struct {
    reals_t sum; // of the row it is in
    item_columns_t columns;
    global real_t *c; // its place in C
    uint row; // counted from the piece's first
    uint next_end; // where that ends, if in this part
    uint beyond_row; // the first row that does not end in this part
    local const uint *ends; // of all rows of the piece
    local reals_t *head; // where the sum of the first row goes
    int has_head; // whether that began before
} walk_t;

// Ends the rows that end before nonzero `at`: the one whose last was just added, or lies in the bunch before; and
// empty ones.
void end_rows(walk_t *walk, const uint at, const ulong c_leading, const real_t alpha, const real_t beta)
{
    for (; walk->row < walk->beyond_row && walk->next_end == at; ++walk->row) {
        if (walk->has_head)
            *walk->head = walk->sum;
        else
            store_dense(walk->c, c_leading, alpha, walk->sum, beta, walk->columns);
        walk->has_head = 0;
        walk->sum = 0;
        walk->c += ROW_STEP(c_leading);
        walk->next_end = walk->ends[walk->row + 1];
    }
}

// The sum of a row over the bunches before `bunch`: tails of those in which no row ends, back to the one in which it
// begins. Sets `*reaches_back` if it begins before the group.
reals_t sum_before(const shared_rows_t *shared, const piece_t *piece, const uint bunch,
                   const uint bunch_size, const uint item, int *reaches_back)
{
    uint first = bunch;
    int goes_on = 1;
    while (first > 0 && goes_on)
        goes_on = !shared->has_ends[--first];
    *reaches_back = goes_on && piece->is_cut;
    reals_t sum = 0;
    for (uint other = first; other < bunch; ++other)
        sum += shared->tails[other * bunch_size + item];
    return sum;
}

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1), vec_type_hint(reals_t)))
kernel void spmm_merge(const uint pieces,
                       const uint width,
                       const uint tile_width,
                       const uint bunch_size,
                       ARRAY_PARAMETER(const uint, border_rows),
                       ARRAY_PARAMETER(const offset_t, border_nonzeros),
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
                       ARRAY_PARAMETER(real_t, carries))
{
    OPEN_ARRAY(const uint, border_rows);
    OPEN_ARRAY(const offset_t, border_nonzeros);
    OPEN_ARRAY(const uint, slots);
    OPEN_ARRAY(const offset_t, offsets);
    OPEN_ARRAY(const uint, columns);
    OPEN_ARRAY(const value_t, values);
    OPEN_ARRAY(const dense_t, b);
    OPEN_ARRAY(real_t, c);
    OPEN_SCALAR(alpha);
    OPEN_SCALAR(beta);
    OPEN_ARRAY(real_t, carries);
    local uint b_rows[LOADS * GROUP_SIZE];
    local real_t factors[LOADS * GROUP_SIZE];
    local uint ends[PIECE + 1];
    local uint starts[GROUP_SIZE + 1];
    local reals_t heads[GROUP_SIZE];
    local reals_t tails[GROUP_SIZE];
    local uint has_ends[GROUP_SIZE];

    const uint item = (uint)get_local_id(0);
    const uint tile = (uint)get_group_id(0) / pieces;
    const uint number = (uint)get_group_id(0) - tile * pieces;
    const ulong first_row = border_rows[number];
    const ulong last_row = border_rows[number + 1];
    const ulong begin = border_nonzeros[number];
    const ulong end = border_nonzeros[number + 1];
    piece_t piece;
    piece.rows = (uint)(last_row - first_row);
    piece.count = (uint)(end - begin);
    piece.is_cut = number > 0 && begin > offsets[first_row];
    if (piece.count > 0) {
        // All loads under way together: what is beyond loads again what comes last.
        uint loaded_rows[LOADS];
        real_t loaded_factors[LOADS];
#pragma unroll
        for (uint load = 0; load < LOADS; ++load) {
            const ulong from = begin + min(load * GROUP_SIZE + item, piece.count - 1);
            loaded_rows[load] = columns[from];
            loaded_factors[load] = load_value(values, from);
        }
#pragma unroll
        for (uint load = 0; load < LOADS; ++load) {
            b_rows[load * GROUP_SIZE + item] = loaded_rows[load];
            factors[load * GROUP_SIZE + item] = loaded_factors[load];
        }
    }

    // Odd parts: bunches that run in step then read from different banks of local memory.
    const uint bunches = GROUP_SIZE / bunch_size;
    const uint path = piece.rows + piece.count;
    const uint part = ((path - 1) / bunches + 1) | 1;
    // The nonzeros and the end of row `at` stand in places `from` to `to` of the list; the last one has no end here.
    // Bunches whose parts begin there begin in it.
    for (uint at = item; at <= piece.rows; at += GROUP_SIZE) {
        const int has_end = at < piece.rows;
        const uint row_end = has_end ? (uint)(offsets[first_row + at + 1] - begin) : piece.count;
        const uint from = at > 0 ? (uint)(offsets[first_row + at] - begin) + at : 0;
        const uint to = has_end ? row_end + at : path;
        ends[at] = row_end;
        for (uint border = (from + part - 1) / part; border * part <= to && border <= bunches; ++border)
            starts[border] = at;
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    const uint bunch = item / bunch_size;
    const uint in_bunch = item - bunch * bunch_size;
    const item_columns_t mine = item_columns(in_bunch, tile, tile_width, width);
    const int has_columns = bunch < bunches && mine.count > 0;
    const uint first = min(bunch * part, path);
    const uint last = min(first + part, path);
    const uint row = first < path ? starts[bunch] : piece.rows;
    const uint beyond_row = last < path ? starts[bunch + 1] : piece.rows;
    const uint beyond = last - beyond_row;
    uint at = first - row;
    const uint row_begin = row > 0 ? ends[row - 1] : 0;
    // Whether bunches, or groups, before this one have a part of its first row.
    const int is_shared = at > row_begin || (row == 0 && at == 0 && piece.is_cut);
    if (has_columns) {
        b += mine.first;
        walk_t walk;
        walk.sum = 0;
        walk.columns = mine;
        walk.c = dense_place(c, c_leading, first_row + row, mine);
        walk.row = row;
        walk.beyond_row = beyond_row;
        walk.ends = ends;
        walk.next_end = ends[row];
        walk.head = heads + item;
        walk.has_head = is_shared;
        for (; at < beyond; at += NNZ_AT_ONCE) {
            // What is beyond loads again what came last: loads that a condition guards would not be under way together.
            reals_t of_b[NNZ_AT_ONCE];
#pragma unroll
            for (uint k = 0; k < NNZ_AT_ONCE; ++k)
                of_b[k] = load_dense(b, b_rows[min(at + k, beyond - 1)], b_row_bytes, mine);
#pragma unroll
            for (uint k = 0; k < NNZ_AT_ONCE; ++k) {
                end_rows(&walk, at + k, c_leading, alpha, beta);
                if (at + k < beyond)
                    walk.sum = fma((reals_t)(factors[at + k]), of_b[k], walk.sum);
            }
        }
        end_rows(&walk, beyond, c_leading, alpha, beta);
        tails[item] = walk.sum;
    }
    if (in_bunch == 0)
        has_ends[bunch] = beyond_row > row;
    barrier(CLK_LOCAL_MEM_FENCE);

    shared_rows_t shared;
    shared.heads = heads;
    shared.tails = tails;
    shared.has_ends = has_ends;
    int reaches_back;
    if (has_columns && is_shared && has_ends[bunch]) {
        const reals_t before = sum_before(&shared, &piece, bunch, bunch_size, in_bunch, &reaches_back);
        const reals_t whole = before + heads[item];
        if (reaches_back)
            store_sums(carries, 2 * (ulong)slots[number], width, whole, mine);
        else
            store_dense(dense_place(c, c_leading, first_row + row, mine), c_leading, alpha, whole, beta, mine);
    }
    // The row that goes on behind the group: the last bunch's.
    if (has_columns && bunch + 1 == bunches && end > offsets[last_row]) {
        const reals_t whole = sum_before(&shared, &piece, bunches, bunch_size, in_bunch, &reaches_back);
        const ulong slot = reaches_back ? 2 * (ulong)slots[number] : 2 * (ulong)slots[number + 1] + 1;
        store_sums(carries, slot, width, whole, mine);
    }
}

// Adds up the rows that several groups share, a group each: their parts from the first on, in an order that depends
// on their number alone.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void spmm_merge_join(const uint pieces,
                            const uint chains,
                            const uint width,
                            const uint tile_width,
                            const uint bunch_size,
                            ARRAY_PARAMETER(const uint, chain_borders),
                            ARRAY_PARAMETER(const uint, border_rows),
                            ARRAY_PARAMETER(const uint, slots),
                            ARRAY_PARAMETER(const real_t, carries),
                            ARRAY_PARAMETER(real_t, c),
                            const ulong c_leading,
                            SCALAR_PARAMETER(alpha),
                            SCALAR_PARAMETER(beta))
{
    OPEN_ARRAY(const uint, chain_borders);
    OPEN_ARRAY(const uint, border_rows);
    OPEN_ARRAY(const uint, slots);
    OPEN_ARRAY(const real_t, carries);
    OPEN_ARRAY(real_t, c);
    OPEN_SCALAR(alpha);
    OPEN_SCALAR(beta);
    local reals_t sums[GROUP_SIZE];

    const uint item = (uint)get_local_id(0);
    const uint tile = (uint)get_group_id(0) / chains;
    const uint first_border = chain_borders[(uint)get_group_id(0) - tile * chains];
    const ulong row = border_rows[first_border];
    const uint bunches = GROUP_SIZE / bunch_size;
    const uint bunch = item / bunch_size;
    const item_columns_t mine = item_columns(item - bunch * bunch_size, tile, tile_width, width);
    const int has_columns = bunch < bunches && mine.count > 0;
    reals_t sum = 0;
    if (has_columns && bunch == 0)
        sum = load_sums(carries, 2 * (ulong)slots[first_border] + 1, width, mine);
    int goes_on = has_columns;
    for (uint border = first_border + bunch; goes_on; border += bunches * PARTS_AT_ONCE) {
        reals_t sums_of[PARTS_AT_ONCE];
        int is_of_row[PARTS_AT_ONCE];
#pragma unroll
        for (uint k = 0; k < PARTS_AT_ONCE; ++k) {
            const uint its_border = min(border + k * bunches, pieces - 1);
            is_of_row[k] = border + k * bunches < pieces && border_rows[its_border] == row;
            // What is of no row loads the first slot, which there is.
            sums_of[k] = load_sums(carries, 2 * (ulong)(is_of_row[k] ? slots[its_border] : 0), width, mine);
        }
#pragma unroll
        for (uint k = 0; k < PARTS_AT_ONCE; ++k)
            sum = is_of_row[k] ? sum + sums_of[k] : sum;
        goes_on = is_of_row[PARTS_AT_ONCE - 1];
    }
    sum = sum_of_bunches(sum, sums, bunch_size, bunches, has_columns);
    if (has_columns && bunch == 0)
        store_dense(dense_place(c, c_leading, row, mine), c_leading, alpha, sum, beta, mine);
}
