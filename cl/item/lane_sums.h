// Sums side by side: what item/accumulate.h does to one number, plain or compensated, done to each of LANES by itself.
#ifndef ITEM_LANE_SUMS_H
#define ITEM_LANE_SUMS_H

#include "item/accumulate.h"
#include "item/lanes.h"

typedef struct {
    lanes_t sum;
#ifdef COMPENSATED
    lanes_t error;
#endif
} lane_sums_t;

#ifdef COMPENSATED

lane_sums_t lanes_zero(void)
{
    lane_sums_t sums;
    sums.sum = 0;
    sums.error = 0;
    return sums;
}

lane_sums_t lanes_product(const lanes_t a, const lanes_t b)
{
    lane_sums_t product;
    product.sum = a * b;
    product.error = fma(a, b, -product.sum);
    return product;
}

lane_sums_t lanes_add(const lane_sums_t a, const lane_sums_t b)
{
    lane_sums_t result;
    result.sum = a.sum + b.sum;
    const lanes_t of_b = result.sum - a.sum;
    result.error = (a.sum - (result.sum - of_b)) + (b.sum - of_b);
    result.error = result.error + (a.error + b.error);
    return result;
}

lane_sums_t lanes_mad(const lane_sums_t sums, const lanes_t a, const lanes_t b)
{
    return lanes_add(sums, lanes_product(a, b));
}

lane_sums_t lanes_of(const lanes_t elements)
{
    lane_sums_t sums;
    sums.sum = elements;
    sums.error = 0;
    return sums;
}

lanes_t lanes_round(const lane_sums_t sums)
{
    return select(sums.sum + sums.error, sums.sum, isinf(sums.sum));
}

#else

lane_sums_t lanes_of(const lanes_t elements)
{
    lane_sums_t sums;
    sums.sum = elements;
    return sums;
}

lane_sums_t lanes_zero(void)
{
    return lanes_of(0);
}

lane_sums_t lanes_product(const lanes_t a, const lanes_t b)
{
    return lanes_of(a * b);
}

lane_sums_t lanes_add(const lane_sums_t a, const lane_sums_t b)
{
    return lanes_of(a.sum + b.sum);
}

lane_sums_t lanes_mad(const lane_sums_t sums, const lanes_t a, const lanes_t b)
{
    return lanes_of(fma(a, b, sums.sum));
}

lanes_t lanes_round(const lane_sums_t sums)
{
    return sums.sum;
}

#endif

// The sum of all lanes, one after another; plain ones on CPUs (PREFETCH) half of them and half, so that additions wait
// for few others: rows of eight to fifteen are summed in up to a fifth less time. (Such a tree, and an unrolled loop over
// many pairs, become shuffles with undefined lanes: Oclgrind 21.10 crashes on them where it looks for uninitialised
// values, or finds some.)
#if defined(PREFETCH) && !defined(COMPENSATED) && LANES > 2
acc_t lanes_total(const lane_sums_t sums)
{
#if LANES == 16
    const lanes8_t eight = sums.sum.lo + sums.sum.hi;
#elif LANES == 8
    const lanes8_t eight = sums.sum;
#endif
#if LANES > 4
    const lanes4_t four = eight.lo + eight.hi;
#else
    const lanes4_t four = sums.sum;
#endif
    return (four.s0 + four.s1) + (four.s2 + four.s3);
}
#else
acc_t lanes_total(const lane_sums_t sums)
{
    lane_array_t of_sum;
    of_sum.lanes = sums.sum;
    acc_t total = acc_zero();
#ifdef COMPENSATED
    lane_array_t of_error;
    of_error.lanes = sums.error;
#if LANES > 4
#pragma unroll 1
#else
#pragma unroll
#endif
    for (uint lane = 0; lane < LANES; ++lane)
        total = acc_add(total, (acc_t)(of_sum.each[lane], of_error.each[lane]));
#else
#pragma unroll
    for (uint lane = 0; lane < LANES; ++lane)
        total = acc_add(total, of_sum.each[lane]);
#endif
    return total;
}
#endif

// alpha sums, each by itself.
lane_sums_t lanes_scale(const real_t alpha, const lane_sums_t sums)
{
#ifdef COMPENSATED
    lane_sums_t product = lanes_product((lanes_t)alpha, sums.sum);
    product.error = fma((lanes_t)alpha, sums.error, product.error);
    return product;
#else
    return lanes_of(alpha * sums.sum);
#endif
}

// y[at] and its neighbours = alpha sums + beta of what they were, as `store_result` does it to one.
void store_results(global real_t *y, const ulong at, const real_t alpha, const lane_sums_t sums, const real_t beta)
{
    lane_sums_t results = lanes_scale(alpha, sums);
    if (beta != 0)
        results = lanes_mad(results, (lanes_t)beta, JOIN_NAMES(vload, LANES)(0, y + at));
    JOIN_NAMES(vstore, LANES)(lanes_round(results), 0, y + at);
}

// As `store_results`, of the first `count` lanes.
void store_first_results(global real_t *y, const ulong at, const uint count, const real_t alpha, const lane_sums_t sums,
                         const real_t beta)
{
    lane_array_t of_sum;
    of_sum.lanes = sums.sum;
#ifdef COMPENSATED
    lane_array_t of_error;
    of_error.lanes = sums.error;
#endif
    for (uint lane = 0; lane < count; ++lane) {
#ifdef COMPENSATED
        store_result(y, at + lane, alpha, (acc_t)(of_sum.each[lane], of_error.each[lane]), beta);
#else
        store_result(y, at + lane, alpha, of_sum.each[lane], beta);
#endif
    }
}

#endif
