/*
 * Operations of VECSPARROW element by element, enqueued and not waited for. Where a vector of another type takes part,
 * PETSc's own operation does it, on the host; so it does division, whose result is 0 where PETSc divides by 0.
 *
 * A vector that PETSc leaves out because its coefficient is 0 is left out here, so that its NaN stays where it is. Of
 * coefficients that PETSc multiplies by though they are 0, VecMAXPY()'s and VecAXPBYPCZ()'s beta leave theirs out too.
 *
 * Licence: MIT OR Apache-2.0.
 */
#include "sparrow_petsc.h"

static PetscErrorCode VecScale_Sparrow(Vec, PetscScalar);

/* r = op(x, y, r); y is NULL where the operation has none, and x and y may be r, which else is read where gamma is not 0.
   `*is_done` says whether all are ours; else nothing happened. */
static PetscErrorCode SparrowElementwise(sparrow_elementary operation, PetscScalar alpha, Vec x, PetscScalar beta, Vec y, PetscScalar gamma, Vec r, PetscBool *is_done)
{
  SparrowDevice      *device;
  cl_mem              of_x, of_y = NULL, of_r;
  sparrow_elementwise operands = {.size = sizeof operands, .elements = (uint64_t)r->map->n, .operation = operation, .alpha = {.value = alpha}, .beta = {.value = beta}, .gamma = {.value = gamma}};

  PetscFunctionBegin;
  *is_done = (PetscBool)(SparrowIsVector(x) && (!y || SparrowIsVector(y)) && SparrowIsVector(r));
  if (!*is_done || r->map->n == 0) PetscFunctionReturn(0);
  PetscCall(SparrowGetDevice(&device));
  PetscCall(SparrowVectorOnDevice(device, x, SPARROW_READ, &of_x));
  if (y) PetscCall(SparrowVectorOnDevice(device, y, SPARROW_READ, &of_y));
  PetscCall(SparrowVectorOnDevice(device, r, gamma != 0 ? SPARROW_UPDATE : SPARROW_WRITE, &of_r));
  operands.x.memory = of_x;
  operands.y.memory = of_y;
  operands.r.memory = of_r;
  SparrowCall(sparrow_vectors_elementwise(device->vectors, device->queue, &operands, 0, NULL, NULL));
  PetscFunctionReturn(0);
}

static PetscErrorCode VecAXPY_Sparrow(Vec y, PetscScalar alpha, Vec x)
{
  PetscBool is_done;

  PetscFunctionBegin;
  PetscCall(SparrowElementwise(SPARROW_ELEMENTARY_AXPY, alpha, x, 0, y, 0, y, &is_done));
  if (is_done) PetscCall(PetscLogFlops(2.0 * y->map->n));
  else PetscCall(SparrowVectorPlain(y)->axpy(y, alpha, x));
  PetscFunctionReturn(0);
}

static PetscErrorCode VecAYPX_Sparrow(Vec y, PetscScalar alpha, Vec x)
{
  PetscBool is_done;

  PetscFunctionBegin;
  PetscCall(SparrowElementwise(SPARROW_ELEMENTARY_AXPBY, 1, x, alpha, y, 0, y, &is_done));
  if (is_done) PetscCall(PetscLogFlops(2.0 * y->map->n));
  else PetscCall(SparrowVectorPlain(y)->aypx(y, alpha, x));
  PetscFunctionReturn(0);
}

static PetscErrorCode VecAXPBY_Sparrow(Vec y, PetscScalar alpha, PetscScalar beta, Vec x)
{
  PetscBool is_done;

  PetscFunctionBegin;
  if (alpha == 0) {
    PetscCall(VecScale_Sparrow(y, beta));
    PetscFunctionReturn(0);
  }
  PetscCall(SparrowElementwise(SPARROW_ELEMENTARY_AXPBY, alpha, x, beta, y, 0, y, &is_done));
  if (is_done) PetscCall(PetscLogFlops(3.0 * y->map->n));
  else PetscCall(SparrowVectorPlain(y)->axpby(y, alpha, beta, x));
  PetscFunctionReturn(0);
}

