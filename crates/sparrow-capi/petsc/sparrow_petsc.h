/*
 * Matrices and vectors of PETSc that compute on an OpenCL device by Sparrow: what the files of libsparrow_petsc share.
 *
 * MATAIJSPARROW ("aijsparrow") is AIJ with products of its own: everything else (assembly, factorisations, conversions,
 * products of matrices) is AIJ's, on the host. The device holds a copy of each block of a matrix, a mirror, which is made
 * at the first product and brought up to date when PETSc says that values or pattern have changed.
 *
 * VECSPARROW ("sparrow") is PETSc's plain vector whose elements lie on the device while they are computed with, and on the
 * host while the host looks at them; PETSc's offload mask says where they are valid.
 *
 * Licence: MIT OR Apache-2.0.
 */
#ifndef SPARROW_PETSC_H
#define SPARROW_PETSC_H

#include <petsc/private/matimpl.h>
#include <petsc/private/vecimpl.h>
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
#define VECSPARROW       "sparrow"
#define VECSEQSPARROW    "seqsparrow"
#define VECMPISPARROW    "mpisparrow"

#if defined(PETSC_USE_REAL_DOUBLE)
#define SPARROW_OF_SCALAR SPARROW_VALUE_TYPE_F64
#else
#define SPARROW_OF_SCALAR SPARROW_VALUE_TYPE_F32
#endif

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

/* Results of sums that are brought to the host at once. */
#define SPARROW_SUMS 64

/* The device of this process. */
typedef struct {
  cl_context       context;
  cl_command_queue queue; /* in order: what is enqueued sees the results of what was before */
  sparrow_context *sparrow;
  sparrow_vectors *vectors;        /* kernels for dense vectors */
  cl_mem           sums;           /* SPARROW_SUMS scalars */
  cl_mem           ones;           /* as many as a VecShift() has needed yet */
  PetscInt         n_ones;
  sparrow_products products;       /* what plans are made for */
  PetscBool        shares_memory;  /* with the host: vectors of PETSc's are used where they lie */
  PetscLogEvent    plan, product, copy, to_device, to_host;
  double           bytes_in, bytes_out; /* of vectors, that were copied to it and back */
} SparrowDevice;

/* The device, opened when it is first asked for. */
PETSC_INTERN PetscErrorCode SparrowGetDevice(SparrowDevice **);
/* Options, events and the process's number on its node. Collective on PETSC_COMM_WORLD. */
PETSC_INTERN PetscErrorCode SparrowDeviceInitialize(void);

/* What is done with a vector's elements: SPARROW_WRITE replaces all of them. */
typedef enum {
  SPARROW_READ,
  SPARROW_WRITE,
  SPARROW_UPDATE
} SparrowAccess;

/* Whether it is a VECSPARROW. */
PETSC_INTERN PetscBool SparrowIsVector(Vec);
/* The elements of a VECSPARROW where kernels reach them, valid for what is enqueued next; NULL where this rank has none.
   Where they are written, they are valid on the device alone from now on. */
PETSC_INTERN PetscErrorCode SparrowVectorOnDevice(SparrowDevice *, Vec, SparrowAccess, cl_mem *);
/* Makes a VECSPARROW's array on the host valid for such an access. */
PETSC_INTERN PetscErrorCode SparrowVectorOnHost(Vec, SparrowAccess);
/* Ends what the device does with a VECSPARROW's array, whose place is about to change: the array is valid then. */
PETSC_INTERN PetscErrorCode SparrowVectorLeaveArray(Vec);
/* PETSc's own operations on a VECSPARROW, which work on its array. */
PETSC_INTERN VecOps SparrowVectorPlain(Vec);
/* Makes it one of PETSc's plain vectors with a place on the device: the operations that this needs are ours from now on. */
PETSC_INTERN PetscErrorCode SparrowVectorBegin(Vec, PetscBool is_distributed);
/* Replaces operations by our own. */
PETSC_INTERN PetscErrorCode SparrowVectorSetArrayOps(VecOps);
PETSC_INTERN PetscErrorCode SparrowVectorSetElementwiseOps(VecOps);
PETSC_INTERN PetscErrorCode SparrowVectorSetSums(VecOps, PetscBool is_distributed);

