// What a work-group of EVC-HYB takes: neighbouring rows in order of length, all short or all long.
//
// Short rows are of one strip, which lies column by column: element k of a row is k strides after its first. Where
// many items share them, those of one row are `rows at once` apart, so that neighbours load neighbouring rows. Long
// rows lie one after the other; the items of one are neighbours.
#ifndef SPMV_EVC_HYB_TASK_H
#define SPMV_EVC_HYB_TASK_H

#include "item/scalar.h"

// As `csr_core::plan::evc_hyb::Task` writes it.
typedef struct {
    ulong start; // strip: the first element of the group's first row; long: of `long_starts`, its first row's number
    uint first; // index of the first row in the order of lengths
    uint rows; // rows of the group
    uint stride; // strip: elements from one of a row to its next; long: 0
    uint width; // strip: elements of a row
    uint carried; // strip: of the rows, how many (the first) may be shorter than it is wide; long: all
    uint items_log; // logarithm of the items of a row, of which there are GROUP_SIZE at most
} evc_hyb_task_t;

// Where one item's elements of one row are: `count` of them, `stride` apart.
typedef struct {
    ulong at;
    ulong stride;
    uint count;
} evc_hyb_share_t;

// The rows that a group has items for at once.
uint rows_at_once(const evc_hyb_task_t task)
{
    return GROUP_SIZE >> task.items_log;
}

// The first of its group's rows that an item has; further ones are `rows_at_once` apart. No division: Oclgrind does
// not know what compilers make of a quotient with its remainder.
uint evc_hyb_row(const evc_hyb_task_t task, const uint item)
{
    return task.stride != 0 ? item & (rows_at_once(task) - 1) : item >> task.items_log;
}

// Which of a row's items it is.
uint evc_hyb_number(const evc_hyb_task_t task, const uint item)
{
    const uint rows_log = 31 - clz(rows_at_once(task));
    return task.stride != 0 ? item >> rows_log : item & ((1u << task.items_log) - 1);
}

// The share of item number `share` in row number `row` of a group's rows: elements `share`, `share` plus the row's
// items, and so on.
evc_hyb_share_t evc_hyb_share(const evc_hyb_task_t task, global const uint *row_lengths,
                              global const ulong *long_starts, const uint row, const uint share)
{
    const uint length = row < task.carried ? row_lengths[task.first + row] : task.width;
    evc_hyb_share_t mine;
    if (task.stride == 0) {
        mine.at = long_starts[task.start + row] + share;
        mine.stride = 1ul << task.items_log;
    } else {
        mine.at = task.start + row + (ulong)share * task.stride;
        mine.stride = (ulong)task.stride << task.items_log;
    }
    mine.count = length > share ? ((length - share - 1) >> task.items_log) + 1 : 0;
    return mine;
}

#endif
