/*
 * sparrow.h: sparse matrix products on every OpenCL device.
 *
 * Made from crates/sparrow-capi/src by `UPDATE_HEADER=1 cargo test -p sparrow-capi --test header`.
 * Licence: MIT OR Apache-2.0.
 *
 * What can fail returns a status; where that is not SPARROW_STATUS_SUCCESS, sparrow_last_error() says what was
 * wrong with which argument. NULL where there must be something, numbers out of their range and objects that do not
 * belong together are such failures, and nothing is enqueued then. Pointers that are neither NULL nor valid, and
 * handles that were released, are not found out: the process faults in OpenCL or here.
 *
 * Handles. What a function makes is written to its last pointer (NULL if it fails) and belongs to the caller, who
 * releases it, in any order: each keeps what it needs alive. OpenCL objects that are handed over stay the caller's
 * too; references are added where they are kept. Releasing NULL is allowed.
 *
 * Threads. There is no global state. Contexts, matrices, batches and plans may be used by any number of threads at
 * once; a workspace by one launch at a time (threads that share one take turns). Releasing a handle that another
 * thread still uses is not allowed.
 *
 * Events. Functions that enqueue take a wait list and may give an event, which the caller releases by
 * clReleaseEvent; nothing blocks unless its name says so. A blocking function waits for its list first, so lists are
 * needed there only for what other queues, or a queue out of order, still do.
 *
 * Structs that may grow begin with their size: `.size = sizeof(sparrow_plan_options)`. In options, all other fields 0
 * or NULL are the defaults. Programs and libraries of different versions fit: a field that the program's struct does not
 * have is 0; one that this library does not know must be 0 where the program fills the struct, and is set to 0 where the
 * library does.
 *
 * Buffers. What is written may not share a byte with what the same call reads, whatever handles they go by (sub-buffers of
 * one buffer, and buffers over the same host memory, are told apart by their bytes): that is SPARROW_STATUS_MISMATCH, and
 * where it is allowed, the struct says so. Buffers may deny the host access (CL_MEM_HOST_NO_ACCESS,
 * CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_WRITE_ONLY): where a plan, a transposition or a check has the host look at one all the
 * same, as on CPU devices, it looks at a copy that the device makes for the length of the call. Kernels must be allowed to
 * read what is read and to write what is written.
 *
 * Callbacks. There is one, sparrow_linear_system.observe: it may throw an exception of C++, and must not leave by longjmp.
 */

#ifndef SPARROW_H
#define SPARROW_H

#include <stddef.h>
#include <stdint.h>
#include <CL/cl.h>

// The header's version: the first number changes where programs must be built anew.
#define SPARROW_VERSION_MAJOR 0

// The second number.
#define SPARROW_VERSION_MINOR 1

// The third number.
#define SPARROW_VERSION_PATCH 0

// How a call ended.
enum sparrow_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // Done, or enqueued.
    SPARROW_STATUS_SUCCESS = 0,
    // An argument is NULL or has no meaning: a struct of an unknown size, a number or a name that is none of those
    // there are, a buffer that is too small.
    SPARROW_STATUS_INVALID_ARGUMENT = 1,
    // Objects that do not belong together: another context, another pattern, another plan's workspace.
    SPARROW_STATUS_MISMATCH = 2,
    // A matrix, a dense shape or a batch that breaks a rule.
    SPARROW_STATUS_INVALID_MATRIX = 3,
    // Hyper-parameters that break a rule.
    SPARROW_STATUS_INVALID_PARAMETER = 4,
    // The device lacks what was asked for.
    SPARROW_STATUS_UNSUPPORTED = 5,
    // No OpenCL library, or no device.
    SPARROW_STATUS_NO_DEVICE = 6,
    // More memory than there is, or than the device allocates at once.
    SPARROW_STATUS_OUT_OF_MEMORY = 7,
    // A kernel does not build; the text holds the compiler's log.
    SPARROW_STATUS_BUILD_FAILED = 8,
    // An event of a wait list has ended in error.
    SPARROW_STATUS_EVENT_FAILED = 9,
    // An OpenCL call failed: sparrow_last_opencl_status().
    SPARROW_STATUS_OPENCL_ERROR = 10,
    // A file cannot be read, or is not what it should be.
    SPARROW_STATUS_INVALID_FILE = 11,
    // A fault of this library.
    SPARROW_STATUS_INTERNAL_ERROR = 12,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum sparrow_status sparrow_status;
#else
typedef int32_t sparrow_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Many small matrices on the device. Their values can change by sparrow_batch_with_values, their patterns cannot,
// and plans belong to the patterns. Any number of threads may use it at once.
typedef struct sparrow_batch sparrow_batch;

// A batch's tasks and the program that computes them, good for any values. Any number of threads may use it at
// once, each with a workspace of its own.
typedef struct sparrow_batch_plan sparrow_batch_plan;

// A context of the application's with one of its devices, and the programs built for it. Any number of threads may
// use it at once.
typedef struct sparrow_context sparrow_context;

// A matrix in ELL, as entries (COO), or in both (HYB), where the application holds it on the device: products read those
// buffers, and nothing is converted. Its values may change in place at any time between launches; what else it says of the
// matrix may not. Any number of threads may use it at once.
typedef struct sparrow_hyb_matrix sparrow_hyb_matrix;

// Products of one matrix in ELL, as entries, or in both, with the same bits every time; good for any values of it. Any
// number of threads may use it at once, each with a workspace of its own.
typedef struct sparrow_hyb_plan sparrow_hyb_plan;

// A sparse matrix in compressed rows on the device. Its values can change, its pattern cannot, and plans belong to
// the pattern. Any number of threads may use it at once.
typedef struct sparrow_matrix sparrow_matrix;

// An algorithm bound to the pattern of a matrix, good for any values. Any number of threads may use it at once,
// each with a workspace of its own.
typedef struct sparrow_plan sparrow_plan;

// Products of one plan and one matrix in the order in which each replay makes them, with a workspace of their own. It
// keeps alive all they work on, but for shared virtual memory: that is to stay. Calls of several threads take turns.
typedef struct sparrow_recording sparrow_recording;

// A method for A x = b, bound to the pattern of a square matrix, with the vectors it needs on the device: good for any
// values, any b and any x. Calls of several threads take turns.
typedef struct sparrow_solver sparrow_solver;

// A way of multiplying bound to the pattern of a matrix and to the shapes of B and C, good for any values. Any
// number of threads may use it at once, each with a workspace of its own.
typedef struct sparrow_spmm_plan sparrow_spmm_plan;

// Kernels for dense vectors of one type, with what they work in. Calls of several threads take turns, and launches
// run one after the other.
typedef struct sparrow_vectors sparrow_vectors;

// What a launch scribbles on, made by a plan and for it alone. It serves one launch in flight: launches that share
// one run one after the other, and calls of several threads take turns.
typedef struct sparrow_workspace sparrow_workspace;

// What a context is asked for; all other fields NULL are the defaults.
typedef struct sparrow_context_options {
    // sizeof(sparrow_context_options).
    size_t size;
    // The user's device table, as `sparrow tune` writes it: a path; "off" for none but the shipped ones; NULL for
    // what the environment says (SPARROW_TABLE, else devices.toml in the user's folder).
    const char *device_table;
    // Where kernel binaries are kept: a folder; "off" for nowhere; NULL for what the environment says
    // (SPARROW_CACHE_DIR, else the user's cache folder).
    const char *binary_cache;
} sparrow_context_options;

// Facts of a context. Texts are valid until the context is released.
typedef struct sparrow_context_info {
    // sizeof(sparrow_context_info); set by the caller.
    size_t size;
    // The device's name.
    const char *device;
    // The platform's name.
    const char *platform;
    // What was left out of device tables and why, a line each; empty if nothing was.
    const char *table_problems;
} sparrow_context_info;

// What a matrix stores: one of SPARROW_VALUE_TYPE_...; x, y, alpha, beta and all sums are `double` for F64 and
// `float` for the others.
typedef uint32_t sparrow_value_type;

// What row offsets are: one of SPARROW_OFFSET_TYPE_...; column indices are uint32_t.
typedef uint32_t sparrow_offset_type;

