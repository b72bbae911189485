// SpMM by whole rows: C = alpha A B + beta C, a bunch of items a row (the row split of Yang, Buluc, Owens, "Design
// principles for sparse matrix multiplication on the GPU", 2018).
//
// The items of a bunch stand side by side along a row of C, VECTOR_WIDTH columns each, and walk together along the
// row of A: each nonzero names a row of B, of which they load their columns side by side. NNZ_AT_ONCE rows of B are
// under way at a time. What has more columns than a bunch reaches is cut into tiles of equally many, which groups
// take one after the other; a bunch is as many items as a tile needs, so none stand idle.
//
// The paper's items load 32 nonzeros and tell each other by shuffles. Here every item of a bunch loads each column
// and value itself, from one address, which the device carries out once: for single rows that was faster on the H200,
// and it needs no device that has shuffles.
//
// With ROWS_AT_ONCE above 1 a bunch takes an i-node: up to as many neighbouring rows that have the same columns, as
// the unknowns of a mesh node do. Their rows of B are loaded once for all of them, and so are their columns. A column
// then goes with several values, and SHUFFLES pay there.
//
// A row is never cut between groups; one long row holds its bunch for as long as it is.

#ifndef GROUP_SIZE
#define GROUP_SIZE 128 // items of a work-group
#endif
#ifndef VECTOR_WIDTH
#define VECTOR_WIDTH 4 // columns an item takes at once: 1, 2, 4, 8 or 16
#endif
#ifndef NNZ_AT_ONCE
#define NNZ_AT_ONCE 4 // rows of B under way at a time
#endif
#ifndef ROWS_AT_ONCE
#define ROWS_AT_ONCE 1 // most rows of an i-node
#endif
#ifndef SHUFFLES
#define SHUFFLES 0 // 1: items of a bunch tell each other columns and values; their number is a power of two
#endif

#include "item/dense.h"
#include "subgroup/broadcast.h"

#if SHUFFLES && defined(HAS_BROADCAST)
#define USES_BROADCAST
#endif

// An i-node on its way through a bunch.
typedef struct {
    global const uint *columns; // of its first row
    global const value_t *values; // of its first row
    ulong length; // of each row
    uint rows;
    global const dense_t *b; // the item's columns
    uint b_row_bytes;
} inode_t;

// Adds NNZ_AT_ONCE nonzeros, `count` of which there are, of each row. What is beyond loads again what came last, and
// its product is left out: loads that a condition guards would not be under way together.
#ifdef USES_BROADCAST
// Place `k` of what each item of the bunch has loaded: a column, and a value of each row.
void add_step(reals_t *sums, const inode_t *node, const uint column, const real_t *value,
              const uint first, const uint count, const uint bunch_size, const uint members)
{
    reals_t of_b[NNZ_AT_ONCE];
#pragma unroll
    for (uint k = 0; k < NNZ_AT_ONCE; ++k) {
        const uint b_row = broadcast_word(column, first + min(k, count - 1), bunch_size, members);
        of_b[k] = load_dense(node->b, b_row, node->b_row_bytes);
    }
#pragma unroll
    for (uint other = 0; other < ROWS_AT_ONCE; ++other) {
#pragma unroll
        for (uint k = 0; k < NNZ_AT_ONCE; ++k) {
            const real_t factor =
                broadcast_real(value[other], first + min(k, count - 1), bunch_size, members);
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
        of_b[k] = load_dense(node->b, b_rows[k], node->b_row_bytes);
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
                           const uint width,
                           const uint tile_width,
                           const uint bunch_size,
                           ARRAY_PARAMETER(const uint, node_rows),
                           ARRAY_PARAMETER(const offset_t, offsets),
                           ARRAY_PARAMETER(const uint, columns),
                           ARRAY_PARAMETER(const value_t, values),
                           ARRAY_PARAMETER(const dense_t, b),
                           const uint b_row_bytes,
                           ARRAY_PARAMETER(real_t, c),
                           const ulong c_leading,
                           SCALAR_PARAMETER(alpha),
                           SCALAR_PARAMETER(beta))
{
    OPEN_ARRAY(const uint, node_rows);
    OPEN_ARRAY(const offset_t, offsets);
    OPEN_ARRAY(const uint, columns);
    OPEN_ARRAY(const value_t, values);
    OPEN_ARRAY(const dense_t, b);
    OPEN_ARRAY(real_t, c);
    OPEN_SCALAR(alpha);
    OPEN_SCALAR(beta);

    const uint bunches = GROUP_SIZE / bunch_size;
    // Remainders are worked out: Oclgrind cannot follow a quotient together with its remainder.
    const uint bunch = (uint)get_local_id(0) / bunch_size;
    const uint in_bunch = (uint)get_local_id(0) - bunch * bunch_size;
    const uint groups_per_tile = (nodes - 1) / bunches + 1;
    const uint tile = (uint)get_group_id(0) / groups_per_tile;
    const uint group = (uint)get_group_id(0) - tile * groups_per_tile;
    const ulong node = (ulong)group * bunches + bunch;
    const uint in_tile = in_bunch * VECTOR_WIDTH;
    if (bunch >= bunches || node >= nodes)
        return;
    // Items without columns of their own load others': their bunch may want to hear of nonzeros from them.
    const ulong its_column = (ulong)tile * tile_width + in_tile;
    const int has_columns = in_tile < tile_width && its_column < width;
    const ulong column = has_columns ? its_column : 0;

#if ROWS_AT_ONCE > 1
    const ulong row = node_rows[node];
    const uint rows = (uint)(node_rows[node + 1] - row);
#else
    const ulong row = node;
    const uint rows = 1;
#endif
    const offset_t begin = offsets[row];
    const offset_t length = offsets[row + 1] - begin;
    inode_t inode;
    inode.columns = columns + begin;
    inode.values = values + begin;
    inode.length = length;
    inode.rows = rows;
    inode.b = b + column;
    inode.b_row_bytes = b_row_bytes;
    reals_t sums[ROWS_AT_ONCE];
#pragma unroll
    for (uint other = 0; other < ROWS_AT_ONCE; ++other)
        sums[other] = 0;

#ifdef USES_BROADCAST
    const uint members = bunch_members(bunch_size);
    for (offset_t left = length; left > 0;) {
        const uint count = left < bunch_size ? (uint)left : bunch_size;
        const offset_t mine = length - left + min(in_bunch, count - 1);
        const uint b_row = inode.columns[mine];
        real_t value[ROWS_AT_ONCE];
#pragma unroll
        for (uint other = 0; other < ROWS_AT_ONCE; ++other)
            value[other] = load_value(inode.values, mine + min(other, rows - 1) * inode.length);
        const uint whole = count - count % NNZ_AT_ONCE;
        for (uint first = 0; first < whole; first += NNZ_AT_ONCE)
            add_step(sums, &inode, b_row, value, first, NNZ_AT_ONCE, bunch_size, members);
        if (whole < count)
            add_step(sums, &inode, b_row, value, whole, count - whole, bunch_size, members);
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
        if (has_columns && other < rows)
            store_dense(dense_place(c, c_leading, row + other, column), c_leading, alpha, sums[other], beta);
    }
}
