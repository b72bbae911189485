/*
 * What both matrix types are made of: AIJ with some operations replaced. A matrix turns to AIJ again when these are put
 * back.
 *
 * Licence: MIT OR Apache-2.0.
 */
#include "sparrow_petsc.h"

/* Of a matrix of either kind, AIJ's or ours. While one is destroyed, its name may be gone. */
static PetscErrorCode SparrowTypeOf(Mat A, SparrowType **type)
{
  PetscBool is_sequential;

  PetscFunctionBegin;
  PetscCall(PetscStrbeginswith(((PetscObject)A)->type_name, MATSEQAIJ, &is_sequential));
  *type = is_sequential ? &sparrow_seqaij : &sparrow_mpiaij;
  PetscFunctionReturn(0);
}

/* y = A x + beta y or with the transpose, with beta 0 or 1. */
static PetscErrorCode SparrowProduct(Mat A, PetscBool transposed, Vec x, PetscBool keeps, Vec y)
{
  SparrowType *type;

  PetscFunctionBegin;
  PetscCall(SparrowTypeOf(A, &type));
  /* Where PETSc has put another matrix's contents into its header (MatHeaderMerge(), as factorisations in place do), what
     was ours is gone, and begins anew. */
  if (!A->spptr) {
    PetscCall(PetscMalloc(type->bytes, &A->spptr));
    PetscCall(PetscMemzero(A->spptr, type->bytes));
  }
  PetscCall(type->product(A, transposed, x, keeps, y));
  PetscFunctionReturn(0);
}

static PetscErrorCode MatMult_AIJSparrow(Mat A, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(SparrowProduct(A, PETSC_FALSE, x, PETSC_FALSE, y));
  PetscFunctionReturn(0);
}

static PetscErrorCode MatMultAdd_AIJSparrow(Mat A, Vec x, Vec y, Vec z)
{
  PetscFunctionBegin;
  if (y != z) PetscCall(VecCopy(y, z));
  PetscCall(SparrowProduct(A, PETSC_FALSE, x, PETSC_TRUE, z));
  PetscFunctionReturn(0);
}

static PetscErrorCode MatMultTranspose_AIJSparrow(Mat A, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(SparrowProduct(A, PETSC_TRUE, x, PETSC_FALSE, y));
  PetscFunctionReturn(0);
}

static PetscErrorCode MatMultTransposeAdd_AIJSparrow(Mat A, Vec x, Vec y, Vec z)
{
  PetscFunctionBegin;
  if (y != z) PetscCall(VecCopy(y, z));
  PetscCall(SparrowProduct(A, PETSC_TRUE, x, PETSC_TRUE, z));
  PetscFunctionReturn(0);
}

/* Makes it plain AIJ, in place. */
static PetscErrorCode SparrowStrip(Mat A, SparrowType *type)
{
  PetscBool makes_ours;

  PetscFunctionBegin;
  PetscCall(PetscStrcmp(A->defaultvectype, VECSPARROW, &makes_ours));
  if (makes_ours) {
    PetscCall(PetscFree(A->defaultvectype));
    PetscCall(PetscStrallocpy(VECSTANDARD, &A->defaultvectype));
  }
  A->ops->mult             = type->replaced.mult;
  A->ops->multadd          = type->replaced.multadd;
  A->ops->multtranspose    = type->replaced.multtranspose;
  A->ops->multtransposeadd = type->replaced.multtransposeadd;
  A->ops->destroy          = type->replaced.destroy;
  if (A->spptr) PetscCall(type->release(A->spptr));
  PetscCall(PetscFree(A->spptr));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, type->to_ours, NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, type->to_plain, NULL));
  PetscCall(SparrowProductsCompose(A, type->plain, PETSC_FALSE));
  PetscCall(PetscObjectChangeTypeName((PetscObject)A, type->plain));
  PetscFunctionReturn(0);
}

static PetscErrorCode MatDestroy_SeqAIJSparrow(Mat A)
{
  PetscFunctionBegin;
  PetscCall(SparrowStrip(A, &sparrow_seqaij));
  PetscUseTypeMethod(A, destroy);
  PetscFunctionReturn(0);
}

static PetscErrorCode MatDestroy_MPIAIJSparrow(Mat A)
{
  PetscFunctionBegin;
  PetscCall(SparrowStrip(A, &sparrow_mpiaij));
  PetscUseTypeMethod(A, destroy);
  PetscFunctionReturn(0);
}

