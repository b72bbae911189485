// SpMM by whole rows: C = alpha A B + beta C, a bunch of items a row (the row split of Yang, Buluc, Owens, "Design
// principles for sparse matrix multiplication on the GPU", 2018).
//
// The items of a bunch stand side by side along a row of C, VECTOR_WIDTH columns each, and walk together along the
// row of A: each nonzero names a row of B, of which they load their columns side by side. NNZ_AT_ONCE rows of B are
// under way at a time. What has more columns than a bunch reaches is cut into tiles of equally many, which groups
// take one after the other; a bunch is as many items as a tile needs.
//
// The paper's items load 32 nonzeros and tell each other by shuffles. Here every item of a bunch loads each column
// and value itself, from one address, which the device carries out once: for single rows that was faster on the H200,
// and it needs no device that has shuffles.
//
// With ROWS_AT_ONCE above 1 a bunch takes an i-node: up to as many neighbouring rows that have the same columns, as
// the unknowns of a mesh node do. Their rows of B are loaded once for all of them, and so are their columns. A column
// then goes with several values, and SHUFFLES pay there.
//
// Bunches that run in step wait for the longest of their nodes. With NODE_LIST nodes come from a list, of which the
// plan has put neighbours in order of their length where that helps.
//
// The paper's rows are never cut. Here, with PARTS, those of more than PART_NNZ nonzeros are, into equal parts, each a
// bunch's: the first groups take these, leave their sums in `partial`, and `spmm_row_split_join` adds them up in their
// order. So rows may be long and alike.

#ifndef GROUP_SIZE
#define GROUP_SIZE 128 // items of a work-group
#endif
#ifndef VECTOR_WIDTH
#define VECTOR_WIDTH 4 // columns an item takes: 1, 2, 4, 8 or 16
#endif
#ifndef NNZ_AT_ONCE
#define NNZ_AT_ONCE 4 // rows of B under way at a time
#endif
#ifndef ROWS_AT_ONCE
#define ROWS_AT_ONCE 1 // most rows of an i-node
#endif
#ifndef PART_NNZ
#define PART_NNZ 256 // most nonzeros of a row that a bunch takes
#endif
#ifndef SHUFFLES
#define SHUFFLES 0 // items that run in step, and tell each other columns and values; 0: each loads its own
#endif

#include "item/dense.h"
#include "spmm/join.h"
#include "spmm/node.h"
#include "subgroup/broadcast.h"

#if SHUFFLES
#define ITEMS_IN_STEP SHUFFLES
#else
#define ITEMS_IN_STEP GROUP_SIZE
#endif

// What a bunch takes: an i-node, or a part of each of its rows.
typedef struct {
    global const uint *columns; // of its first row
    global const value_t *values; // of its first row
    ulong length; // of each row
    uint rows;
    global const dense_t *b; // the item's first column
    uint b_row_bytes;
    item_columns_t mine;
} inode_t;

// An i-node whose rows are cut.
typedef struct {
    uint row; // its first
    uint rows;
    uint first_part;
    uint parts;
} long_node_t;

// Adds NNZ_AT_ONCE nonzeros, `count` of which there are, of each row. What is beyond loads again what came last, and
// its product is left out: loads that a condition guards would not be under way together.
#if SHUFFLES
// From place `first` on of what the items of the bunch have loaded, one each: a column, and a value of each row.
void add_step(reals_t *sums, const inode_t *node, const uint column, const real_t *value,
              const uint first, const uint count, const bunch_t *bunch)
{
    reals_t of_b[NNZ_AT_ONCE];
#pragma unroll
    for (uint k = 0; k < NNZ_AT_ONCE; ++k) {
        const uint b_row = broadcast_word(column, first + min(k, count - 1), bunch);
        of_b[k] = load_dense(node->b, b_row, node->b_row_bytes, node->mine);
    }
#pragma unroll
    for (uint other = 0; other < ROWS_AT_ONCE; ++other) {
#pragma unroll
        for (uint k = 0; k < NNZ_AT_ONCE; ++k) {
            const real_t factor = broadcast_real(value[other], first + min(k, count - 1), bunch);
            const reals_t sum = fma((reals_t)(factor), of_b[k], sums[other]);
            sums[other] = k < count ? sum : sums[other];
        }
    }
}
#else
// Nonzeros from `at` on.
void add_step(reals_t *sums, const inode_t *node, const offset_t at, const uint count)
{
    uint b_rows[NNZ_AT_ONCE];
    reals_t of_b[NNZ_AT_ONCE];
#pragma unroll
    for (uint k = 0; k < NNZ_AT_ONCE; ++k)
        b_rows[k] = node->columns[at + min(k, count - 1)];
#pragma unroll
    for (uint k = 0; k < NNZ_AT_ONCE; ++k)
        of_b[k] = load_dense(node->b, b_rows[k], node->b_row_bytes, node->mine);
#pragma unroll
    for (uint other = 0; other < ROWS_AT_ONCE; ++other) {
        const ulong begin = at + min(other, node->rows - 1) * node->length;
#pragma unroll
        for (uint k = 0; k < NNZ_AT_ONCE; ++k) {
            const real_t factor = load_value(node->values, begin + min(k, count - 1));
            const reals_t sum = fma((reals_t)(factor), of_b[k], sums[other]);
            sums[other] = k < count ? sum : sums[other];
        }
    }
}
#endif

