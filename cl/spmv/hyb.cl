// HYB: ELL for what most rows have, entries (COO) for the rest (Bell and Garland, 2009); also ELL alone and COO alone.
//
// ELL: every row has `width` slots, those of neighbouring rows side by side, `pitch` slots from one to the next of a row.
// A slot whose column is PADDING has no entry and is not multiplied. An item takes a row, in the order of its slots.
//
// The rest: entries with a row each, in the order of their rows. A group takes a tile of them, products first, in the order
// in which they lie; then an item sums NNZ_PER_ITEM neighbouring ones, row by row. A row belongs to the item in which it
// begins, which adds what the items after it have; what a group has of a row that began in a group before is its head, and
// hyb_carry adds heads in the order of groups. So sums do not depend on who is first, and no atomics are needed.
//
// Three kernels, one after another: hyb_entries leaves the rest's sums, a word a row; hyb_carry completes those that groups
// share; hyb adds its own and stores y once. Words of rows without a rest are 0 from the beginning, the others are written
// anew by each launch. Without a rest hyb alone runs.
//
// Local memory (hyb_entries): a row and a sum an entry of the tile, a sum an item.

#ifndef GROUP_SIZE
#define GROUP_SIZE 256 // items of a work-group
#endif
#ifndef NNZ_PER_ITEM
#define NNZ_PER_ITEM 8 // entries of the rest that an item sums
#endif

#include "item/accumulate.h"

#define PADDING 0xffffffffu
#define NO_ROW 0xffffffffu
#define TILE (GROUP_SIZE * NNZ_PER_ITEM)

// What hyb_entries leaves, one after another in the workspace.
typedef struct {
    global acc_t *sums; // one a row; 0 where the rest has nothing of it
    global acc_t *heads; // one a group
    global uint *head_rows; // the row that each head belongs to, or NO_ROW
} rest_sums_t;

rest_sums_t rest_sums(global uint *scratch, const uint rows, const uint groups)
{
    rest_sums_t rest;
    rest.sums = (global acc_t *)scratch;
    rest.heads = rest.sums + rows;
    rest.head_rows = (global uint *)(rest.heads + groups);
    return rest;
}

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void hyb(const uint rows,
                const uint width,
                const ulong pitch,
                ARRAY_PARAMETER(const uint, columns),
                ARRAY_PARAMETER(const value_t, values),
                ARRAY_PARAMETER(const real_t, x),
                ARRAY_PARAMETER(real_t, y),
                SCALAR_PARAMETER(alpha),
                SCALAR_PARAMETER(beta),
                ARRAY_PARAMETER(uint, scratch))
{
    OPEN_ARRAY(const uint, columns);
    OPEN_ARRAY(const value_t, values);
    OPEN_ARRAY(const real_t, x);
    OPEN_ARRAY(real_t, y);
    OPEN_SCALAR(alpha);
    OPEN_SCALAR(beta);
    OPEN_ARRAY(uint, scratch);
    const ulong row = get_global_id(0);
    if (row >= rows)
        return;
    acc_t sum = acc_zero();
    for (uint slot = 0; slot < width; ++slot) {
        const ulong at = slot * pitch + row;
        const uint column = load_column(columns, at);
        if (column != PADDING)
            sum = acc_mad(sum, load_value(values, at), gather_x(x, column));
    }
#ifdef REST
    sum = acc_add(sum, ((global const acc_t *)scratch)[row]);
#else
    (void)scratch;
#endif
    store_result(y, row, alpha, sum, beta);
}

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void hyb_entries(const ulong nnz,
                        const uint rows,
                        const uint groups,
                        ARRAY_PARAMETER(const uint, row_indices),
                        ARRAY_PARAMETER(const uint, columns),
                        ARRAY_PARAMETER(const value_t, values),
                        ARRAY_PARAMETER(const real_t, x),
                        ARRAY_PARAMETER(uint, scratch))
{
    OPEN_ARRAY(const uint, row_indices);
    OPEN_ARRAY(const uint, columns);
    OPEN_ARRAY(const value_t, values);
    OPEN_ARRAY(const real_t, x);
    OPEN_ARRAY(uint, scratch);
    const rest_sums_t rest = rest_sums(scratch, rows, groups);
    local uint its_rows[TILE];
    local acc_t products[TILE];
    local acc_t heads[GROUP_SIZE];

    const uint item = (uint)get_local_id(0);
    const uint group = (uint)get_group_id(0);
    const ulong begin = (ulong)group * TILE;
    const uint count = (uint)min(nnz - begin, (ulong)TILE);
    for (uint at = item; at < count; at += GROUP_SIZE) {
        its_rows[at] = row_indices[begin + at];
        products[at] = acc_product(load_value(values, begin + at), load_x(x, columns, begin + at));
    }
    const uint row_before = begin > 0 ? row_indices[begin - 1] : NO_ROW;
    barrier(CLK_LOCAL_MEM_FENCE);

    // What continues from the item before, that item's row or one of an earlier item.
    const uint first = min(item * NNZ_PER_ITEM, count);
    const uint last = min(first + NNZ_PER_ITEM, count);
    uint at = first;
    acc_t head = acc_zero();
    if (first > 0 && first < last)
        for (const uint row = its_rows[first - 1]; at < last && its_rows[at] == row; ++at)
            head = acc_add(head, products[at]);
    heads[item] = head;
    barrier(CLK_LOCAL_MEM_FENCE);

    while (at < last) {
        const uint start = at;
        const uint row = its_rows[at];
        acc_t sum = products[at++];
        for (; at < last && its_rows[at] == row; ++at)
            sum = acc_add(sum, products[at]);
        // The items after it that begin with its row.
        if (at == last)
            for (uint next = last; next < count && its_rows[next] == row; next += NNZ_PER_ITEM)
                sum = acc_add(sum, heads[next / NNZ_PER_ITEM]);
        if (start > 0 || row != row_before)
            rest.sums[row] = sum;
        else
            rest.heads[group] = sum;
    }
    if (item == 0)
        rest.head_rows[group] = its_rows[0] == row_before ? row_before : NO_ROW;
}

// An item a group: where a row's first head is its own, it adds all of them to the row's sum.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void hyb_carry(const uint rows,
                      const uint groups,
                      ARRAY_PARAMETER(uint, scratch))
{
    OPEN_ARRAY(uint, scratch);
    const rest_sums_t rest = rest_sums(scratch, rows, groups);
    const uint first = (uint)get_global_id(0);
    const uint row = first < groups ? rest.head_rows[first] : NO_ROW;
    if (row == NO_ROW || (first > 0 && rest.head_rows[first - 1] == row))
        return;
    acc_t sum = rest.sums[row];
    for (uint group = first; group < groups && rest.head_rows[group] == row; ++group)
        sum = acc_add(sum, rest.heads[group]);
    rest.sums[row] = sum;
}
