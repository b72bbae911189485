// SpMM by equal nonzeros: C = alpha A B + beta C, tiles of equally many nonzeros, wherever rows begin and end (the
// "merge-based" algorithm of Yang, Buluc, Owens, "Design principles for sparse matrix multiplication on the GPU", 2018,
// which is Baxter's nonzero split). It is there to be compared with: spmm_merge.cl also bounds the rows of C that a tile
// stores, which here are as many as there are empty rows between two nonzeros.
//
// A sub-group, as many neighbouring items as a tile of columns needs, takes a tile: some nonzeros, whose first row
// spmm_merge_plan.cl found by a search in the row offsets. It iterates over them, NNZ_AT_ONCE rows of B under way at a time,
// and stores the rows that end among them. The partial sums of a row that several tiles share go to `carries`, and
// `spmm_nonzero_split_join` adds them up in their order.

#ifndef GROUP_SIZE
#define GROUP_SIZE 128 // items of a work-group
#endif
#ifndef VECTOR_WIDTH
#define VECTOR_WIDTH 4 // columns an item takes: 1, 2, 4, 8 or 16
#endif
#ifndef NNZ_AT_ONCE
#define NNZ_AT_ONCE 1 // rows of B under way at a time; the paper stays at one
#endif

#include "item/dense.h"
#include "spmm/join.h"

// Where a sub-group is in its tile.
typedef struct {
    reals_t sum; // of the row it is in
    item_columns_t columns;
    ulong row;
    ulong next_end; // where that ends, if in this tile
    ulong last_row; // the first row that does not end in this tile
    int is_head; // whether the row began in a tile before
} progress_t;

// What rows that end are stored by.
typedef struct {
    global const offset_t *offsets;
    global real_t *c;
    global real_t *carries;
    ulong c_leading;
    ulong head_slot; // of the row that began in a tile before
    uint width;
    real_t alpha;
    real_t beta;
} target_t;

// Ends the rows that end before nonzero `at`: the one whose last was just added, and empty ones.
void end_rows_at(progress_t *progress, const ulong at, const target_t *target)
{
    for (; progress->row < progress->last_row && progress->next_end == at;) {
        if (progress->is_head)
            store_sums(target->carries, target->head_slot, target->width, progress->sum, progress->columns);
        else
            store_dense(dense_pointer(target->c, target->c_leading, progress->row, progress->columns), target->c_leading,
                        target->alpha, progress->sum, target->beta, progress->columns);
        progress->is_head = 0;
        progress->sum = 0;
        ++progress->row;
        if (progress->row < progress->last_row)
            progress->next_end = target->offsets[progress->row + 1];
    }
}

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1), vec_type_hint(reals_t)))
kernel void spmm_nonzero_split(const uint tiles,
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
                               ARRAY_PARAMETER(real_t, carries))
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

    const uint item = (uint)get_local_id(0);
    const uint sub_groups = GROUP_SIZE / sub_group_size;
    const uint tile_groups = (tiles - 1) / sub_groups + 1;
    const uint column_tile = (uint)get_group_id(0) / tile_groups;
    const uint sub_group = item / sub_group_size;
    const uint number = ((uint)get_group_id(0) - column_tile * tile_groups) * sub_groups + sub_group;
    const item_columns_t mine = item_columns(item - sub_group * sub_group_size, column_tile, tile_width, width);
    if (sub_group >= sub_groups || number >= tiles || mine.count == 0)
        return;

    const ulong begin = boundary_nonzeros[number];
    const ulong end = boundary_nonzeros[number + 1];
    target_t target;
    target.offsets = offsets;
    target.c = c;
    target.carries = carries;
    target.c_leading = c_leading;
    target.head_slot = 2 * (ulong)slots[number];
    target.width = width;
    target.alpha = alpha;
    target.beta = beta;
    progress_t progress;
    progress.sum = 0;
    progress.columns = mine;
    progress.row = boundary_rows[number];
    progress.last_row = boundary_rows[number + 1];
    progress.next_end = progress.row < progress.last_row ? offsets[progress.row + 1] : end;
    progress.is_head = begin > offsets[progress.row];
    b += mine.first;
    for (ulong at = begin; at < end; at += NNZ_AT_ONCE) {
        // What is beyond loads again what came last: loads that a condition guards would not be under way together.
        reals_t of_b[NNZ_AT_ONCE];
        real_t factors[NNZ_AT_ONCE];
#pragma unroll
        for (uint k = 0; k < NNZ_AT_ONCE; ++k) {
            const ulong from = min(at + k, end - 1);
            of_b[k] = load_dense(b, columns[from], b_row_bytes, mine);
            factors[k] = load_value(values, from);
        }
#pragma unroll
        for (uint k = 0; k < NNZ_AT_ONCE; ++k) {
            end_rows_at(&progress, at + k, &target);
            if (at + k < end)
                progress.sum = fma((reals_t)(factors[k]), of_b[k], progress.sum);
        }
    }
    end_rows_at(&progress, end, &target);
    // The row that goes on in the next tile.
    if (end > offsets[progress.last_row]) {
        const ulong slot = progress.is_head ? target.head_slot : 2 * (ulong)slots[number + 1] + 1;
        store_sums(carries, slot, width, progress.sum, mine);
    }
}

