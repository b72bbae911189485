/*
 * VECSPARROW: PETSc's plain vectors, sequential and distributed, with operations of their own. Everything that is not
 * replaced works on the array on the host, by VecGetArray() and its like.
 *
 * Where elements are valid is PETSc's offload mask: on the host, on the device, or on both. A device with memory of its own
 * has a buffer a vector, made when it is first needed, and elements are copied when the other side asks for them. A device
 * that shares the host's memory has a buffer over the array: made anew after the host has written, mapped before the host
 * reads, and waited for before the host writes what may still be read.
 *
 * Licence: MIT OR Apache-2.0.
 */
#include "sparrow_petsc.h"

/* What hangs on a vector, by the name below. */
typedef struct {
  Vec          owner;
  cl_mem       memory;
  PetscScalar *lies_over; /* of a device that shares the host's memory */
} SparrowVector;

static const char own_name[] = "SparrowVector";

static struct _VecOps plain[2]; /* PETSc's own operations, of sequential and of distributed vectors */

static PetscErrorCode VecDestroy_Sparrow(Vec);

PetscBool SparrowIsVector(Vec v)
{
  return (PetscBool)(v->ops->destroy == VecDestroy_Sparrow);
}

static PetscErrorCode SparrowVectorOwn(Vec v, SparrowVector **own)
{
  PetscContainer container;

  PetscFunctionBegin;
  PetscCall(PetscObjectQuery((PetscObject)v, own_name, (PetscObject *)&container));
  PetscCheck(container, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Sparrow: a vector of type %s has lost what it has on the device", ((PetscObject)v)->type_name);
  PetscCall(PetscContainerGetPointer(container, (void **)own));
  PetscCheck((*own)->owner == v, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Sparrow: a vector of type %s has another vector's elements on the device", ((PetscObject)v)->type_name);
  PetscFunctionReturn(0);
}

VecOps SparrowVectorPlain(Vec v)
{
  return &plain[((PetscObject)v)->type_name[0] == 'm'];
}

/* The array is the first thing in the data of each of PETSc's plain vectors. */
static PetscScalar *SparrowVectorArray(Vec v)
{
  return *(PetscScalar **)v->data;
}

static PetscErrorCode SparrowVectorForget(SparrowVector *own)
{
  PetscFunctionBegin;
  if (own->memory) OpenCLCall(clReleaseMemObject(own->memory));
  own->memory    = NULL;
  own->lies_over = NULL;
  PetscFunctionReturn(0);
}

PetscErrorCode SparrowVectorOnDevice(SparrowDevice *device, Vec v, SparrowAccess access, cl_mem *memory)
{
  SparrowVector *own;
  const size_t   bytes   = (size_t)v->map->n * sizeof(PetscScalar);
  PetscBool      is_here = (PetscBool)(v->offloadmask == PETSC_OFFLOAD_CPU); /* on the host alone */
  cl_int         status;

  PetscFunctionBegin;
  *memory = NULL;
  if (bytes == 0) PetscFunctionReturn(0);
  PetscCall(SparrowVectorOwn(v, &own));
  if (device->shares_memory) {
    if (is_here || !own->memory) {
      PetscCall(SparrowVectorForget(own));
      own->lies_over = SparrowVectorArray(v);
      PetscCheck(own->lies_over, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE, "Sparrow: a vector of %" PetscInt_FMT " elements has no array", v->map->n);
      own->memory = clCreateBuffer(device->context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, own->lies_over, &status);
      OpenCLCall(status);
    }
  } else {
    if (!own->memory) {
      own->memory = clCreateBuffer(device->context, CL_MEM_READ_WRITE, bytes, NULL, &status);
      OpenCLCall(status);
    }
    if (is_here && access != SPARROW_WRITE) {
      PetscCall(PetscLogEventBegin(device->to_device, v, 0, 0, 0));
      OpenCLCall(clEnqueueWriteBuffer(device->queue, own->memory, CL_TRUE, 0, bytes, SparrowVectorArray(v), 0, NULL, NULL));
      device->bytes_in += (double)bytes;
      PetscCall(PetscLogEventEnd(device->to_device, v, 0, 0, 0));
    }
  }
  if (access != SPARROW_READ) v->offloadmask = PETSC_OFFLOAD_GPU;
  else if (is_here) v->offloadmask = PETSC_OFFLOAD_BOTH;
  *memory = own->memory;
  PetscFunctionReturn(0);
}

PetscErrorCode SparrowVectorOnHost(Vec v, SparrowAccess access)
{
  SparrowDevice *device;
  SparrowVector *own;
  const size_t   bytes = (size_t)v->map->n * sizeof(PetscScalar);

  PetscFunctionBegin;
  if (v->offloadmask == PETSC_OFFLOAD_CPU || bytes == 0) PetscFunctionReturn(0);
  PetscCall(SparrowGetDevice(&device));
  PetscCall(SparrowVectorOwn(v, &own));
  if (v->offloadmask == PETSC_OFFLOAD_GPU && access != SPARROW_WRITE) {
    PetscCall(PetscLogEventBegin(device->to_host, v, 0, 0, 0));
    if (device->shares_memory) {
      cl_int status;
      void  *mapped = clEnqueueMapBuffer(device->queue, own->memory, CL_TRUE, CL_MAP_READ, 0, bytes, 0, NULL, NULL, &status);
      OpenCLCall(status);
      OpenCLCall(clEnqueueUnmapMemObject(device->queue, own->memory, mapped, 0, NULL, NULL));
      OpenCLCall(clFinish(device->queue));
    } else {
      OpenCLCall(clEnqueueReadBuffer(device->queue, own->memory, CL_TRUE, 0, bytes, SparrowVectorArray(v), 0, NULL, NULL));
      device->bytes_out += (double)bytes;
    }
    PetscCall(PetscLogEventEnd(device->to_host, v, 0, 0, 0));
    v->offloadmask = PETSC_OFFLOAD_BOTH;
  }
  if (access != SPARROW_READ) {
    /* Kernels may still read or write the very array. */
    if (device->shares_memory) OpenCLCall(clFinish(device->queue));
    v->offloadmask = PETSC_OFFLOAD_CPU;
  }
  PetscFunctionReturn(0);
}

PetscErrorCode SparrowVectorLeaveArray(Vec v)
{
  SparrowDevice *device;
  SparrowVector *own;

  PetscFunctionBegin;
  PetscCall(SparrowVectorOnHost(v, SPARROW_UPDATE));
  PetscCall(SparrowVectorOwn(v, &own));
  if (!own->lies_over) PetscFunctionReturn(0);
  PetscCall(SparrowGetDevice(&device));
  OpenCLCall(clFinish(device->queue));
  PetscCall(SparrowVectorForget(own));
  PetscFunctionReturn(0);
}

/* Where the device has memory of its own, buffers change hands. */
static PetscErrorCode VecSwap_Sparrow(Vec x, Vec y)
{
  SparrowDevice *device;
  SparrowVector *of_x, *of_y;
  cl_mem         memory;

  PetscFunctionBegin;
  PetscCall(SparrowGetDevice(&device));
  if (device->shares_memory || !SparrowIsVector(y)) {
    PetscCall(SparrowVectorPlain(x)->swap(x, y));
    PetscFunctionReturn(0);
  }
  PetscCall(SparrowVectorOnDevice(device, x, SPARROW_UPDATE, &memory));
  PetscCall(SparrowVectorOnDevice(device, y, SPARROW_UPDATE, &memory));
  PetscCall(SparrowVectorOwn(x, &of_x));
  PetscCall(SparrowVectorOwn(y, &of_y));
  memory       = of_x->memory;
  of_x->memory = of_y->memory;
  of_y->memory = memory;
  PetscFunctionReturn(0);
}

static PetscErrorCode SparrowVectorDestroyOwn(void *pointer)
{
  PetscFunctionBegin;
  PetscCall(SparrowVectorForget((SparrowVector *)pointer));
  PetscCall(PetscFree(pointer));
  PetscFunctionReturn(0);
}

static PetscErrorCode SparrowVectorMakeOwn(Vec v)
{
  SparrowVector *own;
  PetscContainer container;

  PetscFunctionBegin;
  PetscCall(PetscNew(&own));
  own->owner = v;
  PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &container));
  PetscCall(PetscContainerSetPointer(container, own));
  PetscCall(PetscContainerSetUserDestroy(container, SparrowVectorDestroyOwn));
  PetscCall(PetscObjectCompose((PetscObject)v, own_name, (PetscObject)container));
  PetscCall(PetscContainerDestroy(&container));
  PetscFunctionReturn(0);
}

