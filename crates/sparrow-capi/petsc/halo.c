/*
 * The halo of a distributed matrix: others' elements that a rank's product needs.
 *
 * What AIJ knows of it it does not show, so that it is found anew from the column map: each rank lists the elements of its
 * own that others need, and only these leave the device, packed. A matrix that has a one in each row packs them there.
 * PETSc's scatter brings the packed elements to the others' ghosts.
 *
 * Licence: MIT OR Apache-2.0.
 */
#include "sparrow_petsc.h"
#include <petscsf.h>

/* Memory that a device with memory of its own copies from and to without the driver's staging, mapped as long as `pin` lives;
   the host's own for other devices, where `pin` is NULL. */
static PetscErrorCode SparrowPin(SparrowDevice *device, PetscInt count, cl_mem *pin, PetscScalar **array)
{
  const size_t bytes = (size_t)count * sizeof(PetscScalar);
  cl_int       status;

  PetscFunctionBegin;
  *pin = NULL;
  if (device->shares_memory || count == 0) {
    PetscCall(PetscCalloc1(count, array));
    PetscFunctionReturn(0);
  }
  *pin = clCreateBuffer(device->context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, NULL, &status);
  OpenCLCall(status);
  *array = (PetscScalar *)clEnqueueMapBuffer(device->queue, *pin, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0, NULL, NULL, &status);
  OpenCLCall(status);
  PetscFunctionReturn(0);
}

/* A vector with its array there. Ranks with no elements make theirs by the same call, which is collective. */
static PetscErrorCode SparrowPinned(SparrowDevice *device, MPI_Comm comm, PetscInt count, cl_mem *pin, Vec *v)
{
  PetscScalar *array;

  PetscFunctionBegin;
  PetscCall(SparrowPin(device, count, pin, &array));
  if (comm == PETSC_COMM_SELF) PetscCall(VecCreateSeqWithArray(comm, 1, count, array, v));
  else PetscCall(VecCreateMPIWithArray(comm, 1, count, PETSC_DETERMINE, array, v));
  PetscFunctionReturn(0);
}

/* The vector goes first, and what was enqueued with its array is done. */
static PetscErrorCode SparrowUnpin(SparrowDevice *device, cl_mem pin, Vec *v)
{
  PetscScalar *array;

  PetscFunctionBegin;
  PetscCall(VecGetArray(*v, &array));
  PetscCall(VecRestoreArray(*v, NULL));
  PetscCall(VecDestroy(v));
  if (pin) {
    OpenCLCall(clEnqueueUnmapMemObject(device->queue, pin, array, 0, NULL, NULL));
    OpenCLCall(clReleaseMemObject(pin));
  } else {
    PetscCall(PetscFree(array));
  }
  PetscFunctionReturn(0);
}

/* Others tell which elements they need, and are told where these are packed. */
static PetscErrorCode SparrowHaloExchange(SparrowDevice *device, SparrowHalo *halo, Mat A, PetscInt n_ghosts, const PetscInt *columns)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)A);
  const PetscInt n    = A->cmap->n;
  PetscInt      *is_needed, *needs, begin, n_packed = 0;
  PetscSF        sf;
  IS             from;

  PetscFunctionBegin;
  PetscCall(PetscSFCreate(comm, &sf));
  PetscCall(PetscSFSetGraphLayout(sf, A->cmap, n_ghosts, NULL, PETSC_COPY_VALUES, columns));
  PetscCall(PetscCalloc1(n, &is_needed));
  PetscCall(PetscMalloc1(n_ghosts, &needs));
  for (PetscInt at = 0; at < n_ghosts; ++at) needs[at] = 1;
  PetscCall(PetscSFReduceBegin(sf, MPIU_INT, needs, is_needed, MPI_MAX));
  PetscCall(PetscSFReduceEnd(sf, MPIU_INT, needs, is_needed, MPI_MAX));
  for (PetscInt at = 0; at < n; ++at) n_packed += is_needed[at];
  PetscCall(SparrowPinned(device, comm, n_packed, &halo->pin_packed, &halo->packed));
  PetscCall(SparrowPinned(device, PETSC_COMM_SELF, n_ghosts, &halo->pin_ghosts, &halo->ghosts));
  PetscCall(VecGetOwnershipRange(halo->packed, &begin, NULL));
  PetscCall(PetscMalloc1(n_packed, &halo->indices));
  for (PetscInt at = 0, packed = 0; at < n; ++at) {
    if (!is_needed[at]) continue;
    halo->indices[packed] = at;
    is_needed[at]         = begin + packed++;
  }
  PetscCall(PetscSFBcastBegin(sf, MPIU_INT, is_needed, needs, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(sf, MPIU_INT, is_needed, needs, MPI_REPLACE));
  PetscCall(ISCreateGeneral(comm, n_ghosts, needs, PETSC_OWN_POINTER, &from));
  PetscCall(VecScatterCreate(halo->packed, from, halo->ghosts, NULL, &halo->scatter));
  PetscCall(ISDestroy(&from));
  PetscCall(PetscFree(is_needed));
  PetscCall(PetscSFDestroy(&sf));
  PetscFunctionReturn(0);
}

