// SpMM by whole rows: C = alpha A B + beta C, a sub-group of items a row (the row split of Yang, Buluc, Owens, "Design
// principles for sparse matrix multiplication on the GPU", 2018).
//
// The items of a sub-group stand side by side along a row of C, VECTOR_WIDTH columns each, and iterate together over
// the row of A: each nonzero names a row of B, of which they load their columns side by side. NNZ_AT_ONCE rows of B are
// under way at a time. What has more columns than a sub-group reaches is cut into tiles of equally many, which groups
// take one after the other; a sub-group is as many neighbouring items as a tile needs, within those that the device
// runs in step where they shuffle.
//
// The paper's items load 32 nonzeros and exchange them by shuffles. Here every item of a sub-group loads each column
// and value itself, from one address, which the device carries out once: for single rows that was faster on the H200,
// and it needs no device that has shuffles.
//
// With ROWS_AT_ONCE above 1 a sub-group takes an i-node: up to as many neighbouring rows that have the same columns, as
// the unknowns of a mesh node do. Their rows of B are loaded once for all of them, and so are their columns. A column
// then goes with several values, and SHUFFLES pay there.
//
// Sub-groups that run in step wait for the longest of their nodes. With NODE_LIST nodes come from a list, of which the
// plan has sorted neighbours by length where that helps.
//
// Where columns are few, a sub-group is one or two items, neighbours read rows of A that lie apart, and a long row takes
// long. And where nodes are few, most of the device has nothing to do, while each sub-group waits for one row of B after
// another. With SUB_GROUPS_PER_ROW above 1 so many neighbouring sub-groups share a node: each takes every so many-th of
// its nonzeros, and their sums are added up in local memory, in an order that depends on that number alone.
//
// A row of the paper's is one sub-group's. Here, with PARTS, one of more than PART_NNZ nonzeros is cut into equal parts,
// whose sums `partial` holds and `spmm_row_split_join` adds up. The first groups take parts, a team each. With
// GROUP_A_PART, as on GPUs, one is a group's: its teams take a run of the nonzeros each, and add up in local memory, so
// that a second launch follows only where a row is longer than a group takes. So rows may be long and alike.

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
#define PART_NNZ 256 // most nonzeros of a row that a sub-group takes, or those that share it
#endif
#ifndef SHUFFLES
#define SHUFFLES 0 // items that run in step, and shuffle columns and values; 0: each loads its own
#endif
#ifndef SUB_GROUPS_PER_ROW
#define SUB_GROUPS_PER_ROW 1 // sub-groups that share a node: a power of two; without SHUFFLES
#endif

#include "item/dense.h"
#include "spmm/join.h"
#include "spmm/node.h"
#include "subgroup/broadcast.h"

// With ITEM_A_ROW a sub-group is one item. Compilers then know where its columns and its row are before a row's length
// is, which no processor foresees.
#ifdef ITEM_A_ROW
#define SUB_GROUP_SIZE 1u
#else
#define SUB_GROUP_SIZE sub_group_size
#endif

#if SHUFFLES
#define ITEMS_IN_STEP SHUFFLES
#else
#define ITEMS_IN_STEP GROUP_SIZE
#endif

#include "spmm/sum_over.h"

// What a sub-group takes: an i-node, or a run of the nonzeros of each of its rows.
typedef struct {
    global const uint *columns; // of its first row
    global const value_t *values; // of its first row
    ulong length; // of each row
    uint rows;
    global const dense_t *b; // the item's first column
    uint b_row_bytes;
    item_columns_t mine;
} inode_t;

// An i-node whose rows are long.
typedef struct {
    uint row; // its first
    uint rows;
    uint first_part;
    uint parts; // a team's each, or a group's
} long_node_t;

