// How SELL-C-sigma is cut (spmv/sell_sigma.cl), and which part of it an item has.
#ifndef SPMV_SELL_SIGMA_SLICE_H
#define SPMV_SELL_SIGMA_SLICE_H

#include "item/scalar.h"

#define SLICE_LANES 32
#define LOG_SLICE_LANES 5
#define SLICE_NNZ (SLICE_LANES * LANE_NNZ) // of a slice that a part of one row has to itself
#define WIDE_BASE 0xffffffffu // no base: the columns are too far apart for 16 bits

// A slice in 64 bits, from the highest: index of its first row in the order of rows (32), which part of a long row it
// is (29), and the logarithm of how many lanes a row has (3).
ulong make_slice(const uint at, const uint part, const uint log_lanes)
{
    return (ulong)at << 32 | (ulong)part << 3 | log_lanes;
}

uint slice_index(const ulong slice)
{
    return (uint)(slice >> 32);
}

// As few lanes as leave each LANE_NNZ nonzeros, but no more than there are.
uint log_lanes_of_row(const uint row_nnz)
{
    uint log_lanes = 0;
    while (log_lanes < LOG_SLICE_LANES && row_nnz > (uint)LANE_NNZ << log_lanes)
        ++log_lanes;
    return log_lanes;
}

// Slices that a row with all lanes has.
uint parts_of_row(const uint row_nnz)
{
    return row_nnz > 0 ? (row_nnz - 1) / SLICE_NNZ + 1 : 0;
}

// A lane of a slice: every `lanes`-th nonzero of a row, or of a part of one.
typedef struct {
    uint number; // in the slice
    uint lanes; // of the row
    uint row;
    int has_row; // else the lane is after the last row, and has nothing
    uint row_nnz;
    uint part; // of the row's parts
    offset_t first; // its first nonzero
    uint length; // its nonzeros
} lane_t;

// Lane `number` of a slice; `next` is the slice after it, or ends the last.
lane_t open_lane(const uint number, const ulong slice, const ulong next, const uint rows,
                 global const uint *restrict order, global const offset_t *restrict offsets)
{
    const uint log_lanes = (uint)slice & 7;
    const uint index = number >> log_lanes;
    const uint at = slice_index(slice) + index;
    lane_t lane;
    lane.number = number;
    lane.lanes = 1u << log_lanes;
    lane.part = (uint)slice >> 3;
    lane.has_row = log_lanes == LOG_SLICE_LANES || index < slice_index(next) - slice_index(slice);
    lane.row = order[min(at, rows - 1)];
    const offset_t begin = offsets[lane.row];
    lane.row_nnz = lane.has_row ? (uint)(offsets[lane.row + 1] - begin) : 0;
    // Parts have SLICE_NNZ each; a row with fewer lanes is one part.
    const uint before = lane.part * SLICE_NNZ;
    const uint nnz = min(lane.row_nnz - before, (uint)SLICE_NNZ);
    const uint own = number & (lane.lanes - 1);
    lane.first = begin + before + own;
    lane.length = (nnz + lane.lanes - 1 - own) >> log_lanes;
    return lane;
}

#endif