// A part of a buffer of the application's, or of its shared virtual memory: from a byte on, as far as its use needs. The
// address must be a multiple of the element's size, in a buffer the byte. Sub-buffers are buffers too. One of `memory`
// and `svm` is NULL; where no element is needed, both may be.
//
// OpenCL does not count who uses shared virtual memory: it must live until every launch with it has ended, and as long
// as a matrix or batch that was made of it. Whether the host may touch it between map and unmap alone, as coarse-grained
// memory, or at any time, the application knows; the library maps it where it looks at it itself.
typedef struct sparrow_buffer {
    // The buffer.
    cl_mem memory;
    // Where the first element lies, in bytes from the beginning.
    uint64_t byte_offset;
    // Shared virtual memory of the context (clSVMAlloc), or on a device that shares all of the host's memory
    // (CL_DEVICE_SVM_FINE_GRAIN_SYSTEM) any; NULL for a buffer. No pointer may be given to a device without
    // shared virtual memory.
    void *svm;
} sparrow_buffer;

// A matrix in compressed rows in buffers of the application's.
typedef struct sparrow_csr_buffers {
    // sizeof(sparrow_csr_buffers).
    size_t size;
    // Rows.
    uint64_t rows;
    // Columns.
    uint64_t cols;
    // Stored entries.
    uint64_t nnz;
    // What `values` holds.
    sparrow_value_type value_type;
    // What `offsets` holds.
    sparrow_offset_type offset_type;
    // Row offsets: rows + 1, from 0 to nnz, never falling.
    struct sparrow_buffer offsets;
    // Column indices: nnz of uint32_t, below `cols`.
    struct sparrow_buffer columns;
    // Values: nnz.
    struct sparrow_buffer values;
} sparrow_csr_buffers;

// A matrix in compressed rows in the host's memory.
typedef struct sparrow_csr_arrays {
    // sizeof(sparrow_csr_arrays).
    size_t size;
    // Rows.
    uint64_t rows;
    // Columns.
    uint64_t cols;
    // Stored entries.
    uint64_t nnz;
    // What `values` holds.
    sparrow_value_type value_type;
    // What `offsets` holds.
    sparrow_offset_type offset_type;
    // Row offsets: rows + 1, from 0 to nnz, never falling.
    const void *offsets;
    // Column indices: nnz, below `cols`.
    const uint32_t *columns;
    // Values: nnz.
    const void *values;
} sparrow_csr_arrays;

// Facts of a matrix.
typedef struct sparrow_matrix_info {
    // sizeof(sparrow_matrix_info); set by the caller.
    size_t size;
    // Rows.
    uint64_t rows;
    // Columns.
    uint64_t cols;
    // Stored entries.
    uint64_t nnz;
    // Entries of the longest row.
    uint64_t longest_row;
    // Bytes of the three arrays.
    uint64_t size_bytes;
    // What it stores.
    sparrow_value_type value_type;
    // What its row offsets are.
    sparrow_offset_type offset_type;
} sparrow_matrix_info;

// What becomes of entries that share row and column.
typedef uint32_t sparrow_duplicates;

// Entries of a matrix, in any order, in buffers of the application's.
typedef struct sparrow_coo_buffers {
    // sizeof(sparrow_coo_buffers).
    size_t size;
    // Rows.
    uint64_t rows;
    // Columns.
    uint64_t cols;
    // Entries: at most 4,294,967,295.
    uint64_t entries;
    // What `values` holds.
    sparrow_value_type value_type;
    // What the matrix's row offsets will be.
    sparrow_offset_type offset_type;
    // What becomes of entries that share row and column.
    sparrow_duplicates duplicates;
    // 0.
    uint32_t reserved;
    // The row of each entry: uint32_t, below `rows`.
    struct sparrow_buffer row_indices;
    // The column of each entry: uint32_t, below `cols`.
    struct sparrow_buffer column_indices;
    // The value of each entry.
    struct sparrow_buffer values;
} sparrow_coo_buffers;

// Which elements of a dense matrix lie side by side.
typedef uint32_t sparrow_layout;

// Where the elements of a dense matrix lie.
typedef struct sparrow_dense_shape {
    // Rows.
    uint64_t rows;
    // Columns.
    uint64_t cols;
    // Elements from the beginning of one row (column) to that of the next; 0 is as many as it has. What lies
    // between is neither read nor written.
    uint64_t leading;
    // What lies side by side: SPARROW_LAYOUT_ROW_MAJOR or SPARROW_LAYOUT_COLUMN_MAJOR.
    sparrow_layout layout;
} sparrow_dense_shape;

// A dense matrix in a buffer of the application's, and what of it is stored.
typedef struct sparrow_dense_source {
    // sizeof(sparrow_dense_source).
    size_t size;
    // Where its elements lie.
    struct sparrow_dense_shape shape;
    // What it holds, and the matrix will.
    sparrow_value_type value_type;
    // What the matrix's row offsets will be.
    sparrow_offset_type offset_type;
    // Elements larger in size than this are stored, and NaN; not negative.
    double tolerance;
    // The elements, as many as the shape spans.
    struct sparrow_buffer elements;
} sparrow_dense_source;

// Where parts of a matrix are copied to; those whose `memory` is NULL are left out.
typedef struct sparrow_matrix_parts {
    // sizeof(sparrow_matrix_parts).
    size_t size;
    // Row offsets, of the matrix's offset type: rows + 1.
    struct sparrow_buffer offsets;
    // The row of each nonzero, uint32_t: nnz.
    struct sparrow_buffer row_indices;
    // The column of each nonzero, uint32_t: nnz.
    struct sparrow_buffer columns;
    // The values, of the matrix's value type: nnz.
    struct sparrow_buffer values;
} sparrow_matrix_parts;

// How many products will follow, which an automatic choice weighs a plan's cost against.
typedef uint32_t sparrow_products;

// How products are summed.
typedef uint32_t sparrow_accumulate;

// Which matrix multiplies.
typedef uint32_t sparrow_operation;

// Where a plan is computed; the plan is the same.
typedef uint32_t sparrow_planning;

// What a plan is asked for; all other fields 0 or NULL are the automatic choice.
typedef struct sparrow_plan_options {
    // sizeof(sparrow_plan_options).
    size_t size;
    // The algorithm: "csr_scalar", "csr_vector", "csr_adaptive", "csr_flat", "csr_pieces",
    // "segmented_sum", "evc_hyb", "hyb", "sell", "sell_sigma", "csr_tiles"; NULL chooses one for the matrix and the device.
    const char *algorithm;
    // The way in which that algorithm runs, as `sparrow bench --variant` spells it; NULL is its default way.
    const char *variant;
    // Hyper-parameters over what the device table says: "group_size=256,nnz_per_wg=1024"; or NULL.
    const char *parameters;
    // The user's device table, as in sparrow_context_options; NULL is the context's.
    const char *device_table;
    // How many products will follow.
    sparrow_products products;
    // How products are summed.
    sparrow_accumulate accumulate;
    // Which matrix multiplies x.
    sparrow_operation operation;
    // Where the plan is computed.
    sparrow_planning planning;
    // 1: alpha and beta of each launch lie on the device. 0: they come by value.
    uint32_t scalars_on_device;
    // What an earlier plan chose, `choice` of its sparrow_plan_info: that runs, and nothing is chosen or timed. `algorithm`
    // and `variant` must be NULL then, `parameters` go over it. Or NULL.
    const char *choice;
    // 1: SPARROW_PRODUCTS_MANY times nothing on the matrix. 0: the best few candidates, by 40 products at most;
    // none where a product takes much less than its launch.
    uint32_t never_measure;
    // How rows and columns are put in another order first, in a copy that the plan keeps: "rcm" (reverse Cuthill-McKee, of
    // square matrices), "clusters" (of rows that share columns); NULL leaves them as they are. The product is the same; new
    // values need sparrow_plan_update_values_blocking. Unless `vectors_in_order` is 1, a launch moves x and y too.
    const char *reordering;
    // 1: x and y of each launch are in the plan's order of rows, of a square matrix that was reordered or of "evc_hyb": y
    // can be the next product's x. sparrow_plan_row_order_blocking says which it is; a solver's is that of a plan with the
    // same options. 0: as the matrix has them.
    uint32_t vectors_in_order;
} sparrow_plan_options;

