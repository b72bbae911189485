/* Krylov methods with matrices of type aijsparrow and vectors of type sparrow, on any number of ranks: no vector is copied in
   an iteration. Run with -vec_type sparrow, so that matrices make such vectors. The first claim that fails ends the program. */
#include <petscksp.h>

#define N 103

#define CLAIM(holds, ...) PetscCheck(holds, PETSC_COMM_WORLD, PETSC_ERR_PLIB, __VA_ARGS__)

/* How often a vector was copied whole. */
static PetscErrorCode Copies(int *count)
{
  const char        *names[] = {"VecSparrowToDev", "VecSparrowToHost"};
  PetscLogEvent      event;
  PetscEventPerfInfo info;

  PetscFunctionBegin;
  *count = 0;
  for (PetscInt at = 0; at < 2; ++at) {
    PetscCall(PetscLogEventGetId(names[at], &event));
    PetscCall(PetscLogEventGetPerfInfo(PETSC_DETERMINE, event, &info));
    *count += info.count;
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode Iterate(KSPType method, Mat A, PetscInt iterations, int *copies)
{
  KSP       ksp;
  PC        pc;
  Vec       x, b;
  PetscInt  done;
  PetscBool is_ours;
  int       before;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)x, &is_ours, "seqsparrow", "mpisparrow", ""));
  CLAIM(is_ours, "a matrix makes vectors of another type than the options say");
  PetscCall(VecSetRandom(b, NULL));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, method));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscCall(KSPSetTolerances(ksp, 0, 0, PETSC_DEFAULT, iterations));
  PetscCall(Copies(&before));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(Copies(copies));
  *copies -= before;
  PetscCall(KSPGetIterationNumber(ksp, &done));
  CLAIM(done == iterations, "%s made %d iterations of %d", method, (int)done, (int)iterations);
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(0);
}

static PetscErrorCode Tridiagonal(Mat *A)
{
  PetscInt begin, end;

  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, N, N));
  PetscCall(MatSetType(*A, "aijsparrow"));
  PetscCall(MatSetUp(*A));
  PetscCall(MatGetOwnershipRange(*A, &begin, &end));
  for (PetscInt row = begin; row < end; ++row) {
    PetscCall(MatSetValue(*A, row, row, 2, INSERT_VALUES));
    if (row > 0) PetscCall(MatSetValue(*A, row, row - 1, -1, INSERT_VALUES));
    if (row < N - 1) PetscCall(MatSetValue(*A, row, row + 1, -1, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static PetscErrorCode NoCopies(void)
{
  const KSPType methods[] = {KSPCG, KSPGMRES, KSPBCGS};
  Mat           A;
  Vec           x, y;
  PetscReal     norm;
  int           few, many;
  PetscBool     is_copied = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-mat_sparrow_copy_vectors", &is_copied, NULL));
  PetscCall(Tridiagonal(&A));
  for (PetscInt at = 0; at < 3; ++at) {
    PetscCall(Iterate(methods[at], A, 4, &few));
    PetscCall(Iterate(methods[at], A, 24, &many));
    CLAIM(few == many, "%s: %d copies of vectors in 4 iterations, %d in 24", methods[at], few, many);
    /* The right-hand side begins on the host. */
    CLAIM(!is_copied || few > 0, "%s: no copy of a vector was counted", methods[at]);
  }
  /* Norms are kept until a vector changes: a product does. */
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1));
  PetscCall(VecNorm(y, NORM_1, &norm));
  PetscCall(MatMult(A, x, y));
  PetscCall(VecNorm(y, NORM_1, &norm));
  CLAIM(norm == 2, "the norm of a product is %g, and was 2", (double)norm);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  PetscMPIInt size;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscLogDefaultBegin());
  PetscCall(NoCopies());
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "no copies on %d ranks\n", size));
  PetscCall(PetscFinalize());
  return 0;
}
