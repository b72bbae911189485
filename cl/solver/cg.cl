// Conjugate gradients (Hestenes and Stiefel 1952), with JACOBI preconditioned by the inverse diagonal.
//
//   q = A p                       a product of its own
//   alpha = r'z / p'q             cg_alpha: reads p, q
//   r = r - alpha q               cg_residual: reads r, q, writes r; sums r'z and the norm of r, where z = r / diag(A)
//   beta = r'z / (r'z before)
//   x = x + alpha p               cg_direction: reads x, p, r, writes x, p
//   p = z + beta p
//
// x is not needed before the next p, so p is read once for both. z is never stored. Iteration 0 is the start: without
// a product, r stays, p = z. x is that of the last iteration that ran (solver/state.h); where its residual was the
// least so far and the next one's is not, cg_direction copies it to `best` before it changes.
//
// A may be positive or negative definite: p'q keeps its sign then, and so does r'z. With ANY_SIGN a change of signs
// does not end the iterations, a zero does.
//
// Local memory: two sums an item, and 4 bytes.

#ifndef GROUP_SIZE
#define GROUP_SIZE 256 // items of a work-group: a power of two
#endif
#ifndef BATCH
#define BATCH 2 // chunks of 16 bytes that an item has under way, of each vector
#endif

#include "solver/stream.h"

#ifdef ANY_SIGN
#define HAS_OTHER_SIGN(rho, before, is_start) 0
#else
#define HAS_OTHER_SIGN(rho, before, is_start) (!(is_start) && ((rho) > 0) != ((before) > 0))
#endif

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void cg_alpha(const uint tiles,
                     const uint iteration,
                     const uint zero,
                     ARRAY_PARAMETER(const wide_t, p),
                     ARRAY_PARAMETER(const wide_t, q),
                     ARRAY_PARAMETER(uint, sums_space),
                     ARRAY_PARAMETER(uint, state))
{
    OPEN_ARRAY(const wide_t, p);
    OPEN_ARRAY(const wide_t, q);
    OPEN_ARRAY(uint, sums_space);
    OPEN_ARRAY(uint, state);
    LAUNCH_SUM(shared);
    const uint last = state[LAST_AFTER_RESIDUAL];
    const int runs = iteration <= last;

    wide_t curvatures = 0;
    FOR_EACH_TILE (at, runs ? tiles : 0) {
        wide_t p_at[BATCH], q_at[BATCH];
#pragma unroll
        for (uint k = 0; k < BATCH; ++k) {
            p_at[k] = p[CHUNK(at, k)];
            q_at[k] = q[CHUNK(at, k)];
        }
#pragma unroll
        for (uint k = 0; k < BATCH; ++k)
            curvatures = fma(p_at[k], q_at[k], curvatures);
    }
    acc_t sums[LAUNCH_SUMS] = {WIDE_SUM(curvatures), 0};
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
                after = solver_ends(state, CURVATURE_ZERO, iteration, before);
            else if (!isfinite(sums[0]) || !isfinite(alpha))
                after = solver_ends(state, NOT_FINITE, iteration, before);
#ifndef ANY_SIGN
            else if (scalars[CURVATURE_SIGN] * sums[0] < 0)
                after = solver_ends(state, INDEFINITE, iteration, before);
#endif
            scalars[CURVATURE_SIGN] = sums[0] < 0 ? -1 : 1;
            scalars[ALPHA] = alpha;
        }
        state[LAST_AFTER_ALPHA] = after;
    }
}

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void cg_residual(const uint tiles,
                        const uint iteration,
                        const uint slot,
                        const uint zero,
                        SCALAR_PARAMETER(threshold),
                        SCALAR_PARAMETER(limit),
                        const uint patience,
                        ARRAY_PARAMETER(const wide_t, inverse_diagonal),
                        ARRAY_PARAMETER(const wide_t, q),
                        ARRAY_PARAMETER(wide_t, r),
                        ARRAY_PARAMETER(uint, sums_space),
                        ARRAY_PARAMETER(uint, state))
{
    OPEN_ARRAY(const wide_t, inverse_diagonal);
    OPEN_ARRAY(const wide_t, q);
    OPEN_ARRAY(wide_t, r);
    OPEN_ARRAY(uint, sums_space);
    OPEN_ARRAY(uint, state);
    OPEN_SCALAR(threshold);
    OPEN_SCALAR(limit);
    LAUNCH_SUM(shared);
    global real_t *const scalars = solver_scalars(state);
    const uint last = state[LAST_AFTER_ALPHA];
    const int runs = iteration <= last;
    const int is_start = iteration == 0;
    const real_t alpha = scalars[ALPHA];

    wide_t products = 0, norms = 0;
    FOR_EACH_TILE (at, runs ? tiles : 0) {
        wide_t r_at[BATCH], q_at[BATCH];
#ifdef JACOBI
        wide_t inverse_at[BATCH];
#endif
#pragma unroll
        for (uint k = 0; k < BATCH; ++k) {
            r_at[k] = r[CHUNK(at, k)];
            q_at[k] = q[CHUNK(at, k)];
#ifdef JACOBI
            inverse_at[k] = inverse_diagonal[CHUNK(at, k)];
#endif
        }
#pragma unroll
        for (uint k = 0; k < BATCH; ++k) {
            const wide_t next = is_start ? r_at[k] : fma((wide_t)(-alpha), q_at[k], r_at[k]);
            r[CHUNK(at, k)] = next;
#ifdef JACOBI
            products = fma(next, next * inverse_at[k], products);
#else
            products = fma(next, next, products);
#endif
            norms += NORM_PART(next);
        }
    }
    acc_t sums[LAUNCH_SUMS] = {WIDE_SUM(products), WIDE_SUM(norms)};
    if (!launch_sum_arrives(sums, shared, sums_space, zero))
        return;
    launch_sum_total(sums, shared, sums_space);
    if (get_local_id(0) == 0) {
        uint after = last;
        if (runs) {
            const real_t rho = sums[0];
            const real_t residual = NORM_OF(sums[1]);
            if (!isfinite(residual) || !isfinite(rho))
                after = solver_ends(state, NOT_FINITE, iteration, iteration_before(iteration));
            else {
                const residual_limits_t limits = {threshold, limit, patience};
                after = residual_judged(state, last, iteration, residual, limits);
                if (after == last && (rho == 0 || HAS_OTHER_SIGN(rho, scalars[RHO], is_start)))
                    after = solver_ends(state, PRECONDITIONER_INDEFINITE, iteration, iteration);
            }
            solver_history(state)[slot] = residual;
            scalars[BETA] = is_start ? 0 : rho / scalars[RHO];
            scalars[RHO] = rho;
        }
        state[LAST_AFTER_RESIDUAL] = after;
    }
}

__attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
kernel void cg_direction(const uint tiles,
                         const uint iteration,
                         ARRAY_PARAMETER(const wide_t, inverse_diagonal),
                         ARRAY_PARAMETER(const wide_t, r),
                         ARRAY_PARAMETER(wide_t, p),
                         ARRAY_PARAMETER(wide_t, x),
                         ARRAY_PARAMETER(wide_t, best),
                         ARRAY_PARAMETER(uint, state))
{
    OPEN_ARRAY(const wide_t, inverse_diagonal);
    OPEN_ARRAY(const wide_t, r);
    OPEN_ARRAY(wide_t, p);
    OPEN_ARRAY(wide_t, x);
    OPEN_ARRAY(wide_t, best);
    OPEN_ARRAY(uint, state);
    global const real_t *const scalars = solver_scalars(state);
    const int runs = iteration <= state[LAST_AFTER_RESIDUAL];
    const int is_start = iteration == 0;
    const int leaves = leaves_least(state, iteration);
    const real_t alpha = scalars[ALPHA];
    const real_t beta = scalars[BETA];

    FOR_EACH_TILE (at, runs ? tiles : 0) {
        wide_t r_at[BATCH], p_at[BATCH], x_at[BATCH];
#ifdef JACOBI
        wide_t inverse_at[BATCH];
#endif
#pragma unroll
        for (uint k = 0; k < BATCH; ++k) {
            r_at[k] = r[CHUNK(at, k)];
            p_at[k] = p[CHUNK(at, k)];
            x_at[k] = x[CHUNK(at, k)];
#ifdef JACOBI
            inverse_at[k] = inverse_diagonal[CHUNK(at, k)];
#endif
        }
#pragma unroll
        for (uint k = 0; k < BATCH; ++k) {
#ifdef JACOBI
            const wide_t z = r_at[k] * inverse_at[k];
#else
            const wide_t z = r_at[k];
#endif
            if (leaves)
                best[CHUNK(at, k)] = x_at[k];
            // What p held before the start means nothing.
            x[CHUNK(at, k)] = is_start ? x_at[k] : fma((wide_t)(alpha), p_at[k], x_at[k]);
            p[CHUNK(at, k)] = is_start ? z : fma((wide_t)(beta), p_at[k], z);
        }
    }
}
