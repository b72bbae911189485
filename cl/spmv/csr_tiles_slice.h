// How the copy of csr_tiles lies (spmv/csr_tiles.cl): which nonzero is where.
#ifndef SPMV_CSR_TILES_SLICE_H
#define SPMV_CSR_TILES_SLICE_H

#include "item/scalar.h"

#define SLICE_LANES 32
#define SLICE_NNZ (SLICE_LANES * LANE_NNZ)
#define LANE_PAIRS (LANE_NNZ / 2)

// Where the nonzero lies that is number `position` of all in the order of tiles, padding counted: lanes have LANE_NNZ
// neighbours each, in pairs, and the pairs of a slice's lanes lie side by side.
ulong index_of_position(const uint position)
{
    const uint slice = position / SLICE_NNZ;
    const uint lane = position % SLICE_NNZ / LANE_NNZ;
    const uint own = position % LANE_NNZ;
    return 2 * (((ulong)slice * LANE_PAIRS + own / 2) * SLICE_LANES + lane) + own % 2;
}

// A lane's word: which of its nonzeros begin a piece, a bit each (lower 16), and how many pieces begin in the lanes
// before (upper 16).
uint begins_of_lane(const uint word)
{
    return word & 0xffffu;
}

uint pieces_before_lane(const uint word)
{
    return word >> 16;
}

#endif