// Facts of a plan. Texts are valid until the plan is released.
typedef struct sparrow_plan_info {
    // sizeof(sparrow_plan_info); set by the caller.
    size_t size;
    // The algorithm that runs; of a batch, each that runs.
    const char *algorithm;
    // The way in which it runs; empty where it has only one.
    const char *variant;
    // Why it was chosen.
    const char *reason;
    // Its hyper-parameters: "group_size=256,...".
    const char *parameters;
    // Bytes of the plan on the device, beyond the matrix's own; a transposed copy included.
    uint64_t plan_bytes;
    // Bytes that each workspace takes on the device.
    uint64_t workspace_bytes;
    // 1 where the same launch always gives the same bits, else 0.
    uint32_t repeatable;
    // All that runs, as text that sparrow_plan_options takes as `choice`; empty where that has none: of a batch and of a
    // product with a dense matrix.
    const char *choice;
    // Products by which it was chosen; 0 where nothing was timed.
    uint32_t measured_products;
    // How the plan's copy of the values stores them now: "as they are", "one value", "a dictionary", or f64 as "f32"; empty
    // where it has no copy in an order of its own. New values may change it.
    const char *value_coding;
    // Bytes that this saves: `plan_bytes` would be as much more with values as they are.
    uint64_t saved_bytes;
} sparrow_plan_info;

// alpha or beta: a number, or, for plans with `scalars_on_device`, where it lies on the device.
typedef struct sparrow_scalar {
    // The number; rounded to float where sums are made in float, which a finite one must not exceed. Not looked at where
    // `device` has a buffer, or shared virtual memory.
    double value;
    // A float (a double for SPARROW_VALUE_TYPE_F64); without a buffer, `value` counts.
    struct sparrow_buffer device;
} sparrow_scalar;

// The operands of y = alpha A x + beta y. x and y hold double for SPARROW_VALUE_TYPE_F64, else float.
typedef struct sparrow_product {
    // sizeof(sparrow_product).
    size_t size;
    // Scales A x; 0 is not special, so NaN in A or x reaches y.
    struct sparrow_scalar alpha;
    // The matrix: the plan's, or one of the same pattern.
    const struct sparrow_matrix *a;
    // The vector x: as many elements as A (transposed: A's transpose) has columns.
    struct sparrow_buffer x;
    // Scales y; with 0, y is never read.
    struct sparrow_scalar beta;
    // The vector y: as many elements as there are rows. Must not overlap x, alpha, beta or the matrix's own buffers.
    struct sparrow_buffer y;
} sparrow_product;

// What a blocking product did; only the algorithm "segmented_sum" has a second stage.
typedef struct sparrow_stages {
    // sizeof(sparrow_stages); set by the caller.
    size_t size;
    // Nanoseconds until the device had done its part.
    uint64_t stage1_nanoseconds;
    // Nanoseconds until rows were together and stored where they belong.
    uint64_t stage2_nanoseconds;
    // Bytes of arrays that the CPU reached where they lie.
    uint64_t shared_bytes;
    // Bytes of arrays that were copied for the CPU.
    uint64_t copied_bytes;
} sparrow_stages;

// How a recording is replayed. What comes out is the same, bit for bit.
typedef uint32_t sparrow_replay;

// Facts of a recording. Texts are valid until it is released.
typedef struct sparrow_recording_info {
    // sizeof(sparrow_recording_info); set by the caller.
    size_t size;
    // Products of one replay.
    uint64_t products;
    // Kernels of one replay.
    uint64_t kernels;
    // 1 where a command buffer of the driver's replays it, else 0.
    uint32_t command_buffer;
    // Why it is replayed so.
    const char *reason;
} sparrow_recording_info;

// A matrix in ELL, as entries, or in both, in buffers of the application's: the sum of its two parts. A part without
// elements needs no buffers.
typedef struct sparrow_hyb_buffers {
    // sizeof(sparrow_hyb_buffers).
    size_t size;
    // Rows.
    uint64_t rows;
    // Columns.
    uint64_t cols;
    // Slots of each row in ELL; 0 of a matrix in COO.
    uint64_t ell_width;
    // Slots from one of a row to its next, `rows` at least: slot k of row i lies at k * ell_pitch + i. 0 is `rows`.
    uint64_t ell_pitch;
    // Entries in COO; 0 of a matrix in ELL.
    uint64_t coo_entries;
    // What `ell_values` and `coo_values` hold.
    sparrow_value_type value_type;
    // 0.
    uint32_t reserved;
    // The column of each slot, uint32_t: below `cols`, or UINT32_MAX where a slot is padding. ell_pitch * (ell_width - 1) +
    // rows of them; those between the last row and the pitch are not read.
    struct sparrow_buffer ell_columns;
    // The value of each slot; not read where it is padding.
    struct sparrow_buffer ell_values;
    // The row of each entry, uint32_t: below `rows`, none before one that is less.
    struct sparrow_buffer coo_rows;
    // The column of each entry, uint32_t, below `cols`; in any order within a row, and what repeats adds up.
    struct sparrow_buffer coo_columns;
    // The value of each entry.
    struct sparrow_buffer coo_values;
} sparrow_hyb_buffers;

// What a plan of such a matrix is asked for; all other fields 0 or NULL are the defaults.
typedef struct sparrow_hyb_options {
    // sizeof(sparrow_hyb_options).
    size_t size;
    // Hyper-parameters of "hyb" over the defaults: "group_size=256,nnz_per_item=8"; or NULL.
    const char *parameters;
    // How products are summed.
    sparrow_accumulate accumulate;
    // 1: alpha and beta of each launch lie on the device. 0: they come by value.
    uint32_t scalars_on_device;
} sparrow_hyb_options;

// The operands of y = alpha A x + beta y, without the plan's matrix. x and y hold double for SPARROW_VALUE_TYPE_F64,
// else float.
typedef struct sparrow_hyb_product {
    // sizeof(sparrow_hyb_product).
    size_t size;
    // Scales A x; 0 is not special, so NaN in A or x reaches y.
    struct sparrow_scalar alpha;
    // The vector x: as many elements as A has columns.
    struct sparrow_buffer x;
    // Scales y; with 0, y is never read.
    struct sparrow_scalar beta;
    // The vector y: as many elements as there are rows. Must not overlap x, alpha, beta or the matrix's own buffers.
    struct sparrow_buffer y;
} sparrow_hyb_product;

// What a plan for C = alpha A B + beta C is asked for; `size`, `b`, `c` and `b_type` must be set.
typedef struct sparrow_spmm_options {
    // sizeof(sparrow_spmm_options).
    size_t size;
    // Where the elements of B lie.
    struct sparrow_dense_shape b;
    // Where the elements of C lie.
    struct sparrow_dense_shape c;
    // The algorithm: "spmm_row_split", "spmm_merge"; NULL chooses one for the matrix and the device.
    const char *algorithm;
    // Hyper-parameters over what the device table says; or NULL.
    const char *parameters;
    // The user's device table, as in sparrow_context_options; NULL is the context's.
    const char *device_table;
    // What B stores: the type of C (double for SPARROW_VALUE_TYPE_F64, else float), or with float 16 bits.
    sparrow_value_type b_type;
    // Which matrix multiplies B.
    sparrow_operation operation;
    // 1: alpha and beta of each launch lie on the device. 0: they come by value.
    uint32_t scalars_on_device;
} sparrow_spmm_options;

// The operands of C = alpha A B + beta C. C holds double for SPARROW_VALUE_TYPE_F64, else float.
typedef struct sparrow_dense_product {
    // sizeof(sparrow_dense_product).
    size_t size;
    // Scales A B; 0 is not special, so NaN in A or B reaches C.
    struct sparrow_scalar alpha;
    // The matrix: the plan's, or one of the same pattern.
    const struct sparrow_matrix *a;
    // B, of the plan's shape and type.
    struct sparrow_buffer b;
    // Scales C; with 0, C is never read.
    struct sparrow_scalar beta;
    // C, of the plan's shape. What it spans must not overlap B, alpha, beta or the matrix's own buffers.
    struct sparrow_buffer c;
} sparrow_dense_product;

// How a problem of a batch is stored.
typedef uint32_t sparrow_format;

// One problem of a batch: its size, and the first element of each of its arrays.
typedef struct sparrow_problem {
    // Rows of A.
    uint32_t rows;
    // Columns of A.
    uint32_t cols;
    // Entries stored, slots of padding included.
    uint32_t entries;
    // How A is stored.
    sparrow_format format;
    // Places of each row, for SPARROW_FORMAT_ELL; else 0.
    uint32_t ell_width;
    // 0.
    uint32_t reserved;
    // The first row offset (CSR), row index (COO) or slice start (sliced ELL).
    uint64_t index;
    // The first column index.
    uint64_t columns;
    // The first value.
    uint64_t values;
    // The first element of x.
    uint64_t x;
    // The first element of y.
    uint64_t y;
} sparrow_problem;

