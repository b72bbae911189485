/* MATAIJSPARROW beside MATAIJ on any number of ranks: products, changed values, changed patterns, copies and conversions.
   Each claim is held to AIJ's own result; the first that fails ends the program. */
#include <petscmat.h>

#define ROWS 97
#define COLS 61

/* y of both, and what of them differs beyond rounding. */
static PetscErrorCode CheckVectors(const char *claim, Vec ours, Vec theirs)
{
  PetscReal norm, error;

  PetscFunctionBegin;
  PetscCall(VecNorm(theirs, NORM_2, &norm));
  PetscCall(VecAXPY(ours, -1, theirs));
  PetscCall(VecNorm(ours, NORM_2, &error));
  PetscCheck(error <= 1e-13 * (1 + norm), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: off by %g of %g", claim, (double)error, (double)norm);
  PetscFunctionReturn(0);
}

/* All four products and the diagonal of A are those of its copy as AIJ. */
static PetscErrorCode CheckProducts(const char *when, Mat A)
{
  Mat       plain;
  Vec       x, y, z, of_plain, u, v, w, of_transposed;
  PetscBool is_plain, is_square;
  PetscInt  rows, cols;
  char      claim[128];

  PetscFunctionBegin;
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &plain));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)plain, &is_plain, MATSEQAIJ, MATMPIAIJ, ""));
  PetscCheck(is_plain, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: converted to another type than AIJ", when);
  PetscCall(MatCreateVecs(plain, &x, NULL));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)x, &is_plain, VECSEQ, VECMPI, ""));
  PetscCheck(is_plain, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: converted to AIJ, it makes vectors of another type than PETSc's", when);
  PetscCall(VecDestroy(&x));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecDuplicate(y, &of_plain));
  PetscCall(VecDuplicate(y, &u));
  PetscCall(VecSetRandom(u, NULL));
#define CHECK(name, ours, theirs) \
  PetscCall(PetscSNPrintf(claim, sizeof claim, "%s: %s", when, name)); \
  PetscCall(CheckVectors(claim, ours, theirs))
  PetscCall(MatMult(A, x, y));
  PetscCall(MatMult(plain, x, of_plain));
  CHECK("MatMult", y, of_plain);
  PetscCall(MatMultAdd(A, x, u, z));
  PetscCall(MatMultAdd(plain, x, u, of_plain));
  CHECK("MatMultAdd", z, of_plain);
  PetscCall(VecCopy(u, z));
  PetscCall(MatMultAdd(A, x, z, z));
  CHECK("MatMultAdd in place", z, of_plain);
  PetscCall(VecDuplicate(x, &v));
  PetscCall(VecDuplicate(x, &w));
  PetscCall(VecDuplicate(x, &of_transposed));
  PetscCall(MatMultTranspose(A, u, v));
  PetscCall(MatMultTranspose(plain, u, of_transposed));
  CHECK("MatMultTranspose", v, of_transposed);
  PetscCall(MatMultTransposeAdd(A, u, x, w));
  PetscCall(MatMultTransposeAdd(plain, u, x, of_transposed));
  CHECK("MatMultTransposeAdd", w, of_transposed);
  PetscCall(MatGetSize(A, &rows, &cols));
  is_square = (PetscBool)(rows == cols);
  if (is_square) {
    PetscCall(MatGetDiagonal(A, y));
    PetscCall(MatGetDiagonal(plain, of_plain));
    CHECK("MatGetDiagonal", y, of_plain);
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&v));
  PetscCall(VecDestroy(&w));
  PetscCall(VecDestroy(&of_plain));
  PetscCall(VecDestroy(&of_transposed));
  PetscCall(MatDestroy(&plain));
  PetscFunctionReturn(0);
}

