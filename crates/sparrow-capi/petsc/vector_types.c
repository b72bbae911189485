/*
 * How vectors of the types VECSEQSPARROW and VECMPISPARROW come to be, with all of their operations.
 *
 * Licence: MIT OR Apache-2.0.
 */
#include "sparrow_petsc.h"

/* Makes one of PETSc's plain vectors ours. */
static PetscErrorCode SparrowVectorTurn(Vec v, PetscBool is_distributed)
{
  PetscFunctionBegin;
  PetscCall(SparrowVectorBegin(v, is_distributed));
  PetscCall(SparrowVectorSetArrayOps(v->ops));
  PetscCall(SparrowVectorSetElementwiseOps(v->ops));
  PetscCall(SparrowVectorSetSums(v->ops, is_distributed));
  v->offloadmask = PETSC_OFFLOAD_CPU;
  v->petscnative = PETSC_FALSE; /* its array is to be asked for */
  PetscCall(PetscObjectChangeTypeName((PetscObject)v, is_distributed ? VECMPISPARROW : VECSEQSPARROW));
  PetscFunctionReturn(0);
}

PetscErrorCode VecCreate_SeqSparrow(Vec v)
{
  PetscFunctionBegin;
  PetscCall(SparrowVectorTurn(v, PETSC_FALSE));
  PetscFunctionReturn(0);
}

PetscErrorCode VecCreate_MPISparrow(Vec v)
{
  PetscFunctionBegin;
  PetscCall(SparrowVectorTurn(v, PETSC_TRUE));
  PetscFunctionReturn(0);
}

PetscErrorCode VecCreate_Sparrow(Vec v)
{
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)v), &size));
  PetscCall(VecSetType(v, size == 1 ? VECSEQSPARROW : VECMPISPARROW));
  PetscFunctionReturn(0);
}