// A batch in buffers of the application's. Where no problem needs an array, it may be empty.
typedef struct sparrow_batch_buffers {
    // sizeof(sparrow_batch_buffers).
    size_t size;
    // The problems, in the host's memory; they are copied.
    const struct sparrow_problem *problems;
    // How many there are.
    uint64_t num_problems;
    // What `values` holds.
    sparrow_value_type value_type;
    // What `offsets` holds.
    sparrow_offset_type offset_type;
    // Bits of each column index, 16 or 32. Padding of ELL is the largest number of so many bits.
    uint32_t column_bits;
    // 0.
    uint32_t reserved;
    // Row offsets of problems in compressed rows.
    struct sparrow_buffer offsets;
    // How many there are.
    uint64_t num_offsets;
    // Row indices of problems in coordinates and slice starts, uint32_t.
    struct sparrow_buffer indices;
    // How many there are.
    uint64_t num_indices;
    // Column indices.
    struct sparrow_buffer columns;
    // How many there are.
    uint64_t num_columns;
    // Values.
    struct sparrow_buffer values;
    // How many there are.
    uint64_t num_values;
} sparrow_batch_buffers;

// What a plan for a batch is asked for; all other fields 0 or NULL are the automatic choice.
typedef struct sparrow_batch_options {
    // sizeof(sparrow_batch_options).
    size_t size;
    // The algorithm, for the problems whose format it reads: "batched_csr_scalar", "batched_csr_vector",
    // "batched_csr_smart", "batched_csr_i", "batched_coo", "batched_ell"; NULL chooses one for each problem.
    const char *algorithm;
    // "atomic" adds cut rows by float atomics, as they come; NULL in their order.
    const char *variant;
    // Hyper-parameters over what the device table says; or NULL.
    const char *parameters;
    // The user's device table, as in sparrow_context_options; NULL is the context's.
    const char *device_table;
    // 1: alpha and beta of each launch lie on the device. 0: they come by value.
    uint32_t scalars_on_device;
} sparrow_batch_options;

// alpha or beta of a batch: a number for all problems, or, for plans with `scalars_on_device`, where it lies.
typedef struct sparrow_batch_scalar {
    // The number; not looked at where `device` has a buffer.
    double value;
    // Floats (doubles for SPARROW_VALUE_TYPE_F64); without a buffer, `value` counts.
    struct sparrow_buffer device;
    // 1: the buffer has a number for each problem. 0: one for all.
    uint32_t each;
} sparrow_batch_scalar;

// The operands of y = alpha A x + beta y for every problem of a batch.
typedef struct sparrow_batch_product {
    // sizeof(sparrow_batch_product).
    size_t size;
    // Scales A x; 0 is not special, so NaN in A or x reaches y.
    struct sparrow_batch_scalar alpha;
    // The batch: the plan's, or one of the same patterns.
    const struct sparrow_batch *a;
    // The vectors x, each where its problem says.
    struct sparrow_buffer x;
    // Scales y; where it is 0, y is never read.
    struct sparrow_batch_scalar beta;
    // The vectors y, each where its problem says; elements between them are left alone. None may overlap an x, alpha,
    // beta or the batch's own buffers.
    struct sparrow_buffer y;
} sparrow_batch_product;

// What kernels for dense vectors are asked for; `size` and `value_type` must be set.
typedef struct sparrow_vectors_options {
    // sizeof(sparrow_vectors_options).
    size_t size;
    // What vectors hold: SPARROW_VALUE_TYPE_F32 or SPARROW_VALUE_TYPE_F64.
    sparrow_value_type value_type;
    // How sums are made: those of reductions, and of alpha x + beta y.
    sparrow_accumulate accumulate;
    // 1: alpha and beta of each launch lie on the device. 0: they come by value.
    uint32_t scalars_on_device;
} sparrow_vectors_options;

// What becomes of each element of r.
typedef uint32_t sparrow_elementary;

// The operands of an operation element by element. r may be x or y, but overlap them in no other way.
typedef struct sparrow_elementwise {
    // sizeof(sparrow_elementwise).
    size_t size;
    // Elements of each vector.
    uint64_t elements;
    // Scales x, where the operation has it; 0 is not special.
    struct sparrow_scalar alpha;
    // The vector x.
    struct sparrow_buffer x;
    // Scales y, where the operation has it; of SPARROW_ELEMENTARY_MULTIPLY_ADD, r.
    struct sparrow_scalar beta;
    // The vector y, where the operation has it.
    struct sparrow_buffer y;
    // The vector r.
    struct sparrow_buffer r;
    // What is done.
    sparrow_elementary operation;
    // Scales r, of SPARROW_ELEMENTARY_UPDATE.
    struct sparrow_scalar gamma;
} sparrow_elementwise;

// What a vector, or two, are reduced to.
typedef uint32_t sparrow_reduction_kind;

// The operands of a reduction. Of no elements, the result is 0.
typedef struct sparrow_reduction {
    // sizeof(sparrow_reduction).
    size_t size;
    // Elements of each vector.
    uint64_t elements;
    // The vector x.
    struct sparrow_buffer x;
    // The vector y of SPARROW_REDUCTION_DOT, which may be x; others do not look at it.
    struct sparrow_buffer y;
    // Where the result goes: one number, no part of x or y.
    struct sparrow_buffer result;
    // What is summed.
    sparrow_reduction_kind kind;
} sparrow_reduction;

// How A x = b is solved.
typedef uint32_t sparrow_solver_method;

// What residuals are multiplied by.
typedef uint32_t sparrow_preconditioner;

// How residuals are measured.
typedef uint32_t sparrow_norm;

// What the end of a solve rests on.
typedef uint32_t sparrow_verdict;

// What a solver is asked for; all other fields 0 or NULL are the defaults.
typedef struct sparrow_solver_options {
    // sizeof(sparrow_solver_options).
    size_t size;
    // How A is multiplied; NULL chooses. Its `device_table` is the solver's too; a transposed A and scalars on the
    // device are refused. With its `reordering` all iterations run in that order: b and x are moved into it before them and
    // x out of it after, unless its `vectors_in_order` says that they are in it already.
    const struct sparrow_plan_options *plan;
    // Hyper-parameters of the kernels between products over what the device table says; or NULL.
    const char *parameters;
    // The method.
    sparrow_solver_method method;
    // What residuals are multiplied by.
    sparrow_preconditioner preconditioner;
    // How residuals are measured.
    sparrow_norm norm;
    // Iterations between two looks at the residual, each of which waits for the device: 1 to 65536. 0 chooses. What
    // is returned does not depend on it.
    uint32_t check_every;
    // What its end rests on.
    sparrow_verdict verdict;
} sparrow_solver_options;

// Facts of a solver. Texts are valid until the solver is released.
typedef struct sparrow_solver_info {
    // sizeof(sparrow_solver_info); set by the caller.
    size_t size;
    // The algorithm that multiplies.
    const char *algorithm;
    // Why it was chosen.
    const char *reason;
    // Its hyper-parameters: "group_size=256,...".
    const char *plan_parameters;
    // The hyper-parameters of the kernels between products.
    const char *parameters;
    // Bytes on the device beyond the matrix's own: vectors, plan and workspace.
    uint64_t size_bytes;
    // Bytes that an iteration moves if every kernel moves each array that it takes once.
    uint64_t bytes_per_iteration;
    // Iterations between two looks at the residual.
    uint32_t check_every;
} sparrow_solver_info;

// When a solve ends: where the residual is at most the largest of three, or after so many iterations. Every field
// counts as it stands. Tolerances are finite, and 0 or more.
typedef struct sparrow_stop_rule {
    // sizeof(sparrow_stop_rule).
    size_t size;
    // As a multiple of the norm of b.
    double relative;
    // As a multiple of the norm of the first residual, b - A x before.
    double relative_to_first;
    // As it is.
    double absolute;
    // Iterations at most; with 0, x stays as it is, and its residual is measured.
    uint32_t max_iterations;
} sparrow_stop_rule;