// The items of a bunch are loops over vectors already: a compiler for a CPU need not look for more.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1), vec_type_hint(reals_t)))
kernel void spmm_row_split(const uint nodes,
                           const uint parts,
                           const uint node_groups,
                           const uint part_groups,
                           const uint width,
                           const uint tile_width,
                           const uint bunch_size,
                           ARRAY_PARAMETER(const uint, node_list),
                           ARRAY_PARAMETER(const long_node_t, long_nodes),
                           ARRAY_PARAMETER(const uint, part_nodes),
                           ARRAY_PARAMETER(const offset_t, offsets),
                           ARRAY_PARAMETER(const uint, columns),
                           ARRAY_PARAMETER(const value_t, values),
                           ARRAY_PARAMETER(const dense_t, b),
                           const uint b_row_bytes,
                           ARRAY_PARAMETER(real_t, c),
                           const ulong c_leading,
                           SCALAR_PARAMETER(alpha),
                           SCALAR_PARAMETER(beta),
                           ARRAY_PARAMETER(real_t, partial))
{
#ifdef NODE_LIST
    OPEN_ARRAY(const uint, node_list);
#endif
    OPEN_ARRAY(const offset_t, offsets);
    OPEN_ARRAY(const uint, columns);
    OPEN_ARRAY(const value_t, values);
    OPEN_ARRAY(const dense_t, b);
    OPEN_ARRAY(real_t, c);
    OPEN_SCALAR(alpha);
    OPEN_SCALAR(beta);

    // A bunch lies within items that run in step. Remainders are worked out: Oclgrind cannot follow a quotient together
    // with its remainder.
    const uint item = (uint)get_local_id(0);
    const uint step = item / ITEMS_IN_STEP;
    const uint in_step = item - step * ITEMS_IN_STEP;
    const uint bunches_in_step = ITEMS_IN_STEP / bunch_size;
    const uint bunch_in_step = in_step / bunch_size;
    const uint in_bunch = in_step - bunch_in_step * bunch_size;
    const uint bunches = GROUP_SIZE / ITEMS_IN_STEP * bunches_in_step;
    const uint bunch = step * bunches_in_step + bunch_in_step;
    const uint groups_per_tile = part_groups + node_groups;
    const uint tile = (uint)get_group_id(0) / groups_per_tile;
    const uint group = (uint)get_group_id(0) - tile * groups_per_tile;
#ifdef PARTS
    OPEN_ARRAY(const long_node_t, long_nodes);
    OPEN_ARRAY(const uint, part_nodes);
    OPEN_ARRAY(real_t, partial);
    const int is_part = group < part_groups;
#else
    const int is_part = 0;
#endif
    // Parts are numbered, and nodes.
    const ulong number = (ulong)(is_part ? group : group - part_groups) * bunches + bunch;
    if (bunch_in_step >= bunches_in_step || number >= (is_part ? parts : nodes))
        return;
    // Items without columns of their own load others': their bunch may want to hear of nonzeros from them.
    const item_columns_t mine = item_columns(in_bunch, tile, tile_width, width);

#ifdef NODE_LIST
    const uint node = node_list[is_part ? 0 : number];
    ulong row = node_row(node);
    uint rows = node_rows(node);
#else
    ulong row = number;
    uint rows = 1;
#endif
#ifdef PARTS
    long_node_t cut;
    if (is_part) {
        cut = long_nodes[part_nodes[number]];
        row = cut.row;
        rows = cut.rows;
    }
#endif
    const offset_t begin = offsets[row];
    const offset_t row_length = offsets[row + 1] - begin;
    offset_t first = 0;
    offset_t length = row_length;
#ifdef PARTS
    if (is_part) {
        const offset_t most = (row_length - 1) / cut.parts + 1;
        first = (offset_t)(number - cut.first_part) * most;
        length = min(most, row_length - first);
    } else if (row_length > PART_NNZ) {
        return;
    }
#endif
    inode_t inode;
    inode.columns = columns + begin + first;
    inode.values = values + begin + first;
    inode.length = row_length;
    inode.rows = rows;
    inode.b = b + mine.first;
    inode.b_row_bytes = b_row_bytes;
    inode.mine = mine;
    reals_t sums[ROWS_AT_ONCE];
#pragma unroll
    for (uint other = 0; other < ROWS_AT_ONCE; ++other)
        sums[other] = 0;

#if SHUFFLES
    const bunch_t told = bunch_of(in_step - in_bunch, bunch_size);
    for (offset_t left = length; left > 0;) {
        const uint count = left < bunch_size ? (uint)left : bunch_size;
        const offset_t place = length - left + min(in_bunch, count - 1);
        const uint b_row = inode.columns[place];
        real_t value[ROWS_AT_ONCE];
#pragma unroll
        for (uint other = 0; other < ROWS_AT_ONCE; ++other)
            value[other] = load_value(inode.values, place + min(other, rows - 1) * inode.length);
        const uint whole = count - count % NNZ_AT_ONCE;
        for (uint at = 0; at < whole; at += NNZ_AT_ONCE)
            add_step(sums, &inode, b_row, value, at, NNZ_AT_ONCE, &told);
        if (whole < count)
            add_step(sums, &inode, b_row, value, whole, count - whole, &told);
        left -= count;
    }
#else
    const offset_t whole = length - length % NNZ_AT_ONCE;
    for (offset_t at = 0; at < whole; at += NNZ_AT_ONCE)
        add_step(sums, &inode, at, NNZ_AT_ONCE);
    if (whole < length)
        add_step(sums, &inode, whole, (uint)(length - whole));
#endif
#pragma unroll
    for (uint other = 0; other < ROWS_AT_ONCE; ++other) {
        if (mine.count == 0 || other >= rows)
            continue;
#ifdef PARTS
        if (is_part) {
            store_sums(partial, number * ROWS_AT_ONCE + other, width, sums[other], mine);
            continue;
        }
#endif
        store_dense(dense_place(c, c_leading, row + other, mine), c_leading, alpha, sums[other], beta, mine);
    }
}

