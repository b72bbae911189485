/*
 * MATMPIAIJSPARROW: a distributed AIJ matrix whose products run on each rank's device.
 *
 * AIJ keeps two blocks a rank: columns of its own rows' vectors, and columns of others' (the halo). A product begins to
 * fetch the halo, enqueues the first block's product, which runs meanwhile, waits for the halo, and enqueues the second's,
 * which adds to it. Both blocks stay plain AIJ on the host; the device has a mirror of each.
 *
 * Licence: MIT OR Apache-2.0.
 */
#include "sparrow_petsc.h"

typedef struct {
  SparrowMirror own, others;
  SparrowHalo   halo;
  cl_mem        x, y; /* of a device with memory of its own */
} MPIAIJSparrow;

/* The mirrors of both blocks as they are now, and the halo. */
static PetscErrorCode SparrowReady(Mat A, SparrowDevice **device)
{
  MPIAIJSparrow  *shared = (MPIAIJSparrow *)A->spptr;
  Mat             own, others;
  const PetscInt *columns;

  PetscFunctionBegin;
  PetscCall(SparrowGetDevice(device));
  PetscCall(MatMPIAIJGetSeqAIJ(A, &own, &others, &columns));
  PetscCall(SparrowHaloUpdate(*device, &shared->halo, A, others->cmap->n, columns));
  PetscCall(SparrowMirrorUpdate(*device, &shared->own, own));
  PetscCall(SparrowMirrorUpdate(*device, &shared->others, others));
  PetscFunctionReturn(0);
}

/* y = 0, by those ranks whose block has no nonzeros: VecSet() is collective. */
static PetscErrorCode SparrowSetZero(Vec y)
{
  PetscFunctionBegin;
  PetscUseTypeMethod(y, set, 0.0);
  PetscCall(PetscObjectStateIncrease((PetscObject)y));
  PetscFunctionReturn(0);
}

/* y = A x + beta y, with beta 0 or 1. */
static PetscErrorCode SparrowForwardProduct(Mat A, Vec x, PetscBool keeps, Vec y)
{
  MPIAIJSparrow *shared = (MPIAIJSparrow *)A->spptr;
  SparrowDevice *device;
  SparrowOperand of_x, of_y, of_ghosts;
  cl_event       first = NULL;

  PetscFunctionBegin;
  PetscCall(SparrowReady(A, &device));
  if (!keeps && !shared->own.matrix) {
    PetscCall(SparrowSetZero(y));
    keeps = PETSC_TRUE;
  }
  PetscCall(PetscLogEventBegin(device->product, A, x, y, 0));
  PetscCall(SparrowHaloBegin(device, &shared->halo, x));
  PetscCall(SparrowOperandOpen(device, x, SPARROW_READ, &shared->x, &of_x));
  PetscCall(SparrowOperandOpen(device, y, keeps ? SPARROW_UPDATE : SPARROW_WRITE, &shared->y, &of_y));
  if (shared->own.matrix) {
    PetscCall(SparrowMirrorMultiply(device, &shared->own, PETSC_FALSE, &of_x, keeps ? 1 : 0, &of_y));
    OpenCLCall(clEnqueueMarkerWithWaitList(device->queue, 0, NULL, &first));
  }
  OpenCLCall(clFlush(device->queue));
  PetscCall(SparrowHaloSend(device, &shared->halo, x));
  PetscCall(PetscLogEventEnd(device->product, A, x, y, 0));

  PetscCall(SparrowHaloEnd(device, &shared->halo));
  if (first) {
    cl_int progress;
    OpenCLCall(clGetEventInfo(first, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof progress, &progress, NULL));
    OpenCLCall(clReleaseEvent(first));
    PetscCall(PetscInfo(A, "Sparrow: the halo of %" PetscInt_FMT " elements is there, and the first block's product is %s\n", shared->halo.ghosts->map->n, progress == CL_COMPLETE ? "done" : "under way"));
  }
  PetscCall(PetscLogEventBegin(device->product, A, x, y, 0));
  if (shared->others.matrix) {
    PetscCall(SparrowHaloLend(device, &shared->halo, &of_ghosts));
    PetscCall(SparrowMirrorMultiply(device, &shared->others, PETSC_FALSE, &of_ghosts, 1, &of_y));
    PetscCall(SparrowHaloUsed(device, &shared->halo, &of_ghosts));
  }
  PetscCall(SparrowOperandClose(device, y, &of_y));
  PetscCall(SparrowOperandClose(device, x, &of_x));
  PetscCall(PetscLogEventEnd(device->product, A, x, y, 0));
  PetscFunctionReturn(0);
}