/* Vectors that a matrix makes are of PETSc's plain type, as those that a program makes by itself, unless the options ask
   for ours: then those of a preconditioner and a method's are both on the device. DM and Vec have an option each. */
static PetscErrorCode SparrowChooseVectors(Mat A)
{
  const char *options[] = {"-vec_type", "-dm_vec_type"};
  char        name[64];
  PetscBool   is_plain, is_given, is_ours = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscStrcmp(A->defaultvectype, VECSTANDARD, &is_plain));
  if (!is_plain) PetscFunctionReturn(0);
  for (int at = 0; at < 4 && !is_ours; ++at) {
    const char *prefix = at < 2 ? NULL : ((PetscObject)A)->prefix;
    if (at >= 2 && !prefix) break;
    PetscCall(PetscOptionsGetString(((PetscObject)A)->options, prefix, options[at % 2], name, sizeof name, &is_given));
    if (is_given) PetscCall(PetscStrendswith(name, VECSPARROW, &is_ours));
  }
  if (!is_ours) PetscFunctionReturn(0);
  PetscCall(PetscFree(A->defaultvectype));
  PetscCall(PetscStrallocpy(VECSPARROW, &A->defaultvectype));
  PetscFunctionReturn(0);
}

/* What a conversion works on: the matrix itself, a copy of it, or one that is there and gets its values; then nothing is
   left to be done. */
static PetscErrorCode SparrowConverted(Mat A, MatReuse reuse, Mat *out, PetscBool *is_done)
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

static PetscErrorCode MatConvert_AIJSparrow_AIJ(Mat A, MatType to, MatReuse reuse, Mat *out)
{
  SparrowType *type;
  PetscBool    is_done;

  PetscFunctionBegin;
  PetscCall(SparrowConverted(A, reuse, out, &is_done));
  PetscCall(SparrowTypeOf(*out, &type));
  if (!is_done) PetscCall(SparrowStrip(*out, type));
  PetscFunctionReturn(0);
}

static PetscErrorCode MatConvert_AIJ_AIJSparrow(Mat A, MatType to, MatReuse reuse, Mat *out)
{
  SparrowType *type;
  PetscBool    is_done, is_same;
  Mat          B;

  PetscFunctionBegin;
  PetscCall(SparrowConverted(A, reuse, out, &is_done));
  if (is_done) PetscFunctionReturn(0);
  B = *out;
  PetscCall(SparrowTypeOf(B, &type));
  PetscCall(PetscObjectTypeCompare((PetscObject)B, type->ours, &is_same));
  if (is_same) PetscFunctionReturn(0);
  type->replaced           = *B->ops;
  B->ops->mult             = MatMult_AIJSparrow;
  B->ops->multadd          = MatMultAdd_AIJSparrow;
  B->ops->multtranspose    = MatMultTranspose_AIJSparrow;
  B->ops->multtransposeadd = MatMultTransposeAdd_AIJSparrow;
  B->ops->destroy          = type == &sparrow_seqaij ? MatDestroy_SeqAIJSparrow : MatDestroy_MPIAIJSparrow;
  PetscCall(PetscObjectComposeFunction((PetscObject)B, type->to_ours, MatConvert_AIJ_AIJSparrow));
  PetscCall(PetscObjectComposeFunction((PetscObject)B, type->to_plain, MatConvert_AIJSparrow_AIJ));
  PetscCall(SparrowProductsCompose(B, type->plain, PETSC_TRUE));
  PetscCall(SparrowChooseVectors(B));
  PetscCall(PetscObjectChangeTypeName((PetscObject)B, type->ours));
  PetscFunctionReturn(0);
}

PetscErrorCode MatCreate_SeqAIJSparrow(Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatSetType(A, MATSEQAIJ));
  PetscCall(MatConvert_AIJ_AIJSparrow(A, MATSEQAIJSPARROW, MAT_INPLACE_MATRIX, &A));
  PetscFunctionReturn(0);
}

PetscErrorCode MatCreate_MPIAIJSparrow(Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatSetType(A, MATMPIAIJ));
  PetscCall(MatConvert_AIJ_AIJSparrow(A, MATMPIAIJSPARROW, MAT_INPLACE_MATRIX, &A));
  PetscFunctionReturn(0);
}
