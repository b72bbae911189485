/*
 * The OpenCL device of a process: the ranks of a node take its devices in turn.
 *
 * Licence: MIT OR Apache-2.0.
 */
#include "sparrow_petsc.h"

static SparrowDevice device;
static PetscBool     is_open = PETSC_FALSE;
static PetscMPIInt   rank_on_node;
static PetscInt      chosen = -1;
static char          platform_text[256];
static PetscBool     copies;
static PetscBool     is_asked; /* for how many products plans are to be made */

static PetscErrorCode SparrowDeviceFinalize(void)
{
  PetscFunctionBegin;
  if (is_open) {
    PetscCall(PetscInfo(NULL, "Sparrow: %g bytes of vectors were copied to the device and %g back\n", device.bytes_in, device.bytes_out));
    SparrowCall(sparrow_vectors_release(device.vectors));
    OpenCLCall(clReleaseMemObject(device.sums));
    if (device.ones) OpenCLCall(clReleaseMemObject(device.ones));
    SparrowCall(sparrow_context_release(device.sparrow));
    OpenCLCall(clReleaseCommandQueue(device.queue));
    OpenCLCall(clReleaseContext(device.context));
  }
  PetscCall(PetscMemzero(&device, sizeof device));
  is_open = PETSC_FALSE;
  PetscFunctionReturn(0);
}

PetscErrorCode SparrowDeviceInitialize(void)
{
  MPI_Comm    node;
  PetscInt    products   = 0;
  const char *products_of[] = {"many", "several", "once"};
  const sparrow_products of[] = {SPARROW_PRODUCTS_MANY, SPARROW_PRODUCTS_SEVERAL, SPARROW_PRODUCTS_ONCE};
  PetscClassId id;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_split_type(PETSC_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
  PetscCallMPI(MPI_Comm_rank(node, &rank_on_node));
  PetscCallMPI(MPI_Comm_free(&node));
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Products by Sparrow", "Mat");
  PetscCall(PetscOptionsString("-mat_sparrow_platform", "A part of the name of the OpenCL platform; any if left out", NULL, platform_text, platform_text, sizeof platform_text, NULL));
  PetscCall(PetscOptionsInt("-mat_sparrow_device", "The device's number, of those of the platform; the ranks of a node take them in turn if left out", NULL, chosen, &chosen, NULL));
  PetscCall(PetscOptionsEList("-mat_sparrow_products", "How many products a plan is made for", NULL, products_of, 3, "many, or several in the host's memory", &products, &is_asked));
  PetscCall(PetscOptionsBool("-mat_sparrow_copy_vectors", "Copy vectors to a device that shares the host's memory, as to others", NULL, copies, &copies, NULL));
  PetscOptionsEnd();
  if (is_asked) device.products = of[products];
  PetscCall(PetscClassIdRegister("Sparrow", &id));
  PetscCall(PetscLogEventRegister("MatSparrowPlan", id, &device.plan));
  PetscCall(PetscLogEventRegister("MatSparrowMult", id, &device.product));
  PetscCall(PetscLogEventRegister("MatSparrowCopy", id, &device.copy));
  PetscCall(PetscLogEventRegister("VecSparrowToDev", id, &device.to_device));
  PetscCall(PetscLogEventRegister("VecSparrowToHost", id, &device.to_host));
  PetscCall(PetscRegisterFinalize(SparrowDeviceFinalize));
  PetscFunctionReturn(0);
}

/* Devices of the platforms that are meant: GPUs where there are any, else all. At most `room` of them. */
static PetscErrorCode SparrowFindDevices(cl_device_id *found, PetscInt room, PetscInt *count)
{
  cl_platform_id       platforms[16];
  cl_uint              n_platforms = 0;
  const cl_device_type kinds[]     = {CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_ACCELERATOR, CL_DEVICE_TYPE_ALL};

  PetscFunctionBegin;
  *count = 0;
  if (clGetPlatformIDs(16, platforms, &n_platforms) != CL_SUCCESS) n_platforms = 0;
  for (int kind = 0; kind < 2 && *count == 0; ++kind) {
    for (cl_uint platform = 0; platform < PetscMin(n_platforms, 16); ++platform) {
      char    name[256] = "", *match = name;
      cl_uint n         = 0;
      OpenCLCall(clGetPlatformInfo(platforms[platform], CL_PLATFORM_NAME, sizeof name, name, NULL));
      if (platform_text[0]) PetscCall(PetscStrstr(name, platform_text, &match));
      if (!match || *count == room) continue;
      if (clGetDeviceIDs(platforms[platform], kinds[kind], (cl_uint)(room - *count), found + *count, &n) != CL_SUCCESS) continue;
      *count = PetscMin(room, *count + (PetscInt)n);
    }
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode SparrowOpen(void)
{
  cl_device_id devices[64], id;
  PetscInt     count, number;
  cl_int       status;
  cl_bool      shares = CL_FALSE;
  char         name[256] = "";
  const sparrow_vectors_options vectors = {.size = sizeof vectors, .value_type = SPARROW_OF_SCALAR};

  PetscFunctionBegin;
  PetscCall(SparrowFindDevices(devices, 64, &count));
  PetscCheck(count > 0, PETSC_COMM_SELF, PETSC_ERR_SUP, "Sparrow: there is no OpenCL device%s%s for rank %d of this node", platform_text[0] ? " of a platform named " : "", platform_text, rank_on_node);
  PetscCheck(chosen < count, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "Sparrow: -mat_sparrow_device is %" PetscInt_FMT ", and there are %" PetscInt_FMT " OpenCL devices", chosen, count);
  number = chosen >= 0 ? chosen : rank_on_node % count;
  id     = devices[number];
  OpenCLCall(clGetDeviceInfo(id, CL_DEVICE_NAME, sizeof name, name, NULL));
  OpenCLCall(clGetDeviceInfo(id, CL_DEVICE_HOST_UNIFIED_MEMORY, sizeof shares, &shares, NULL));
  device.shares_memory = shares && !copies ? PETSC_TRUE : PETSC_FALSE;
  /* A second copy of the matrix is a tenth of a solve's time there, and in the host's memory. */
  if (!is_asked) device.products = shares ? SPARROW_PRODUCTS_SEVERAL : SPARROW_PRODUCTS_MANY;
  device.context       = clCreateContext(NULL, 1, &id, NULL, NULL, &status);
  OpenCLCall(status);
  device.queue = clCreateCommandQueue(device.context, id, 0, &status);
  OpenCLCall(status);
  SparrowCall(sparrow_context_from_queue(device.queue, NULL, &device.sparrow));
  SparrowCall(sparrow_vectors_create_blocking(device.sparrow, device.queue, &vectors, &device.vectors));
  device.sums = clCreateBuffer(device.context, CL_MEM_READ_WRITE, SPARROW_SUMS * sizeof(PetscScalar), NULL, &status);
  OpenCLCall(status);
  PetscCall(PetscInfo(NULL, "Sparrow: rank %d of this node computes on device %" PetscInt_FMT " of %" PetscInt_FMT ", %s%s\n", rank_on_node, number, count, name, device.shares_memory ? ", in the host's memory" : ""));
  is_open = PETSC_TRUE;
  PetscFunctionReturn(0);
}

PetscErrorCode SparrowGetDevice(SparrowDevice **out)
{
  PetscFunctionBegin;
  if (!is_open) PetscCall(SparrowOpen());
  *out = &device;
  PetscFunctionReturn(0);
}
