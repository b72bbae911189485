/*
 * MATMPIAIJSPARROW: a distributed AIJ matrix whose products run on each rank's device.
 *
 * AIJ keeps two blocks a rank: columns of its own rows' vectors, and columns of others' (the halo). A product begins to
 * fetch the halo, enqueues the first block's product, which runs meanwhile, waits for the halo, and enqueues the second's,
 * which adds to it. Both blocks stay plain AIJ on the host; the device has a mirror of each.
 *
 * What AIJ knows of the halo it does not show, so that there is a scatter of our own, made of its column map.
 *
 * Licence: MIT OR Apache-2.0.
 */
#include "sparrow_petsc.h"

typedef struct {
  SparrowMirror    own, others;
  cl_mem           x, y, halo; /* of a device with memory of its own */
  Vec              ghosts;     /* the halo, on the host */
  VecScatter       scatter;
  PetscObjectId    scatter_of; /* the block it was made for, */
  PetscObjectState scatter_state;
} MPIAIJSparrow;

static PetscErrorCode SparrowHaloDestroy(MPIAIJSparrow *shared)
{
  PetscFunctionBegin;
  PetscCall(VecScatterDestroy(&shared->scatter));
  PetscCall(VecDestroy(&shared->ghosts));
  if (shared->halo) OpenCLCall(clReleaseMemObject(shared->halo));
  shared->halo = NULL;
  PetscFunctionReturn(0);
}

/* Collective: whether the halo is another one is asked of all. */
static PetscErrorCode SparrowHalo(Mat A, MPIAIJSparrow *shared, Vec like, Mat others, const PetscInt *columns)
{
  PetscObjectId    id;
  PetscObjectState state;
  IS               from;

  PetscFunctionBegin;
  /* Of the whole matrix, so that all ranks see the same. */
  PetscCall(PetscObjectGetId((PetscObject)A, &id));
  PetscCall(MatGetNonzeroState(A, &state));
  if (shared->scatter && shared->scatter_of == id && shared->scatter_state == state) PetscFunctionReturn(0);
  PetscCall(SparrowHaloDestroy(shared));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, others->cmap->n, &shared->ghosts));
  PetscCall(ISCreateGeneral(PetscObjectComm((PetscObject)A), others->cmap->n, columns, PETSC_COPY_VALUES, &from));
  PetscCall(VecScatterCreate(like, from, shared->ghosts, NULL, &shared->scatter));
  PetscCall(ISDestroy(&from));
  shared->scatter_of    = id;
  shared->scatter_state = state;
  PetscFunctionReturn(0);
}

/* The blocks, their mirrors as they are now, and the halo for vectors like `like`. */
static PetscErrorCode SparrowReady(Mat A, Vec like, SparrowDevice **device)
{
  MPIAIJSparrow  *shared = (MPIAIJSparrow *)A->spptr;
  Mat             own, others;
  const PetscInt *columns;

  PetscFunctionBegin;
  PetscCall(SparrowGetDevice(device));
  PetscCall(MatMPIAIJGetSeqAIJ(A, &own, &others, &columns));
  PetscCall(SparrowHalo(A, shared, like, others, columns));
  PetscCall(SparrowMirrorUpdate(*device, &shared->own, own));
  PetscCall(SparrowMirrorUpdate(*device, &shared->others, others));
  PetscFunctionReturn(0);
}

