/*
 * Vectors of PETSc where kernels reach them. A device that shares the host's memory uses them where they lie, by a buffer
 * over that memory that lives as long as one product; another has buffers of its own, which a matrix keeps.
 *
 * Licence: MIT OR Apache-2.0.
 */
#include "sparrow_petsc.h"

static PetscErrorCode SparrowWrap(SparrowDevice *device, void *host, cl_mem_flags access, SparrowOperand *operand)
{
  cl_int status;

  PetscFunctionBegin;
  operand->host   = host;
  operand->memory = clCreateBuffer(device->context, access | CL_MEM_USE_HOST_PTR, operand->bytes, host, &status);
  OpenCLCall(status);
  PetscFunctionReturn(0);
}

static PetscErrorCode SparrowKeep(SparrowDevice *device, cl_mem *buffer, SparrowOperand *operand)
{
  cl_int status;

  PetscFunctionBegin;
  operand->host = NULL;
  if (!*buffer) {
    *buffer = clCreateBuffer(device->context, CL_MEM_READ_WRITE, operand->bytes, NULL, &status);
    OpenCLCall(status);
  }
  OpenCLCall(clRetainMemObject(*buffer));
  operand->memory = *buffer;
  PetscFunctionReturn(0);
}

static PetscErrorCode SparrowSend(SparrowDevice *device, const SparrowOperand *operand, const PetscScalar *elements)
{
  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(device->copy, 0, 0, 0, 0));
  /* The product's end is waited for before PETSc changes them. */
  OpenCLCall(clEnqueueWriteBuffer(device->queue, operand->memory, CL_FALSE, 0, operand->bytes, elements, 0, NULL, NULL));
  device->bytes_in += (double)operand->bytes;
  PetscCall(PetscLogEventEnd(device->copy, 0, 0, 0, 0));
  PetscFunctionReturn(0);
}

PetscErrorCode SparrowOperandRead(SparrowDevice *device, const PetscScalar *elements, PetscInt count, cl_mem *buffer, SparrowOperand *operand)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(operand, sizeof *operand));
  operand->bytes = (size_t)count * sizeof(PetscScalar);
  if (count == 0) PetscFunctionReturn(0);
  if (device->shares_memory) {
    PetscCall(SparrowWrap(device, (void *)elements, CL_MEM_READ_ONLY, operand));
  } else {
    PetscCall(SparrowKeep(device, buffer, operand));
    PetscCall(SparrowSend(device, operand, elements));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode SparrowOperandWrite(SparrowDevice *device, PetscScalar *elements, PetscInt count, PetscBool keeps, cl_mem *buffer, SparrowOperand *operand)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(operand, sizeof *operand));
  operand->bytes = (size_t)count * sizeof(PetscScalar);
  if (count == 0) PetscFunctionReturn(0);
  if (device->shares_memory) {
    PetscCall(SparrowWrap(device, elements, CL_MEM_READ_WRITE, operand));
  } else {
    PetscCall(SparrowKeep(device, buffer, operand));
    if (keeps) PetscCall(SparrowSend(device, operand, elements));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode SparrowOperandFinish(SparrowDevice *device, SparrowOperand *operand, PetscScalar *elements)
{
  PetscFunctionBegin;
  if (!operand->memory) PetscFunctionReturn(0);
  PetscCall(PetscLogEventBegin(device->copy, 0, 0, 0, 0));
  if (operand->host) {
    cl_int status;
    void  *mapped = clEnqueueMapBuffer(device->queue, operand->memory, CL_TRUE, CL_MAP_READ, 0, operand->bytes, 0, NULL, NULL, &status);
    OpenCLCall(status);
    OpenCLCall(clEnqueueUnmapMemObject(device->queue, operand->memory, mapped, 0, NULL, NULL));
    OpenCLCall(clFinish(device->queue));
  } else {
    OpenCLCall(clEnqueueReadBuffer(device->queue, operand->memory, CL_TRUE, 0, operand->bytes, elements, 0, NULL, NULL));
    device->bytes_out += (double)operand->bytes;
  }
  PetscCall(PetscLogEventEnd(device->copy, 0, 0, 0, 0));
  PetscFunctionReturn(0);
}

PetscErrorCode SparrowOperandRelease(SparrowOperand *operand)
{
  PetscFunctionBegin;
  if (operand->memory) OpenCLCall(clReleaseMemObject(operand->memory));
  operand->memory = NULL;
  PetscFunctionReturn(0);
}
