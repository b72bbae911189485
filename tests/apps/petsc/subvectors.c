/* Sub-vectors of VECSPARROW beside those of PETSc's plain vectors on any number of ranks, and matrices of blocks, which use
   them. Each claim is held to PETSc's own result; the first that fails ends the program. */
#include "operands.h"
#include <petscmat.h>

/* A part of a vector, adjacent elements and every second one: what is written to it on the device is the vector's. */
static PetscErrorCode SubVectors(void)
{
  Operands  ours, theirs;
  PetscInt  begin, end;
  PetscReal norm, of_theirs;

  PetscFunctionBegin;
  PetscCall(Make("sparrow", &ours));
  PetscCall(Make(VECSTANDARD, &theirs));
  PetscCall(VecGetOwnershipRange(ours.x, &begin, &end));
  for (PetscInt stride = 1; stride <= 2; ++stride) {
    IS is;
    PetscCall(ISCreateStride(PETSC_COMM_WORLD, (end - begin) / 2 - 1, begin + 1, stride, &is));
    PetscCall(FillAll(&ours, PETSC_TRUE));
    PetscCall(FillAll(&theirs, PETSC_TRUE));
    for (PetscInt which = 0; which < 2; ++which) {
      Operands *a = which ? &theirs : &ours;
      Vec       part;
      PetscCall(VecScale(a->x, 3));
      PetscCall(VecGetSubVector(a->x, is, &part));
      PetscCall(VecSet(part, 7));
      PetscCall(VecRestoreSubVector(a->x, is, &part));
      PetscCall(VecScale(a->x, 2));
      PetscCall(VecScale(a->y, 3));
      PetscCall(VecGetSubVector(a->y, is, &part));
      PetscCall(VecNorm(part, NORM_2, which ? &of_theirs : &norm));
      PetscCall(VecRestoreSubVector(a->y, is, &part));
      PetscCall(VecScale(a->y, 2));
      PetscCall(VecGetSubVector(a->z, is, &part));
      PetscCall(VecShift(part, 5));
      PetscCall(VecScale(part, 5));
      PetscCall(VecRestoreSubVector(a->z, is, &part));
      PetscCall(VecAXPY(a->w, 2, a->z));
    }
    PetscCall(CheckNumber("VecGetSubVector: a norm", norm, of_theirs));
    PetscCall(CheckSame("VecGetSubVector: VecSet", ours.x, theirs.x));
    PetscCall(CheckSame("VecGetSubVector: read", ours.y, theirs.y));
    PetscCall(CheckSame("VecGetSubVector: VecShift", ours.z, theirs.z));
    PetscCall(CheckSame("VecGetSubVector: the vector is read", ours.w, theirs.w));
    PetscCall(ISDestroy(&is));
  }
  PetscCall(Destroy(&ours));
  PetscCall(Destroy(&theirs));
  PetscFunctionReturn(0);
}

/* A matrix of blocks multiplies parts of x and y. */
static PetscErrorCode Nest(void)
{
  const VecType types[] = {"sparrow", VECSTANDARD};
  Mat           block, nest;
  Vec           x[2], y[2];
  PetscInt      begin, end, n;

  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_WORLD, &block));
  PetscCall(MatSetSizes(block, PETSC_DECIDE, PETSC_DECIDE, N, N));
  PetscCall(MatSetType(block, "aijsparrow"));
  PetscCall(MatSetUp(block));
  PetscCall(MatGetOwnershipRange(block, &begin, &end));
  for (PetscInt row = begin; row < end; ++row) {
    PetscCall(MatSetValue(block, row, row, 2, INSERT_VALUES));
    PetscCall(MatSetValue(block, row, (row + 1) % N, -1, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(block, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(block, MAT_FINAL_ASSEMBLY));
  PetscCall(MatCreateNest(PETSC_COMM_WORLD, 2, NULL, 2, NULL, (Mat[]){block, block, NULL, block}, &nest));
  PetscCall(MatGetLocalSize(nest, &n, NULL));
  for (PetscInt which = 0; which < 2; ++which) {
    PetscCall(VecCreate(PETSC_COMM_WORLD, &x[which]));
    PetscCall(VecSetSizes(x[which], n, PETSC_DETERMINE));
    PetscCall(VecSetType(x[which], types[which]));
    PetscCall(VecDuplicate(x[which], &y[which]));
    PetscCall(Fill(x[which], 1));
    PetscCall(Fill(y[which], 2));
    PetscCall(VecScale(x[which], 3));
    PetscCall(VecScale(y[which], 3));
    PetscCall(MatMult(nest, x[which], y[which]));
    PetscCall(VecScale(x[which], 2));
    PetscCall(VecScale(y[which], 2));
    PetscCall(MatMultAdd(nest, x[which], y[which], y[which]));
    PetscCall(VecScale(y[which], 2));
  }
  PetscCall(CheckSame("MatNest: x", x[0], x[1]));
  PetscCall(CheckSame("MatNest: y", y[0], y[1]));
  for (PetscInt which = 0; which < 2; ++which) {
    PetscCall(VecDestroy(&x[which]));
    PetscCall(VecDestroy(&y[which]));
  }
  PetscCall(MatDestroy(&nest));
  PetscCall(MatDestroy(&block));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  PetscMPIInt size;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(SubVectors());
  PetscCall(Nest());
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "as PETSc's sub-vectors on %d ranks\n", size));
  PetscCall(PetscFinalize());
  return 0;
}
