/*
 * The array of a VECSPARROW: elements come to the host when they are asked for, and are valid there alone once they were
 * given out to be written. A sub-vector's array is a part of it.
 *
 * Licence: MIT OR Apache-2.0.
 */
#include "sparrow_petsc.h"

static PetscErrorCode VecGetArray_Sparrow(Vec v, PetscScalar **array)
{
  PetscFunctionBegin;
  PetscCall(SparrowVectorOnHost(v, SPARROW_UPDATE));
  *array = *(PetscScalar **)v->data;
  PetscFunctionReturn(0);
}

static PetscErrorCode VecGetArrayWrite_Sparrow(Vec v, PetscScalar **array)
{
  PetscFunctionBegin;
  PetscCall(SparrowVectorOnHost(v, SPARROW_WRITE));
  *array = *(PetscScalar **)v->data;
  PetscFunctionReturn(0);
}

static PetscErrorCode VecGetArrayRead_Sparrow(Vec v, const PetscScalar **array)
{
  PetscFunctionBegin;
  PetscCall(SparrowVectorOnHost(v, SPARROW_READ));
  *array = *(PetscScalar **)v->data;
  PetscFunctionReturn(0);
}

/* The device may have read it meanwhile; the host had the last word. */
static PetscErrorCode VecRestoreArray_Sparrow(Vec v, PetscScalar **array)
{
  PetscFunctionBegin;
  PetscCall(SparrowVectorOnHost(v, SPARROW_WRITE));
  PetscFunctionReturn(0);
}

static PetscErrorCode VecRestoreArrayRead_Sparrow(Vec v, const PetscScalar **array)
{
  PetscFunctionBegin;
  PetscFunctionReturn(0);
}

static PetscErrorCode VecPlaceArray_Sparrow(Vec v, const PetscScalar *array)
{
  PetscFunctionBegin;
  PetscCall(SparrowVectorLeaveArray(v));
  PetscCall(SparrowVectorPlain(v)->placearray(v, array));
  PetscFunctionReturn(0);
}

static PetscErrorCode VecResetArray_Sparrow(Vec v)
{
  PetscFunctionBegin;
  PetscCall(SparrowVectorLeaveArray(v));
  PetscCall(SparrowVectorPlain(v)->resetarray(v));
  PetscFunctionReturn(0);
}

static PetscErrorCode VecReplaceArray_Sparrow(Vec v, const PetscScalar *array)
{
  PetscFunctionBegin;
  PetscCall(SparrowVectorLeaveArray(v));
  PetscCall(SparrowVectorPlain(v)->replacearray(v, array));
  PetscFunctionReturn(0);
}

/* PETSc's own way, while ours is not there: a vector of the same type over a part of the array, or a copy. The elements are
   the sub-vector's until it is restored, unless the vector is locked, which then is only read. */
static PetscErrorCode VecGetSubVector_Sparrow(Vec v, IS is, Vec *part)
{
  PetscInt       lock = 0; /* a PETSc that is built without debugging keeps none */
  PetscErrorCode status;

  PetscFunctionBegin;
  PetscCall(VecLockGet(v, &lock));
  PetscCall(SparrowVectorOnHost(v, lock > 0 ? SPARROW_READ : SPARROW_UPDATE));
  v->ops->getsubvector = NULL;
  status               = VecGetSubVector(v, is, part);
  v->ops->getsubvector = VecGetSubVector_Sparrow;
  PetscCall(status);
  PetscFunctionReturn(0);
}

/* Where the part was written, the vector's state grows, and the host had the last word. */
static PetscErrorCode VecRestoreSubVector_Sparrow(Vec v, IS is, Vec *part)
{
  PetscObjectState before, after;
  PetscErrorCode   status;

  PetscFunctionBegin;
  PetscCall(PetscObjectStateGet((PetscObject)v, &before));
  v->ops->restoresubvector = NULL;
  status                   = VecRestoreSubVector(v, is, part);
  v->ops->restoresubvector = VecRestoreSubVector_Sparrow;
  PetscCall(status);
  PetscCall(PetscObjectStateGet((PetscObject)v, &after));
  if (before != after) PetscCall(SparrowVectorOnHost(v, SPARROW_WRITE));
  PetscFunctionReturn(0);
}

PetscErrorCode SparrowVectorSetArrayOps(VecOps ops)
{
  PetscFunctionBegin;
  ops->getarray          = VecGetArray_Sparrow;
  ops->getarraywrite     = VecGetArrayWrite_Sparrow;
  ops->getarrayread      = VecGetArrayRead_Sparrow;
  ops->restorearray      = VecRestoreArray_Sparrow;
  ops->restorearraywrite = VecRestoreArray_Sparrow;
  ops->restorearrayread  = VecRestoreArrayRead_Sparrow;
  ops->placearray        = VecPlaceArray_Sparrow;
  ops->resetarray        = VecResetArray_Sparrow;
  ops->replacearray      = VecReplaceArray_Sparrow;
  ops->getsubvector      = VecGetSubVector_Sparrow;
  ops->restoresubvector  = VecRestoreSubVector_Sparrow;
  PetscFunctionReturn(0);
}
