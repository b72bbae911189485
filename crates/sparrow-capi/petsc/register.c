/*
 * How PETSc finds the types: -dll_append libsparrow_petsc.so, or a call.
 *
 * Licence: MIT OR Apache-2.0.
 */
#include "sparrow_petsc.h"

/* What a conversion works on: the matrix itself, a copy of it, or one that is there and gets its values; then nothing is
   left to be done. */
PetscErrorCode SparrowConverted(Mat A, MatReuse reuse, Mat *out, PetscBool *is_done)
{
  PetscFunctionBegin;
  *is_done = PETSC_FALSE;
  if (reuse == MAT_INITIAL_MATRIX) {
    PetscCall(MatDuplicate(A, MAT_COPY_VALUES, out));
  } else if (reuse == MAT_REUSE_MATRIX) {
    PetscCall(MatCopy(A, *out, SAME_NONZERO_PATTERN));
    *is_done = PETSC_TRUE;
  } else {
    *out = A;
  }
  PetscFunctionReturn(0);
}

PetscErrorCode MatSparrowRegister(void)
{
  PetscFunctionBegin;
  PetscCall(MatInitializePackage());
  PetscCall(SparrowDeviceInitialize());
  PetscCall(SparrowProductsInitialize());
  PetscCall(MatRegisterRootName(MATAIJSPARROW, MATSEQAIJSPARROW, MATMPIAIJSPARROW));
  PetscCall(MatRegister(MATSEQAIJSPARROW, MatCreate_SeqAIJSparrow));
  PetscCall(MatRegister(MATMPIAIJSPARROW, MatCreate_MPIAIJSparrow));
  PetscFunctionReturn(0);
}

/* The name that PETSc makes of libsparrow_petsc.so. */
PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_sparrow_petsc(void)
{
  PetscFunctionBegin;
  PetscCall(MatSparrowRegister());
  PetscFunctionReturn(0);
}
