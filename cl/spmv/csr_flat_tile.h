// Where a tile of csr_flat begins, in 64 bits: its first row (upper 32), whether that row is cut there (bit 31), and
// how many nonzeros after the boundary still belong to the tile before (lower 31).
#ifndef SPMV_CSR_FLAT_TILE_H
#define SPMV_CSR_FLAT_TILE_H

ulong tile_start(const uint row, const int is_cut, const uint past)
{
    return (ulong)row << 32 | (ulong)(is_cut ? 1 : 0) << 31 | past;
}

uint tile_first_row(const ulong start)
{
    return (uint)(start >> 32);
}

int tile_is_cut(const ulong start)
{
    return (int)((uint)start >> 31);
}

uint tile_past(const ulong start)
{
    return (uint)start & 0x7fffffffu;
}

#endif
