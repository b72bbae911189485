// BiCGStab (van der Vorst 1992), with JACOBI preconditioned from the right by the inverse diagonal M: p^ = M p, s^ = M s.
//
//   v = A p^                      a product of its own
//   alpha = rho / shadow'v        bicgstab_alpha: reads shadow, v
//   s = r - alpha v               bicgstab_half: reads r, v, writes s (s^); sums the norm of s, which may be enough
//   t = A s^                      a product of its own
//   omega = t's / t't             bicgstab_omega: reads t, s
//   r = s - omega t               bicgstab_residual: reads s, t, shadow, writes r; sums shadow'r and the norm of r
//   beta = rho' / rho alpha / omega
//   x = x + alpha p^ + omega s^   bicgstab_direction: reads x, p, s, r, v, writes x, p (p^)
//   p = r + beta (p - omega v)
//
// Without JACOBI p^ is p and s^ is s. Iteration 0 is the start: without products, r stays, shadow = r, p = r. x is that
// of the last iteration that ran (solver/state.h); after half an iteration omega is 0. Where the residual of an x was
// the least so far and the next one's is not, bicgstab_direction copies that x to `best` before it changes.
//
// Local memory: two sums an item, and 4 bytes.

#ifndef GROUP_SIZE
#define GROUP_SIZE 256 // items of a work-group: a power of two
#endif
#ifndef BATCH
#define BATCH 2 // chunks of 16 bytes that an item has under way, of each vector
#endif

