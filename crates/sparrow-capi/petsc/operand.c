/*
 * Vectors of PETSc where kernels reach them, for the length of one product. A VECSPARROW is used in place. Of others, a
 * device that shares the host's memory uses elements where they lie, by a buffer over that memory that lives as long as
 * one product; another has buffers of its own, which a matrix keeps.
 *
 * Licence: MIT OR Apache-2.0.
 */
#include "sparrow_petsc.h"

PetscErrorCode SparrowOperandLend(SparrowDevice *device, PetscScalar *elements, PetscInt count, SparrowAccess access, cl_mem *buffer, SparrowOperand *operand)
{
  cl_int status;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(operand, sizeof *operand));
  operand->bytes    = (size_t)count * sizeof(PetscScalar);
  operand->elements = elements;
  operand->access   = access;
  if (count == 0) PetscFunctionReturn(0);
  if (device->shares_memory) {
    const cl_mem_flags flags = access == SPARROW_READ ? CL_MEM_READ_ONLY : CL_MEM_READ_WRITE;
    operand->host            = elements;
    operand->memory          = clCreateBuffer(device->context, flags | CL_MEM_USE_HOST_PTR, operand->bytes, elements, &status);
    OpenCLCall(status);
    PetscFunctionReturn(0);
  }
  if (!*buffer) {
    *buffer = clCreateBuffer(device->context, CL_MEM_READ_WRITE, operand->bytes, NULL, &status);
    OpenCLCall(status);
  }
  OpenCLCall(clRetainMemObject(*buffer));
  operand->memory = *buffer;
  if (access != SPARROW_WRITE) {
    PetscCall(PetscLogEventBegin(device->copy, 0, 0, 0, 0));
    /* The product's end is waited for before PETSc changes them. */
    OpenCLCall(clEnqueueWriteBuffer(device->queue, operand->memory, CL_FALSE, 0, operand->bytes, elements, 0, NULL, NULL));
    device->bytes_in += (double)operand->bytes;
    PetscCall(PetscLogEventEnd(device->copy, 0, 0, 0, 0));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode SparrowOperandFetch(SparrowDevice *device, const SparrowOperand *operand, cl_event *event)
{
  PetscFunctionBegin;
  *event = NULL;
  if (!operand->memory) PetscFunctionReturn(0);
  if (operand->host) {
    cl_int status;
    void  *mapped = clEnqueueMapBuffer(device->queue, operand->memory, CL_FALSE, CL_MAP_READ, 0, operand->bytes, 0, NULL, NULL, &status);
    OpenCLCall(status);
    OpenCLCall(clEnqueueUnmapMemObject(device->queue, operand->memory, mapped, 0, NULL, event));
  } else {
    OpenCLCall(clEnqueueReadBuffer(device->queue, operand->memory, CL_FALSE, 0, operand->bytes, operand->elements, 0, NULL, event));
    device->bytes_out += (double)operand->bytes;
  }
  PetscFunctionReturn(0);
}

PetscErrorCode SparrowOperandRelease(SparrowOperand *operand)
{
  PetscFunctionBegin;
  if (operand->memory) OpenCLCall(clReleaseMemObject(operand->memory));
  operand->memory = NULL;
  PetscFunctionReturn(0);
}

PetscErrorCode SparrowOperandOpen(SparrowDevice *device, Vec v, SparrowAccess access, cl_mem *buffer, SparrowOperand *operand)
{
  PetscScalar *elements;

  PetscFunctionBegin;
  if (SparrowIsVector(v)) {
    PetscCall(PetscMemzero(operand, sizeof *operand));
    operand->access = access;
    PetscCall(SparrowVectorOnDevice(device, v, access, &operand->memory));
    if (operand->memory) OpenCLCall(clRetainMemObject(operand->memory));
    PetscFunctionReturn(0);
  }
  if (access == SPARROW_READ) PetscCall(VecGetArrayRead(v, (const PetscScalar **)&elements));
  else if (access == SPARROW_WRITE) PetscCall(VecGetArrayWrite(v, &elements));
  else PetscCall(VecGetArray(v, &elements));
  PetscCall(SparrowOperandLend(device, elements, v->map->n, access, buffer, operand));
  PetscFunctionReturn(0);
}

PetscErrorCode SparrowOperandClose(SparrowDevice *device, Vec v, SparrowOperand *operand)
{
  PetscFunctionBegin;
  if (SparrowIsVector(v)) {
    if (operand->access != SPARROW_READ) PetscCall(PetscObjectStateIncrease((PetscObject)v));
    PetscCall(SparrowOperandRelease(operand));
    PetscFunctionReturn(0);
  }
  if (operand->memory) {
    PetscCall(PetscLogEventBegin(device->copy, 0, 0, 0, 0));
    if (operand->access != SPARROW_READ) {
      cl_event event;
      PetscCall(SparrowOperandFetch(device, operand, &event));
      OpenCLCall(clReleaseEvent(event));
    }
    OpenCLCall(clFinish(device->queue));
    PetscCall(PetscLogEventEnd(device->copy, 0, 0, 0, 0));
  }
  PetscCall(SparrowOperandRelease(operand));
  if (operand->access == SPARROW_READ) PetscCall(VecRestoreArrayRead(v, (const PetscScalar **)&operand->elements));
  else if (operand->access == SPARROW_WRITE) PetscCall(VecRestoreArrayWrite(v, &operand->elements));
  else PetscCall(VecRestoreArray(v, &operand->elements));
  PetscFunctionReturn(0);
}
