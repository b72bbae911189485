// What the row split of spmm_row_split.cl wants to know of a pattern: how even its rows are, which of them have the
// columns of the row before, which are to be cut, and neighbours in order of length. Nodes are those of node.h.

#ifndef GROUP_SIZE
#define GROUP_SIZE 256 // items of a work-group
#endif

#include "spmm/node.h"

#define WORDS_AT_ONCE 4 // columns of a row that an item compares at a time
#define NODES_IN_STEP 4 // nodes whose sub-groups run in step, and wait for the longest of them

// Nonzeros of each row of node `number`; `has_list` says whether there is a list of nodes.
ulong node_length(global const offset_t *restrict offsets, global const uint *restrict node_list, const uint has_list,
                  const ulong number)
{
    const ulong row = has_list ? node_row(node_list[number]) : number;
    return (ulong)offsets[row + 1] - offsets[row];
}

// Adds a number to two words in local memory.
void add_wide_local(local uint *sum, const ulong value)
{
    const uint low = (uint)value;
    const uint before = atomic_add(sum, low);
    atomic_add(sum + 1, (uint)(value >> 32) + (before + low < before));
}

void add_wide(global uint *sum, local const uint *value)
{
    const uint before = atomic_add(sum, value[0]);
    atomic_add(sum + 1, value[1] + (before + value[0] < before));
}

// Adds to `counts`, a number of two words each: nonzeros of one row of every node that is not cut; and what nodes cost
// that wait for each other: the longest of each NODES_IN_STEP, as often as they are nodes.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void count_iterations(const uint nodes,
                        const uint has_list,
                        const uint part_nnz,
                        ARRAY_PARAMETER(const uint, node_list),
                        ARRAY_PARAMETER(const offset_t, offsets),
                        ARRAY_PARAMETER(uint, counts))
{
    OPEN_ARRAY(const uint, node_list);
    OPEN_ARRAY(const offset_t, offsets);
    OPEN_ARRAY(uint, counts);
    local uint of_group[4];
    for (uint word = (uint)get_local_id(0); word < 4; word += GROUP_SIZE)
        of_group[word] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    ulong nonzeros = 0;
    ulong iterations = 0;
    for (ulong node = get_global_id(0) * NODES_IN_STEP; node < nodes;
         node += get_global_size(0) * NODES_IN_STEP) {
        const ulong beyond = min(node + NODES_IN_STEP, (ulong)nodes);
        ulong longest = 0;
        for (ulong other = node; other < beyond; ++other) {
            const ulong length = node_length(offsets, node_list, has_list, other);
            if (length <= part_nnz) {
                nonzeros += length;
                longest = max(longest, length);
            }
        }
        iterations += longest * (beyond - node);
    }
    add_wide_local(of_group, nonzeros);
    add_wide_local(of_group + 2, iterations);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        add_wide(counts, of_group);
        add_wide(counts + 2, of_group + 2);
    }
}

// A list of the nodes in which those of each group are ordered by length, the longest first: sub-groups that run in
// step then take about as long, and nodes stay near those whose rows of B are near.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void order_nodes(const uint nodes,
                        const uint has_list,
                        ARRAY_PARAMETER(const uint, node_list),
                        ARRAY_PARAMETER(const offset_t, offsets),
                        ARRAY_PARAMETER(uint, ordered))
{
    OPEN_ARRAY(const uint, node_list);
    OPEN_ARRAY(const offset_t, offsets);
    OPEN_ARRAY(uint, ordered);
    local ulong lengths[GROUP_SIZE];
    const uint item = (uint)get_local_id(0);
    const ulong first = (ulong)get_group_id(0) * GROUP_SIZE;
    const uint count = (uint)min(nodes - first, (ulong)GROUP_SIZE);
    const ulong node = first + min(item, count - 1);
    const ulong length = node_length(offsets, node_list, has_list, node);
    lengths[item] = length;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint rank = 0;
    for (uint other = 0; other < count; ++other)
        rank += lengths[other] > length || (lengths[other] == length && other < item);
    if (item < count)
        ordered[first + rank] = has_list ? node_list[node] : (uint)node << NODE_BITS;
}

// Sets bit `row` of `alike`, which is 0 before, where the row has the columns of the one before, in the same order:
// `row_items` items compare a row each with its neighbour, WORDS_AT_ONCE columns an item at a time.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void find_alike_rows(const uint rows,
                            const uint row_items,
                            ARRAY_PARAMETER(const offset_t, offsets),
                            ARRAY_PARAMETER(const uint, columns),
                            ARRAY_PARAMETER(uint, alike))
{
    OPEN_ARRAY(const offset_t, offsets);
    OPEN_ARRAY(const uint, columns);
    OPEN_ARRAY(uint, alike);
    local uint differs[GROUP_SIZE];
    const uint item = (uint)get_local_id(0);
    const uint in_group = item / row_items;
    const uint in_row = item - in_group * row_items;
    const ulong row = get_group_id(0) * (ulong)(GROUP_SIZE / row_items) + in_group;
    differs[item] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (row > 0 && row < rows) {
        const ulong before = offsets[row - 1];
        const ulong begin = offsets[row];
        const ulong length = offsets[row + 1] - begin;
        uint difference = begin - before != length;
        for (ulong at = in_row; !difference && at < length; at += row_items * WORDS_AT_ONCE) {
#pragma unroll
            for (uint k = 0; k < WORDS_AT_ONCE; ++k) {
                const ulong entry = min(at + k * row_items, length - 1);
                difference |= columns[before + entry] ^ columns[begin + entry];
            }
        }
        if (difference)
            atomic_or(differs + in_group, 1u);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (in_row == 0 && row > 0 && row < rows && !differs[in_group])
        atomic_or(alike + row / 32, 1u << row % 32);
}

// Lists the rows of more than `part_nnz` nonzeros, each with the number of parts of at most so many: `count` pairs, in any
// order.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void find_long_rows(const uint rows,
                           const uint part_nnz,
                           ARRAY_PARAMETER(const offset_t, offsets),
                           ARRAY_PARAMETER(uint, found),
                           ARRAY_PARAMETER(uint, count))
{
    OPEN_ARRAY(const offset_t, offsets);
    OPEN_ARRAY(uint, found);
    OPEN_ARRAY(uint, count);
    const ulong row = get_global_id(0);
    if (row >= rows)
        return;
    const ulong length = offsets[row + 1] - offsets[row];
    if (length > part_nnz) {
        const ulong slot = atomic_inc(count);
        found[2 * slot] = (uint)row;
        found[2 * slot + 1] = (uint)((length - 1) / part_nnz + 1);
    }
}
