/*
 * MATSEQAIJSPARROW: a sequential AIJ matrix whose products run on the device.
 *
 * Licence: MIT OR Apache-2.0.
 */
#include "sparrow_petsc.h"

typedef struct {
  SparrowMirror mirror;
  cl_mem        x, y; /* of a device with memory of its own */
} SeqAIJSparrow;

/* y = A x + beta y or with the transpose, with beta 0 or 1. */
static PetscErrorCode SparrowSequentialProduct(Mat A, PetscBool transposed, Vec x, PetscBool keeps, Vec y)
{
  SeqAIJSparrow *own = (SeqAIJSparrow *)A->spptr;
  SparrowDevice *device;
  SparrowOperand of_x, of_y;
  cl_mem        *buffers[2] = {&own->x, &own->y};

  PetscFunctionBegin;
  PetscCall(SparrowGetDevice(&device));
  PetscCall(SparrowMirrorUpdate(device, &own->mirror, A));
  if (!own->mirror.matrix) {
    if (!keeps) PetscCall(VecSet(y, 0));
    PetscFunctionReturn(0);
  }
  PetscCall(PetscLogEventBegin(device->product, A, x, y, 0));
  /* One buffer is as long as A is wide, the other as it is high, whichever way it multiplies. */
  PetscCall(SparrowOperandOpen(device, x, SPARROW_READ, buffers[transposed], &of_x));
  PetscCall(SparrowOperandOpen(device, y, keeps ? SPARROW_UPDATE : SPARROW_WRITE, buffers[!transposed], &of_y));
  PetscCall(SparrowMirrorMultiply(device, &own->mirror, transposed, &of_x, keeps ? 1 : 0, &of_y));
  PetscCall(SparrowOperandClose(device, y, &of_y));
  PetscCall(SparrowOperandClose(device, x, &of_x));
  PetscCall(PetscLogEventEnd(device->product, A, x, y, 0));
  PetscFunctionReturn(0);
}

static PetscErrorCode SparrowSequentialRelease(void *spptr)
{
  SeqAIJSparrow *own = (SeqAIJSparrow *)spptr;

  PetscFunctionBegin;
  PetscCall(SparrowMirrorDestroy(&own->mirror));
  if (own->x) OpenCLCall(clReleaseMemObject(own->x));
  if (own->y) OpenCLCall(clReleaseMemObject(own->y));
  PetscFunctionReturn(0);
}

SparrowType sparrow_seqaij = {
  .plain    = MATSEQAIJ,
  .ours     = MATSEQAIJSPARROW,
  .to_ours  = "MatConvert_seqaij_seqaijsparrow_C",
  .to_plain = "MatConvert_seqaijsparrow_seqaij_C",
  .bytes    = sizeof(SeqAIJSparrow),
  .product  = SparrowSequentialProduct,
  .release  = SparrowSequentialRelease,
};
