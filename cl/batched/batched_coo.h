// batched_coo: each sub-group of a group takes as many entries as the others, and adds up runs of entries of one row
// (Anzt et al. 2017, section 3.3). Entries come in the order of their rows.
//
// In each step the items of a sub-group put products, which they loaded side by side, and rows into local memory; then
// each takes NNZ_PER_ITEM entries that follow each other. A run that begins and ends there is done. One that
// begins there and goes on is finished by its item with what the items behind have before the first run that
// begins in them (`leads`). The run at the end of a step is carried to the next; runs that are cut between sub-groups
// are added up in their order when all chunks are done.
//
// No entry names an empty row, so the items of the group first make y beta y, and runs are added to that.
//
// ATOMIC: as published. Runs that are cut between sub-groups are added to y by float atomics, as they come.
#ifndef BATCHED_COO_H
#define BATCHED_COO_H

#include "batched/chunks.h"

#define NO_ROW 0xffffffffu

// What is known of the sub-groups' chunks, in local memory: an element a sub-group.
typedef struct {
    local uint *first_rows; // the row of the first entry; NO_ROW in a chunk without
    local uint *are_cut; // whether that row has entries in a chunk before
    local uint *ends_first; // whether it ends in this chunk
    local real_t *leads; // if so, its sum here
    local uint *rows; // the row of the run that is open; NO_ROW before the first
    local real_t *sums; // its sum so far
} coo_chunks_t;

// A run that an item has begun.
typedef struct {
    uint row;
    real_t sum;
    int has_begun;
} coo_run_t;

// A run has ended: it is added to y, but the end of one that began in a chunk before waits for it.
void end_run(const coo_chunks_t *chunks, const uint sub_group, const uint row, const real_t sum,
             global real_t *restrict y, const real_t alpha)
{
    if (chunks->are_cut[sub_group] && row == chunks->first_rows[sub_group]) {
        chunks->leads[sub_group] = sum;
        chunks->ends_first[sub_group] = 1;
    } else {
        y[row] = fma(alpha, sum, y[row]);
    }
}

// One item's entries of a step of `count`: ends the runs that end among them. Leaves in `run` the last that begins
// there; returns the sum of what comes before the first that does.
real_t walk_runs(const coo_chunks_t *chunks, const uint sub_group, const uint lane,
                 local const real_t *products, local const uint *rows, const uint count,
                 global real_t *restrict y, const real_t alpha, coo_run_t *run)
{
    run->row = NO_ROW;
    run->sum = 0;
    run->has_begun = 0;
    if (lane == 0 && count > 0) {
        // The run of the step before goes on, or has ended.
        const uint carried = chunks->rows[sub_group];
        run->row = rows[0];
        run->has_begun = 1;
        if (carried == run->row)
            run->sum = chunks->sums[sub_group];
        else if (carried != NO_ROW)
            end_run(chunks, sub_group, carried, chunks->sums[sub_group], y, alpha);
    }
    real_t lead = 0;
    const uint beyond = min((lane + 1) * NNZ_PER_ITEM, count);
    for (uint at = lane * NNZ_PER_ITEM; at < beyond; ++at) {
        if (at > 0 && rows[at] != rows[at - 1]) {
            if (run->has_begun)
                end_run(chunks, sub_group, run->row, run->sum, y, alpha);
            else
                lead = run->sum;
            run->row = rows[at];
            run->sum = 0;
            run->has_begun = 1;
        }
        run->sum += products[PADDED(at)];
    }
    return run->has_begun ? lead : run->sum;
}

// Ends the last run that begins in an item, with the leads of those behind it, or carries it on.
void join_run(const coo_chunks_t *chunks, const uint sub_group, const uint lane, local const real_t *leads,
              local const uint *begun, const coo_run_t *run, global real_t *restrict y,
              const real_t alpha)
{
    if (!run->has_begun)
        return;
    real_t sum = run->sum;
    int has_ended = 0;
    for (uint other = lane + 1; other < SUB_GROUP_SIZE && !has_ended; ++other) {
        sum += leads[other];
        has_ended = begun[other];
    }
    if (has_ended) {
        end_run(chunks, sub_group, run->row, sum, y, alpha);
    } else {
        chunks->rows[sub_group] = run->row;
        chunks->sums[sub_group] = sum;
    }
}

// The run that is open at the end of a chunk, if it began there: with what the chunks behind have of it.
void end_chunk(const coo_chunks_t *chunks, const uint sub_group, global real_t *restrict y,
               const real_t alpha)
{
    const uint row = chunks->rows[sub_group];
    if (row == NO_ROW || (chunks->are_cut[sub_group] && row == chunks->first_rows[sub_group]))
        return;
    real_t sum = chunks->sums[sub_group];
    int has_ended = 0;
    for (uint other = sub_group + 1; other < SUB_GROUPS_PER_GROUP && !has_ended; ++other) {
        const int goes_on = chunks->first_rows[other] == row;
        const int ends = chunks->ends_first[other];
        if (goes_on)
            sum += ends ? chunks->leads[other] : chunks->sums[other];
        // A chunk without entries comes only where there are fewer entries than sub-groups.
        has_ended = chunks->first_rows[other] != NO_ROW && (!goes_on || ends);
    }
    y[row] = fma(alpha, sum, y[row]);
}

#endif
