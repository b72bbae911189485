// Makes EVC-HYB from CSR where CSR lies: keys for the sort (`format/sort.cl`), how many rows are how long, where long
// rows begin, and the elements in order.
//
// A key is a row's length above the column of its first nonzero: rows of one length come in order of where they read x.
// The host reads back how many rows are shorter than each of some lengths, and how many elements long rows have;
// strips and tasks follow from those (`csr_core::plan::evc_hyb`).

#ifndef GROUP_SIZE
#define GROUP_SIZE 128 // items of a work-group: a power of two
#endif

#include "item/scalar.h"
#include "group/scan.h"
#include "spmv/evc_hyb_task.h"

// The key of each row, and the rows in their own order.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void make_keys(const uint row_count,
                      const uint column_bits,
                      ARRAY_PARAMETER(const offset_t, offsets),
                      ARRAY_PARAMETER(const uint, columns),
                      ARRAY_PARAMETER(ulong, keys),
                      ARRAY_PARAMETER(uint, rows))
{
    OPEN_ARRAY(const offset_t, offsets);
    OPEN_ARRAY(const uint, columns);
    OPEN_ARRAY(ulong, keys);
    OPEN_ARRAY(uint, rows);
    const size_t row = get_global_id(0);
    if (row >= row_count)
        return;
    const offset_t first = offsets[row];
    const ulong length = offsets[row + 1] - first;
    keys[row] = length << column_bits | (length > 0 ? load_column(columns, first) : 0);
    rows[row] = (uint)row;
}

// The first of `count` ascending keys that is of a row of at least `length` nonzeros; `count` if none is.
uint first_of_length(global const ulong *restrict keys, const uint count, const uint column_bits, const ulong length)
{
    uint first = 0;
    uint beyond = count;
    while (first < beyond) {
        const uint middle = first + (beyond - first) / 2;
        if (keys[middle] >> column_bits < length)
            first = middle + 1;
        else
            beyond = middle;
    }
    return first;
}

// Rows that are shorter than each of `boundary_count` lengths, and in two more words, the elements of rows from
// `split` on, each row a multiple of `alignment`; `split` is the multiple of it that shorter rows than `long_length`
// fill. One group.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void count_rows(const uint row_count,
                       const uint column_bits,
                       const uint long_length,
                       const uint alignment,
                       const uint boundary_count,
                       ARRAY_PARAMETER(const uint, boundaries),
                       ARRAY_PARAMETER(const ulong, keys),
                       ARRAY_PARAMETER(uint, counts))
{
    OPEN_ARRAY(const uint, boundaries);
    OPEN_ARRAY(const ulong, keys);
    OPEN_ARRAY(uint, counts);
    local ulong scratch[GROUP_SIZE];
    const uint item = (uint)get_local_id(0);
    for (uint boundary = item; boundary < boundary_count; boundary += GROUP_SIZE)
        counts[boundary] = first_of_length(keys, row_count, column_bits, boundaries[boundary]);
    const uint split = first_of_length(keys, row_count, column_bits, long_length) / alignment * alignment;
    ulong sum = 0;
    for (ulong index = (ulong)split + item; index < row_count; index += GROUP_SIZE)
        sum += ((keys[index] >> column_bits) + alignment - 1) / alignment * alignment;
    ulong total;
    group_scan_exclusive(sum, scratch, &total);
    if (item == 0) {
        counts[boundary_count] = (uint)total;
        counts[boundary_count + 1] = (uint)(total >> 32);
    }
}

// The length of each row, in the order of lengths.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void ordered_lengths(const uint row_count,
                          const uint column_bits,
                          ARRAY_PARAMETER(const ulong, keys),
                          ARRAY_PARAMETER(uint, row_lengths))
{
    OPEN_ARRAY(const ulong, keys);
    OPEN_ARRAY(uint, row_lengths);
    const size_t index = get_global_id(0);
    if (index < row_count)
        row_lengths[index] = (uint)(keys[index] >> column_bits);
}

