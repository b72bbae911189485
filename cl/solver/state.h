// What a solver knows on the device, in one array of 32-bit words that the host reads at once: progress, then
// scalars, then the residuals of the iterations since it last looked.
//
// Iterations are counted by the host, and each kernel is told which one it belongs to. Whether it runs rests on one
// number: the last iteration that may, LAST_ITERATION_NEVER_ENDS until something ends the solve. Each kernel that can
// end it has a number of its own, which it alone writes, from the one of the kernel before it, which it reads: so
// nothing is read and written in one launch. Kernels of later iterations do nothing, and x stays as it was.
#ifndef SOLVER_STATE_H
#define SOLVER_STATE_H

#include "item/scalar.h"

// Words of progress.
#define OUTCOME 0
#define ENDED_IN 1 // the iteration in which it ended
#define HALF_ITERATION 2 // 1 where BiCGStab has ended after the first half of an iteration
#define LAST_AFTER_ALPHA 3
#define LAST_AFTER_HALF 4
#define LAST_AFTER_OMEGA 5
#define LAST_AFTER_RESIDUAL 6
#define LEAST_AT 7 // the iteration of the least residual
#define PROGRESS_WORDS 8

// Scalars, each a real_t.
#define RHO 0
#define ALPHA 1
#define BETA 2
#define OMEGA 3
#define SUM_OF_SQUARES 4
#define SUM_OF_MAGNITUDES 5
#define LEAST 6 // the least residual
#define CURVATURE_SIGN 7 // of p'Ap in the iteration before; 0 in the first (CG)
#define SCALARS 8

// What OUTCOME says.
#define RUNNING 0
#define CONVERGED 1
#define INDEFINITE 2 // p'Ap has changed its sign
#define PRECONDITIONER_INDEFINITE 3 // r'z is 0, or has changed its sign
#define RHO_ZERO 4 // r0'r is 0
#define SHADOW_ZERO 5 // r0'v is 0
#define OMEGA_ZERO 6 // t's or t't is 0
#define NOT_FINITE 7 // something has overflowed, or was NaN from the start
#define CURVATURE_ZERO 8 // p'Ap is 0
#define DIVERGED 9 // the residual is beyond the limit
#define STALLED 10 // no residual was the least one for too many iterations

#define LAST_ITERATION_NEVER_ENDS 0xffffffffu

global real_t *solver_scalars(global uint *state)
{
    return (global real_t *)(state + PROGRESS_WORDS);
}

global real_t *solver_history(global uint *state)
{
    return solver_scalars(state) + SCALARS;
}

// One item of a launch calls it. Notes why the solve has ended in `iteration`; returns the last iteration that may run.
uint solver_ends(global uint *state, const uint outcome, const uint iteration, const uint last)
{
    state[OUTCOME] = outcome;
    state[ENDED_IN] = iteration;
    return last;
}

// The iteration before; the start, which is 0, has none.
uint iteration_before(const uint iteration)
{
    return iteration == 0 ? 0 : iteration - 1;
}

// What the kernels compare residuals with.
typedef struct {
    real_t threshold; // small enough
    real_t limit; // larger is divergence
    uint patience; // iterations that may pass without a new least residual
} residual_limits_t;

// One item of a launch calls it, for a residual that is finite. Notes it where it is the least so far; returns the
// last iteration that may run.
uint residual_judged(global uint *state,
                     const uint last,
                     const uint iteration,
                     const real_t residual,
                     const residual_limits_t limits)
{
    global real_t *const scalars = solver_scalars(state);
    if (iteration == 0 || residual < scalars[LEAST]) {
        scalars[LEAST] = residual;
        state[LEAST_AT] = iteration;
    }
    if (residual <= limits.threshold)
        return solver_ends(state, CONVERGED, iteration, iteration);
    if (residual > limits.limit)
        return solver_ends(state, DIVERGED, iteration, iteration);
    if (iteration - state[LEAST_AT] >= limits.patience)
        return solver_ends(state, STALLED, iteration, iteration);
    return last;
}

// Whether the iteration before has the least residual, and this one has not: its x is to be kept before it changes.
int leaves_least(global const uint *state, const uint iteration)
{
    return iteration > 0 && state[LEAST_AT] == iteration - 1;
}

#endif
