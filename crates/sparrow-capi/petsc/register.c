/*
 * How PETSc finds the types: -dll_append libsparrow_petsc.so, or a call.
 *
 * Licence: MIT OR Apache-2.0.
 */
#include "sparrow_petsc.h"

PetscErrorCode MatSparrowRegister(void)
{
  PetscFunctionBegin;
  PetscCall(VecInitializePackage());
  PetscCall(MatInitializePackage());
  PetscCall(SparrowDeviceInitialize());
  PetscCall(SparrowProductsInitialize());
  PetscCall(MatRegisterRootName(MATAIJSPARROW, MATSEQAIJSPARROW, MATMPIAIJSPARROW));
  PetscCall(MatRegister(MATSEQAIJSPARROW, MatCreate_SeqAIJSparrow));
  PetscCall(MatRegister(MATMPIAIJSPARROW, MatCreate_MPIAIJSparrow));
  PetscCall(VecRegister(VECSPARROW, VecCreate_Sparrow));
  PetscCall(VecRegister(VECSEQSPARROW, VecCreate_SeqSparrow));
  PetscCall(VecRegister(VECMPISPARROW, VecCreate_MPISparrow));
  PetscFunctionReturn(0);
}

/* The name that PETSc makes of libsparrow_petsc.so. */
PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_sparrow_petsc(void)
{
  PetscFunctionBegin;
  PetscCall(MatSparrowRegister());
  PetscFunctionReturn(0);
}