// How far a solve has come; valid during the call.
typedef struct sparrow_solver_progress {
    // sizeof(sparrow_solver_progress); set by the library.
    size_t size;
    // The norms of the residuals: before the first iteration, and after each; iteration + 1.
    const double *history;
    // The residual that is small enough.
    double threshold;
    // The norm of b.
    double b_norm;
    // Iterations that have ended.
    uint32_t iteration;
} sparrow_solver_progress;

// A x = b. b and x hold double for SPARROW_VALUE_TYPE_F64, else float.
typedef struct sparrow_linear_system {
    // sizeof(sparrow_linear_system).
    size_t size;
    // The matrix: the solver's, or one of the same pattern.
    const struct sparrow_matrix *a;
    // The right-hand side: as many elements as A has rows. May be x.
    struct sparrow_buffer b;
    // Where the iterations begin, and where the solution goes: as many elements as A has rows. Must not overlap the
    // matrix's own buffers.
    struct sparrow_buffer x;
    // When it ends; NULL is 1e-8 of b, or 10,000 iterations.
    const struct sparrow_stop_rule *stop;
    // Called at each look at the residual, on the thread that called the solve; or NULL. Any other number than 0 ends the
    // solve there. It may throw an exception of C++, which ends the solve and leaves the solver usable; it must return or
    // throw: neither leave by longjmp nor end its thread. It may neither use the solver nor change or release the matrix:
    // such calls are refused.
    uint32_t (*observe)(const struct sparrow_solver_progress *progress, void *user_data);
    // Handed to `observe`.
    void *user_data;
    // Gets the norms of the residuals, before the first iteration and after each; or NULL.
    double *history;
    // The capacity of `history`; iterations + 1 are all. The rest is not written.
    uint64_t history_room;
} sparrow_linear_system;

// How a solve ended.
typedef uint32_t sparrow_outcome;

// Why a method cannot go on.
typedef uint32_t sparrow_breakdown;

// How a solve went. Residuals are norms as the solver's options ask for them.
typedef struct sparrow_solution {
    // sizeof(sparrow_solution); set by the caller.
    size_t size;
    // The norm of b - A x, computed from x. The recurrence may drift from it.
    double true_residual;
    // The residual of x by the recurrence.
    double residual;
    // The norm of b.
    double b_norm;
    // The residual that was small enough.
    double threshold;
    // From the start to x in place.
    uint64_t nanoseconds;
    // Of an iteration, between the first and the last look at the residual; 0 where it ended before there were such.
    uint64_t nanoseconds_per_iteration;
    // Iterations until it ended.
    uint32_t iterations;
    // Iterations that were enqueued; those that came too late have changed nothing.
    uint32_t launched;
    // How it ended.
    sparrow_outcome outcome;
    // With SPARROW_OUTCOME_BREAKDOWN, why.
    sparrow_breakdown breakdown;
    // In which iteration; 0 is the start.
    uint32_t breakdown_iteration;
    // The iteration that x is of: the last where it converged, else that of the least residual.
    uint32_t x_iteration;
} sparrow_solution;

// 32-bit IEEE floating point.
#define SPARROW_VALUE_TYPE_F32 1

// 64-bit IEEE floating point.
#define SPARROW_VALUE_TYPE_F64 2

// 16-bit IEEE floating point, stored only.
#define SPARROW_VALUE_TYPE_F16 3

// The upper half of a float, stored only.
#define SPARROW_VALUE_TYPE_BF16 4

// 32 bits: at most 4,294,967,295 nonzeros.
#define SPARROW_OFFSET_TYPE_U32 1

// 64 bits.
#define SPARROW_OFFSET_TYPE_U64 2

// Some tens.
#define SPARROW_PRODUCTS_SEVERAL 0

// One.
#define SPARROW_PRODUCTS_ONCE 1

// Hundreds: a copy of the matrix pays.
#define SPARROW_PRODUCTS_MANY 2

// In the type of x and y.
#define SPARROW_ACCUMULATE_PLAIN 0

// With a running error term: about twice the digits.
#define SPARROW_ACCUMULATE_COMPENSATED 1

// A itself.
#define SPARROW_OPERATION_NORMAL 0

// A transposed: a copy that the plan keeps, and that new values reach by ..._update_values_blocking.
#define SPARROW_OPERATION_TRANSPOSE 1

// Where it takes least time.
#define SPARROW_PLANNING_AUTOMATIC 0

// On the host: row offsets are read back.
#define SPARROW_PLANNING_ON_HOST 1

// On the device: a few bytes are read back.
#define SPARROW_PLANNING_ON_DEVICE 2

// Those of a row.
#define SPARROW_LAYOUT_ROW_MAJOR 1

// Those of a column.
#define SPARROW_LAYOUT_COLUMN_MAJOR 2

// Compressed rows: rows + 1 row offsets, counted from any number on.
#define SPARROW_FORMAT_CSR 1

// Coordinates in the order of their rows: a row index for each entry.
#define SPARROW_FORMAT_COO 2

// Rows of `ell_width` slots, entries of neighbouring rows side by side.
#define SPARROW_FORMAT_ELL 3

// Slices of 32 neighbouring rows, each with a width of its own; ceil(rows / 32) + 1 slice starts.
#define SPARROW_FORMAT_SLICED_ELL 4

// They are added up one after another, in the order they had.
#define SPARROW_DUPLICATES_SUM 0

// They stay next to each other, in the order they had.
#define SPARROW_DUPLICATES_KEEP 1

// By a command buffer where the device has them and is no CPU, else launch by launch.
#define SPARROW_REPLAY_AUTOMATIC 0

// By a command buffer of the driver's (cl_khr_command_buffer).
#define SPARROW_REPLAY_COMMAND_BUFFER 1

// Launch by launch, with nothing between them.
#define SPARROW_REPLAY_LAUNCHES 2

// r = alpha x.
#define SPARROW_ELEMENTARY_SCALE 1

// r = alpha x + y, rounded once.
#define SPARROW_ELEMENTARY_AXPY 2

// r = alpha x + beta y; with beta = 0, y is never read.
#define SPARROW_ELEMENTARY_AXPBY 3

// r = x + y.
#define SPARROW_ELEMENTARY_ADD 4

// r = x - y.
#define SPARROW_ELEMENTARY_SUBTRACT 5

// r = x y.
#define SPARROW_ELEMENTARY_MULTIPLY 6

// r = x / y, as the device divides.
#define SPARROW_ELEMENTARY_DIVIDE 7

// r = alpha x + beta y + gamma r; with beta = 0, y is never read, and with gamma = 0, r.
#define SPARROW_ELEMENTARY_UPDATE 8

// r = alpha x y + beta r; with beta = 0, r is never read.
#define SPARROW_ELEMENTARY_MULTIPLY_ADD 9

// The sum of x.
#define SPARROW_REDUCTION_SUM 1

// The sum of x_i y_i.
#define SPARROW_REDUCTION_DOT 2

// The sum of |x_i|.
#define SPARROW_REDUCTION_NORM1 3

// The square root of the sum of x_i^2, without overflow or underflow on the way.
#define SPARROW_REDUCTION_NORM2 4

// The sum of x, which holds int32_t whatever the type of the kernels, modulo 2^32; so does the result.
#define SPARROW_REDUCTION_SUM_INTEGERS 5

// Conjugate gradients, for A symmetric, and positive or negative definite.
#define SPARROW_SOLVER_METHOD_CG 0

// Stabilised bi-conjugate gradients, for any A.
#define SPARROW_SOLVER_METHOD_BICGSTAB 1

// Nothing.
#define SPARROW_PRECONDITIONER_NONE 0

// The inverse of A's diagonal, which each row must have. Made anew when values have changed.
#define SPARROW_PRECONDITIONER_JACOBI 1

// The square root of the sum of squares.
#define SPARROW_NORM_TWO 0

// The sum of magnitudes.
#define SPARROW_NORM_ONE 1

// b - A x, computed from x: where the recurrence's residual is small enough and that is not, iterations begin again from
// there until it is, or until that no longer halves it. Divergence ends a solve, and so does, with CG, a change of sign
// that no definite matrix makes. Where it does not converge, x is that of the least residual.
#define SPARROW_VERDICT_COMPUTED 0

// The recurrence's residual alone: besides the stop rule only a zero to divide by or a number that is not finite ends a
// solve, and x is that of the last iteration. b - A x is computed at the end, and only told.
#define SPARROW_VERDICT_RECURRENCE 1

