/*
 * MATSEQAIJSPARROW: a sequential AIJ matrix whose products run on the device.
 *
 * The type is AIJ's with some operations replaced, and turns to AIJ again when these are put back.
 *
 * Licence: MIT OR Apache-2.0.
 */
#include "sparrow_petsc.h"

typedef struct {
  SparrowMirror mirror;
  cl_mem        x, y; /* of a device with memory of its own */
} SeqAIJSparrow;

/* AIJ's own operations. */
static struct _MatOps plain;

/* What a matrix of the type has. Where PETSc has put another matrix's contents into its header (MatHeaderMerge(), as
   factorisations in place do), that is gone, and begins anew. */
static PetscErrorCode SparrowOf(Mat A, SeqAIJSparrow **out)
{
  PetscFunctionBegin;
  if (!A->spptr) {
    PetscCall(PetscNew(out));
    A->spptr = *out;
  }
  *out = (SeqAIJSparrow *)A->spptr;
  PetscFunctionReturn(0);
}

/* y = A x + beta y or with the transpose, with beta 0 or 1. */
static PetscErrorCode SparrowProduct(Mat A, PetscBool transposed, Vec x, PetscBool keeps, Vec y)
{
  SeqAIJSparrow     *own;
  SparrowDevice     *device;
  SparrowOperand     of_x, of_y;
  const PetscScalar *from;
  PetscScalar       *to;
  PetscInt           n_x, n_y;
  cl_mem            *buffers[2];

  PetscFunctionBegin;
  PetscCall(SparrowOf(A, &own));
  buffers[0] = &own->x;
  buffers[1] = &own->y;
  PetscCall(SparrowGetDevice(&device));
  PetscCall(SparrowMirrorUpdate(device, &own->mirror, A));
  if (!own->mirror.matrix) {
    if (!keeps) PetscCall(VecSet(y, 0));
    PetscFunctionReturn(0);
  }
  PetscCall(VecGetLocalSize(x, &n_x));
  PetscCall(VecGetLocalSize(y, &n_y));
  PetscCall(VecGetArrayRead(x, &from));
  if (keeps) PetscCall(VecGetArray(y, &to));
  else PetscCall(VecGetArrayWrite(y, &to));
  PetscCall(PetscLogEventBegin(device->product, A, x, y, 0));
  /* One buffer is as long as A is wide, the other as it is high, whichever way it multiplies. */
  PetscCall(SparrowOperandRead(device, from, n_x, buffers[transposed], &of_x));
  PetscCall(SparrowOperandWrite(device, to, n_y, keeps, buffers[!transposed], &of_y));
  PetscCall(SparrowMirrorMultiply(device, &own->mirror, transposed, &of_x, keeps ? 1 : 0, &of_y));
  PetscCall(SparrowOperandFinish(device, &of_y, to));
  PetscCall(SparrowOperandRelease(&of_x));
  PetscCall(SparrowOperandRelease(&of_y));
  PetscCall(PetscLogEventEnd(device->product, A, x, y, 0));
  if (keeps) PetscCall(VecRestoreArray(y, &to));
  else PetscCall(VecRestoreArrayWrite(y, &to));
  PetscCall(VecRestoreArrayRead(x, &from));
  PetscFunctionReturn(0);
}

static PetscErrorCode MatMult_SeqAIJSparrow(Mat A, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(SparrowProduct(A, PETSC_FALSE, x, PETSC_FALSE, y));
  PetscFunctionReturn(0);
}

static PetscErrorCode MatMultAdd_SeqAIJSparrow(Mat A, Vec x, Vec y, Vec z)
{
  PetscFunctionBegin;
  if (y != z) PetscCall(VecCopy(y, z));
  PetscCall(SparrowProduct(A, PETSC_FALSE, x, PETSC_TRUE, z));
  PetscFunctionReturn(0);
}

static PetscErrorCode MatMultTranspose_SeqAIJSparrow(Mat A, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(SparrowProduct(A, PETSC_TRUE, x, PETSC_FALSE, y));
  PetscFunctionReturn(0);
}