// Adds NNZ_AT_ONCE nonzeros, `count` of which there are, of each row. What is beyond loads again what came last, and
// its product is left out: loads that a condition guards would not be under way together.
#if SHUFFLES
// Adds `count` nonzeros that the lanes of the sub-group have loaded, from lane `first` on, one each: a column, and a
// value of each row.
void add_nonzeros(reals_t *sums, const inode_t *node, const uint column, const real_t *value,
              const uint first, const uint count, const sub_group_t *sub_group)
{
    reals_t of_b[NNZ_AT_ONCE];
#pragma unroll
    for (uint k = 0; k < NNZ_AT_ONCE; ++k) {
        const uint b_row = broadcast_word(column, first + min(k, count - 1), sub_group);
        of_b[k] = load_dense(node->b, b_row, node->b_row_bytes, node->mine);
    }
#pragma unroll
    for (uint other = 0; other < ROWS_AT_ONCE; ++other) {
#pragma unroll
        for (uint k = 0; k < NNZ_AT_ONCE; ++k) {
            const real_t factor = broadcast_real(value[other], first + min(k, count - 1), sub_group);
            const reals_t sum = fma((reals_t)(factor), of_b[k], sums[other]);
            sums[other] = k < count ? sum : sums[other];
        }
    }
}
#else
// Nonzeros from `at` on, SUB_GROUPS_PER_ROW apart.
void add_nonzeros(reals_t *sums, const inode_t *node, const offset_t at, const uint count)
{
    uint b_rows[NNZ_AT_ONCE];
    reals_t of_b[NNZ_AT_ONCE];
#pragma unroll
    for (uint k = 0; k < NNZ_AT_ONCE; ++k)
        b_rows[k] = node->columns[at + min(k, count - 1) * SUB_GROUPS_PER_ROW];
#pragma unroll
    for (uint k = 0; k < NNZ_AT_ONCE; ++k)
        of_b[k] = load_dense(node->b, b_rows[k], node->b_row_bytes, node->mine);
#pragma unroll
    for (uint other = 0; other < ROWS_AT_ONCE; ++other) {
        const ulong begin = at + min(other, node->rows - 1) * node->length;
#pragma unroll
        for (uint k = 0; k < NNZ_AT_ONCE; ++k) {
            const real_t factor = load_value(node->values, begin + min(k, count - 1) * SUB_GROUPS_PER_ROW);
            const reals_t sum = fma((reals_t)(factor), of_b[k], sums[other]);
            sums[other] = k < count ? sum : sums[other];
        }
    }
}
#endif

// The items of a sub-group are loops over vectors already: a compiler for a CPU need not look for more.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1), vec_type_hint(reals_t)))
kernel void spmm_row_split(const uint nodes,
                           const uint parts,
                           const uint node_groups,
                           const uint part_groups,
                           const uint width,
                           const uint tile_width,
                           const uint sub_group_size,
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

#ifdef HAS_BARRIERS
    local reals_t shared[ROWS_ADDED * GROUP_SIZE];
#endif

    // A team, which is the sub-groups that share a node, lies within items that run in step. Remainders are worked out:
    // Oclgrind cannot follow a quotient together with its remainder.
    const uint item = (uint)get_local_id(0);
    const uint step_set = item / ITEMS_IN_STEP;
    const uint in_step = item - step_set * ITEMS_IN_STEP;
    const uint team_size = SUB_GROUP_SIZE * SUB_GROUPS_PER_ROW;
    const uint teams_in_step = ITEMS_IN_STEP / team_size;
    const uint team_in_step = in_step / team_size;
    const uint in_team = in_step - team_in_step * team_size;
#if SUB_GROUPS_PER_ROW > 1
    const uint share = in_team / SUB_GROUP_SIZE;
    const uint lane = in_team - share * SUB_GROUP_SIZE;
#else
    const uint share = 0;
    const uint lane = in_team;
#endif
    const uint teams = GROUP_SIZE / ITEMS_IN_STEP * teams_in_step;
    const uint team = step_set * teams_in_step + team_in_step;
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
    // Whether the group's teams take one part together.
#ifdef GROUP_A_PART
    const int is_of_group = is_part;
#else
    const int is_of_group = 0;
#endif
    // Parts are numbered, and nodes.
    ulong number = is_of_group ? group : (ulong)(is_part ? group : group - part_groups) * teams + team;
    int has_rows = team_in_step < teams_in_step && (is_of_group || number < (is_part ? parts : nodes));
#ifdef HAS_BARRIERS
    // Items that have none reach the barriers, too. Intel's compiler for CPU devices, after items had left, took loads from
    // an address that a group shares (`part_nodes[number]`) out of the condition that they stand under; without barriers
    // `number` is a team's, and the address is not the group's.
    number = is_of_group || has_rows ? number : 0;
#else
    if (!has_rows)
        return;
#endif
    // Items without columns of their own load others': their sub-group may shuffle nonzeros from them.
    const item_columns_t mine = item_columns(lane, tile, tile_width, width);
#ifdef COLUMNS_IN_HALVES
    has_rows = has_rows && mine.count > 0;
#endif

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
        const offset_t of_part = (offset_t)(number - cut.first_part) * most;
        const offset_t count = min(most, row_length - of_part);
        const offset_t run = is_of_group ? (count - 1) / teams + 1 : count;
        const offset_t before = is_of_group ? min(team * run, count) : 0;
        first = of_part + before;
        length = min(run, count - before);
    } else if (row_length > PART_NNZ) {
        has_rows = 0;
    }