// Adds up the rows that several tiles share, a group each: their parts from the first on, in an order that depends
// on their number alone.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void spmm_nonzero_split_join(const uint tiles,
                                    const uint chains,
                                    const uint width,
                                    const uint tile_width,
                                    const uint sub_group_size,
                                    ARRAY_PARAMETER(const uint, chain_boundaries),
                                    ARRAY_PARAMETER(const uint, boundary_rows),
                                    ARRAY_PARAMETER(const uint, slots),
                                    ARRAY_PARAMETER(const real_t, carries),
                                    ARRAY_PARAMETER(real_t, c),
                                    const ulong c_leading,
                                    SCALAR_PARAMETER(alpha),
                                    SCALAR_PARAMETER(beta))
{
    OPEN_ARRAY(const uint, chain_boundaries);
    OPEN_ARRAY(const uint, boundary_rows);
    OPEN_ARRAY(const uint, slots);
    OPEN_ARRAY(const real_t, carries);
    OPEN_ARRAY(real_t, c);
    OPEN_SCALAR(alpha);
    OPEN_SCALAR(beta);
    local reals_t sums[GROUP_SIZE];

    const uint item = (uint)get_local_id(0);
    const uint column_tile = (uint)get_group_id(0) / chains;
    const uint first_boundary = chain_boundaries[(uint)get_group_id(0) - column_tile * chains];
    const ulong row = boundary_rows[first_boundary];
    const uint sub_groups = GROUP_SIZE / sub_group_size;
    const uint sub_group = item / sub_group_size;
    const item_columns_t mine = item_columns(item - sub_group * sub_group_size, column_tile, tile_width, width);
    const int has_columns = sub_group < sub_groups && mine.count > 0;
    reals_t sum = 0;
    if (has_columns && sub_group == 0)
        sum = load_sums(carries, 2 * (ulong)slots[first_boundary] + 1, width, mine);
    int goes_on = has_columns;
    for (uint boundary = first_boundary + sub_group; goes_on; boundary += sub_groups * PARTS_AT_ONCE) {
        reals_t sums_of[PARTS_AT_ONCE];
        int is_of_row[PARTS_AT_ONCE];
#pragma unroll
        for (uint k = 0; k < PARTS_AT_ONCE; ++k) {
            const uint its_boundary = min(boundary + k * sub_groups, tiles - 1);
            is_of_row[k] = boundary + k * sub_groups < tiles && boundary_rows[its_boundary] == row;
            // What is of no row loads the first slot, which there is.
            sums_of[k] = load_sums(carries, 2 * (ulong)(is_of_row[k] ? slots[its_boundary] : 0), width, mine);
        }
#pragma unroll
        for (uint k = 0; k < PARTS_AT_ONCE; ++k)
            sum = is_of_row[k] ? sum + sums_of[k] : sum;
        goes_on = is_of_row[PARTS_AT_ONCE - 1];
    }
    sum = sum_over_sub_groups(sum, sums, sub_group_size, sub_groups, has_columns);
    if (has_columns && sub_group == 0)
        store_dense(dense_pointer(c, c_leading, row, mine), c_leading, alpha, sum, beta, mine);
}