PetscErrorCode SparrowHaloUpdate(SparrowDevice *device, SparrowHalo *halo, Mat A, PetscInt n_ghosts, const PetscInt *columns)
{
  PetscObjectId    id;
  PetscObjectState pattern;

  PetscFunctionBegin;
  /* Of the whole matrix, so that all ranks see the same. */
  PetscCall(PetscObjectGetId((PetscObject)A, &id));
  PetscCall(MatGetNonzeroState(A, &pattern));
  if (halo->scatter && halo->of == id && halo->pattern == pattern) PetscFunctionReturn(0);
  PetscCall(SparrowHaloDestroy(device, halo));
  PetscCall(SparrowHaloExchange(device, halo, A, n_ghosts, columns));
  halo->of      = id;
  halo->pattern = pattern;
  PetscFunctionReturn(0);
}

/* The matrix that packs, on the device; it is made when a vector lies there. */
static PetscErrorCode SparrowHaloSelect(SparrowDevice *device, SparrowHalo *halo, PetscInt n)
{
  const PetscInt n_packed = halo->packed->map->n;

  PetscFunctionBegin;
  if (!halo->select) {
    PetscCall(PetscMalloc2(n_packed + 1, &halo->offsets, n_packed, &halo->values));
    for (PetscInt at = 0; at < n_packed; ++at) {
      halo->offsets[at] = at;
      halo->values[at]  = 1;
    }
    halo->offsets[n_packed] = n_packed;
    PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, n_packed, n, halo->offsets, halo->indices, halo->values, &halo->select));
  }
  PetscCall(SparrowMirrorUpdate(device, &halo->mirror, halo->select));
  PetscFunctionReturn(0);
}

