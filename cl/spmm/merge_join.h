// Rows of C that several tiles share: of spmm_merge.cl, whose tiles are those of groups, and of spmm_nonzero_split.cl, whose
// tiles are those of sub-groups. GROUP_SIZE comes from the file that includes this one.
#ifndef SPMM_MERGE_JOIN_H
#define SPMM_MERGE_JOIN_H

#include "spmm/join.h"

// Adds up the rows that several tiles share, a group each: their parts from the first on, in an order that depends
// on their number alone.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void spmm_merge_join(const uint tiles,
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

#endif
