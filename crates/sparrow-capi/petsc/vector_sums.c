/*
 * Reductions of VECSPARROW: the device adds each rank's part in a fixed order, and over ranks PETSc's reduction follows.
 * Several sums come to the host together.
 *
 * Licence: MIT OR Apache-2.0.
 */
#include "sparrow_petsc.h"

/* This rank's sums of x y[0], x y[1] and so on, or of one vector where there is no y; all are ours. */
static PetscErrorCode SparrowSums(sparrow_reduction_kind kind, Vec x, PetscInt count, const Vec *y, PetscScalar *sums)
{
  SparrowDevice    *device;
  cl_mem            of_x, of_y = NULL;
  sparrow_reduction operands = {.size = sizeof operands, .elements = (uint64_t)x->map->n, .kind = kind};

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(sums, count));
  if (x->map->n == 0) PetscFunctionReturn(0);
  PetscCall(SparrowGetDevice(&device));
  PetscCall(SparrowVectorOnDevice(device, x, SPARROW_READ, &of_x));
  operands.x.memory      = of_x;
  operands.result.memory = device->sums;
  for (PetscInt begin = 0; begin < count; begin += SPARROW_SUMS) {
    const PetscInt n = PetscMin(count - begin, SPARROW_SUMS);
    for (PetscInt at = 0; at < n; ++at) {
      if (y) PetscCall(SparrowVectorOnDevice(device, y[begin + at], SPARROW_READ, &of_y));
      operands.y.memory           = of_y;
      operands.result.byte_offset = (uint64_t)at * sizeof(PetscScalar);
      SparrowCall(sparrow_vectors_reduce(device->vectors, device->queue, &operands, 0, NULL, NULL));
    }
    OpenCLCall(clEnqueueReadBuffer(device->queue, device->sums, CL_TRUE, 0, (size_t)n * sizeof(PetscScalar), sums + begin, 0, NULL, NULL));
  }
  PetscCall(PetscLogFlops(2.0 * count * x->map->n));
  PetscFunctionReturn(0);
}

static PetscErrorCode VecMDotLocal_Sparrow(Vec x, PetscInt count, const Vec y[], PetscScalar *sums)
{
  PetscBool is_ours = PETSC_TRUE;

  PetscFunctionBegin;
  for (PetscInt at = 0; at < count; ++at) is_ours = (PetscBool)(is_ours && SparrowIsVector(y[at]));
  if (is_ours) PetscCall(SparrowSums(SPARROW_REDUCTION_DOT, x, count, y, sums));
  else PetscCall(SparrowVectorPlain(x)->mdot_local(x, count, y, sums));
  PetscFunctionReturn(0);
}

static PetscErrorCode VecDotLocal_Sparrow(Vec x, Vec y, PetscScalar *sum)
{
  PetscFunctionBegin;
  PetscCall(VecMDotLocal_Sparrow(x, 1, &y, sum));
  PetscFunctionReturn(0);
}

/* The sum of squares, whose root is the norm. */
static PetscErrorCode SparrowSquares(Vec x, PetscReal *sum)
{
  PetscScalar scalar;

  PetscFunctionBegin;
  PetscCall(SparrowSums(SPARROW_REDUCTION_DOT, x, 1, &x, &scalar));
  *sum = PetscRealPart(scalar);
  PetscFunctionReturn(0);
}

static PetscErrorCode SparrowAbsolutes(Vec x, PetscReal *sum)
{
  PetscScalar scalar;

  PetscFunctionBegin;
  PetscCall(SparrowSums(SPARROW_REDUCTION_NORM1, x, 1, NULL, &scalar));
  *sum = PetscRealPart(scalar);
  PetscFunctionReturn(0);
}

static PetscErrorCode VecNormLocal_Sparrow(Vec x, NormType type, PetscReal *norm)
{
  PetscFunctionBegin;
  switch (type) {
  case NORM_1:
    PetscCall(SparrowAbsolutes(x, norm));
    break;
  case NORM_2:
  case NORM_FROBENIUS:
    PetscCall(SparrowSquares(x, norm));
    *norm = PetscSqrtReal(*norm);
    break;
  case NORM_1_AND_2:
    PetscCall(SparrowAbsolutes(x, norm));
    PetscCall(SparrowSquares(x, norm + 1));
    norm[1] = PetscSqrtReal(norm[1]);
    break;
  default: /* the largest: on the host */
    PetscCall(SparrowVectorPlain(x)->norm_local(x, type, norm));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode SparrowOverRanks(Vec x, PetscInt count, PetscScalar *sums)
{
  PetscFunctionBegin;
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, sums, (PetscMPIInt)count, MPIU_SCALAR, MPIU_SUM, PetscObjectComm((PetscObject)x)));
  PetscFunctionReturn(0);
}

