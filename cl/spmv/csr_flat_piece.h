// Where a piece of csr_flat begins, in 64 bits: its first row (upper 32), whether that row is cut there (bit 31), and
// how many nonzeros behind the border still belong to the piece before (lower 31).
#ifndef SPMV_CSR_FLAT_PIECE_H
#define SPMV_CSR_FLAT_PIECE_H

ulong piece_start(const uint row, const int is_cut, const uint past)
{
    return (ulong)row << 32 | (ulong)(is_cut ? 1 : 0) << 31 | past;
}

uint piece_row(const ulong start)
{
    return (uint)(start >> 32);
}

int piece_is_cut(const ulong start)
{
    return (int)((uint)start >> 31);
}

uint piece_past(const ulong start)
{
    return (uint)start & 0x7fffffffu;
}

#endif