// The residual, computed from x, is as small as was asked for.
#define SPARROW_OUTCOME_CONVERGED 0

// It is not, after as many iterations as were allowed.
#define SPARROW_OUTCOME_MAX_ITERATIONS 1

// The observer ended it.
#define SPARROW_OUTCOME_STOPPED 2

// The method cannot go on.
#define SPARROW_OUTCOME_BREAKDOWN 3

// The residual, computed from x, is not small enough and falls no further.
#define SPARROW_OUTCOME_STAGNATED 4

// The residual has grown beyond the first one and does not come back, as CG's may where A is not symmetric.
#define SPARROW_OUTCOME_DIVERGED 5

// It did not break down.
#define SPARROW_BREAKDOWN_NONE 0

// p'Ap has changed its sign: A is indefinite, and CG needs a definite one.
#define SPARROW_BREAKDOWN_INDEFINITE 1

// r'z is 0 or has changed its sign: the preconditioner is indefinite, and CG needs a definite one.
#define SPARROW_BREAKDOWN_PRECONDITIONER_INDEFINITE 2

// The residual is orthogonal to the first one (BiCGStab).
#define SPARROW_BREAKDOWN_RHO_ZERO 3

// A p is orthogonal to the first residual (BiCGStab).
#define SPARROW_BREAKDOWN_SHADOW_ZERO 4

// A s is 0, or orthogonal to s (BiCGStab).
#define SPARROW_BREAKDOWN_OMEGA_ZERO 5

// Something has overflowed, or was NaN or infinite from the start.
#define SPARROW_BREAKDOWN_NOT_FINITE 6

// The squares of b's elements vanish or overflow in the type of b and x, and a method divides by sums of such squares:
// scale the system, or store it as SPARROW_VALUE_TYPE_F64.
#define SPARROW_BREAKDOWN_OUT_OF_RANGE 7

// p'Ap is 0: A is indefinite or singular (CG).
#define SPARROW_BREAKDOWN_CURVATURE_ZERO 8

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The library's version as a number: 10000 MAJOR + 100 MINOR + PATCH.
uint32_t sparrow_version_number(void);

// The library's version as text, "0.1.0"; valid for ever.
const char *sparrow_version_text(void);

// The name of a status; "unknown status" for any other number. Valid for ever.
const char *sparrow_status_name(int32_t status);

// What was wrong in the last call of this thread that failed: the object, the value and the limit. Empty if none
// has. Valid until the next call of this thread that fails.
const char *sparrow_last_error(void);

// OpenCL's own status of the last call of this thread that failed; CL_SUCCESS where OpenCL was not what failed.
cl_int sparrow_last_opencl_status(void);

// Uses the context and the device of a queue of the application's. `options` may be NULL. The queue itself is not
// kept: each call that enqueues names its own.
sparrow_status sparrow_context_from_queue(cl_command_queue queue,
                                          const struct sparrow_context_options *options,
                                          struct sparrow_context **context);

// Uses a context of the application's and one of its devices, or a sub-device that the driver makes queues on in that
// context. `options` may be NULL. Sub-devices must outlive it.
sparrow_status sparrow_context_from_device(cl_context opencl_context,
                                           cl_device_id device,
                                           const struct sparrow_context_options *options,
                                           struct sparrow_context **context);

// What is known of a context.
sparrow_status sparrow_context_get_info(const struct sparrow_context *context,
                                        struct sparrow_context_info *info);

// Ends the use of a context; NULL is allowed. What was made in it stays usable.
sparrow_status sparrow_context_release(struct sparrow_context *context);

// Makes a matrix over buffers of the application's: nothing is copied, and what they hold is trusted
// (sparrow_matrix_check_blocking makes sure). Looks at row lengths on the device and reads 12 bytes back, after the
// events of the wait list. The buffers are kept; offsets and columns must not change any more.
sparrow_status sparrow_matrix_from_buffers_blocking(const struct sparrow_context *context,
                                                    cl_command_queue queue,
                                                    const struct sparrow_csr_buffers *buffers,
                                                    cl_uint num_events_in_wait_list,
                                                    const cl_event *event_wait_list,
                                                    struct sparrow_matrix **matrix);

// Checks a matrix of the host's memory and copies it to the device; the arrays are not needed afterwards.
sparrow_status sparrow_matrix_upload_blocking(const struct sparrow_context *context,
                                              cl_command_queue queue,
                                              const struct sparrow_csr_arrays *arrays,
                                              struct sparrow_matrix **matrix);

// Reads the pattern back and checks every rule; the text names the first index at which one is broken.
sparrow_status sparrow_matrix_check_blocking(const struct sparrow_matrix *matrix,
                                             cl_command_queue queue,
                                             cl_uint num_events_in_wait_list,
                                             const cl_event *event_wait_list);

// A second matrix of the same pattern, with the values of another buffer; plans of either fit both. The buffers of
// the pattern are shared, nothing is copied.
sparrow_status sparrow_matrix_with_values(const struct sparrow_matrix *matrix,
                                          struct sparrow_buffer values,
                                          struct sparrow_matrix **with_values);

// Says that the application has changed the values in its own buffer. Plans that keep a copy of them refuse to
// launch until sparrow_plan_update_values_blocking; others read the buffer at each launch, and need no call.
sparrow_status sparrow_matrix_values_changed(const struct sparrow_matrix *matrix);

// Overwrites the values by `nnz` of the host's memory, of the matrix's value type, after the events of the wait
// list. In a matrix over buffers of the application's, it is those that are written.
sparrow_status sparrow_matrix_write_values_blocking(const struct sparrow_matrix *matrix,
                                                    cl_command_queue queue,
                                                    const void *values,
                                                    cl_uint num_events_in_wait_list,
                                                    const cl_event *event_wait_list);

// What is known of a matrix.
sparrow_status sparrow_matrix_get_info(const struct sparrow_matrix *matrix,
                                       struct sparrow_matrix_info *info);

// Ends a matrix; NULL is allowed. Plans made for it stay usable with others of its pattern.
sparrow_status sparrow_matrix_release(struct sparrow_matrix *matrix);

// Makes a matrix of entries in any order, sorted by row and column, in buffers of its own, after the events of the
// wait list. An entry outside of the matrix is refused by its number. The application's buffers are only read.
sparrow_status sparrow_matrix_from_entries_blocking(const struct sparrow_context *context,
                                                    cl_command_queue queue,
                                                    const struct sparrow_coo_buffers *entries,
                                                    cl_uint num_events_in_wait_list,
                                                    const cl_event *event_wait_list,
                                                    struct sparrow_matrix **matrix);

// Makes a matrix of the elements of a dense one that are larger in size than a tolerance, and of NaN, in buffers of
// its own, after the events of the wait list. The application's buffer is only read.
sparrow_status sparrow_matrix_from_dense_blocking(const struct sparrow_context *context,
                                                  cl_command_queue queue,
                                                  const struct sparrow_dense_source *dense,
                                                  cl_uint num_events_in_wait_list,
                                                  const cl_event *event_wait_list,
                                                  struct sparrow_matrix **matrix);

// Makes the transposed matrix, which is the matrix in compressed columns, in buffers of its own, after the events of
// the wait list. Its rows are in order of their columns; it does not follow the values of `matrix`.
sparrow_status sparrow_matrix_transpose_blocking(const struct sparrow_matrix *matrix,
                                                 cl_command_queue queue,
                                                 cl_uint num_events_in_wait_list,
                                                 const cl_event *event_wait_list,
                                                 struct sparrow_matrix **transposed);

// Copies parts of a matrix into buffers of the application's, after the events of the wait list: row offsets, the
// row of each nonzero, columns, values. With rows, columns and values these are its entries one by one. How long
// they are, sparrow_matrix_get_info says. The buffers may overlap neither each other nor the matrix's own.
sparrow_status sparrow_matrix_copy_blocking(const struct sparrow_matrix *matrix,
                                            cl_command_queue queue,
                                            const struct sparrow_matrix_parts *parts,
                                            cl_uint num_events_in_wait_list,
                                            const cl_event *event_wait_list);

// Writes all elements of a matrix into a dense one, of its value type, after the events of the wait list. Nonzeros
// of one row and column add up; what lies between rows (columns) is left alone. `dense` may not overlap the matrix's
// own buffers.
sparrow_status sparrow_matrix_write_dense_blocking(const struct sparrow_matrix *matrix,
                                                   cl_command_queue queue,
                                                   const struct sparrow_dense_shape *dense_shape,
                                                   struct sparrow_buffer dense,
                                                   cl_uint num_events_in_wait_list,
                                                   const cl_event *event_wait_list);

