// CSR-Adaptive: one work-group a row block, and in each block the way of summing that suits its rows
// (Daga and Greathouse, "Structural Agnostic SpMV", HiPC 2015, section III).
//
// The plan (csr-core, plan/csr_adaptive.rs) cuts the rows into blocks of at most NNZ_PER_WG nonzeros
// and writes one 64-bit entry a block: first row (upper 32 bits), flag (bit 31), group (lower 31 bits).
// A group reads its own entry and the next, and takes one of three ways:
//
//   CSR-Stream   many short rows: the group streams all products of the block into local memory, side
//                by side whatever the row lengths, then reduces row by row. `group` holds the log2 of
//                the items each row gets for that: 0 is the scalar reduction (one item loops over a row),
//                more the logarithmic one (Figure 3), without the divisions of the published code.
//   CSR-Vector   one row that fills a block: all items on it; or a few rows, fewer than
//                num_rows_stream: each has an equal part of the items.
//   CSR-VectorL  a row above NNZ_MULTIPLIER x NNZ_PER_WG: as many groups as it has shares of that
//                length. `group` is the share. Entries of one row follow each other.
//
// How the shares of a VectorL row come together:
//   carry (default)  each group publishes its sum; the last to arrive adds all shares in their order
//                    and stores y. No group waits, and the result has the same bits every time.
//   SPIN             as published (Figure 7): the first group initialises y, the others spin on its
//                    flag, all add with float atomics. Only where groups of a launch are known to make
//                    progress while others wait; the order of additions, so the last bits, may differ.
//
// Local memory: NNZ_PER_WG products (at least GROUP_SIZE) and one word.

#ifndef GROUP_SIZE
#define GROUP_SIZE 256 // items of a work-group
#endif
#ifndef NNZ_PER_WG
#define NNZ_PER_WG 1024 // nonzeros of a Stream block: a multiple of GROUP_SIZE
#endif
#ifndef NUM_ROWS_STREAM
#define NUM_ROWS_STREAM 2 // the fewest rows that take Stream: 2 or more
#endif
#ifndef NNZ_MULTIPLIER
#define NNZ_MULTIPLIER 3 // NNZ_PER_WG times this is the share of a VectorL group
#endif

#include "group/carry.h"
#include "group/reduce.h"

#define SHARE ((ulong)NNZ_MULTIPLIER * NNZ_PER_WG)

// The products of nonzeros [first, first + nnz) side by side into local memory. The iteration count is fixed,
// so that the loads of all iterations can be in flight.
void stream_products(global const uint *restrict columns, global const value_t *restrict values,
                     global const real_t *restrict x, const ulong first, const uint nnz,
                     local acc_t *products)
{
    for (uint iteration = 0; iteration < NNZ_PER_WG / GROUP_SIZE; ++iteration) {
        const uint at = iteration * GROUP_SIZE + (uint)get_local_id(0);
        if (at < nnz)
            products[at] = acc_product(load_value(values, first + at),
                                       load_x(x, columns, first + at));
    }
}

// Every `stride`-th of the products [first, last).
acc_t stream_sum(local const acc_t *products, const uint first, const uint last, const uint stride)
{
    acc_t sum = acc_zero();
    for (uint at = first; at < last; at += stride)
        sum = acc_add(sum, products[at]);
    return sum;
}

// This item's part of the dot product of nonzeros [first, last), which `width` items take in round-robin order.
// Unrolling this loop by hand, or for a constant width next to a variable one, was tried on an H200: the
// registers it takes cost the short rows more occupancy than the long rows gain (f64: 0.97 and 0.87).
acc_t item_dot(global const uint *restrict columns, global const value_t *restrict values,
               global const real_t *restrict x, const ulong first, const ulong last,
               const uint width)
{
    acc_t sum = acc_zero();
    for (ulong at = first + (get_local_id(0) & (width - 1)); at < last; at += width)
        sum = acc_mad(sum, load_value(values, at), load_x(x, columns, at));
    return sum;
}

#ifdef SPIN
#include "item/atomic.h"

