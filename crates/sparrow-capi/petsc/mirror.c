/*
 * A sequential AIJ block on the device.
 *
 * PETSc counts what happens to a matrix: its object state grows with every change, its nonzero state with every change of
 * the pattern. Where only the first has grown, values are written over and plans keep what they know; else the mirror is
 * made anew. Indices go over as they lie: PETSc's are not negative, and Sparrow's have no sign.
 *
 * Licence: MIT OR Apache-2.0.
 */
#include "sparrow_petsc.h"

static PetscErrorCode SparrowUpload(SparrowDevice *device, SparrowMirror *mirror, const PetscInt *offsets, const PetscInt *columns, const PetscScalar *values)
{
  sparrow_csr_arrays arrays = {.size = sizeof arrays, .rows = (uint64_t)mirror->rows, .cols = (uint64_t)mirror->cols, .nnz = mirror->nonzeros, .value_type = SPARROW_OF_SCALAR, .offsets = offsets, .values = values};

  PetscFunctionBegin;
#if defined(PETSC_USE_64BIT_INDICES)
  uint32_t *narrow;
  PetscCheck(mirror->cols <= (PetscInt)UINT32_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP, "Sparrow: a block has %" PetscInt_FMT " columns, and may have 4294967295", mirror->cols);
  PetscCall(PetscMalloc1(mirror->nonzeros, &narrow));
  for (size_t at = 0; at < mirror->nonzeros; ++at) narrow[at] = (uint32_t)columns[at];
  arrays.offset_type = SPARROW_OFFSET_TYPE_U64;
  arrays.columns     = narrow;
#else
  arrays.offset_type = SPARROW_OFFSET_TYPE_U32;
  arrays.columns     = (const uint32_t *)columns;
#endif
  SparrowCall(sparrow_matrix_upload_blocking(device->sparrow, device->queue, &arrays, &mirror->matrix));
#if defined(PETSC_USE_64BIT_INDICES)
  PetscCall(PetscFree(narrow));
#endif
  PetscFunctionReturn(0);
}

PetscErrorCode SparrowMirrorUpdate(SparrowDevice *device, SparrowMirror *mirror, Mat block)
{
  PetscObjectId      id;
  PetscObjectState   pattern, state;
  PetscInt           rows;
  const PetscInt    *offsets, *columns;
  const PetscScalar *values;
  PetscBool          done;

  PetscFunctionBegin;
  PetscCall(PetscObjectGetId((PetscObject)block, &id));
  PetscCall(PetscObjectStateGet((PetscObject)block, &state));
  PetscCall(MatGetNonzeroState(block, &pattern));
  if (mirror->id == id && mirror->pattern == pattern && mirror->values == state) PetscFunctionReturn(0);

  PetscCall(MatGetRowIJ(block, 0, PETSC_FALSE, PETSC_FALSE, &rows, &offsets, &columns, &done));
  PetscCheck(done, PetscObjectComm((PetscObject)block), PETSC_ERR_SUP, "Sparrow: a matrix of type %s does not show its rows", ((PetscObject)block)->type_name);
  PetscCall(MatSeqAIJGetArrayRead(block, &values));
  if (mirror->id == id && mirror->pattern == pattern && mirror->offsets == offsets && mirror->columns == columns && mirror->nonzeros == (size_t)offsets[rows]) {
    if (mirror->matrix) {
      PetscCall(PetscLogEventBegin(device->copy, block, 0, 0, 0));
      SparrowCall(sparrow_matrix_write_values_blocking(mirror->matrix, device->queue, values, 0, NULL));
      for (int which = 0; which < 2; ++which)
        if (mirror->plan[which]) SparrowCall(sparrow_plan_update_values_blocking(mirror->plan[which], device->queue, mirror->matrix, 0, NULL));
      PetscCall(PetscLogEventEnd(device->copy, block, 0, 0, 0));
    }
  } else {
    PetscCall(PetscLogEventBegin(device->plan, block, 0, 0, 0));
    PetscCall(SparrowMirrorDestroy(mirror));
    mirror->rows     = rows;
    mirror->cols     = block->cmap->n;
    mirror->nonzeros = (size_t)offsets[rows];
    mirror->offsets  = offsets;
    mirror->columns  = columns;
    if (mirror->nonzeros > 0) PetscCall(SparrowUpload(device, mirror, offsets, columns, values));
    PetscCall(PetscLogEventEnd(device->plan, block, 0, 0, 0));
  }
  PetscCall(MatSeqAIJRestoreArrayRead(block, &values));
  PetscCall(MatRestoreRowIJ(block, 0, PETSC_FALSE, PETSC_FALSE, &rows, &offsets, &columns, &done));
  mirror->id      = id;
  mirror->pattern = pattern;
  mirror->values  = state;
  PetscFunctionReturn(0);
}

static PetscErrorCode SparrowMirrorPlan(SparrowDevice *device, SparrowMirror *mirror, PetscBool transposed)
{
  sparrow_plan_options options = {.size = sizeof options, .products = device->products, .operation = transposed ? SPARROW_OPERATION_TRANSPOSE : SPARROW_OPERATION_NORMAL};
  sparrow_plan_info    info    = {.size = sizeof info};

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(device->plan, 0, 0, 0, 0));
  SparrowCall(sparrow_plan_create_blocking(mirror->matrix, device->queue, &options, 0, NULL, &mirror->plan[transposed]));
  SparrowCall(sparrow_plan_workspace_blocking(mirror->plan[transposed], device->queue, &mirror->workspace[transposed]));
  SparrowCall(sparrow_plan_get_info(mirror->plan[transposed], &info));
  PetscCall(PetscInfo(NULL, "Sparrow: %s%s for %" PetscInt_FMT " x %" PetscInt_FMT ": %s\n", info.algorithm, transposed ? ", transposed," : "", mirror->rows, mirror->cols, info.reason));
  PetscCall(PetscLogEventEnd(device->plan, 0, 0, 0, 0));
  PetscFunctionReturn(0);
}

PetscErrorCode SparrowMirrorMultiply(SparrowDevice *device, SparrowMirror *mirror, PetscBool transposed, const SparrowOperand *x, double beta, const SparrowOperand *y)
{
  sparrow_product product = {.size = sizeof product, .alpha = {.value = 1}, .a = mirror->matrix, .x = {x->memory, 0}, .beta = {.value = beta}, .y = {y->memory, 0}};

  PetscFunctionBegin;
  if (!mirror->plan[transposed]) PetscCall(SparrowMirrorPlan(device, mirror, transposed));
  SparrowCall(sparrow_plan_launch(mirror->plan[transposed], device->queue, mirror->workspace[transposed], &product, 0, NULL, NULL));
  PetscCall(PetscLogFlops(2.0 * (double)mirror->nonzeros));
  PetscFunctionReturn(0);
}

PetscErrorCode SparrowMirrorDestroy(SparrowMirror *mirror)
{
  PetscFunctionBegin;
  for (int which = 0; which < 2; ++which) {
    SparrowCall(sparrow_workspace_release(mirror->workspace[which]));
    SparrowCall(sparrow_plan_release(mirror->plan[which]));
  }
  SparrowCall(sparrow_matrix_release(mirror->matrix));
  PetscCall(PetscMemzero(mirror, sizeof *mirror));
  PetscFunctionReturn(0);
}
