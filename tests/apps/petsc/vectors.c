/* VECSPARROW beside PETSc's plain vectors on any number of ranks: every operation that is replaced, with elements on the
   host and on the device, arrays, mixed types, and wrong uses. Each claim is held to PETSc's own result; the first that fails
   ends the program. */
#include "operands.h"

#define MANY 67 /* more inner products at once than come to the host together */

/* The operation leaves all four vectors as PETSc's does. It is written with a, whose members are the operands. */
#define BOTH(name, ...) \
  do { \
    Operands *a = &ours; \
    PetscCall(FillAll(&ours, on_device)); \
    PetscCall(FillAll(&theirs, on_device)); \
    PetscCall(__VA_ARGS__); \
    a = &theirs; \
    PetscCall(__VA_ARGS__); \
    PetscCall(CheckSame(name, ours.x, theirs.x)); \
    PetscCall(CheckSame(name, ours.y, theirs.y)); \
    PetscCall(CheckSame(name, ours.z, theirs.z)); \
    PetscCall(CheckSame(name, ours.w, theirs.w)); \
  } while (0)

static PetscErrorCode Elementwise(PetscBool on_device)
{
  Operands          ours, theirs;
  const PetscScalar alpha[] = {2, -3, 0.5}, with_zeros[] = {0, -3, 0, 0.5};

  PetscFunctionBegin;
  PetscCall(Make("sparrow", &ours));
  PetscCall(Make(VECSTANDARD, &theirs));
  BOTH("VecAXPY", VecAXPY(a->y, 1.5, a->x));
  BOTH("VecAYPX", VecAYPX(a->y, 1.5, a->x));
  BOTH("VecAYPX of 0", VecAYPX(a->y, 0, a->x));
  BOTH("VecAXPBY", VecAXPBY(a->y, 1.5, -2.5, a->x));
  BOTH("VecAXPBYPCZ", VecAXPBYPCZ(a->z, 1.5, -2.5, 3.5, a->x, a->y));
  BOTH("VecAXPBYPCZ of 0", VecAXPBYPCZ(a->z, 1.5, -2.5, 0, a->x, a->y));
  BOTH("VecWAXPY", VecWAXPY(a->w, 1.5, a->x, a->y));
  for (PetscInt count = 1; count <= 3; ++count) BOTH("VecMAXPY", VecMAXPY(a->w, count, alpha, (Vec[]){a->x, a->y, a->z}));
  BOTH("VecMAXPY with coefficients 0", VecMAXPY(a->w, 4, with_zeros, (Vec[]){a->x, a->y, a->x, a->z}));
  /* What has the coefficient 0 has no part in the result. */
  BOTH("VecAXPBY of 0 NaN", VecSet(a->x, NAN) || VecAXPBY(a->y, 0, -2.5, a->x));
  BOTH("VecAXPBY to 0 NaN", VecSet(a->y, NAN) || VecAXPBY(a->y, 1.5, 0, a->x));
  BOTH("VecAYPX to 0 NaN", VecSet(a->y, NAN) || VecAYPX(a->y, 0, a->x));
  BOTH("VecAXPBYPCZ to 0 NaN", VecSet(a->z, NAN) || VecAXPBYPCZ(a->z, 1.5, -2.5, 0, a->x, a->y));
  BOTH("VecWAXPY of 0 NaN", VecSet(a->x, NAN) || VecWAXPY(a->w, 0, a->x, a->y));
  BOTH("VecScale of NaN by 0", VecSet(a->x, NAN) || VecScale(a->x, 0));
  BOTH("VecPointwiseMult", VecPointwiseMult(a->w, a->x, a->y));
  BOTH("VecPointwiseMult in place", VecPointwiseMult(a->x, a->x, a->y));
  BOTH("VecPointwiseMult of itself", VecPointwiseMult(a->x, a->x, a->x));
  BOTH("VecPointwiseDivide", VecPointwiseDivide(a->w, a->x, a->y));
  BOTH("VecPointwiseDivide in place", VecPointwiseDivide(a->y, a->x, a->y));
  BOTH("VecPointwiseDivide by 0", VecSet(a->y, 0) || VecPointwiseDivide(a->w, a->x, a->y));
  BOTH("VecSet", VecSet(a->x, 7));
  BOTH("VecScale", VecScale(a->x, 7));
  BOTH("VecScale by 0", VecScale(a->x, 0));
  BOTH("VecShift", VecShift(a->x, 7));
  BOTH("VecCopy", VecCopy(a->x, a->w));
  BOTH("VecSwap", VecSwap(a->x, a->w));
  BOTH("VecReciprocal", VecReciprocal(a->y));
  BOTH("VecAbs", VecAbs(a->x));
  /* One type with the other. */
  BOTH("VecAXPY of PETSc's", VecAXPY(a->y, 2, theirs.z));
  BOTH("VecAXPY to PETSc's", VecCopy(a->x, theirs.w) || VecAXPY(theirs.w, 2, a->y) || VecCopy(theirs.w, a->w));
  BOTH("VecPointwiseMult of PETSc's", VecPointwiseMult(a->w, a->x, theirs.z));
  BOTH("VecMAXPY of PETSc's", VecMAXPY(a->w, 2, alpha, (Vec[]){a->x, theirs.z}));
  PetscCall(Destroy(&ours));
  PetscCall(Destroy(&theirs));
  PetscFunctionReturn(0);
}

