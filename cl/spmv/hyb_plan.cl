// Compressed rows brought into the two parts of HYB (spmv/hyb.cl): an item a row, whose first `width` nonzeros go to its
// slots; the others to entries, from `rest_offsets` on. hyb_plan moves columns and rows once; hyb_values moves values, and
// again whenever they are new.

#ifndef GROUP_SIZE
#define GROUP_SIZE 64 // items of a work-group
#endif

#include "item/store.h"

#define PADDING 0xffffffffu

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void hyb_plan(const uint rows,
                     const uint width,
                     const ulong pitch,
                     ARRAY_PARAMETER(const offset_t, offsets),
                     ARRAY_PARAMETER(const uint, rest_offsets),
                     ARRAY_PARAMETER(const uint, source),
                     ARRAY_PARAMETER(uint, slot_columns),
                     ARRAY_PARAMETER(uint, rest_rows),
                     ARRAY_PARAMETER(uint, rest_columns))
{
    OPEN_ARRAY(const offset_t, offsets);
    OPEN_ARRAY(const uint, rest_offsets);
    OPEN_ARRAY(const uint, source);
    OPEN_ARRAY(uint, slot_columns);
    OPEN_ARRAY(uint, rest_rows);
    OPEN_ARRAY(uint, rest_columns);
    const ulong row = get_global_id(0);
    if (row >= rows)
        return;
    const ulong begin = offsets[row];
    const ulong length = offsets[row + 1] - begin;
    for (uint slot = 0; slot < width; ++slot)
        slot_columns[slot * pitch + row] = slot < length ? source[begin + slot] : PADDING;
    const ulong rest = rest_offsets[row];
    for (ulong nonzero = width; nonzero < length; ++nonzero) {
        rest_rows[rest + nonzero - width] = (uint)row;
        rest_columns[rest + nonzero - width] = source[begin + nonzero];
    }
}

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void hyb_values(const uint rows,
                       const uint width,
                       const ulong pitch,
                       ARRAY_PARAMETER(const offset_t, offsets),
                       ARRAY_PARAMETER(const uint, rest_offsets),
                       ARRAY_PARAMETER(const bits_t, source),
                       ARRAY_PARAMETER(bits_t, slot_values),
                       ARRAY_PARAMETER(bits_t, rest_values))
{
    OPEN_ARRAY(const offset_t, offsets);
    OPEN_ARRAY(const uint, rest_offsets);
    OPEN_ARRAY(const bits_t, source);
    OPEN_ARRAY(bits_t, slot_values);
    OPEN_ARRAY(bits_t, rest_values);
    const ulong row = get_global_id(0);
    if (row >= rows)
        return;
    const ulong begin = offsets[row];
    const ulong length = offsets[row + 1] - begin;
    for (uint slot = 0; slot < width; ++slot)
        slot_values[slot * pitch + row] = slot < length ? source[begin + slot] : 0;
    const ulong rest = rest_offsets[row];
    for (ulong nonzero = width; nonzero < length; ++nonzero)
        rest_values[rest + nonzero - width] = source[begin + nonzero];
}
