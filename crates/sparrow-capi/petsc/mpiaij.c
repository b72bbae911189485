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

/* AIJ's own operations. */
static struct _MatOps plain;

/* What a matrix of the type has. Where PETSc has put another matrix's contents into its header (MatHeaderMerge(), as
   factorisations in place do), that is gone, and begins anew. */
static PetscErrorCode SparrowOf(Mat A, MPIAIJSparrow **out)
{
  PetscFunctionBegin;
  if (!A->spptr) {
    PetscCall(PetscNew(out));
    A->spptr = *out;
  }
  *out = (MPIAIJSparrow *)A->spptr;
  PetscFunctionReturn(0);
}

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
static PetscErrorCode SparrowReady(Mat A, Vec like, SparrowDevice **device, MPIAIJSparrow **out)
{
  MPIAIJSparrow  *shared;
  Mat             own, others;
  const PetscInt *columns;

  PetscFunctionBegin;
  PetscCall(SparrowOf(A, &shared));
  *out = shared;
  PetscCall(SparrowGetDevice(device));
  PetscCall(MatMPIAIJGetSeqAIJ(A, &own, &others, &columns));
  PetscCall(SparrowHalo(A, shared, like, others, columns));
  PetscCall(SparrowMirrorUpdate(*device, &shared->own, own));
  PetscCall(SparrowMirrorUpdate(*device, &shared->others, others));
  PetscFunctionReturn(0);
}

/* y = A x + beta y, with beta 0 or 1. */
static PetscErrorCode SparrowProduct(Mat A, Vec x, PetscBool keeps, Vec y)
{
  MPIAIJSparrow     *shared;
  SparrowDevice     *device;
  SparrowOperand     of_x, of_halo = {0}, of_y;
  const PetscScalar *from, *halo;
  PetscScalar       *to;
  PetscInt           n_x, n_halo, n_y;
  cl_event           first = NULL;

  PetscFunctionBegin;
  PetscCall(SparrowReady(A, x, &device, &shared));
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
  MPIAIJSparrow *shared;
  SparrowDevice *device;

  PetscFunctionBegin;
  PetscCall(SparrowReady(A, y, &device, &shared));
  PetscCall(PetscLogEventBegin(device->product, A, x, y, 0));
  PetscCall(SparrowTransposedBlock(device, &shared->others, &shared->y, x, PETSC_FALSE, &shared->halo, shared->ghosts));
  PetscCall(SparrowTransposedBlock(device, &shared->own, &shared->y, x, keeps, &shared->x, y));
  PetscCall(PetscLogEventEnd(device->product, A, x, y, 0));
  PetscCall(VecScatterBegin(shared->scatter, shared->ghosts, y, ADD_VALUES, SCATTER_REVERSE));
  PetscCall(VecScatterEnd(shared->scatter, shared->ghosts, y, ADD_VALUES, SCATTER_REVERSE));
  PetscFunctionReturn(0);
}

static PetscErrorCode MatMult_MPIAIJSparrow(Mat A, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(SparrowProduct(A, x, PETSC_FALSE, y));
  PetscFunctionReturn(0);
}

static PetscErrorCode MatMultAdd_MPIAIJSparrow(Mat A, Vec x, Vec y, Vec z)
{
  PetscFunctionBegin;
  if (y != z) PetscCall(VecCopy(y, z));
  PetscCall(SparrowProduct(A, x, PETSC_TRUE, z));
  PetscFunctionReturn(0);
}

static PetscErrorCode MatMultTranspose_MPIAIJSparrow(Mat A, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(SparrowTransposedProduct(A, x, PETSC_FALSE, y));
  PetscFunctionReturn(0);
}

static PetscErrorCode MatMultTransposeAdd_MPIAIJSparrow(Mat A, Vec x, Vec y, Vec z)
{
  PetscFunctionBegin;
  if (y != z) PetscCall(VecCopy(y, z));
  PetscCall(SparrowTransposedProduct(A, x, PETSC_TRUE, z));
  PetscFunctionReturn(0);
}