static PetscErrorCode VecAXPBYPCZ_Sparrow(Vec z, PetscScalar alpha, PetscScalar beta, PetscScalar gamma, Vec x, Vec y)
{
  PetscBool is_done;

  PetscFunctionBegin;
  PetscCall(SparrowElementwise(SPARROW_ELEMENTARY_UPDATE, alpha, x, beta, y, gamma, z, &is_done));
  if (is_done) PetscCall(PetscLogFlops(5.0 * z->map->n));
  else PetscCall(SparrowVectorPlain(z)->axpbypcz(z, alpha, beta, gamma, x, y));
  PetscFunctionReturn(0);
}

static PetscErrorCode VecWAXPY_Sparrow(Vec w, PetscScalar alpha, Vec x, Vec y)
{
  PetscBool is_done;

  PetscFunctionBegin;
  PetscCall(SparrowElementwise(SPARROW_ELEMENTARY_AXPY, alpha, x, 0, y, 0, w, &is_done));
  if (is_done) PetscCall(PetscLogFlops(2.0 * w->map->n));
  else PetscCall(SparrowVectorPlain(w)->waxpy(w, alpha, x, y));
  PetscFunctionReturn(0);
}

/* Two of the vectors x at a time, so that y is read and written half as often. */
static PetscErrorCode VecMAXPY_Sparrow(Vec y, PetscInt count, const PetscScalar *alpha, Vec *x)
{
  PetscBool is_done = PETSC_TRUE;
  PetscInt  first   = -1; /* of two */

  PetscFunctionBegin;
  for (PetscInt at = 0; at < count; ++at) is_done = (PetscBool)(is_done && SparrowIsVector(x[at]));
  if (!is_done) {
    PetscCall(SparrowVectorPlain(y)->maxpy(y, count, alpha, x));
    PetscFunctionReturn(0);
  }
  for (PetscInt at = 0; at < count; ++at) {
    if (alpha[at] == 0) continue;
    if (first < 0) {
      first = at;
      continue;
    }
    PetscCall(SparrowElementwise(SPARROW_ELEMENTARY_UPDATE, alpha[first], x[first], alpha[at], x[at], 1, y, &is_done));
    first = -1;
  }
  if (first >= 0) PetscCall(SparrowElementwise(SPARROW_ELEMENTARY_AXPY, alpha[first], x[first], 0, y, 0, y, &is_done));
  PetscCall(PetscLogFlops(2.0 * count * y->map->n));
  PetscFunctionReturn(0);
}

static PetscErrorCode VecPointwiseMult_Sparrow(Vec w, Vec x, Vec y)
{
  PetscBool is_done;

  PetscFunctionBegin;
  PetscCall(SparrowElementwise(SPARROW_ELEMENTARY_MULTIPLY, 0, x, 0, y, 0, w, &is_done));
  if (is_done) PetscCall(PetscLogFlops(w->map->n));
  else PetscCall(SparrowVectorPlain(w)->pointwisemult(w, x, y));
  PetscFunctionReturn(0);
}

static PetscErrorCode SparrowFill(SparrowDevice *device, cl_mem memory, PetscInt count, PetscScalar value)
{
  PetscFunctionBegin;
  OpenCLCall(clEnqueueFillBuffer(device->queue, memory, &value, sizeof value, 0, (size_t)count * sizeof value, 0, NULL, NULL));
  PetscFunctionReturn(0);
}

static PetscErrorCode VecSet_Sparrow(Vec x, PetscScalar alpha)
{
  SparrowDevice *device;
  cl_mem         of_x;

  PetscFunctionBegin;
  PetscCall(SparrowGetDevice(&device));
  PetscCall(SparrowVectorOnDevice(device, x, SPARROW_WRITE, &of_x));
  if (of_x) PetscCall(SparrowFill(device, of_x, x->map->n, alpha));
  PetscFunctionReturn(0);
}

