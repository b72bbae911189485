// Sums of entries of C, in the order of A's row, for the kernels that compute C's values.
//
// Floating-point atomics would add in an order that timing chooses. Instead, products are taken ENTRIES of A's entries
// at a time, CHUNK products at once, and each is stored in a slot of its own:
//
//   1. an item finds where its product's column stands in C's row (binary search), and sets bit e of that entry's
//      mask, e being the entry of A it comes from. Rows of B have no column twice, so each bit is one product;
//   2. each entry of C takes as many neighbouring slots as its mask has bits;
//   3. the product of bit e goes to its entry's slot number popcount(mask below e);
//   4. each entry of C adds up its slots, in order.
//
// Which slots an entry takes depends on timing; what stands in them, and in which order, does not. So an entry's
// products are added one after the other in the order of A's row, always: the same bits, however rows are cut, with
// four barriers for CHUNK products.
#ifndef SPGEMM_SUMS_H
#define SPGEMM_SUMS_H

#include "spgemm/entries.h"

#ifndef MASK_WORDS
#define MASK_WORDS 1 // words of a mask
#endif
#define ENTRIES (GROUP_SIZE < 32 * MASK_WORDS ? GROUP_SIZE : 32 * MASK_WORDS) // bits of a mask that are used
#define MASKS (MASK_WORDS * OUTPUTS) // words of all masks: the first of each, then the second
#define CHUNK (GROUP_SIZE * PRODUCTS_PER_ITEM)
#define FEW_ROUNDS (PRODUCTS_PER_ITEM < 2 ? PRODUCTS_PER_ITEM : 2)

// Where `column` stands among the first `count` columns, of which it is one.
uint position_of(local const uint *columns, const uint count, const uint column)
{
    uint first = 0;
    for (uint width = count; width > 1;) {
        const uint half_width = width / 2;
        first += columns[first + half_width] <= column ? half_width : 0;
        width -= half_width;
    }
    return first;
}

// How many bits below bit `entry` are set in the mask of an entry of C.
uint bits_below(local const uint *masks, const uint output, const uint entry)
{
    uint count = 0;
#pragma unroll
    for (uint word = 0; word < MASK_WORDS; ++word) {
        const uint bits = masks[word * OUTPUTS + output];
        if (entry >= 32 * (word + 1))
            count += popcount(bits);
        else if (entry > 32 * word)
            count += popcount(bits & ((1u << entry % 32) - 1));
    }
    return count;
}

// Makes the products from number `done` of `total` on, GROUP_SIZE a round, and sets the bits of their entries of A in
// the masks of their entries of C. All loads of all rounds come first. No function: Intel's compiler keeps arrays in memory
// that are handed to one.
#define FIND_OUTPUTS(rounds)                                                                                           \
    {                                                                                                                  \
        _Pragma("unroll") for (uint k = 0; k < (rounds); ++k)                                                          \
        {                                                                                                              \
            /* What there is not is the last product again, and of none the first entry of B. */                       \
            const ulong product = min(done + k * GROUP_SIZE + item, max(total, 1ul) - 1);                              \
            const uint entry = entry_of(ends, ENTRIES, product);                                                       \
            const ulong at = total > 0 ? starts[entry] + product : 0;                                                  \
            entries[k] = entry;                                                                                        \
            outputs_of[k] = b_columns[at];                                                                             \
            mine[k] = of_a[entry] * load_value(b_values, at);                                                          \
        }                                                                                                              \
        _Pragma("unroll") for (uint k = 0; k < (rounds); ++k)                                                          \
        {                                                                                                              \
            outputs_of[k] = position_of(columns, outputs, outputs_of[k]);                                              \
            if (done + k * GROUP_SIZE + item < total)                                                                  \
                atomic_or(masks + entries[k] / 32 * OUTPUTS + outputs_of[k], 1u << entries[k] % 32);                   \
        }                                                                                                              \
    }

// Adds the products of a batch of ENTRIES entries of A to the sums of `outputs` entries of C: entry e has the value
// of_a[e] and names lengths[e] entries of B from starts[e] on, all of them in columns of C's entries. All items of the
// group call it. Masks and `taken` are 0 before and after; `starts` and `ends` are invalid after.
void add_products(local const uint *columns, const uint outputs, local uint *masks, local uint *first_slots,
                  local real_t *sums, local uint *taken, local real_t *products, local const real_t *of_a,
                  local const ulong *lengths, local ulong *starts, local ulong *ends,
                  global const uint *restrict b_columns, global const value_t *restrict b_values)
{
    const uint item = (uint)get_local_id(0);
    uint entries[PRODUCTS_PER_ITEM];
    uint outputs_of[PRODUCTS_PER_ITEM];
    real_t mine[PRODUCTS_PER_ITEM];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < ENTRIES) {
        ulong before = 0;
        for (uint entry = 0; entry < item; ++entry)
            before += lengths[entry];
        starts[item] -= before;
        ends[item] = before + lengths[item];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const ulong total = ends[ENTRIES - 1];
    ulong done = 0;
    do {
        // Where rows of B are short, a batch has few products: most rounds would have none.
        if (total - done <= GROUP_SIZE)
            FIND_OUTPUTS(1)
        else if (total - done <= FEW_ROUNDS * GROUP_SIZE)
            FIND_OUTPUTS(FEW_ROUNDS)
        else
            FIND_OUTPUTS(PRODUCTS_PER_ITEM)
        barrier(CLK_LOCAL_MEM_FENCE);
        uint wanted = 0;
        for (uint output = item; output < outputs; output += GROUP_SIZE)
            wanted += bits_below(masks, output, ENTRIES);
        uint slot = wanted > 0 ? atomic_add(taken, wanted) : 0;
        for (uint output = item; output < outputs; output += GROUP_SIZE) {
            first_slots[output] = slot;
            slot += bits_below(masks, output, ENTRIES);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (uint k = 0; k < PRODUCTS_PER_ITEM; ++k) {
            if (done + k * GROUP_SIZE + item < total) {
                const uint before = bits_below(masks, outputs_of[k], entries[k]);
                products[first_slots[outputs_of[k]] + before] = mine[k];
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint output = item; output < outputs; output += GROUP_SIZE) {
            const uint from = first_slots[output];
            const uint of_output = bits_below(masks, output, ENTRIES);
            real_t sum = sums[output];
            for (uint k = 0; k < of_output; ++k)
                sum += products[from + k];
            sums[output] = sum;
            for (uint word = 0; word < MASK_WORDS; ++word)
                masks[word * OUTPUTS + output] = 0;
        }
        if (item == 0)
            *taken = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        done += CHUNK;
    } while (done < total);
}

#endif
