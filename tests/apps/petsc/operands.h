/* Vectors of our type and of PETSc's with the same elements, and how their results are held to each other. The first claim
   that fails ends the program. */
#ifndef OPERANDS_H
#define OPERANDS_H

#include <petscvec.h>

#define N 103

#define CLAIM(holds, ...) PetscCheck(holds, PETSC_COMM_WORLD, PETSC_ERR_PLIB, __VA_ARGS__)

/* Operands as ours and as PETSc's, with the same elements. */
typedef struct {
  Vec x, y, z, w;
} Operands;

static PetscErrorCode Make(VecType type, Operands *of)
{
  PetscFunctionBegin;
  PetscCall(VecCreate(PETSC_COMM_WORLD, &of->x));
  PetscCall(VecSetType(of->x, type)); /* before its size is known */
  PetscCall(VecSetSizes(of->x, PETSC_DECIDE, N));
  PetscCall(VecSetUp(of->x));
  PetscCall(VecDuplicate(of->x, &of->y));
  PetscCall(VecDuplicate(of->x, &of->z));
  PetscCall(VecDuplicate(of->x, &of->w));
  PetscFunctionReturn(0);
}

static PetscErrorCode Fill(Vec v, PetscInt seed)
{
  PetscInt     begin, end;
  PetscScalar *array;

  PetscFunctionBegin;
  PetscCall(VecGetOwnershipRange(v, &begin, &end));
  PetscCall(VecGetArrayWrite(v, &array));
  for (PetscInt at = begin; at < end; ++at) array[at - begin] = PetscSinReal((PetscReal)(at * seed + seed)) + (seed == 2 ? 2 : 0);
  PetscCall(VecRestoreArrayWrite(v, &array));
  PetscFunctionReturn(0);
}

/* y has no zero. Elements are on the host alone, or, after an operation, on the device alone. */
static PetscErrorCode FillAll(Operands *of, PetscBool on_device)
{
  Vec all[] = {of->x, of->y, of->z, of->w};

  PetscFunctionBegin;
  for (PetscInt at = 0; at < 4; ++at) {
    PetscCall(Fill(all[at], at + 1));
    if (on_device) PetscCall(VecScale(all[at], -1));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode Destroy(Operands *of)
{
  PetscFunctionBegin;
  PetscCall(VecDestroy(&of->x));
  PetscCall(VecDestroy(&of->y));
  PetscCall(VecDestroy(&of->z));
  PetscCall(VecDestroy(&of->w));
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckSame(const char *claim, Vec ours, Vec theirs)
{
  const PetscScalar *a, *b;
  PetscInt           n;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(ours, &n));
  PetscCall(VecGetArrayRead(ours, &a));
  PetscCall(VecGetArrayRead(theirs, &b));
  for (PetscInt at = 0; at < n; ++at) PetscCheck((PetscIsNanScalar(a[at]) && PetscIsNanScalar(b[at])) || PetscAbsScalar(a[at] - b[at]) <= 1e-14 * (1 + PetscAbsScalar(b[at])), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: element %d is %g, and %g for PETSc's", claim, (int)at, (double)a[at], (double)b[at]);
  PetscCall(VecRestoreArrayRead(theirs, &b));
  PetscCall(VecRestoreArrayRead(ours, &a));
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckNumber(const char *claim, PetscReal ours, PetscReal theirs)
{
  PetscFunctionBegin;
  CLAIM(PetscAbsReal(ours - theirs) <= 1e-13 * (1 + PetscAbsReal(theirs)), "%s: %g, and %g for PETSc's", claim, (double)ours, (double)theirs);
  PetscFunctionReturn(0);
}

#endif