static PetscErrorCode Sums(PetscBool on_device)
{
  Operands        ours, theirs;
  PetscScalar     a[MANY], b[MANY], again[MANY];
  PetscReal       norm[2], of_theirs[2];
  Vec             many[MANY], many_of_theirs[MANY];
  const NormType  types[] = {NORM_1, NORM_2, NORM_INFINITY, NORM_FROBENIUS};

  PetscFunctionBegin;
  PetscCall(Make("sparrow", &ours));
  PetscCall(Make(VECSTANDARD, &theirs));
#define REFILL() PetscCall(FillAll(&ours, on_device)); PetscCall(FillAll(&theirs, on_device))
#define NUMBERS(name, count) for (PetscInt at = 0; at < (count); ++at) PetscCall(CheckNumber(name, a[at], b[at]))
  REFILL();
  PetscCall(VecDot(ours.x, ours.y, a));
  PetscCall(VecDot(theirs.x, theirs.y, b));
  NUMBERS("VecDot", 1);
  PetscCall(VecTDot(ours.x, ours.y, a));
  NUMBERS("VecTDot", 1);
  PetscCall(VecDot(ours.x, theirs.y, a));
  NUMBERS("VecDot with PETSc's", 1);
  PetscCall(VecDot(theirs.x, ours.y, a));
  NUMBERS("VecDot of PETSc's", 1);
  REFILL();
  for (PetscInt at = 0; at < MANY; ++at) {
    many[at]           = at % 2 ? ours.z : ours.y;
    many_of_theirs[at] = at % 2 ? theirs.z : theirs.y;
  }
  PetscCall(VecMDot(ours.x, MANY, many, a));
  PetscCall(VecMDot(theirs.x, MANY, many_of_theirs, b));
  NUMBERS("VecMDot", MANY);
  PetscCall(VecMDot(ours.x, MANY, many, again));
  for (PetscInt at = 0; at < MANY; ++at) CLAIM(a[at] == again[at], "the same inner product has other bits");
  PetscCall(VecMTDot(ours.x, 3, many, a));
  PetscCall(VecMTDot(theirs.x, 3, many_of_theirs, b));
  NUMBERS("VecMTDot", 3);
  for (PetscInt at = 0; at < 4; ++at) {
    REFILL();
    PetscCall(VecNorm(ours.x, types[at], norm));
    PetscCall(VecNorm(theirs.x, types[at], of_theirs));
    PetscCall(CheckNumber("VecNorm", norm[0], of_theirs[0]));
  }
  REFILL();
  PetscCall(VecNorm(ours.x, NORM_1_AND_2, norm));
  PetscCall(VecNorm(theirs.x, NORM_1_AND_2, of_theirs));
  PetscCall(CheckNumber("VecNorm, the first of both", norm[0], of_theirs[0]));
  PetscCall(CheckNumber("VecNorm, the second of both", norm[1], of_theirs[1]));
  REFILL();
  PetscCall(VecDotNorm2(ours.x, ours.y, a, norm));
  PetscCall(VecDotNorm2(theirs.x, theirs.y, b, of_theirs));
  NUMBERS("VecDotNorm2", 1);
  PetscCall(CheckNumber("VecDotNorm2, the norm", norm[0], of_theirs[0]));
  PetscCall(VecSum(ours.z, a));
  PetscCall(VecSum(theirs.z, b));
  NUMBERS("VecSum", 1);
  PetscCall(VecDotBegin(ours.x, ours.y, a));
  PetscCall(VecNormBegin(ours.z, NORM_2, norm));
  PetscCall(VecDotEnd(ours.x, ours.y, a));
  PetscCall(VecNormEnd(ours.z, NORM_2, norm));
  PetscCall(VecDot(theirs.x, theirs.y, b));
  PetscCall(VecNorm(theirs.z, NORM_2, of_theirs));
  NUMBERS("VecDotBegin", 1);
  PetscCall(CheckNumber("VecNormBegin", norm[0], of_theirs[0]));
  PetscCall(Destroy(&ours));
  PetscCall(Destroy(&theirs));
  PetscFunctionReturn(0);
}