/* What the device read last may be written over. */
static PetscErrorCode SparrowHaloWait(SparrowDevice *device, cl_event *event)
{
  PetscFunctionBegin;
  if (*event) {
    PetscCall(PetscLogEventBegin(device->copy, 0, 0, 0, 0));
    OpenCLCall(clWaitForEvents(1, event));
    OpenCLCall(clReleaseEvent(*event));
    *event = NULL;
    PetscCall(PetscLogEventEnd(device->copy, 0, 0, 0, 0));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode SparrowHaloBegin(SparrowDevice *device, SparrowHalo *halo, Vec x)
{
  const PetscInt     n_packed = halo->packed->map->n;
  const PetscScalar *from;
  PetscScalar       *packed;
  SparrowOperand     of_x;

  PetscFunctionBegin;
  PetscCall(VecGetArrayWrite(halo->packed, &packed));
  if (!SparrowIsVector(x)) {
    PetscCall(VecGetArrayRead(x, &from));
    for (PetscInt at = 0; at < n_packed; ++at) packed[at] = from[halo->indices[at]];
    PetscCall(VecRestoreArrayRead(x, &from));
    PetscCall(VecRestoreArrayWrite(halo->packed, &packed));
    PetscCall(SparrowHaloWait(device, &halo->used));
    PetscCall(VecScatterBegin(halo->scatter, halo->packed, halo->ghosts, INSERT_VALUES, SCATTER_FORWARD));
    PetscFunctionReturn(0);
  }
  if (n_packed > 0) {
    PetscCall(SparrowHaloSelect(device, halo, x->map->n));
    PetscCall(SparrowOperandOpen(device, x, SPARROW_READ, NULL, &of_x));
    PetscCall(SparrowOperandLend(device, packed, n_packed, SPARROW_WRITE, &halo->of_packed, &halo->lent));
    PetscCall(SparrowMirrorMultiply(device, &halo->mirror, PETSC_FALSE, &of_x, 0, &halo->lent));
    PetscCall(SparrowOperandFetch(device, &halo->lent, &halo->fetched));
    PetscCall(SparrowOperandClose(device, x, &of_x));
  }
  PetscCall(VecRestoreArrayWrite(halo->packed, &packed));
  PetscFunctionReturn(0);
}

PetscErrorCode SparrowHaloSend(SparrowDevice *device, SparrowHalo *halo, Vec x)
{
  PetscFunctionBegin;
  if (SparrowIsVector(x)) {
    PetscCall(SparrowHaloWait(device, &halo->fetched));
    PetscCall(SparrowOperandRelease(&halo->lent));
    PetscCall(SparrowHaloWait(device, &halo->used));
    PetscCall(VecScatterBegin(halo->scatter, halo->packed, halo->ghosts, INSERT_VALUES, SCATTER_FORWARD));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode SparrowHaloEnd(SparrowDevice *device, SparrowHalo *halo)
{
  PetscFunctionBegin;
  PetscCall(VecScatterEnd(halo->scatter, halo->packed, halo->ghosts, INSERT_VALUES, SCATTER_FORWARD));
  PetscFunctionReturn(0);
}

PetscErrorCode SparrowHaloLend(SparrowDevice *device, SparrowHalo *halo, SparrowOperand *ghosts)
{
  PetscScalar *elements;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(halo->ghosts, (const PetscScalar **)&elements));
  PetscCall(SparrowOperandLend(device, elements, halo->ghosts->map->n, SPARROW_READ, &halo->of_ghosts, ghosts));
  PetscCall(VecRestoreArrayRead(halo->ghosts, (const PetscScalar **)&elements));
  PetscFunctionReturn(0);
}

PetscErrorCode SparrowHaloUsed(SparrowDevice *device, SparrowHalo *halo, SparrowOperand *ghosts)
{
  PetscFunctionBegin;
  OpenCLCall(clEnqueueMarkerWithWaitList(device->queue, 0, NULL, &halo->used));
  PetscCall(SparrowOperandRelease(ghosts));
  PetscFunctionReturn(0);
}

PetscErrorCode SparrowHaloAdd(SparrowDevice *device, SparrowHalo *halo, Vec y)
{
  PetscScalar *packed, *to;

  PetscFunctionBegin;
  PetscCall(VecSet(halo->packed, 0));
  PetscCall(VecScatterBegin(halo->scatter, halo->ghosts, halo->packed, ADD_VALUES, SCATTER_REVERSE));
  PetscCall(VecScatterEnd(halo->scatter, halo->ghosts, halo->packed, ADD_VALUES, SCATTER_REVERSE));
  if (halo->packed->map->n == 0) PetscFunctionReturn(0);
  if (SparrowIsVector(y)) {
    SparrowOperand of_packed, of_y;
    PetscCall(SparrowHaloSelect(device, halo, y->map->n));
    PetscCall(SparrowOperandOpen(device, halo->packed, SPARROW_READ, &halo->of_packed, &of_packed));
    PetscCall(SparrowOperandOpen(device, y, SPARROW_UPDATE, NULL, &of_y));
    PetscCall(SparrowMirrorMultiply(device, &halo->mirror, PETSC_TRUE, &of_packed, 1, &of_y));
    PetscCall(SparrowOperandClose(device, y, &of_y));
    PetscCall(SparrowOperandClose(device, halo->packed, &of_packed));
    PetscFunctionReturn(0);
  }
  PetscCall(VecGetArrayRead(halo->packed, (const PetscScalar **)&packed));
  PetscCall(VecGetArray(y, &to));
  for (PetscInt at = 0; at < halo->packed->map->n; ++at) to[halo->indices[at]] += packed[at];
  PetscCall(VecRestoreArray(y, &to));
  PetscCall(VecRestoreArrayRead(halo->packed, (const PetscScalar **)&packed));
  PetscFunctionReturn(0);
}

PetscErrorCode SparrowHaloDestroy(SparrowDevice *device, SparrowHalo *halo)
{
  PetscFunctionBegin;
  if (!halo->scatter) PetscFunctionReturn(0);
  if (halo->used) {
    OpenCLCall(clWaitForEvents(1, &halo->used));
    OpenCLCall(clReleaseEvent(halo->used));
  }
  PetscCall(SparrowMirrorDestroy(&halo->mirror));
  PetscCall(MatDestroy(&halo->select));
  PetscCall(PetscFree2(halo->offsets, halo->values));
  PetscCall(PetscFree(halo->indices));
  PetscCall(VecScatterDestroy(&halo->scatter));
  PetscCall(SparrowUnpin(device, halo->pin_ghosts, &halo->ghosts));
  PetscCall(SparrowUnpin(device, halo->pin_packed, &halo->packed));
  if (halo->of_ghosts) OpenCLCall(clReleaseMemObject(halo->of_ghosts));
  if (halo->of_packed) OpenCLCall(clReleaseMemObject(halo->of_packed));
  PetscCall(PetscMemzero(halo, sizeof *halo));
  PetscFunctionReturn(0);
}