static PetscErrorCode VecDestroy_Sparrow(Vec v)
{
  SparrowVector *own;

  PetscFunctionBegin;
  PetscCall(SparrowVectorOwn(v, &own));
  if (own->lies_over) {
    SparrowDevice *device;
    PetscCall(SparrowGetDevice(&device));
    /* The array goes with the vector. */
    OpenCLCall(clFinish(device->queue));
  }
  PetscCall(PetscObjectCompose((PetscObject)v, own_name, NULL));
  v->ops->destroy = SparrowVectorPlain(v)->destroy;
  PetscUseTypeMethod(v, destroy);
  PetscFunctionReturn(0);
}

/* As PETSc's: of the same layout and type, with what is composed on it. */
static PetscErrorCode VecDuplicate_Sparrow(Vec v, Vec *out)
{
  Vec w;

  PetscFunctionBegin;
  PetscCall(VecCreate(PetscObjectComm((PetscObject)v), &w));
  PetscCall(PetscLayoutReference(v->map, &w->map));
  PetscCall(VecSetType(w, ((PetscObject)v)->type_name));
  PetscCall(PetscObjectListDuplicate(((PetscObject)v)->olist, &((PetscObject)w)->olist));
  PetscCall(PetscFunctionListDuplicate(((PetscObject)v)->qlist, &((PetscObject)w)->qlist));
  /* In place of that of v, which came along. */
  PetscCall(SparrowVectorMakeOwn(w));
  w->ops->view           = v->ops->view;
  w->ops->load           = v->ops->load;
  w->ops->duplicate      = v->ops->duplicate;
  w->stash.donotstash    = v->stash.donotstash;
  w->stash.ignorenegidx  = v->stash.ignorenegidx;
  w->bstash.bs           = v->bstash.bs;
  *out                   = w;
  PetscFunctionReturn(0);
}

PetscErrorCode SparrowVectorBegin(Vec v, PetscBool is_distributed)
{
  PetscFunctionBegin;
  /* What had PETSc's type before is nothing now, by VecSetType(), and would pass for it. */
  PetscCall(PetscObjectChangeTypeName((PetscObject)v, NULL));
  PetscCall(VecSetType(v, is_distributed ? VECMPI : VECSEQ));
  plain[is_distributed] = *v->ops;
  PetscCall(SparrowVectorMakeOwn(v));
  v->ops->destroy   = VecDestroy_Sparrow;
  v->ops->duplicate = VecDuplicate_Sparrow;
  v->ops->swap      = VecSwap_Sparrow;
  PetscFunctionReturn(0);
}