static PetscErrorCode MatConvert_MPIAIJ_MPIAIJSparrow(Mat, MatType, MatReuse, Mat *);
static PetscErrorCode MatConvert_MPIAIJSparrow_MPIAIJ(Mat, MatType, MatReuse, Mat *);

/* Makes it plain AIJ, in place. */
static PetscErrorCode SparrowStrip(Mat A)
{
  MPIAIJSparrow *shared = (MPIAIJSparrow *)A->spptr;

  PetscFunctionBegin;
  A->ops->mult             = plain.mult;
  A->ops->multadd          = plain.multadd;
  A->ops->multtranspose    = plain.multtranspose;
  A->ops->multtransposeadd = plain.multtransposeadd;
  A->ops->destroy          = plain.destroy;
  if (shared) {
    PetscCall(SparrowMirrorDestroy(&shared->own));
    PetscCall(SparrowMirrorDestroy(&shared->others));
    PetscCall(SparrowHaloDestroy(shared));
    if (shared->x) OpenCLCall(clReleaseMemObject(shared->x));
    if (shared->y) OpenCLCall(clReleaseMemObject(shared->y));
  }
  PetscCall(PetscFree(A->spptr));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatConvert_mpiaij_mpiaijsparrow_C", NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatConvert_mpiaijsparrow_mpiaij_C", NULL));
  PetscCall(SparrowProductsCompose(A, MATMPIAIJ, PETSC_FALSE));
  PetscCall(PetscObjectChangeTypeName((PetscObject)A, MATMPIAIJ));
  PetscFunctionReturn(0);
}

static PetscErrorCode MatDestroy_MPIAIJSparrow(Mat A)
{
  PetscFunctionBegin;
  PetscCall(SparrowStrip(A));
  PetscUseTypeMethod(A, destroy);
  PetscFunctionReturn(0);
}

static PetscErrorCode MatConvert_MPIAIJ_MPIAIJSparrow(Mat A, MatType type, MatReuse reuse, Mat *out)
{
  PetscBool is_done, is_same;
  Mat       B;

  PetscFunctionBegin;
  PetscCall(SparrowConverted(A, reuse, out, &is_done));
  if (is_done) PetscFunctionReturn(0);
  B = *out;
  PetscCall(PetscObjectTypeCompare((PetscObject)B, MATMPIAIJSPARROW, &is_same));
  if (is_same) PetscFunctionReturn(0);
  plain                    = *B->ops;
  B->ops->mult             = MatMult_MPIAIJSparrow;
  B->ops->multadd          = MatMultAdd_MPIAIJSparrow;
  B->ops->multtranspose    = MatMultTranspose_MPIAIJSparrow;
  B->ops->multtransposeadd = MatMultTransposeAdd_MPIAIJSparrow;
  B->ops->destroy          = MatDestroy_MPIAIJSparrow;
  PetscCall(PetscObjectComposeFunction((PetscObject)B, "MatConvert_mpiaij_mpiaijsparrow_C", MatConvert_MPIAIJ_MPIAIJSparrow));
  PetscCall(PetscObjectComposeFunction((PetscObject)B, "MatConvert_mpiaijsparrow_mpiaij_C", MatConvert_MPIAIJSparrow_MPIAIJ));
  PetscCall(SparrowProductsCompose(B, MATMPIAIJ, PETSC_TRUE));
  PetscCall(PetscObjectChangeTypeName((PetscObject)B, MATMPIAIJSPARROW));
  PetscFunctionReturn(0);
}

static PetscErrorCode MatConvert_MPIAIJSparrow_MPIAIJ(Mat A, MatType type, MatReuse reuse, Mat *out)
{
  PetscBool is_done;

  PetscFunctionBegin;
  PetscCall(SparrowConverted(A, reuse, out, &is_done));
  if (!is_done) PetscCall(SparrowStrip(*out));
  PetscFunctionReturn(0);
}

PetscErrorCode MatCreate_MPIAIJSparrow(Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatSetType(A, MATMPIAIJ));
  PetscCall(MatConvert_MPIAIJ_MPIAIJSparrow(A, MATMPIAIJSPARROW, MAT_INPLACE_MATRIX, &A));
  PetscFunctionReturn(0);
}