/* One block's transpose: y = B' x + beta y. */
static PetscErrorCode SparrowTransposedBlock(SparrowDevice *device, SparrowMirror *mirror, cl_mem *rows, Vec x, PetscBool keeps, cl_mem *cols, Vec y)
{
  SparrowOperand of_x, of_y;

  PetscFunctionBegin;
  if (!mirror->matrix) {
    if (!keeps) PetscCall(SparrowSetZero(y));
    PetscFunctionReturn(0);
  }
  PetscCall(SparrowOperandOpen(device, x, SPARROW_READ, rows, &of_x));
  PetscCall(SparrowOperandOpen(device, y, keeps ? SPARROW_UPDATE : SPARROW_WRITE, cols, &of_y));
  PetscCall(SparrowMirrorMultiply(device, mirror, PETSC_TRUE, &of_x, keeps ? 1 : 0, &of_y));
  PetscCall(SparrowOperandClose(device, y, &of_y));
  PetscCall(SparrowOperandClose(device, x, &of_x));
  PetscFunctionReturn(0);
}

/* y = A' x + beta y: what belongs to others is computed first. */
static PetscErrorCode SparrowTransposedProduct(Mat A, Vec x, PetscBool keeps, Vec y)
{
  MPIAIJSparrow *shared = (MPIAIJSparrow *)A->spptr;
  SparrowHalo   *halo   = &shared->halo;
  SparrowDevice *device;

  PetscFunctionBegin;
  PetscCall(SparrowReady(A, &device));
  PetscCall(PetscLogEventBegin(device->product, A, x, y, 0));
  PetscCall(SparrowTransposedBlock(device, &shared->others, &shared->y, x, PETSC_FALSE, &halo->of_ghosts, halo->ghosts));
  PetscCall(SparrowTransposedBlock(device, &shared->own, &shared->y, x, keeps, &shared->x, y));
  PetscCall(PetscLogEventEnd(device->product, A, x, y, 0));
  PetscCall(SparrowHaloAdd(device, halo, y));
  PetscFunctionReturn(0);
}

static PetscErrorCode SparrowDistributedProduct(Mat A, PetscBool transposed, Vec x, PetscBool keeps, Vec y)
{
  PetscFunctionBegin;
  if (transposed) PetscCall(SparrowTransposedProduct(A, x, keeps, y));
  else PetscCall(SparrowForwardProduct(A, x, keeps, y));
  PetscFunctionReturn(0);
}

static PetscErrorCode SparrowDistributedRelease(void *spptr)
{
  MPIAIJSparrow *shared = (MPIAIJSparrow *)spptr;
  SparrowDevice *device;

  PetscFunctionBegin;
  PetscCall(SparrowMirrorDestroy(&shared->own));
  PetscCall(SparrowMirrorDestroy(&shared->others));
  if (shared->halo.scatter) {
    PetscCall(SparrowGetDevice(&device));
    PetscCall(SparrowHaloDestroy(device, &shared->halo));
  }
  if (shared->x) OpenCLCall(clReleaseMemObject(shared->x));
  if (shared->y) OpenCLCall(clReleaseMemObject(shared->y));
  PetscFunctionReturn(0);
}

SparrowType sparrow_mpiaij = {
  .plain    = MATMPIAIJ,
  .ours     = MATMPIAIJSPARROW,
  .to_ours  = "MatConvert_mpiaij_mpiaijsparrow_C",
  .to_plain = "MatConvert_mpiaijsparrow_mpiaij_C",
  .bytes    = sizeof(MPIAIJSparrow),
  .product  = SparrowDistributedProduct,
  .release  = SparrowDistributedRelease,
};
