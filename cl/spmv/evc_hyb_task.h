// What a work-group of EVC-HYB takes: neighbouring rows in order of length, all short or all long.
//
// Short rows are of one strip, which lies column by column: element k of a row is k strides behind its first. Where
// many items share them, those of one row are `rows at once` apart, so that neighbours load neighbouring rows. Long
// rows lie one after the other; the items of one are neighbours.
#ifndef SPMV_EVC_HYB_TASK_H
#define SPMV_EVC_HYB_TASK_H

#include "item/scalar.h"

// As `csr_core::plan::evc_hyb::Task` writes it.
typedef struct {
    ulong start; // strip: the first element of the group's first row; long: of `long_starts`, its first row's number
    uint first; // place of the first row
    uint rows; // rows of the group
    uint stride; // strip: elements from one of a row to its next; long: 0
    uint width; // strip: elements of a row
    uint carried; // strip: of the rows, how many (the first) may be shorter than it is wide; long: all
    uint items_per_row; // a power of two, at most GROUP_SIZE
} evc_hyb_task_t;

// Where one item's elements of one row are: `count` of them, `step` apart.
typedef struct {
    ulong at;
    ulong step;
    uint count;
} evc_hyb_share_t;

// Elements `share`, `share + items`, ... of `length`.
uint share_of(const uint length, const uint share, const uint items)
{
    return length > share ? (length - share - 1) / items + 1 : 0;
}

// The share of item number `share` in row number `row` of a group's rows.
evc_hyb_share_t evc_hyb_share(const evc_hyb_task_t task, global const uint *restrict row_lengths,
                              global const ulong *restrict long_starts, const uint row, const uint share)
{
    const uint length = row < task.carried ? row_lengths[task.first + row] : task.width;
    evc_hyb_share_t mine;
    if (task.stride == 0) {
        mine.at = long_starts[task.start + row] + share;
        mine.step = task.items_per_row;
    } else {
        mine.at = task.start + row + (ulong)share * task.stride;
        mine.step = (ulong)task.stride * task.items_per_row;
    }
    mine.count = share_of(length, share, task.items_per_row);
    return mine;
}

#endif
