/*
 * The array of a VECSPARROW: elements come to the host when they are asked for, and are valid there alone once they were
 * given out to be written.
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
  PetscFunctionReturn(0);
}