// Ends a workspace; NULL is allowed. Launches in flight end as they would have.
sparrow_status sparrow_workspace_release(struct sparrow_workspace *workspace);

// Chooses an algorithm, or takes the one asked for, and plans for the pattern of a matrix, after the events of the
// wait list. `options` may be NULL. Builds kernels where they are not cached.
sparrow_status sparrow_plan_create_blocking(const struct sparrow_matrix *matrix,
                                            cl_command_queue queue,
                                            const struct sparrow_plan_options *options,
                                            cl_uint num_events_in_wait_list,
                                            const cl_event *event_wait_list,
                                            struct sparrow_plan **plan);

// What is known of a plan.
sparrow_status sparrow_plan_get_info(const struct sparrow_plan *plan,
                                     struct sparrow_plan_info *info);

// The row of the matrix at each index of the plan's order of rows, where it has one (`vectors_in_order` of
// sparrow_plan_options); of the transposed matrix, where that is multiplied by. `count` numbers, as many as it has rows.
// Returns when they are there.
sparrow_status sparrow_plan_row_order_blocking(const struct sparrow_plan *plan,
                                               cl_command_queue queue,
                                               uint64_t count,
                                               uint32_t *row_order);

// Brings the plan's copy of the values up to date with those of a matrix of its pattern, after the events of the
// wait list; plans without a copy need no such call, and do nothing. Returns when the new values are in place.
sparrow_status sparrow_plan_update_values_blocking(const struct sparrow_plan *plan,
                                                   cl_command_queue queue,
                                                   const struct sparrow_matrix *matrix,
                                                   cl_uint num_events_in_wait_list,
                                                   const cl_event *event_wait_list);

// Makes a workspace for launches of this plan.
sparrow_status sparrow_plan_workspace_blocking(const struct sparrow_plan *plan,
                                               cl_command_queue queue,
                                               struct sparrow_workspace **workspace);

// Enqueues y = alpha A x + beta y after the events of the wait list; allocates no device memory and waits for
// nothing. `event`, if not NULL, gets an event of the product; without one, and with an empty list, none is made, which
// saves a GPU time of its own (2 us on an H200). Where an event of the list ends in error later, so does the product's,
// and y is not written.
sparrow_status sparrow_plan_launch(const struct sparrow_plan *plan,
                                   cl_command_queue queue,
                                   struct sparrow_workspace *workspace,
                                   const struct sparrow_product *product,
                                   cl_uint num_events_in_wait_list,
                                   const cl_event *event_wait_list,
                                   cl_event *event);

// Computes y = alpha A x + beta y after the events of the wait list, and returns when it is there. The one way for
// the variant "cpu" of "segmented_sum", whose second stage is the CPU's: nothing else that was enqueued may touch
// the operands meanwhile. `stages` may be NULL.
sparrow_status sparrow_plan_launch_blocking(const struct sparrow_plan *plan,
                                            cl_command_queue queue,
                                            struct sparrow_workspace *workspace,
                                            const struct sparrow_product *product,
                                            cl_uint num_events_in_wait_list,
                                            const cl_event *event_wait_list,
                                            struct sparrow_stages *stages);

// Ends a plan; NULL is allowed. Launches in flight end as they would have.
sparrow_status sparrow_plan_release(struct sparrow_plan *plan);

// Records products of a plan, to be launched in this queue by sparrow_plan_launch_many: `products` points to
// `num_products` pointers, all with the same matrix. Nothing is enqueued. Each replay reads and writes what is in the
// buffers then, those of alpha and beta too. A command buffer that was asked for and cannot be had is a failure; by default
// launches one by one stand in for it, and sparrow_recording_get_info says why.
sparrow_status sparrow_plan_record_blocking(const struct sparrow_plan *plan,
                                            cl_command_queue queue,
                                            size_t num_products,
                                            const struct sparrow_product *const *products,
                                            sparrow_replay replay,
                                            struct sparrow_recording **recording);

// What is known of a recording.
sparrow_status sparrow_recording_get_info(const struct sparrow_recording *recording,
                                          struct sparrow_recording_info *info);

// Enqueues all products of a recording, one after the other, and that `times` times, in the queue that they were recorded
// for, after the events of the wait list; allocates no device memory and waits for nothing. `matrix` is the one that was
// recorded; its values may have changed where they lie, if the plan keeps no copy of them. `event`, if not NULL, gets an
// event of the end; without one, and with an empty list, in a queue in order, none is made, which is the fastest way. Where
// an event of the list ends in error later, so does the event of the end, and nothing is written.
sparrow_status sparrow_plan_launch_many(const struct sparrow_plan *plan,
                                        struct sparrow_recording *recording,
                                        const struct sparrow_matrix *matrix,
                                        uint32_t times,
                                        cl_uint num_events_in_wait_list,
                                        const cl_event *event_wait_list,
                                        cl_event *event);

// Ends a recording; NULL is allowed. Products in flight end as they would have; where a command buffer replays them, they
// are waited for.
sparrow_status sparrow_recording_release(struct sparrow_recording *recording);

// Makes a matrix over buffers of the application's: nothing is copied, and what they hold is trusted
// (sparrow_hyb_matrix_check_blocking looks at rows). The buffers are kept. Entries in another order than that of their rows:
// sparrow_matrix_from_entries_blocking takes them, and makes compressed rows.
sparrow_status sparrow_hyb_matrix_from_buffers(const struct sparrow_context *context,
                                               const struct sparrow_hyb_buffers *buffers,
                                               struct sparrow_hyb_matrix **matrix);

// Makes sure that entries lie in the order of their rows and inside the matrix, after the events of the wait list; reads 4
// bytes back. Columns are not looked at.
sparrow_status sparrow_hyb_matrix_check_blocking(const struct sparrow_hyb_matrix *matrix,
                                                 cl_command_queue queue,
                                                 cl_uint num_events_in_wait_list,
                                                 const cl_event *event_wait_list);

// Ends a matrix; NULL is allowed. Plans made for it keep its buffers.
sparrow_status sparrow_hyb_matrix_release(struct sparrow_hyb_matrix *matrix);

// Builds the kernels for a matrix, after the events of the wait list, where they are not cached; nothing is computed from
// the matrix. `options` may be NULL.
sparrow_status sparrow_hyb_plan_create_blocking(const struct sparrow_hyb_matrix *matrix,
                                                cl_command_queue queue,
                                                const struct sparrow_hyb_options *options,
                                                cl_uint num_events_in_wait_list,
                                                const cl_event *event_wait_list,
                                                struct sparrow_hyb_plan **plan);

// What is known of a plan.
sparrow_status sparrow_hyb_plan_get_info(const struct sparrow_hyb_plan *plan,
                                         struct sparrow_plan_info *info);

// Makes a workspace for launches of this plan.
sparrow_status sparrow_hyb_plan_workspace_blocking(const struct sparrow_hyb_plan *plan,
                                                   cl_command_queue queue,
                                                   struct sparrow_workspace **workspace);

// Enqueues y = alpha A x + beta y after the events of the wait list; allocates no device memory and waits for
// nothing. `event`, if not NULL, gets an event of the product; without one, and with an empty list, none is made. Where an
// event of the list ends in error later, so does the product's, and y is not written.
sparrow_status sparrow_hyb_plan_launch(const struct sparrow_hyb_plan *plan,
                                       cl_command_queue queue,
                                       struct sparrow_workspace *workspace,
                                       const struct sparrow_hyb_product *product,
                                       cl_uint num_events_in_wait_list,
                                       const cl_event *event_wait_list,
                                       cl_event *event);

// Ends a plan; NULL is allowed. Launches in flight end as they would have.
sparrow_status sparrow_hyb_plan_release(struct sparrow_hyb_plan *plan);

// Makes C = A B in buffers of its own, after the events of the wait list: columns ascend in each row, and entries whose
// products cancel stay. A and B store the same type, SPARROW_VALUE_TYPE_F32 or _F64, with offsets of one type, which
// C has too; their columns may stand in any order and repeat. Lists of rows take no more than `scratch_bytes` at a
// time (0: 64 MiB), 10 for each row: more rows are computed in parts. C has the same bits every time.
// sparrow_matrix_copy_blocking copies it into buffers of the application's.
sparrow_status sparrow_matrix_multiply_blocking(const struct sparrow_matrix *a,
                                                const struct sparrow_matrix *b,
                                                cl_command_queue queue,
                                                uint64_t scratch_bytes,
                                                cl_uint num_events_in_wait_list,
                                                const cl_event *event_wait_list,
                                                struct sparrow_matrix **c);