// Figure 7: returns, in item 0, once y[row] holds beta y[row]. Flags live in the workspace and
// alternate between launches, so nothing is cleared.
void spin_until_initialised(volatile global uint *flags, const ulong block, const uint share,
                            global real_t *y, const uint row, const real_t beta)
{
    const uint waits_on = atomic_or(flags + block, 0u);
    if (share == 0) {
        real_t start = 0;
        if (beta != 0)
            start = beta * y[row];
        // Written by an atomic, since the others will change it by atomics.
#ifdef VALUE_F64
        atom_xchg((volatile global ulong *)(y + row), as_ulong(start));
#else
        atomic_xchg((volatile global uint *)(y + row), as_uint(start));
#endif
        DEVICE_FENCE();
        atomic_xor(flags + block, 1u);
    } else {
        while (atomic_or(flags + block - share, 0u) == waits_on)
            ;
        atomic_xor(flags + block, 1u);
    }
}
#endif

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void csr_adaptive(ARRAY_PARAMETER(const ulong, row_blocks),
                         ARRAY_PARAMETER(const offset_t, offsets),
                         ARRAY_PARAMETER(const uint, columns),
                         ARRAY_PARAMETER(const value_t, values),
                         ARRAY_PARAMETER(const real_t, x),
                         ARRAY_PARAMETER(real_t, y),
                         SCALAR_PARAMETER(alpha),
                         SCALAR_PARAMETER(beta),
                         const uint zero,
                         ARRAY_PARAMETER(uint, counters),
                         ARRAY_PARAMETER(uint, carries))
{
    OPEN_ARRAY(const ulong, row_blocks);
    OPEN_ARRAY(const offset_t, offsets);
    OPEN_ARRAY(const uint, columns);
    OPEN_ARRAY(const value_t, values);
    OPEN_ARRAY(const real_t, x);
    OPEN_ARRAY(real_t, y);
    OPEN_SCALAR(alpha);
    OPEN_SCALAR(beta);
    local acc_t products[NNZ_PER_WG];
    local int is_last_local[1];

    const uint item = (uint)get_local_id(0);
    const ulong block = get_group_id(0);
    const ulong entry = row_blocks[block];
    const uint row = (uint)(entry >> 32);
    const uint group = (uint)entry & 0x7fffffffu;
    const uint rows = (uint)(row_blocks[block + 1] >> 32) - row;
    const ulong first = offsets[row];
    const int is_stream = rows >= NUM_ROWS_STREAM;
    const int is_share = !is_stream && (rows == 0 || group != 0);

    // Each way ends with a sum an item, of `width` neighbouring items a row. Barriers stand outside the
    // branches, where every implementation can follow them (PoCL 3.1 miscompiles them inside).
    acc_t sum = acc_zero();
    uint width = GROUP_SIZE;
    ulong my_row = row;
    ulong row_end = (ulong)row + 1;
    if (is_stream) {
        row_end = (ulong)row + rows;
        stream_products(columns, values, x, first, (uint)(offsets[row_end] - first), products);
    } else {
        ulong begin = first;
        ulong last = offsets[row_end];
        if (is_share) {
            begin = first + group * SHARE;
            last = min(begin + SHARE, last);
        } else if (rows > 1) {
            // Too few rows for Stream: each has an equal part of the group.
            row_end = (ulong)row + rows;
            width = GROUP_SIZE >> (32 - clz(rows - 1));
            my_row = row + item / width;
            begin = my_row < row_end ? offsets[my_row] : 0;
            last = my_row < row_end ? offsets[my_row + 1] : 0;
        }
        sum = item_dot(columns, values, x, begin, last, width);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (is_stream && group == 0) {
        // The scalar reduction: an item loops over a row, and a block may have more rows than items.
        for (my_row = row + item; my_row < row_end; my_row += GROUP_SIZE) {
            sum = stream_sum(products, (uint)(offsets[my_row] - first),
                             (uint)(offsets[my_row + 1] - first), 1);
            store_result(y, my_row, alpha, sum, beta);
        }
        width = 1;
    } else if (is_stream) {
        // The logarithmic reduction: rows x width fits the group.
        width = 1u << group;
        my_row = row + (item >> group);
        if (my_row < row_end)
            sum = stream_sum(products,
                             (uint)(offsets[my_row] - first) + (item & (width - 1)),
                             (uint)(offsets[my_row + 1] - first), width);
    }
    sum = group_reduce_runs(sum, products, width);
    if (!is_share && my_row < row_end && (item & (width - 1)) == 0)
        store_result(y, my_row, alpha, sum, beta);

    if (!is_share)
        return;
#ifdef SPIN
    if (item == 0) {
        spin_until_initialised(counters_buffer + counters_start, block, group, y, row, beta);
        atomic_add_real(y, row, alpha * sum);
    }
    (void)zero;
    (void)carries_buffer;
    (void)carries_start;
    (void)is_last_local;
#else
    volatile global uint *counters = counters_buffer + counters_start;
    volatile global uint *carries = carries_buffer + carries_start;
    const ulong row_block = block - group;
    const uint shares = (uint)((offsets[row_end] - first + SHARE - 1) / SHARE);
    if (item == 0) {
        const uint proof = carry_publish(carries, block, sum);
        is_last_local[0] = arrives_last(counters + row_block, shares, proof, zero);
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (!is_last_local[0])
        return;
    sum = acc_zero();
    for (uint share = item; share < shares; share += GROUP_SIZE)
        sum = acc_add(sum, carry_read(carries, row_block + share));
    sum = group_reduce(sum, products);
    if (item == 0)
        store_result(y, row, alpha, sum, beta);
#endif
}
