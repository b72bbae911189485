// Where the pieces of csr_flat begin: one item a border between pieces (spmv/csr_flat.cl says what a piece is).
//
// Every PIECE_NNZ nonzeros there is a border. The row that lies across it, if one does, stays whole where it has at
// most `whole_row` nonzeros: the piece that it begins in goes on to its end, and the next piece begins behind it.
// A longer row is cut at the border.
//
// The room of a launch begins with these starts. What follows is where parts of cut rows come together, and becomes 0.

#ifndef GROUP_SIZE
#define GROUP_SIZE 64 // items of a work-group
#endif

#include "group/search.h"
#include "spmv/csr_flat_piece.h"

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void csr_flat_plan(const uint rows,
                          const ulong nnz,
                          const uint piece_nnz,
                          const uint whole_row,
                          const uint pieces,
                          const ulong room_words,
                          ARRAY_PARAMETER(const offset_t, offsets),
                          ARRAY_PARAMETER(uint, room))
{
    OPEN_ARRAY(const offset_t, offsets);
    OPEN_ARRAY(uint, room);
    global ulong *starts = (global ulong *)room;
    const uint piece = (uint)get_global_id(0);
    for (ulong word = 2 * ((ulong)pieces + 1) + piece; word < room_words; word += get_global_size(0))
        room[word] = 0;
    if (piece > pieces)
        return;
    const ulong border = (ulong)piece * piece_nnz;
    if (piece == 0 || piece == pieces) {
        starts[piece] = piece_start(piece == 0 ? 0 : rows, 0, 0);
        return;
    }
    // The first row that begins at the border or behind it; rows before it that are empty belong to the piece before.
    const uint across = rightmost_row_by_eighths(offsets, 0, rows, border - 1);
    const ulong begin = offsets[across];
    const ulong end = offsets[across + 1];
    if (end > border && end - begin > whole_row)
        starts[piece] = piece_start(across, 1, 0);
    else
        starts[piece] = piece_start(across + 1, 0, (uint)(end - border));
}