// Adds up the rows that are cut, a group each, in an order that depends on the number of parts alone.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void spmm_row_split_join(const uint cut_nodes,
                                const uint width,
                                const uint tile_width,
                                const uint bunch_size,
                                ARRAY_PARAMETER(const long_node_t, long_nodes),
                                ARRAY_PARAMETER(const real_t, partial),
                                ARRAY_PARAMETER(real_t, c),
                                const ulong c_leading,
                                SCALAR_PARAMETER(alpha),
                                SCALAR_PARAMETER(beta))
{
    OPEN_ARRAY(const long_node_t, long_nodes);
    OPEN_ARRAY(const real_t, partial);
    OPEN_ARRAY(real_t, c);
    OPEN_SCALAR(alpha);
    OPEN_SCALAR(beta);
    local reals_t sums[GROUP_SIZE];

    const uint cut_row = (uint)get_group_id(0) / ROWS_AT_ONCE;
    const uint other = (uint)get_group_id(0) - cut_row * ROWS_AT_ONCE;
    const uint tile = cut_row / cut_nodes;
    const long_node_t cut = long_nodes[cut_row - tile * cut_nodes];
    const uint bunches = GROUP_SIZE / bunch_size;
    const uint bunch = (uint)get_local_id(0) / bunch_size;
    const uint in_bunch = (uint)get_local_id(0) - bunch * bunch_size;
    const item_columns_t mine = item_columns(in_bunch, tile, tile_width, width);
    const int has_columns = bunch < bunches && mine.count > 0 && other < cut.rows;
    reals_t sum = 0;
    for (uint part = bunch; has_columns && part < cut.parts; part += bunches * PARTS_AT_ONCE) {
        reals_t sums_of[PARTS_AT_ONCE];
#pragma unroll
        for (uint k = 0; k < PARTS_AT_ONCE; ++k) {
            const ulong number = (ulong)cut.first_part + min(part + k * bunches, cut.parts - 1);
            sums_of[k] = load_sums(partial, number * ROWS_AT_ONCE + other, width, mine);
        }
#pragma unroll
        for (uint k = 0; k < PARTS_AT_ONCE; ++k)
            sum = part + k * bunches < cut.parts ? sum + sums_of[k] : sum;
    }
    sum = sum_of_bunches(sum, sums, bunch_size, bunches, has_columns);
    if (has_columns && bunch == 0)
        store_dense(dense_place(c, c_leading, (ulong)cut.row + other, mine), c_leading, alpha, sum, beta, mine);
}