/* What is written by either side is read by the other. */
static PetscErrorCode Arrays(void)
{
  Operands           ours, theirs;
  PetscInt           n;
  PetscScalar       *array, *other, *replaced;
  const PetscScalar *read;
  PetscReal          norm, of_theirs;
  Vec                local, copy;
  PetscBool          is_same;
  VecType            type, type_of_copy;

  PetscFunctionBegin;
  PetscCall(Make("sparrow", &ours));
  PetscCall(Make(VECSTANDARD, &theirs));
  PetscCall(FillAll(&ours, PETSC_TRUE));
  PetscCall(FillAll(&theirs, PETSC_TRUE));
  PetscCall(VecGetLocalSize(ours.x, &n));
  for (PetscInt which = 0; which < 2; ++which) {
    Operands *a = which ? &theirs : &ours;
    /* While its array is lent for reading it may be read on the device, and afterwards be written by either. */
    PetscCall(VecGetArrayRead(a->x, &read));
    PetscCall(VecAXPY(a->y, 2, a->x));
    PetscCall(VecRestoreArrayRead(a->x, &read));
    PetscCall(VecGetArray(a->y, &array));
    for (PetscInt at = 0; at < n; ++at) array[at] += 1;
    PetscCall(VecRestoreArray(a->y, &array));
    PetscCall(VecAXPY(a->z, 1, a->y));

    /* Another array for a while, which is written on the device. */
    PetscCall(PetscMalloc1(n, &other));
    for (PetscInt at = 0; at < n; ++at) other[at] = at;
    PetscCall(VecPlaceArray(a->x, other));
    PetscCall(VecScale(a->x, 3));
    PetscCall(VecResetArray(a->x));
    for (PetscInt at = 0; at < n; ++at) PetscCheck(other[at] == 3 * at, PETSC_COMM_SELF, PETSC_ERR_PLIB, "VecResetArray: an array that was placed is not as it was written");
    PetscCall(PetscFree(other));
    PetscCall(VecScale(a->x, 2));
    PetscCall(PetscMalloc1(n, &replaced));
    for (PetscInt at = 0; at < n; ++at) replaced[at] = at * at;
    PetscCall(VecReplaceArray(a->w, replaced));
    PetscCall(VecAXPY(a->w, 2, a->z));

    PetscCall(VecCreateLocalVector(a->z, &local));
    PetscCall(VecGetLocalVector(a->z, local));
    PetscCall(VecShift(local, 4));
    PetscCall(VecRestoreLocalVector(a->z, local));
    PetscCall(VecGetLocalVectorRead(a->w, local));
    PetscCall(VecNorm(local, NORM_1, which ? &of_theirs : &norm));
    PetscCall(VecRestoreLocalVectorRead(a->w, local));
    PetscCall(VecDestroy(&local));
    PetscCall(VecSetValue(a->y, N - 1, 17, ADD_VALUES));
    PetscCall(VecAssemblyBegin(a->y));
    PetscCall(VecAssemblyEnd(a->y));
    PetscCall(VecAYPX(a->y, 2, a->z));
  }
  PetscCall(CheckNumber("VecGetLocalVectorRead", norm, of_theirs));
  PetscCall(CheckSame("VecPlaceArray and VecResetArray", ours.x, theirs.x));
  PetscCall(CheckSame("VecGetArray and VecSetValue", ours.y, theirs.y));
  PetscCall(CheckSame("VecGetLocalVector", ours.z, theirs.z));
  PetscCall(CheckSame("VecReplaceArray", ours.w, theirs.w));

  /* Something composed comes along, and elements do not. */
  PetscCall(PetscObjectCompose((PetscObject)ours.x, "note", (PetscObject)ours.y));
  PetscCall(VecDuplicate(ours.x, &copy));
  PetscCall(VecGetType(ours.x, &type));
  PetscCall(VecGetType(copy, &type_of_copy));
  PetscCall(PetscStrcmp(type, type_of_copy, &is_same));
  CLAIM(is_same, "VecDuplicate: %s of %s", type_of_copy, type);
  PetscCall(VecNorm(copy, NORM_1, &norm));
  CLAIM(norm == 0, "VecDuplicate: elements came along");
  PetscCall(PetscObjectQuery((PetscObject)copy, "note", (PetscObject *)&local));
  CLAIM(local == ours.y, "VecDuplicate: what was composed did not come along");
  PetscCall(PetscObjectCompose((PetscObject)ours.x, "note", NULL));
  PetscCall(VecCopy(ours.x, copy));
  PetscCall(VecScale(copy, 2));
  PetscCall(CheckSame("VecDuplicate: the first vector", ours.x, theirs.x));
  /* A plain vector becomes ours, and back. */
  PetscCall(VecSetType(theirs.w, type));
  PetscCall(VecSet(theirs.w, 3));
  PetscCall(VecNorm(theirs.w, NORM_1, &norm));
  PetscCall(CheckNumber("VecSetType", norm, 3 * N));
  PetscCall(VecSetType(theirs.w, VECSTANDARD));
  PetscCall(VecSet(theirs.w, 2));
  PetscCall(VecNorm(theirs.w, NORM_1, &norm));
  PetscCall(CheckNumber("VecSetType back", norm, 2 * N));
  PetscCall(VecDestroy(&copy));
  PetscCall(Destroy(&ours));
  PetscCall(Destroy(&theirs));
  PetscFunctionReturn(0);
}