/* The vector types, and what picks one of the two. */
PETSC_INTERN PetscErrorCode VecCreate_Sparrow(Vec);
PETSC_INTERN PetscErrorCode VecCreate_SeqSparrow(Vec);
PETSC_INTERN PetscErrorCode VecCreate_MPISparrow(Vec);

/* A vector's elements where kernels reach them, for the length of one product. */
typedef struct {
  cl_mem        memory; /* NULL where there are none */
  void         *host;   /* where memory is shared */
  size_t        bytes;
  PetscScalar  *elements; /* of a vector of the host's */
  SparrowAccess access;
} SparrowOperand;

/* Elements of the host's. `buffer` is what a device with memory of its own copies to; it is made when it is NULL. */
PETSC_INTERN PetscErrorCode SparrowOperandLend(SparrowDevice *, PetscScalar *, PetscInt, SparrowAccess, cl_mem *buffer, SparrowOperand *);
/* Enqueues that they are brought to the host, and the event of that; of no elements none. */
PETSC_INTERN PetscErrorCode SparrowOperandFetch(SparrowDevice *, const SparrowOperand *, cl_event *);
PETSC_INTERN PetscErrorCode SparrowOperandRelease(SparrowOperand *);
/* A vector of any type: in place, or lent. */
PETSC_INTERN PetscErrorCode SparrowOperandOpen(SparrowDevice *, Vec, SparrowAccess, cl_mem *buffer, SparrowOperand *);
/* Ends its use. The host's elements are waited for: for what was written first, then for what was read. */
PETSC_INTERN PetscErrorCode SparrowOperandClose(SparrowDevice *, Vec, SparrowOperand *);

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

/* What a rank's product needs of others' vectors, and they of its. */
typedef struct {
  PetscObjectId    of;       /* the matrix it was made for, */
  PetscObjectState pattern;  /* as it was */
  Vec              ghosts;   /* others' elements, on the host */
  Vec              packed;   /* own elements that others need, on the host, each once */
  PetscInt        *indices;  /* of those in this rank's part of a vector */
  VecScatter       scatter;  /* from packed to ghosts */
  Mat              select;   /* packed = select x, for vectors on the device */
  PetscInt        *offsets;  /* its rows' */
  PetscScalar     *values;   /* ones */
  SparrowMirror    mirror;   /* of select */
  cl_mem           of_packed, of_ghosts; /* of a device with memory of its own, */
  cl_mem           pin_packed, pin_ghosts; /* and what the arrays of packed and ghosts lie in, which it copies faster */
  SparrowOperand   lent;     /* packed, while the device writes it */
  cl_event         fetched;  /* it is there */
  cl_event         used;     /* the device has read ghosts */
} SparrowHalo;

/* Makes it that of a distributed matrix, whose other block has these columns. Collective. */
PETSC_INTERN PetscErrorCode SparrowHaloUpdate(SparrowDevice *, SparrowHalo *, Mat A, PetscInt n_ghosts, const PetscInt *columns);
/* Begins to fetch others' elements of x. Local work may be enqueued then. */
PETSC_INTERN PetscErrorCode SparrowHaloBegin(SparrowDevice *, SparrowHalo *, Vec x);
/* Sends what others need. Local work should be under way. Collective, as all that follow. */
PETSC_INTERN PetscErrorCode SparrowHaloSend(SparrowDevice *, SparrowHalo *, Vec x);
/* Waits for others' elements. */
PETSC_INTERN PetscErrorCode SparrowHaloEnd(SparrowDevice *, SparrowHalo *);
/* Lends them to the device, and says that all is enqueued that uses them. */
PETSC_INTERN PetscErrorCode SparrowHaloLend(SparrowDevice *, SparrowHalo *, SparrowOperand *);
PETSC_INTERN PetscErrorCode SparrowHaloUsed(SparrowDevice *, SparrowHalo *, SparrowOperand *);
/* Adds to y what others have in their ghosts. */
PETSC_INTERN PetscErrorCode SparrowHaloAdd(SparrowDevice *, SparrowHalo *, Vec y);
PETSC_INTERN PetscErrorCode SparrowHaloDestroy(SparrowDevice *, SparrowHalo *);

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
