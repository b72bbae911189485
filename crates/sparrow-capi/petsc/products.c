/*
 * Products with dense matrices. PETSc finds how two matrices are multiplied by the names of their types, which ours are
 * not in; AIJ's ways serve, since all of AIJ is there.
 *
 * Licence: MIT OR Apache-2.0.
 */
#include "sparrow_petsc.h"

typedef struct {
  const char *aij, *dense; /* PETSc's types */
  const char *theirs;      /* what they call it */
  const char *ours;
  void (*ways)(void);
} SparrowProductName;

static SparrowProductName names[] = {
  {MATSEQAIJ, MATSEQDENSE, "MatProductSetFromOptions_seqaij_seqdense_C", "MatProductSetFromOptions_seqaijsparrow_seqdense_C", NULL},
  {MATSEQAIJ, MATSEQDENSE, "MatProductSetFromOptions_seqdense_seqaij_C", "MatProductSetFromOptions_seqdense_seqaijsparrow_C", NULL},
  {MATMPIAIJ, MATMPIDENSE, "MatProductSetFromOptions_mpiaij_mpidense_C", "MatProductSetFromOptions_mpiaijsparrow_mpidense_C", NULL},
  {MATMPIAIJ, MATMPIDENSE, "MatProductSetFromOptions_mpidense_mpiaij_C", "MatProductSetFromOptions_mpidense_mpiaijsparrow_C", NULL},
};

/* Asks a matrix of either type for its ways. Collective on PETSC_COMM_WORLD. */
PetscErrorCode SparrowProductsInitialize(void)
{
  PetscFunctionBegin;
  for (size_t name = 0; name < PETSC_STATIC_ARRAY_LENGTH(names); ++name) {
    for (int which = 0; which < 2 && !names[name].ways; ++which) {
      const char *type = which ? names[name].dense : names[name].aij;
      PetscBool   is_sequential;
      Mat         A;
      PetscCall(PetscStrncmp(type, "seq", 3, &is_sequential));
      PetscCall(MatCreate(is_sequential ? PETSC_COMM_SELF : PETSC_COMM_WORLD, &A));
      PetscCall(MatSetSizes(A, 0, 0, PETSC_DETERMINE, PETSC_DETERMINE));
      PetscCall(MatSetType(A, type));
      PetscCall(PetscObjectQueryFunction((PetscObject)A, names[name].theirs, &names[name].ways));
      PetscCall(MatDestroy(&A));
    }
  }
  PetscFunctionReturn(0);
}

PetscErrorCode SparrowProductsCompose(Mat A, MatType plain, PetscBool are_there)
{
  PetscBool is_meant;

  PetscFunctionBegin;
  for (size_t name = 0; name < PETSC_STATIC_ARRAY_LENGTH(names); ++name) {
    PetscCall(PetscStrcmp(names[name].aij, plain, &is_meant));
    if (is_meant) PetscCall(PetscObjectComposeFunction((PetscObject)A, names[name].ours, are_there ? names[name].ways : NULL));
  }
  PetscFunctionReturn(0);
}