static PetscErrorCode VecMDot_MPISparrow(Vec x, PetscInt count, const Vec y[], PetscScalar *sums)
{
  PetscFunctionBegin;
  PetscCall(VecMDotLocal_Sparrow(x, count, y, sums));
  PetscCall(SparrowOverRanks(x, count, sums));
  PetscFunctionReturn(0);
}

static PetscErrorCode VecDot_MPISparrow(Vec x, Vec y, PetscScalar *sum)
{
  PetscFunctionBegin;
  PetscCall(VecMDot_MPISparrow(x, 1, &y, sum));
  PetscFunctionReturn(0);
}

static PetscErrorCode VecNorm_MPISparrow(Vec x, NormType type, PetscReal *norm)
{
  PetscReal sums[2];

  PetscFunctionBegin;
  if (type == NORM_INFINITY) {
    PetscCall(SparrowVectorPlain(x)->norm(x, type, norm));
    PetscFunctionReturn(0);
  }
  if (type == NORM_1 || type == NORM_1_AND_2) PetscCall(SparrowAbsolutes(x, sums));
  if (type != NORM_1) PetscCall(SparrowSquares(x, sums + (type == NORM_1_AND_2)));
  PetscCall(MPIU_Allreduce(sums, norm, type == NORM_1_AND_2 ? 2 : 1, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)x)));
  if (type == NORM_1_AND_2) norm[1] = PetscSqrtReal(norm[1]);
  else if (type != NORM_1) *norm = PetscSqrtReal(*norm);
  PetscFunctionReturn(0);
}

/* s t and t t together. */
static PetscErrorCode VecDotNorm2_Sparrow(Vec s, Vec t, PetscScalar *dot, PetscScalar *squares)
{
  const Vec   y[2] = {s, t};
  PetscScalar sums[2];

  PetscFunctionBegin;
  PetscCall(VecMDotLocal_Sparrow(t, 2, y, sums));
  *dot     = sums[0];
  *squares = sums[1];
  PetscFunctionReturn(0);
}

static PetscErrorCode VecDotNorm2_MPISparrow(Vec s, Vec t, PetscScalar *dot, PetscScalar *squares)
{
  const Vec   y[2] = {s, t};
  PetscScalar sums[2];

  PetscFunctionBegin;
  PetscCall(VecMDot_MPISparrow(t, 2, y, sums));
  *dot     = sums[0];
  *squares = sums[1];
  PetscFunctionReturn(0);
}

/* This rank's part; VecSum() adds those of all. */
static PetscErrorCode VecSum_Sparrow(Vec x, PetscScalar *sum)
{
  PetscFunctionBegin;
  PetscCall(SparrowSums(SPARROW_REDUCTION_SUM, x, 1, NULL, sum));
  PetscFunctionReturn(0);
}

PetscErrorCode SparrowVectorSetSums(VecOps ops, PetscBool is_distributed)
{
  PetscFunctionBegin;
  ops->dot_local   = VecDotLocal_Sparrow;
  ops->tdot_local  = VecDotLocal_Sparrow;
  ops->mdot_local  = VecMDotLocal_Sparrow;
  ops->mtdot_local = VecMDotLocal_Sparrow;
  ops->norm_local  = VecNormLocal_Sparrow;
  ops->dot         = is_distributed ? VecDot_MPISparrow : VecDotLocal_Sparrow;
  ops->tdot        = ops->dot;
  ops->mdot        = is_distributed ? VecMDot_MPISparrow : VecMDotLocal_Sparrow;
  ops->mtdot       = ops->mdot;
  ops->norm        = is_distributed ? VecNorm_MPISparrow : VecNormLocal_Sparrow;
  ops->dotnorm2    = is_distributed ? VecDotNorm2_MPISparrow : VecDotNorm2_Sparrow;
  ops->sum         = VecSum_Sparrow;
  PetscFunctionReturn(0);
}