/* Some entries a row, none in every seventh, in rows of the first half of the ranks' alone where `lopsided`. */
static PetscErrorCode Fill(Mat A, PetscInt step, PetscBool lopsided)
{
  PetscInt begin, end, rows, cols;

  PetscFunctionBegin;
  PetscCall(MatGetSize(A, &rows, &cols));
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  for (PetscInt row = begin; row < end; ++row) {
    if (row % 7 == 3 || (lopsided && row > rows / 2)) continue;
    for (PetscInt entry = 0; entry <= row % 5; ++entry) {
      const PetscInt    col   = (row * step + entry * entry * 11) % cols;
      const PetscScalar value = 1 + PetscSinReal((PetscReal)(row * 13 + entry));
      PetscCall(MatSetValues(A, 1, &row, 1, &col, &value, ADD_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static PetscErrorCode Make(PetscInt rows, PetscInt cols, Mat *A)
{
  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, rows, cols));
  PetscCall(MatSetType(*A, "aijsparrow"));
  PetscCall(MatSetUp(*A));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscFunctionReturn(0);
}

/* How often something was planned. */
static PetscErrorCode Plans(int *count)
{
  PetscLogEvent      event;
  PetscEventPerfInfo info;

  PetscFunctionBegin;
  PetscCall(PetscLogEventGetId("MatSparrowPlan", &event));
  PetscCall(PetscLogEventGetPerfInfo(PETSC_DETERMINE, event, &info));
  *count = info.count;
  PetscFunctionReturn(0);
}

static PetscErrorCode SameBits(Mat A)
{
  Vec       x, y, z;
  PetscBool same;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(MatMult(A, x, y));
  PetscCall(MatMult(A, x, z));
  PetscCall(VecEqual(y, z, &same));
  PetscCheck(same, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "the same product has other bits");
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(0);
}

static PetscErrorCode Run(void)
{
  Mat         A, B, C;
  PetscInt    begin, end;
  PetscMPIInt size;
  PetscBool   is_ours;
  int         before, after;

  PetscFunctionBegin;
  PetscCall(Make(ROWS, COLS, &A));
  PetscCall(Fill(A, 5, PETSC_FALSE));
  PetscCall(CheckProducts("a rectangle", A));
  PetscCall(SameBits(A));

  PetscCall(Plans(&before));
  PetscCall(MatScale(A, -3));
  PetscCall(CheckProducts("new values by MatScale", A));
  PetscCall(MatZeroEntries(A));
  PetscCall(Fill(A, 5, PETSC_FALSE));
  PetscCall(CheckProducts("new values by MatSetValues", A));
  PetscCall(Plans(&after));
  PetscCheck(before == after, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "new values were planned for %d times", after - before);

  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)B, &is_ours, "seqaijsparrow", "mpiaijsparrow", ""));
  PetscCheck(is_ours, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "a duplicate is of another type");
  PetscCall(CheckProducts("a duplicate", B));
  PetscCall(MatConvert(B, MATAIJ, MAT_INPLACE_MATRIX, &B));
  PetscCall(MatConvert(B, "aijsparrow", MAT_INPLACE_MATRIX, &B));
  PetscCall(CheckProducts("converted and back in place", B));
  PetscCall(MatDestroy(&B));
  PetscCall(MatTranspose(A, MAT_INITIAL_MATRIX, &B));
  PetscCall(CheckProducts("a transposed matrix", B));
  PetscCall(MatMatMult(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(CheckProducts("a product of matrices", C));
  PetscCall(MatDestroy(&C));
  PetscCall(MatDestroy(&B));

  /* Another pattern, and other columns of others. */
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  for (PetscInt row = begin; row < end; ++row) PetscCall(MatSetValue(A, row, (row * 17 + 30) % COLS, 2, ADD_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(CheckProducts("another pattern", A));
  PetscCall(MatDestroy(&A));

  PetscCall(Make(ROWS, ROWS, &A));
  PetscCall(Fill(A, 1, PETSC_TRUE));
  PetscCall(CheckProducts("ranks without an entry", A));
  PetscCall(MatShift(A, 20));
  PetscCall(CheckProducts("a shifted diagonal", A));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  if (size == 1) {
    IS rows, cols;
    Vec x, b, r;
    PetscReal norm;
    PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
    PetscCall(MatGetOrdering(A, MATORDERINGND, &rows, &cols));
    PetscCall(MatLUFactor(B, rows, cols, NULL));
    PetscCall(MatCreateVecs(A, &x, &b));
    PetscCall(VecDuplicate(b, &r));
    PetscCall(VecSet(b, 1));
    PetscCall(MatSolve(B, b, x));
    PetscCall(MatMult(A, x, r));
    PetscCall(VecAXPY(r, -1, b));
    PetscCall(VecNorm(r, NORM_2, &norm));
    PetscCheck(norm < 1e-12, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "factored in place: residual %g", (double)norm);
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&b));
    PetscCall(VecDestroy(&r));
    PetscCall(ISDestroy(&rows));
    PetscCall(ISDestroy(&cols));
    PetscCall(MatDestroy(&B));
  }
  PetscCall(MatDestroy(&A));
  PetscCall(Make(5, 3, &A));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(CheckProducts("no entry at all", A));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "as AIJ on %d ranks\n", size));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscLogDefaultBegin());
  PetscCall(Run());
  PetscCall(PetscFinalize());
  return 0;
}
