// What a solver knows on the device, in one array of 32-bit words that the host reads in one piece: progress, then
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
#define HALF_STEP 2 // 1 where BiCGStab has ended after the first half of an iteration
#define LAST_AFTER_ALPHA 3
#define LAST_AFTER_HALF 4
#define LAST_AFTER_OMEGA 5
#define LAST_AFTER_RESIDUAL 6
#define PROGRESS_WORDS 8 // one is free, so that the scalars begin where they can

// Scalars, each a real_t.
#define RHO 0
#define ALPHA 1
#define BETA 2
#define OMEGA 3
#define SUM_OF_SQUARES 4
#define SUM_OF_MAGNITUDES 5
#define SCALARS 8

// What OUTCOME says.
#define RUNNING 0
#define CONVERGED 1
#define NOT_POSITIVE_DEFINITE 2 // p'Ap is not positive
#define RHO_NOT_POSITIVE 3 // r'z is not positive
#define RHO_ZERO 4 // r0'r is 0
#define SHADOW_ZERO 5 // r0'v is 0
#define OMEGA_ZERO 6 // t's or t't is 0
#define NOT_FINITE 7 // something has overflowed, or was NaN from the start

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

#endif