/* Errors of PETSc's, which are not printed. */
static PetscErrorCode WrongUses(void)
{
  Operands       ours;
  Vec            shorter;
  PetscScalar    number, *array;
  PetscErrorCode placed, length;

  PetscFunctionBegin;
  PetscCall(Make("sparrow", &ours));
  PetscCall(FillAll(&ours, PETSC_TRUE));
  PetscCall(VecCreate(PETSC_COMM_WORLD, &shorter));
  PetscCall(VecSetSizes(shorter, PETSC_DECIDE, N - 9));
  PetscCall(VecSetType(shorter, "sparrow"));
  PetscCall(PetscCalloc1(N, &array));
  PetscCall(VecPlaceArray(ours.x, array));
  PetscCall(PetscPushErrorHandler(PetscIgnoreErrorHandler, NULL));
  placed = VecPlaceArray(ours.x, array);
  length = VecDot(ours.y, shorter, &number);
  PetscCall(PetscPopErrorHandler());
  CLAIM(placed == PETSC_ERR_ARG_WRONGSTATE, "an array placed over a placed one: error %d", placed);
  CLAIM(length == PETSC_ERR_ARG_INCOMP, "vectors of two lengths: error %d", length);
  PetscCall(VecResetArray(ours.x));
  PetscCall(PetscFree(array));
  PetscCall(VecDestroy(&shorter));
  PetscCall(Destroy(&ours));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  PetscMPIInt size;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  for (int on_device = 0; on_device < 2; ++on_device) {
    PetscCall(Elementwise((PetscBool)on_device));
    PetscCall(Sums((PetscBool)on_device));
  }
  PetscCall(Arrays());
  PetscCall(WrongUses());
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "as PETSc's vectors on %d ranks\n", size));
  PetscCall(PetscFinalize());
  return 0;
}