#include "solver/stream.h"

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void bicgstab_alpha(const uint tiles,
                           const uint iteration,
                           const uint zero,
                           ARRAY_PARAMETER(const wide_t, shadow),
                           ARRAY_PARAMETER(const wide_t, v),
                           ARRAY_PARAMETER(uint, sums_space),
                           ARRAY_PARAMETER(uint, state))
{
    OPEN_ARRAY(const wide_t, shadow);
    OPEN_ARRAY(const wide_t, v);
    OPEN_ARRAY(uint, sums_space);
    OPEN_ARRAY(uint, state);
    LAUNCH_SUM(shared);
    const uint last = state[LAST_AFTER_RESIDUAL];
    const int runs = iteration <= last;

    wide_t products = 0;
    FOR_EACH_TILE (at, runs ? tiles : 0) {
        wide_t shadow_at[BATCH], v_at[BATCH];
#pragma unroll
        for (uint k = 0; k < BATCH; ++k) {
            shadow_at[k] = shadow[CHUNK(at, k)];
            v_at[k] = v[CHUNK(at, k)];
        }
#pragma unroll
        for (uint k = 0; k < BATCH; ++k)
            products = fma(shadow_at[k], v_at[k], products);
    }
    acc_t sums[LAUNCH_SUMS] = {WIDE_SUM(products), 0};
    if (!launch_sum_arrives(sums, shared, sums_space, zero))
        return;
    launch_sum_total(sums, shared, sums_space);
    if (get_local_id(0) == 0) {
        global real_t *const scalars = solver_scalars(state);
        const real_t alpha = scalars[RHO] / sums[0];
        uint after = last;
        if (runs) {
            const uint before = iteration_before(iteration);
            if (sums[0] == 0)
                after = solver_ends(state, SHADOW_ZERO, iteration, before);
            else if (!isfinite(sums[0]) || !isfinite(alpha))
                after = solver_ends(state, NOT_FINITE, iteration, before);
            scalars[ALPHA] = alpha;
        }
        state[LAST_AFTER_ALPHA] = after;
    }
}

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void bicgstab_half(const uint tiles,
                          const uint iteration,
                          const uint slot,
                          const uint zero,
                          SCALAR_PARAMETER(threshold),
                          ARRAY_PARAMETER(const wide_t, inverse_diagonal),
                          ARRAY_PARAMETER(const wide_t, r),
                          ARRAY_PARAMETER(const wide_t, v),
                          ARRAY_PARAMETER(wide_t, s),
                          ARRAY_PARAMETER(wide_t, s_hat),
                          ARRAY_PARAMETER(uint, sums_space),
                          ARRAY_PARAMETER(uint, state))
{
    OPEN_ARRAY(const wide_t, inverse_diagonal);
    OPEN_ARRAY(const wide_t, r);
    OPEN_ARRAY(const wide_t, v);
    OPEN_ARRAY(wide_t, s);
    OPEN_ARRAY(wide_t, s_hat);
    OPEN_ARRAY(uint, sums_space);
    OPEN_ARRAY(uint, state);
    OPEN_SCALAR(threshold);
    LAUNCH_SUM(shared);
    global real_t *const scalars = solver_scalars(state);
    const uint last = state[LAST_AFTER_ALPHA];
    const int runs = iteration <= last;
    const real_t alpha = scalars[ALPHA];

    wide_t norms = 0;
    FOR_EACH_TILE (at, runs ? tiles : 0) {
        wide_t r_at[BATCH], v_at[BATCH];
#ifdef JACOBI
        wide_t inverse_at[BATCH];
#endif
#pragma unroll
        for (uint k = 0; k < BATCH; ++k) {
            r_at[k] = r[CHUNK(at, k)];
            v_at[k] = v[CHUNK(at, k)];
#ifdef JACOBI
            inverse_at[k] = inverse_diagonal[CHUNK(at, k)];
#endif
        }
#pragma unroll
        for (uint k = 0; k < BATCH; ++k) {
            const wide_t half_way = fma((wide_t)(-alpha), v_at[k], r_at[k]);
            s[CHUNK(at, k)] = half_way;
#ifdef JACOBI
            s_hat[CHUNK(at, k)] = half_way * inverse_at[k];
#endif
            norms += NORM_PART(half_way);
        }
    }
    acc_t sums[LAUNCH_SUMS] = {WIDE_SUM(norms), 0};
    if (!launch_sum_arrives(sums, shared, sums_space, zero))
        return;
    launch_sum_total(sums, shared, sums_space);
    if (get_local_id(0) == 0) {
        uint after = last;
        if (runs) {
            const real_t residual = NORM_OF(sums[0]);
            if (!isfinite(residual)) {
                after = solver_ends(state, NOT_FINITE, iteration, iteration_before(iteration));
            } else if (residual <= threshold) {
                after = solver_ends(state, CONVERGED, iteration, iteration);
                solver_history(state)[slot] = residual;
                state[HALF_ITERATION] = 1;
            }
        }
        state[LAST_AFTER_HALF] = after;
    }
}

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void bicgstab_omega(const uint tiles,
                           const uint iteration,
                           const uint zero,
                           ARRAY_PARAMETER(const wide_t, s),
                           ARRAY_PARAMETER(const wide_t, t),
                           ARRAY_PARAMETER(uint, sums_space),
                           ARRAY_PARAMETER(uint, state))
{
    OPEN_ARRAY(const wide_t, s);
    OPEN_ARRAY(const wide_t, t);
    OPEN_ARRAY(uint, sums_space);
    OPEN_ARRAY(uint, state);
    LAUNCH_SUM(shared);
    const uint last = state[LAST_AFTER_HALF];
    const int runs = iteration <= last;

    wide_t products = 0, squares = 0;
    FOR_EACH_TILE (at, runs ? tiles : 0) {
        wide_t s_at[BATCH], t_at[BATCH];
#pragma unroll
        for (uint k = 0; k < BATCH; ++k) {
            s_at[k] = s[CHUNK(at, k)];
            t_at[k] = t[CHUNK(at, k)];
        }
#pragma unroll
        for (uint k = 0; k < BATCH; ++k) {
            products = fma(t_at[k], s_at[k], products);
            squares = fma(t_at[k], t_at[k], squares);
        }
    }
    acc_t sums[LAUNCH_SUMS] = {WIDE_SUM(products), WIDE_SUM(squares)};
    if (!launch_sum_arrives(sums, shared, sums_space, zero))
        return;
    launch_sum_total(sums, shared, sums_space);
    if (get_local_id(0) == 0) {
        const int is_half = state[HALF_ITERATION] != 0;
        const real_t omega = sums[0] / sums[1];
        uint after = last;
        if (runs && !is_half) {
            const uint before = iteration_before(iteration);
            if (sums[0] == 0 || sums[1] == 0)
                after = solver_ends(state, OMEGA_ZERO, iteration, before);
            else if (!isfinite(sums[0]) || !isfinite(sums[1]) || !isfinite(omega))
                after = solver_ends(state, NOT_FINITE, iteration, before);
        }
        if (runs)
            solver_scalars(state)[OMEGA] = is_half ? 0 : omega;
        state[LAST_AFTER_OMEGA] = after;
    }
}

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void bicgstab_residual(const uint tiles,
                              const uint iteration,
                              const uint slot,
                              const uint zero,
                              SCALAR_PARAMETER(threshold),
                              SCALAR_PARAMETER(limit),
                              const uint patience,
                              ARRAY_PARAMETER(const wide_t, s),
                              ARRAY_PARAMETER(const wide_t, t),
                              ARRAY_PARAMETER(wide_t, shadow),
                              ARRAY_PARAMETER(wide_t, r),
                              ARRAY_PARAMETER(uint, sums_space),
                              ARRAY_PARAMETER(uint, state))
{
    OPEN_ARRAY(const wide_t, s);
    OPEN_ARRAY(const wide_t, t);
    OPEN_ARRAY(wide_t, shadow);
    OPEN_ARRAY(wide_t, r);
    OPEN_ARRAY(uint, sums_space);
    OPEN_ARRAY(uint, state);
    OPEN_SCALAR(threshold);
    OPEN_SCALAR(limit);
    LAUNCH_SUM(shared);
    global real_t *const scalars = solver_scalars(state);
    const uint last = state[LAST_AFTER_OMEGA];
    const int runs = iteration <= last;
    const int is_start = iteration == 0;
    const real_t omega = scalars[OMEGA];

    wide_t products = 0, norms = 0;
    FOR_EACH_TILE (at, runs && is_start ? tiles : 0) {
#pragma unroll
        for (uint k = 0; k < BATCH; ++k) {
            const wide_t first = r[CHUNK(at, k)];
            shadow[CHUNK(at, k)] = first;
            products = fma(first, first, products);
            norms += NORM_PART(first);
        }
    }
    FOR_EACH_TILE (at, runs && !is_start ? tiles : 0) {
        wide_t s_at[BATCH], t_at[BATCH], shadow_at[BATCH];
#pragma unroll
        for (uint k = 0; k < BATCH; ++k) {
            s_at[k] = s[CHUNK(at, k)];
            t_at[k] = t[CHUNK(at, k)];
            shadow_at[k] = shadow[CHUNK(at, k)];
        }
#pragma unroll
        for (uint k = 0; k < BATCH; ++k) {
            const wide_t next = fma((wide_t)(-omega), t_at[k], s_at[k]);
            r[CHUNK(at, k)] = next;
            products = fma(shadow_at[k], next, products);
            norms += NORM_PART(next);
        }
    }
    acc_t sums[LAUNCH_SUMS] = {WIDE_SUM(products), WIDE_SUM(norms)};
    if (!launch_sum_arrives(sums, shared, sums_space, zero))
        return;
    launch_sum_total(sums, shared, sums_space);
    if (get_local_id(0) == 0) {
        uint after = last;
        if (runs && state[HALF_ITERATION] == 0) {
            const real_t rho = sums[0];
            const real_t residual = NORM_OF(sums[1]);
            if (!isfinite(residual) || !isfinite(rho))
                after = solver_ends(state, NOT_FINITE, iteration, iteration_before(iteration));
            else {
                const residual_limits_t limits = {threshold, limit, patience};
                after = residual_judged(state, last, iteration, residual, limits);
                if (after == last && rho == 0)
                    after = solver_ends(state, RHO_ZERO, iteration, iteration);
            }
            solver_history(state)[slot] = residual;
            scalars[BETA] = is_start ? 0 : rho / scalars[RHO] * (scalars[ALPHA] / omega);
            scalars[RHO] = rho;
        }
        state[LAST_AFTER_RESIDUAL] = after;
    }
}

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void bicgstab_direction(const uint tiles,
                               const uint iteration,
                               ARRAY_PARAMETER(const wide_t, inverse_diagonal),
                               ARRAY_PARAMETER(const wide_t, r),
                               ARRAY_PARAMETER(const wide_t, v),
                               ARRAY_PARAMETER(const wide_t, s),
                               ARRAY_PARAMETER(wide_t, p),
                               ARRAY_PARAMETER(wide_t, p_hat),
                               ARRAY_PARAMETER(wide_t, x),
                               ARRAY_PARAMETER(wide_t, best),
                               ARRAY_PARAMETER(uint, state))
{
    OPEN_ARRAY(const wide_t, inverse_diagonal);
    OPEN_ARRAY(const wide_t, r);
    OPEN_ARRAY(const wide_t, v);
    OPEN_ARRAY(const wide_t, s);
    OPEN_ARRAY(wide_t, p);
    OPEN_ARRAY(wide_t, p_hat);
    OPEN_ARRAY(wide_t, x);
    OPEN_ARRAY(wide_t, best);
    OPEN_ARRAY(uint, state);
    global const real_t *const scalars = solver_scalars(state);
    const int runs = iteration <= state[LAST_AFTER_RESIDUAL];
    const int is_start = iteration == 0;
    const int leaves = leaves_least(state, iteration);
    const real_t alpha = scalars[ALPHA];
    const real_t beta = scalars[BETA];
    const real_t omega = scalars[OMEGA];

    FOR_EACH_TILE (at, runs ? tiles : 0) {
        wide_t r_at[BATCH], v_at[BATCH], s_at[BATCH], p_at[BATCH], x_at[BATCH];
#ifdef JACOBI
        wide_t inverse_at[BATCH];
#endif
#pragma unroll
        for (uint k = 0; k < BATCH; ++k) {
            r_at[k] = r[CHUNK(at, k)];
            v_at[k] = v[CHUNK(at, k)];
            s_at[k] = s[CHUNK(at, k)];
            p_at[k] = p[CHUNK(at, k)];
            x_at[k] = x[CHUNK(at, k)];
#ifdef JACOBI
            inverse_at[k] = inverse_diagonal[CHUNK(at, k)];
#endif
        }
#pragma unroll
        for (uint k = 0; k < BATCH; ++k) {
            const wide_t update = fma((wide_t)(omega), s_at[k], alpha * p_at[k]);
            const wide_t direction = fma((wide_t)(-omega), v_at[k], p_at[k]);
            if (leaves)
                best[CHUNK(at, k)] = x_at[k];
            // What p, s and v held before the start means nothing.
            const wide_t next = is_start ? r_at[k] : fma((wide_t)(beta), direction, r_at[k]);
            p[CHUNK(at, k)] = next;
#ifdef JACOBI
            x[CHUNK(at, k)] = is_start ? x_at[k] : fma(update, inverse_at[k], x_at[k]);
            p_hat[CHUNK(at, k)] = next * inverse_at[k];
#else
            x[CHUNK(at, k)] = is_start ? x_at[k] : x_at[k] + update;
#endif
        }
    }
}