static PetscErrorCode MatMultTransposeAdd_SeqAIJSparrow(Mat A, Vec x, Vec y, Vec z)
{
  PetscFunctionBegin;
  if (y != z) PetscCall(VecCopy(y, z));
  PetscCall(SparrowProduct(A, PETSC_TRUE, x, PETSC_TRUE, z));
  PetscFunctionReturn(0);
}

static PetscErrorCode MatConvert_SeqAIJ_SeqAIJSparrow(Mat, MatType, MatReuse, Mat *);
static PetscErrorCode MatConvert_SeqAIJSparrow_SeqAIJ(Mat, MatType, MatReuse, Mat *);

/* Makes it plain AIJ, in place. */
static PetscErrorCode SparrowStrip(Mat A)
{
  SeqAIJSparrow *own = (SeqAIJSparrow *)A->spptr;

  PetscFunctionBegin;
  A->ops->mult             = plain.mult;
  A->ops->multadd          = plain.multadd;
  A->ops->multtranspose    = plain.multtranspose;
  A->ops->multtransposeadd = plain.multtransposeadd;
  A->ops->destroy          = plain.destroy;
  if (own) {
    PetscCall(SparrowMirrorDestroy(&own->mirror));
    if (own->x) OpenCLCall(clReleaseMemObject(own->x));
    if (own->y) OpenCLCall(clReleaseMemObject(own->y));
  }
  PetscCall(PetscFree(A->spptr));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatConvert_seqaij_seqaijsparrow_C", NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatConvert_seqaijsparrow_seqaij_C", NULL));
  PetscCall(SparrowProductsCompose(A, MATSEQAIJ, PETSC_FALSE));
  PetscCall(PetscObjectChangeTypeName((PetscObject)A, MATSEQAIJ));
  PetscFunctionReturn(0);
}

static PetscErrorCode MatDestroy_SeqAIJSparrow(Mat A)
{
  PetscFunctionBegin;
  PetscCall(SparrowStrip(A));
  PetscUseTypeMethod(A, destroy);
  PetscFunctionReturn(0);
}

static PetscErrorCode MatConvert_SeqAIJ_SeqAIJSparrow(Mat A, MatType type, MatReuse reuse, Mat *out)
{
  PetscBool is_done, is_same;
  Mat       B;

  PetscFunctionBegin;
  PetscCall(SparrowConverted(A, reuse, out, &is_done));
  if (is_done) PetscFunctionReturn(0);
  B = *out;
  PetscCall(PetscObjectTypeCompare((PetscObject)B, MATSEQAIJSPARROW, &is_same));
  if (is_same) PetscFunctionReturn(0);
  plain                    = *B->ops;
  B->ops->mult             = MatMult_SeqAIJSparrow;
  B->ops->multadd          = MatMultAdd_SeqAIJSparrow;
  B->ops->multtranspose    = MatMultTranspose_SeqAIJSparrow;
  B->ops->multtransposeadd = MatMultTransposeAdd_SeqAIJSparrow;
  B->ops->destroy          = MatDestroy_SeqAIJSparrow;
  PetscCall(PetscObjectComposeFunction((PetscObject)B, "MatConvert_seqaij_seqaijsparrow_C", MatConvert_SeqAIJ_SeqAIJSparrow));
  PetscCall(PetscObjectComposeFunction((PetscObject)B, "MatConvert_seqaijsparrow_seqaij_C", MatConvert_SeqAIJSparrow_SeqAIJ));
  PetscCall(SparrowProductsCompose(B, MATSEQAIJ, PETSC_TRUE));
  PetscCall(PetscObjectChangeTypeName((PetscObject)B, MATSEQAIJSPARROW));
  PetscFunctionReturn(0);
}

static PetscErrorCode MatConvert_SeqAIJSparrow_SeqAIJ(Mat A, MatType type, MatReuse reuse, Mat *out)
{
  PetscBool is_done;

  PetscFunctionBegin;
  PetscCall(SparrowConverted(A, reuse, out, &is_done));
  if (!is_done) PetscCall(SparrowStrip(*out));
  PetscFunctionReturn(0);
}

PetscErrorCode MatCreate_SeqAIJSparrow(Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatSetType(A, MATSEQAIJ));
  PetscCall(MatConvert_SeqAIJ_SeqAIJSparrow(A, MATSEQAIJSPARROW, MAT_INPLACE_MATRIX, &A));
  PetscFunctionReturn(0);
}
