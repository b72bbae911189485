/*
 * Matrices of PETSc whose products run on an OpenCL device by Sparrow: what the files of libsparrow_petsc share.
 *
 * MATAIJSPARROW ("aijsparrow") is AIJ with products of its own: everything else (assembly, factorisations, conversions,
 * products of matrices) is AIJ's, on the host. The device holds a copy of each block of a matrix, a mirror, which is made
 * at the first product and brought up to date when PETSc says that values or pattern have changed.
 *
 * Licence: MIT OR Apache-2.0.
 */
#ifndef SPARROW_PETSC_H
#define SPARROW_PETSC_H

#include <petsc/private/matimpl.h>
#include <sparrow.h>

#if defined(PETSC_USE_COMPLEX)
#error "Sparrow multiplies real matrices: build against a PETSc of real scalars"
#endif
#if !defined(PETSC_USE_REAL_DOUBLE) && !defined(PETSC_USE_REAL_SINGLE)
#error "Sparrow multiplies in double or in single precision"
#endif

#define MATAIJSPARROW    "aijsparrow"
#define MATSEQAIJSPARROW "seqaijsparrow"
#define MATMPIAIJSPARROW "mpiaijsparrow"

/* A call of libsparrow's, or of OpenCL's; a failure is PETSc's error, with what the library said. */
#define SparrowCall(...) \
  do { \
    const sparrow_status status_ = (__VA_ARGS__); \
    PetscCheck(status_ == SPARROW_STATUS_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_LIB, "Sparrow: %s: %s", sparrow_status_name(status_), sparrow_last_error()); \
  } while (0)
#define OpenCLCall(...) \
  do { \
    const cl_int status_ = (__VA_ARGS__); \
    PetscCheck(status_ == CL_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_LIB, "OpenCL error %d in %s", (int)status_, PetscStringize((__VA_ARGS__))); \
  } while (0)

/* The device of this process. */
typedef struct {
  cl_context       context;
  cl_command_queue queue;
  sparrow_context *sparrow;
  sparrow_products products;       /* what plans are made for */
  PetscBool        shares_memory;  /* with the host: vectors of PETSc's are used where they lie */
  PetscLogEvent    plan, product, copy;
  double           bytes_in, bytes_out; /* of vectors, that were copied to it and back */
} SparrowDevice;

/* The device, opened when it is first asked for. */
PETSC_INTERN PetscErrorCode SparrowGetDevice(SparrowDevice **);
/* Options, events and the process's number on its node. Collective on PETSC_COMM_WORLD. */
PETSC_INTERN PetscErrorCode SparrowDeviceInitialize(void);

/* A vector's elements where kernels reach them, for the length of one product. */
typedef struct {
  cl_mem memory;
  void  *host; /* where memory is shared */
  size_t bytes;
} SparrowOperand;

/* `buffer` is what a device with memory of its own copies to; it is made when it is NULL. */
PETSC_INTERN PetscErrorCode SparrowOperandRead(SparrowDevice *, const PetscScalar *, PetscInt, cl_mem *buffer, SparrowOperand *);
/* Likewise for a result; with `keeps` it is read too. */
PETSC_INTERN PetscErrorCode SparrowOperandWrite(SparrowDevice *, PetscScalar *, PetscInt, PetscBool keeps, cl_mem *buffer, SparrowOperand *);
/* Waits for the result, and brings it to the host. */
PETSC_INTERN PetscErrorCode SparrowOperandFinish(SparrowDevice *, SparrowOperand *, PetscScalar *);
PETSC_INTERN PetscErrorCode SparrowOperandRelease(SparrowOperand *);

/* A block's copy on the device, with a plan for it and one for its transpose, each made when it is first needed. */
typedef struct {
  PetscObjectId      id;
  PetscObjectState   pattern, values; /* of the block when it was copied */
  const PetscInt    *offsets, *columns;
  PetscInt           rows, cols;
  size_t             nonzeros;
  sparrow_matrix    *matrix; /* NULL where there is nothing to multiply */
  sparrow_plan      *plan[2];
  sparrow_workspace *workspace[2];
} SparrowMirror;

/* Makes the mirror that of a sequential AIJ block as it is now. */
PETSC_INTERN PetscErrorCode SparrowMirrorUpdate(SparrowDevice *, SparrowMirror *, Mat block);
/* Enqueues y = A x + beta y, or with the transpose. */
PETSC_INTERN PetscErrorCode SparrowMirrorMultiply(SparrowDevice *, SparrowMirror *, PetscBool transposed, const SparrowOperand *x, double beta, const SparrowOperand *y);
PETSC_INTERN PetscErrorCode SparrowMirrorDestroy(SparrowMirror *);

/* AIJ's ways of multiplying by dense matrices, under our types' names; found once, and given to a matrix or taken. */
PETSC_INTERN PetscErrorCode SparrowProductsInitialize(void);
PETSC_INTERN PetscErrorCode SparrowProductsCompose(Mat, MatType plain, PetscBool are_there);

/* What is one type's and not the other's. */
typedef struct {
  MatType     plain, ours;
  const char *to_ours, *to_plain; /* as PETSc calls these conversions */
  size_t      bytes;              /* of what hangs on a matrix's spptr, all 0 at first */
  PetscErrorCode (*product)(Mat, PetscBool transposed, Vec x, PetscBool keeps, Vec y);
  PetscErrorCode (*release)(void *spptr);
  struct _MatOps replaced; /* AIJ's own operations */
} SparrowType;
extern SparrowType sparrow_seqaij, sparrow_mpiaij;

/* The types. */
PETSC_INTERN PetscErrorCode MatCreate_SeqAIJSparrow(Mat);
PETSC_INTERN PetscErrorCode MatCreate_MPIAIJSparrow(Mat);

/* Registers the types, as -dll_append libsparrow_petsc.so does; for programs that link the library. Collective on
   PETSC_COMM_WORLD, after PetscInitialize(). */
PETSC_EXTERN PetscErrorCode MatSparrowRegister(void);

#endif
