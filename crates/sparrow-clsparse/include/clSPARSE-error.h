/* Part of Sparrow (MIT OR Apache-2.0): declarations that programs for clSPARSE 0.10 compile against. */
#ifndef CLSPARSE_ERROR_H
#define CLSPARSE_ERROR_H

#include <stdio.h>

#if defined(__APPLE__) || defined(__MACOSX)
#include <OpenCL/cl.h>
#else
#include <CL/cl.h>
#endif

#if defined(_WIN32) && !defined(__cplusplus)
#define inline __inline
#endif

/* The name of a code of OpenCL's or clSPARSE's. */
static inline const char *stringifyStatus(const cl_int status)
{
    switch (status) {
    case 0: return "CL_SUCCESS";
    case -1: return "CL_DEVICE_NOT_FOUND";
    case -2: return "CL_DEVICE_NOT_AVAILABLE";
    case -3: return "CL_COMPILER_NOT_AVAILABLE";
    case -4: return "CL_MEM_OBJECT_ALLOCATION_FAILURE";
    case -5: return "CL_OUT_OF_RESOURCES";
    case -6: return "CL_OUT_OF_HOST_MEMORY";
    case -7: return "CL_PROFILING_INFO_NOT_AVAILABLE";
    case -8: return "CL_MEM_COPY_OVERLAP";
    case -11: return "CL_BUILD_PROGRAM_FAILURE";
    case -12: return "CL_MAP_FAILURE";
    case -14: return "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST";
    case -30: return "CL_INVALID_VALUE";
    case -33: return "CL_INVALID_DEVICE";
    case -34: return "CL_INVALID_CONTEXT";
    case -35: return "CL_INVALID_QUEUE_PROPERTIES";
    case -36: return "CL_INVALID_COMMAND_QUEUE";
    case -38: return "CL_INVALID_MEM_OBJECT";
    case -42: return "CL_INVALID_BINARY";
    case -43: return "CL_INVALID_BUILD_OPTIONS";
    case -44: return "CL_INVALID_PROGRAM";
    case -45: return "CL_INVALID_PROGRAM_EXECUTABLE";
    case -46: return "CL_INVALID_KERNEL_NAME";
    case -47: return "CL_INVALID_KERNEL_DEFINITION";
    case -48: return "CL_INVALID_KERNEL";
    case -49: return "CL_INVALID_ARG_INDEX";
    case -50: return "CL_INVALID_ARG_VALUE";
    case -51: return "CL_INVALID_ARG_SIZE";
    case -52: return "CL_INVALID_KERNEL_ARGS";
    case -53: return "CL_INVALID_WORK_DIMENSION";
    case -54: return "CL_INVALID_WORK_GROUP_SIZE";
    case -55: return "CL_INVALID_WORK_ITEM_SIZE";
    case -56: return "CL_INVALID_GLOBAL_OFFSET";
    case -57: return "CL_INVALID_EVENT_WAIT_LIST";
    case -58: return "CL_INVALID_EVENT";
    case -59: return "CL_INVALID_OPERATION";
    case -61: return "CL_INVALID_BUFFER_SIZE";
    case -63: return "CL_INVALID_GLOBAL_WORK_SIZE";
    case -1024: return "clsparseNotImplemented";
    case -1023: return "clsparseNotInitialized";
    case -1022: return "clsparseStructInvalid";
    case -1021: return "clsparseInvalidSize";
    case -1020: return "clsparseInvalidMemObj";
    case -1019: return "clsparseInsufficientMemory";
    case -1018: return "clsparseInvalidControlObject";
    case -1017: return "clsparseInvalidFile";
    case -1016: return "clsparseInvalidFileFormat";
    case -1015: return "clsparseInvalidKernelExecution";
    case -1014: return "clsparseInvalidType";
    case -2048: return "clsparseInvalidSolverControlObject";
    case -2047: return "clsparseInvalidSystemSize";
    case -2046: return "clsparseIterationsExceeded";
    case -2045: return "clsparseToleranceNotReached";
    case -2044: return "clsparseSolverError";
    default: return "a status without a name";
    }
}

/* Says on standard error, unless NDEBUG is defined, that a call has failed; returns its status. */
static inline cl_int clSPARSE_V(cl_int res, const char *msg, const char *file, size_t lineno)
{
#ifndef NDEBUG
    if (res != CL_SUCCESS)
        fprintf(stderr, "%s:%lu: %s: %s (%d)\n", file, (unsigned long)lineno, msg,
                stringifyStatus(res), (int)res);
#else
    (void)msg;
    (void)file;
    (void)lineno;
#endif
    return res;
}

#define CLSPARSE_V(_status, _message) clSPARSE_V((_status), (_message), __FILE__, __LINE__)

#endif