// Where each row from index `split` of the order on begins, the first at `start`, each a multiple of `alignment`. One
// group.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void start_long_rows(const uint row_count,
                            const uint split,
                            const uint alignment,
                            const ulong start,
                            ARRAY_PARAMETER(const uint, row_lengths),
                            ARRAY_PARAMETER(ulong, long_starts))
{
    OPEN_ARRAY(const uint, row_lengths);
    OPEN_ARRAY(ulong, long_starts);
    local ulong scratch[GROUP_SIZE];
    const uint item = (uint)get_local_id(0);
    ulong before = start;
    for (ulong first = split; first < row_count; first += GROUP_SIZE) {
        const ulong index = first + item;
        const ulong length = index < row_count ? row_lengths[index] : 0;
        ulong total;
        const ulong at = group_scan_exclusive((length + alignment - 1) / alignment * alignment, scratch, &total);
        if (index < row_count)
            long_starts[index - split] = before + at;
        before += total;
        barrier(CLK_LOCAL_MEM_FENCE); // before `scratch` is written again
    }
}

// The index of each row in the order of lengths.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void invert_order(const uint row_count,
                         ARRAY_PARAMETER(const uint, row_order),
                         ARRAY_PARAMETER(uint, order_indices))
{
    OPEN_ARRAY(const uint, row_order);
    OPEN_ARRAY(uint, order_indices);
    const size_t index = get_global_id(0);
    if (index < row_count)
        order_indices[row_order[index]] = (uint)index;
}

// Bits are moved, not numbers: 16-bit types need no arithmetic here, and NaN payloads survive.
#if defined(VALUE_F64)
typedef ulong bits_t;
#elif defined(VALUE_F16) || defined(VALUE_BF16)
typedef ushort bits_t;
#else
typedef uint bits_t;
#endif

// Copies what goes with the nonzeros of CSR to the indices of their elements; padding is 0. The groups are those of the
// product. With RENUMBER, they are columns, and become the indices of the rows of the same number.
__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void arrange(const uint alignment,
                    ARRAY_PARAMETER(const evc_hyb_task_t, tasks),
                    ARRAY_PARAMETER(const uint, row_order),
                    ARRAY_PARAMETER(const uint, row_lengths),
                    ARRAY_PARAMETER(const ulong, long_starts),
                    ARRAY_PARAMETER(const offset_t, offsets),
                    ARRAY_PARAMETER(const bits_t, source),
                    ARRAY_PARAMETER(const uint, order_indices),
                    ARRAY_PARAMETER(bits_t, target))
{
    OPEN_ARRAY(const evc_hyb_task_t, tasks);
    OPEN_ARRAY(const uint, row_order);
    OPEN_ARRAY(const uint, row_lengths);
    OPEN_ARRAY(const ulong, long_starts);
    OPEN_ARRAY(const offset_t, offsets);
    OPEN_ARRAY(const bits_t, source);
    OPEN_ARRAY(bits_t, target);
#ifdef RENUMBER
    OPEN_ARRAY(const uint, order_indices);
#define MOVED(bits) order_indices[bits]
#else
#define MOVED(bits) (bits)
#endif
    const evc_hyb_task_t task = tasks[get_group_id(0)];
    const uint item = (uint)get_local_id(0);
    const uint share = evc_hyb_number(task, item);
    for (uint row = evc_hyb_row(task, item); row < task.rows; row += rows_at_once(task)) {
        const evc_hyb_share_t mine = evc_hyb_share(task, row_lengths, long_starts, row, share);
        const uint length = row < task.carried ? row_lengths[task.first + row] : task.width;
        const uint padded = task.stride != 0 ? task.width : (length + alignment - 1) / alignment * alignment;
        const ulong from = offsets[row_order[task.first + row]];
        ulong at = mine.at;
        for (uint k = share; k < padded; k += 1u << task.items_log) {
            target[at] = k < length ? MOVED(source[from + k]) : 0;
            at += mine.stride;
        }
    }
}