/* As PETSc's: 0 sets to zero, whatever there was. */
static PetscErrorCode VecScale_Sparrow(Vec x, PetscScalar alpha)
{
  PetscBool is_done;

  PetscFunctionBegin;
  if (alpha == 0) PetscCall(VecSet_Sparrow(x, 0));
  else if (alpha != 1) PetscCall(SparrowElementwise(SPARROW_ELEMENTARY_SCALE, alpha, x, 0, NULL, 0, x, &is_done));
  PetscCall(PetscLogFlops(x->map->n));
  PetscFunctionReturn(0);
}

/* x + alpha, as x and alpha times ones: no kernel adds a number. */
static PetscErrorCode VecShift_Sparrow(Vec x, PetscScalar alpha)
{
  SparrowDevice      *device;
  cl_mem              of_x;
  sparrow_elementwise operands = {.size = sizeof operands, .elements = (uint64_t)x->map->n, .operation = SPARROW_ELEMENTARY_AXPY, .alpha = {.value = alpha}};

  PetscFunctionBegin;
  if (x->map->n == 0) PetscFunctionReturn(0);
  PetscCall(SparrowGetDevice(&device));
  if (device->n_ones < x->map->n) {
    cl_int status;
    cl_mem shorter = device->ones;
    /* None, until all of them are there. */
    device->ones   = NULL;
    device->n_ones = 0;
    if (shorter) OpenCLCall(clReleaseMemObject(shorter));
    device->ones = clCreateBuffer(device->context, CL_MEM_READ_WRITE, (size_t)x->map->n * sizeof(PetscScalar), NULL, &status);
    OpenCLCall(status);
    PetscCall(SparrowFill(device, device->ones, x->map->n, 1));
    device->n_ones = x->map->n;
  }
  PetscCall(SparrowVectorOnDevice(device, x, SPARROW_UPDATE, &of_x));
  operands.x.memory = device->ones;
  operands.y.memory = of_x;
  operands.r.memory = of_x;
  SparrowCall(sparrow_vectors_elementwise(device->vectors, device->queue, &operands, 0, NULL, NULL));
  PetscCall(PetscLogFlops(x->map->n));
  PetscFunctionReturn(0);
}

static PetscErrorCode VecCopy_Sparrow(Vec x, Vec y)
{
  SparrowDevice *device;
  cl_mem         of_x, of_y;

  PetscFunctionBegin;
  if (x == y) PetscFunctionReturn(0);
  if (!SparrowIsVector(y) || x->offloadmask == PETSC_OFFLOAD_CPU) {
    /* From the host to the host: VecCopy() gives y's array whole. */
    const PetscScalar *from;
    PetscScalar       *to;
    PetscCall(VecGetArrayRead(x, &from));
    PetscCall(VecGetArrayWrite(y, &to));
    PetscCall(PetscArraycpy(to, from, x->map->n));
    PetscCall(VecRestoreArrayWrite(y, &to));
    PetscCall(VecRestoreArrayRead(x, &from));
    PetscFunctionReturn(0);
  }
  PetscCall(SparrowGetDevice(&device));
  PetscCall(SparrowVectorOnDevice(device, x, SPARROW_READ, &of_x));
  PetscCall(SparrowVectorOnDevice(device, y, SPARROW_WRITE, &of_y));
  if (of_x) OpenCLCall(clEnqueueCopyBuffer(device->queue, of_x, of_y, 0, 0, (size_t)x->map->n * sizeof(PetscScalar), 0, NULL, NULL));
  PetscFunctionReturn(0);
}

PetscErrorCode SparrowVectorSetElementwiseOps(VecOps ops)
{
  PetscFunctionBegin;
  ops->axpy          = VecAXPY_Sparrow;
  ops->aypx          = VecAYPX_Sparrow;
  ops->axpby         = VecAXPBY_Sparrow;
  ops->axpbypcz      = VecAXPBYPCZ_Sparrow;
  ops->waxpy         = VecWAXPY_Sparrow;
  ops->maxpy         = VecMAXPY_Sparrow;
  ops->pointwisemult = VecPointwiseMult_Sparrow;
  ops->set           = VecSet_Sparrow;
  ops->scale         = VecScale_Sparrow;
  ops->shift         = VecShift_Sparrow;
  ops->copy          = VecCopy_Sparrow;
  PetscFunctionReturn(0);
}