#endif
#ifndef HAS_BARRIERS
    if (!has_rows)
        return;
#endif
    length = has_rows ? length : 0;
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
    const sub_group_t told = sub_group_of(in_step - lane, sub_group_size);
    for (offset_t left = length; left > 0;) {
        const uint count = left < sub_group_size ? (uint)left : sub_group_size;
        const offset_t index = length - left + min(lane, count - 1);
        const uint b_row = inode.columns[index];
        real_t value[ROWS_AT_ONCE];
#pragma unroll
        for (uint other = 0; other < ROWS_AT_ONCE; ++other)
            value[other] = load_value(inode.values, index + min(other, rows - 1) * inode.length);
        const uint whole = count - count % NNZ_AT_ONCE;
        for (uint at = 0; at < whole; at += NNZ_AT_ONCE)
            add_nonzeros(sums, &inode, b_row, value, at, NNZ_AT_ONCE, &told);
        if (whole < count)
            add_nonzeros(sums, &inode, b_row, value, whole, count - whole, &told);
        left -= count;
    }
#else
    const offset_t mine_of_row = (length + (SUB_GROUPS_PER_ROW - 1 - share)) / SUB_GROUPS_PER_ROW;
    const offset_t whole = mine_of_row - mine_of_row % NNZ_AT_ONCE;
    for (offset_t at = 0; at < whole; at += NNZ_AT_ONCE)
        add_nonzeros(sums, &inode, share + at * SUB_GROUPS_PER_ROW, NNZ_AT_ONCE);
    if (whole < mine_of_row)
        add_nonzeros(sums, &inode, share + whole * SUB_GROUPS_PER_ROW, (uint)(mine_of_row - whole));
#endif
#if SUB_GROUPS_PER_ROW > 1
    sum_over(sums, shared, share, SUB_GROUPS_PER_ROW, item, SUB_GROUP_SIZE, team_in_step < teams_in_step);
    has_rows = has_rows && share == 0;
#endif
#ifdef GROUP_A_PART
    if (is_of_group) {
#pragma unroll
        for (uint other = 0; other < ROWS_AT_ONCE; other += ROWS_ADDED) {
            // What was added up from before is read.
            barrier(CLK_LOCAL_MEM_FENCE);
            sum_over(sums + other, shared, team, teams, team * SUB_GROUP_SIZE + lane, SUB_GROUP_SIZE, has_rows);
        }
        has_rows = has_rows && team == 0;
    }
#endif
#pragma unroll
    for (uint other = 0; other < ROWS_AT_ONCE; ++other) {
        if (!has_rows || mine.count == 0 || other >= rows)
            continue;
#ifdef PARTS
        if (is_part && cut.parts > 1) {
            store_sums(partial, number * ROWS_AT_ONCE + other, width, sums[other], mine);
            continue;
        }
#endif
        store_dense(dense_pointer(c, c_leading, row + other, mine), c_leading, alpha, sums[other], beta, mine);
    }
}

// Adds up the rows that are cut, a group each, in an order that depends on the number of parts alone.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void spmm_row_split_join(const uint cut_nodes,
                                const uint width,
                                const uint tile_width,
                                const uint sub_group_size,
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
    const uint sub_groups = GROUP_SIZE / sub_group_size;
    const uint sub_group = (uint)get_local_id(0) / sub_group_size;
    const uint lane = (uint)get_local_id(0) - sub_group * sub_group_size;
    const item_columns_t mine = item_columns(lane, tile, tile_width, width);
    const int has_columns = sub_group < sub_groups && mine.count > 0 && other < cut.rows;
    reals_t sum = 0;
    for (uint part = sub_group; has_columns && part < cut.parts; part += sub_groups * PARTS_AT_ONCE) {
        reals_t sums_of[PARTS_AT_ONCE];
#pragma unroll
        for (uint k = 0; k < PARTS_AT_ONCE; ++k) {
            const ulong number = (ulong)cut.first_part + min(part + k * sub_groups, cut.parts - 1);
            sums_of[k] = load_sums(partial, number * ROWS_AT_ONCE + other, width, mine);
        }
#pragma unroll
        for (uint k = 0; k < PARTS_AT_ONCE; ++k)
            sum = part + k * sub_groups < cut.parts ? sum + sums_of[k] : sum;
    }
    sum = sum_over_sub_groups(sum, sums, sub_group_size, sub_groups, has_columns);
    if (has_columns && sub_group == 0)
        store_dense(dense_pointer(c, c_leading, (ulong)cut.row + other, mine), c_leading, alpha, sum, beta, mine);
}
