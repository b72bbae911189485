
#ifdef COLUMNS_U16
typedef ushort bcol_t;
#ifdef __NV_CL_C_VERSION
uint stream_bcol(global const ushort *columns, const ulong at)
{
    ushort column;
    asm volatile(STREAM ".u16 %0, [%1];" : "=h"(column) : "l"(columns + at));
    return column;
}
#else
#define stream_bcol(columns, at) ((uint)(columns)[at])
#endif
#else
typedef uint bcol_t;
#define stream_bcol stream_column
#endif
#ifndef SETS
#define SETS 1
#endif

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void batched_flat(const uint problems, const uint per_problem, const uint nnz, const uint rows,
                         const ulong value_step, const ulong column_step, const ulong index_step,
                         const ulong x_step, const ulong y_step, const ulong start_step,
                         global const ulong *restrict all_starts, global const offset_t *restrict all_offsets,
                         global const bcol_t *restrict all_columns, global const value_t *restrict all_values,
                         global const real_t *restrict all_x, global real_t *restrict all_y,
                         const real_t alpha, const real_t beta)
{
    local acc_t products[PIECE_NNZ + WHOLE_ROW];
    local uint places[KNOWN_PLACES];
    local acc_t scratch[RUN_SCRATCH];
    local uint listed_count[1];
    local uint listed_slots[MOST_LISTED];
    const uint item = (uint)get_local_id(0);
    const uint group = (uint)get_group_id(0);
#ifdef GRID
    const uint turn = (uint)get_group_id(1);
    const uint number = group;
#else
    const uint turn = group / per_problem;
    const uint number = group - turn * per_problem;
#endif
    const ulong problem = (ulong)turn * SETS;
    const uint first = number * PIECE_NNZ;
    const uint count = min(nnz - first, (uint)PIECE_NNZ);
    global const bcol_t *restrict columns = all_columns + problem * column_step + first;
    global const value_t *restrict values = all_values + problem * value_step + first;
    global const offset_t *restrict offsets = all_offsets + problem * index_step;
    global const ulong *restrict starts = all_starts + problem * start_step + number;
    global const real_t *restrict x = all_x + problem * x_step;
    global real_t *restrict y = all_y + problem * y_step;

    uint piece_columns[TRIPS];
    real_t piece_values[TRIPS];
    if (count == PIECE_NNZ) {
        global const bcol_t *restrict its_columns = columns + item;
        global const value_t *restrict its_values = values + item;
#pragma unroll
        for (uint trip = 0; trip < TRIPS; ++trip)
            piece_columns[trip] = stream_bcol(its_columns, trip * GROUP_SIZE);
#pragma unroll
        for (uint trip = 0; trip < TRIPS; ++trip)
            piece_values[trip] = stream_value(its_values, trip * GROUP_SIZE);
    } else {
#pragma unroll
        for (uint trip = 0; trip < TRIPS; ++trip)
            piece_columns[trip] = stream_bcol(columns, min(trip * GROUP_SIZE + item, count - 1));
#pragma unroll
        for (uint trip = 0; trip < TRIPS; ++trip)
            piece_values[trip] = stream_value(values, min(trip * GROUP_SIZE + item, count - 1));
    }
    const ulong start = starts[0];
    const ulong next = starts[1];
    piece_t piece;
    piece.row = (uint)start;
    piece.slots = (uint)next - piece.row;
    piece.tail = (uint)(next >> 32);
    piece.border = first;
    piece.window = first;
    piece.beyond = first + count + piece.tail;
    piece.cut_before = NO_SLOT;
    piece.cut_behind = NO_SLOT;
    const offset_t offset = offsets[min(piece.row + item, rows)];
    uint tail_column = 0;
    real_t tail_value = 0;
    if (item < piece.tail) {
        tail_column = columns[PIECE_NNZ + item];
        tail_value = load_value(values, PIECE_NNZ + item);
    }
#if SETS > 1
#pragma unroll 1
    for (uint set = 0; set < SETS; ++set) {
#endif
        real_t of_x[TRIPS];
#pragma unroll
        for (uint trip = 0; trip < TRIPS; ++trip)
            of_x[trip] = gather_x(x, piece_columns[trip]);
#pragma unroll
        for (uint trip = 0; trip < TRIPS; ++trip)
            products[trip * GROUP_SIZE + item] = acc_product(piece_values[trip], of_x[trip]);
        if (item < piece.tail)
            products[PIECE_NNZ + item] = acc_product(tail_value, gather_x(x, tail_column));
#if SETS > 1
        if (set == 0) {
#endif
        places[item] = place_of(piece, offset);
        if (piece.slots >= GROUP_SIZE)
            places[GROUP_SIZE + item] = place_of(piece, offsets[min(piece.row + GROUP_SIZE + item, rows)]);
        if (item == 0 && piece.slots >= 2 * GROUP_SIZE)
            places[2 * GROUP_SIZE] = place_of(piece, offsets[min(piece.row + 2 * GROUP_SIZE, rows)]);
#if SETS > 1
        }
#endif
        if (item == 0)
            listed_count[0] = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
#if SETS > 1
        // What the next set needs is on its way while this one's rows are summed.
        if (set + 1 < SETS && problem + set + 1 < problems) {
            values += value_step;
            if (count == PIECE_NNZ) {
                global const value_t *restrict its_values = values + item;
#pragma unroll
                for (uint trip = 0; trip < TRIPS; ++trip)
                    piece_values[trip] = stream_value(its_values, trip * GROUP_SIZE);
            } else {
#pragma unroll
                for (uint trip = 0; trip < TRIPS; ++trip)
                    piece_values[trip] = stream_value(values, min(trip * GROUP_SIZE + item, count - 1));
            }
            if (item < piece.tail)
                tail_value = load_value(values, PIECE_NNZ + item);
        }
#endif
        const int log_fit = (int)clz(piece.slots - 1) - (int)clz(GROUP_SIZE - 1);
        const uint log_width = (uint)clamp(log_fit, 0, LOG_MOST_WIDTH);
        const uint width = 1u << log_width;
        const uint in_round = item >> log_width;
        const uint in_run = item & (width - 1);
#ifdef BUNCH_VOTES
        SUM_ROUND(in_round, KNOWN_PLACE);
        if (piece.slots > GROUP_SIZE) {
            SUM_ROUND(GROUP_SIZE + item, KNOWN_PLACE);
            for (uint done = 2 * GROUP_SIZE; done < piece.slots; done += GROUP_SIZE)
                SUM_ROUND(done + item, FAR_PLACE);
        }
#else
        for (uint done = 0; done < piece.slots; done += GROUP_SIZE >> log_width)
            SUM_ROUND(done + in_round, ANY_PLACE);
#endif
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint listed = listed_count[0];
        for (uint done = 0; done < listed; done += GROUP_SIZE / TEAM_SIZE) {
            const uint at = done + item / TEAM_SIZE;
            const uint in_team = item % TEAM_SIZE;
            const uint slot = listed_slots[min(at, listed - 1)];
            const uint row = piece.row + slot;
            const offset_t begin = offsets[row];
            const offset_t end = offsets[row + 1];
            acc_t sum = acc_zero();
            if (at < listed)
                sum = sum_places(products, place_of(piece, begin) + in_team, place_of(piece, end), TEAM_SIZE);
            sum = sum_runs(sum, scratch, TEAM_SIZE);
            if (at < listed && in_team == 0)
                store_result(y, row, alpha, sum, beta);
        }
#if SETS > 1
        if (problem + set + 1 >= problems)
            break;
        barrier(CLK_LOCAL_MEM_FENCE);
        x += x_step;
        y += y_step;
    }
#endif
}