/* y = A x + beta y, with beta 0 or 1. */
static PetscErrorCode SparrowForwardProduct(Mat A, Vec x, PetscBool keeps, Vec y)
{
  MPIAIJSparrow     *shared = (MPIAIJSparrow *)A->spptr;
  SparrowDevice     *device;
  SparrowOperand     of_x, of_halo = {0}, of_y;
  const PetscScalar *from, *halo;
  PetscScalar       *to;
  PetscInt           n_x, n_halo, n_y;
  cl_event           first = NULL;

  PetscFunctionBegin;
  PetscCall(SparrowReady(A, x, &device));
  PetscCall(VecScatterBegin(shared->scatter, x, shared->ghosts, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecGetLocalSize(x, &n_x));
  PetscCall(VecGetLocalSize(y, &n_y));
  PetscCall(VecGetLocalSize(shared->ghosts, &n_halo));
  PetscCall(VecGetArrayRead(x, &from));
  if (!keeps && !shared->own.matrix) PetscCall(VecSet(y, 0));
  PetscCall(VecGetArray(y, &to));
  PetscCall(PetscLogEventBegin(device->product, A, x, y, 0));
  PetscCall(SparrowOperandRead(device, from, n_x, &shared->x, &of_x));
  PetscCall(SparrowOperandWrite(device, to, n_y, (PetscBool)(keeps || !shared->own.matrix), &shared->y, &of_y));
  if (shared->own.matrix) {
    PetscCall(SparrowMirrorMultiply(device, &shared->own, PETSC_FALSE, &of_x, keeps ? 1 : 0, &of_y));
    OpenCLCall(clEnqueueMarkerWithWaitList(device->queue, 0, NULL, &first));
    OpenCLCall(clFlush(device->queue));
  }
  PetscCall(PetscLogEventEnd(device->product, A, x, y, 0));

  PetscCall(VecScatterEnd(shared->scatter, x, shared->ghosts, INSERT_VALUES, SCATTER_FORWARD));
  if (first) {
    cl_int progress;
    OpenCLCall(clGetEventInfo(first, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof progress, &progress, NULL));
    OpenCLCall(clReleaseEvent(first));
    PetscCall(PetscInfo(A, "Sparrow: the halo of %" PetscInt_FMT " elements is there, and the first block's product is %s\n", n_halo, progress == CL_COMPLETE ? "done" : "under way"));
  }
  PetscCall(PetscLogEventBegin(device->product, A, x, y, 0));
  PetscCall(VecGetArrayRead(shared->ghosts, &halo));
  if (shared->others.matrix) {
    PetscCall(SparrowOperandRead(device, halo, n_halo, &shared->halo, &of_halo));
    PetscCall(SparrowMirrorMultiply(device, &shared->others, PETSC_FALSE, &of_halo, 1, &of_y));
  }
  PetscCall(SparrowOperandFinish(device, &of_y, to));
  PetscCall(SparrowOperandRelease(&of_halo));
  PetscCall(SparrowOperandRelease(&of_x));
  PetscCall(SparrowOperandRelease(&of_y));
  PetscCall(PetscLogEventEnd(device->product, A, x, y, 0));
  PetscCall(VecRestoreArrayRead(shared->ghosts, &halo));
  PetscCall(VecRestoreArray(y, &to));
  PetscCall(VecRestoreArrayRead(x, &from));
  PetscFunctionReturn(0);
}

/* One block's transpose: y = B' x + beta y, done when it returns. */
static PetscErrorCode SparrowTransposedBlock(SparrowDevice *device, SparrowMirror *mirror, cl_mem *rows, Vec x, PetscBool keeps, cl_mem *cols, Vec y)
{
  SparrowOperand     of_x, of_y;
  const PetscScalar *from;
  PetscScalar       *to;
  PetscInt           n_x, n_y;

  PetscFunctionBegin;
  if (!mirror->matrix) {
    if (!keeps) PetscCall(VecSet(y, 0));
    PetscFunctionReturn(0);
  }
  PetscCall(VecGetLocalSize(x, &n_x));
  PetscCall(VecGetLocalSize(y, &n_y));
  PetscCall(VecGetArrayRead(x, &from));
  PetscCall(VecGetArray(y, &to));
  PetscCall(SparrowOperandRead(device, from, n_x, rows, &of_x));
  PetscCall(SparrowOperandWrite(device, to, n_y, keeps, cols, &of_y));
  PetscCall(SparrowMirrorMultiply(device, mirror, PETSC_TRUE, &of_x, keeps ? 1 : 0, &of_y));
  PetscCall(SparrowOperandFinish(device, &of_y, to));
  PetscCall(SparrowOperandRelease(&of_x));
  PetscCall(SparrowOperandRelease(&of_y));
  PetscCall(VecRestoreArray(y, &to));
  PetscCall(VecRestoreArrayRead(x, &from));
  PetscFunctionReturn(0);
}

/* y = A' x + beta y: what belongs to others is computed first and sent while the rest is. */
static PetscErrorCode SparrowTransposedProduct(Mat A, Vec x, PetscBool keeps, Vec y)
{
  MPIAIJSparrow *shared = (MPIAIJSparrow *)A->spptr;
  SparrowDevice *device;

  PetscFunctionBegin;
  PetscCall(SparrowReady(A, y, &device));
  PetscCall(PetscLogEventBegin(device->product, A, x, y, 0));
  PetscCall(SparrowTransposedBlock(device, &shared->others, &shared->y, x, PETSC_FALSE, &shared->halo, shared->ghosts));
  PetscCall(SparrowTransposedBlock(device, &shared->own, &shared->y, x, keeps, &shared->x, y));
  PetscCall(PetscLogEventEnd(device->product, A, x, y, 0));
  PetscCall(VecScatterBegin(shared->scatter, shared->ghosts, y, ADD_VALUES, SCATTER_REVERSE));
  PetscCall(VecScatterEnd(shared->scatter, shared->ghosts, y, ADD_VALUES, SCATTER_REVERSE));
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

  PetscFunctionBegin;
  PetscCall(SparrowMirrorDestroy(&shared->own));
  PetscCall(SparrowMirrorDestroy(&shared->others));
  PetscCall(SparrowHaloDestroy(shared));
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