// Plans for the pattern of a matrix and the shapes of B and C in `options`, after the events of the wait list.
// Builds kernels where they are not cached.
sparrow_status sparrow_spmm_plan_create_blocking(const struct sparrow_matrix *matrix,
                                                 cl_command_queue queue,
                                                 const struct sparrow_spmm_options *options,
                                                 cl_uint num_events_in_wait_list,
                                                 const cl_event *event_wait_list,
                                                 struct sparrow_spmm_plan **plan);

// What is known of a plan.
sparrow_status sparrow_spmm_plan_get_info(const struct sparrow_spmm_plan *plan,
                                          struct sparrow_plan_info *info);

// Brings the plan's transposed copy up to date with the values of a matrix of its pattern, after the events of the
// wait list; other plans need no such call, and do nothing. Returns when the new values are in place.
sparrow_status sparrow_spmm_plan_update_values_blocking(const struct sparrow_spmm_plan *plan,
                                                        cl_command_queue queue,
                                                        const struct sparrow_matrix *matrix,
                                                        cl_uint num_events_in_wait_list,
                                                        const cl_event *event_wait_list);

// Makes a workspace for launches of this plan.
sparrow_status sparrow_spmm_plan_workspace_blocking(const struct sparrow_spmm_plan *plan,
                                                    cl_command_queue queue,
                                                    struct sparrow_workspace **workspace);

// Enqueues C = alpha A B + beta C after the events of the wait list; allocates no device memory and waits for
// nothing. `event`, if not NULL, gets an event of the product. Where an event of the list ends in error later, so
// does the product's, and C is not written.
sparrow_status sparrow_spmm_plan_launch(const struct sparrow_spmm_plan *plan,
                                        cl_command_queue queue,
                                        struct sparrow_workspace *workspace,
                                        const struct sparrow_dense_product *product,
                                        cl_uint num_events_in_wait_list,
                                        const cl_event *event_wait_list,
                                        cl_event *event);

// Ends a plan; NULL is allowed. Launches in flight end as they would have.
sparrow_status sparrow_spmm_plan_release(struct sparrow_spmm_plan *plan);

// Makes a batch over buffers of the application's: nothing is copied but the list of problems. What the buffers
// hold is trusted: row offsets that never fall and span `entries`, row indices below `rows` in order, columns below
// `cols` or padding. That problems stay within the arrays and apart from each other is checked.
sparrow_status sparrow_batch_from_buffers(const struct sparrow_context *context,
                                          const struct sparrow_batch_buffers *buffers,
                                          struct sparrow_batch **batch);

// A second batch of the same patterns, with the values of another buffer; plans of either fit both.
sparrow_status sparrow_batch_with_values(const struct sparrow_batch *batch,
                                         struct sparrow_buffer values,
                                         struct sparrow_batch **with_values);

// Ends a batch; NULL is allowed. Plans made for it stay usable with others of its patterns.
sparrow_status sparrow_batch_release(struct sparrow_batch *batch);

// Plans for a batch, after the events of the wait list. `options` may be NULL. Builds a kernel where it is not
// cached.
sparrow_status sparrow_batch_plan_create_blocking(const struct sparrow_batch *batch,
                                                  cl_command_queue queue,
                                                  const struct sparrow_batch_options *options,
                                                  cl_uint num_events_in_wait_list,
                                                  const cl_event *event_wait_list,
                                                  struct sparrow_batch_plan **plan);

// What is known of a plan.
sparrow_status sparrow_batch_plan_get_info(const struct sparrow_batch_plan *plan,
                                           struct sparrow_plan_info *info);

// Makes a workspace for launches of this plan.
sparrow_status sparrow_batch_plan_workspace_blocking(const struct sparrow_batch_plan *plan,
                                                     cl_command_queue queue,
                                                     struct sparrow_workspace **workspace);

// Enqueues all products of a batch after the events of the wait list; allocates no device memory and waits for
// nothing. `event`, if not NULL, gets an event of the launch; without one, and with an empty list, none is made, which
// saves a GPU time of its own (2 us on an H200).
sparrow_status sparrow_batch_plan_launch(const struct sparrow_batch_plan *plan,
                                         cl_command_queue queue,
                                         struct sparrow_workspace *workspace,
                                         const struct sparrow_batch_product *product,
                                         cl_uint num_events_in_wait_list,
                                         const cl_event *event_wait_list,
                                         cl_event *event);

// Ends a plan; NULL is allowed. Launches in flight end as they would have.
sparrow_status sparrow_batch_plan_release(struct sparrow_batch_plan *plan);

// Makes kernels for dense vectors of a type, and what they work in. None is built yet: an operation's is when it is
// launched first, so that nothing is compiled that is not needed.
sparrow_status sparrow_vectors_create_blocking(const struct sparrow_context *context,
                                               cl_command_queue queue,
                                               const struct sparrow_vectors_options *options,
                                               struct sparrow_vectors **vectors);

// Enqueues an operation element by element after the events of the wait list; allocates no device memory and waits
// for nothing, but the first launch of an operation for its kernel to be built. `event`, if not NULL, gets its event;
// without one, and with an empty list, none is made, which saves a GPU time of its own. Where an event of the list ends in
// error later, so does it, and r is not written.
sparrow_status sparrow_vectors_elementwise(const struct sparrow_vectors *vectors,
                                           cl_command_queue queue,
                                           const struct sparrow_elementwise *elementwise,
                                           cl_uint num_events_in_wait_list,
                                           const cl_event *event_wait_list,
                                           cl_event *event);

// Enqueues a reduction after the events of the wait list, as sparrow_vectors_elementwise does. The same bits every
// time.
sparrow_status sparrow_vectors_reduce(const struct sparrow_vectors *vectors,
                                      cl_command_queue queue,
                                      const struct sparrow_reduction *reduction,
                                      cl_uint num_events_in_wait_list,
                                      const cl_event *event_wait_list,
                                      cl_event *event);

// Ends kernels for vectors; NULL is allowed. Launches in flight end as they would have.
sparrow_status sparrow_vectors_release(struct sparrow_vectors *vectors);

// Plans the products with a square matrix, builds the method's kernels and allocates its vectors, after the events of
// the wait list. `options` may be NULL: CG without preconditioning.
sparrow_status sparrow_solver_create_blocking(const struct sparrow_matrix *matrix,
                                              cl_command_queue queue,
                                              const struct sparrow_solver_options *options,
                                              cl_uint num_events_in_wait_list,
                                              const cl_event *event_wait_list,
                                              struct sparrow_solver **solver);

// What is known of a solver.
sparrow_status sparrow_solver_get_info(const struct sparrow_solver *solver,
                                       struct sparrow_solver_info *info);

// Solves A x = b after the events of the wait list, from the x that is there, and returns when x holds the
// solution. It has converged where the residual computed from x is small enough; where that of the recurrence is and
// the computed one is not, iterations begin again from there. That it did not converge is no failure: `solution` says
// how it ended, and x is that of the least residual. b = 0 has the solution 0, unless
// `max_iterations` is 0. A diagonal without an inverse in some row, with SPARROW_PRECONDITIONER_JACOBI,
// is SPARROW_STATUS_INVALID_MATRIX. On a failure x is as it was, unless writing it is what failed. Where products are
// repeatable, x has the same bits every time, whatever `check_every` is. With an observer the solve runs on a thread of
// its own, and the observer on the caller's. An exception of the observer's goes on to the caller when the solve has
// ended, as if the observer had ended it: `solution` and `history` are not written then.
sparrow_status sparrow_solver_solve_blocking(const struct sparrow_solver *solver,
                                             cl_command_queue queue,
                                             const struct sparrow_linear_system *system,
                                             cl_uint num_events_in_wait_list,
                                             const cl_event *event_wait_list,
                                             struct sparrow_solution *solution);

// Ends a solver; NULL is allowed.
sparrow_status sparrow_solver_release(struct sparrow_solver *solver);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* SPARROW_H */

/* The end of sparrow.h. */
